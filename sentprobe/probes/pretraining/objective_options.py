"""Options of objectives: the default of each and the values that it accepts, without NumPy and PyTorch."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sentprobe.errors import UsageError

Value = TypeVar("Value", int, float, bool)


@dataclass(frozen=True, slots=True)
class Option(Generic[Value]):
    """An option of one or several objectives, named like the option of ``probe train``."""

    name: str
    default: Value
    accepts: Callable[[Any], bool] | None = None
    requirement: str = ""
    """The part of the error message that states the accepted values."""

    def check(self, value: Value) -> None:
        """Raise UsageError if the option does not accept *value*."""
        if self.accepts is not None and not self.accepts(value):
            raise UsageError(f"{self.name}={value}: {self.requirement}")


def _make_count_option(name: str, default: int) -> Option[int]:
    return Option(name, default, lambda value: value >= 1, "at least 1 is wanted")


def _make_share_option(name: str, default: float) -> Option[float]:
    return Option(name, default, lambda value: 0 <= value <= 1, "a share is from 0 to 1")


BATCH = _make_count_option("batch", 256)
VALIDATION = _make_count_option("validation", 1000)
CODES = _make_count_option("codes", 8000)
DECODER_HIDDEN = _make_count_option("decoder_hidden", 512)
DECODER_LAYERS = _make_count_option("decoder_layers", 2)
DECODER_INPUTS = _make_count_option("decoder_inputs", 300)
DROPOUT = Option("dropout", 0.0, lambda value: 0 <= value < 1, "a share from 0 to less than 1 is wanted")
CLASSES_HIDDEN = _make_count_option("classes_hidden", 512)
TEMPERATURE = Option("temperature", 0.05, lambda value: 0 < value < math.inf, "a number above 0 is wanted")
NEIGHBOURS = Option("neighbours", default=False)
DROP = _make_share_option("drop", 0.1)
SWAP = _make_share_option("swap", 0.1)
EVENTS = Option("events", 100_000)

OPTIONS = (
    *(BATCH, CODES, DECODER_HIDDEN, DECODER_LAYERS, DECODER_INPUTS, CLASSES_HIDDEN, VALIDATION),
    *(DROPOUT, TEMPERATURE, NEIGHBOURS, DROP, SWAP),
)
"""The options that :class:`ObjectiveOptions` holds, in the order in which they are checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveOptions:
    """Values of the options of all objectives."""

    batch: int = BATCH.default
    codes: int = CODES.default
    """Subword codes of a decoder; Conneau et al. 2018 have 40,000."""
    decoder_hidden: int = DECODER_HIDDEN.default
    decoder_layers: int = DECODER_LAYERS.default
    decoder_inputs: int = DECODER_INPUTS.default
    dropout: float = DROPOUT.default
    classes_hidden: int = CLASSES_HIDDEN.default
    """Hidden units of the classifier of ``nli``; Conneau et al. 2018 chose 100."""
    temperature: float = TEMPERATURE.default
    """Divisor of the cosines in ``contrastive``."""
    neighbours: bool = NEIGHBOURS.default
    """Whether a second decoder of ``skipthought`` generates the previous sentence."""
    drop: float = DROP.default
    """Share of words that ``denoising`` removes (Hill et al. 2016)."""
    swap: float = SWAP.default
    """Share of word pairs that ``denoising`` swaps."""
    validation: int = VALIDATION.default
    """Items held out of training, at most a tenth of all."""
    seed: int = 0

    def __post_init__(self) -> None:
        for option in OPTIONS:
            option.check(getattr(self, option.name))
