"""A user's texts, one a line, row or record, with their dependency parses; they are read in a stream."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from sentprobe.common.errors import FormatError, SentprobeError, UsageError, suggest
from sentprobe.generator.edits.edit_text import EditableText, RefusalError, build_editable_text
from sentprobe.probes.corpus.clear_relations import convert_clear_relations, is_clear
from sentprobe.probes.corpus.parsers import Parser, load_parser
from sentprobe.probes.corpus.sources import (
    FORMATS,
    STDIN,
    ChunkSize,
    RawText,
    RecordFields,
    Source,
    TextUnit,
    find_sources,
    make_chunks,
)
from sentprobe.probes.corpus.tree_files import read_block
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence, straighten
from sentprobe.probes.datasets.records import TABLES, read_table_rows

BATCH = 256
"""Number of texts that are parsed together."""
_CHUNK_SIZE = ChunkSize(pieces=BATCH, characters=1_000_000)
_WRITTEN_TEXT = re.compile(r"^# text = (.*)$", re.MULTILINE)
DEFAULT_COLUMN = "text"


class UserText(NamedTuple):
    """A text, and its parse in CoNLL-U, if the file has one."""

    text: str
    parse: ParsedSentence | None = None


def is_parsed(name: str, format: str | None = None) -> bool:
    """Return whether a file has parses: whether it is CoNLL-U by its format or, without one, by its name."""
    return ".conll" in Path(name).name.lower() if format is None else format == "conllu"


def read_user_texts(name: str, *, column: str | None = None, format: str | None = None) -> Iterator[UserText]:
    """Yield the texts of a file: lines of text, a column of CSV, TSV, JSONL or Parquet, or sentences of CoNLL-U.

    Raises UsageError (no such file, column or format), FormatError (a damaged row) or SentprobeError (no text).
    """
    is_table = Path(name).suffix.lower() in TABLES if format is None else format in ("csv", "tsv")
    texts = _read_table(Path(name), column, format) if is_table else _read_source(name, column, format)
    is_empty = True
    for text in texts:
        is_empty = False
        yield text
    if is_empty:
        raise SentprobeError(f"{name}: there is no text in it")


def _read_table(path: Path, column: str | None, format: str | None) -> Iterator[UserText]:
    if not path.is_file():
        find_sources([str(path)], format="lines")  # raises the error that names the nearest file
    rows = read_table_rows(path, suffix=f".{format}" if format else "")
    _, header = next(rows, ("", []))
    names = [cell.strip() for cell in header]
    chosen = column or (DEFAULT_COLUMN if DEFAULT_COLUMN in names or len(names) > 1 else "".join(names))
    if chosen not in names:
        hint = "" if column else "; name the column with --column"
        raise UsageError(
            f"{path}: there is no column {chosen!r}{suggest(chosen, names)}; it has {', '.join(names)}{hint}"
        )
    if names.count(chosen) > 1:
        raise FormatError(f"{path}: the column {chosen!r} is given twice")
    place = names.index(chosen)
    for where, row in rows:
        if len(row) != len(names):
            raise FormatError(f"{where}: {len(row)} fields, the first line names {len(names)}")
        yield UserText(row[place].strip())


def _read_source(name: str, column: str | None, format: str | None) -> Iterator[UserText]:
    if format is None and (name == STDIN or Path(name).suffix.lower() in ("", ".txt", ".text")):
        format = "lines"
    (source, *more) = find_sources([name], format=format)
    if more:
        raise UsageError(f"{name}: names several files; one is expected")
    if source.format in ("text", "tokens", "trees"):
        raise UsageError(
            f"{name}: the format {source.format} has no texts with dependencies; use lines, jsonl or conllu"
        )
    fields = RecordFields(column or DEFAULT_COLUMN, TextUnit.SENTENCE)
    for chunk in make_chunks([source], reading=fields, encoding="utf-8", size=_CHUNK_SIZE):
        for piece in chunk.pieces:
            if isinstance(piece, Mistake):
                raise FormatError(f"{name}: {piece}")
            if source.format == "conllu":
                yield _read_parsed(source, piece.text, piece.line)
                continue
            for result in FORMATS[source.format].read(piece, fields):
                if isinstance(result, Mistake):
                    raise FormatError(f"{name}: {result}")
                if isinstance(result, RawText):
                    yield UserText(result.text)


def _read_parsed(source: Source, block: str, line: int) -> UserText:
    lines = block.removesuffix("\n").split("\n")
    sentence = read_block([text.rstrip("\r") for text in lines], line)
    if isinstance(sentence, Mistake):
        raise FormatError(f"{source.name}: {sentence}")
    written = _WRITTEN_TEXT.search(block)
    return UserText(written[1].strip() if written else " ".join(sentence.tokens), sentence)


def parse_user_texts(
    texts: Iterable[UserText], spec: str | None, *, language: str
) -> Iterator[EditableText | tuple[str, str]]:
    """Yield each text with its parse, or as (text, reason why it has none). Without a parser, texts have no tokens.

    - spec: a parser, such as ``spacy:en_core_web_sm``; None for texts that are parsed already, or need no parse

    Raises UsageError for a parser without dependencies, and ParserError.
    """
    parser = None if spec is None else load_parser(spec)
    texts = iter(texts)
    while batch := [*islice(texts, BATCH)]:
        parses = _parse_batch(parser, spec or "", [text.text for text in batch]) if parser else [t.parse for t in batch]
        for text, parse in zip(batch, parses, strict=True):
            if not text.text:
                yield text.text, "the text is empty"
            elif isinstance(parse, str):
                yield text.text, f"the parser failed: {parse}"
            elif parse is None:
                yield EditableText(text.text, language=language)
            else:
                yield _align(text.text, parse, language, is_parsed_here=parser is not None)


def _parse_batch(parser: Parser, spec: str, texts: Sequence[str]) -> list[ParsedSentence | str | None]:
    """Return the parse of each text as one sentence, or the reason why it has none; None for an empty text."""
    tokens = [tuple(parser.tokenize(straighten(text).text)) for text in texts]
    full = [row for row, words in enumerate(tokens) if words]
    if any(texts) and not full:
        raise UsageError(f"--parser {spec}: has no tokenizer; use spacy or stanza")
    parses: list[ParsedSentence | str | None] = [None] * len(texts)
    for row, parse in zip(full, parser.parse([tokens[row] for row in full]), strict=True):
        if isinstance(parse, ParsedSentence) and not (parse.heads and parse.relations):
            raise UsageError(f"--parser {spec}: gives no dependencies; use spacy or stanza")
        parses[row] = parse
    return parses


def _align(text: str, parse: ParsedSentence, language: str, *, is_parsed_here: bool) -> EditableText | tuple[str, str]:
    """Return a text with its parse, in the characters that the user wrote."""
    straight = straighten(text) if is_parsed_here else None
    lemmas = parse.universal.lemmas if parse.universal else ()
    heads, relations = parse.heads, parse.relations
    if language == "en" and is_clear(relations):
        heads, relations = convert_clear_relations(parse.tokens, parse.tags, heads, relations)
    tags = parse.tags if not {"_", ""}.issuperset(parse.tags) else ("",) * len(parse.tokens)
    try:
        # A multiword token whose words do not add up to it keeps its form, in the place of its first word.
        forms = list(parse.tokens)
        for start, end, form in parse.universal.ranges if parse.universal else ():
            if "".join(forms[start:end]) != form:
                forms[start:end] = [form, *[""] * (end - start - 1)]
        parsed = build_editable_text(
            straight.text if straight else text, tuple(forms), tags, heads, relations, lemmas=lemmas, language=language
        )
    except RefusalError:
        return EditableText(text, language=language)
    if straight is None or straight.text == text:
        return parsed
    moved = tuple(
        token._replace(start=straight.starts[token.start], end=straight.starts[token.end]) for token in parsed.tokens
    )
    return EditableText(text, moved, parsed.children, language)
