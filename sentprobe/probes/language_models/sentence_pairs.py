"""Minimal pairs with BLiMP's fields: read them, find changed words, predict the good sentence by word frequencies.

Subject-verb agreement in minimal pairs: distance between subject and verb, and attractors between them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import fsum, log
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import FormatError, UsageError, format_count
from sentprobe.common.inputs import record_input
from sentprobe.common.values import parse_json
from sentprobe.generator.pairs.drafts import hash_words
from sentprobe.probes.datasets.records import TABLES, read_named_rows
from sentprobe.probes.datasets.row_files import read_values

AGREEMENT = "subject_verb_agreement"
"""The value of BLiMP's field ``linguistics_term`` for pairs with an error in subject-verb agreement."""
SUBJECTS = ("nsubj", "nsubj:pass")
AUXILIARIES = ("aux", "aux:pass", "cop")


class Agreement(NamedTuple):
    """The positions of a subject and its finite verb among a sentence's words, counted from 0."""

    subject: int
    verb: int

    @property
    def between(self) -> range:
        return range(min(self) + 1, max(self))


def describe_agreement(good: str, bad: str, tokens: Mapping[str, Any]) -> dict[str, str]:
    """Return ``distance`` and ``attractors`` of the subject and verb that a pair tests; ``{}`` if it tests none.

    The sentences must have the same length, and differ in a subject or its finite verb. ``distance`` is the number of
    words between subject and verb. ``attractors`` is the number of nouns between them that differ from the verb in
    grammatical number (Linzen et al. 2016, section 2).

    - tokens: the good sentence in Universal Dependencies; a list for each column, such as ``upos`` and ``head``
    """
    words = good.split(), bad.split()
    changed = {place for place, pair in enumerate(zip(*words, strict=False)) if len({*pair}) > 1}
    tested = [agreement for agreement in _find_agreements(tokens) if not changed.isdisjoint(agreement)]
    if not tested or len(words[0]) != len(words[1]):
        return {}
    # A subject agrees with the verb and its auxiliaries: the longest of these distances counts.
    longest = max(tested, key=lambda agreement: len(agreement.between))
    number = _read_number(tokens["feats"][longest.verb])
    nouns = (
        place for place in longest.between if tokens["upos"][place] == "NOUN" and tokens["deprel"][place] != "conj"
    )
    attractors = sum(_read_number(tokens["feats"][place]) != number for place in nouns)
    return {"distance": str(len(longest.between)), "attractors": str(attractors)}


def _find_agreements(tokens: Mapping[str, Sequence[Any]]) -> Iterator[Agreement]:
    """Yield the positions of each subject and its finite verb, if the verb is marked for number.

    The subject of a relative clause is the noun that the clause modifies, not the relative pronoun.
    """
    heads, relations, features = ([*tokens[name]] for name in ("head", "deprel", "feats"))
    auxiliaries: dict[int, list[int]] = {}
    for place, relation in enumerate(relations):
        if relation in AUXILIARIES:
            auxiliaries.setdefault(heads[place] - 1, []).append(place)
    for place, relation in enumerate(relations):
        if relation not in SUBJECTS:
            continue
        predicate = heads[place] - 1
        # The verb of a relative clause depends on the noun that the clause modifies.
        subject = heads[predicate] - 1 if _is_relative(features[place]) else place
        for verb in (predicate, *auxiliaries.get(predicate, ())):
            if "VerbForm=Fin" in features[verb] and _read_number(features[verb]):
                yield Agreement(subject, verb)


def _is_relative(features: str) -> bool:
    """Return whether features are those of a relative pronoun, such as "PronType=Rel" or "PronType=Dem,Rel"."""
    types = (value.removeprefix("PronType=") for value in features.split("|") if value.startswith("PronType="))
    return any("Rel" in pronoun_type.split(",") for pronoun_type in types)


def _read_number(features: str) -> str:
    return next((value for value in features.split("|") if value.startswith("Number=")), "")


