"""What a classifier and its training are made of, as values, as text and as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, get_args

from sentprobe.errors import SentprobeError, UsageError


class Scaling(StrEnum):
    """What is done to sentence vectors before training, learned from the training sentences.

    Beside the sentence vector stand one-hot probe words of length 1. A sentence vector that is
    many times longer drowns them, training makes no headway for some epochs, and the rule to stop
    ends it at chance, which would say nothing about the encoder. Published SemRole data, one
    seed, otherwise the values of ``ettinger``: untrained BiLSTM (2 x 512) 51.2% as it is, 65.6% at
    length 1; MiniLM (length 1) 58.3% as it is, 51.4% with variance 1 (length 20); bag of random
    word vectors, which cannot know, 50.4%, 49.4% and 51.0% as it is, at 1, with variance 1.
    """

    AS_IS = "as-is"
    """Nothing, as in the published code."""
    UNIT = "unit"
    """Mean 0, then one factor for all, so that the mean length is 1; keeps all proportions."""
    VARIANCE = "variance"
    """Mean 0 and variance 1 in each dimension (mean length sqrt(dim))."""
    WHITEN = "whiten"
    """Mean 0, variance 1 and no correlation: a linear map of full rank, where there is one."""


class Activation(StrEnum):
    """What the hidden layer applies."""

    RELU = "relu"
    SIGMOID = "sigmoid"
    NONE = "none"
    """There is no hidden layer: multinomial logistic regression; ``hidden`` does not count."""


class Masking(StrEnum):
    """Where dropout is applied to the hidden layer."""

    BEFORE = "before"
    """Before the activation: a unit that is dropped gives the activation of 0."""
    AFTER = "after"
    """After it, right before the output layer."""


class Start(StrEnum):
    """What the weights are drawn from; with L-BFGS they are 0 and nothing is drawn."""

    GLOROT = "glorot"
    """Uniform in +-sqrt(6 / (fan in + fan out)), as in scikit-learn (Glorot & Bengio 2010)."""
    FAN_IN = "fan-in"
    """Uniform in +-1/sqrt(fan in), as in Torch7 and PyTorch."""


class Optimizer(StrEnum):
    """How the weights are updated."""

    ADAM = "adam"
    ADAGRAD = "adagrad"
    LBFGS = "lbfgs"
    """L-BFGS on all items at once (Activation.NONE only); ends by the gradient, not by *stop*."""


class Penalty(StrEnum):
    """What the L2 penalty is added to, and on which weights it is."""

    PER_BATCH = "per-batch"
    """l2 / (2 * items of a batch) on the weights, not the biases, as in scikit-learn."""
    DECAY = "decay"
    """l2 / 2 on weights and biases, whatever the batch, as PyTorch's weight_decay."""


class Stop(StrEnum):
    """What must improve for training to go on."""

    TRAINING_LOSS = "training-loss"
    """The mean training loss since the last check; the last weights are kept."""
    VALIDATION_LOSS = "validation-loss"
    """The mean loss on validation; the weights of the best check are kept."""
    VALIDATION_ACCURACY = "validation-accuracy"
    """The accuracy on validation; the weights of the best check are kept."""


class Precision(StrEnum):
    """What numbers the first layer's matrix products are made of; weights are always float32."""

    AUTO = "auto"
    """bfloat16 where the processor has instructions for it, else float32."""
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


