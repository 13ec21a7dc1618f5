"""The file formats of a corpus. The main process splits a file into pieces (such as lines); workers read pieces."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from sentprobe.probes.syntax.conllu import read_block, read_head
from sentprobe.probes.syntax.tree_files import FilePiece, read_trees, split_trees
from sentprobe.probes.syntax.trees import Mistake, ParsedSentence, shorten
from sentprobe.values import BadSyntaxError, parse_json

MAX_PARAGRAPH = 100_000
"""The number of characters after which a paragraph is cut at the end of a line."""


class TextUnit(StrEnum):
    """Whether a text is running text, a sentence, or a tokenised sentence."""

    TEXT = "text"
    SENTENCE = "sentence"
    TOKENS = "tokens"


class RawText(NamedTuple):
    """A text that is not parsed: running text, a sentence, or tokens separated by spaces."""

    text: str
    holds: TextUnit
    written: tuple[str, ...] = ()
    """The original spelling of the tokens, before quotes and dashes were normalised; empty if it is the same."""


ReadPiece: TypeAlias = ParsedSentence | RawText | Mistake


@dataclass(frozen=True, slots=True)
class RecordFields:
    """The settings for reading JSONL and Parquet files: the name of the column or key, and the unit of its texts."""

    column: str = "text"
    """The Parquet column or JSON key of the text."""
    holds: TextUnit = TextUnit.TEXT


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """A file format of a corpus."""

    name: str
    suffixes: tuple[str, ...]
    split: Callable[[Iterable[str]], Iterator[FilePiece | Mistake]]
    read: Callable[[FilePiece, RecordFields], Iterable[ReadPiece]]
    parsed: bool = False
    """Whether files of this format contain parses, so that no parser is needed."""


def split_lines(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield each non-empty line as a piece."""
    for number, line in enumerate(lines, 1):
        if text := line.strip():
            yield FilePiece(text, number)


def split_paragraphs(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield each block of lines between empty lines as a piece in which line breaks are replaced by spaces."""
    paragraph: list[str] = []
    first = size = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if paragraph and (not text or size > MAX_PARAGRAPH):
            yield FilePiece(" ".join(paragraph), first)
            paragraph, size = [], 0
        if text:
            first = first if paragraph else number
            paragraph.append(text)
            size += len(text)
    if paragraph:
        yield FilePiece(" ".join(paragraph), first)


def split_blocks(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield one piece for each block of lines, such as a sentence in CoNLL-U. Blank lines separate blocks."""
    for has_text, group in groupby(enumerate(lines, 1), key=lambda entry: bool(entry[1].strip())):
        if has_text:
            block = list(group)
            yield FilePiece("".join(line for _, line in block), block[0][0])


def _read_trees(piece: FilePiece, _: RecordFields) -> Iterator[ReadPiece]:
    for tree in read_trees(piece):
        yield tree if isinstance(tree, Mistake) else ParsedSentence(tree=tree)


def _read_conllu(piece: FilePiece, _: RecordFields) -> Iterator[ReadPiece]:
    yield read_block([line.rstrip("\r") for line in piece.text.removesuffix("\n").split("\n")], piece.line)


def _make_text_reader(holds: TextUnit) -> Callable[[FilePiece, RecordFields], list[ReadPiece]]:
    return lambda piece, _: [RawText(piece.text, holds)]


def _read_json(piece: FilePiece, reading: RecordFields) -> list[ReadPiece]:
    try:
        record = parse_json(piece.text)
    except BadSyntaxError as error:
        return [_make_mistake(piece, f"not JSON: {error.reason}")]
    if not isinstance(record, dict):
        return [_make_mistake(piece, "not a JSON object with a text")]
    tokens, text = record.get("tokens"), record.get(reading.column)
    columns = tokens if isinstance(tokens, dict) else record
    if "tree" in record and "xpos" in columns and "form" in columns:
        return [_read_generated(piece, columns, record["tree"])]
    if isinstance(text, list) and text and all(isinstance(word, str) for word in text):
        return [RawText(" ".join("_".join(word.split()) for word in text), TextUnit.TOKENS)]
    if not isinstance(text, str):
        keys = ", ".join(map(repr, record)) or "nothing"
        return [_make_mistake(piece, f"no text under {reading.column!r}; the record has {keys}")]
    return [RawText(text, reading.holds) if text.strip() else _make_mistake(piece, "an empty text")]


def _read_generated(piece: FilePiece, columns: Mapping[str, Any], tree: object) -> ReadPiece:
    try:
        return ParsedSentence(
            tokens=tuple(map(str, columns["form"])),
            tags=tuple(map(str, columns["xpos"])),
            tree=str(tree),
            heads=tuple(map(read_head, map(str, columns.get("head", ())))),
            relations=tuple(map(str, columns.get("deprel", ()))),
        )
    except (TypeError, ValueError) as error:
        return _make_mistake(piece, f"not a sentence as written by gen: {error}")


def _make_mistake(piece: FilePiece, message: str) -> Mistake:
    return Mistake(piece.line, message, shorten(piece.text))


PARQUET = "parquet"
TREE_SUFFIXES = (".mrg", ".trees", ".tree", ".prd", ".penn", ".ptb", ".parse", ".brackets")

FORMATS: Mapping[str, CorpusFormat] = {
    fmt.name: fmt
    for fmt in (
        CorpusFormat("text", (".txt", ".text"), split_paragraphs, _make_text_reader(TextUnit.TEXT)),
        CorpusFormat("lines", (), split_lines, _make_text_reader(TextUnit.SENTENCE)),
        CorpusFormat("tokens", (".tok",), split_lines, _make_text_reader(TextUnit.TOKENS)),
        CorpusFormat("trees", TREE_SUFFIXES, split_trees, _read_trees, parsed=True),
        CorpusFormat("conllu", (".conllu", ".conll"), split_blocks, _read_conllu, parsed=True),
        CorpusFormat("jsonl", (".jsonl", ".ndjson"), split_lines, _read_json),
        CorpusFormat(PARQUET, (".parquet",), split_lines, _read_json),
    )
}
"""All formats by name. ``text`` is running text, ``lines`` has a sentence per line, and ``tokens`` a tokenised sentence
per line. The rows of Parquet files are read as lines of JSON (:mod:`.sources`)."""
