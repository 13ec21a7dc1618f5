"""Codelength, area under the learning curve, and pointwise V-information.

Presets: settings of a probe's classifier and its training, and their conversion to text and JSON.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from itertools import chain, pairwise
from typing import Any, get_args

from sentprobe.common.errors import SentprobeError, UsageError, describe_damage
from sentprobe.common.values import MAX_INTEGER

PORTION_PERCENTAGES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)
"""Sizes of the portions of Voita & Titov (2020, section 4), in percent of the training items."""
MIN_PORTIONS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """The result of one probe: a point of a curve whose x-axis is the number of training items or the hidden width."""

    at: int
    """Number of training items, or width of the hidden layer (0: no hidden layer)."""
    correct: int
    """Number of correct test items."""
    bits: float = 0.0
    """Cost in bits, with this probe, of the labels that the next portion of training items adds; 0 if there is none."""


def compute_portion_sizes(items: int, *, labels: int) -> tuple[int, ...]:
    """Return the sizes of growing portions of the training items, each about twice as large as the one before.

    A portion has at least as many items as there are labels. Raises UsageError if this leaves fewer than 4 portions.

    >>> compute_portion_sizes(1000, labels=4)
    (4, 8, 16, 32, 63, 125, 250, 500, 1000)
    """
    sizes = (math.ceil(items * share / 100) for share in PORTION_PERCENTAGES)
    portions = tuple(size for size in dict.fromkeys(sizes) if size >= labels)
    if len(portions) < MIN_PORTIONS:
        min_items = 8 * (labels - 1) + 1  # the smallest number of which 12.5%, rounded up, are as many as labels
        raise UsageError(
            f"{items} training items of {labels} labels are too few for portions; at least {min_items} are needed"
        )
    return portions


def compute_codelength(readings: Sequence[CurvePoint], *, labels: int) -> float:
    """Return the codelength of all training labels in bits, by the online code of Voita & Titov (2020, section 3.2).

    The labels of the first portion are transmitted uncompressed. The labels that a later portion adds are transmitted
    with a probe that was trained on the portion before.

    >>> readings = [CurvePoint(at=4, correct=0, bits=3.5), CurvePoint(at=8, correct=0)]
    >>> compute_codelength(readings, labels=2)
    7.5
    """
    return readings[0].at * math.log2(labels) + sum(reading.bits for reading in readings)


def compute_compression(readings: Sequence[CurvePoint], *, labels: int) -> float:
    """Return the compression: the uncompressed length of the training labels, divided by their codelength."""
    return readings[-1].at * math.log2(labels) / compute_codelength(readings, labels=labels)


def compute_curve_area(readings: Sequence[CurvePoint], *, total: int) -> float:
    """Return the area under the learning curve, divided by the curve's width: a mean accuracy from 0 to 1.

    The curve shows accuracy against log2 of the number of training items. *total* is the number of test items.
    """
    segments = [
        (math.log2(right.at / left.at), (left.correct + right.correct) / 2 / total)
        for left, right in pairwise(readings)
    ]
    return sum(width * height for width, height in segments) / sum(width for width, _ in segments)


def compute_pointwise_information(
    targets: Iterable[int], bits: Iterable[float], counts: Sequence[int]
) -> tuple[float, ...]:
    """Return the pointwise V-information of each item in bits (Ethayarajh et al. 2022, section 3).

    An item's information is -log2 of its label's frequency in training, minus the label's cost with the probe.

    - targets: the label of each item
    - bits: the cost of each item's label with the probe, in bits
    - counts: for each label, its number of training items; 1 is added to it, so that no information is infinite

    >>> compute_pointwise_information([0, 1], [0.5, 3.0], [7, 7])
    (0.5, -2.0)
    """
    total = sum(counts) + len(counts)
    prior_bits = [-math.log2((count + 1) / total) for count in counts]
    return tuple(prior_bits[target] - cost for target, cost in zip(targets, bits, strict=True))


class Scaling(StrEnum):
    """Scaling of sentence vectors before training, learned from the training sentences.

    One-hot vectors of probe words have length 1. If sentence vectors are many times longer, early stopping can end the
    training while accuracy is still at chance. Accuracies on the published SemRole data with preset ``ettinger`` show
    the effect: an untrained BiLSTM has 51.2% with ``as-is`` and 65.6% with ``unit``. Vectors that are scaled by
    ``variance`` are long: MiniLM has 51.4% with ``variance`` and 58.3% with ``as-is``.
    """

    AS_IS = "as-is"
    """No scaling, as in the published code."""
    UNIT = "unit"
    """Mean 0 and mean length 1: all vectors are divided by the same number."""
    VARIANCE = "variance"
    """Mean 0 and variance 1 in each dimension, so that the mean length is about sqrt(dim)."""
    WHITEN = "whiten"
    """Mean 0, variance 1 and no correlation between dimensions, by a linear map."""
    CHOSEN = "chosen"
    """``unit`` or ``whiten``, whichever is better on the validation items (L-BFGS only)."""


class Activation(StrEnum):
    """Activation function of the hidden layer."""

    RELU = "relu"
    SIGMOID = "sigmoid"
    NONE = "none"
    """No hidden layer: multinomial logistic regression. The setting ``hidden`` is ignored."""


class Masking(StrEnum):
    """Whether dropout acts on the hidden units before or after the activation function."""

    BEFORE = "before"
    """Before the activation function, which then gets 0 as the input of a dropped unit."""
    AFTER = "after"
    """After the activation function, before the output layer."""


class WeightInitialization(StrEnum):
    """Distribution of the initial weights; with L-BFGS, all are 0."""

    GLOROT = "glorot"
    """Uniform in +-sqrt(6 / (inputs + outputs)), as in scikit-learn (Glorot & Bengio 2010)."""
    FAN_IN = "fan-in"
    """Uniform in +-1/sqrt(inputs), as in Torch7 and PyTorch."""


class Optimizer(StrEnum):
    """Algorithm that optimizes the weights."""

    ADAM = "adam"
    ADAGRAD = "adagrad"
    LBFGS = "lbfgs"
    """L-BFGS on all items at once, until the gradient is small; only for probes without a hidden layer."""


class Penalty(StrEnum):
    """Form of the L2 penalty: the factor by which the sum of squared weights is multiplied."""

    PER_BATCH = "per-batch"
    """l2 / (2 * items in a batch), for the weights but not the biases, as in scikit-learn."""
    DECAY = "decay"
    """l2 / 2 for weights and biases, whatever the batch size, as PyTorch's weight_decay."""


