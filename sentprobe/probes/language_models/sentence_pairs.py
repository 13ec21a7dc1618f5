"""Minimal pairs with BLiMP's fields: read them, find changed words, predict the good sentence by word frequencies."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import fsum, log
from os.path import commonprefix
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.disk.inputs import record_input
from sentprobe.errors import FormatError, UsageError
from sentprobe.generator.pairs.drafts import hash_words
from sentprobe.probes.formats.jsonl import read_values
from sentprobe.probes.language_models.agreement import AGREEMENT, describe_agreement

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

        >>> SentencePair("the men sleep .", "the men sleeps .").find_regions()
        ((8, 13), (8, 14))
        >>> SentencePair("did he go ?", "did he not go ?").find_regions()
        ((7, 9), (7, 13))
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


def read_pairs(paths: Iterable[Path]) -> list[SentencePair]:
    """Read minimal pairs from JSONL files, or folders of JSONL files. Raises UsageError or FormatError."""
    paths = [*paths]
    for path in paths:
        record_input(path)
    files = [*chain.from_iterable(sorted(path.glob("*.jsonl")) if path.is_dir() else [path] for path in paths)]
    if not files:
        raise UsageError(f"{', '.join(map(str, paths))}: there are no files *.jsonl in it")
    pairs = []
    for file in files:
        for number, (where, record) in enumerate(read_values(file, keys=TEXTS), 1):
            names = {"pairID": record.get("pair_id", number), **record, "UID": record.get("UID") or file.stem}
            pairs.append(build_pair(names, where))
    if not pairs:
        raise FormatError(f"{', '.join(map(str, paths))}: there are no minimal pairs in it")
    return pairs


def build_pair(record: Mapping[str, Any], where: str = "record") -> SentencePair:
    """Convert a record with BLiMP's fields to a minimal pair. Raises FormatError, which begins with *where*."""
    good, bad = (text if isinstance(text := record.get(name), str) else "" for name in TEXTS)
    if not (good.strip() and bad.strip()):
        raise FormatError(f"{where}: not a minimal pair; the texts {' and '.join(TEXTS)} are expected")
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
    """Return whether the good sentence of each pair scores higher, (2, n); a tie is True in row 0, False in row 1.

    >>> compare_scores([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]).mean(axis=0).tolist()
    [0.0, 0.5, 1.0]
    """
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
