"""Group geometry results into tables, and estimate accuracies over draws (repetitions with other seeds)."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from sentprobe.common.specs import remove_run_seed
from sentprobe.common.values import group_by
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.probes.similarity.distance_results import GeometryResult
from sentprobe.probes.similarity.measures import Nearness, NegativeKind
from sentprobe.probes.similarity.triplet_sentences import TripletSampling
from sentprobe.probes.statistics import Interval, accuracy_interval, decompose_spread

GeometryTable: TypeAlias = tuple[GeometryResult, ...]
"""Results with equal settings apart from the seed, at most one for each seed, encoder and contrast."""


def build_geometry_tables(results: Iterable[GeometryResult]) -> tuple[GeometryTable, ...]:
    """Group results with equal settings into tables. Draws, which differ only in seeds, share a table."""
    tables = _join_draws(_split_draws(results), lambda result: result.encoder)
    return tuple(_join_draws(tables, lambda result: remove_run_seed(result.encoder, result.drawing.seed)))


EncoderNaming: TypeAlias = Callable[[GeometryResult], str]


def _join_draws(tables: Sequence[GeometryTable], naming: EncoderNaming) -> list[GeometryTable]:
    """Rename encoders by *naming*, and join tables that then differ only in the draw. Other tables are unchanged."""
    joined: list[GeometryTable] = []
    for draw in tables:
        renamed = _rename_encoders(draw, naming)
        matches = (i for i, table in enumerate(joined) if _are_draws(_rename_encoders(table, naming), renamed))
        match = next(matches, None)
        if match is None:
            joined.append(draw)
        else:
            joined[match] = _rename_encoders(joined[match], naming) + renamed
    return joined


def _rename_encoders(table: GeometryTable, naming: EncoderNaming) -> GeometryTable:
    return tuple(replace(result, encoder=naming(result)) for result in table)


def _split_draws(results: Iterable[GeometryResult]) -> list[GeometryTable]:
    """Divide results into tables that have one draw each, in the order of seeds; drop repeated results."""
    tables: list[GeometryTable] = []
    for result in sorted(results, key=_get_sort_key):
        matches = (i for i, table in enumerate(tables) if not _is_incompatible(table, result))
        match = next(matches, None)
        if match is None:
            tables.append((result,))
        elif get_cell(result) not in map(get_cell, tables[match]):
            tables[match] += (result,)
    return tables


def _get_sort_key(result: GeometryResult) -> tuple[object, ...]:
    """Return the sort key of a result: seed, encoder (layer 2 before layer 10), contrast."""
    parts = re.split(r"([0-9]+)", result.encoder)
    # Digits are sorted by their number and then as text, since Python converts at most 4,300 of them to a number.
    digits = ((part, part.lstrip("0")) if part.isdecimal() else ("", part) for part in parts)
    encoder = tuple((len(number) if part else 0, number) for part, number in digits)
    contrasts = [*CONTRASTS, result.contrast]
    return result.drawing.seed, encoder, contrasts.index(result.contrast)


def get_cell(result: GeometryResult) -> tuple[str, str]:
    """Return the encoder and contrast of a result: the row and column of its cell, which all draws share."""
    return result.encoder, result.contrast


def group_by_cell(table: Iterable[GeometryResult]) -> dict[tuple[str, str], list[GeometryResult]]:
    """Return the results of a table, grouped by (encoder, contrast). Each group has one result for each draw."""
    return group_by(table, get_cell)


def _get_setting(result: GeometryResult) -> tuple[bool, TripletSampling]:
    """Return the settings that all results of a draw share. For datasets, which may differ in size, ``n`` becomes 0."""
    return bool(result.dataset), replace(result.drawing, n=0) if result.dataset else result.drawing


def _is_incompatible(table: GeometryTable, result: GeometryResult) -> bool:
    return any(
        _get_setting(other_result) != _get_setting(result)
        or (other_result.contrast == result.contrast and other_result.material != result.material)
        or (other_result.encoder == result.encoder and other_result.encoder_fingerprint != result.encoder_fingerprint)
        for other_result in table
    )


def _are_draws(table: GeometryTable, single: GeometryTable) -> bool:
    if any(len({(get_cell(draw), draw.drawing.seed) for draw in draws}) < len(draws) for draws in (table, single)):
        return False  # two encoders have the same name if seeds are left out
    if {*map(get_cell, table)} != {*map(get_cell, single)}:
        return False
    other_cells = group_by_cell(single)
    return {*list_seeds(table)}.isdisjoint(list_seeds(single)) and all(
        _differ_only_in_draw(first, second)
        for cell, cell_results in group_by_cell(table).items()
        for second in other_cells[cell]
        for first in cell_results
    )


def _differ_only_in_draw(first: GeometryResult, second: GeometryResult) -> bool:
    if _get_seedless_setting(first) != _get_seedless_setting(second):
        return False
    is_fixed_dataset = first.dataset and not first.drawing.templates  # one that is no draw of a suite
    is_same_encoder = first.encoder_fingerprint == second.encoder_fingerprint
    seeds = (first.encoder_seed, second.encoder_seed)
    is_other_draw = None not in seeds and seeds[0] != seeds[1]
    return (is_same_encoder or is_other_draw) and not (is_fixed_dataset and first.material != second.material)


def _get_seedless_setting(result: GeometryResult) -> tuple[object, ...]:
    is_dataset, drawing = _get_setting(result)
    return is_dataset, replace(drawing, seed=0), result.dim


def list_seeds(table: Sequence[GeometryResult]) -> list[int]:
    """Return the distinct seeds of the results in a table, sorted."""
    return sorted({result.drawing.seed for result in table})


@dataclass(frozen=True, slots=True)
class TripletEstimate:
    """Mean of a measure over draws, its standard deviation (None for one draw) and 95% interval."""

    mean: float
    spread: float | None
    interval: Interval


def estimate_accuracy(
    draws: Sequence[GeometryResult], kind: NegativeKind, nearness: Nearness, *, paired: bool = False
) -> TripletEstimate | None:
    """Return the mean accuracy over draws; None if a draw has none. *paired*: triplet and mirror must be correct."""
    scores = [score for draw in draws if (score := draw.find_overall(kind, nearness))]
    if not scores or len(scores) < len(draws):
        return None
    measured = [score.measured for score in scores]
    values = [measures.paired if paired else measures.accuracy for measures in measured]
    if len(draws) == 1:
        interval = measured[0].paired_interval if paired else measured[0].accuracy_interval
        return TripletEstimate(values[0], None, interval)
    if len({draw.material for draw in draws}) > 1:
        return estimate_over_draws(values)
    answers = np.array([score.answers() for score in scores])  # (draws, 2, n)
    scores_by_draw = answers.prod(axis=1) if paired else answers.reshape(len(draws), -1)
    units = [*draws[0].units] * (1 if paired else 2)
    return replace(estimate_over_draws(values), interval=accuracy_interval(scores_by_draw.mean(axis=0), units))


def estimate_over_draws(values: Sequence[float]) -> TripletEstimate:
    """Return a measure's mean over draws, standard deviation and Student's t interval; *values*: one for each draw."""
    spread = decompose_spread([[value] for value in values])
    return TripletEstimate(spread.mean, spread.total, spread.interval)
