"""Sets of events as boxes and cells, which can be counted, indexed and sampled.

A box has a set of allowed values for each variable of a layout, independently of other variables. Constraints cut boxes
into smaller, disjoint boxes. The words of a group (nouns, verbs, adverbs) must also differ within a sentence. A *cell*
is a part of a box in which the sets of any two variables of a group are equal or disjoint. The size of a cell is
therefore a product, and its i-th element follows from the digits of i in a mixed-radix system.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from random import Random
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sentprobe.generator.spaces.constraints import Allowed
from sentprobe.generator.spaces.layout import Group, Layout, Restriction, Variable

Box: TypeAlias = Mapping[str, Allowed]
IndexArray: TypeAlias = NDArray[Any]
"""Indices: int64, or Python integers if the space is larger than 2**63."""


def build_full_box(layout: Layout) -> Box:
    """Return the box in which every variable has its whole domain."""
    return {variable.name: variable.domain for variable in layout.variables}


def intersect(box: Box, restriction: Restriction) -> Box | None:
    """Return the part of *box* that *restriction* allows, or None if it is empty."""
    cut = {name: box[name] & allowed for name, allowed in restriction.items()}
    return {**box, **cut} if all(cut.values()) else None


def subtract(box: Box, restriction: Restriction) -> list[Box]:
    """Return disjoint boxes that cover the part of *box* that *restriction* excludes."""
    if any(box[name].isdisjoint(allowed) for name, allowed in restriction.items()):
        return [box]
    pieces: list[Box] = []
    remaining = dict(box)
    for name, allowed in restriction.items():
        outside = remaining[name] - allowed
        if outside:
            pieces.append({**remaining, name: outside})
        remaining[name] &= allowed
    return pieces


def require(boxes: Iterable[Box], union: Sequence[Restriction]) -> list[Box]:
    """Return disjoint boxes of the elements that at least one restriction of *union* allows."""
    required = []
    remaining = list(boxes)
    for number, restriction in enumerate(union, 1):
        required += [cut for box in remaining if (cut := intersect(box, restriction)) is not None]
        if number < len(union):
            remaining = [piece for box in remaining for piece in subtract(box, restriction)]
    return required


def forbid(boxes: Iterable[Box], union: Sequence[Restriction]) -> list[Box]:
    """Return disjoint boxes of the elements that no restriction of *union* allows."""
    remaining = list(boxes)
    for restriction in union:
        remaining = [piece for box in remaining for piece in subtract(box, restriction)]
    return remaining


class Choice(NamedTuple):
    """The sorted indices of a variable's allowed values, as a tuple and as an array."""

    numbers: tuple[int, ...]
    array: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a box whose elements can be counted and indexed.

    ``choices`` holds the allowed values of each variable. ``rivals`` holds the earlier variables with the same set of
    values, whose values must differ. ``radices`` holds the number of values that the rivals leave to each variable.
    """

    variables: tuple[Variable, ...]
    choices: tuple[Choice, ...]
    rivals: tuple[tuple[int, ...], ...]
    radices: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.radices)

    def decode(self, indices: IndexArray) -> dict[str, NDArray[np.int64]]:
        """Return the value of each variable, as an index into its values, for each element."""
        digits = _split_digits(indices, self.radices)
        positions: list[NDArray[np.int64]] = []
        for digit, rivals in zip(digits, self.rivals, strict=True):
            positions.append(_skip_positions(digit, [positions[i] for i in rivals]))
        return {
            variable.name: choice.array[position]
            for variable, choice, position in zip(self.variables, self.choices, positions, strict=True)
        }

    def decode_one(self, index: int) -> list[int]:
        """Return the value indices of one element; faster than ``decode`` for a few elements."""
        digits: list[int] = []
        for radix in reversed(self.radices):
            index, digit = divmod(index, radix)
            digits.append(digit)
        positions: list[int] = []
        for digit, rivals in zip(reversed(digits), self.rivals, strict=True):
            positions.append(_skip_position(digit, [positions[i] for i in rivals]) if rivals else digit)
        return [choice.numbers[position] for choice, position in zip(self.choices, positions, strict=True)]

    def encode(self, values: Mapping[str, int]) -> int | None:
        """Return the index of an element, or None if it is not in the cell; inverse of ``decode``."""
        index = 0
        positions: list[int] = []
        radices = self.radices
        for i, (variable, choice) in enumerate(zip(self.variables, self.choices, strict=True)):
            numbers, value = choice.numbers, values[variable.name]
            at = bisect_left(numbers, value)
            if at == len(numbers) or numbers[at] != value:
                return None
            taken_positions = [positions[j] for j in self.rivals[i]]
            if at in taken_positions:
                return None
            positions.append(at)
            index = index * radices[i] + at - sum(taken_position < at for taken_position in taken_positions)
        return index


def _split_digits(indices: IndexArray, radices: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the mixed-radix digits of indices; the last radix belongs to the lowest digit.

    Python integers are first cut into parts below 2**63, because int64 arithmetic is fast.
    """
    digits: list[NDArray[np.int64]] = []
    end = len(radices)
    while end:
        start = end - 1
        while start and prod(radices[start - 1 : end]) < 2**63:
            start -= 1
        part = indices if start == 0 else indices % prod(radices[start:end])
        remainder = part.astype(np.int64)
        for radix in reversed(radices[start:end]):
            if radix > 1:
                quotient = remainder // radix
                digits.append(remainder - quotient * radix)
                remainder = quotient
            else:
                digits.append(np.zeros(len(remainder), dtype=np.int64))
        if start:
            indices = indices // prod(radices[start:end])
        end = start
    return digits[::-1]


