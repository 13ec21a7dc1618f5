"""Scores of language models in a results folder: a file for each model, and a file for the scored pairs.

Write the methods paragraph of a paper that scores minimal pairs with language models.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.common.errors import (
    FormatError,
    ResultsError,
    SentprobeError,
    UsageError,
    describe_damage,
    digest_folder,
    find_versions,
    format_count,
    path_error,
)
from sentprobe.common.files import write_atomically
from sentprobe.common.screen import Reporter
from sentprobe.common.specs import Spec
from sentprobe.common.tables import TableFormat, format_title
from sentprobe.common.values import (
    EDITED,
    BadSyntaxError,
    check_record,
    digest_value,
    format_json,
    group_by,
    parse_json,
    parse_json_object,
    pop_digest,
)
from sentprobe.probes.encoders.encoder import digest
from sentprobe.probes.encoders.models.model_loading import find_model
from sentprobe.probes.language_models.pair_accuracies import (
    CHANCE,
    PairResults,
    PairScores,
    StoredScores,
    load_or_find_scores,
)
from sentprobe.probes.language_models.scorers import DECIMALS, ModelLoader, ScoreKind, ScoringMethod
from sentprobe.probes.language_models.sentence_pairs import SentencePair, build_pair
from sentprobe.probes.reports.comparisons import CORRECTION_NAMES
from sentprobe.probes.reports.pages.methods_paragraph import format_packages, join_words
from sentprobe.probes.reports.references import SOFTWARE, Citation, Piece, write_with_citations
from sentprobe.probes.results.result import Provenance

LM_FORMAT = "sentprobe-lm 2"
FOLDER = "lm"

PairTables: TypeAlias = tuple[PairResults, ...]
"""The scores of all models on the same pairs, by the same kind of score, are one table."""


@dataclass(frozen=True, kw_only=True)
class LanguageModelResult(PairScores):
    """A model's scores of the pairs in a file, with the model's fingerprint and the kind of score."""

    fingerprint: str
    """A digest of the model's files or commit; if it is empty (unknown), the scores are not reused."""
    pairs: str
    """The digest of the pairs, which is also the name of their file."""
    kind: ScoreKind


class PairFolder:
    """A results folder, from which scores of pairs are read, and to which missing scores are written.

    ``reused`` lists the specs of the models whose scores were in the folder.
    """

    def __init__(
        self, path: Path, pairs: Sequence[SentencePair], *, command: str, source: str, device: str = ""
    ) -> None:
        self.reused: list[str] = []
        self._folder = path / FOLDER
        self._pairs, self._text = pairs, format_pairs(pairs)
        self._digest = digest_pairs(self._text)
        self._command, self._source, self._device = command, source, device

    def measure(
        self, model: Spec | StoredScores, kind: ScoreKind, reporter: Reporter, *, load: ModelLoader
    ) -> PairScores:
        """Return a model's scores from the folder; if they are missing, compute and write them. Raises SentprobeError.

        Scores in a damaged file, or of a model whose files have changed since, are computed again.
        """
        spec = model if isinstance(model, Spec) else model.spec
        fingerprint = compute_fingerprint(spec)
        safe_name = re.sub(r"[^A-Za-z0-9_.=-]+", "_", spec.name[-60:]).lstrip(".")
        path = self._folder / f"{safe_name}.{kind}.{digest(spec, kind, self._digest)[:8]}.json"
        identity = (str(spec), fingerprint, self._digest, kind, len(self._pairs))
        stored = _find_result(path) if fingerprint else None
        if stored and identity == (stored.spec, stored.fingerprint, stored.pairs, stored.kind, len(stored.good)):
            self.reused.append(str(spec))
            return stored
        scores = load_or_find_scores(model, self._pairs, kind, reporter, load=load)
        result = LanguageModelResult(
            spec=str(spec), fingerprint=fingerprint, pairs=self._digest, kind=kind, model=scores.model,
            good=scores.good, bad=scores.bad, unknown=scores.unknown, method=scores.method, source=self._source,
            provenance=Provenance(self._command, find_versions("sentprobe", "torch", "transformers"), self._device),
        )  # fmt: skip
        self._write(path, format_lm_result(result))
        return result

    def _write(self, path: Path, text: str) -> None:
        pairs_path = self._folder / f"{self._digest}.jsonl"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if not pairs_path.exists():
                write_atomically(pairs_path, self._text)
            write_atomically(path, text)
        except OSError as error:
            raise path_error(self._folder, "cannot write results here", error) from error


