"""The planned work of a run: the missing probes of all draws, and their assumed numbers of training passes.

The size of a sentence-transformers model, read without loading it: loading takes longer than a forecast.
"""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.common.screen import Reporter
from sentprobe.common.specs import Spec, read_options
from sentprobe.common.values import BadSyntaxError, parse_json
from sentprobe.probes.classifier import presets
from sentprobe.probes.classifier.probe import Optimizer, Preset, StopCriterion, compute_portion_sizes
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.encoders.baselines import PLACES_WIDTH
from sentprobe.probes.encoders.encoder import Baseline, Encoder, Vectors
from sentprobe.probes.encoders.kinds import (
    EncoderSource,
    bind_to_sentence_order,
    build_encoders,
    find_kind,
    has_unchanged_vectors,
)
from sentprobe.probes.encoders.models.model_loading import find_default_device, find_model
from sentprobe.probes.encoders.models.sentence_transformer import MODEL_OWNERS, SentenceTransformerOptions
from sentprobe.probes.results.control import WIDTH_FREE_CONDITIONS
from sentprobe.probes.results.result import Condition, Result
from sentprobe.probes.runs import completed_tasks, missing_jobs
from sentprobe.probes.runs.controls import make_word_source
from sentprobe.probes.runs.settings import Run, RunRequest
from sentprobe.probes.runs.targets import find_datasets
from sentprobe.probes.runs.task import Task, make_tasks

LOADING_SECONDS = 8.0
"""Assumed seconds for loading sentence-transformers and a model (measured: 7 to 9 CPU seconds)."""
TOKENS_PER_WORD = 1.1
WIDTH_KEYS = ("out_features", "word_embedding_dimension", "embedding_dimension")


@dataclass(frozen=True, slots=True)
class UnloadedModel:
    """A sentence-transformers model that is not loaded: an encoder that knows its size but cannot encode."""

    name: str
    dim: int
    weights: int
    fingerprint: str = ""

    def count_multiplications(self, words: float) -> float:
        """Return the number of multiplications for a sentence of *words* words."""
        return self.weights * (words * TOKENS_PER_WORD + 2)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Raise NotImplementedError, since the model is not loaded."""
        raise NotImplementedError(f"{self.name} is not loaded, so it cannot encode {len(sentences)} sentences")


def read_unloaded_model(source: EncoderSource) -> UnloadedModel | None:
    """Return the model of a spec ``st:MODEL``, with its size; None if only loading the model tells its size."""
    if not isinstance(source, Spec) or source.kind != "st" or not has_unchanged_vectors(source):
        return None
    options = read_options(source, SentenceTransformerOptions())
    if not find_kind(source).installed or options.device or find_default_device() != "cpu":
        return None
    directory, _ = find_model(
        source.argument, revision=options.revision, required_file="modules.json", owners=MODEL_OWNERS
    )
    # The last module that states a width decides.
    width = 0
    modules = _read_json(directory / "modules.json")
    for module in modules if isinstance(modules, list) else ():
        path = module.get("path") if isinstance(module, dict) else None
        config = _read_json(directory / path / "config.json") if isinstance(path, str) and path else None
        if isinstance(config, dict):
            width = next((config[key] for key in WIDTH_KEYS if isinstance(config.get(key), int)), width)
    weights = sum(map(_count_weights, directory.glob("*.safetensors")))
    if not width or not weights or options.dim > width:
        return None
    return UnloadedModel(source.name, options.dim or width, weights)


def _read_json(path: Path) -> Any:
    try:
        return parse_json(path.read_bytes())
    except (OSError, BadSyntaxError):
        return None


def _count_weights(path: Path) -> int:
    """Return the number of weights in a safetensors file's matrices, without embeddings; 0 for a damaged file."""
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = parse_json(file.read(min(size, 2**24)))
        shapes = [entry["shape"] for name, entry in header.items() if "embedding" not in name and "shape" in entry]
        return sum(prod(map(int, shape)) for shape in shapes if len(shape) == 2)
    except (struct.error, BadSyntaxError, AttributeError, TypeError, ValueError):
        return 0


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
            missing_jobs.find_conditions(encoder, probe_words=bool(task.data.slots), run=run), run.probe_seeds
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
    requests = completed_tasks.find_requests(targets, encoders, run=run, preset=preset, words=words)
    if requests:
        return {
            (request.encoder, request.task.name): missing_jobs.find_missing_seeds(stored, request.conditions, run=run)
            if (stored := stored_results.get(request.recipe))
            else dict.fromkeys(request.conditions, run.probe_seeds)
            for request in requests
        }
    data, _ = find_datasets(targets, command=run.command, reporter=reporter)
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
