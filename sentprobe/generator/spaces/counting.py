"""Sets of events as boxes and cells, which can be counted, indexed and sampled.

A *layout* lists the variables of a sentence structure. A *box* has a set of allowed values for each variable. The
variables of a group (nouns, verbs, adverbs, adjectives) must have different values. A *cell* is a part of a box in
which the sets of any two variables of a group are equal or disjoint. Each variable of a cell thus has a fixed number
of choices. The product of these numbers is the size of the cell. An event's index in the cell is a mixed-radix number:
it has one digit for each variable, and the variable's number of choices is the radix of the digit.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import accumulate, chain, product
from math import prod
from operator import mul, or_
from random import Random
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sentprobe.generator.spaces.constraints import Allowed
from sentprobe.generator.spaces.layout import Group, Layout, Restriction, Variable

Bits: TypeAlias = int
"""A set of value indices as the bits of an integer, faster to intersect than a Python set: ``0b101`` is {0, 2}."""
Box: TypeAlias = Mapping[str, Bits]
"""The allowed values of each variable, by the name of the variable."""
IndexArray: TypeAlias = NDArray[Any]
"""An array of indices of events: of int64, or of Python integers if the space has over 2**63 events."""


@lru_cache(maxsize=4096)
def _set_bits(allowed: Allowed) -> Bits:
    return sum(1 << value for value in allowed)


def build_full_box(layout: Layout) -> Box:
    """Return the box that allows each variable of a layout all values of its domain."""
    return {variable.name: _set_bits(variable.domain) for variable in layout.variables}


def intersect(box: Box, restriction: Restriction) -> Box | None:
    """Return the part of *box* that *restriction* allows, or None if that part is empty."""
    return _intersect(box, _convert_restriction(restriction))


def require(boxes: Iterable[Box], union: Iterable[Restriction]) -> list[Box]:
    """Restrict *boxes* to the events that at least one restriction in *union* allows; return disjoint boxes."""
    required = []
    remaining = list(boxes)
    for restriction in map(_convert_restriction, union):
        required += [cut for box in remaining if (cut := _intersect(box, restriction)) is not None]
        remaining = [piece for box in remaining for piece in _subtract(box, restriction)]
    return required


def forbid(boxes: Iterable[Box], union: Iterable[Restriction]) -> list[Box]:
    """Return disjoint boxes with the events of *boxes* minus the events that satisfy any restriction in *union*."""
    remaining = list(boxes)
    for restriction in map(_convert_restriction, union):
        remaining = [piece for box in remaining for piece in _subtract(box, restriction)]
    return remaining


def _convert_restriction(restriction: Restriction) -> Box:
    return {name: _set_bits(allowed) for name, allowed in restriction.items()}


def _intersect(box: Box, restriction: Box) -> Box | None:
    cut = {name: box[name] & allowed for name, allowed in restriction.items()}
    return {**box, **cut} if all(cut.values()) else None


def _subtract(box: Box, restriction: Box) -> list[Box]:
    """Return disjoint boxes that together contain the events of *box* that *restriction* does not allow."""
    for name, allowed in restriction.items():
        if not box[name] & allowed:
            return [box]
    pieces: list[Box] = []
    # Each piece violates the restriction of one variable and satisfies those before it, so that no two pieces overlap.
    for name, allowed in restriction.items():
        outside = box[name] & ~allowed
        if outside:
            pieces.append({**box, name: outside})
            box = {**box, name: box[name] & allowed}
    return pieces


class Choice(NamedTuple):
    """The sorted indices of the values that a :class:`Cell` allows for one variable, as a tuple and as an array."""

    numbers: tuple[int, ...]
    array: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a box in which any two variables of a group (e.g. nouns) have equal or disjoint sets of allowed values.

    Each field has one entry for each variable. The entry in ``rivals`` has the positions of the earlier variables from
    which the variable must differ. The entry in ``radices`` is the number of allowed values minus the number of rivals.
    """

    variables: tuple[Variable, ...]
    choices: tuple[Choice, ...]
    rivals: tuple[tuple[int, ...], ...]
    radices: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of events."""
        return prod(self.radices)

    def decode_one(self, index: int) -> list[int]:
        """Return the event at *index* as a list: the index of each variable's value. CellTable decodes many events."""
        digits: list[int] = []
        for radix in reversed(self.radices):
            index, digit = divmod(index, radix)
            digits.append(digit)
        positions: list[int] = []
        for digit, rivals in zip(reversed(digits), self.rivals, strict=True):
            position = digit  # it counts only the positions that no rival has taken
            for taken_position in sorted([positions[i] for i in rivals]) if rivals else ():
                position += position >= taken_position
            positions.append(position)
        return [choice.numbers[position] for choice, position in zip(self.choices, positions, strict=True)]

    def encode(self, values: Mapping[str, int]) -> int | None:
        """Return an event's index in the cell, or None if the cell lacks it. *values*: variable name to value index."""
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
            # The digit counts only positions that no rival has taken, the inverse of decode_one.
            index = index * radices[i] + at - sum(taken_position < at for taken_position in taken_positions)
        return index


