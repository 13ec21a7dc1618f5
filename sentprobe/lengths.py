"""Lengths of sentences in tokens, and their bins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

ADI_BINS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 29), (30, 33), (34, 70))
"""Length classes of Adi et al. 2017, section 3: smallest and largest number of tokens."""


class Lengths(StrEnum):
    """Ways to group sentences by length."""

    BINS = "bins"
    """The bins of Adi et al. 2017, with one more bin for shorter and one for longer sentences."""
    TOKENS = "tokens"
    """A bin for each number of tokens."""


@dataclass(frozen=True, slots=True, order=True)
class Bin:
    """Sentence lengths from *shortest* to *longest* (inclusive), in tokens; None means no upper limit.

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
        return "-".join(map(str, dict.fromkeys((self.shortest, self.longest))))


BINS = (Bin(1, ADI_BINS[0][0] - 1), *(Bin(*ends) for ends in ADI_BINS), Bin(71, None))


def find_bins(lengths: Iterable[int], by: Lengths) -> tuple[Bin, ...]:
    """Return the bins that contain at least one of the lengths, shortest first.

    >>> [str(length_bin) for length_bin in find_bins([12, 3, 9, 3], Lengths.BINS)]
    ['1-4', '9-12']
    """
    distinct = sorted(set(lengths))
    if by is Lengths.TOKENS:
        return tuple(Bin(length, length) for length in distinct)
    return tuple(length_bin for length_bin in BINS if any(length in length_bin for length in distinct))


def count_tokens(sentences: Sequence[str]) -> tuple[int, ...]:
    """Return the number of tokens of each sentence; one space separates tokens.

    >>> count_tokens(["the man slept", "stop !"])
    (3, 2)
    """
    return tuple(sentence.count(" ") + 1 for sentence in sentences)
