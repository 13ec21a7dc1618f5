"""Comparison of two scorers, or of a scorer and a stored result, on the same pairs, each at its own threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import FormatError, UsageError, format_count, path_error
from sentprobe.common.reading import read_text
from sentprobe.common.values import EDITED, check_record, group_by, parse_json_object, pop_digest
from sentprobe.probes.similarity.gate_rates import (
    CHOICE,
    GENERATED,
    MEASURED,
    OWN,
    PARAPHRASES,
    VERDICTS,
    JudgedGate,
    JudgedPair,
    compute_placements,
    estimate_area_variance,
)
from sentprobe.probes.similarity.gate_thresholds import find_rank
from sentprobe.probes.similarity.pair_scores import OWN_PAIRS, find_sign
from sentprobe.probes.statistics import (
    Correction,
    Floats,
    compute_sign_test,
    correct_p_values,
    student_quantile,
    sum_by_unit,
    two_sided_t_p_value,
)

LEVEL = 0.05
"""Differences whose corrected p-values are below this level are significant."""
FALSE_HITS, MISSES, AUC = "false hits", "misses", "AUC"
SMALLEST_SPREAD = 1e-12
"""A smaller standard deviation is a rounding error."""
RESAMPLES = 400
"""The number of bootstrap samples of the paraphrases that determine the thresholds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDifference:
    """The difference in a figure: false hits or area under the ROC curve of a kind, or misses of all paraphrases."""

    name: str
    """The contrast and form, or the user's kind, of the negatives; or "paraphrases" or "variants"."""
    figure: str
    """FALSE_HITS, MISSES or AUC."""
    pairs: int
    """The number of compared negatives or, for misses, of paraphrases."""
    first_value: float
    second_value: float
    difference: float
    """The second value minus the first."""
    low: float
    high: float
    """The 95% interval of the difference, including the choice of the thresholds."""
    p: float
    corrected_p: float
    """The p-value, corrected for the number of differences by Holm's method."""

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant at 5%, of all differences together."""
        return self.corrected_p < LEVEL

    @property
    def is_worse(self) -> bool:
        """Whether the second scorer is worse: it has more errors, or a smaller area."""
        return self.difference < 0 if self.figure == AUC else self.difference > 0

    def format_difference(self) -> str:
        """Return the difference and its interval in percentage points, such as "+13.5 [+8.1, +18.9]"."""
        return f"{100 * self.difference:+.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"

    def format_values(self) -> str:
        """Return both values in percent, such as "false hits 12.0 to 25.5%"."""
        return f"{self.figure} {100 * self.first_value:.1f} to {100 * self.second_value:.1f}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateComparison:
    """The differences between two scorers on the same pairs. ``str(comparison)`` names the meanings that got lost."""

    first: str
    second: str
    differences: tuple[GateDifference, ...]
    unmatched: int = 0
    """The number of measured pairs that only one of the results has."""

    def list_significant(self, *, worse: bool) -> list[GateDifference]:
        """Return the significant differences by which the second scorer is worse, or better."""
        return [row for row in self.differences if row.is_significant and row.is_worse == worse]

    def __str__(self) -> str:
        worse, better = (_describe_rows(self.list_significant(worse=is_worse)) for is_worse in (True, False))
        tests = f"({format_count(len(self.differences), 'paired test')}, Holm-corrected, p < {LEVEL:g})"
        if not worse and not better:
            return f"From {self.first} to {self.second}, no meaning got lost or was gained {tests}."
        lost = f"these meanings got lost: {worse}" if worse else "no meaning got lost"
        return (
            f"From {self.first} to {self.second}, {lost}{f'; these were gained: {better}' if better else ''} {tests}."
        )

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary of scalar values for each difference."""
        return [{"first": self.first, "second": self.second} | asdict(row) for row in self.differences]


def _describe_rows(rows: Sequence[GateDifference]) -> str:
    """Return the names of kinds with their significant figures, such as "role (form) (AUC 48.6 to 40.1%)"."""
    by_name = group_by(rows, lambda row: row.name)
    return ", ".join(f"{name} ({', '.join(row.format_values() for row in group)})" for name, group in by_name.items())