_NOWHERE = np.iinfo(np.int64).max
"""The position of a variable that is no rival in a cell: above all other positions, so that no position skips it."""


class _CellColumn:
    """Arrays that describe one variable in each :class:`Cell`. An array of equal entries keeps only the first entry."""

    def __init__(
        self, name: str, choices: Sequence[Choice], radices: Sequence[int], rivals: Sequence[tuple[int, ...]]
    ) -> None:
        keys = list(map(id, choices))
        distinct = dict(zip(keys, choices, strict=True))
        ends = accumulate(len(choice.numbers) for choice in distinct.values())
        starts = dict(zip(distinct, chain([0], ends), strict=False))
        self.name = name
        self.values = np.concatenate([choice.array for choice in distinct.values()])
        self.starts = _shorten(list(map(starts.__getitem__, keys)))
        self.has_all_values = len(distinct) == 1 and choices[0].numbers == tuple(range(len(choices[0].numbers)))
        self.radices = _shorten(radices)
        self.largest_radix = int(self.radices.max())
        self.rivals = [(rival, _shorten([rival in r for r in rivals])) for rival in sorted({*chain(*{*rivals})})]


def _shorten(entries: Sequence[int]) -> NDArray[Any]:
    """Return *entries* as an array; keep only the first if all are equal, since NumPy then divides faster."""
    array = np.array(entries)
    return array[:1] if (array == array[0]).all() else array


def _look_up(entries: NDArray[Any], cells: NDArray[np.int64]) -> NDArray[Any]:
    return entries if len(entries) == 1 else entries.take(cells)