@dataclass(frozen=True, slots=True)
class Preset:
    """A classifier: its shape (softmax and cross-entropy in the end) and its training.

    Of ``hidden``, ``dropout`` and ``l2`` several values make a grid: a probe is trained at each of
    its points; the one with the best accuracy on validation, the first of equals, is the result.
    """

    name: str
    hidden: tuple[int, ...]
    """Width of the hidden layer; 0: as wide as the input (sentence and one-hot probe words)."""
    activation: Activation
    linear_from: int
    """With so many labels or more there is no hidden layer; 0: never."""
    dropout: tuple[float, ...]
    """Probability that a hidden unit is dropped in a training step."""
    masking: Masking
    start: Start
    optimizer: Optimizer
    learning_rate: float
    """Not used by L-BFGS; nor are the betas, epsilon, batch, enough and patience."""
    beta1: float
    """Adam's; the betas do not count in AdaGrad."""
    beta2: float
    epsilon: float
    l2: tuple[float, ...]
    penalty: Penalty
    batch: int
    max_epochs: int
    """The most passes over the items (L-BFGS: iterations)."""
    check_every: int
    """Passes between two checks whether training goes on."""
    stop: Stop
    tolerance: float
    """A check improves when it is better than the best before by more than this.

    L-BFGS: converged when no component of the gradient of the mean loss is larger.
    """
    patience: int
    """Training stops after more than this many checks that do not improve."""
    patience_resets: bool
    """Whether only checks in a row count; else all of them do."""
    enough: float
    """Training also stops when the mean training loss of a pass is below this; 0: never."""
    scaling: Scaling
    """What is done to the sentence vectors beforehand."""
    precision: Precision
    average: int = 1
    """Probes whose probabilities are averaged into one result, each with weights of its own."""

    def __post_init__(self) -> None:
        for entry in fields(self):
            _check_sign(self, entry.name)
        for name in ("learning_rate", "batch", "max_epochs", "check_every", "average"):
            if not getattr(self, name):
                raise UsageError(f"preset {self.name}: {name} must be more than 0")
        for name in GRID:
            _check_grid(self, name)
        if any(rate >= 1 for rate in self.dropout):
            raise UsageError(f"preset {self.name}: dropout must be less than 1")
        if self.optimizer is Optimizer.LBFGS and self.activation is not Activation.NONE:
            raise UsageError(f"preset {self.name}: optimizer=lbfgs needs activation=none")
        _check_average(self)

    def __str__(self) -> str:
        """Name the preset with all its values, as they are after any override.

        With L-BFGS, only those that count.
        """
        by_gradient = self.optimizer is Optimizer.LBFGS
        widths = "/".join(str(width) if width else "as wide as the input" for width in self.hidden)
        shape = "no hidden layer" if by_gradient else f"hidden {widths}"
        rest = ", ".join(
            f"{entry.name}={_text(getattr(self, entry.name))}"
            for entry in fields(self)
            if entry.name not in {"name", "hidden", *(WITHOUT_LBFGS if by_gradient else ())}
        )
        return f"{self.name} ({shape}, {rest})"

    @property
    def needs_validation(self) -> bool:
        """Whether training needs validation items, to stop or to choose a point of the grid."""
        grid = any(len(getattr(self, name)) > 1 for name in GRID)
        by_gradient = self.optimizer is Optimizer.LBFGS
        return grid or (self.stop is not Stop.TRAINING_LOSS and not by_gradient)

    def to_json(self) -> dict[str, Any]:
        """Return the values by name, in the types of JSON; :meth:`from_json` is the inverse.

        Those of LATER are left out, so that results of before have the same identity.
        """
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        kept = (item for item in values.items() if item not in LATER.items())
        return {name: _to_json(value) for name, value in kept}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Preset":
        """Read what :meth:`to_json` returns.

        Raises:
            SentprobeError: a value is missing, unknown, or of another type.
        """
        types = {entry.name: entry.type for entry in fields(cls)}
        values = LATER | dict(values)
        if set(values) != set(types):
            wrong = ", ".join(sorted(set(values) ^ set(types)))
            raise SentprobeError(f"a preset with other values than this version's: {wrong}")
        try:
            read: dict[str, Any] = {n: _from_json(kind, values[n]) for n, kind in types.items()}
            return cls(**read)
        except (TypeError, ValueError) as error:
            raise SentprobeError(f"not a preset: {error}") from None


def differences(preset: Preset, other: Preset) -> str:
    """Write the values in which a preset differs from another, in the order of the fields."""
    return ", ".join(
        f"{entry.name}={_text(value)}"
        for entry in fields(preset)
        if (value := getattr(preset, entry.name)) != getattr(other, entry.name)
    )


LATER = {"average": 1}
"""Fields that older files of results do not have, and what was always done then."""

GRID = ("hidden", "dropout", "l2")
"""The fields of a preset that may have several values."""

WITHOUT_LBFGS = (
    *("hidden", "activation", "linear_from", "dropout", "masking", "start", "learning_rate"),
    *("beta1", "beta2", "epsilon", "batch", "check_every", "stop"),
    *("patience", "patience_resets", "enough", "average"),
)
"""The fields without a meaning for L-BFGS, which trains all items at once and no hidden layer."""


def _check_sign(preset: Preset, name: str) -> None:
    for value in _values(getattr(preset, name)):
        if isinstance(value, int | float) and value < 0:
            raise UsageError(f"preset {preset.name}: {name}={value} is negative")


WIDEST = 1_000_000
"""The widest hidden layer that is taken for meant: its weights alone may have gigabytes."""


MOST_AVERAGED = 1_000
"""The most probes to a result that are taken for meant; some ten are all that helps."""


def _check_average(preset: Preset) -> None:
    if preset.average > MOST_AVERAGED:
        raise UsageError(f"preset {preset.name}: average must be at most {MOST_AVERAGED:,}")
    if preset.average > 1 and preset.optimizer is Optimizer.LBFGS:
        raise UsageError(
            f"preset {preset.name}: average={preset.average} changes nothing with "
            "optimizer=lbfgs, which draws nothing: all probes are the same"
        )


def _check_grid(preset: Preset, name: str) -> None:
    values = getattr(preset, name)
    if not values:
        raise UsageError(f"preset {preset.name}: {name} has no value")
    if name == "hidden" and max(values) > WIDEST:
        raise UsageError(f"preset {preset.name}: hidden must be at most {WIDEST:,}")
    if len(set(values)) < len(values):
        raise UsageError(f"preset {preset.name}: {name}={_text(values)} has a value twice")


def _values(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _text(value: object) -> str:
    if isinstance(value, bool | str):
        return str(value).lower()
    return "/".join(f"{each:g}" for each in _values(value))


def _to_json(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _from_json(kind: Any, value: Any) -> object:
    if inner := get_args(kind):
        if not isinstance(value, list):
            raise TypeError(f"{value!r} is not a list")
        return tuple(_from_json(inner[0], each) for each in value)
    if issubclass(kind, StrEnum):
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value
