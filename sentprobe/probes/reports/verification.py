"""Whether two runs have the same figures: the answers of their probes compared, and the reasons of differences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from itertools import chain, groupby, zip_longest
from typing import Any, TypeAlias

from sentprobe.common.errors import format_count
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.common.values import group_by
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.reports.comparisons import compare_results
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.results.result import Condition, Result, Results, Score


class FigureVerdict(StrEnum):
    """How a figure of one run relates to the same figure of another run."""

    EQUAL = "equal"
    """Every probe answers every test item alike."""
    ROUNDING = "within rounding"
    """Data, encoder and settings are the same, and the paired test finds no difference between the answers.

    Processors and versions of a library add in different orders. Training amplifies this: accuracies then differ as if
    the probes had other seeds.
    """
    DIFFERENT = "different"
    MISSING = "missing"
    """Only one run has the figure."""


ResultPair: TypeAlias = tuple[Result | None, Result | None]


@dataclass(frozen=True, slots=True)
class VerifiedFigure:
    """The same figure of two runs: the accuracy of a result's probes in one condition. A missing result is None."""

    pair: ResultPair
    condition: Condition
    verdict: FigureVerdict
    reasons: tuple[str, ...]

    @property
    def place(self) -> tuple[str, str, int, str]:
        """Encoder, task, seed, and the trained probe: "probe" or the name of the control."""
        result = self.pair[0] or self.pair[1]
        assert result is not None
        what = CONTROLS[self.condition].name if self.condition in CONTROLS else self.condition.value
        return result.encoder, result.task, result.seed, what

    @property
    def accuracies(self) -> tuple[float | None, float | None]:
        """The mean accuracy over the seeds in each run, from 0 to 1."""
        first, second = _find_scores(self.pair, self.condition)
        return None if first is None else first.accuracy, None if second is None else second.accuracy


def verify_results(first: Results, second: Results) -> list[VerifiedFigure]:
    """Compare each figure of two runs: of every encoder, task, seed (draw) and condition.

    A figure whose inputs are the same, but not its answers, is within rounding unless the sign test over units rejects
    that, corrected for the number of such figures (Holm).
    """
    figures = [
        _compare_figure(pair, condition)
        for pair in _pair_results(first, second)
        for condition in dict.fromkeys(condition for result in pair if result for condition in result.scores)
    ]
    rounded = [number for number, figure in enumerate(figures) if figure.verdict is FigureVerdict.ROUNDING]
    matches = [((a, b),) for a, b in (figures[number].pair for number in rounded) if a and b]
    conditions = [(figures[number].condition,) * 2 for number in rounded]
    for number, comparison in zip(rounded, compare_results(matches, conditions=conditions), strict=True):
        if comparison.is_significant:
            figures[number] = replace(figures[number], verdict=FigureVerdict.DIFFERENT)
    return figures


def _pair_results(first: Results, second: Results) -> Iterator[ResultPair]:
    """Pair the results of each encoder, task and seed; if there are several, those with the same inputs first."""
    groups = [
        group_by(run.records, lambda result: (result.encoder, result.task, result.seed)) for run in (first, second)
    ]
    for key in dict.fromkeys(key for group in groups for key in group):
        left, right = (list(group.get(key, ())) for group in groups)
        for a in list(left):
            same = next((b for b in right if not _list_changed_inputs(a, b)), None)
            if same:
                left.remove(a)
                right.remove(same)
                yield a, same
        yield from zip_longest(left, right)


def _find_scores(pair: ResultPair, condition: Condition) -> tuple[Score | None, Score | None]:
    first, second = (None if result is None else result.scores.get(condition) for result in pair)
    return first, second


def _compare_figure(pair: ResultPair, condition: Condition) -> VerifiedFigure:
    (a, b), (first, second) = pair, _find_scores(pair, condition)
    if a is None or b is None or first is None or second is None:
        return VerifiedFigure(pair, condition, FigureVerdict.MISSING, (f"only in {'B' if first is None else 'A'}",))
    answers, other_answers = ([(s.seed, s.right, s.wrong_answers) for s in score.seeds] for score in (first, second))
    seeds, other_seeds = (", ".join(str(seed.seed) for seed in score.seeds) for score in (first, second))
    changes = _list_changed_inputs(a, b)
    if seeds != other_seeds:
        changes.append(f"seeds {seeds} and {other_seeds}")
    if answers == other_answers and not changes:
        return VerifiedFigure(pair, condition, FigureVerdict.EQUAL, ())
    # With other inputs, even equal answers do not repeat the figure.
    if changes:
        return VerifiedFigure(pair, condition, FigureVerdict.DIFFERENT, tuple(changes))
    return VerifiedFigure(pair, condition, FigureVerdict.ROUNDING, tuple(_list_changed_machines(a, b, condition)))