def _skip_positions(digit: NDArray[np.int64], taken_positions: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return, for each index, the digit-th position that no rival takes."""
    if not taken_positions:
        return digit
    position = digit.copy()
    for taken_position in np.sort(np.stack(taken_positions), axis=0):
        position += position >= taken_position
    return position


def _skip_position(digit: int, taken_positions: list[int]) -> int:
    """Return the digit-th position that no rival takes, for a single index."""
    for taken_position in sorted(taken_positions):
        digit += digit >= taken_position
    return digit


_Share: TypeAlias = tuple[Choice, tuple[int, ...]]
"""A cell's values of one variable of a group, and the earlier variables of the group with the same values."""


def split_into_cells(layout: Layout, box: Box) -> Iterator[Cell]:
    """Split a box into its nonempty cells."""
    members = _group_variables(layout)
    names = [variable.name for variable in layout.variables]
    default_choices = [_sort_values(box[name]) for name in names]
    no_rivals: list[tuple[int, ...]] = [()] * len(names)
    splits = [_split_group(tuple(box[names[at]] for at in group)) for group in members]
    for combination in product(*splits):
        choices, rivals = [*default_choices], [*no_rivals]
        for group, shares in zip(members, combination, strict=True):
            for at, (choice, earlier) in zip(group, shares, strict=True):
                choices[at] = choice
                rivals[at] = tuple(group[i] for i in earlier)
        radices = tuple([len(c.numbers) - len(r) for c, r in zip(choices, rivals, strict=True)])
        yield Cell(layout.variables, tuple(choices), tuple(rivals), radices)


@lru_cache(maxsize=1024)  # number of layouts
def _group_variables(layout: Layout) -> tuple[tuple[int, ...], ...]:
    numbered = list(enumerate(layout.variables))
    return tuple(tuple(at for at, v in numbered if v.group is group) for group in Group)


@lru_cache(maxsize=1024)
def _split_group(domains: tuple[Allowed, ...]) -> tuple[tuple[_Share, ...], ...]:
    """Return all ways to assign an atom to each variable of a group, if the atoms have enough words.

    An atom is a maximal set of words that are allowed for the same variables of the group. Results are cached, because
    layouts and boxes have few different groups.
    """
    atoms: dict[tuple[bool, ...], set[int]] = {}
    for value in frozenset().union(*domains):
        atoms.setdefault(tuple(value in domain for domain in domains), set()).add(value)
    by_variable = [
        [frozenset(atom) for signature, atom in sorted(atoms.items()) if signature[i]] for i in range(len(domains))
    ]
    return tuple(
        _build_shares(chosen)
        for chosen in product(*by_variable)
        if all(chosen.count(atom) <= len(atom) for atom in set(chosen))
    )


def _build_shares(atoms: Sequence[Allowed]) -> tuple[_Share, ...]:
    earlier: dict[Allowed, tuple[int, ...]] = {}
    shares = []
    for i, atom in enumerate(atoms):
        shares.append((_sort_values(atom), earlier.get(atom, ())))
        earlier[atom] = (*earlier.get(atom, ()), i)
    return tuple(shares)


@lru_cache(maxsize=1024)
def _sort_values(allowed: Allowed) -> Choice:
    numbers = tuple(sorted(allowed))
    return Choice(numbers, np.array(numbers, dtype=np.int64))


def skip_excluded(excluded: Sequence[int], ranks: IndexArray) -> IndexArray:
    """Return the numbers with these ranks among the numbers not in *excluded*, which is sorted.

    >>> skip_excluded([1, 2, 5], np.arange(4)).tolist()
    [0, 3, 4, 6]
    """
    offsets = [number - at for at, number in enumerate(excluded)]
    if not offsets:
        return ranks
    if ranks.dtype != object and offsets[-1] + len(offsets) < 2**62 > ranks.max(initial=0):
        moved: IndexArray = ranks + np.searchsorted(offsets, ranks, side="right")
        return moved
    return np.array([rank + bisect_right(offsets, rank) for rank in ranks.tolist()], dtype=object)


_FEW = 1000
"""Length below which removing repeats with a dictionary is faster than with NumPy."""


def divide_evenly(count: int, sizes: Sequence[int], rng: Random) -> list[int]:
    """Divide *count* into shares that are as equal as *sizes* allow; random shares get the remainder.

    >>> divide_evenly(10, [2, 100, 100], Random(0))
    [2, 4, 4]
    """
    shares, remaining = [0] * len(sizes), count
    order = rng.sample(range(len(sizes)), len(sizes))
    order.sort(key=sizes.__getitem__)  # stable: ties stay in random order
    for served, place in enumerate(order):
        shares[place] = min(sizes[place], remaining // (len(sizes) - served))
        remaining -= shares[place]
    return shares


def sample_distinct(count: int, size: int, rng: Generator) -> IndexArray:
    """Return *count* different numbers below *size*, uniformly and in random order.

    Time and memory are proportional to *count*. The numbers are int64, or Python integers if *size* exceeds that.
    Repeated numbers are sampled again, which leaves every ordered selection equally likely. If *count* is more than
    half of *size*, the numbers are the beginning of a permutation.
    """
    if 2 * count > size:
        return rng.permutation(size)[:count]
    distinct = _drop_repeats(_sample_integers(count, size, rng))
    while len(distinct) < count:
        more = _sample_integers(count - len(distinct), size, rng)
        distinct = _drop_repeats(np.concatenate([distinct, more]))
    return distinct


def _drop_repeats(numbers: IndexArray) -> IndexArray:
    if numbers.dtype == object or len(numbers) < _FEW:
        return np.array(list(dict.fromkeys(numbers.tolist())), dtype=numbers.dtype)
    _, first = np.unique(numbers, return_index=True)
    distinct: IndexArray = numbers[np.sort(first)]
    return distinct


def _sample_integers(count: int, size: int, rng: Generator) -> IndexArray:
    """Sample *count* integers below *size*; above int64, draw as many bits as *size* has, and reject larger values."""
    if size <= 2**63:
        return rng.integers(0, size, count, dtype=np.int64)
    bits = (size - 1).bit_length()
    width = -(-bits // 8)
    spare = 8 * width - bits
    drawn: list[int] = []
    while len(drawn) < count:
        data = rng.bytes((count - len(drawn)) * width)
        values = (int.from_bytes(data[at : at + width], "little") >> spare for at in range(0, len(data), width))
        drawn += [value for value in values if value < size]
    return np.array(drawn, dtype=object)
