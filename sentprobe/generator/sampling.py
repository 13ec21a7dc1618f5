"""Drawing different numbers uniformly from a range of any size."""

import numpy as np
from numpy.random import Generator

from sentprobe.generator.boxes import IndexArray

_INT64 = 2**63


def draw_distinct(count: int, size: int, rng: Generator) -> IndexArray:
    """Return *count* different numbers below *size*, uniformly and in random order.

    Time and memory are proportional to *count*. The numbers are int64, or Python integers where
    *size* exceeds that. Repeated draws are thrown away, which leaves every ordered selection
    equally likely; where more than half of the range is wanted, it is shuffled instead.
    """
    if 2 * count > size:
        return rng.permutation(size)[:count]
    draw = _draw if size <= _INT64 else _draw_big
    kept = _without_repetition(draw(count, size, rng))
    while len(kept) < count:
        more = draw(count - len(kept), size, rng)
        kept = _without_repetition(np.concatenate([kept, more]))
    return kept


def _without_repetition(numbers: IndexArray) -> IndexArray:
    if numbers.dtype == object:
        return np.array(list(dict.fromkeys(numbers.tolist())), dtype=object)
    _, first = np.unique(numbers, return_index=True)
    kept: IndexArray = numbers[np.sort(first)]
    return kept


def _draw(count: int, size: int, rng: Generator) -> IndexArray:
    return rng.integers(0, size, count, dtype=np.int64)


def _draw_big(count: int, size: int, rng: Generator) -> IndexArray:
    """Draw random bits, as many as *size* has, until there are enough numbers below it."""
    bits = (size - 1).bit_length()
    width = -(-bits // 8)
    spare = 8 * width - bits
    drawn: list[int] = []
    while len(drawn) < count:
        data = rng.bytes((count - len(drawn)) * width)
        values = (
            int.from_bytes(data[at : at + width], "little") >> spare
            for at in range(0, len(data), width)
        )
        drawn += [value for value in values if value < size]
    return np.array(drawn, dtype=object)
