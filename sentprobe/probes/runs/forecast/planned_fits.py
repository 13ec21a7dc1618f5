"""The fits of a run: the shape, classifier and items of each, and its assumed number of passes.

Early stopping decides the number of passes, which only training shows. The assumed numbers are means of measured runs.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sentprobe.probes.dataset import Split
from sentprobe.probes.results.result import Condition
from sentprobe.probes.runs.execution.task import Task
from sentprobe.probes.trainer import presets as ps
from sentprobe.probes.trainer.classifier import Optimizer, Preset, StopCriterion
from sentprobe.probes.trainer.codelength import compute_portion_sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFit:
    """Probes of one shape and classifier, trained side by side."""

    shape: ps.BankShape
    preset: Preset
    items: int
    validation: int
    probes: int
    passes: float

    @property
    def operations(self) -> float:
        """The operations of a pass, up to a factor that fits of one width and classifier share."""
        shape = self.shape
        units = sum(point.hidden or shape.labels for point in ps.list_grid_points(self.preset, shape, seed=0))
        # A validation item takes the forward product only, one of three.
        return units * (shape.inputs + shape.labels) * (self.items + self.validation / 3) * self.probes


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderFacts:
    """The facts about an encoder that decide the duration of a run."""

    name: str
    dim: int = 0
    """The width of its vectors; 0: a baseline."""
    word_dim: int = 0
    is_pretrained: bool = False
    is_control_bow: bool = False
    seconds: float = 0.0
    """The seconds for each sentence; 0: its vectors are those of another encoder. For a baseline, for each item."""


def list_fits(
    condition: Condition, task: Task, encoder: EncoderFacts, *, items: int, seeds: int
) -> Iterator[PlannedFit]:
    """Yield the fits under a condition.

    - task: the task with some of its items
    - items: the number of training items in the run, with validation items that are taken from them
    """
    preset = task.preset
    sample = task.get_items(condition)
    validation = 0 if sample.validation is None else len(sample.validation)
    train = round(items * len(sample.train) / len(task.data.splits[Split.TRAIN]))
    one = PlannedFit(
        shape=ps.BankShape(
            dim=1 if condition is Condition.NO_SENTENCE else encoder.dim,
            slots=task.data.slots,
            words=sample.words,
            labels=sample.labels,
            word_dim=encoder.word_dim if task.data.slots else 0,
        ),
        preset=preset,
        items=train,
        validation=round(validation * items / len(task.data.splits[Split.TRAIN])),
        probes=1 if preset.optimizer is Optimizer.LBFGS else seeds,
        passes=assume_passes(preset, condition, encoder),
    )
    if condition is Condition.PORTIONS:
        calibrated = ps.calibrate_stopping(preset)
        passes = assume_passes(calibrated, condition, encoder)
        for size in compute_portion_sizes(train, labels=sample.labels):
            yield replace(one, preset=ps.reduce_batch(calibrated, items=size), items=size, passes=passes)
    elif condition is Condition.WIDTHS:
        for variant in (ps.remove_hidden_layer(preset), ps.set_hidden_widths(preset)):
            yield replace(one, preset=variant)
    else:
        yield one


def assume_passes(preset: Preset, condition: Condition, encoder: EncoderFacts) -> float:
    """Return the assumed passes of a probe: fewer for wider vectors, and for a control at most those of its probe."""
    if preset.optimizer is Optimizer.LBFGS:
        passes = LBFGS_ITERATIONS
    elif preset.stop is StopCriterion.TRAINING_LOSS:
        probe_passes = PRETRAINED_PASSES if encoder.is_pretrained else UNTRAINED_PASSES
        probe_passes = BAG_OF_WORDS_PASSES if encoder.is_control_bow else probe_passes
        passes = PASSES.get(condition, probe_passes) * math.sqrt(REFERENCE_WIDTH / encoder.dim)
    else:
        passes = preset.check_every * preset.patience + VALIDATION_PASSES
    return min(passes, preset.max_epochs)


REFERENCE_WIDTH = 512

UNTRAINED_PASSES = 100.0
"""Passes on vectors of the reference width from untrained networks and averaged words."""

PRETRAINED_PASSES = 170.0

BAG_OF_WORDS_PASSES = 55.0

PASSES = {
    Condition.RANDOM_SENTENCES: BAG_OF_WORDS_PASSES,
    Condition.BAG_OF_WORDS: BAG_OF_WORDS_PASSES,
    Condition.NO_SENTENCE: 30.0,
}

VALIDATION_PASSES = 20.0

LBFGS_ITERATIONS = 60.0
