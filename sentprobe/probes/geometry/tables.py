"""Results of geometry as tables: a row for each encoder, a column for each contrast."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from statistics import mean
from typing import TypeAlias

from sentprobe.errors import UsageError
from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.probes.geometry import draws as drawn
from sentprobe.probes.geometry.material import Drawing
from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.geometry.results import GeometryResult
from sentprobe.table_writers import Grid, GridCell, GridRow


class GroupedBy(StrEnum):
    """By what triplets are taken apart."""

    STRUCTURE = "structure"
    PLACE = "place"
    DISTANCE = "distance"


NONE = "-"

FORMS = {NegativeKind.FORM: "positive's form", NegativeKind.ANCHOR: "anchor's form"}
"""In whose form a negative is."""

KINDS = {kind: f"negative in the {form}" for kind, form in FORMS.items()}

Draws: TypeAlias = Sequence[GeometryResult]
"""What a cell is of: the result in each draw."""

CellOf: TypeAlias = Callable[[Draws], str]

Beside: TypeAlias = Mapping[tuple[str, str], str]
"""By encoder and task what a probe has on the same sentences, as it is shown."""


def geometry_grid(
    results: Sequence[GeometryResult],
    *,
    nearness: Nearness,
    intervals: bool,
    beside: Beside | None = None,
) -> Grid:
    """Return the table of all encoders and contrasts."""
    rows = [
        row
        for title, cell in _sections(results, nearness, intervals=intervals, beside=beside or {})
        for row in _section(title, results, cell)
    ]
    return Grid(("encoder", *contrasts_of(results)), tuple(rows))


def contrasts_of(results: Sequence[GeometryResult]) -> list[str]:
    """Return the contrasts of results, in the order of their table; then tasks, as they come."""
    there = dict.fromkeys(each.contrast for each in results)
    return [
        *(name for name in CONTRASTS if name in there),
        *(n for n in there if n not in CONTRASTS),
    ]


def encoders_of(results: Sequence[GeometryResult]) -> list[str]:
    """Return the encoders of results, each once."""
    return list(dict.fromkeys(each.encoder for each in results))


def _sections(
    results: Sequence[GeometryResult], nearness: Nearness, *, intervals: bool, beside: Beside
) -> Iterator[tuple[str, CellOf]]:
    for name, figure in (("accuracy", drawn.accuracy_of), ("paired", drawn.paired_of)):
        for kind, title in KINDS.items():
            found = partial(figure, kind=kind, nearness=nearness)
            yield f"{name}, {title}", _ShareCell(found, intervals)
        if beside and figure is drawn.accuracy_of:
            yield PROBED, partial(_beside, beside=beside)
    for kind, title in KINDS.items():
        yield f"margin, {title}", partial(_margin, kind=kind, nearness=nearness)
    if nearness is Nearness.COSINE:
        for kind, title in KINDS.items():
            yield f"left when whitened, {title}", partial(_left, kind=kind)
    if nearness is Nearness.COSINE and any(each.ranking for each in results):
        yield "mean rank of the positive", _rank
        yield "positive is first", _first


PROBED = "accuracy, a probe on the same sentences"
"""The section of what probes have."""


@dataclass(frozen=True, slots=True)
class _ShareCell:
    """Shows a share in percent, or that it was not measured."""

    find: Callable[[Draws], drawn.TripletFigure | None]
    intervals: bool

    def __call__(self, draws: Draws) -> str:
        found = self.find(draws)
        return NONE if found is None else show_share(found, intervals=self.intervals)


def show_share(figure: drawn.TripletFigure, *, intervals: bool) -> str:
    """Write a share in percent, with its spread, and with its 95% interval if asked for."""
    low, high = 100 * figure.interval.low, 100 * figure.interval.high
    spread = "" if figure.spread is None else f" ± {100 * figure.spread:.1f}"
    return f"{100 * figure.mean:.1f}{spread}" + (f" [{low:.1f}, {high:.1f}]" if intervals else "")


def _beside(draws: Draws, beside: Beside) -> str:
    return beside.get(drawn.cell_of(draws[0]), NONE)


def _margin(draws: Draws, kind: NegativeKind, nearness: Nearness) -> str:
    found = [each.whole(kind, nearness) for each in draws]
    there = [each.measured.margin for each in found if each is not None]
    return f"{mean(there):+.4f}" if there and len(there) == len(draws) else NONE


def _left(draws: Draws, kind: NegativeKind) -> str:
    """Return the share of what is missing to 100% that is missing after whitening, too."""
    before, after = (
        drawn.accuracy_of(draws, kind, n) for n in (Nearness.COSINE, Nearness.WHITENED)
    )
    left = None if before is None or after is None else gap_left(before.mean, after.mean)
    return NONE if left is None else f"{left:.2f}"


def gap_left(before: float, after: float) -> float | None:
    """Return the share of the gap to 100% that is left; None where there was none."""
    return None if before == 1 else (1 - after) / (1 - before)


def _rank(draws: Draws) -> str:
    found = [each.ranking for each in draws if each.ranking is not None]
    if not found:
        return NONE
    return f"{mean(each.mean for each in found):.2f} of {found[0].variants + 1}"


def _first(draws: Draws) -> str:
    found = [each.ranking.first for each in draws if each.ranking is not None]
    return f"{100 * mean(found):.1f}" if found else NONE


def _section(title: str, results: Sequence[GeometryResult], cell: CellOf) -> Iterator[GridRow]:
    names = contrasts_of(results)
    yield GridRow(title, title, tuple(GridCell("") for _ in names), heading=True)
    cells = drawn.by_cell(results)
    for encoder in encoders_of(results):
        own = [cells.get((encoder, name)) for name in names]
        texts = [cell(draws) if draws else NONE for draws in own]
        yield GridRow(encoder, title, tuple(map(GridCell, texts)))


def group_grid(results: Sequence[GeometryResult], by: GroupedBy, *, intervals: bool) -> Grid:
    """Return the table of accuracies by group, for each encoder and kind, by cosine."""
    rows = [
        row
        for encoder in encoders_of(results)
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
        figures = [m and drawn.TripletFigure(m.accuracy, None, m.accuracy_interval) for m in there]
        texts = [show_share(f, intervals=intervals) if f else NONE for f in figures]
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
    lines = [
        f"{_what(results)}{_over(results)}. Accuracy in %: the positive is nearer than the "
        f"negative, by {nearness.value}; ties count half. Chance: accuracy 50, paired 25.",
    ]
    lines += _intervals(results)
    same = [name for name in contrasts_of(results) if _same_words(name)]
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


def _what(results: Sequence[GeometryResult]) -> str:
    """Say what the triplets are."""
    seeds = drawn.seeds_of(results)
    if results[0].dataset:
        pairs = {name: _counts(e for e in results if e.contrast == name) for name in
                 contrasts_of(results)}  # fmt: skip
        told = ", ".join(f"{name} {count}" for name, count in pairs.items())
        return (
            f"The anchors are test sentences (mirror pairs: {told}): the positive has a clause in "
            "the other voice, the negatives are of the mirror"
        )
    if not results[0].drawing.vocabulary:
        return f"{_counts(results)} triplets of a file each, and their mirrors"
    words = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"
    of = [f"{_counts(results)} triplets each and their mirrors", *told_held_out(results[0].drawing)]
    return ", ".join([*of, words])


def told_held_out(drawing: Drawing) -> list[str]:
    """Say what of the words and structures triplets are drawn from, if not from all."""
    return [f"only of what is held out ({' '.join(drawing.held_out)})"] if drawing.held_out else []


def _counts(results: Iterable[GeometryResult]) -> str:
    return " or ".join(map(str, sorted({each.drawing.n for each in results})))


def _over(results: Sequence[GeometryResult]) -> str:
    draws = len(drawn.seeds_of(results))
    return f", mean ± standard deviation over {draws} draws" if draws > 1 else ""


def _intervals(results: Sequence[GeometryResult]) -> Iterator[str]:
    """Say what the intervals of several draws speak of."""
    if len(drawn.seeds_of(results)) > 1:
        materials = {(each.contrast, each.material) for each in results}
        same = len(materials) == len(contrasts_of(results))
        kind = "Wilson's, for the choice of sentences" if same else "Student's t, for other draws"
        yield f"The 95% intervals (--intervals shows each) are {kind}."


def _same_words(name: str) -> bool:
    """Say whether positive and negative are of the same words; mirror pairs of tasks are."""
    return name not in CONTRASTS or CONTRASTS[name].same_words


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
