"""Accuracies of language models on minimal pairs, by paradigm and phenomenon, and paired tests between models.

Read scores of pairs from the CSV file that ``probe lm --scores`` writes, for comparisons without the model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations, compress
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import FormatError, UsageError, format_count, suggest
from sentprobe.common.reading import parse_number
from sentprobe.common.screen import Reporter, shorten
from sentprobe.common.specs import Spec, check_distinct, read_options
from sentprobe.common.tables import Grid, GridCell, GridRow, ShownTable, escape_formula, format_csv_row
from sentprobe.common.values import group_by
from sentprobe.probes.datasets.records import read_table_rows
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.language_models import sentence_pairs as sp
from sentprobe.probes.language_models.scorers import (
    FUNCTION,
    SCORES,
    LanguageModel,
    ModelLoader,
    ScoreKind,
    ScoringMethod,
)
from sentprobe.probes.reports import comparisons as tested
from sentprobe.probes.reports.item_parts import MAX_PARTS, partition_values
from sentprobe.probes.reports.tables.distance_report import fill_missing_keys
from sentprobe.probes.results.result import Provenance
from sentprobe.probes.statistics import Correction, accuracy_interval, compare_items

COLUMNS = ("model", "paradigm", "pair_id", "score", "good", "bad", "sentence_good", "sentence_bad")


@dataclass(frozen=True, slots=True)
class StoredOptions:
    """The options of a file of stored scores, ``scores:FILE``."""

    model: str = ""
    """The name of the model, if the file has scores of several models."""


@dataclass(frozen=True, slots=True)
class StoredScores:
    """One model's stored scores; the keys are (kind of score, good sentence, bad sentence)."""

    spec: Spec
    name: str
    scores: Mapping[tuple[str, str, str], tuple[float, float]] = field(repr=False)


def _build_key(kind: str, good: str, bad: str) -> tuple[str, str, str]:
    """Return the key of a pair's scores, with the sentences as ``--scores`` writes them."""
    return kind, str(escape_formula(good)), str(escape_formula(bad))


def load_stored_scores(spec: Spec) -> StoredScores:
    """Load the file of a spec ``scores:FILE``. Raises SentprobeError."""
    options, path = read_options(spec, StoredOptions()), Path(spec.argument)
    rows = read_table_rows(path)
    _, header = next(rows, ("", []))
    if tuple(header) != COLUMNS:
        raise FormatError(f"{path}: not a file that --scores wrote, with the columns {', '.join(COLUMNS)}")
    models: dict[str, dict[tuple[str, str, str], tuple[float, float]]] = {}
    places: dict[tuple[str, ...], str] = {}
    for where, row in rows:
        try:
            model, _, _, kind, *values, good, bad = row
            first, second = map(parse_number, values)
        except ValueError:
            expected = f"{len(COLUMNS)} columns, two of them numbers, are expected"
            raise FormatError(f"{where}: {expected}") from None
        if not (isfinite(first) and isfinite(second)):
            raise FormatError(f"{where}: a score of the pair {good!r}, {bad!r} is not finite")
        name, key = str(escape_formula(model)), _build_key(kind, good, bad)
        # A pair may be in several rows, for example of two paradigms; that is no error unless the scores differ.
        place = places.setdefault((name, *key), where)
        if models.setdefault(name, {}).setdefault(key, (first, second)) != (first, second):
            earlier = place.rpartition(": ")[2]
            raise FormatError(f"{where}: other scores of {model} for the pair {good!r}, {bad!r} than in {earlier}")
    name = str(escape_formula(options.model)) or next(iter(models), "")
    if name not in models or (len(models) > 1 and not options.model):
        names = ", ".join(models) or "no model"
        raise UsageError(f"{path} has scores of {names}: name one, as in scores:FILE?model=NAME{suggest(name, models)}")
    return StoredScores(spec, spec.label or name, models[name])


CHANCE = 0.5
PARADIGM = "paradigm"
COLUMN_NAMES = (
    *("phenomenon", "model", "score", "pairs", "accuracy", "accuracy_low", "accuracy_high", "ties", "unigram"),
    *("chance", "first", "second", "first_accuracy", "second_accuracy", "draws", "difference", "low", "high"),
    *("wins", "losses", "sign_p", "sign_p_corrected", "t_p", "t_p_corrected"),
)
"""The columns of all output records, except the field that accuracy is broken down by, such as "paradigm"."""