class StopCriterion(StrEnum):
    """The value that must improve for training to continue, except with L-BFGS.

    With L-BFGS, the criterion only decides how the best probe of a grid is selected: VALIDATION_LOSS selects by
    validation loss, any other criterion by validation accuracy.
    """

    TRAINING_LOSS = "training-loss"
    """Mean training loss of the last pass. The result is the weights after the last pass."""
    VALIDATION_LOSS = "validation-loss"
    """Mean validation loss. The result is the weights with the lowest loss."""
    VALIDATION_ACCURACY = "validation-accuracy"
    """Validation accuracy. The result is the weights with the highest accuracy."""


class Precision(StrEnum):
    """Number format of the matrix products in the first layer; weights are always float32."""

    AUTO = "auto"
    """bfloat16 on a processor with instructions for it, else float32."""
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Settings of a classifier (softmax, cross-entropy loss) and of its training.

    Several values of ``hidden``, ``dropout`` or ``l2`` form a grid. A probe is trained for each combination of values,
    and the probe with the best validation accuracy is the result (the first of equal ones).
    """

    name: str
    hidden: tuple[int, ...]
    """Width of the hidden layer; 0: the width of the input (sentence vector and probe words)."""
    activation: Activation
    linear_from: int = 0
    """Probes have no hidden layer if a task has at least this number of labels; 0: the number does not matter."""
    dropout: tuple[float, ...] = (0.0,)
    """Probability that a hidden unit is dropped."""
    masking: Masking = Masking.AFTER
    start: WeightInitialization
    optimizer: Optimizer
    learning_rate: float
    """Learning rate of Adam and AdaGrad. L-BFGS ignores this and other fields (FIELDS_UNUSED_BY_LBFGS)."""
    beta1: float = 0.9
    """Decay rate of Adam's mean gradient; ``beta2``: that of the mean squared gradient. AdaGrad ignores both."""
    beta2: float = 0.999
    epsilon: float = 1e-8
    l2: tuple[float, ...]
    penalty: Penalty
    batch: int
    max_epochs: int
    """Maximum number of passes over the training items; with L-BFGS, maximum number of iterations."""
    check_every: int = 1
    """Number of passes from one check of the stopping criterion to the next."""
    stop: StopCriterion
    tolerance: float
    """A check is an improvement if it exceeds the best earlier check by more than this value.

    With L-BFGS, training has converged when no component of the loss's gradient is larger than this value.
    """
    patience: int
    """Number of checks without improvement that are allowed; one more such check stops training."""
    patience_resets: bool = True
    """Whether an improvement resets the count of checks without improvement."""
    enough: float = 0.0
    """Training also stops after a pass with a mean training loss below this value; 0: no such limit."""
    scaling: Scaling
    precision: Precision = Precision.AUTO
    average: int = 1
    """Number of probes with different initial weights whose probabilities are averaged."""

    def __post_init__(self) -> None:
        for problem in chain(_find_wrong_numbers(self), _find_contradictions(self)):
            raise UsageError(f"preset {self.name}: {problem}")

    def __str__(self) -> str:
        """Return the preset's name, and the names and values of all fields that its optimizer uses."""
        uses_lbfgs = self.optimizer is Optimizer.LBFGS
        widths = "/".join(str(width) if width else "as wide as the input" for width in self.hidden)
        shape = "no hidden layer" if uses_lbfgs else f"hidden layer {widths}"
        settings = ", ".join(
            f"{entry.name}={_format_value(getattr(self, entry.name))}"
            for entry in fields(self)
            if entry.name not in {"name", "hidden", *(FIELDS_UNUSED_BY_LBFGS if uses_lbfgs else ())}
        )
        return f"{self.name} ({shape}, {settings})"

    @property
    def needs_validation(self) -> bool:
        """Whether training needs validation items: for early stopping, or to choose among settings."""
        has_grid = any(len(getattr(self, name)) > 1 for name in GRID_FIELDS)
        stops_early = self.stop is not StopCriterion.TRAINING_LOSS and self.optimizer is not Optimizer.LBFGS
        return has_grid or stops_early or self.scaling is Scaling.CHOSEN

    def to_json(self) -> dict[str, Any]:
        """Return the value of each field by name, as JSON can store it; the inverse of :meth:`from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Preset":
        """Return the preset with these field values. Raises SentprobeError if a field or a value is invalid."""
        types = {entry.name: entry.type for entry in fields(cls)}
        if set(values) != set(types):
            unexpected = ", ".join(sorted(set(values) ^ set(types)))
            raise SentprobeError(f"a preset has other fields than in this version: {unexpected}")
        try:
            arguments: dict[str, Any] = {name: _from_json(kind, values[name]) for name, kind in types.items()}
            return cls(**arguments)
        except (TypeError, ValueError) as error:
            raise SentprobeError(f"not a preset: {describe_damage(error)}") from None


def describe_differences(preset: Preset, reference: Preset) -> str:
    """Return, as text such as ``batch=64``, the values of a preset that differ from those of *reference*."""
    return ", ".join(
        f"{entry.name}={_format_value(value)}"
        for entry in fields(preset)
        if (value := getattr(preset, entry.name)) != getattr(reference, entry.name)
    )


GRID_FIELDS = ("hidden", "dropout", "l2")

FIELDS_UNUSED_BY_LBFGS = (
    *("hidden", "activation", "linear_from", "dropout", "masking", "start", "learning_rate"),
    *("beta1", "beta2", "epsilon", "batch", "check_every"),
    *("patience", "patience_resets", "enough", "average"),
)
"""Fields of a preset that L-BFGS ignores, since it trains on all items at once, without a hidden layer."""


MAX_HIDDEN = 1_000_000
"""Maximum width of a hidden layer; a wider layer is probably a mistake."""
MAX_AVERAGED = 1_000
"""Maximum number of averaged probes; more than about ten do not improve accuracy."""


def _find_wrong_numbers(preset: Preset) -> Iterator[str]:
    values = {entry.name: _as_tuple(getattr(preset, entry.name)) for entry in fields(preset)}
    numbers = [(name, value) for name in values for value in values[name] if isinstance(value, int | float)]
    yield from (f"{name}={value} is negative" for name, value in numbers if value < 0)
    for name in ("learning_rate", "batch", "max_epochs", "check_every", "average"):
        if not getattr(preset, name):
            yield f"{name} must be more than 0"
    for name in GRID_FIELDS:
        if not values[name]:
            yield f"{name} has no value"
        if name == "hidden" and max(preset.hidden) > MAX_HIDDEN:
            yield f"hidden must be at most {MAX_HIDDEN:,}"
        if len(set(values[name])) < len(values[name]):
            yield f"{name}={_format_value(values[name])} has a value twice"


def _find_contradictions(preset: Preset) -> Iterator[str]:
    uses_lbfgs = preset.optimizer is Optimizer.LBFGS
    if any(rate >= 1 for rate in preset.dropout):
        yield "dropout must be less than 1"
    if uses_lbfgs and preset.activation is not Activation.NONE:
        yield "optimizer=lbfgs needs activation=none"
    if preset.scaling is Scaling.CHOSEN and not uses_lbfgs:
        yield "scaling=chosen needs optimizer=lbfgs"
    if preset.average > MAX_AVERAGED:
        yield f"average must be at most {MAX_AVERAGED:,}"
    if preset.average > 1 and uses_lbfgs:
        effect = "has no effect with optimizer=lbfgs, which uses no random numbers: all probes are the same"
        yield f"average={preset.average} {effect}"


def _as_tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _format_value(value: object) -> str:
    if isinstance(value, bool | str):
        return str(value).lower()
    return "/".join(f"{number:g}" for number in _as_tuple(value))


def _from_json(value_type: Any, value: Any) -> object:
    if element_types := get_args(value_type):
        if not isinstance(value, list | tuple):
            raise TypeError(f"{value!r} is not a list")
        return tuple(_from_json(element_types[0], element) for element in value)
    if issubclass(value_type, StrEnum):
        return value_type(value)
    if isinstance(value, int) and abs(value) >= MAX_INTEGER:
        raise ValueError("a number is too large")
    # Other programs write 1.0 as 1 in JSON.
    if value_type is float and type(value) is int:
        return float(value)
    # Not isinstance, by which True would be an int.
    if type(value) is not value_type:
        raise TypeError(f"{value!r} is not of type {value_type.__name__}")
    return value
