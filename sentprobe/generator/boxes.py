"""Sets of events as boxes, and each box as cells that can be counted, indexed and drawn from.

A box gives every variable of a layout a set of values, independently of the others. Constraints cut
boxes into smaller, disjoint ones. What is left may still demand that the words of a group differ; a
*cell* is a part of a box in which the sets of any two variables of a group are equal or disjoint,
so that its size is a product of numbers and its i-th element is read off the digits of i.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sentprobe.generator.constraints import Allowed
from sentprobe.generator.layout import Group, Layout, Restriction, Variable

Box: TypeAlias = Mapping[str, Allowed]
IndexArray: TypeAlias = NDArray[Any]
"""Indices: int64, or Python integers where the space is larger than that."""


def whole(layout: Layout) -> Box:
    """Return the box in which every variable has its whole domain."""
    return {variable.name: variable.domain for variable in layout.variables}


def intersect(box: Box, restriction: Restriction) -> Box | None:
    """Return the part of *box* that *restriction* allows, or None if that is empty."""
    cut = {name: box[name] & allowed for name, allowed in restriction.items()}
    return {**box, **cut} if all(cut.values()) else None


def subtract(box: Box, restriction: Restriction) -> list[Box]:
    """Return disjoint boxes that make up the part of *box* that *restriction* does not allow."""
    if any(box[name].isdisjoint(allowed) for name, allowed in restriction.items()):
        return [box]
    pieces: list[Box] = []
    rest = dict(box)
    for name, allowed in restriction.items():
        outside = rest[name] - allowed
        if outside:
            pieces.append({**rest, name: outside})
        rest[name] &= allowed
    return pieces


def require(boxes: Iterable[Box], union: Sequence[Restriction]) -> list[Box]:
    """Return disjoint boxes for what at least one restriction of *union* allows."""
    found = []
    rest = list(boxes)
    for number, restriction in enumerate(union, 1):
        found += [cut for box in rest if (cut := intersect(box, restriction)) is not None]
        if number < len(union):
            rest = [piece for box in rest for piece in subtract(box, restriction)]
    return found


def forbid(boxes: Iterable[Box], union: Sequence[Restriction]) -> list[Box]:
    """Return disjoint boxes for what no restriction of *union* allows."""
    rest = list(boxes)
    for restriction in union:
        rest = [piece for box in rest for piece in subtract(box, restriction)]
    return rest


class Choice(NamedTuple):
    """The sorted indices of the values that a variable may have, for one look-up and for many."""

    numbers: tuple[int, ...]
    array: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a box whose elements can be counted and indexed.

    ``choices`` holds what each variable may be; ``rivals`` the earlier variables that draw from
    the same values and must differ from it; ``radices`` how many values are left once these have
    theirs.
    """

    variables: tuple[Variable, ...]
    choices: tuple[Choice, ...]
    rivals: tuple[tuple[int, ...], ...]
    radices: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements the cell has."""
        return prod(self.radices)

    def decode(self, indices: IndexArray) -> dict[str, NDArray[np.int64]]:
        """Return the value of each variable, as an index into its values, for each element."""
        digits = _digits(indices, self.radices)
        positions: list[NDArray[np.int64]] = []
        for digit, rivals in zip(digits, self.rivals, strict=True):
            positions.append(_skip(digit, [positions[i] for i in rivals]))
        return {
            variable.name: choice.array[position]
            for variable, choice, position in zip(
                self.variables, self.choices, positions, strict=True
            )
        }

    def element(self, index: int) -> list[int]:
        """Return the indices of one element's values; for a few, quicker than ``decode``."""
        positions: list[int] = []
        for digit, rivals in zip(self._digits(index), self.rivals, strict=True):
            positions.append(_skip_one(digit, [positions[i] for i in rivals]) if rivals else digit)
        return [
            choice.numbers[position]
            for choice, position in zip(self.choices, positions, strict=True)
        ]

    def _digits(self, index: int) -> list[int]:
        """Return the digits of a number, as :func:`_digits` does those of many."""
        digits = []
        for radix in reversed(self.radices):
            index, digit = divmod(index, radix)
            digits.append(digit)
        return digits[::-1]

    def encode(self, values: Mapping[str, int]) -> int | None:
        """Return the index of an element, or None if it is not in the cell; undoes ``decode``."""
        index = 0
        positions: list[int] = []
        radices = self.radices
        for i, (variable, choice) in enumerate(zip(self.variables, self.choices, strict=True)):
            numbers, value = choice.numbers, values[variable.name]
            at = bisect_left(numbers, value)
            if at == len(numbers) or numbers[at] != value:
                return None
            taken = [positions[j] for j in self.rivals[i]]
            if at in taken:
                return None
            positions.append(at)
            index = index * radices[i] + at - sum(other < at for other in taken)
        return index


