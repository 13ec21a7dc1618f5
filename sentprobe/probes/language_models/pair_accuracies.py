"""Accuracies of language models on minimal pairs: by paradigm and phenomenon, with paired tests."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.display.table_writers import Grid, GridCell, GridRow
from sentprobe.errors import UsageError, format_count
from sentprobe.probes.language_models.minimal_pairs import (
    Answers,
    MinimalPair,
    answer_by_frequency,
    compare_scores,
    number_units,
)
from sentprobe.probes.language_models.scorers import LanguageModel, ScoreKind
from sentprobe.probes.report.findings import comparisons as tested
from sentprobe.probes.report.tables.distance_report import fill_missing_keys
from sentprobe.probes.statistics import Correction, accuracy_interval, compare_items
from sentprobe.progress import Reporter, shorten

CHANCE = 0.5


@dataclass(frozen=True, slots=True)
class PairScores:
    """The scores of one model."""

    model: str
    good: Sequence[float]
    bad: Sequence[float]
    notes: Sequence[str]

    @property
    def answers(self) -> Answers:
        """Whether the good sentence scores higher."""
        return compare_scores(self.good, self.bad)


def score_pairs(model: LanguageModel, pairs: Sequence[MinimalPair], kind: ScoreKind, reporter: Reporter) -> PairScores:
    """Return the scores of both sentences of each pair; each text is scored once.

    Raises:
        UsageError: the kind of score needs tokens, and the model gives a text one number.
    """
    texts = [*dict.fromkeys(chain.from_iterable((pair.good, pair.bad) for pair in pairs))]
    reporter.begin(f"score with {shorten(model.name)}", len(texts))
    tokens = dict(zip(texts, model.score(texts, reporter), strict=True))
    if kind is not ScoreKind.SENTENCE and not all(scores.spans for scores in tokens.values()):
        raise UsageError(f"{model.name} returns one number for a sentence; --score {kind} needs one for each word")
    regions = [pair.find_regions() for pair in pairs]
    good, bad = (
        [tokens[text].compute_score(kind, spans[side]) for text, spans in zip(column, regions, strict=True)]
        for side, column in enumerate(([pair.good for pair in pairs], [pair.bad for pair in pairs]))
    )
    return PairScores(model.name, good, bad, model.notes)


@dataclass(frozen=True, slots=True)
class PairGroup:
    """The pairs of a paradigm, of a phenomenon (no paradigm), or all pairs (neither)."""

    phenomenon: str
    paradigm: str
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairComparison(tested.TestedDifference):
    """Two models on one paradigm."""

    paradigm: str
    shares: tuple[float, float]

    @property
    def accuracies(self) -> tuple[float, float]:
        """The accuracies of both models."""
        return self.shares


@dataclass(frozen=True)
class PairResults:
    """The scores of models on the same pairs."""

    pairs: Sequence[MinimalPair]
    kind: ScoreKind
    scores: Sequence[PairScores]

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The unit of each pair."""
        return np.array(number_units(self.pairs))

    @cached_property
    def frequency_answers(self) -> Answers:
        """The answers of the unigram model."""
        return answer_by_frequency(self.pairs, self.units.tolist())

    @cached_property
    def groups(self) -> list[PairGroup]:
        """The paradigms of each phenomenon; phenomena of several paradigms; if there are several paradigms, all."""
        paradigms = np.array([pair.paradigm for pair in self.pairs])
        phenomena = np.array([pair.phenomenon for pair in self.pairs])
        groups: list[PairGroup] = []
        for phenomenon in dict.fromkeys(phenomena.tolist()):
            rows = np.flatnonzero(phenomena == phenomenon)
            names = [*dict.fromkeys(paradigms[rows].tolist())]
            groups += [PairGroup(phenomenon, name, rows[paradigms[rows] == name]) for name in names]
            if phenomenon and len(names) > 1:
                groups.append(PairGroup(phenomenon, "", rows))
        if len({(group.phenomenon, group.paradigm) for group in groups if group.paradigm}) > 1:
            groups.append(PairGroup("", "", np.arange(len(self.pairs))))
        return groups

    def to_records(self) -> list[dict[str, Any]]:
        """Return a flat record for each group and model, and for each comparison; all have the same keys."""
        records = [self._build_record(group, scores) for group in self.groups for scores in self.scores]
        return fill_missing_keys(records, [*map(_build_comparison_record, self.comparisons)])

    def _build_record(self, group: PairGroup, scores: PairScores) -> dict[str, Any]:
        answers = scores.answers[:, group.rows]
        interval = accuracy_interval(answers.mean(axis=0), self.units[group.rows].tolist())
        return {
            "phenomenon": group.phenomenon,
            "paradigm": group.paradigm,
            "model": scores.model,
            "score": self.kind.value,
            "pairs": len(group.rows),
            "accuracy": float(answers.mean()),
            "accuracy_low": interval.low,
            "accuracy_high": interval.high,
            "ties": int((answers[0] != answers[1]).sum()),
            "unigram": float(self.frequency_answers[:, group.rows].mean()),
            "chance": CHANCE,
        }

    @cached_property
    def comparisons(self) -> list[PairComparison]:
        """Each two models on each paradigm, with p-values corrected by Holm's method."""
        cases = [
            (group, pair) for pair in combinations(self.scores, 2) for group in self.groups if group.paradigm
        ]
        answers = [[scores.answers[:, group.rows] for scores in pair] for group, pair in cases]
        tests = [
            compare_items(*sides, [*self.units[group.rows].tolist()])
            for (group, _), sides in zip(cases, answers, strict=True)
        ]
        corrected = tested.correct_tests(tests, [1] * len(tests), Correction.HOLM)
        return [
            PairComparison(
                matched=((first.model, second.model),),
                paradigm=group.paradigm,
                shares=(float(sides[0].mean()), float(sides[1].mean())),
                paired=test,
                sign_p=sign_p,
                t_p=t_p,
            )
            for (group, (first, second)), sides, test, (sign_p, t_p) in zip(
                cases, answers, tests, corrected, strict=True
            )
        ]

    def build_tables(self, *, intervals: bool) -> Iterator[tuple[str, Grid, str]]:
        """Yield the table of accuracies and, of several models, that of comparisons, each with notes."""
        names = [scores.model for scores in self.scores]
        rows = tuple(self._build_row(group, intervals=intervals) for group in self.groups)
        yield "", Grid(("paradigm", "pairs", "chance", "unigram", *names), rows), self._describe()
        if self.comparisons:
            grid = Grid(
                ("A - B", "paradigm", *tested.list_figure_columns(self.comparisons)),
                tuple(map(_build_comparison_row, self.comparisons)),
            )
            units = "units (pairs with the same words in the good sentence count as one)"
            notes = tested.describe_tests(self.comparisons, observations=units, correction=Correction.HOLM)
            yield "", grid, notes

    def _build_row(self, group: PairGroup, *, intervals: bool) -> GridRow:
        records = [self._build_record(group, scores) for scores in self.scores]
        shares = [CHANCE, records[0]["unigram"]]
        texts = [str(len(group.rows)), *(f"{100 * share:.1f}" for share in shares)]
        for record in records:
            low, high = 100 * record["accuracy_low"], 100 * record["accuracy_high"]
            texts.append(f"{100 * record['accuracy']:.1f}" + (f" [{low:.1f}, {high:.1f}]" if intervals else ""))
        label = group.paradigm or (f"all of {group.phenomenon}" if group.phenomenon else "all")
        return GridRow(label, group.phenomenon, tuple(map(GridCell, texts)))

    def _describe(self) -> str:
        """Return the notes on the accuracies, one a line."""
        notes = [
            f"Accuracy in percent: the good sentence has the higher {_SCORES[self.kind]}. Ties count half.",
            "Unigram: word frequencies in the good sentences of one half of the pairs, measured on the other.",
        ]
        for scores in self.scores:
            ties = int((scores.answers[0] != scores.answers[1]).sum())
            notes += [f"{scores.model}: {format_count(ties, 'tie')}."] if ties else []
        if identical := sum(pair.good == pair.bad for pair in self.pairs):
            notes.append(f"In {format_count(identical, 'pair')}, both sentences are the same.")
        return "".join(f"{note}\n" for note in (*notes, *(note for scores in self.scores for note in scores.notes)))

    def format_scores(self) -> str:
        """Return the scores of each pair as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("model", "paradigm", "pair_id", "score", "good", "bad"))
        for scores in self.scores:
            for pair, good, bad in zip(self.pairs, scores.good, scores.bad, strict=True):
                writer.writerow((scores.model, pair.paradigm, pair.pair_id, self.kind.value, good, bad))
        return text.getvalue()


_SCORES = {
    ScoreKind.SENTENCE: "log probability",
    ScoreKind.TOKEN: "log probability per token",
    ScoreKind.CRITICAL: "log probability of the changed words",
}


def _build_comparison_row(comparison: PairComparison) -> GridRow:
    name = " - ".join(comparison.matched[0])
    return GridRow(name, name, (GridCell(comparison.paradigm), *tested.build_figure_cells(comparison)))


def _build_comparison_record(comparison: PairComparison) -> dict[str, Any]:
    first, second = comparison.matched[0]
    return {
        "paradigm": comparison.paradigm,
        "first": first,
        "second": second,
        **tested.to_figure_record(comparison),
    }
