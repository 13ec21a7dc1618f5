"""The ledger of a run: which results are there, what they lack, and where new ones go."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from sentprobe.probes.encoders import Baseline, Encoder
from sentprobe.probes.runs import keeping, todo
from sentprobe.probes.runs.item_annotation import keep_item_table
from sentprobe.probes.runs.results import Result, Results
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.store import keep_run_file
from sentprobe.probes.runs.task import Task

Recipes: TypeAlias = Mapping[tuple[str, str], str]
"""What results are made from, as far as it is known, by the names of encoder and task."""


class Ran(NamedTuple):
    """What came of encoders on tasks."""

    results: Results
    found: int
    """How many of the results were there already."""
    notes: tuple[str, ...] = ()
    """What is to be said of encoders that worked elsewhere."""


class Ledger:
    """Knows what earlier runs did, and keeps what this one does."""

    def __init__(self, tasks: Sequence[Task], run: Run, recipes: Recipes) -> None:
        self._tasks = tasks
        self._run = run
        self._recipes = recipes
        self.found = 0
        """How many results were there already."""
        self.shared = todo.kept_scores(run)
        """What was there that all encoders of a width share."""
        self._redone = keeping.stamps(run.out) if run.force and run.out else frozenset()
        self._with_items: set[str] = set()
        """The tasks whose test items are beside the results."""

    def open(self, encoder: Encoder | Baseline) -> tuple[dict[str, Result], list[todo.Job]]:
        """Return what is known of each task, by name, and the jobs that are missing."""
        known: dict[str, Result] = {}
        jobs: list[todo.Job] = []
        for task in self._tasks:
            found = todo.known_result(task, encoder, run=self._run)
            known[task.name] = self._labelled(found, task, encoder)
            missing = todo.missing_jobs(task, encoder, found, run=self._run)
            jobs += missing
            self.found += not missing
            if not missing:
                self._keep_items(task)
            if not missing and known[task.name] != found:
                self.keep(known[task.name])
        if jobs and self._run.out is not None:
            keep_run_file(self._run.out, self._run.text)
        return known, jobs

    def keep(self, result: Result) -> None:
        """Write a result into the folder, if there is one."""
        if self._run.out is not None:
            keeping.keep(result, self._run.out, redone=self._redone)
            self._keep_items(next(task for task in self._tasks if task.name == result.task))

    def _keep_items(self, task: Task) -> None:
        """Keep the test items of a task beside its results, if these are kept."""
        if self._run.out is None or task.name in self._with_items:
            return
        keep_item_table(
            task.data,
            self._run.out,
            fingerprint=task.fingerprint,
            lexicon=task.lexicon,
            anew=self._run.force,
        )
        self._with_items.add(task.name)

    def _labelled(self, found: Result, task: Task, encoder: Encoder | Baseline) -> Result:
        """Return the result with what it is made from, by which a finished run is known."""
        # What is found is of the same data, encoder and classifier: its recipe is still true.
        recipe = self._recipes.get((encoder.name, task.name)) or found.recipe
        return replace(found, recipe=recipe, notes=task.data.card.notes)

    def take_shared(
        self, known: Result, jobs: Iterable[todo.Job], *, dim: int
    ) -> tuple[Result, list[todo.Job]]:
        """Take what was there already of what encoders of this width share; return what is left."""
        left: list[todo.Job] = []
        for job in jobs:
            known, rest = todo.take_kept(known, job, self.shared, dim=dim)
            left += rest
        return known, left

    def close(self, found: Iterable[Result], notes: Iterable[str] = ()) -> Ran:
        """Return what came of the run."""
        results = Results(tuple(result.of_seeds(self._run.seeds) for result in found))
        return Ran(results, self.found, tuple(dict.fromkeys(notes)))
