"""The options of objectives, with defaults and accepted values; NumPy and PyTorch are not imported."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sentprobe.common.errors import UsageError

_REQUIREMENTS: tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...] = (
    (
        ("batch", "codes", "decoder_hidden", "decoder_layers", "decoder_inputs", "classes_hidden", "validation"),
        lambda count: count >= 1,
        "at least 1 is expected",
    ),
    (("dropout",), lambda share: 0 <= share < 1, "a share from 0 to less than 1 is expected"),
    (("temperature",), lambda divisor: 0 < divisor < math.inf, "a number above 0 is expected"),
    (("drop", "swap"), lambda share: 0 <= share <= 1, "a share is from 0 to 1"),
)
"""For each group of options: their names, a function that tests a value, and the error message for invalid values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveOptions:
    """The options of all objectives, with the names that ``probe train`` uses."""

    batch: int = 256
    """Number of items per batch."""
    codes: int = 8000
    """Maximum number of subword codes of a decoder; Conneau et al. 2018 use 40,000."""
    decoder_hidden: int = 512
    """Number of hidden units in each layer of a decoder."""
    decoder_layers: int = 2
    decoder_inputs: int = 300
    """Dimension of a decoder's embeddings of subword codes."""
    attention: bool = False
    """Whether a decoder also attends to the states of all words, as BiLSTM-Att in table 3 of Conneau et al. 2018."""
    dropout: float = 0.0
    classes_hidden: int = 512
    """Number of hidden units in the classifier of ``nli``; Conneau et al. 2018 chose 100."""
    temperature: float = 0.05
    """Number by which ``contrastive`` divides cosines before the softmax."""
    neighbours: bool = False
    """Whether ``skipthought`` has a second decoder, which generates the previous sentence."""
    drop: float = 0.1
    """Probability that ``denoising`` drops a word (Hill et al. 2016)."""
    swap: float = 0.1
    """Probability that ``denoising`` swaps two adjacent words."""
    validation: int = 1000
    """Number of items held out for validation, but at most a tenth of all items."""
    seed: int = 0
    place: int = 0
    """Place among the objectives of one encoder, so that their random numbers differ; no option of ``probe train``."""

    def __post_init__(self) -> None:
        for names, accepts, requirement in _REQUIREMENTS:
            for name in names:
                if not accepts(getattr(self, name)):
                    raise UsageError(f"{name}={getattr(self, name)}: {requirement}")


DEFAULTS = ObjectiveOptions()
EVENTS = 100_000
"""Default number of events that the objective ``meaning`` learns from."""
