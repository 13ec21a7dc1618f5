"""Options of objectives: the default of each and the values that it accepts, without NumPy and PyTorch."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sentprobe.errors import UsageError

_REQUIREMENTS: tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...] = (
    (
        ("batch", "codes", "decoder_hidden", "decoder_layers", "decoder_inputs", "classes_hidden", "validation"),
        lambda count: count >= 1,
        "at least 1 is wanted",
    ),
    (("dropout",), lambda share: 0 <= share < 1, "a share from 0 to less than 1 is wanted"),
    (("temperature",), lambda divisor: 0 < divisor < math.inf, "a number above 0 is wanted"),
    (("drop", "swap"), lambda share: 0 <= share <= 1, "a share is from 0 to 1"),
)
"""Names of options, the test of their values, and the part of the error message that states accepted values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveOptions:
    """Values of the options of all objectives, named like those of ``probe train``."""

    batch: int = 256
    codes: int = 8000
    """Subword codes of a decoder; Conneau et al. 2018 have 40,000."""
    decoder_hidden: int = 512
    decoder_layers: int = 2
    decoder_inputs: int = 300
    dropout: float = 0.0
    classes_hidden: int = 512
    """Hidden units of the classifier of ``nli``; Conneau et al. 2018 chose 100."""
    temperature: float = 0.05
    """Divisor of the cosines in ``contrastive``."""
    neighbours: bool = False
    """Whether a second decoder of ``skipthought`` generates the previous sentence."""
    drop: float = 0.1
    """Share of words that ``denoising`` removes (Hill et al. 2016)."""
    swap: float = 0.1
    """Share of word pairs that ``denoising`` swaps."""
    validation: int = 1000
    """Items held out of training, at most a tenth of all."""
    seed: int = 0

    def __post_init__(self) -> None:
        for names, accepts, requirement in _REQUIREMENTS:
            for name in names:
                if not accepts(getattr(self, name)):
                    raise UsageError(f"{name}={getattr(self, name)}: {requirement}")


DEFAULTS = ObjectiveOptions()
EVENTS = 100_000
"""Default number of events that ``meaning`` learns from."""
