"""Classifier presets: the fields of a probe and its training, as values, text and JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from itertools import chain
from typing import Any, get_args

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.values import MAX_INTEGER


class Scaling(StrEnum):
    """Scaling of sentence vectors before training, learned from the training sentences.

    Probe words are one-hot, of length 1. If sentence vectors are many times longer, training makes no progress for some
    epochs, and early stopping ends it at chance. That would say nothing about the encoder. Published SemRole data,
    values of ``ettinger``: untrained BiLSTM 51.2% as it is, 65.6% at length 1; MiniLM 58.3% and 51.4% (variance 1).
    """

    AS_IS = "as-is"
    """No scaling, as in the published code."""
    UNIT = "unit"
    """Mean 0, then one common factor that makes the mean length 1."""
    VARIANCE = "variance"
    """Mean 0 and variance 1 in each dimension (mean length sqrt(dim))."""
    WHITEN = "whiten"
    """Mean 0, variance 1 and no correlation: a linear map, of full rank where possible."""
    CHOSEN = "chosen"
    """``unit`` or ``whiten``, whichever is better on validation (L-BFGS only)."""


class Activation(StrEnum):
    """Activation function of the hidden layer."""

    RELU = "relu"
    SIGMOID = "sigmoid"
    NONE = "none"
    """No hidden layer (multinomial logistic regression); ``hidden`` is ignored."""


class Masking(StrEnum):
    """Place of dropout in the hidden layer."""

    BEFORE = "before"
    """Before the activation: a dropped unit has the activation of 0."""
    AFTER = "after"
    """After the activation, right before the output layer."""


class WeightInitialization(StrEnum):
    """Distribution of the initial weights; L-BFGS starts at 0."""

    GLOROT = "glorot"
    """Uniform in +-sqrt(6 / (fan in + fan out)), as in scikit-learn (Glorot & Bengio 2010)."""
    FAN_IN = "fan-in"
    """Uniform in +-1/sqrt(fan in), as in Torch7 and PyTorch."""


class Optimizer(StrEnum):
    """Optimizer of the weights."""

    ADAM = "adam"
    ADAGRAD = "adagrad"
    LBFGS = "lbfgs"
    """L-BFGS on all items at once (Activation.NONE only); ends by the gradient, not by *stop*."""


class Penalty(StrEnum):
    """Form of the L2 penalty."""

    PER_BATCH = "per-batch"
    """l2 / (2 * items of a batch) on the weights, not the biases, as in scikit-learn."""
    DECAY = "decay"
    """l2 / 2 on weights and biases, whatever the batch, as PyTorch's weight_decay."""


class StopCriterion(StrEnum):
    """Criterion that must improve for training to go on; L-BFGS chooses its grid point by it."""

    TRAINING_LOSS = "training-loss"
    """Mean training loss since the last check; the last weights are kept."""
    VALIDATION_LOSS = "validation-loss"
    """Mean validation loss; the weights of the best check are kept."""
    VALIDATION_ACCURACY = "validation-accuracy"
    """Validation accuracy; the weights of the best check are kept."""


class Precision(StrEnum):
    """Precision of the first layer's matrix products; weights are always float32."""

    AUTO = "auto"
    """bfloat16 if the processor has instructions for it, else float32."""
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Values of a classifier with softmax and cross-entropy, and of its training.

    Several values of ``hidden``, ``dropout`` or ``l2`` form a grid. A probe is trained at each grid point; the first
    probe with the best validation accuracy is the result.
    """

    name: str
    hidden: tuple[int, ...]
    """Width of the hidden layer; 0: the input width (sentence vector and one-hot probe words)."""
    activation: Activation
    linear_from: int = 0
    """Number of labels from which there is no hidden layer; 0: never."""
    dropout: tuple[float, ...] = (0.0,)
    """Dropout rate of the hidden units."""
    masking: Masking = Masking.AFTER
    start: WeightInitialization
    optimizer: Optimizer
    learning_rate: float
    """Ignored by L-BFGS, like the betas, epsilon, batch, enough and patience."""
    beta1: float = 0.9
    """Adam's; AdaGrad ignores both betas."""
    beta2: float = 0.999
    epsilon: float = 1e-8
    l2: tuple[float, ...]
    penalty: Penalty
    batch: int
    max_epochs: int
    """Maximum number of passes over the items (L-BFGS: iterations)."""
    check_every: int = 1
    """Passes between two checks of the stopping criterion."""
    stop: StopCriterion
    tolerance: float
    """Smallest gain over the best earlier check that counts as an improvement.

    For L-BFGS: largest component of the mean loss's gradient at convergence.
    """
    patience: int
    """Training stops after more than this many checks without improvement."""
    patience_resets: bool = True
    """Whether only consecutive checks count; else all do."""
    enough: float = 0.0
    """Training also stops when a pass's mean training loss is below this; 0: never."""
    scaling: Scaling
    precision: Precision = Precision.AUTO
    average: int = 1
    """Number of probes, of different initial weights, whose probabilities are averaged."""

    def __post_init__(self) -> None:
        for problem in chain(_find_wrong_numbers(self), _find_contradictions(self)):
            raise UsageError(f"preset {self.name}: {problem}")

    def __str__(self) -> str:
        """Return the name and all values; for L-BFGS only the fields that it uses."""
        uses_lbfgs = self.optimizer is Optimizer.LBFGS
        widths = "/".join(str(width) if width else "as wide as the input" for width in self.hidden)
        shape = "no hidden layer" if uses_lbfgs else f"hidden {widths}"
        settings = ", ".join(
            f"{entry.name}={_format_value(getattr(self, entry.name))}"
            for entry in fields(self)
            if entry.name not in {"name", "hidden", *(FIELDS_UNUSED_BY_LBFGS if uses_lbfgs else ())}
        )
        return f"{self.name} ({shape}, {settings})"

    @property
    def needs_validation(self) -> bool:
        """Whether training needs validation items, for early stopping or for the grid."""
        has_grid = any(len(getattr(self, name)) > 1 for name in GRID_FIELDS)
        uses_lbfgs = self.optimizer is Optimizer.LBFGS
        return (
            has_grid
            or self.scaling is Scaling.CHOSEN
            or (self.stop is not StopCriterion.TRAINING_LOSS and not uses_lbfgs)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the values by name, for :mod:`json`; :meth:`from_json` is the inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Preset":
        """Return a preset from the output of :meth:`to_json`."""
        types = {entry.name: entry.type for entry in fields(cls)}
        if set(values) != set(types):
            unexpected = ", ".join(sorted(set(values) ^ set(types)))
            raise SentprobeError(f"a preset with other values than this version's: {unexpected}")
        try:
            arguments: dict[str, Any] = {name: _from_json(kind, values[name]) for name, kind in types.items()}
            return cls(**arguments)
        except (TypeError, ValueError) as error:
            raise SentprobeError(f"not a preset: {error}") from None


def describe_differences(preset: Preset, reference: Preset) -> str:
    """Describe the values in which a preset differs from *reference*, in field order."""
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
"""Preset fields that L-BFGS ignores; it trains on all items at once, without hidden layer."""


MAX_HIDDEN = 1_000_000
"""Maximum width of a hidden layer; wider ones are refused as likely mistakes."""
MAX_AVERAGED = 1_000
"""Maximum number of averaged probes; more than about ten bring no gain."""


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
        effect = "changes nothing with optimizer=lbfgs, which draws nothing: all probes are the same"
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
    if value_type is float and type(value) is int:
        return float(value)
    if type(value) is not value_type:
        raise TypeError(f"{value!r} is not of type {value_type.__name__}")
    return value