class CellTable:
    """Decoder of many event indices at once. It stores the cells (see :class:`Cell`) of a layout's boxes as arrays."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        fields = [
            zip(*rows, strict=True) for rows in zip(*((c.choices, c.radices, c.rivals) for c in cells), strict=True)
        ]
        names = [variable.name for variable in cells[0].variables]
        self._columns = [_CellColumn(*column) for column in zip(names, *fields, strict=True)]

    def decode(self, indices: IndexArray, cells: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Map each variable's name to an array with the index of the variable's value in each event.

        *cells* has the number of each event's cell. *indices* has each event's index among the events of its cell.
        """
        positions: list[NDArray[np.int64]] = []
        values = {}
        for column, digit in zip(self._columns, self._split_digits(indices, cells), strict=True):
            rivals = (
                positions[rival] if mask.all() else np.where(_look_up(mask, cells), positions[rival], _NOWHERE)
                for rival, mask in column.rivals
            )
            position = _skip_positions(digit, [*rivals])
            positions.append(position)
            if not column.has_all_values:
                position = column.values.take(position + _look_up(column.starts, cells))
            values[column.name] = position
        return values

    def _split_digits(self, indices: IndexArray, cells: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return one array for each variable, (n,) int64: its digit in the mixed-radix index of each event."""
        digits: list[NDArray[np.int64]] = []
        end = len(self._columns)
        while end:
            # Indices may exceed 64 bits: split them into runs of columns whose digits fit, which NumPy divides fast.
            start = end - 1
            while start and prod(column.largest_radix for column in self._columns[start - 1 : end]) < 2**63:
                start -= 1
            radices = [_look_up(column.radices, cells) for column in self._columns[start:end]]
            if start:
                size = reduce(mul, radices).astype(indices.dtype)
                remainder = (indices % size).astype(np.int64)
                indices = indices // size
            else:
                remainder = indices.astype(np.int64)
            for radix in reversed(radices):
                if len(radix) == 1 and radix[0] == 1:
                    digits.append(np.zeros(len(remainder), dtype=np.int64))
                    continue
                quotient = remainder // radix
                digits.append(remainder - quotient * radix)
                remainder = quotient
            end = start
        return digits[::-1]


def _skip_positions(digit: NDArray[np.int64], taken_positions: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return one position per event. *digit* is its rank among free positions: if 0 and 2 are taken, 1 has rank 0."""
    if not taken_positions:
        return digit
    position = digit.copy()
    for taken_position in np.sort(np.stack(taken_positions), axis=0):
        position += position >= taken_position
    return position


@dataclass(frozen=True)
class CountedBox:
    """A box of a layout, with the number of its events. Its parts (see :class:`Cell`) are computed on first use."""

    layout: Layout
    box: Box
    size: int

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The nonempty cells of the box. The events of an earlier cell have smaller indices."""
        return tuple(_split_into_cells(self.layout, self.box))

    def has_values(self, values: Mapping[str, int]) -> bool:
        """Say whether the box allows all *values*, which map names of variables to indices of values."""
        return all(self.box[name] >> value & 1 for name, value in values.items())


def count_box(layout: Layout, box: Box) -> CountedBox:
    """Return *box* with its event count. In an event, all nouns differ; so do all verbs, adverbs and adjectives."""
    groups, free = _group_names(layout)
    size = prod([box[name].bit_count() for name in free])
    for names in groups:
        size *= _count_group(tuple([box[name] for name in names]))
    return CountedBox(layout, box, size)


@lru_cache(maxsize=1024)  # number of layouts
def _group_names(layout: Layout) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Return the names of the variables in each group, and the names of the variables without a group."""
    groups = (tuple(layout.variables[at].name for at in group) for group in _group_variables(layout))
    return tuple(filter(None, groups)), tuple(v.name for v in layout.variables if v.group is None)


@lru_cache(maxsize=1 << 16)
def _count_group(domains: tuple[Bits, ...]) -> int:
    """Return the number of ways to choose a value from each variable's domain so that all values differ."""
    # Atoms are disjoint, so only variables with the same atom can have the same value.
    return sum(
        prod(atom.bit_count() - chosen[:i].count(atom) for i, atom in enumerate(chosen))
        for chosen in _choose_atoms(domains)
    )


def _split_into_cells(layout: Layout, box: Box) -> Iterator[Cell]:
    members = _group_variables(layout)
    names = [variable.name for variable in layout.variables]
    default_choices = [_sort_values(box[name]) for name in names]
    default_radices = [len(choice.numbers) for choice in default_choices]
    no_rivals: list[tuple[int, ...]] = [()] * len(names)
    splits = [_split_group(tuple(box[names[at]] for at in group)) for group in members]
    for combination in product(*splits):
        choices, rivals, radices = [*default_choices], [*no_rivals], [*default_radices]
        for group, shares in zip(members, combination, strict=True):
            for at, (choice, earlier) in zip(group, shares, strict=True):
                choices[at] = choice
                rivals[at] = tuple([group[i] for i in earlier])
                radices[at] = len(choice.numbers) - len(earlier)
        yield Cell(layout.variables, tuple(choices), tuple(rivals), tuple(radices))


@lru_cache(maxsize=1024)  # number of layouts
def _group_variables(layout: Layout) -> tuple[tuple[int, ...], ...]:
    numbered = list(enumerate(layout.variables))
    return tuple(tuple(at for at, v in numbered if v.group is group) for group in Group)


def _choose_atoms(domains: tuple[Bits, ...]) -> Iterator[tuple[Bits, ...]]:
    """Yield the cells (see :class:`Cell`) of a group of variables: in each cell, a set of values for each variable."""
    # An atom is the set of values that are in the same domains: the signature says which. Domains are unions of atoms.
    atoms: list[tuple[tuple[bool, ...], Bits]] = [((), reduce(or_, domains, 0))]
    for domain in domains:
        parts = (((*s, is_in), atom & (domain if is_in else ~domain)) for s, atom in atoms for is_in in (False, True))
        atoms = [(signature, atom) for signature, atom in parts if atom]
    by_variable = [[atom for signature, atom in atoms if signature[i]] for i in range(len(domains))]
    for chosen in product(*by_variable):
        # An atom cannot give different values to more variables than it has values.
        if all(chosen.count(atom) <= atom.bit_count() for atom in chosen):
            yield chosen


_Share: TypeAlias = tuple[Choice, tuple[int, ...]]
"""A variable's values in a cell, and the earlier variables with the same values, as positions in the group."""


@lru_cache(maxsize=1024)
def _split_group(domains: tuple[Bits, ...]) -> tuple[tuple[_Share, ...], ...]:
    """Return the cells (see :class:`Cell`) of a group of variables. A cell has one _Share for each variable."""
    return tuple(
        tuple((_sort_values(atom), tuple(j for j in range(i) if chosen[j] == atom)) for i, atom in enumerate(chosen))
        for chosen in _choose_atoms(domains)
    )


@lru_cache(maxsize=1024)
def _sort_values(allowed: Bits) -> Choice:
    numbers = tuple(i for i in range(allowed.bit_length()) if allowed >> i & 1)
    return Choice(numbers, np.array(numbers, dtype=np.int64))


def skip_excluded(excluded: Sequence[int], ranks: IndexArray) -> IndexArray:
    """Remove the sorted numbers *excluded* from the natural numbers; return the numbers at positions *ranks*.

    >>> skip_excluded([1, 2, 5], np.arange(4)).tolist()
    [0, 3, 4, 6]
    """
    # An offset is the count of numbers that remain below an excluded one: a rank skips those with offsets up to it.
    offsets = [number - at for at, number in enumerate(excluded)]
    if not offsets:
        return ranks
    if ranks.dtype != object and offsets[-1] + len(offsets) < 2**62 > ranks.max(initial=0):
        moved: IndexArray = ranks + np.searchsorted(offsets, ranks, side="right")
        return moved
    return np.array([rank + bisect_right(offsets, rank) for rank in ranks.tolist()], dtype=object)


_FEW = 1000
"""Length of an array below which a dictionary removes repeated numbers faster than NumPy."""


def divide_evenly(count: int, sizes: Sequence[int], rng: Random) -> list[int]:
    """Divide *count* as equally as possible into integer shares, each at most its entry in *sizes*; *rng* breaks ties.

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
    """Return *count* different numbers from 0 to *size* - 1 (int64, or Python integers), uniformly, in random order."""
    if 2 * count > size:  # a sample of over half would draw the same numbers again and again
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
    """Sample *count* integers below *size*; for a large size, draw random bits and reject values that are too high."""
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
