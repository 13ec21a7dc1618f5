"""Parsing of CoNLL-U into sentences with dependencies; ranges (``1-2``) and empty nodes (``8.1``) are skipped.

A comment ``# tree = (S ...)``, which ``gen`` writes, has the constituents.
"""

from collections.abc import Sequence

from sentprobe.errors import SentprobeError
from sentprobe.probes.syntax.trees import Mistake, ParsedSentence, shorten

_COLUMNS = 10
_TREE = "# tree = "
_MAX_HEAD_DIGITS = 9
"""Maximum number of digits of a head."""


class _LineError(SentprobeError):
    """A mistake in a line of a block; *offset* is the number of lines before it."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def read_block(block: Sequence[str], first: int) -> ParsedSentence | Mistake:
    """Return the sentence in the lines of *block*, or its mistake; *first* is the number of the first line."""
    try:
        return _parse_block(block)
    except _LineError as error:
        return Mistake(first + error.offset, str(error), shorten(block[error.offset]))


def _parse_block(block: Sequence[str]) -> ParsedSentence:
    tree = next((line.removeprefix(_TREE) for line in block if line.startswith(_TREE)), None)
    rows = []
    for offset, line in enumerate(block):
        cells = line.split("\t")
        if not line.startswith("#") and _is_token(cells, offset):
            rows.append((cells[1], cells[4], _read_head_cell(cells, offset), cells[7]))
            if cells[0] != str(len(rows)):
                raise _LineError(f"token {len(rows)} has the number {cells[0]!r}", offset)
    if not rows:
        raise _LineError("a block without a token", 0)
    tokens, tags, heads, relations = zip(*rows, strict=True)
    return ParsedSentence(tokens=tokens, tags=tags, tree=tree, heads=heads, relations=relations)


def _is_token(cells: Sequence[str], offset: int) -> bool:
    if len(cells) != _COLUMNS:
        columns = "column" if len(cells) == 1 else "columns"
        raise _LineError(f"{len(cells)} {columns}, expected {_COLUMNS} with tabs between them", offset)
    return "-" not in cells[0] and "." not in cells[0]


def _read_head_cell(cells: Sequence[str], offset: int) -> int:
    try:
        return read_head(cells[6])
    except ValueError as error:
        raise _LineError(f"the head of {shorten(cells[1])!r} is {error}", offset) from None


def read_head(text: str) -> int:
    """Return the number of a token's head; raise ValueError if it is no number, or larger than any sentence."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{shorten(text)!r}, not a number")
    if len(text) > _MAX_HEAD_DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)