def score_models(
    models: Sequence[Spec | StoredScores],
    pairs: Sequence[SentencePair],
    kind: ScoreKind,
    reporter: Reporter,
    *,
    load: ModelLoader,
    folder: PairFolder | None,
) -> list[PairScores]:
    """Score pairs by each model; with *folder*, read the scores that it has, and write the others to it."""
    if folder is None:
        return [load_or_find_scores(model, pairs, kind, reporter, load=load) for model in models]
    return [folder.measure(model, kind, reporter, load=load) for model in models]


def compute_fingerprint(spec: Spec) -> str:
    """Return a digest of a model's files, or of a hub model's commit; an empty text for functions and stored scores."""
    path = Path(spec.argument).expanduser()
    if spec.kind == "hf":
        _, content = find_model(spec.argument, revision=dict(spec.options).get("revision", ""))
        return content
    if spec.kind == "ngram" and path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return digest_folder(path) if spec.kind == "trained" and path.is_dir() else ""


def digest_pairs(text: str) -> str:
    """Return the digest that names a file of pairs; *text* is the file's content, written by :func:`format_pairs`."""
    return digest(text)[:16]


def format_pairs(pairs: Sequence[SentencePair]) -> str:
    """Return pairs as JSONL in BLiMP's format; the inverse of :func:`parse_pairs`."""
    records = (
        {
            **pair.columns, "sentence_good": pair.good, "sentence_bad": pair.bad,
            "UID": pair.paradigm, "linguistics_term": pair.phenomenon, "pairID": pair.pair_id,
        }
        for pair in pairs
    )  # fmt: skip
    return "".join(f"{json.dumps(record)}\n" for record in records)


def parse_pairs(text: str) -> list[SentencePair]:
    """Parse pairs from JSONL; the inverse of :func:`format_pairs`. Raises FormatError, with the line."""
    pairs: list[SentencePair] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            record = parse_json(line)
        except BadSyntaxError as error:
            raise FormatError(f"line {number}: not JSON: {error.reason}") from None
        if not isinstance(record, dict):
            raise FormatError(f"line {number}: not a minimal pair")
        pairs.append(build_pair(record, f"line {number}"))
    return pairs


def format_lm_result(result: LanguageModelResult) -> str:
    """Return a result as JSON; the inverse of :func:`parse_lm_result`."""
    value = {"format": LM_FORMAT, **asdict(result)}
    for name in ("good", "bad"):
        value[name] = " ".join(map(repr, value[name]))  # indented JSON would have a line for each number
    value["unknown"] = "\n".join(result.unknown)
    value["digest"] = digest_value(value)
    return format_json(value, indent=1) + "\n"


def parse_lm_result(text: str | bytes, *, source: str) -> LanguageModelResult:
    """Parse a result from JSON; the inverse of :func:`format_lm_result`. Raises ResultsError, which names *source*."""
    try:
        value = parse_json_object(text)
        edited = pop_digest(value)
        if value.pop("format") != LM_FORMAT:
            raise ValueError(f"not in the format {LM_FORMAT!r}")
        for name in ("good", "bad"):
            value[name] = tuple(map(float, value[name].split()))
        value["unknown"] = tuple(value["unknown"].split("\n")) if value["unknown"] else ()
        enums: dict[str, Any] = {"kind": ScoreKind(value["kind"]), "method": ScoringMethod(value["method"])}
        if not re.fullmatch(r"[0-9a-f]{16}", value["pairs"]):
            raise ValueError("'pairs' is not the digest of a file of pairs")
        result = LanguageModelResult(**{**value, **enums, "provenance": Provenance(**value["provenance"])})
        check_record(result)
        sizes = {*map(len, (result.good, result.bad, result.unknown or result.good))}
        if not result.good or len(sizes) > 1 or not all(map(isfinite, result.good + result.bad)):
            raise ValueError("not two finite scores for each pair")
        if edited:
            raise ValueError(EDITED)
        return result
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        what = f"not a result of probe lm ({describe_damage(error)})"
        raise ResultsError(f"{source}: {what}; remove the file, and run it again") from None


