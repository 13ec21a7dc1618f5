"""Encoders compared with each other by their distances, contrast by contrast, on the same triplets.

An observation is a unit of triplets (those of the same nouns and verbs) or, of several draws, a
draw, as where probes are compared.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.geometry.draws import GeometryTable
from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.geometry.results import GeometryResult, GeometryScore
from sentprobe.probes.geometry.tables import FORMS, contrasts_of, encoders_of
from sentprobe.probes.report import comparisons as of_probes
from sentprobe.probes.report import variants
from sentprobe.probes.statistics import Correction, Paired, compare_draws, compare_items, correct
from sentprobe.table_writers import Grid, GridCell, GridRow

GeometryPairs: TypeAlias = tuple[tuple[GeometryResult, GeometryResult], ...]
"""The results of two encoders on one contrast, in each draw that both have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometryComparison:
    """Two encoders on one contrast and kind; p-values are corrected over all made with it."""

    matched: GeometryPairs
    kind: NegativeKind
    nearness: Nearness
    paired: Paired
    sign_p: float
    t_p: float

    @property
    def encoders(self) -> tuple[str, str]:
        """The names of the two."""
        first, second = self.matched[0]
        return first.encoder, second.encoder

    @property
    def contrast(self) -> str:
        """What they were compared on."""
        return self.matched[0][0].contrast

    @property
    def draws(self) -> int:
        """The number of draws in which the two are compared."""
        return len(self.matched)

    @property
    def significant(self) -> bool:
        """Whether the sign test, corrected, finds a difference; over draws, the t-test."""
        return (self.t_p if self.draws > 1 else self.sign_p) < of_probes.LEVEL

    @property
    def accuracies(self) -> tuple[float, float]:
        """The accuracy of either, its mean over the draws."""
        first, second = (
            mean(_whole(each, self.kind, self.nearness).measured.accuracy for each in side)
            for side in zip(*self.matched, strict=True)
        )
        return first, second


def _whole(result: GeometryResult, kind: NegativeKind, nearness: Nearness) -> GeometryScore:
    score = result.whole(kind, nearness)
    assert score is not None  # those that lack it are not matched
    return score


EncoderPair: TypeAlias = tuple[GeometryTable, GeometryTable]
"""The results of two encoders that are comparable among themselves."""


def table_pairs(table: GeometryTable, *, against: str | None = None) -> list[EncoderPair]:
    """Return every pair of different encoders of a table or, with *against*, of each and this one.

    Different are not those that are one but for what was cut (:mod:`.variants`), unless all are.
    """
    names = encoders_of(table)
    pairs = variants.pairs_to_compare(names)
    if against is not None:
        pairs = [(name, against) for name in names if name != against and against in names]
    return [(of_encoder(table, one), of_encoder(table, other)) for one, other in pairs]


def of_encoder(table: GeometryTable, encoder: str) -> GeometryTable:
    """Return those results of a table that are of an encoder."""
    return tuple(each for each in table if each.encoder == encoder)


def compare_geometry(
    pairs: Sequence[EncoderPair],
    *,
    correction: Correction = Correction.HOLM,
    nearness: Nearness = Nearness.COSINE,
) -> tuple[GeometryComparison, ...]:
    """Compare each pair on each contrast of which both have the same triplets, in both kinds."""
    found = [
        (matched, kind)
        for pair in pairs
        for matched in _matched(*(_measured(side, nearness) for side in pair))
        for kind in NegativeKind
    ]
    tests = [_compared(*each, nearness) for each in found]
    signs = correct([each.sign_p for each in tests], correction)
    ts = correct([each.t_p for each in tests], correction)
    return tuple(
        GeometryComparison(
            matched=matched, kind=kind, nearness=nearness, paired=test, sign_p=sign, t_p=t
        )
        for (matched, kind), test, sign, t in zip(found, tests, signs, ts, strict=True)
    )


def _measured(table: GeometryTable, nearness: Nearness) -> GeometryTable:
    """Return the results that have it: whitening may have had too few sentences to learn from."""
    return tuple(each for each in table if each.whole(NegativeKind.FORM, nearness) is not None)