def read_stored_gate(path: Path, *, seed: int) -> JudgedGate:
    """Return the result of the first scorer, in the draw of *seed*, from a file that ``probe gate --out`` wrote.

    Raises UsageError if the file cannot be read or has no such draw, FormatError if it is no such file.
    """
    try:
        document = parse_json_object(read_text(path))
        rates, records = (_list_objects(document, name) for name in ("rates", "pairs"))
        scorer, measure, keep = (rates[0].get(name, "") for name in ("scorer", "measure", "keep"))
        gate = JudgedGate(scorer=scorer, measure=measure, keep=keep)
        check_record(gate)
        of_draw = [r for r in records if (r.get("scorer"), r.get("seed")) == (scorer, seed)]
        pairs = tuple(_parse_pair(record, f"pairs[{number}]") for number, record in enumerate(of_draw))
        if pop_digest(document):
            raise FormatError(EDITED)
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=UsageError) from None
    except FormatError as error:
        raise FormatError(f"{path}: {error}; a file of probe gate --out NAME.json is expected") from None
    if not pairs:
        seeds = ", ".join(sorted({str(record.get("seed")) for record in records}))
        raise UsageError(f"{path}: it has no pairs with the seed {seed}; its seeds: {seeds}")
    return replace(gate, scorer=f"{gate.scorer} in {path}", pairs=pairs)


