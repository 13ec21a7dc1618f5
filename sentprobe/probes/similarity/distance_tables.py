"""Tables of geometry results, with a column for each contrast, and rows for encoders or for groups of triplets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import product
from statistics import mean
from typing import TypeAlias

from sentprobe.common.errors import UsageError
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.lexicon.languages import find_language
from sentprobe.probes.similarity import distance_draws as drawn
from sentprobe.probes.similarity.distance_results import GeometryResult
from sentprobe.probes.similarity.measures import Nearness, NegativeKind, TripletMeasures
from sentprobe.probes.similarity.triplet_sentences import TripletSampling


class GroupedBy(StrEnum):
    """The property by which triplets are grouped (``--by``)."""

    STRUCTURE = "structure"
    PLACE = "place"
    DISTANCE = "distance"
    """The number of tokens from the verb of the changed clause to its farthest participant."""
    VOICE = "voice"
    """The clause that differs in the negative, and the clauses whose voice differs between anchor and positive."""


NO_VALUE = "-"
NEGATIVE_FORMS = {NegativeKind.FORM: "positive's form", NegativeKind.ANCHOR: "anchor's form"}
KIND_TITLES = {kind: f"negative in the {form}" for kind, form in NEGATIVE_FORMS.items()}
CellDraws: TypeAlias = Sequence[GeometryResult]
CellFormatter: TypeAlias = Callable[[CellDraws], str]
ProbeCells: TypeAlias = Mapping[tuple[str, str], str]
"""Accuracy of a probe on the same sentences, as text such as "61.3", by encoder and task."""


def build_geometry_grid(
    results: Sequence[GeometryResult], *, nearness: Nearness, intervals: bool, probe_cells: ProbeCells | None
) -> Grid:
    """Build the table with a row for each encoder, in sections such as accuracy and margin."""
    names, cells = list_contrasts(results), drawn.group_by_cell(results)
    rows = []
    for title, format_cell in _list_sections(results, nearness, intervals=intervals, probe_cells=probe_cells or {}):
        rows.append(GridRow(title, title, tuple(GridCell("") for _ in names), heading=True))
        for encoder in list_encoders(results):
            draws_by_contrast = [cells.get((encoder, name)) for name in names]
            texts = [format_cell(draws) if draws else NO_VALUE for draws in draws_by_contrast]
            rows.append(GridRow(encoder, title, tuple(map(GridCell, texts))))
    return Grid(("encoder", *names), tuple(rows))


def list_contrasts(results: Sequence[GeometryResult]) -> list[str]:
    """Return the distinct contrasts in the order of ``CONTRASTS``. Contrasts that are named after a task come last."""
    contrasts = dict.fromkeys(result.contrast for result in results)
    return [*(name for name in CONTRASTS if name in contrasts), *(name for name in contrasts if name not in CONTRASTS)]


def list_encoders(results: Sequence[GeometryResult]) -> list[str]:
    """Return the distinct names of encoders, in order of appearance."""
    return list(dict.fromkeys(result.encoder for result in results))


def _list_sections(
    results: Sequence[GeometryResult], nearness: Nearness, *, intervals: bool, probe_cells: ProbeCells
) -> Iterator[tuple[str, CellFormatter]]:
    for name, paired in (("accuracy", False), ("paired", True)):
        for kind, title in KIND_TITLES.items():
            yield (
                f"{name}, {title}",
                partial(_format_accuracy, kind=kind, nearness=nearness, paired=paired, intervals=intervals),
            )
        if probe_cells and not paired:
            title = "accuracy, a probe on the same sentences"
            yield title, lambda draws: probe_cells.get(drawn.get_cell(draws[0]), NO_VALUE)
    for kind, title in KIND_TITLES.items():
        yield f"margin, {title}", partial(_format_margin, kind=kind, nearness=nearness)
    if nearness is not Nearness.COSINE:  # groups and ranks are measured by cosine only
        return
    if _has_ranges(results):
        for kind, title in KIND_TITLES.items():
            yield f"lowest to highest {GroupedBy.VOICE}, {title}", partial(_format_group_range, kind=kind)
    for kind, title in KIND_TITLES.items():
        yield f"left when whitened, {title}", partial(_format_gap_left, kind=kind)
    if any(result.ranking for result in results):
        yield "mean rank of the positive", _format_mean_rank
        yield "positive is first", _format_first_share


def _format_accuracy(draws: CellDraws, kind: NegativeKind, nearness: Nearness, *, paired: bool, intervals: bool) -> str:
    share = drawn.estimate_accuracy(draws, kind, nearness, paired=paired)
    return NO_VALUE if share is None else format_share(share, intervals=intervals)


def format_share(figure: drawn.TripletEstimate, *, intervals: bool) -> str:
    """Return a share in percent as text, such as "61.3 ± 0.8"; with *intervals*, "61.3 ± 0.8 [59.1, 63.5]"."""
    low, high = 100 * figure.interval.low, 100 * figure.interval.high
    spread = "" if figure.spread is None else f" ± {100 * figure.spread:.1f}"
    return f"{100 * figure.mean:.1f}{spread}" + (f" [{low:.1f}, {high:.1f}]" if intervals else "")


LEAST_TRIPLETS = 20
"""Groups with fewer triplets are left out of the range of group accuracies, "lowest to highest"."""


def _find_large_groups(draws: CellDraws, kind: NegativeKind) -> list[float]:
    """Return the accuracy, over all draws, of each ``GroupedBy.VOICE`` group with at least LEAST_TRIPLETS triplets."""
    measures_by_group: dict[str, list[TripletMeasures]] = {}
    for draw in draws:
        for group, measures in draw.find_by_group(kind, by=GroupedBy.VOICE).items():
            measures_by_group.setdefault(group, []).append(measures)
    counts = {group: sum(m.triplets for m in parts) for group, parts in measures_by_group.items()}
    return [
        sum(m.accuracy * m.triplets for m in parts) / counts[group]
        for group, parts in measures_by_group.items()
        if counts[group] >= LEAST_TRIPLETS
    ]


def _has_ranges(results: Sequence[GeometryResult]) -> bool:
    return any(len(_find_large_groups([result], NegativeKind.FORM)) > 1 for result in results)


def _format_group_range(draws: CellDraws, kind: NegativeKind) -> str:
    accuracies = _find_large_groups(draws, kind)
    return f"{100 * min(accuracies):.1f} to {100 * max(accuracies):.1f}" if len(accuracies) > 1 else NO_VALUE


def _format_margin(draws: CellDraws, kind: NegativeKind, nearness: Nearness) -> str:
    scores = [draw.find_overall(kind, nearness) for draw in draws]
    margins = [score.measured.margin for score in scores if score is not None]
    return f"{mean(margins):+.4f}" if margins and len(margins) == len(draws) else NO_VALUE


def _format_gap_left(draws: CellDraws, kind: NegativeKind) -> str:
    """Return the share of the gap to 100% that remains after whitening: "0.50" if accuracy rises from 80% to 90%."""
    before = drawn.estimate_accuracy(draws, kind, Nearness.COSINE)
    after = drawn.estimate_accuracy(draws, kind, Nearness.WHITENED)
    if before is None or after is None or before.mean == 1:
        return NO_VALUE
    return f"{(1 - after.mean) / (1 - before.mean):.2f}"


def _format_mean_rank(draws: CellDraws) -> str:
    rankings = [draw.ranking for draw in draws if draw.ranking is not None]
    if not rankings:
        return NO_VALUE
    return f"{mean(ranking.mean for ranking in rankings):.2f} of {rankings[0].distractors + 1}"


def _format_first_share(draws: CellDraws) -> str:
    shares = [draw.ranking.first for draw in draws if draw.ranking is not None]
    return f"{100 * mean(shares):.1f}" if shares else NO_VALUE


def build_group_grid(results: Sequence[GeometryResult], by: GroupedBy, *, intervals: bool) -> Grid:
    """Build a table of accuracies. Each pair of encoder and NegativeKind has a section, with a row for each group."""
    names = list_contrasts(results)
    rows = []
    for encoder, (kind, kind_title) in product(list_encoders(results), KIND_TITLES.items()):
        title = f"{encoder}, {kind_title}"
        rows.append(GridRow(title, title, tuple(GridCell("") for _ in names), heading=True))
        groups_by_contrast = {
            result.contrast: result.find_by_group(kind, by=by.value) for result in results if result.encoder == encoder
        }
        for group in sorted({group for groups in groups_by_contrast.values() for group in groups}):
            measures = [groups_by_contrast.get(name, {}).get(group) for name in names]
            estimates = [m and drawn.TripletEstimate(m.accuracy, None, m.accuracy_interval) for m in measures]
            texts = [format_share(estimate, intervals=intervals) if estimate else NO_VALUE for estimate in estimates]
            rows.append(GridRow(group, title, tuple(map(GridCell, texts))))
    return Grid((by.value, *names), tuple(rows))


def format_notes(results: Sequence[GeometryResult], nearness: Nearness, *, by: GroupedBy | None = None) -> str:
    """Return the notes below the table of encoders or, with *by*, below the table of groups."""
    draws = len(drawn.list_seeds(results))
    spread = f", mean ± standard deviation over {draws} draws" if draws > 1 else ""
    lines = [
        f"{_describe_triplets(results)}{spread}. Accuracy in %: the positive is nearer than the "
        f"negative, by {nearness.value}; ties count half. Chance: accuracy 50, paired 25."
    ]
    if draws > 1:
        is_same_material = len({(r.contrast, r.material) for r in results}) == len(list_contrasts(results))
        kind = "Wilson's, for the choice of sentences" if is_same_material else "Student's t, for other draws"
        lines.append(f"The 95% intervals (--intervals shows them) are {kind}.")
    # In the mirror pairs of tasks, positives and negatives also have the same words.
    same_words = [n for n in list_contrasts(results) if n not in CONTRASTS or CONTRASTS[n].same_words]
    if same_words and nearness is not Nearness.DOT:
        # In a language with cases, fronting the object does not change the words of anchor and positive.
        is_drawn = all(name in CONTRASTS for name in same_words)
        has_same_forms = is_drawn and all(find_language(r.drawing.language).has_fronting for r in results)
        forms = "both forms" if has_same_forms else "the positive's form and at 0.0 in the anchor's"
        lines.append(f"A bag of words is at 50.0 in {forms}: {', '.join(same_words)}.")
    if nearness is Nearness.COSINE and by is None:
        if _has_ranges(results):
            lines.append(
                "Accuracy is a mean over groups by changed clause and clause in the other form "
                f"(--by {GroupedBy.VOICE}). Lowest to highest: of groups with at least {LEAST_TRIPLETS} triplets."
            )
        lines.append(
            "Left: the share of the gap to 100 that remains after whitening (-: there was no gap, or there "
            "are more dimensions than sentences to estimate whitening from)."
        )
    return "".join(f"{line}\n" for line in lines)


def _describe_triplets(results: Sequence[GeometryResult]) -> str:
    seeds = drawn.list_seeds(results)
    if results[0].dataset:
        pair_counts = ", ".join(
            f"{name} {_format_counts(result for result in results if result.contrast == name)}"
            for name in list_contrasts(results)
        )
        return (
            f"The anchors are test sentences (mirror pairs: {pair_counts}): the positive has a clause in the other "
            "voice, and the negatives come from the mirror sentence"
        )
    if not results[0].drawing.vocabulary:
        return f"{_format_counts(results)} triplets from each file, and their mirrors"
    seed_text = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"
    parts = [f"{_format_counts(results)} triplets each and their mirrors", *describe_held_out(results[0].drawing)]
    return ", ".join([*parts, seed_text])


def describe_held_out(drawing: TripletSampling) -> list[str]:
    """Return a list with a note on the held-out words and structures of the triplets; [] if nothing was held out."""
    return [f"only held-out words and structures ({' '.join(drawing.held_out)})"] if drawing.held_out else []


def _format_counts(results: Iterable[GeometryResult]) -> str:
    return " or ".join(map(str, sorted({result.drawing.n for result in results})))


def check_nearness(results: Sequence[GeometryResult], nearness: Nearness) -> None:
    """Raise UsageError if no result has scores for *nearness*. ``WHITENED`` has none if there are few sentences."""
    if not any(result.find_by_group(NegativeKind.FORM, nearness) for result in results):
        raise UsageError(
            f"no result has {nearness.value}: there are more dimensions than sentences to estimate whitening from"
        )
