"""Sentences in CoNLL-U, the format of Universal Dependencies.

A line with a range (``1-2``) describes a token of several words. Empty nodes (``8.1``) are skipped. A comment
``# tree = (S ...)``, which ``gen`` writes, gives the constituents.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sentprobe.common.errors import SentprobeError, format_count
from sentprobe.common.reading import shorten_line

_COLUMNS = 10
_TREE = "# tree = "
_SENTENCE_ID = re.compile(r"# *sent_id *= *(.*\S)")
_RANGE = re.compile("([1-9][0-9]{0,5})-([1-9][0-9]{0,5})")
_FEATURE = re.compile(r"[^=\s+]+=[^=\s+]+")
_MAX_HEAD_DIGITS = 9
"""Maximum number of digits in the number of a head."""


class ConlluError(SentprobeError):
    """A mistake in a line of a block; *offset* is the number of the block's lines before this line."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class ConlluSentence(NamedTuple):
    """A sentence in CoNLL-U; the first six fields are columns, with a text or number for each word."""

    forms: tuple[str, ...]
    xpos: tuple[str, ...]
    heads: tuple[int, ...]
    """The number of each word's head, from 1, and 0 for the root."""
    relations: tuple[str, ...]
    tags: tuple[str, ...]
    """UPOS with features: ``NOUN|Number=Plur``; ``_`` if unknown."""
    lemmas: tuple[str, ...]
    ranges: tuple[tuple[int, int, str], ...]
    """The start, end and form of each multiword token, such as ``(0, 2, "im")``; words are numbered from 0."""
    tree: str | None
    sentence_id: str | None


def parse_conllu(block: Sequence[str]) -> ConlluSentence:
    """Return the sentence of a block of lines, which have no line ends. Raises ConlluError."""
    tree = next((line.removeprefix(_TREE) for line in block if line.startswith(_TREE)), None)
    sentence_id = next((match[1] for line in block if (match := _SENTENCE_ID.match(line))), None)
    rows: list[tuple[str, str, int, str, str, str]] = []
    ranges: list[tuple[int, int, str]] = []
    empty_nodes = range_offset = 0
    for offset, line in enumerate(block):
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != _COLUMNS:
            columns = format_count(len(cells), "column")
            raise ConlluError(f"{columns}, expected {_COLUMNS} with tabs between them", offset)
        if "." in cells[0]:
            empty_nodes += 1
            _check_number(cells[0], f"{len(rows)}.{empty_nodes}", "empty node", offset)
        elif "-" in cells[0]:
            ranges.append(_read_range(cells, len(rows), ranges[-1][1] if ranges else 0, offset))
            range_offset = offset
        else:
            rows.append(_read_word(cells, offset))
            _check_number(cells[0], str(len(rows)), "token", offset)
            empty_nodes = 0
    if not rows:
        raise ConlluError("a block without a token", 0)
    if ranges and ranges[-1][1] > len(rows):
        raise ConlluError(f"a range ends at word {ranges[-1][1]}, but there are {len(rows)} words", range_offset)
    forms, xpos, heads, relations, tags, lemmas = zip(*rows, strict=True)
    return ConlluSentence(forms, xpos, heads, relations, tags, lemmas, tuple(ranges), tree, sentence_id)


def _check_number(number: str, expected: str, kind: str, offset: int) -> None:
    if number != expected:
        raise ConlluError(f"{kind} {expected} has the number {number!r}", offset)


def _read_range(cells: Sequence[str], word_count: int, previous_end: int, offset: int) -> tuple[int, int, str]:
    """Return the start, end and form of a multiword token, such as (0, 2, "im") for the range 1-2."""
    bounds = _RANGE.fullmatch(cells[0])
    if bounds is None or not previous_end < int(bounds[1]) == word_count + 1 <= int(bounds[2]):
        raise ConlluError(f"the range {cells[0]} is not at its place: word {word_count + 1} comes next", offset)
    return word_count, int(bounds[2]), cells[1]


def _read_word(cells: Sequence[str], offset: int) -> tuple[str, str, int, str, str, str]:
    """Return the form, XPOS, head, relation, UPOS with features, and lemma of a word."""
    features = [] if cells[5] == "_" else cells[5].split("|")
    if not all(map(_FEATURE.fullmatch, features)):
        form, found = map(shorten_line, (cells[1], cells[5]))
        raise ConlluError(f"the features of {form!r} are {found!r}, not Name=Value|...", offset)
    tag = "|".join((cells[3], *sorted(features, key=str.lower)))
    try:
        return cells[1], cells[4], read_head(cells[6]), cells[7], tag, cells[2]
    except ValueError as error:
        raise ConlluError(f"the head of {shorten_line(cells[1])!r} is {error}", offset) from None


def read_head(text: str) -> int:
    """Return the number of a token's head. Raises ValueError if *text* is not a number, or has too many digits."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{shorten_line(text)!r}, not a number")
    if len(text) > _MAX_HEAD_DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)