def _find_result(path: Path) -> LanguageModelResult | None:
    try:
        return parse_lm_result(path.read_bytes(), source=str(path))
    except (OSError, ResultsError):  # missing or damaged
        return None


def read_pair_tables(directories: Sequence[Path]) -> PairTables:
    """Return the results in results folders: one table for each set of pairs and kind of score.

    Models with the same name are renamed to ``FOLDER#NAME``. Raises UsageError or ResultsError if a file cannot be
    read.
    """
    groups: dict[tuple[str, ScoreKind], list[tuple[Path, LanguageModelResult]]] = {}
    for directory in directories:
        try:
            for path in sorted((directory / FOLDER).glob("[!.]*.json")):
                result = parse_lm_result(path.read_bytes(), source=str(path))
                groups.setdefault((result.pairs, result.kind), []).append((directory, result))
        except OSError as error:
            raise path_error(directory, "cannot read results", error) from error
    return tuple(_join_results(name, kind, results) for (name, kind), results in groups.items())


def _join_results(name: str, kind: ScoreKind, results: Sequence[tuple[Path, LanguageModelResult]]) -> PairResults:
    pairs = _read_stored_pairs(results[0][0] / FOLDER / f"{name}.jsonl")
    counts = Counter(result.model for _, result in results)
    scores: list[PairScores] = []
    for directory, result in results:
        if len(result.good) != len(pairs):
            raise ResultsError(f"{directory}: {result.model} has {len(result.good)} scores for {len(pairs)} pairs")
        label = f"{directory}#{result.model}" if counts[result.model] > 1 else result.model
        scores.append(replace(result, model=label))
    return PairResults(pairs, kind, scores)


def _read_stored_pairs(path: Path) -> list[SentencePair]:
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        raise ResultsError(f"{path}: missing; it held the pairs of the scores beside it: run probe lm again") from None
    except UnicodeDecodeError:
        raise ResultsError(f"{path}: not UTF-8") from None
    if digest_pairs(text) != path.stem:
        raise ResultsError(f"{path}: changed since its pairs were scored; remove it, and run probe lm again")
    try:
        return parse_pairs(text)
    except FormatError as error:
        raise ResultsError(f"{path}: {error}; remove it, and run probe lm again") from None


def select_models(tables: PairTables, model: str) -> PairTables:
    """Return the tables that have the model of this name, each restricted to this model."""
    chosen = (replace(table, scores=[s for s in table.scores if s.model == model]) for table in tables)
    return tuple(table for table in chosen if table.scores)


def list_model_names(tables: PairTables) -> list[str]:
    """Return the names of all models, each once."""
    return [*dict.fromkeys(scores.model for table in tables for scores in table.scores)]


def match_tables(first: PairTables, second: PairTables) -> PairTables:
    """Return tables that compare each model of the first run with each model of the second run, on the same pairs.

    Raises ResultsError if the runs have no pairs in common.
    """
    matched = tuple(
        replace(one, matched=tuple((a, b) for a in one.scores for b in two.scores))
        for one in first
        for two in second
        if (one.kind, one.pairs) == (two.kind, two.pairs)
    )
    if not matched:
        raise ResultsError("the language models of both runs have no common pairs with the same kind of score")
    return matched


def match_models(tables: PairTables, against: str | None, *, source: str) -> PairTables:
    """Return tables that compare all models with the model *against* or, if *against* is None, with each other.

    Raises UsageError, which begins with *source*, if there are no models to compare.
    """
    several = [table for table in tables if len(table.scores) > 1]
    if not several:
        raise UsageError(f"{source} has no two language models on the same pairs; a comparison needs two")
    if against is None:
        return tuple(several)
    matched = [
        replace(table, matched=tuple((s, one) for s in table.scores if s is not one))
        for table in several
        for one in table.scores
        if one.model == against
    ]
    if not matched:
        raise UsageError(f"{source} has no language model {against!r}; it has: {', '.join(list_model_names(tables))}")
    return tuple(matched)


