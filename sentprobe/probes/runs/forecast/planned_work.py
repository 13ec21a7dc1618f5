"""The planned work of a run: the missing probes of all draws, and their assumed numbers of training passes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from sentprobe.probes.dataset import Split
from sentprobe.probes.encoders.fixed_places import PLACES_WIDTH
from sentprobe.probes.encoders.protocol import Baseline, Encoder
from sentprobe.probes.encoders.resolve import EncoderSource, bind_to_sentence_order, build_encoders
from sentprobe.probes.results.result import WIDTH_FREE_CONDITIONS, Condition, Result
from sentprobe.probes.runs.execution import missing_jobs, result_recipes
from sentprobe.probes.runs.execution.task import Task, make_tasks
from sentprobe.probes.runs.execution.word_source import make_word_source
from sentprobe.probes.runs.request.settings import Run, RunRequest
from sentprobe.probes.runs.request.targets import find_datasets
from sentprobe.probes.trainer import presets
from sentprobe.probes.trainer.classifier import Optimizer, Preset, StopCriterion
from sentprobe.probes.trainer.codelength import compute_portion_sizes
from sentprobe.progress import Reporter

MissingSeeds: TypeAlias = Mapping[Condition, tuple[int, ...]]
"""The seeds for which probes are missing, by condition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedResult:
    """The plan for one encoder on one task: the number of items, and the missing seeds in each draw."""

    encoder: str
    task: str
    items: Mapping[Split, int]
    draws: tuple[MissingSeeds, ...]

    @property
    def missing(self) -> dict[Condition, tuple[int, ...]]:
        """The missing seeds of all draws together, by condition; no seed is in two draws."""
        conditions = dict.fromkeys(chain.from_iterable(self.draws))
        return {c: tuple(seed for draw in self.draws for seed in draw.get(c, ())) for c in conditions}

    @property
    def unfinished(self) -> int:
        """The number of draws with missing seeds."""
        return sum(map(bool, self.draws))


Plan: TypeAlias = Mapping[tuple[str, str], MissingSeeds]
"""The missing seeds of a draw, by the names of encoder and task."""


def plan_all(encoders: Sequence[Encoder | Baseline], tasks: Sequence[Task], *, run: Run) -> Plan:
    """Return the plan of the draw *run* without earlier results: all seeds are missing."""
    return {
        (encoder.name, task.name): dict.fromkeys(
            missing_jobs.find_conditions(encoder, probe_words=bool(task.data.slots), run=run), run.seeds
        )
        for encoder in encoders
        for task in tasks
    }