def check_column(pairs: Sequence[sp.SentencePair], by: str) -> None:
    """Raise UsageError if accuracy cannot be broken down by the field *by*.

    Reasons: no pair has the field, the output already has a column of this name, or the field has more than MAX_PARTS
    different values, not all of them numbers. (Numbers are divided into bins.)
    """
    if by in COLUMN_NAMES:
        raise UsageError(f"--by {by}: the output has a column of this name; rename the field of the pairs")
    names = [*dict.fromkeys(chain.from_iterable(pair.columns for pair in pairs))]
    if by not in (PARADIGM, *names):
        hint = "; only paradigms of subject-verb agreement have distance and attractors"
        hint = hint if by in ("distance", "attractors") else ""
        raise UsageError(f"the pairs have no field {by!r}{suggest(by, names)}; they have {', '.join(names)}{hint}")
    values = {pair.columns.get(by, "") for pair in pairs}
    # As many parts as values: they are not numbers, which partition_values would have put into a few bins.
    if by != PARADIGM and MAX_PARTS < len(values) == len({*partition_values(by, values).values()}):
        raise UsageError(f"the field {by!r} has {len(values)} values; at most {MAX_PARTS}, or numbers, can be shown")


def read_scores_files(specs: Sequence[Spec]) -> list[Spec | StoredScores]:
    """Return *specs* with each ``scores:FILE`` replaced by its scores. Raises UsageError for equal model names."""
    models = [load_stored_scores(spec) if spec.kind == SCORES else spec for spec in specs]
    check_distinct("model", [model.name for model in models])
    return models


@dataclass(frozen=True)
class PairScores:
    """A language model's scores of the good and the bad sentence of each pair."""

    model: str
    good: tuple[float, ...]
    bad: tuple[float, ...]
    unknown: tuple[str, ...] = ()
    """For each pair, its words unknown to the model, separated by spaces; ``()`` if the model knows all words."""
    method: ScoringMethod = ScoringMethod.FILE
    spec: str = ""
    source: str = ""
    """The origin of the pairs, as in "1,000 pairs of each paradigm, sampled with seed 0"."""
    provenance: Provenance | None = None
    """The command and the package versions, if the scores are from a results folder."""

    @cached_property
    def answers(self) -> sp.PairAnswers:
        """Whether the good sentence of each pair scores higher, (2, pairs). A tie is True in row 0, False in row 1."""
        return sp.compare_scores(self.good, self.bad)

    @property
    def ties(self) -> int:
        return int((self.answers[0] != self.answers[1]).sum())

    @cached_property
    def unknown_rows(self) -> NDArray[np.int64]:
        """The indices of the pairs with unknown words."""
        return np.flatnonzero([*map(bool, self.unknown)])

    def describe_unknown(self) -> str:
        """Return a sentence that states the number of pairs with unknown words, and one such word."""
        pairs = format_count(len(self.unknown_rows), "pair")
        return f"{self.model} does not know words of {pairs}, such as {min(chain(*map(str.split, self.unknown)))!r}"


def load_or_find_scores(
    model: Spec | StoredScores,
    pairs: Sequence[sp.SentencePair],
    kind: ScoreKind,
    reporter: Reporter,
    *,
    load: ModelLoader,
) -> PairScores:
    """Score pairs by the model of a spec, or look up their stored scores. Raises SentprobeError."""
    if isinstance(model, Spec):
        return score_pairs(load(model), pairs, kind, reporter)
    stored = []
    for pair in pairs:
        key = _build_key(kind, pair.good, pair.bad)
        if key not in model.scores:
            raise UsageError(
                f"{model.spec.argument} has no {kind} score of {model.name} for the pair {pair.good!r}, {pair.bad!r}"
            )
        stored.append(model.scores[key])
    good, bad = zip(*stored, strict=True)
    return PairScores(model.name, good, bad)