PairAnswers: TypeAlias = NDArray[np.bool_]
"""Whether the good sentence of n pairs scores higher, (2, n); a tie is True in row 0, False in row 1."""

TEXTS = ("sentence_good", "sentence_bad")
"""The fields with the two sentences."""

TextSpan: TypeAlias = tuple[int, int]
"""The index of the first character of a part of a text, and of the first character after it."""


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A minimal pair: a grammatical (good) and an ungrammatical (bad) sentence."""

    good: str
    bad: str
    paradigm: str = ""
    phenomenon: str = ""
    pair_id: str = ""
    columns: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The fields that accuracy can be broken down by: those of BLiMP's record, ``distance`` and ``attractors``."""

    def find_regions(self) -> tuple[TextSpan, TextSpan]:
        """Return, for the good and the bad sentence, the span from the first to the last changed word.

        If words were only inserted or only deleted, one span would be empty. Then both spans also include the next word
        or, at the end of the sentence, the previous word.
        """
        words = [self.good.split(), self.bad.split()]
        start = len(commonprefix(words))  # noqa: RUF071 - of lists
        after = len(commonprefix([side[start:][::-1] for side in words]))  # noqa: RUF071
        if start + after == min(map(len, words)):
            start, after = (start, after - 1) if after else (start - 1, after)
        spans = map(split_at_spaces, (self.good, self.bad))
        good, bad = ((side[start][0], side[len(side) - 1 - after][1]) for side in spans)
        return good, bad


def split_at_spaces(text: str) -> list[TextSpan]:
    """Return the spans of a text's words, which white space separates."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def read_or_sample_pairs(
    paths: Sequence[Path], paradigms: Sequence[str], n: int | None, *, seed: int
) -> tuple[list[SentencePair], str]:
    """Return the minimal pairs of ``--pairs``, or *n* sampled pairs of each paradigm, and a phrase for their origin.

    - n: None stands for 1,000. It is an error together with *paths*, whose pairs are all read
    """
    if bool(paths) == bool(paradigms):
        raise UsageError("name minimal pairs: either by --pairs, a file or folder, or by --paradigm")
    if paths:
        if n is not None:
            raise UsageError("--n counts pairs of a --paradigm; all pairs of --pairs are read")
        return read_pairs(paths), f"read from {', '.join(map(str, paths))}"
    from sentprobe.generator.pairs.minimal_pairs import build_pair_spaces, format_pair_lines, sample_pairs
    from sentprobe.lexicon import english
    from sentprobe.lexicon.read import choose_vocabulary

    n = 1000 if n is None else n
    words = english()
    spaces = build_pair_spaces(words, paradigms, vocabulary=choose_vocabulary(words, "everyday"))
    pairs = [build_pair(parse_json(line)) for line in format_pair_lines(sample_pairs(spaces, n, seed=seed))]
    source = f"{format_count(n, 'pair')} of each paradigm, sampled by sentprobe from everyday words with seed {seed}"
    return pairs, source


TABLE_TEXTS = ("good", "bad")
"""The columns of the two sentences in a CSV or TSV file."""
COLUMN_ALIASES = {
    **dict(zip(TEXTS, TABLE_TEXTS, strict=True)),
    **{"uid": "UID", "paradigm": "UID", "linguistics_term": "linguistics_term", "phenomenon": "linguistics_term"},
}
"""The field of a column of a CSV or TSV file, by the names of the column in lower case."""


def read_pairs(paths: Iterable[Path]) -> list[SentencePair]:
    """Read minimal pairs from JSONL, CSV or TSV files, or from folders with such files.

    Raises UsageError or FormatError.
    """
    paths = [*paths]
    for path in paths:
        record_input(path)
    suffixes = (".jsonl", *TABLES)
    files = [*chain.from_iterable(_list_files(path, suffixes) if path.is_dir() else [path] for path in paths)]
    if not files:
        expected = ", ".join(f"*{suffix}" for suffix in suffixes)
        raise UsageError(f"{', '.join(map(str, paths))}: there are no files {expected} in it")
    pairs = []
    for file in files:
        for number, (where, record) in enumerate(_read_records(file), 1):
            # BLiMP's files have both fields; of other files, the place in the file and the file's name identify a pair.
            names = {"pairID": record.get("pair_id", number), **record, "UID": record.get("UID") or file.stem}
            pairs.append(build_pair(names, where))
    if not pairs:
        raise FormatError(f"{', '.join(map(str, paths))}: there are no minimal pairs in it")
    return pairs


def _list_files(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in suffixes)


def _read_records(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place and the record, with BLiMP's fields, of each pair in a file."""
    if file.suffix not in TABLES:
        yield from read_values(file, keys=TEXTS)
        return
    for where, fields in read_named_rows(file, TABLE_TEXTS, aliases=COLUMN_ALIASES):
        texts = {text: fields.pop(name) for text, name in zip(TEXTS, TABLE_TEXTS, strict=True)}
        yield where, texts | fields