def _list_changed_inputs(a: Result, b: Result) -> list[str]:
    """Return what differs of all that decides the figures of two results but for the machine and the seeds."""
    digests = {
        "data": (a.dataset_fingerprint, b.dataset_fingerprint),
        "encoder": (a.encoder_fingerprint, b.encoder_fingerprint),
        "probe words' encoder": (a.probe_fingerprint, b.probe_fingerprint),
    }
    changes = [f"{name} (digests {x[:8]} and {y[:8]})" for name, (x, y) in digests.items() if x != y]
    if a.probe_vectors != b.probe_vectors:
        changes.append(f"probe words as {a.probe_vectors} and {b.probe_vectors}")
    settings = ((f.name, getattr(a.preset, f.name), getattr(b.preset, f.name)) for f in fields(Preset))
    return changes + [f"{name} {x} and {y}" for name, x, y in settings if x != y]


def _list_changed_machines(a: Result, b: Result, condition: Condition) -> list[str]:
    """Return the recorded differences in precision, device and versions, or a sentence if there is none."""
    scores = a.scores[condition], b.scores[condition]
    first, second = ({seed.precision: None for seed in score.seeds} for score in scores)
    changes = [] if first == second else [f"precision {', '.join(first)} and {', '.join(second)}"]
    here, there = (score.seeds[0].provenance or result.provenance for score, result in zip(scores, (a, b), strict=True))
    if here.device != there.device:
        changes.append(f"device {here.device} and {there.device}")
    versions = (
        (name, here.versions.get(name), there.versions.get(name)) for name in {**here.versions, **there.versions}
    )
    changes += [f"{name} {old} and {new}" for name, old, new in versions if old != new]
    return changes or ["nothing that is recorded (another processor?)"]


def build_verification_grid(figures: Sequence[VerifiedFigure]) -> Grid:
    """Build a table of the figures that are not equal, by encoder."""
    shown = [figure for figure in figures if figure.verdict is not FigureVerdict.EQUAL]
    by_pair = [[*group] for _, group in groupby(shown, key=lambda figure: [*map(id, figure.pair)])]
    by_pair.sort(key=lambda group: group[0].place[:3])
    rows = []
    # A result that is missing as a whole has one row.
    for figure in chain.from_iterable(group[:1] if None in group[0].pair else group for group in by_pair):
        encoder, task, seed, what = figure.place
        what = "all" if None in figure.pair else what
        cells = (task, str(seed), what, *map(_format_accuracy, figure.accuracies), figure.verdict.value)
        texts = (*cells, "; ".join(figure.reasons))
        rows.append(GridRow(encoder, encoder, tuple(map(GridCell, texts))))
    header = ("encoder", "task", "seed", "figure", "A", "B", "verdict", "what differs")
    return Grid(header, tuple(rows), left=frozenset({0, 1, 3, 6, 7}))


def _format_accuracy(accuracy: float | None) -> str:
    return "" if accuracy is None else f"{100 * accuracy:.1f}"


def to_verification_records(figures: Sequence[VerifiedFigure]) -> list[dict[str, Any]]:
    """Return a dictionary for each figure, equal ones included."""
    keys = "encoder", "task", "seed", "figure", "first_accuracy", "second_accuracy", "verdict", "differs"
    return [
        dict(zip(keys, (*f.place, *f.accuracies, f.verdict.value, "; ".join(f.reasons)), strict=True)) for f in figures
    ]


def describe_verification(figures: Sequence[VerifiedFigure]) -> str:
    """Return a line with the number of figures by verdict, and what "within rounding" means if it occurs.

    >>> describe_verification([]).strip()
    '0 figures.'
    """
    counts = {verdict: sum(figure.verdict is verdict for figure in figures) for verdict in FigureVerdict}
    parts = [f"{count} {verdict}" for verdict, count in counts.items() if count]
    text = f"{format_count(len(figures), 'figure')}{': ' if parts else ''}{', '.join(parts)}.\n"
    if counts[FigureVerdict.ROUNDING]:
        text += "Within rounding: the inputs are the same, and the sign test over units finds no difference.\n"
    return text
