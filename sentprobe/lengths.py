"""Lengths of sentences in tokens, and the bins in which they are counted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

ADI_BINS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 29), (30, 33), (34, 70))
"""The classes of length of Adi et al. 2017, section 3, in tokens."""


class Lengths(StrEnum):
    """How lengths are put together."""

    BINS = "bins"
    """Those of Adi et al. 2017, and what is shorter or longer."""
    TOKENS = "tokens"
    """Each length by itself."""


@dataclass(frozen=True, slots=True, order=True)
class Bin:
    """Lengths from *shortest* to *longest*, both included; None: however long.

    >>> str(Bin(5, 8)), str(Bin(7, 7)), str(Bin(71, None)), 9 in Bin(9, 12)
    ('5-8', '7', '71+', True)
    """

    shortest: int
    longest: int | None

    def __contains__(self, length: int) -> bool:
        return self.shortest <= length and (self.longest is None or length <= self.longest)

    def __str__(self) -> str:
        if self.longest is None:
            return f"{self.shortest}+"
        ends = dict.fromkeys((self.shortest, self.longest))
        return "-".join(map(str, ends))


BINS = (Bin(1, ADI_BINS[0][0] - 1), *(Bin(*ends) for ends in ADI_BINS), Bin(71, None))
"""Every length is in one of them."""


def bins_of(lengths: Iterable[int], by: Lengths) -> tuple[Bin, ...]:
    """Return the bins in which there is a length, in order.

    >>> [str(each) for each in bins_of([12, 3, 9, 3], Lengths.BINS)]
    ['1-4', '9-12']
    """
    distinct = sorted(set(lengths))
    if by is Lengths.TOKENS:
        return tuple(Bin(length, length) for length in distinct)
    return tuple(each for each in BINS if any(length in each for length in distinct))


def count_tokens(sentences: Sequence[str]) -> tuple[int, ...]:
    """Return the number of tokens of each sentence, with one space between tokens.

    >>> count_tokens(["the man slept", "stop !"])
    (3, 2)
    """
    return tuple(sentence.count(" ") + 1 for sentence in sentences)
