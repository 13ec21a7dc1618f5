"""Read scores of pairs from the CSV file that ``probe lm --scores`` writes, for comparisons without the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from sentprobe.disk.reading import parse_number
from sentprobe.display.table_writers import escape_formula
from sentprobe.errors import FormatError, UsageError, suggest
from sentprobe.probes.formats.records import read_table_rows
from sentprobe.probes.language_models.sentence_pairs import SentencePair
from sentprobe.specs import Spec, read_options

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

    def find_scores(self, pairs: Sequence[SentencePair], kind: str) -> list[tuple[float, float]]:
        """Return the scores of both sentences of each pair. Raises UsageError if a pair has no stored scores."""
        for pair in pairs:
            if _build_key(kind, pair.good, pair.bad) not in self.scores:
                raise UsageError(
                    f"{self.spec.argument} has no {kind} score of {self.name} for the pair {pair.good!r}, {pair.bad!r}"
                )
        return [self.scores[_build_key(kind, pair.good, pair.bad)] for pair in pairs]


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
    for where, row in rows:
        try:
            model, _, _, kind, *values, good, bad = row
            first, second = map(parse_number, values)
        except ValueError:
            expected = f"{len(COLUMNS)} columns, two of them numbers, are expected"
            raise FormatError(f"{where}: {expected}") from None
        if not (isfinite(first) and isfinite(second)):
            raise FormatError(f"{where}: a score of the pair {good!r}, {bad!r} is not finite")
        models.setdefault(str(escape_formula(model)), {})[_build_key(kind, good, bad)] = first, second
    name = str(escape_formula(options.model)) or next(iter(models), "")
    if name not in models or (len(models) > 1 and not options.model):
        names = ", ".join(models) or "no model"
        raise UsageError(f"{path} has scores of {names}: name one, as in scores:FILE?model=NAME{suggest(name, models)}")
    return StoredScores(spec, spec.label or name, models[name])
