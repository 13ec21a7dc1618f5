"""Parsing of CoNLL-U files into sentences with dependencies.

A line with a range (``1-2``) describes a token of several words. Empty nodes (``8.1``) are skipped. The column XPOS
gives the Penn tags. A comment ``# tree = (S ...)``, which ``gen`` writes, gives the constituents.
"""

import re
from collections.abc import Sequence

from sentprobe.errors import SentprobeError, format_count
from sentprobe.probes.syntax.trees import Mistake, ParsedSentence, UniversalWords, shorten

_COLUMNS = 10
_TREE = "# tree = "
_SENTENCE_ID = re.compile(r"# *sent_id *= *(.*\S)")
_RANGE = re.compile("([1-9][0-9]{0,5})-([1-9][0-9]{0,5})")
_FEATURE = re.compile(r"[^=\s+]+=[^=\s+]+")
_MAX_HEAD_DIGITS = 9
"""Maximum number of digits in the number of a head."""


class _LineError(SentprobeError):
    """A mistake in a line of a block; *offset* is the number of the block's lines before this line."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def read_block(block: Sequence[str], first: int) -> ParsedSentence | Mistake:
    """Return the sentence in *block*, or the first mistake in the block; *first* is the number of the first line."""
    try:
        return _parse_block(block)
    except _LineError as error:
        return Mistake(first + error.offset, str(error), shorten(block[error.offset]))


def _parse_block(block: Sequence[str]) -> ParsedSentence:
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
            raise _LineError(f"{columns}, expected {_COLUMNS} with tabs between them", offset)
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
        raise _LineError("a block without a token", 0)
    if ranges and ranges[-1][1] > len(rows):
        raise _LineError(f"a range ends at word {ranges[-1][1]}, but there are {len(rows)} words", range_offset)
    tokens, tags, heads, relations, word_tags, lemmas = zip(*rows, strict=True)
    universal = None if {"_"}.issuperset(word_tags) else UniversalWords(word_tags, lemmas, tuple(ranges))
    return ParsedSentence(
        tokens=tokens,
        tags=tags,
        tree=tree,
        heads=heads,
        relations=relations,
        universal=universal,
        sentence_id=sentence_id,
    )


def _check_number(number: str, expected: str, kind: str, offset: int) -> None:
    if number != expected:
        raise _LineError(f"{kind} {expected} has the number {number!r}", offset)


def _read_range(cells: Sequence[str], word_count: int, previous_end: int, offset: int) -> tuple[int, int, str]:
    """Return the start, end and form of a multiword token, such as (0, 2, "im") for the range 1-2."""
    bounds = _RANGE.fullmatch(cells[0])
    if bounds is None or not previous_end < int(bounds[1]) == word_count + 1 <= int(bounds[2]):
        raise _LineError(f"the range {cells[0]} is not at its place: word {word_count + 1} comes next", offset)
    return word_count, int(bounds[2]), cells[1]


def _read_word(cells: Sequence[str], offset: int) -> tuple[str, str, int, str, str, str]:
    """Return the form, XPOS, head, relation, UPOS with features, and lemma of a word."""
    features = [] if cells[5] == "_" else cells[5].split("|")
    if not all(map(_FEATURE.fullmatch, features)):
        raise _LineError(f"the features of {shorten(cells[1])!r} are {shorten(cells[5])!r}, not Name=Value|...", offset)
    tag = "|".join((cells[3], *sorted(features, key=str.lower)))
    try:
        return cells[1], cells[4], read_head(cells[6]), cells[7], tag, cells[2]
    except ValueError as error:
        raise _LineError(f"the head of {shorten(cells[1])!r} is {error}", offset) from None


def read_head(text: str) -> int:
    """Return the number of a token's head. Raises ValueError if *text* is not a number, or has too many digits."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{shorten(text)!r}, not a number")
    if len(text) > _MAX_HEAD_DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)
