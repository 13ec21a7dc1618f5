"""Minimal pairs from files with the fields of BLiMP, their changed words, and the accuracy of word frequencies."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum, log
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.disk.files import decode_lines
from sentprobe.errors import FormatError, UsageError, path_error
from sentprobe.generator.pairs.drafts import hash_words
from sentprobe.values import BadSyntaxError, parse_json

GOOD, BAD = "sentence_good", "sentence_bad"

Answers: TypeAlias = NDArray[np.bool_]
"""Two values for each pair, (2, n): both are true if the good sentence scores higher, one if the scores are equal."""

Span: TypeAlias = tuple[int, int]
"""The start and end of a part of a text, in characters."""


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """A grammatical and an ungrammatical sentence."""

    good: str
    bad: str
    paradigm: str
    phenomenon: str
    pair_id: str

    def find_regions(self) -> tuple[Span, Span]:
        """Return the span from the first to the last changed word in each sentence.

        If a span is empty, both have one word more: the next or, at the end, the one before.

        >>> MinimalPair("the men sleep .", "the men sleeps .", "", "", "").find_regions()
        ((8, 13), (8, 14))
        >>> MinimalPair("did he go ?", "did he not go ?", "", "", "").find_regions()
        ((7, 9), (7, 13))
        """
        words = [[match.span() for match in re.finditer(r"\S+", text)] for text in (self.good, self.bad)]
        texts = [text.split() for text in (self.good, self.bad)]
        shorter = min(map(len, texts))
        start = next((i for i in range(shorter) if texts[0][i] != texts[1][i]), shorter)
        after = next((i for i in range(shorter - start) if texts[0][-1 - i] != texts[1][-1 - i]), shorter - start)
        if start + after == shorter:
            start, after = (start, after - 1) if after else (start - 1, after)
        good, bad = ((spans[start][0], spans[len(spans) - 1 - after][1]) for spans in words)
        return good, bad


def read_pairs(paths: Iterable[Path]) -> list[MinimalPair]:
    """Return the pairs of JSONL files, and of the files ``*.jsonl`` in folders.

    Raises:
        UsageError: a path does not exist, or a folder has no such file.
        FormatError: a line is no pair of sentences, or a file is empty.
    """
    return [pair for path in paths for file in _list_files(path) for pair in _read_file(file)]


def _list_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    if files := sorted(path.glob("*.jsonl")):
        return files
    raise UsageError(f"{path}: the folder has no file *.jsonl")


def _read_file(path: Path) -> Iterator[MinimalPair]:
    number = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(decode_lines(file), 1):
                if line.strip():
                    yield _parse_pair(line, number, path)
    except BadSyntaxError as error:
        raise FormatError(f"{path}: line {number + 1}: {error}") from None
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=FormatError) from error
    if not number:
        raise FormatError(f"{path}: the file is empty")


def _parse_pair(line: str, number: int, path: Path) -> MinimalPair:
    record: Any = parse_json(line)
    for name in (GOOD, BAD):
        text = record.get(name) if isinstance(record, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise FormatError(f"line {number}: {name!r} must be a sentence")
    pair_id = record.get("pair_id", record.get("pairID", number))
    paradigm, phenomenon = record.get("UID") or path.stem, record.get("linguistics_term") or ""
    return MinimalPair(record[GOOD], record[BAD], str(paradigm), str(phenomenon), str(pair_id))


def number_units(pairs: Sequence[MinimalPair]) -> list[int]:
    """Return a number for the words of each good sentence."""
    return [hash_words(sorted(pair.good.split())) for pair in pairs]


def compare_scores(good: Iterable[float], bad: Iterable[float]) -> Answers:
    """Return which good sentences have the higher score.

    >>> compare_scores([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]).mean(axis=0).tolist()
    [0.0, 0.5, 1.0]
    """
    columns = np.array([[*good], [*bad]])
    return np.array([columns[0] >= columns[1], columns[0] > columns[1]])


def answer_by_frequency(pairs: Sequence[MinimalPair], units: Sequence[int]) -> Answers:
    """Return the answers of a unigram model, which counts words in the good sentences of the other half of the units.

    A sentence's score is the sum of the logarithms of its words' counts plus one, over the number of all words plus
    one. ``fsum`` makes it independent of their order.
    """
    counts = [Counter[str](), Counter[str]()]
    for pair, unit in zip(pairs, units, strict=True):
        counts[unit % 2].update(pair.good.split())
    totals = [words.total() + 1 for words in counts]

    def score(text: str, half: int) -> float:
        return fsum(log((counts[half][word] + 1) / totals[half]) for word in text.split())

    halves = [1 - unit % 2 for unit in units]
    good, bad = ([pair.good for pair in pairs], [pair.bad for pair in pairs])
    return compare_scores(map(score, good, halves), map(score, bad, halves))
