"""The work on one chunk, a pure function: from pieces of a file to the bytes of its rows.

It runs in a worker process, here or on another machine, and sends bytes back: a worker needs none
of the files of the corpus and writes none.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.corpus.recipe import Recipe, load_splitter, load_tokenizer
from sentprobe.probes.corpus.sources import Chunk
from sentprobe.probes.corpus.text_formats import FORMATS, Holds, Raw, ReadPiece
from sentprobe.probes.syntax.parser import Parser, ParserOutcome
from sentprobe.probes.syntax.parsers import NO_PARSER, load_parser
from sentprobe.probes.syntax.rows import Row, RowError, analyse
from sentprobe.probes.syntax.trees import Mistake, Parsed, plain_word, shorten
from sentprobe.probes.syntax.typography import straight_word, straighten, written_forms
from sentprobe.versions import own_version

if TYPE_CHECKING:
    import pyarrow as pa


BATCH = 256
"""So many sentences go to the parser at a time, and so many rows into a record batch."""

HEAD = b"sentprobe"
"""The key of the head among the metadata of a chunk's rows."""

_parsing = Lock()
"""Parsers are used by one thread at a time; a Dask worker may have several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A sentence that has no row: where it is, why, and how it begins."""

    source: str
    line: int
    message: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkHead:
    """What is known of a chunk besides its rows."""

    key: str
    source: str
    sentences: int
    """With those that failed."""
    rows: int
    failures: tuple[Failure, ...]
    version: str = own_version()

    def to_json(self) -> dict[str, Any]:
        """Return it as a value that :mod:`json` can write."""
        failures = [[each.line, each.message, each.text] for each in self.failures]
        return {
            "version": self.version,
            "key": self.key,
            "source": self.source,
            "sentences": self.sentences,
            "rows": self.rows,
            "failures": failures,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "ChunkHead":
        """Return the inverse of :meth:`to_json`."""
        failures = tuple(
            Failure(source=value["source"], line=line, message=message, text=text)
            for line, message, text in value["failures"]
        )
        return cls(**(value | {"failures": failures}))


class _Item(NamedTuple):
    """Something that was read, and the line that it is in."""

    line: int
    found: ReadPiece


def work_on(chunk: Chunk, recipe: Recipe, key: str) -> bytes:
    """Return the rows of *chunk* as an Arrow file, with a :class:`ChunkHead` in its metadata.

    Places count from 0 at the beginning of the chunk. A sentence that cannot be read or parsed is
    a failure in the head.

    Raises:
        ParserError: the parser cannot be used.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import

    from sentprobe.probes.syntax.row_columns import SCHEMA, record_batch  # noqa: PLC0415

    failures: list[Failure] = []
    rows: list[Row] = []
    batches: list[pa.RecordBatch] = []
    sentences = 0
    for sentences, (line, outcome) in enumerate(_outcomes(chunk, recipe), 1):
        row = _row(outcome, chunk.source.name, sentences - 1)
        if isinstance(row, Row):
            rows.append(row)
        else:
            failures.append(_failure(chunk.source.name, line, row))
        if len(rows) == BATCH:
            batches.append(record_batch(rows))
            rows = []
    batches.append(record_batch(rows))
    head = ChunkHead(
        key=key,
        source=chunk.source.name,
        sentences=sentences,
        rows=sentences - len(failures),
        failures=tuple(failures),
    )
    return _write(batches, SCHEMA.with_metadata({HEAD: json.dumps(head.to_json())}))


def _write(batches: "Sequence[pa.RecordBatch]", schema: "pa.Schema") -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - slow import

    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    table = pa.Table.from_batches(batches).combine_chunks().replace_schema_metadata(schema.metadata)
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _row(outcome: Parsed | Mistake, source: str, place: int) -> Row | Mistake:
    if isinstance(outcome, Mistake):
        return outcome
    try:
        return analyse(replace(outcome, source=source, place=place))
    except RowError as error:
        return Mistake(0, str(error), shorten(" ".join(outcome.tokens)))


def _failure(source: str, line: int, mistake: Mistake) -> Failure:
    return Failure(
        source=source, line=mistake.line or line, message=mistake.message, text=mistake.text
    )


def _outcomes(chunk: Chunk, recipe: Recipe) -> Iterator[tuple[int, Parsed | Mistake]]:
    """Yield each sentence of the chunk, parsed, or what is wrong with it."""
    parser = load_parser(recipe.parser) if recipe.parser and recipe.parses else None
    for batch in _batched(_sentences(chunk, recipe, parser), BATCH):
        wanted = [found.text.split() for _, found in batch if isinstance(found, Raw)]
        if wanted and recipe.parser is None:
            raise UsageError(_unparsed(chunk, batch))
        parses = iter(_parse(parser, wanted, recipe.max_tokens))
        for line, found in batch:
            yield line, _mended(next(parses), found) if isinstance(found, Raw) else found


def _unparsed(chunk: Chunk, batch: Sequence[_Item]) -> str:
    line = next(line for line, found in batch if isinstance(found, Raw))
    return (
        f"{chunk.source.name}, line {line}: a text that is not parsed; name a parser with "
        f"--parser, or --parser {NO_PARSER} for its tokens alone"
    )


def _mended(outcome: ParserOutcome, raw: Raw) -> Parsed | Mistake:
    """Return a parse with its tokens as they are written, or why there is none."""
    if isinstance(outcome, str):
        return Mistake(0, outcome, shorten(" ".join(raw.written) or raw.text))
    return replace(outcome, written=raw.written) if raw.written else outcome


def _sentences(chunk: Chunk, recipe: Recipe, parser: Parser | None) -> Iterator[_Item]:
    """Yield sentences that are parsed, or broken, or in tokens and not yet parsed."""
    read = FORMATS[chunk.source.format].read
    for piece in chunk.pieces:
        if isinstance(piece, Mistake):
            yield _Item(piece.line, piece)
            continue
        for found in read(piece, recipe.reading):
            if not isinstance(found, Raw):
                yield _Item(piece.line, found)
            elif found.holds is Holds.TOKENS:
                yield _Item(piece.line, _straight_tokens(found))
            else:
                yield from (_Item(piece.line, part) for part in _divide(found, recipe, parser))


def _straight_tokens(raw: Raw) -> Raw:
    """Return given tokens with straight marks; there are as many."""
    if raw.text.isascii():
        return raw
    tokens = raw.text.split()
    return Raw(" ".join(map(straight_word, tokens)), raw.holds, tuple(tokens))


def _divide(raw: Raw, recipe: Recipe, parser: Parser | None) -> Iterator[ReadPiece]:
    """Yield the sentences of a text."""
    if raw.holds is Holds.TEXT and recipe.punkt is None and parser is not None:
        yield from _parse_text(parser, raw)
        return
    straight = straighten(raw.text)
    texts = [straight.text]
    if raw.holds is Holds.TEXT and recipe.punkt is not None:
        texts = load_splitter(recipe.punkt)(straight.text)
    sentences = list(map(load_tokenizer(), texts))
    for tokens, forms in zip(sentences, written_forms(straight, sentences), strict=True):
        yield Raw(" ".join(tokens), Holds.TOKENS, forms)


def _parse_text(parser: Parser, raw: Raw) -> Iterator[ReadPiece]:
    straight = straighten(raw.text)
    outcomes = _guarded(lambda: parser.parse_text(straight.text), count=1)
    sentences = [list(map(plain_word, _tokens(outcome))) for outcome in outcomes]
    for outcome, forms in zip(outcomes, written_forms(straight, sentences), strict=True):
        yield _mended(outcome, raw._replace(written=forms))


def _tokens(outcome: ParserOutcome) -> Sequence[str]:
    return () if isinstance(outcome, str) else outcome.tokens


def _parse(
    parser: Parser | None, sentences: Sequence[Sequence[str]], longest: int
) -> list[ParserOutcome]:
    """Return the outcome for each sentence, in tokens; those that are too long are not parsed."""
    if parser is None:
        return [Parsed(tokens=tuple(tokens)) for tokens in sentences]
    short = [tokens for tokens in sentences if len(tokens) <= longest]
    outcomes = iter(_parse_batch(parser, short))
    return [
        next(outcomes)
        if len(tokens) <= longest
        else f"a sentence of {len(tokens)} tokens; the longest to be parsed has {longest}"
        for tokens in sentences
    ]


def _parse_batch(parser: Parser, sentences: Sequence[Sequence[str]]) -> Sequence[ParserOutcome]:
    """Parse all at once, or where that fails one by one, so that only one is lost."""
    if not sentences:
        return []
    outcomes = _guarded(lambda: parser.parse(sentences), count=len(sentences))
    if len(outcomes) == len(sentences):
        return outcomes
    if len(sentences) == 1:
        return outcomes or ["the parser gave no parse"]
    return [outcome for tokens in sentences for outcome in _parse_batch(parser, [tokens])]


def _guarded(
    parse: Callable[[], Sequence[ParserOutcome]], *, count: int
) -> Sequence[ParserOutcome]:
    """Return what the parser gives; nothing, or for one sentence why, where it raises."""
    try:
        with _parsing:
            return parse()
    except SentprobeError:
        raise
    except Exception as error:
        return [f"{type(error).__name__}: {shorten(str(error), 200)}"] if count == 1 else []


def _batched(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
