"""The formats of a corpus: how a file falls into pieces, and what is read from a piece.

Splitting is quick and happens where the files are; reading is the work of the workers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from sentprobe.probes.syntax.conllu import read_conllu, read_head
from sentprobe.probes.syntax.tree_texts import TreeText, split_trees, trees_of
from sentprobe.probes.syntax.trees import Mistake, Parsed, shorten
from sentprobe.values import BadSyntaxError, parse_json

PARAGRAPH = 100_000
"""Lines of text without an empty line between them are cut after so many characters."""


class FilePiece(NamedTuple):
    """A part of a file that can be read on its own, and the line (or row) that it begins in."""

    text: str
    line: int


class Holds(StrEnum):
    """What a text is: running text, one sentence, or one sentence in tokens."""

    TEXT = "text"
    SENTENCE = "sentence"
    TOKENS = "tokens"


class Raw(NamedTuple):
    """A text that is not parsed, and what it is; tokens are separated by spaces."""

    text: str
    holds: Holds
    written: tuple[str, ...] = ()
    """Of tokens with straight marks: as they are in the corpus; empty: the same."""


ReadPiece: TypeAlias = Parsed | Raw | Mistake


@dataclass(frozen=True, slots=True)
class RecordFields:
    """What the user says of files that have texts in records."""

    column: str = "text"
    """The column, or key, with the text."""
    holds: Holds = Holds.TEXT


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """A format: its name and suffixes, how it is split, and how a piece of it is read."""

    name: str
    suffixes: tuple[str, ...]
    split: Callable[[Iterable[str]], Iterator[FilePiece | Mistake]]
    read: Callable[[FilePiece, RecordFields], Iterable[ReadPiece]]
    summary: str
    parsed: bool = False
    """Whether it holds parses, so that it needs no parser."""


def split_lines(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield each line that is not empty."""
    for number, line in enumerate(lines, 1):
        if text := line.strip():
            yield FilePiece(text, number)


def split_paragraphs(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield the lines between empty ones as one text each; a line break in it is a space."""
    held: list[str] = []
    first = size = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if held and (not text or size > PARAGRAPH):
            yield FilePiece(" ".join(held), first)
            held, size = [], 0
        if text:
            first = first if held else number
            held.append(text)
            size += len(text)
    if held:
        yield FilePiece(" ".join(held), first)


def split_blocks(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield the lines between empty ones as they are."""
    held: list[str] = []
    first = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            first = first if held else number
            held.append(line)
        elif held:
            yield FilePiece("".join(held), first)
            held = []
    if held:
        yield FilePiece("".join(held), first)


def _split_trees(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    for found in split_trees(lines):
        yield found if isinstance(found, Mistake) else FilePiece(found.text, found.line)


def _read_trees(piece: FilePiece, _: RecordFields) -> Iterator[ReadPiece]:
    for found in trees_of(TreeText(piece.text, piece.line)):
        yield found if isinstance(found, Mistake) else Parsed(tree=found)


def _read_conllu(piece: FilePiece, _: RecordFields) -> Iterator[ReadPiece]:
    for found in read_conllu(piece.text.split("\n")):
        if isinstance(found, Mistake):
            yield Mistake(found.line + piece.line - 1, found.message, found.text)
        else:
            yield found


def _read_text(holds: Holds) -> Callable[[FilePiece, RecordFields], Iterator[ReadPiece]]:
    def read(piece: FilePiece, _: RecordFields) -> Iterator[ReadPiece]:
        yield Raw(piece.text, holds)

    return read


def _read_json(piece: FilePiece, reading: RecordFields) -> Iterator[ReadPiece]:
    try:
        record = parse_json(piece.text)
    except BadSyntaxError as error:
        yield _mistake(piece, f"not JSON: {error.reason}")
        return
    if not isinstance(record, dict):
        yield _mistake(piece, "expected an object with a text in it, found another value")
        return
    yield _record(piece, record, reading)


def _record(piece: FilePiece, record: Mapping[str, Any], reading: RecordFields) -> ReadPiece:
    """Return what a record holds: a sentence as ``gen`` writes it, or a text."""
    tokens = record.get("tokens")
    columns = tokens if isinstance(tokens, dict) else record
    if "tree" in record and "xpos" in columns and "form" in columns:
        return _generated(piece, columns, record["tree"])
    text = record.get(reading.column)
    if isinstance(text, list) and text and all(isinstance(word, str) for word in text):
        return Raw(" ".join("_".join(word.split()) for word in text), Holds.TOKENS)
    if not isinstance(text, str):
        known = ", ".join(map(repr, record)) or "nothing"
        return _mistake(piece, f"no text under {reading.column!r}; the record has {known}")
    return Raw(text, reading.holds) if text.strip() else _mistake(piece, "an empty text")


def _generated(piece: FilePiece, columns: Mapping[str, Any], tree: object) -> ReadPiece:
    try:
        return Parsed(
            tokens=tuple(map(str, columns["form"])),
            tags=tuple(map(str, columns["xpos"])),
            tree=str(tree),
            heads=tuple(map(read_head, map(str, columns.get("head", ())))),
            relations=tuple(map(str, columns.get("deprel", ()))),
        )
    except (TypeError, ValueError) as error:
        return _mistake(piece, f"the sentence is not as gen writes it: {error}")


def _mistake(piece: FilePiece, message: str) -> Mistake:
    return Mistake(piece.line, message, shorten(piece.text))


PARQUET = "parquet"

FORMATS: Mapping[str, CorpusFormat] = {
    fmt.name: fmt
    for fmt in (
        CorpusFormat(
            "text",
            (".txt", ".text"),
            split_paragraphs,
            _read_text(Holds.TEXT),
            "running text; an empty line ends a paragraph",
        ),
        CorpusFormat("lines", (), split_lines, _read_text(Holds.SENTENCE), "a sentence a line"),
        CorpusFormat(
            "tokens",
            (".tok",),
            split_lines,
            _read_text(Holds.TOKENS),
            "a sentence a line, with a space between any two tokens",
        ),
        CorpusFormat(
            "trees",
            (".mrg", ".trees", ".tree", ".prd", ".penn", ".ptb", ".parse", ".brackets"),
            _split_trees,
            _read_trees,
            "Penn brackets",
            parsed=True,
        ),
        CorpusFormat(
            "conllu", (".conllu", ".conll"), split_blocks, _read_conllu, "CoNLL-U", parsed=True
        ),
        CorpusFormat("jsonl", (".jsonl", ".ndjson"), split_lines, _read_json, "an object a line"),
        CorpusFormat(
            PARQUET, (".parquet",), split_lines, _read_json, "a table with a text in each row"
        ),
    )
}
"""The formats by name. The rows of Parquet become lines of JSON (:mod:`.sources`)."""
