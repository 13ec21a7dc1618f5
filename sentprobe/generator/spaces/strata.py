"""Strata: the parts of a space that a profile distinguishes, with the share of the sample that each gets."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from sentprobe.errors import UsageError
from sentprobe.generator.spaces.counting import (
    Box,
    Cell,
    IndexArray,
    intersect,
    sample_distinct,
    skip_excluded,
    split_into_cells,
)
from sentprobe.generator.spaces.layout import Layout
from sentprobe.generator.spaces.profile import STRUCTURE, FeaturePath, Profile, Trait, find_traits


@dataclass(frozen=True, slots=True)
class SpaceStratum:
    """A part of a space: its sentences have indices from ``start`` to ``end`` (excluded)."""

    path: FeaturePath
    share: float
    start: int
    end: int
    cells: tuple[tuple[Layout, Cell], ...]

    def __str__(self) -> str:
        return ", ".join(f"{feature} {value}" for feature, value in self.path if feature)


def find_strata(boxes: Iterable[tuple[Layout, Box]], profile: Profile) -> list[SpaceStratum]:
    """Return the strata with sentences and a positive weight, of a space that consists of *boxes*."""
    cells: dict[FeaturePath, list[tuple[Layout, Cell]]] = {}
    for layout, box in boxes:
        for path, part in _split_box(layout, box, profile):
            cells.setdefault(path, []).extend((layout, cell) for cell in split_into_cells(layout, part) if cell.size)
    sizes = {path: sum(cell.size for _, cell in members) for path, members in cells.items() if members}
    strata: list[SpaceStratum] = []
    for path, share in _compute_shares(sizes, profile):
        start = strata[-1].end if strata else 0
        strata.append(SpaceStratum(path, share, start, start + sizes[path], tuple(cells[path])))
    return strata


def _split_box(layout: Layout, box: Box, profile: Profile) -> Iterator[tuple[FeaturePath, Box]]:
    """Yield the parts of a box that differ in weighted features, with the path of each; skip weights of 0."""
    head: FeaturePath = ()
    if STRUCTURE in profile.weights:
        structure = profile.find_structure(layout.pattern)
        if structure is None or not profile.get_weight(STRUCTURE, structure):
            return
        head = ((STRUCTURE, structure),)
    traits = [trait for trait in find_traits(layout) if trait.feature in profile.weights]
    # Layouts with the same features at as many places share strata.
    head = (*head, ("", " ".join(trait.feature for trait in traits)))
    for path, part in _split_by_traits(layout, box, traits, profile):
        yield (*head, *path), part


def _split_by_traits(
    layout: Layout, box: Box, traits: Sequence[Trait], profile: Profile
) -> Iterator[tuple[FeaturePath, Box]]:
    if not traits:
        yield (), box
        return
    first, *others = traits
    for value, allowed in first.allowed.items():
        name = None if first.variable is None else layout.variables[first.variable].name
        part = box if name is None else intersect(box, {name: allowed})
        if part is not None and profile.get_weight(first.feature, value):
            for path, piece in _split_by_traits(layout, part, others, profile):
                yield ((first.feature, value), *path), piece


def _compute_shares(
    sizes: dict[FeaturePath, int], profile: Profile, depth: int = 0
) -> Iterator[tuple[FeaturePath, float]]:
    """Yield the share of each stratum: the product of the shares along its path.

    At each step the possible values share by their weights; without weights, by their numbers of sentences.
    """
    branches: dict[tuple[str, str], dict[FeaturePath, int]] = {}
    for path, size in sizes.items():
        if depth == len(path):
            yield path, 1.0
            return
        branches.setdefault(path[depth], {})[path] = size
    weights = [
        profile.get_weight(feature, value) if feature else sum(branch.values())
        for (feature, value), branch in branches.items()
    ]
    total = sum(weights)
    for weight, branch in zip(weights, branches.values(), strict=True):
        for path, share in _compute_shares(branch, profile, depth + 1):
            yield path, share * (weight / total)


def sample_strata(strata: Sequence[SpaceStratum], count: int, excluded: Sequence[int], rng: Generator) -> IndexArray:
    """Return *count* different indices in random order: the strata by share, then uniformly within each.

    The indices in *excluded* are sorted. Raises UsageError if a stratum has too few sentences.
    """
    shares = np.array([stratum.share for stratum in strata])
    parts: list[IndexArray] = []
    for stratum, number in zip(strata, rng.multinomial(count, shares / shares.sum()).tolist(), strict=True):
        first, last = (bisect_left(excluded, index) for index in (stratum.start, stratum.end))
        taken = [index - stratum.start for index in excluded[first:last]]
        available = stratum.end - stratum.start - len(taken)
        if not number:
            continue
        if number > available:
            raise UsageError(
                f"the profile asks for {number} sentences with {stratum}, but there are only {available}; "
                "ask for fewer sentences"
            )
        ranks = skip_excluded(taken, sample_distinct(number, available, rng))
        parts.append(ranks + stratum.start if stratum.end < 2**63 else ranks.astype(object) + stratum.start)
    sample: IndexArray = rng.permutation(np.concatenate(parts))
    return sample
