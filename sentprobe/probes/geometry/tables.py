"""Results of geometry as tables: a row for each encoder, a column for each contrast."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TypeAlias

from sentprobe.errors import UsageError
from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.probes.geometry.measures import Nearness, NegativeKind, TripletMeasures
from sentprobe.probes.geometry.results import WHOLE, GeometryResult
from sentprobe.probes.statistics import Interval
from sentprobe.table_writers import Grid, GridCell, GridRow


class GroupedBy(StrEnum):
    """By what triplets are taken apart."""

    STRUCTURE = "structure"
    PLACE = "place"
    DISTANCE = "distance"


NONE = "-"

KINDS = {
    NegativeKind.FORM: "negative in the positive's form",
    NegativeKind.ANCHOR: "negative in the anchor's form",
}

CellOf: TypeAlias = Callable[[GeometryResult], str]


def geometry_grid(
    results: Sequence[GeometryResult], *, nearness: Nearness, intervals: bool
) -> Grid:
    """Return the table of all encoders and contrasts."""
    rows = [
        row
        for title, cell in _sections(nearness, intervals=intervals)
        for row in _section(title, results, cell)
    ]
    return Grid(("encoder", *contrasts_of(results)), tuple(rows))


def contrasts_of(results: Sequence[GeometryResult]) -> list[str]:
    """Return the contrasts of results, in the order of their table."""
    there = {each.contrast for each in results}
    return [name for name in CONTRASTS if name in there]


def _sections(nearness: Nearness, *, intervals: bool) -> Iterator[tuple[str, CellOf]]:
    for name, cell in (("accuracy", _accuracy), ("paired", _paired), ("margin", _margin)):
        for kind, title in KINDS.items():
            found = partial(_whole, kind=kind, nearness=nearness)
            yield f"{name}, {title}", _Cell(found, cell, intervals)
    if nearness is Nearness.COSINE:
        for kind, title in KINDS.items():
            yield f"left when whitened, {title}", partial(_left, kind=kind)
        yield "mean rank of the positive", _rank
        yield "positive is first", _first


@dataclass(frozen=True, slots=True)
class _Cell:
    """Shows something of what was measured, or that nothing was."""

    find: Callable[[GeometryResult], TripletMeasures | None]
    show: Callable[[TripletMeasures, bool], str]
    intervals: bool

    def __call__(self, result: GeometryResult) -> str:
        found = self.find(result)
        return NONE if found is None else self.show(found, self.intervals)


def _whole(
    result: GeometryResult, kind: NegativeKind, nearness: Nearness
) -> TripletMeasures | None:
    return result.find(kind, nearness).get(WHOLE)


def _accuracy(found: TripletMeasures, intervals: bool) -> str:  # noqa: FBT001 - as all that show
    return _share(found.accuracy, found.accuracy_interval if intervals else None)


def _paired(found: TripletMeasures, intervals: bool) -> str:  # noqa: FBT001
    return _share(found.paired, found.paired_interval if intervals else None)


def _margin(found: TripletMeasures, intervals: bool) -> str:  # noqa: ARG001, FBT001
    return f"{found.margin:+.4f}"


def _share(share: float, interval: Interval | None) -> str:
    shown = f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}]" if interval else ""
    return f"{100 * share:.1f}{shown}"


def _left(result: GeometryResult, kind: NegativeKind) -> str:
    """Return the share of what is missing to 100% that is missing after whitening, too."""
    before, after = (_whole(result, kind, each) for each in (Nearness.COSINE, Nearness.WHITENED))
    left = gap_left(before, after)
    return NONE if left is None else f"{left:.2f}"


def gap_left(before: TripletMeasures | None, after: TripletMeasures | None) -> float | None:
    """Return the share of the gap to 100% that is left; None where there was none."""
    if before is None or after is None or before.accuracy == 1:
        return None
    return (1 - after.accuracy) / (1 - before.accuracy)


def _rank(result: GeometryResult) -> str:
    ranking = result.ranking
    return f"{ranking.mean:.2f} of {ranking.variants + 1}" if ranking else NONE


def _first(result: GeometryResult) -> str:
    return f"{100 * result.ranking.first:.1f}" if result.ranking else NONE


def _section(title: str, results: Sequence[GeometryResult], cell: CellOf) -> Iterator[GridRow]:
    names = contrasts_of(results)
    yield GridRow(title, title, tuple(GridCell("") for _ in names), heading=True)
    for encoder in dict.fromkeys(each.encoder for each in results):
        own = {each.contrast: each for each in results if each.encoder == encoder}
        cells = tuple(GridCell(cell(own[name]) if name in own else NONE) for name in names)
        yield GridRow(encoder, title, cells)


def group_grid(results: Sequence[GeometryResult], by: GroupedBy, *, intervals: bool) -> Grid:
    """Return the table of accuracies by group, for each encoder and kind, by cosine."""
    rows = [
        row
        for encoder in dict.fromkeys(each.encoder for each in results)
        for kind in KINDS
        for row in _groups(results, encoder, kind, by, intervals=intervals)
    ]
    return Grid((by.value, *contrasts_of(results)), tuple(rows))


def _groups(
    results: Sequence[GeometryResult],
    encoder: str,
    kind: NegativeKind,
    by: GroupedBy,
    *,
    intervals: bool,
) -> Iterator[GridRow]:
    names = contrasts_of(results)
    title = f"{encoder}, {KINDS[kind]}"
    yield GridRow(title, title, tuple(GridCell("") for _ in names), heading=True)
    own = {e.contrast: e.find(kind, by=by.value) for e in results if e.encoder == encoder}
    for group in sorted({group for found in own.values() for group in found}):
        there = [own.get(name, {}).get(group) for name in names]
        texts = [_accuracy(m, intervals) if m else NONE for m in there]
        yield GridRow(group, title, tuple(map(GridCell, texts)))


def check_grouped(nearness: Nearness) -> None:
    """Refuse a nearness that groups are not measured by.

    Raises:
        UsageError: it is not cosine.
    """
    if nearness is not Nearness.COSINE:
        raise UsageError(
            f"groups are measured by cosine only: --by goes without --nearness {nearness.value}"
        )


def explain(
    results: Sequence[GeometryResult], nearness: Nearness, *, by: GroupedBy | None = None
) -> str:
    """Return the lines below the table, or the one by group."""
    counts = sorted({each.drawing.n for each in results})
    drawn = " or ".join(map(str, counts))
    lines = [
        f"{drawn} triplets each and their mirrors, seed {results[0].drawing.seed}. Accuracy in "
        f"%: the positive is nearer than the negative, by {nearness.value}; ties count half. "
        "Chance: accuracy 50, paired 25.",
    ]
    same = [name for name in contrasts_of(results) if CONTRASTS[name].same_words]
    if same and nearness is not Nearness.DOT:
        lines.append(
            f"A bag of words is at 50.0 in the positive's form and at 0.0 in the anchor's: "
            f"{', '.join(same)}."
        )
    if nearness is Nearness.COSINE and by is None:
        lines.append(
            "left: the share of the gap to 100 that whitening leaves; - if there was none, or "
            "there are more dimensions than sentences to learn it from."
        )
    return "".join(f"{line}\n" for line in lines)


def check_nearness(results: Sequence[GeometryResult], nearness: Nearness) -> None:
    """Refuse a nearness that no result has.

    Raises:
        UsageError: there is none.
    """
    if not any(each.find(NegativeKind.FORM, nearness) for each in results):
        raise UsageError(
            f"no result has {nearness.value}: there are more dimensions than sentences to learn "
            "whitening from"
        )
