"""The results of a run: find stored results and the jobs for missing scores, and store new results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple, TypeAlias

from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.lengths import count_tokens
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.read import find_built_in
from sentprobe.probes.compeval.annotation import EVENT_COLUMNS, ProbedEvent, build_event_columns
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.encoders.protocol import Baseline, Encoder
from sentprobe.probes.results import store
from sentprobe.probes.results.item_table import LABEL, LENGTH, ItemTable, find_item_table, write_item_table
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.results.store import write_run_file
from sentprobe.probes.runs.execution import missing_jobs
from sentprobe.probes.runs.execution.missing_jobs import Job
from sentprobe.probes.runs.execution.task import Task
from sentprobe.probes.runs.request.settings import Run


def make_item_table(data: ProbeDataset, *, lexicon: Lexicon | None = None) -> ItemTable:
    """Return a table with a row for each test item of a dataset.

    An item is annotated with its event if the grammar parses its sentence with *lexicon* (default: the built-in
    lexicon of the dataset's language).
    """
    items = data.splits[Split.TEST]
    sentences = tuple(data.sentences[row] for row in items.rows)
    probes = tuple(tuple(data.probe_words[word] for word in words) for words in items.probes)
    events = _parse_events(sentences, probes, lexicon or find_built_in(data.card.language))
    labels = tuple(data.labels[target] for target in items.targets)
    columns = {LABEL: labels, LENGTH: tuple(map(str, count_tokens(sentences)))}
    return ItemTable(
        task=data.name,
        fingerprint=data.fingerprint(),
        labels=data.labels,
        targets=items.targets,
        sentences=sentences,
        probes=probes,
        marks=tuple(map(_find_marks, sentences, probes, events)),
        events=tuple("" if event is None else event.notation for event in events),
        columns={**columns, **_make_event_columns(events), **items.columns},
    )


def _parse_events(
    sentences: Sequence[str], probes: Sequence[Sequence[str]], lexicon: Lexicon
) -> list[ProbedEvent | None]:
    """Return the event of each sentence, or None for a sentence that cannot be parsed.

    If none of the first few sentences can be parsed, the others are not tried.
    """
    pairs = zip(sentences, probes, strict=True)
    first_events = [_parse_event(*pair, lexicon) for pair in islice(pairs, _TRIAL_SENTENCES)]
    if not any(first_events):
        return [None] * len(sentences)
    return [*first_events, *(_parse_event(*pair, lexicon) for pair in pairs)]


_TRIAL_SENTENCES = 8


def _parse_event(sentence: str, probes: Sequence[str], lexicon: Lexicon) -> ProbedEvent | None:
    try:
        (event,) = parse(sentence, lexicon)
    except (ParseError, ValueError):  # also if ambiguous
        return None
    return ProbedEvent(event, probes, language=lexicon.language)


def _make_event_columns(events: Sequence[ProbedEvent | None]) -> dict[str, tuple[str, ...]]:
    if not any(events):
        return {}
    columns_by_item = [dict[str, str]() if event is None else build_event_columns(event) for event in events]
    return {name: tuple(item_columns.get(name, "") for item_columns in columns_by_item) for name in EVENT_COLUMNS}


def _find_marks(sentence: str, probes: Sequence[str], event: ProbedEvent | None) -> tuple[int, ...]:
    """Return the token positions of the probe words. Without *event*, these are all tokens equal to a probe word."""
    if event is not None:
        return event.probe_positions
    folded_probes = {probe.casefold() for probe in probes}
    tokens = enumerate(sentence.split()) if folded_probes else ()
    return tuple(at for at, token in tokens if token.casefold() in folded_probes)


Recipes: TypeAlias = Mapping[tuple[str, str], str]
"""The recipe of each result (a digest of its inputs), by the names of encoder and task."""


class CompletedTasks(NamedTuple):
    """The results of a run, the number of results that were complete before the run, and notes for the user."""

    results: Results
    reused: int
    notes: tuple[str, ...] = ()


class ResultStore:
    """A store that reads the results of earlier runs and writes those of this run."""

    def __init__(self, tasks: Sequence[Task], run: Run, recipes: Recipes) -> None:
        self._tasks = tasks
        self._run = run
        self._recipes = recipes
        self.reused = 0
        self.shared_scores = missing_jobs.read_shared_scores(run)
        """Scores from earlier runs that hold for all encoders of one vector width."""
        self._replaced_files = store.read_stamps(run.out) if run.force and run.out else frozenset()
        self._requested: list[tuple[Result, tuple[Condition, ...]]] = []
        """Results that the run was asked for, with their conditions, until the next saved result records them."""
        self._tasks_with_items: set[str] = set()
        """The names of the tasks whose item tables are stored."""

    def find_missing_jobs(self, encoder: Encoder | Baseline) -> tuple[dict[str, Result], list[Job]]:
        """Return each task's result by task name (without scores if none is stored), and jobs for missing scores."""
        results: dict[str, Result] = {}
        jobs: list[Job] = []
        for task in self._tasks:
            stored = missing_jobs.load_result(task, encoder, run=self._run)
            # A stored result has the same data, encoder and classifier: its recipe stays valid.
            recipe = self._recipes.get((encoder.name, task.name)) or stored.recipe
            results[task.name] = replace(stored, recipe=recipe, notes=task.data.card.notes)
            conditions = missing_jobs.find_conditions(encoder, probe_words=bool(task.data.slots), run=self._run)
            self._requested.append((stored, conditions))
            missing_seeds = missing_jobs.find_missing_seeds(stored, conditions, run=self._run)
            jobs += [
                Job(encoder=encoder, task=task, condition=condition, seeds=seeds)
                for condition, seeds in missing_seeds.items()
            ]
            if missing_seeds:
                continue
            self.reused += 1
            self._save_items(task)
            if results[task.name] != stored:
                self.save_result(results[task.name])
        if jobs and self._run.out is not None:
            write_run_file(self._run.out, self._run.text)
        return results, jobs

    def save_result(self, result: Result, *, wait: float | None = None) -> None:
        """Write a result into ``run.out``, if set. *wait*: seconds to wait for the folder lock; None: ``run.wait``."""
        run = self._run
        if run.out is not None:
            wait = run.wait if wait is None else wait
            store.save_result(
                result, run.out, redone=self._replaced_files, wait=wait, command=run.command, requested=self._requested
            )
            self._requested.clear()
            self._save_items(next(task for task in self._tasks if task.name == result.task))

    def _save_items(self, task: Task) -> None:
        if self._run.out is None or task.name in self._tasks_with_items:
            return
        path = find_item_table(self._run.out, task=task.name, fingerprint=task.fingerprint)
        if self._run.force or task.data.columns or not path.exists():  # no fingerprint covers the columns
            write_item_table(make_item_table(task.data, lexicon=task.lexicon), self._run.out)
        self._tasks_with_items.add(task.name)

    def reuse_shared_scores(
        self, results: Mapping[str, Result], jobs: Iterable[Job], *, dim: int
    ) -> tuple[dict[str, Result], list[Job]]:
        """Return *results* with stored control scores for width *dim* added, and jobs for seeds that lack scores."""
        results, remaining = dict(results), []
        for job in jobs:
            result = results[job.task.name]
            key = missing_jobs.make_shared_key(job.condition, result, dim=dim)
            scores_by_seed = self.shared_scores.get(key, {})
            reused = [scores_by_seed[seed] for seed in job.seeds if seed in scores_by_seed]
            results[job.task.name] = store.add_scores(result, {job.condition: reused})
            if missing_seeds := tuple(seed for seed in job.seeds if seed not in scores_by_seed):
                remaining.append(replace(job, seeds=missing_seeds))
        return results, remaining

    def collect_results(self, results: Iterable[Result], notes: Iterable[str] = ()) -> CompletedTasks:
        """Return the completed tasks: *results* with only the scores of this run's seeds, and each note once."""
        selected_results = Results(tuple(result.select_seeds(self._run.seeds) for result in results))
        return CompletedTasks(selected_results, self.reused, tuple(dict.fromkeys(notes)))