def _list_objects(document: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    values = document.get(name)
    if not isinstance(values, list) or not values or not all(isinstance(value, dict) for value in values):
        raise FormatError(f"{name!r} must be a list of objects")
    return values


def _parse_pair(record: Mapping[str, Any], place: str) -> JudgedPair:
    names = [field.name for field in fields(JudgedPair) if field.name != "passes"]
    passing = {verdict: passes for (_, passes), verdict in VERDICTS.items()}
    if missing := [name for name in (*names, "verdict") if name not in record]:
        raise FormatError(f"{place}: {missing[0]!r} is missing")
    if record["verdict"] not in [*passing]:
        raise FormatError(f"{place}.verdict must be one of {', '.join(passing)}")
    pair = JudgedPair(**{name: record[name] for name in names}, passes=passing[record["verdict"]])
    check_record(pair, place)
    return pair


PairMatch: TypeAlias = tuple[JudgedPair, JudgedPair]
"""A pair, judged by the first scorer and by the second."""
Measures: TypeAlias = tuple[str, str]
"""The measures of both scorers."""


def compare_gates(
    first: JudgedGate, second: JudgedGate, *, seed: int = 0, same_name: str = PARAPHRASES
) -> GateComparison:
    """Compare two scorers on the pairs that both have: false hits and areas by kind, and misses.

    False hits and misses are those of the pairs that both results measured, each at its own threshold. Their p-value is
    the larger one of two: of the exact sign test over units (for single pairs: McNemar's test), and of a t-test whose
    variance includes that of the thresholds, if they were chosen. That is estimated by a bootstrap of the paraphrases
    that determined them, for both scorers together. Areas under the ROC curve are those of all pairs, since they need
    no threshold; their test is that of DeLong et al. 1988, for pairs in units.

    - seed: of the bootstrap
    - same_name: what the pairs are whose misses are compared

    Raises UsageError if the results have no measured pair in common.
    """
    pairs_by_key = {_get_key(pair): pair for pair in second.pairs}
    matches = [(pair, other) for pair in first.pairs if (other := pairs_by_key.get(_get_key(pair)))]
    cells = _group_matches(matches)
    if not any(map(_select_measured, (negatives for _, negatives, _ in cells))):
        raise UsageError(
            "the two results have no measured pair in common (another -n, seed or file?), so they cannot be compared"
        )
    thresholds = [*zip(*_resample_thresholds(first, second, seed), strict=True)]
    measures = first.measure, second.measure
    rows = []
    for name, negatives, paraphrases in cells:
        rows += _compare_errors(name, FALSE_HITS, _select_measured(negatives), thresholds, measures)
        if negatives and paraphrases:
            rows.append(_compare_areas(name, negatives, paraphrases, measures))
    every_paraphrase = cells[-1][2] if cells[-1][2] else cells[0][2]
    rows += _compare_errors(same_name, MISSES, _select_measured(every_paraphrase), thresholds, measures)
    corrected = correct_p_values([row["p"] for row in rows], Correction.HOLM)
    return GateComparison(
        first=first.scorer,
        second=second.scorer,
        differences=tuple(GateDifference(**row, corrected_p=p) for row, p in zip(rows, corrected, strict=True)),
        unmatched=len({*map(_get_key, first.pairs)} ^ {*pairs_by_key}),
    )


def _get_key(pair: JudgedPair) -> tuple[str | bool, ...]:
    return pair.source, pair.contrast, pair.form, pair.kind, pair.a, pair.b, pair.same


def _group_matches(matches: Sequence[PairMatch]) -> list[tuple[str, list[PairMatch], list[PairMatch]]]:
    """Return the name, negatives and paraphrases of each kind; the last one has no name, and all paraphrases only.

    The user's pairs are also compared together, and generated ones only if there are no own ones. A kind of the user's
    without paraphrases is compared with all.
    """
    by_source = group_by(matches, lambda match: match[0].source)
    main = by_source.get(OWN) or by_source.get(GENERATED, [])
    negatives = group_by((match for match in main if not match[0].same), lambda match: match[0].name)
    paraphrases = [match for match in main if match[0].same]
    own_paraphrases = group_by(paraphrases, lambda match: match[0].contrast or match[0].kind)
    cells = [
        (name, group, own_paraphrases.get(group[0][0].contrast or group[0][0].kind) or paraphrases)
        for name, group in negatives.items()
        if name != OWN_PAIRS
    ]
    if OWN in by_source:
        cells.insert(0, (OWN_PAIRS, [match for group in negatives.values() for match in group], paraphrases))
    return [*cells, ("", [], by_source.get(PARAPHRASES) or paraphrases)]


def _select_measured(matches: Sequence[PairMatch]) -> list[PairMatch]:
    return [match for match in matches if all(pair.half == MEASURED for pair in match)]


def _compare_errors(
    name: str, figure: str, matches: Sequence[PairMatch], thresholds: Sequence[Sequence[float]], measures: Measures
) -> list[dict[str, Any]]:
    """Return the fields of a GateDifference, without the corrected p-value; [] if there are no pairs."""
    if not matches:
        return []
    errors = np.array([[pair.is_wrong for pair in match] for match in matches], np.float64)  # (n, 2)
    sums, sizes = sum_by_unit(errors[:, 1] - errors[:, 0], [match[0].unit for match in matches])
    total, count = float(sizes.sum()), len(sizes)
    difference = float(sums.sum()) / total
    # That of a ratio, since units differ in size, as in statistics.design_effect.
    variance = float(((sums - difference * sizes) ** 2).sum()) / total**2 * count / max(1, count - 1)
    if thresholds:
        rates = [
            _find_error_rates([match[side] for match in matches], thresholds[side], measures[side]) for side in (0, 1)
        ]
        variance += float(np.var(rates[1] - rates[0], ddof=1))
    sign_p = compute_sign_test(int((sums > 0).sum()), int((sums < 0).sum()))
    row = describe_difference(name, figure, errors.mean(axis=0), variance, count, flat_p=sign_p)
    return [row | {"pairs": len(matches), "p": max(sign_p, row["p"])}]


def _compare_areas(
    name: str, negatives: Sequence[PairMatch], paraphrases: Sequence[PairMatch], measures: Measures
) -> dict[str, Any]:
    """Return the fields of a GateDifference, without the corrected p-value."""
    placements = [
        compute_placements(*(_get_scores([match[side] for match in part], measures[side]) for part in parts))
        for side in (0, 1)
        for parts in [(paraphrases, negatives)]
    ]
    areas = np.array([shares[0].mean() for shares in placements])
    units = [np.array([match[0].unit for match in part], np.int64) for part in (paraphrases, negatives)]
    changes = [second - first for first, second in zip(*placements, strict=True)]
    variance = estimate_area_variance([change - change.mean() for change in changes], units)
    count = min(len({*side.tolist()}) for side in units)
    sums, _ = sum_by_unit(changes[1], units[1].tolist())
    flat_p = compute_sign_test(int((sums > 0).sum()), int((sums < 0).sum()))
    return describe_difference(name, AUC, areas, variance, count, flat_p=flat_p) | {"pairs": len(negatives)}


def describe_difference(
    name: str, figure: str, values: Floats, variance: float, count: int, *, flat_p: float
) -> dict[str, Any]:
    """Return the fields of a GateDifference, but the number of pairs and the corrected p-value, by Student's t.

    - values: the figure of both scorers, (2,)
    - variance: of their difference
    - count: the number of units
    - flat_p: the p-value if all units differ alike, of a test that tells how many they are
    """
    difference, spread, freedom = float(values[1] - values[0]), variance**0.5, max(1, count - 1)
    half_width = student_quantile(0.95, freedom) * spread
    return {
        "name": name,
        "figure": figure,
        "first_value": float(values[0]),
        "second_value": float(values[1]),
        "difference": difference,
        "low": max(-1.0, difference - half_width),
        "high": min(1.0, difference + half_width),
        "p": _find_p_value(difference, spread, freedom, flat_p),
    }


def _find_p_value(difference: float, spread: float, freedom: int, flat_p: float) -> float:
    if abs(difference) <= SMALLEST_SPREAD:  # two ways to add up the same numbers
        return 1.0
    return two_sided_t_p_value(difference / spread, freedom) if spread > SMALLEST_SPREAD else flat_p


def _get_scores(pairs: Sequence[JudgedPair], measure: str) -> Floats:
    """Return scores of which the higher ones mean greater similarity; -inf where the first of a cascade rejected."""
    sign = find_sign(measure)
    return np.array([-np.inf if pair.score is None else sign * pair.score for pair in pairs], np.float64)


def _find_error_rates(pairs: Sequence[JudgedPair], thresholds: Sequence[float], measure: str) -> Floats:
    """Return the rate of errors at each of *thresholds*, (n,)."""
    scores = np.sort(_get_scores(pairs, measure))
    below = np.searchsorted(scores, thresholds, side="left") / len(scores)
    return np.asarray(below if pairs[0].same else 1 - below, np.float64)


def _resample_thresholds(first: JudgedGate, second: JudgedGate, seed: int) -> list[tuple[float, float]]:
    """Return the thresholds of both scorers for bootstrap samples of units of paraphrases; [] if they were stated."""
    if first.keep is None and second.keep is None:
        return []
    gates = (first, second)
    pools = [[pair for pair in gate.pairs if pair.half == CHOICE and pair.same] for gate in gates]
    units = np.unique([pair.unit for pool in pools for pair in pool])
    draw = np.random.default_rng(seed)
    sides = [_sort_pool(pool, gate, units) for pool, gate in zip(pools, gates, strict=True)]
    thresholds = []
    for _ in range(RESAMPLES):
        # The same units for both scorers, whose thresholds then vary together, as they do in reality.
        counts = draw.multinomial(len(units), np.full(len(units), 1 / len(units)))
        thresholds.append(tuple(_find_quantile(*side, counts) for side in sides))
    return [(low, high) for low, high in thresholds]


def _sort_pool(pool: Sequence[JudgedPair], gate: JudgedGate, units: NDArray[np.int64]) -> tuple[Floats, Any, float]:
    """Return the finite scores of paraphrases, sorted, the place of their units in *units*, and the share to keep."""
    scores = _get_scores(pool, gate.measure)
    order = np.argsort(scores, kind="stable")
    order = order[np.isfinite(scores[order])]
    places = np.searchsorted(units, np.array([pair.unit for pair in pool], np.int64)[order])
    return scores[order], places, 1.0 if gate.keep is None else gate.keep


def _find_quantile(scores: Floats, places: NDArray[np.int64], keep: float, counts: NDArray[np.int64]) -> float:
    """Return the threshold that keeps a share of paraphrases, of which each counts as often as its unit was drawn."""
    totals = np.cumsum(counts[places])
    if not len(totals) or not totals[-1]:
        return float("-inf")
    return float(scores[np.searchsorted(totals, find_rank(keep, int(totals[-1])), side="right")])