def plan_missing(
    request: RunRequest,
    encoders: Sequence[EncoderSource],
    *,
    run: Run,
    stored_results: Mapping[str, Result],
    reporter: Reporter,
) -> Plan:
    """Return, for each encoder and task of a draw, the seeds without results. Build datasets only if necessary."""
    preset, words, targets = request.preset, request.probe_vectors, request.targets.replace_seed(run.seed)
    requests = result_recipes.find_requests(targets, encoders, run=run, preset=preset, words=words)
    if requests:
        return {
            (request.encoder, request.task.name): missing_jobs.find_missing_seeds(stored, request.conditions, run=run)
            if (stored := stored_results.get(request.recipe))
            else dict.fromkeys(request.conditions, run.seeds)
            for request in requests
        }
    data = find_datasets(targets, command=run.command, reporter=reporter).datasets
    unbound = build_encoders(encoders, seed=run.seed)
    built_encoders = bind_to_sentence_order(unbound, (dataset.sentences for dataset in data))
    source = None if words is None else make_word_source(words, seed=run.seed)
    tasks = make_tasks(data, run=run, preset=preset, words=source)
    return {
        (encoder.name, task.name): missing_jobs.find_missing_seeds(
            missing_jobs.load_result(task, encoder, run=run, update=False),
            missing_jobs.find_conditions(encoder, probe_words=bool(task.data.slots), run=run),
            run=run,
        )
        for encoder in built_encoders
        for task in tasks
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFit:
    """A planned fit: probes of one shape and classifier that are trained together."""

    shape: presets.BankShape
    preset: Preset
    items: int
    validation: int
    probes: int
    passes: float

    @property
    def operations(self) -> float:
        """The estimated work of one pass. Compare it only between fits with the same vector width and classifier."""
        shape = self.shape
        units = sum(point.hidden or shape.labels for point in presets.list_grid_points(self.preset, shape, seed=0))
        # A training item takes three products, a validation item only the forward product.
        return units * (shape.inputs + shape.labels) * (self.items + self.validation / 3) * self.probes


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderFacts:
    """The facts about an encoder that decide the duration of a run."""

    name: str
    dim: int = 0
    """The width of the encoder's vectors; 0 for a baseline."""
    word_dim: int = 0
    is_pretrained: bool = False
    is_control_bow: bool = False
    seconds: float = 0.0
    """Seconds per sentence (for a baseline: per item); 0 for a variant, which reuses its base's vectors."""


def list_fits(
    condition: Condition, task: Task, encoder: EncoderFacts, *, items: int, seeds: int
) -> Iterator[PlannedFit]:
    """Yield a task's fits under one condition. *items*: number of training items before any become validation items."""
    preset = task.preset
    sample = task.get_items(condition)
    validation = 0 if sample.validation is None else len(sample.validation)
    train = round(items * len(sample.train) / len(task.data.splits[Split.TRAIN]))
    usual_fit = PlannedFit(
        shape=presets.BankShape(
            dim=WIDTHS.get(condition, encoder.dim),
            slots=task.data.slots,
            words=sample.words,
            labels=sample.labels,
            word_dim=encoder.word_dim if task.data.slots else 0,
        ),
        preset=preset,
        items=train,
        validation=round(validation * items / len(task.data.splits[Split.TRAIN])),
        # L-BFGS uses no random numbers, so all seeds share one fit.
        probes=1 if preset.optimizer is Optimizer.LBFGS else seeds,
        passes=assume_passes(preset, condition, encoder),
    )
    if condition is Condition.PORTIONS:
        calibrated = presets.calibrate_stopping(preset)
        passes = assume_passes(calibrated, condition, encoder)
        for size in compute_portion_sizes(train, labels=sample.labels):
            yield replace(usual_fit, preset=presets.reduce_batch(calibrated, items=size), items=size, passes=passes)
    elif condition is Condition.WIDTHS:
        for variant in (presets.remove_hidden_layer(preset), presets.set_hidden_widths(preset)):
            yield replace(usual_fit, preset=variant)
    else:
        yield usual_fit


def assume_passes(preset: Preset, condition: Condition, encoder: EncoderFacts) -> float:
    """Return how many passes over the training items the forecast assumes for a probe, at most ``max_epochs``."""
    if preset.optimizer is Optimizer.LBFGS:
        passes = LBFGS_ITERATIONS
    elif preset.stop is StopCriterion.TRAINING_LOSS:
        probe_passes = PRETRAINED_PASSES if encoder.is_pretrained else UNTRAINED_PASSES
        probe_passes = BAG_OF_WORDS_PASSES if encoder.is_control_bow else probe_passes
        width = REFERENCE_WIDTH if condition in WIDTH_FREE_CONDITIONS else encoder.dim
        passes = PASSES.get(condition, probe_passes) * math.sqrt(REFERENCE_WIDTH / width)
    else:
        passes = preset.check_every * preset.patience + VALIDATION_PASSES
    return min(passes, preset.max_epochs)


WIDTHS = {Condition.NO_SENTENCE: 1, Condition.FIXED_POSITIONS: PLACES_WIDTH}
"""The width of the sentence vectors of controls that do not depend on the encoder's width."""
REFERENCE_WIDTH = 512
"""The width of vectors to which the numbers of passes below apply."""
UNTRAINED_PASSES = 100.0
"""Passes on vectors from untrained networks and averaged word vectors."""
PRETRAINED_PASSES = 170.0
BAG_OF_WORDS_PASSES = 55.0

PASSES = {
    Condition.RANDOM_SENTENCES: BAG_OF_WORDS_PASSES,
    Condition.BAG_OF_WORDS: BAG_OF_WORDS_PASSES,
    Condition.NO_SENTENCE: 30.0,
    Condition.FIXED_POSITIONS: 150.0,
    Condition.WORDS_AND_POSITIONS: UNTRAINED_PASSES,
}

VALIDATION_PASSES = 20.0
LBFGS_ITERATIONS = 60.0
