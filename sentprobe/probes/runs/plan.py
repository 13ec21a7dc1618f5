"""What a run would do: the probes that are missing, counted over all draws; nothing is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.encoders import Encoder
from sentprobe.probes.encoders.given import Known, make_known, placed_encoders
from sentprobe.probes.runs import recipes, todo
from sentprobe.probes.runs.results import Condition, Result
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.targets import Targets, find_datasets
from sentprobe.probes.runs.task import make_tasks
from sentprobe.probes.runs.word_source import make_source
from sentprobe.probes.suites import ClassifierChoice
from sentprobe.progress import Reporter
from sentprobe.specs import Spec

Missing: TypeAlias = Mapping[Condition, tuple[int, ...]]
"""The seeds that are missing for each condition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """An encoder on a task: how many items, and what is missing in each draw."""

    encoder: str
    task: str
    items: Mapping[Split, int]
    draws: tuple[Missing, ...]

    @property
    def missing(self) -> dict[Condition, tuple[int, ...]]:
        """The seeds that are missing in all draws together; no two draws have one in common."""
        found: dict[Condition, tuple[int, ...]] = {}
        for draw in self.draws:
            for condition, seeds in draw.items():
                found[condition] = (*found.get(condition, ()), *seeds)
        return found

    @property
    def unfinished(self) -> int:
        """The draws in which something is missing: each has a result of its own."""
        return sum(map(bool, self.draws))


Plan: TypeAlias = Mapping[tuple[str, str], Missing]
"""What is missing in a draw, by the names of encoder and task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Says what is missing in a draw.

    What nothing is known of before it is built is built for this only where there are results.
    """

    targets: Targets
    preset: ClassifierChoice | None
    words: Encoder | Spec | str | None
    reporter: Reporter
    data: Sequence[ProbeDataset]
    """The datasets, or some of their items."""
    there: Mapping[str, Result]
    """The results that are there, by recipe."""

    def plan(self, encoders: Sequence[Known], *, run: Run) -> Plan:
        """Return what is missing in the draw *run*: by recipe where it is known, else by data."""
        drawn = self.targets.drawn(run.seed)
        asked = recipes.requests(drawn, encoders, run=run, preset=self.preset, words=self.words)
        if not asked:
            return self._by_data(drawn, encoders, run)
        return {
            (each.encoder, each.task.name): todo.missing_seeds(found, each.conditions, run=run)
            if (found := self.there.get(each.recipe))
            else dict.fromkeys(each.conditions, run.seeds)
            for each in asked
        }

    def _by_data(self, drawn: Targets, encoders: Sequence[Known], run: Run) -> Plan:
        data = self.data
        if self.there:
            data = find_datasets(drawn, command=run.command, reporter=self.reporter).datasets
        known = make_known(encoders, seed=run.seed)
        made = placed_encoders(known, (each.sentences for each in data))
        source = None if self.words is None else make_source(self.words, seed=run.seed)
        tasks = make_tasks(data, run=run, preset=self.preset, words=source)
        return {
            (each.name, task.name): todo.missing_seeds(
                todo.read_result(task, each, run=run),
                todo.asked_of(task, each, run=run),
                run=run,
            )
            for each in made
            for task in tasks
        }