METHOD_PAPERS: Mapping[ScoringMethod, tuple[str, ...]] = {
    ScoringMethod.CAUSAL: ("wolf2020",),
    ScoringMethod.CAUSAL_WITHOUT_START: ("wolf2020",),
    ScoringMethod.MASKED: ("salazar2020", "kauf2023"),
    ScoringMethod.MASKED_ALONE: ("salazar2020",),
}
KIND_TEXTS: Mapping[ScoreKind, str] = {
    ScoreKind.SENTENCE: "their sum",
    ScoreKind.TOKEN: "their mean",
    ScoreKind.CRITICAL: "their sum from the first to the last changed word",
}
MAX_LISTED_PARADIGMS = 12
"""The maximum number of paradigms that the paragraph lists by name."""


def write_pair_paragraph(table: PairResults) -> tuple[Piece, ...]:
    """Return the paragraph on one set of pairs and the models that scored it."""
    parts = (_describe_pairs, _describe_scores, _describe_accuracies)
    return tuple(piece for part in parts for piece in part(table))


def _describe_pairs(table: PairResults) -> Iterator[Piece]:
    yield from ("With sentprobe", Citation((SOFTWARE,)))
    names = [s.model if s.spec in ("", s.model) else f"{s.model} ({s.spec})" for s in table.scores]
    yield f" we scored minimal pairs of a grammatical and an ungrammatical sentence by {join_words(names)}. "
    paradigms = [*dict.fromkeys(pair.paradigm for pair in table.pairs)]
    yield f"The {len(table.pairs):,} pairs are from {format_count(len(paradigms), 'paradigm')}"
    yield f" ({join_words(paradigms)})" if len(paradigms) <= MAX_LISTED_PARADIGMS else ""
    yield Citation(("warstadt2020",))
    sources = dict.fromkeys(scores.source for scores in table.scores if scores.source)
    yield f": {join_words([*sources], last='or')}. " if sources else ". "


def _describe_scores(table: PairResults) -> Iterator[Piece]:
    methods = group_by(table.scores, lambda scores: scores.method)
    for method, members in methods.items():
        subject = f"Scores of {join_words([scores.model for scores in members])}" if len(methods) > 1 else "Scores"
        yield f"{subject} are {method}"
        yield from [Citation(METHOD_PAPERS[method])] if method in METHOD_PAPERS else []
        yield ". "
    if any(method is not ScoringMethod.FILE for method in methods):
        yield f"A sentence's score is {KIND_TEXTS[table.kind]}, to {DECIMALS} decimals. "
    for scores in table.scores:
        yield f"{scores.describe_unknown()}. " if len(scores.unknown_rows) else ""
    packages = format_packages([provenance.versions for provenance in table.provenances])
    devices = sorted({provenance.device for provenance in table.provenances} - {""})
    device = f" on {join_words(devices)}" if devices else ""
    yield f"Scores were computed{device} with {join_words(packages)}. " if packages else ""


def _describe_accuracies(table: PairResults) -> Iterator[Piece]:
    ties = [f"{scores.ties:,} of {scores.model}" for scores in table.scores if scores.ties]
    yield "Accuracy is the share of pairs whose grammatical sentence scores higher; "
    yield f"ties ({join_words(ties)}) count half. " if ties else "there are no ties. "
    yield (
        f"Chance is {100 * CHANCE:.1f} (in %). Word frequencies of one half of a paradigm's grammatical sentences "
        f"achieve {100 * float(table.frequency_answers.mean()):.1f} on the other half. 95% intervals are Wilson's"
    )
    yield Citation(("wilson1927",))
    yield ", widened where grammatical sentences have the same words. "
    if count := len(table.comparisons):
        correction = f", corrected for {count} comparisons ({CORRECTION_NAMES[table.correction]})" if count > 1 else ""
        yield f"On each paradigm, models are compared by exact sign tests{correction}. "


def write_pair_methods(tables: Sequence[PairResults], style: TableFormat) -> str:
    """Return a title and a paragraph for each table, as text in a format."""
    return "\n".join(
        format_title(title, style) + write_with_citations(write_pair_paragraph(table), style) + "\n"
        for title, table in zip(name_pair_tables(len(tables)), tables, strict=True)
    )


def name_pair_tables(count: int) -> list[str]:
    """Return the titles of *count* tables, such as "language models, table 1 of 2"."""
    return ["language models" + (f", table {number} of {count}" if count > 1 else "") for number in range(1, count + 1)]