def _digits(indices: IndexArray, radices: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the digits of numbers, the last radix being that of the lowest digit.

    Python integers are cut into parts below 2**63 first: the arithmetic on those is quick.
    """
    digits: list[NDArray[np.int64]] = []
    end = len(radices)
    while end:
        start = end - 1
        while start and prod(radices[start - 1 : end]) < 2**63:
            start -= 1
        part = indices if start == 0 else indices % prod(radices[start:end])
        rest = part.astype(np.int64)
        for radix in reversed(radices[start:end]):
            if radix > 1:
                quotient = rest // radix
                digits.append(rest - quotient * radix)
                rest = quotient
            else:
                digits.append(np.zeros(len(rest), dtype=np.int64))
        if start:
            indices = indices // prod(radices[start:end])
        end = start
    return digits[::-1]


def _skip(digit: NDArray[np.int64], taken: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the digit-th position that is not taken."""
    if not taken:
        return digit
    position = digit.copy()
    for other in np.sort(np.stack(taken), axis=0):
        position += position >= other
    return position


def _skip_one(digit: int, taken: list[int]) -> int:
    """Return the digit-th position that is not taken, as :func:`_skip` does for many."""
    for other in sorted(taken):
        digit += digit >= other
    return digit


class _Share(NamedTuple):
    """What a variable of a group may be, and which earlier ones of it draw from the same values."""

    choice: Choice
    rivals: tuple[int, ...]


def cells_of(layout: Layout, box: Box) -> Iterator[Cell]:
    """Split a box into its cells; those without elements are left out."""
    members = _members(layout)
    names = [variable.name for variable in layout.variables]
    apart = [_sorted(box[name]) for name in names]
    nobody: list[tuple[int, ...]] = [()] * len(names)
    splits = [_split(tuple(box[names[at]] for at in group)) for group in members]
    for combination in product(*splits):
        choices, rivals = [*apart], [*nobody]
        for group, shares in zip(members, combination, strict=True):
            for at, share in zip(group, shares, strict=True):
                choices[at] = share.choice
                rivals[at] = tuple(group[i] for i in share.rivals)
        yield _cell(layout.variables, choices, rivals)


@lru_cache(maxsize=1024)  # as many as there are layouts
def _members(layout: Layout) -> tuple[tuple[int, ...], ...]:
    """Return the variables of each group, by number."""
    numbered = list(enumerate(layout.variables))
    return tuple(tuple(at for at, v in numbered if v.group is group) for group in Group)


@lru_cache(maxsize=1024)
def _split(domains: tuple[Allowed, ...]) -> tuple[tuple[_Share, ...], ...]:
    """Return the ways to give each variable of a group one atom, as far as words suffice.

    An atom is a largest set of words that the same variables of the group allow. Layouts and boxes
    have few different groups, which are kept.
    """
    atoms: dict[tuple[bool, ...], set[int]] = {}
    for value in frozenset().union(*domains):
        atoms.setdefault(tuple(value in domain for domain in domains), set()).add(value)
    by_variable = [
        [frozenset(atom) for signature, atom in sorted(atoms.items()) if signature[i]]
        for i in range(len(domains))
    ]
    return tuple(
        _shares(chosen)
        for chosen in product(*by_variable)
        if all(chosen.count(atom) <= len(atom) for atom in set(chosen))
    )


def _shares(atoms: Sequence[Allowed]) -> tuple[_Share, ...]:
    earlier: dict[Allowed, tuple[int, ...]] = {}
    shares = []
    for i, atom in enumerate(atoms):
        shares.append(_Share(_sorted(atom), earlier.get(atom, ())))
        earlier[atom] = (*earlier.get(atom, ()), i)
    return tuple(shares)


@lru_cache(maxsize=1024)
def _sorted(allowed: Allowed) -> Choice:
    numbers = tuple(sorted(allowed))
    return Choice(numbers, np.array(numbers, dtype=np.int64))


def _cell(
    variables: tuple[Variable, ...], choices: Sequence[Choice], rivals: Sequence[tuple[int, ...]]
) -> Cell:
    pairs = zip(choices, rivals, strict=True)
    radices = tuple([len(choice.numbers) - len(before) for choice, before in pairs])
    return Cell(variables, tuple(choices), tuple(rivals), radices)


def pass_over(taken: Sequence[int], ranks: IndexArray) -> IndexArray:
    """Return the numbers of these ranks among those that are not *taken*, which is sorted.

    >>> pass_over([1, 2, 5], np.arange(4)).tolist()
    [0, 3, 4, 6]
    """
    before = [number - at for at, number in enumerate(taken)]
    if not before:
        return ranks
    if ranks.dtype != object and before[-1] + len(before) < 2**62 > ranks.max(initial=0):
        moved: IndexArray = ranks + np.searchsorted(before, ranks, side="right")
        return moved
    return np.array([rank + bisect_right(before, rank) for rank in ranks.tolist()], dtype=object)


_INT64 = 2**63

_FEW = 1000
"""So many numbers go through a dictionary sooner than through NumPy's sort."""


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
    if numbers.dtype == object or len(numbers) < _FEW:
        return np.array(list(dict.fromkeys(numbers.tolist())), dtype=numbers.dtype)
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