def select_known_pairs(
    models: Sequence[Spec | StoredScores], pairs: Sequence[sp.SentencePair], load: ModelLoader
) -> tuple[list[sp.SentencePair], list[Spec]]:
    """Return the pairs whose words every model knows, and the models that report which words they know.

    Raises SentprobeError if no model reports its words, a model fails, or no pair is left.
    """
    reporting = [model for model in models if isinstance(model, Spec) and model.kind != FUNCTION]
    if not reporting:
        raise UsageError("--known-words: files of scores and functions do not say which words a model knows")
    texts = _list_texts(pairs)
    unknown = {*chain.from_iterable(compress(texts, load(model).find_unknown(texts)) for model in reporting)}
    if chosen := [pair for pair in pairs if unknown.isdisjoint((pair.good, pair.bad))]:
        return chosen, reporting
    raise UsageError("--known-words: every pair has words that a model does not know")


def _list_texts(pairs: Sequence[sp.SentencePair]) -> list[str]:
    return [*dict.fromkeys(chain.from_iterable((pair.good, pair.bad) for pair in pairs))]


def score_pairs(
    model: LanguageModel, pairs: Sequence[sp.SentencePair], kind: ScoreKind, reporter: Reporter
) -> PairScores:
    """Return a model's scores of both sentences of each pair. Raises SentprobeError if the model cannot compute one."""
    texts = _list_texts(pairs)
    unknown = dict(zip(texts, model.find_unknown(texts), strict=True))
    reporter.begin(f"score with {shorten(model.name)}", len(texts))
    regions = [pair.find_regions() for pair in pairs]
    # A sentence may be in several pairs; it is scored once, with the regions of all.
    needed: dict[str, list[sp.TextSpan]] = {}
    for pair, (good_region, bad_region) in zip(pairs, regions, strict=True):
        needed.setdefault(pair.good, []).append(good_region)
        needed.setdefault(pair.bad, []).append(bad_region)
    scored = model.score(texts, reporter, needed if kind is ScoreKind.CRITICAL else None)
    tokens = dict(zip(texts, scored, strict=True))
    if unscored := [text for text, scores in tokens.items() if not scores.log_probabilities]:
        raise UsageError(f"{model.name} scores no token of {unscored[0]!r}")
    if kind is not ScoreKind.SENTENCE and not all(scores.spans for scores in tokens.values()):
        raise UsageError(f"{model.name} returns one number for a sentence; --score {kind} needs one for each word")
    good = [tokens[pair.good].compute_score(kind, region) for pair, (region, _) in zip(pairs, regions, strict=True)]
    bad = [tokens[pair.bad].compute_score(kind, region) for pair, (_, region) in zip(pairs, regions, strict=True)]
    for pair, *pair_scores in zip(pairs, good, bad, strict=True):
        values = (*pair_scores, *tokens[pair.good].log_probabilities, *tokens[pair.bad].log_probabilities)
        if not all(map(isfinite, values)):
            raise EncoderError(f"{model.name}: a score of the pair {pair.good!r}, {pair.bad!r} is not a finite number")
    words = tuple(" ".join(dict.fromkeys((*unknown[pair.good], *unknown[pair.bad]))) for pair in pairs)
    return PairScores(model.name, tuple(good), tuple(bad), words if any(words) else (), model.method)


class PairGroup(NamedTuple):
    """A group of pairs, for which the accuracy of each model is reported.

    - value: the paradigm, or the value of the field :attr:`PairResults.by`; "" in a group of a whole phenomenon or of
      all pairs
    - rows: the indices of the group's pairs
    """

    phenomenon: str
    value: str
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairComparison(tested.TestedDifference):
    """A comparison of two models, or of a model and the baseline, on one group of pairs, such as a paradigm."""

    value: str
    """The paradigm, or the value of the field :attr:`PairResults.by`."""
    shares: tuple[float, float]

    @property
    def accuracies(self) -> tuple[float, float]:
        return self.shares


