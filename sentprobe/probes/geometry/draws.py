"""Results of geometry as tables: which are of one, and what a cell has over several draws.

A draw is what ``probe geometry`` with one ``--seed`` gives: its triplets, and the weights of
untrained encoders.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.probes.geometry.material import Drawing
from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.geometry.results import GeometryResult
from sentprobe.probes.statistics import Interval, accuracy_interval, take_apart
from sentprobe.specs import without_seed

GeometryTable: TypeAlias = tuple[GeometryResult, ...]
"""Results that are comparable: of one seed each encoder has at most one on a contrast."""


def geometry_tables(results: Iterable[GeometryResult]) -> tuple[GeometryTable, ...]:
    """Divide results into tables; what differs in its draw alone is one, in order of seed.

    Draws have the same encoders on the same contrasts, drawn of the same words and templates by
    another seed; vectors are the same, or of weights that were drawn by another seed. Datasets
    that were read are the same in each draw.
    """
    tables = _single_draws(results)
    for naming in (_plain, _without_seed):
        tables = _joined(tables, naming)
    return tuple(tables)


GeometryNaming: TypeAlias = Callable[[GeometryResult], str]


def _plain(result: GeometryResult) -> str:
    return result.encoder


def _without_seed(result: GeometryResult) -> str:
    return without_seed(result.encoder, result.drawing.seed)


def _joined(tables: Sequence[GeometryTable], naming: GeometryNaming) -> list[GeometryTable]:
    """Put draws together, if they are draws where their encoders are called so."""
    joined: list[GeometryTable] = []
    for single in tables:
        named = _renamed(single, naming)
        which = (n for n, each in enumerate(joined) if _are_draws(_renamed(each, naming), named))
        found = next(which, None)
        if found is None:
            joined.append(single)
        else:
            joined[found] = _renamed(joined[found], naming) + named
    return joined


def _renamed(table: GeometryTable, naming: GeometryNaming) -> GeometryTable:
    return tuple(replace(each, encoder=naming(each)) for each in table)


def _single_draws(results: Iterable[GeometryResult]) -> list[GeometryTable]:
    """Divide results into tables of one draw each, in order of seed; the same twice is one."""
    tables: list[GeometryTable] = []
    for result in sorted(results, key=_order):
        fits = (at for at, each in enumerate(tables) if not _contradicts(each, result))
        place = next(fits, None)
        if place is None:
            tables.append((result,))
        elif all(cell_of(each) != cell_of(result) for each in tables[place]):
            tables[place] += (result,)
    return tables


def _order(result: GeometryResult) -> tuple[object, ...]:
    """Order by seed; encoders by name, their layers by number."""
    parts = re.split(r"(\d+)", result.encoder)
    name = tuple((int(part), "") if part.isdecimal() else (0, part) for part in parts)
    names = [*CONTRASTS]
    rank = names.index(result.contrast) if result.contrast in names else len(names)
    return result.drawing.seed, name, rank


def cell_of(result: GeometryResult) -> tuple[str, str]:
    """Return the cell of a table that a result belongs in; draws of one share it."""
    return result.encoder, result.contrast


def by_cell(table: Iterable[GeometryResult]) -> dict[tuple[str, str], list[GeometryResult]]:
    """Return the results in each cell of a table, one for each draw."""
    found: dict[tuple[str, str], list[GeometryResult]] = {}
    for result in table:
        found.setdefault(cell_of(result), []).append(result)
    return found


def _setting(result: GeometryResult) -> tuple[bool, Drawing]:
    """Return what results of one draw have in common; a dataset has as many triplets as it has."""
    return bool(result.dataset), replace(result.drawing, n=0) if result.dataset else result.drawing


def _contradicts(table: GeometryTable, result: GeometryResult) -> bool:
    return any(
        _setting(each) != _setting(result)
        or (each.contrast == result.contrast and each.material != result.material)
        or (
            each.encoder == result.encoder
            and each.encoder_fingerprint != result.encoder_fingerprint
        )
        for each in table
    )


def _are_draws(table: GeometryTable, single: GeometryTable) -> bool:
    """Say whether a table is of other draws of the same cells."""
    if any(len({*map(_key, each)}) < len(each) for each in (table, single)):
        return False  # without their seeds, two encoders have one name
    if {*map(cell_of, table)} != {*map(cell_of, single)}:
        return False
    others = by_cell(single)
    return {*seeds_of(table)}.isdisjoint(seeds_of(single)) and all(
        _differ_in_draw(one, other)
        for cell, own in by_cell(table).items()
        for other in others[cell]
        for one in own
    )


def _key(result: GeometryResult) -> tuple[object, ...]:
    return cell_of(result), result.drawing.seed


def _differ_in_draw(one: GeometryResult, other: GeometryResult) -> bool:
    if _undrawn(one) != _undrawn(other):
        return False
    read = one.dataset and not one.drawing.templates
    same = one.encoder_fingerprint == other.encoder_fingerprint
    seeds = (one.encoder_seed, other.encoder_seed)
    drawn = None not in seeds and seeds[0] != seeds[1]
    return (same or drawn) and not (read and one.material != other.material)


def _undrawn(result: GeometryResult) -> tuple[object, ...]:
    """Return the setting without its seed."""
    of_dataset, drawing = _setting(result)
    return of_dataset, replace(drawing, seed=0), result.dim


def seeds_of(table: Sequence[GeometryResult]) -> list[int]:
    """Return the seeds of the draws of a table, in order."""
    return sorted({each.drawing.seed for each in table})


@dataclass(frozen=True, slots=True)
class TripletFigure:
    """What a cell shows over its draws: mean, standard deviation (None for one), 95% interval."""

    mean: float
    spread: float | None
    interval: Interval


def accuracy_of(
    draws: Sequence[GeometryResult], kind: NegativeKind, nearness: Nearness
) -> TripletFigure | None:
    """Return the accuracy over draws; None where one has not measured it."""
    return _figure(draws, kind, nearness, paired=False)


def paired_of(
    draws: Sequence[GeometryResult], kind: NegativeKind, nearness: Nearness
) -> TripletFigure | None:
    """Return how often both directions are right, over draws."""
    return _figure(draws, kind, nearness, paired=True)


def _figure(
    draws: Sequence[GeometryResult], kind: NegativeKind, nearness: Nearness, *, paired: bool
) -> TripletFigure | None:
    found = [each.whole(kind, nearness) for each in draws]
    scores = [score for score in found if score is not None]
    if not scores or len(scores) < len(found):
        return None
    measured = [score.measured for score in scores]
    values = [each.paired if paired else each.accuracy for each in measured]
    if len(draws) == 1:
        (one,) = measured
        return TripletFigure(
            values[0], None, one.paired_interval if paired else one.accuracy_interval
        )
    if len({each.material for each in draws}) > 1:
        return over_draws(values)
    answers = np.array([score.answers() for score in scores])  # (draws, 2, n)
    scored = answers.prod(axis=1) if paired else answers.reshape(len(draws), -1)
    units = [*draws[0].units] * (1 if paired else 2)
    return replace(over_draws(values), interval=accuracy_interval(scored.mean(axis=0), units))


def over_draws(values: Sequence[float]) -> TripletFigure:
    """Return the figure of values of several draws; its interval is Student's, of other draws."""
    spread = take_apart([[value] for value in values])
    return TripletFigure(spread.mean, spread.total, spread.interval)