def _matched(first: GeometryTable, second: GeometryTable) -> Iterator[GeometryPairs]:
    for name in contrasts_of(first):
        sides = [[each for each in side if each.contrast == name] for side in (first, second)]
        same = [(a, b) for a in sides[0] for b in sides[1] if a.material == b.material]
        if max(map(len, sides)) > 1:  # of one draw each, these whatever the seed
            same = [(a, b) for a, b in same if a.drawing.seed == b.drawing.seed]
        if same:
            yield tuple(same)


def _compared(matched: GeometryPairs, kind: NegativeKind, nearness: Nearness) -> Paired:
    if len(matched) == 1:
        ((a, b),) = matched
        first, second = (_halves(_whole(each, kind, nearness)) for each in (a, b))
        return compare_items(first, second, [*a.units, *a.units])
    ours, theirs = (
        [_whole(each, kind, nearness).measured.accuracy for each in side]
        for side in zip(*matched, strict=True)
    )
    least = min(_whole(a, kind, nearness).measured.triplets for a, _ in matched)
    return compare_draws(ours, theirs, items=least)


def _halves(score: GeometryScore) -> NDArray[np.bool_]:
    """Return each answer as two, (2, 2 n) bool: of what is right both are true, of a tie one."""
    answers = score.answers().reshape(-1)
    return np.array([answers > 0, answers == 1])


def geometry_comparison_grid(found: Sequence[GeometryComparison]) -> Grid:
    """Lay comparisons out, a row each; a significant difference is bold."""
    draws = {each.draws > 1 for each in found}
    observed = "units or draws" if len(draws) > 1 else "draws" if True in draws else "units"
    header = (
        "A - B", "contrast", "negative in", "A", "B", "A - B [95%]", f"{observed} A/B better",
        "p (sign)", "p (t-test)",
    )  # fmt: skip
    rows = Counter((each.encoders, each.contrast, each.kind) for each in found)
    return Grid(header, tuple(_row(each, several=max(rows.values()) > 1) for each in found))


def _row(each: GeometryComparison, *, several: bool) -> GridRow:
    """Return the row of a comparison; of several of one name it says of which triplets."""
    name, what = " - ".join(each.encoders), each.contrast
    if several:
        drawings = [a.drawing for a, _ in each.matched]
        seeds = ", ".join(str(drawing.seed) for drawing in drawings)
        what += f" ({drawings[0].n} of {' '.join(drawings[0].templates)}, seed {seeds})"
    cells = of_probes.figure_cells(
        each.accuracies, each.paired, (each.sign_p, each.t_p), significant=each.significant
    )
    return GridRow(name, name, (GridCell(what), GridCell(FORMS[each.kind]), *cells))


def geometry_comparison_records(found: Sequence[GeometryComparison]) -> list[dict[str, Any]]:
    """Return a flat dictionary for each comparison."""
    return [
        {
            "first": each.encoders[0],
            "second": each.encoders[1],
            "contrast": each.contrast,
            "kind": each.kind.value,
            "nearness": each.nearness.value,
            "triplets": _whole(each.matched[0][0], each.kind, each.nearness).measured.triplets,
            **of_probes.figure_record(
                each.accuracies, each.paired, (each.sign_p, each.t_p), draws=each.draws
            ),
        }
        for each in found
    ]


def explain_geometry(found: Sequence[GeometryComparison], *, correction: Correction) -> str:
    """Say in plain sentences how to read the table, and what it shows."""
    numbers = sorted({each.draws for each in found} - {1})
    draws = f"{' or '.join(map(str, numbers))} draws"
    units = "units (triplets of the same nouns and verbs count as one)"
    over = f"{units}, or {draws}" if numbers else units
    if all(each.draws > 1 for each in found):
        over = draws
    pairs = [(first.encoder, second.encoder) for each in found for first, second in each.matched]
    note = variants.told_of_others(pairs)
    return (
        "Geometry: how often the positive is nearer than the negative, by "
        f"{' and '.join(sorted({each.nearness.value for each in found}))}; ties count half.\n"
        f"{of_probes.explain_tests(found, over=over, correction=correction, note=note)}"
    )
