"""Paired tests of triplet accuracies: the shares of triplets whose positive is nearer than the negative."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import mean
from typing import Any, TypeAlias

import numpy as np

from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.probes.reports import comparisons as probe_comparisons
from sentprobe.probes.reports import paired_tests
from sentprobe.probes.similarity.distance_draws import GeometryTable
from sentprobe.probes.similarity.distance_results import GeometryResult, GeometryScore
from sentprobe.probes.similarity.distance_tables import NEGATIVE_FORMS, list_contrasts, list_encoders
from sentprobe.probes.similarity.measures import Nearness, NegativeKind
from sentprobe.probes.statistics import Correction, PairedComparison, compare_draws, compare_items

GeometryPairs: TypeAlias = tuple[tuple[GeometryResult, GeometryResult], ...]
"""The results of two encoders on one contrast: a pair of results for each draw that both encoders have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometryComparison(probe_comparisons.TestedDifference):
    """The difference in triplet accuracy between two encoders, for one contrast and one kind of negative."""

    matched: GeometryPairs
    kind: NegativeKind
    nearness: Nearness

    @property
    def encoders(self) -> tuple[str, str]:
        """The names of both encoders."""
        first, second = self.matched[0]
        return first.encoder, second.encoder

    @property
    def contrast(self) -> str:
        return self.matched[0][0].contrast

    @property
    def accuracies(self) -> tuple[float, float]:
        """The mean triplet accuracies of the first and the second encoder over the draws."""
        first, second = map(mean, _list_accuracies(self.matched, self.kind, self.nearness))
        return first, second


def _list_accuracies(matched: GeometryPairs, kind: NegativeKind, nearness: Nearness) -> list[list[float]]:
    sides = zip(*matched, strict=True)
    return [[_get_overall_score(result, kind, nearness).measured.accuracy for result in side] for side in sides]


def _get_overall_score(result: GeometryResult, kind: NegativeKind, nearness: Nearness) -> GeometryScore:
    score = result.find_overall(kind, nearness)
    assert score is not None  # results without this score are not matched
    return score


EncoderPair: TypeAlias = tuple[GeometryTable, GeometryTable]


def list_table_pairs(table: GeometryTable, *, against: str | None) -> list[EncoderPair]:
    """Return both encoders' results for each pair to compare. If given, *against* is the second one of every pair."""
    names = list_encoders(table)
    pairs = paired_tests.list_pairs_to_compare(names)
    if against is not None:
        pairs = [(name, against) for name in names if name != against and against in names]
    return [(select_encoder_results(table, first), select_encoder_results(table, second)) for first, second in pairs]


def select_encoder_results(table: GeometryTable, encoder: str) -> GeometryTable:
    """Return the results of one encoder in a table."""
    return tuple(result for result in table if result.encoder == encoder)


def compare_geometry(
    pairs: Sequence[EncoderPair], *, correction: Correction = Correction.HOLM, nearness: Nearness = Nearness.COSINE
) -> tuple[GeometryComparison, ...]:
    """Compare pairs of encoders on the same triplets, for each contrast and each kind of negative."""
    # a whitened distance is missing if there were too few sentences
    scored = ([[r for r in side if r.find_overall(NegativeKind.FORM, nearness)] for side in pair] for pair in pairs)
    matches = [(matched, kind) for pair in scored for matched in _match_contrasts(*pair) for kind in NegativeKind]
    tests = [_compare_matched(*match, nearness) for match in matches]
    corrected = probe_comparisons.correct_tests(tests, [len(matched) for matched, _ in matches], correction)
    return tuple(
        GeometryComparison(matched=matched, kind=kind, nearness=nearness, paired=test, sign_p=sign_p, t_p=t_p)
        for (matched, kind), test, (sign_p, t_p) in zip(matches, tests, corrected, strict=True)
    )


def _match_contrasts(first: Sequence[GeometryResult], second: Sequence[GeometryResult]) -> Iterator[GeometryPairs]:
    for name in list_contrasts(first):
        draws = [[result for result in results if result.contrast == name] for results in (first, second)]
        matched = [(a, b) for a, b in product(*draws) if a.material == b.material]
        if max(map(len, draws)) > 1:  # if both encoders have one draw, the seeds may differ
            matched = [(a, b) for a, b in matched if a.drawing.seed == b.drawing.seed]
        if matched:
            yield tuple(matched)


def _compare_matched(matched: GeometryPairs, kind: NegativeKind, nearness: Nearness) -> PairedComparison:
    if len(matched) == 1:
        ((a, b),) = matched
        answers = [_get_overall_score(result, kind, nearness).answers().reshape(-1) for result in (a, b)]
        # As if from two seeds, so that ties count half: (True, True) is a correct answer, (True, False) a tie.
        first, second = (np.array([side > 0, side == 1]) for side in answers)
        return compare_items(first, second, [*a.units, *a.units])
    fewest = min(_get_overall_score(a, kind, nearness).measured.triplets for a, _ in matched)
    return compare_draws(*_list_accuracies(matched, kind, nearness), items=fewest)


def build_geometry_comparison_grid(comparisons: Sequence[GeometryComparison]) -> Grid:
    """Build a table with one row per comparison; significant differences are bold."""
    header = ("A - B", "contrast", "negative in", *probe_comparisons.list_figure_columns(comparisons))
    counts = Counter((comparison.encoders, comparison.contrast, comparison.kind) for comparison in comparisons)
    several = any(count > 1 for count in counts.values())  # triplet sets of a contrast, told apart by size and seed
    rows = []
    for comparison in comparisons:
        name, contrast = " - ".join(comparison.encoders), comparison.contrast
        if several:
            drawings = [a.drawing for a, _ in comparison.matched]
            seeds = ", ".join(str(drawing.seed) for drawing in drawings)
            contrast += f" ({drawings[0].n} of {' '.join(drawings[0].templates)}, seed {seeds})"
        cells = map(GridCell, (contrast, NEGATIVE_FORMS[comparison.kind]))
        rows.append(GridRow(name, name, (*cells, *probe_comparisons.build_figure_cells(comparison))))
    return Grid(header, tuple(rows))


def to_geometry_comparison_records(comparisons: Sequence[GeometryComparison]) -> list[dict[str, Any]]:
    """Return a dictionary for each comparison: encoders, contrast, kind of negative, accuracies and tests."""
    return [
        {
            "first": comparison.encoders[0],
            "second": comparison.encoders[1],
            "contrast": comparison.contrast,
            "kind": comparison.kind.value,
            "nearness": comparison.nearness.value,
            "triplets": _get_overall_score(
                comparison.matched[0][0], comparison.kind, comparison.nearness
            ).measured.triplets,
            **probe_comparisons.to_figure_record(comparison),
        }
        for comparison in comparisons
    ]


def describe_geometry_comparisons(comparisons: Sequence[GeometryComparison], *, correction: Correction) -> str:
    """Return the notes below a table of comparisons: the tests, and the number of significant differences."""
    units = "units (triplets of the same nouns and verbs count as one)"
    observations = probe_comparisons.describe_pairing(comparisons, units)
    pairs = [(first.encoder, second.encoder) for comparison in comparisons for first, second in comparison.matched]
    note = paired_tests.describe_excluded_pairs(pairs)
    tests = probe_comparisons.describe_tests(comparisons, observations=observations, correction=correction, note=note)
    return (
        "Geometry: how often the positive is nearer than the negative, by "
        f"{' and '.join(sorted({comparison.nearness.value for comparison in comparisons}))}; ties count half.\n{tests}"
    )