def build_pair(record: Mapping[str, Any], where: str = "record") -> SentencePair:
    """Convert a record with BLiMP's fields to a minimal pair. Raises FormatError, which begins with *where*."""
    good, bad = (text if isinstance(text := record.get(name), str) else "" for name in TEXTS)
    if not (good.strip() and bad.strip()):
        raise FormatError(f"{where}: not a minimal pair; the texts {' and '.join(TEXTS)} are expected")
    # Compared by words: a model sees no difference of mere spaces, so its answer would be a guess.
    if good.split() == bad.split():
        raise FormatError(f"{where}: not a minimal pair; both sentences are {good!r}")
    uid, term = (str(record.get(name) or "") for name in ("UID", "linguistics_term"))
    pair_id = str(record.get("pairID", ""))
    columns = {name: str(value) for name, value in record.items() if isinstance(value, str | int | float)}
    if term == AGREEMENT and (annotation := record.get("annotation")):
        try:
            columns |= describe_agreement(good, bad, annotation["tokens"])
        except (LookupError, TypeError, AttributeError, ValueError):
            raise FormatError(f"{where}: the annotation is not in the format that gen minimal writes") from None
    return SentencePair(good, bad, uid, term, pair_id, columns)


def compare_scores(good: Iterable[float], bad: Iterable[float]) -> PairAnswers:
    """Return whether the good sentence of each pair scores higher; the mean of both rows counts a tie as half."""
    columns = np.array([[*good], [*bad]])
    return np.array([columns[0] >= columns[1], columns[0] > columns[1]])


def number_units(pairs: Sequence[SentencePair]) -> list[int]:
    """Return the unit of each pair, a hash number. Good sentences with the same words, in any order, share a unit."""
    return [hash_words(sorted(pair.good.split())) for pair in pairs]


def answer_by_frequency(pairs: Sequence[SentencePair], units: Sequence[int]) -> PairAnswers:
    """Return the answers of unigram models; each half of the units is scored with counts from the other half.

    Only good sentences are counted. A sentence's score is the sum of log((count + 1) / (number of all words + 1)) over
    its words. It is computed by ``fsum``, so that it does not depend on the order of words.
    """
    # Halves, since counts that include the sentence itself would prefer any good sentence with a rare word.
    counts = [Counter[str](), Counter[str]()]  # of even and of odd units
    for pair, unit in zip(pairs, units, strict=True):
        counts[unit % 2].update(pair.good.split())
    totals = [words.total() + 1 for words in counts]

    def score(text: str, unit: int) -> float:
        half = 1 - unit % 2
        return fsum(log((counts[half][word] + 1) / totals[half]) for word in text.split())

    good, bad = ([pair.good for pair in pairs], [pair.bad for pair in pairs])
    return compare_scores(map(score, good, units), map(score, bad, units))
