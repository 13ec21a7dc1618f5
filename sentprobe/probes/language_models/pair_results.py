"""Scores of language models in a results folder: a file for each model, and a file for the scored pairs."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.disk.files import write_atomically
from sentprobe.errors import FormatError, ResultsError, SentprobeError, UsageError, path_error
from sentprobe.probes.encoders.models.model_loading import find_model
from sentprobe.probes.encoders.protocol import digest
from sentprobe.probes.language_models.pair_accuracies import PairResults, PairScores, load_or_find_scores
from sentprobe.probes.language_models.scorers import ModelLoader, ScoreKind, ScoringMethod
from sentprobe.probes.language_models.sentence_pairs import SentencePair, build_pair
from sentprobe.probes.language_models.stored_scores import StoredScores
from sentprobe.probes.results.result import Provenance
from sentprobe.progress import Reporter
from sentprobe.specs import Spec
from sentprobe.values import BadSyntaxError, check_record, format_json, parse_json
from sentprobe.versions import digest_folder, find_versions

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
        """Write a model's result, and the scored pairs if the folder lacks them."""
        pairs_path = self._folder / f"{self._digest}.jsonl"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if not pairs_path.exists():
                write_atomically(pairs_path, self._text)
            write_atomically(path, text)
        except OSError as error:
            raise path_error(self._folder, "cannot write results here", error) from error


def compute_fingerprint(spec: Spec) -> str:
    """Return a digest of a model's files, or of a hub model's commit; an empty text for functions and stored scores."""
    path = Path(spec.argument).expanduser()
    if spec.kind == "hf":
        return find_model(spec.argument, revision=dict(spec.options).get("revision", "")).content
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
    return format_json(value, indent=1) + "\n"


def parse_lm_result(text: str | bytes, *, source: str) -> LanguageModelResult:
    """Parse a result from JSON; the inverse of :func:`format_lm_result`. Raises ResultsError, which names *source*."""
    try:
        value = parse_json(text)
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
        return result
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"{source}: not a result of probe lm ({error}); remove the file, and run it again") from None


def _find_result(path: Path) -> LanguageModelResult | None:
    """Return the result in a file; None if the file is missing or damaged."""
    try:
        return parse_lm_result(path.read_bytes(), source=str(path))
    except (OSError, ResultsError):
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
