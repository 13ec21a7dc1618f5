"""Group geometry results into tables, and estimate accuracies over draws (repetitions with other seeds)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from sentprobe.common.values import group_by
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.probes.results.draws import join_tables
from sentprobe.probes.similarity.distance_results import GeometryResult
from sentprobe.probes.similarity.measures import Nearness, NegativeKind
from sentprobe.probes.similarity.triplet_sentences import TripletSampling
from sentprobe.probes.statistics import Interval, accuracy_interval, decompose_spread

GeometryTable: TypeAlias = tuple[GeometryResult, ...]
"""Results with equal settings apart from the seed, at most one for each seed, encoder and contrast."""


def build_geometry_tables(results: Iterable[GeometryResult]) -> tuple[GeometryTable, ...]:
    """Group results with equal settings into tables. Draws, which differ only in seeds, share a table."""
    tables = join_tables(
        _split_draws(results),
        get_cell=get_cell,
        get_seed=lambda result: result.drawing.seed,
        differ=_differ_only_in_draw,
    )
    return tuple(tables)


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


def _differ_only_in_draw(first: GeometryResult, second: GeometryResult) -> bool:
    if first.drawing.seed == second.drawing.seed or _get_seedless_setting(first) != _get_seedless_setting(second):
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
    # All draws have the same triplets, so that a t interval over draws would overlook the choice of triplets.
    answers = np.array([score.answers() for score in scores])  # (draws, 2, n)
    scores_by_draw = answers.prod(axis=1) if paired else answers.reshape(len(draws), -1)
    units = [*draws[0].units] * (1 if paired else 2)
    return replace(estimate_over_draws(values), interval=accuracy_interval(scores_by_draw.mean(axis=0), units))


def estimate_over_draws(values: Sequence[float]) -> TripletEstimate:
    """Return a measure's mean over draws, standard deviation and Student's t interval; *values*: one for each draw."""
    spread = decompose_spread([[value] for value in values])
    return TripletEstimate(spread.mean, spread.total, spread.interval)