@dataclass(frozen=True)
class PairResults:
    """The scores of several models on the same pairs, and the accuracies that follow from them."""

    pairs: Sequence[sp.SentencePair]
    kind: ScoreKind
    scores: Sequence[PairScores]
    by: str = PARADIGM
    """The field that accuracy is broken down by, such as "paradigm"."""
    matched: Sequence[tuple[PairScores, PairScores]] | None = None
    """The models to compare, two at a time; None: every model with every other."""
    correction: Correction = Correction.HOLM

    @property
    def provenances(self) -> list[Provenance]:
        """The distinct commands and package versions that computed the scores in a results folder."""
        return [*dict.fromkeys(scores.provenance for scores in self.scores if scores.provenance)]

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The unit of each pair as a number, (pairs,). Pairs whose good sentences have the same words share a unit."""
        return np.array(sp.number_units(self.pairs))

    @cached_property
    def frequency_answers(self) -> sp.PairAnswers:
        """Answers to all pairs, (2, pairs), by unigram models per paradigm. Rows: see :attr:`PairScores.answers`."""
        answers = np.empty((2, len(self.pairs)), dtype=bool)
        rows = group_by(range(len(self.pairs)), lambda row: self.pairs[row].paradigm)
        for group in rows.values():
            pairs = [self.pairs[row] for row in group]
            answers[:, group] = sp.answer_by_frequency(pairs, self.units[group].tolist())
        return answers

    @cached_property
    def groups(self) -> list[PairGroup]:
        """The groups of pairs: one for each paradigm, one for each phenomenon with several paradigms, one for all.

        If :attr:`by` is a field other than "paradigm", there is one group for each value of the field (many numbers are
        divided into bins), and one for all pairs. If all pairs have the same paradigm or value, there is one group.
        """
        rows: dict[str, dict[str, list[int]]] = {}
        if self.by == PARADIGM:
            for row, pair in enumerate(self.pairs):
                rows.setdefault(pair.phenomenon, {}).setdefault(pair.paradigm, []).append(row)
        else:
            values = [pair.columns.get(self.by, "") for pair in self.pairs]
            part_of = partition_values(self.by, values)
            rows[""] = {part: [] for part in part_of.values()}
            for row, value in enumerate(values):
                rows[""][part_of[value]].append(row)
        groups: list[PairGroup] = []
        for phenomenon, paradigms in rows.items():
            groups += [PairGroup(phenomenon, value, np.array(places)) for value, places in paradigms.items()]
            if phenomenon and len(paradigms) > 1:
                groups.append(PairGroup(phenomenon, "", np.array([*chain.from_iterable(paradigms.values())])))
        return groups if len(groups) == 1 else [*groups, PairGroup("", "", np.arange(len(self.pairs)))]

    def to_records(self) -> list[dict[str, Any]]:
        """Return the records of accuracies and of comparisons; all records have the same keys."""
        return fill_missing_keys(self.to_accuracy_records(), self.to_comparison_records())

    def to_accuracy_records(self) -> list[dict[str, Any]]:
        """Return one record for each group of pairs and each model: the accuracy of the model on the group."""
        return [self._build_record(group, scores) for group in self.groups for scores in self.scores]

    def to_comparison_records(self) -> list[dict[str, Any]]:
        """Return a record for each comparison of two models."""
        return [
            {
                self.by: comparison.value,
                **dict(zip(("first", "second"), comparison.matched[0], strict=True)),
                **tested.to_figure_record(comparison),
            }
            for comparison in self.comparisons
        ]

    def _build_record(self, group: PairGroup, scores: PairScores) -> dict[str, Any]:
        answers = scores.answers[:, group.rows]
        interval = accuracy_interval(answers.mean(axis=0), self.units[group.rows].tolist())
        return {
            "phenomenon": group.phenomenon,
            self.by: group.value,
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
        """All comparisons of two models on one value of :attr:`by`, such as one paradigm, with corrected p-values."""
        matched = combinations(self.scores, 2) if self.matched is None else self.matched
        return self._compare([((a.model, a.answers), (b.model, b.answers)) for a, b in matched])

    @cached_property
    def baseline_comparisons(self) -> list[PairComparison]:
        """Comparisons of each model with the better of unigrams and chance, one for each value of the field ``by``."""
        baseline = self.frequency_answers.copy()
        for group in self.groups:
            if group.value and baseline[:, group.rows].mean() < CHANCE:  # then chance is better: a tie in each pair
                baseline[:, group.rows] = [[True], [False]]
        tests = (self._compare([((scores.model, scores.answers), ("baseline", baseline))]) for scores in self.scores)
        return [*chain.from_iterable(tests)]

    def _compare(
        self, matched: Sequence[tuple[tuple[str, sp.PairAnswers], tuple[str, sp.PairAnswers]]]
    ) -> list[PairComparison]:
        """Return a comparison, with corrected p-values, for each pair of models and each value of :attr:`by`."""
        groups = [group for group in self.groups if group.value]
        cases = [(group, first, second) for first, second in matched for group in groups]
        tests = [
            compare_items(first[:, group.rows], second[:, group.rows], self.units[group.rows].tolist())
            for group, (_, first), (_, second) in cases
        ]
        corrected = tested.correct_tests(tests, [1] * len(tests), self.correction)
        return [
            PairComparison(
                matched=((a, b),), value=group.value, paired=test, sign_p=sign_p, t_p=t_p,
                shares=(float(first[:, group.rows].mean()), float(second[:, group.rows].mean())),
            )
            for (group, (a, first), (b, second)), test, (sign_p, t_p) in zip(cases, tests, corrected, strict=True)
        ]  # fmt: skip

    def build_tables(self, *, intervals: bool) -> Iterator[ShownTable]:
        """Yield title, table and notes for accuracies and, if models are compared, for comparisons."""
        yield "", *self.build_accuracy_grid(intervals=intervals)
        if self.comparisons:
            yield "", *self.build_comparison_grid()

    def build_accuracy_grid(self, *, intervals: bool) -> tuple[Grid, str]:
        """Return the table of accuracies and its notes."""
        header = (self.by, "pairs", "chance", "unigram", *(scores.model for scores in self.scores))
        rows = []
        for group in self.groups:
            records = [self._build_record(group, scores) for scores in self.scores]
            texts = [str(len(group.rows)), f"{100 * CHANCE:.1f}", f"{100 * records[0]['unigram']:.1f}"]
            for record in records:
                low, high = 100 * record["accuracy_low"], 100 * record["accuracy_high"]
                texts.append(f"{100 * record['accuracy']:.1f}" + (f" [{low:.1f}, {high:.1f}]" if intervals else ""))
            label = group.value or f"all {group.phenomenon}".strip()
            rows.append(GridRow(label, group.phenomenon, tuple(map(GridCell, texts))))
        return Grid(header, tuple(rows)), self._describe()

    def build_comparison_grid(self) -> tuple[Grid, str]:
        """Return the table of comparisons and its notes."""
        header = ("A - B", self.by, *tested.list_figure_columns(self.comparisons))
        units = "units (pairs with the same words in the good sentence count as one)"
        notes = tested.describe_tests(self.comparisons, observations=units, correction=self.correction)
        rows = []
        for comparison in self.comparisons:
            name = " - ".join(comparison.matched[0])
            rows.append(GridRow(name, name, (GridCell(comparison.value), *tested.build_figure_cells(comparison))))
        return Grid(header, tuple(rows)), notes

    def _describe(self) -> str:
        identical = sum(pair.good == pair.bad for pair in self.pairs)
        texts = {(pair.good, pair.bad) for pair in self.pairs}
        repeated = len(self.pairs) - len({(pair.paradigm, pair.good, pair.bad) for pair in self.pairs})
        reversed_pairs = sum(good < bad and (bad, good) in texts for good, bad in texts)
        notes = (
            f"Accuracy in percent: the good sentence has the higher score ({self.kind}). Ties count half.",
            "Unigram: word frequencies in the good sentences of one half of the pairs, measured on the other.",
            *(f"{scores.model}: {format_count(scores.ties, 'tie')}." for scores in self.scores if scores.ties),
            *([f"In {format_count(identical, 'pair')}, both sentences are the same."] if identical else []),
            *([f"{format_count(repeated, 'pair')} listed before, and counted again."] if repeated else []),
            *([f"{format_count(reversed_pairs, 'pair')} with either sentence as good."] if reversed_pairs else []),
            *(f"{scores.describe_unknown()}." for scores in self.scores if len(scores.unknown_rows)),
        )
        return "".join(f"{note}\n" for note in notes)

    def format_scores(self) -> str:
        """Return each model's scores of each pair as CSV."""
        rows: list[tuple[object, ...]] = [COLUMNS]
        for scores in self.scores:
            for pair, *values in zip(self.pairs, scores.good, scores.bad, strict=True):
                names = (scores.model, pair.paradigm, pair.pair_id, self.kind.value)
                rows.append((*names, *values, pair.good, pair.bad))
        return "".join(f"{format_csv_row(row)}\n" for row in rows)
