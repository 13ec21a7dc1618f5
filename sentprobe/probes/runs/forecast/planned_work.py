"""The plan of a run: its missing probes, counted over all draws; nothing is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sentprobe.probes.dataset import Split
from sentprobe.probes.encoders import Baseline, Encoder
from sentprobe.probes.encoders.resolve import EncoderSource, bind_to_sentence_order, build_encoders
from sentprobe.probes.results.result import Condition, Result
from sentprobe.probes.runs.execution import finished_runs, missing_jobs
from sentprobe.probes.runs.execution.task import Task, make_tasks
from sentprobe.probes.runs.execution.word_source import make_word_source
from sentprobe.probes.runs.request.settings import Run
from sentprobe.probes.runs.request.targets import Targets, find_datasets
from sentprobe.probes.suites import ClassifierChoice
from sentprobe.progress import Reporter
from sentprobe.specs import Spec

MissingSeeds: TypeAlias = Mapping[Condition, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedResult:
    """An encoder on a task: the number of items, and the missing seeds in each draw."""

    encoder: str
    task: str
    items: Mapping[Split, int]
    draws: tuple[MissingSeeds, ...]

    @property
    def missing(self) -> dict[Condition, tuple[int, ...]]:
        """The missing seeds of all draws; the seeds of draws are disjoint."""
        seeds_by_condition: dict[Condition, tuple[int, ...]] = {}
        for draw in self.draws:
            for condition, seeds in draw.items():
                seeds_by_condition[condition] = (*seeds_by_condition.get(condition, ()), *seeds)
        return seeds_by_condition

    @property
    def unfinished(self) -> int:
        """The number of draws with missing seeds."""
        return sum(map(bool, self.draws))


Plan: TypeAlias = Mapping[tuple[str, str], MissingSeeds]


def plan_all(encoders: Sequence[Encoder | Baseline], tasks: Sequence[Task], *, run: Run) -> Plan:
    """Return all seeds of the draw *run*, if there are no results yet."""
    return {
        (encoder.name, task.name): dict.fromkeys(
            missing_jobs.find_requested_conditions(task, encoder, run=run), run.seeds
        )
        for encoder in encoders
        for task in tasks
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Finds the missing seeds of a draw, if there are results; datasets without known recipes are built."""

    targets: Targets
    preset: ClassifierChoice | None
    words: Encoder | Spec | str | None
    reporter: Reporter
    stored_results: Mapping[str, Result]

    def plan_draw(self, encoders: Sequence[EncoderSource], *, run: Run) -> Plan:
        """Return the missing seeds in the draw *run*: by recipe if it is known, else by data."""
        draw_targets = self.targets.replace_seed(run.seed)
        requests = finished_runs.find_requests(draw_targets, encoders, run=run, preset=self.preset, words=self.words)
        if not requests:
            return self._plan_from_data(draw_targets, encoders, run)
        return {
            (request.encoder, request.task.name): missing_jobs.find_missing_seeds(stored, request.conditions, run=run)
            if (stored := self.stored_results.get(request.recipe))
            else dict.fromkeys(request.conditions, run.seeds)
            for request in requests
        }

    def _plan_from_data(self, draw_targets: Targets, encoders: Sequence[EncoderSource], run: Run) -> Plan:
        data = find_datasets(draw_targets, command=run.command, reporter=self.reporter).datasets
        unbound = build_encoders(encoders, seed=run.seed)
        built_encoders = bind_to_sentence_order(unbound, (dataset.sentences for dataset in data))
        source = None if self.words is None else make_word_source(self.words, seed=run.seed)
        tasks = make_tasks(data, run=run, preset=self.preset, words=source)
        return {
            (encoder.name, task.name): missing_jobs.find_missing_seeds(
                missing_jobs.load_result(task, encoder, run=run, update=False),
                missing_jobs.find_requested_conditions(task, encoder, run=run),
                run=run,
            )
            for encoder in built_encoders
            for task in tasks
        }
