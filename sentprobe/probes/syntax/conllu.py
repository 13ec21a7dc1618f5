"""CoNLL-U as a stream: each sentence with its dependencies, or what is wrong with it and where.

A sentence is a block of lines, ended by an empty one:

    block ::= comment* token+ ""
    token ::= ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC, separated by tabs

Ranges (``1-2``) and empty nodes (``8.1``) are no tokens and are passed over. Penn tags are those
of XPOS. A comment ``# tree = (S ...)``, as in what ``gen`` writes, gives the constituents too.
"""

from collections.abc import Iterable, Iterator, Sequence

from sentprobe.errors import SentprobeError
from sentprobe.probes.syntax.trees import Mistake, Parsed, shorten

_COLUMNS = 10
_TREE = "# tree = "
_LONGEST_HEAD = 9
"""The digits of a head: no sentence has more tokens."""


class _LineError(SentprobeError):
    """What is wrong with one line of a block, which is *offset* lines after its first."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def read_conllu(lines: Iterable[str], *, trees: bool = True) -> Iterator[Parsed | Mistake]:
    """Yield the sentences of *lines* in order, and a mistake in place of each that is broken.

    Without *trees* a tree in a comment is passed over, so that labels come from dependencies.
    """
    block: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            block.append(line.rstrip("\r\n"))
        elif block:
            yield _sentence(block, number - len(block), trees=trees)
            block = []
    if block:
        yield _sentence(block, number - len(block) + 1, trees=trees)


def _sentence(block: Sequence[str], first: int, *, trees: bool) -> Parsed | Mistake:
    try:
        return _parsed(block, trees=trees)
    except _LineError as error:
        line = block[error.offset]
        return Mistake(first + error.offset, str(error), shorten(line))


def _parsed(block: Sequence[str], *, trees: bool) -> Parsed:
    tree = next((line.removeprefix(_TREE) for line in block if line.startswith(_TREE)), None)
    rows = []
    for offset, line in enumerate(block):
        cells = line.split("\t")
        if not line.startswith("#") and _is_token(cells, offset):
            rows.append((cells[1], cells[4], _head(cells, offset), cells[7]))
            if cells[0] != str(len(rows)):
                raise _LineError(f"token {len(rows)} has the number {cells[0]!r}", offset)
    if not rows:
        raise _LineError("a block without a token", 0)
    tokens, tags, heads, relations = zip(*rows, strict=True)
    return Parsed(
        tokens=tokens,
        tags=tags,
        tree=tree if trees else None,
        heads=heads,
        relations=relations,
    )


def _is_token(cells: Sequence[str], offset: int) -> bool:
    if len(cells) != _COLUMNS:
        columns = "column" if len(cells) == 1 else "columns"
        raise _LineError(
            f"{len(cells)} {columns}, expected {_COLUMNS} with tabs between them", offset
        )
    return "-" not in cells[0] and "." not in cells[0]


def _head(cells: Sequence[str], offset: int) -> int:
    try:
        return read_head(cells[6])
    except ValueError as error:
        raise _LineError(f"the head of {shorten(cells[1])!r} is {error}", offset) from None


def read_head(text: str) -> int:
    """Return the number of a token's head.

    Raises:
        ValueError: it is none that a sentence could have; says what it is.

    >>> read_head("3")
    3
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{shorten(text)!r}, not a number")
    if len(text) > _LONGEST_HEAD:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)
