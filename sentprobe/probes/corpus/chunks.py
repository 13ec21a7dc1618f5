"""The analysis of a chunk (consecutive lines, paragraphs or trees of a file), and the files of finished chunks.

A worker analyses a chunk and returns its rows, which are stored in a file. When all chunks are finished, their rows,
without duplicate sentences, become the shards (files) of a table.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import accumulate, islice, pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sentprobe.common.errors import FormatError, SentprobeError, UsageError, first_line, format_count, get_own_version
from sentprobe.common.files import atomic_path
from sentprobe.common.reading import shorten_line
from sentprobe.common.values import check_record, parse_json
from sentprobe.probes.corpus.parsers import NO_PARSER, Parser, ParserError, ParserOutcome, load_parser
from sentprobe.probes.corpus.sources import FORMATS, Chunk, RawText, ReadPiece, TextUnit, find_file_language
from sentprobe.probes.corpus.table import (
    AnalysisRecipe,
    Shard,
    Splitter,
    compute_checksum,
    load_splitter,
    load_tokenizer,
)
from sentprobe.probes.corpus.table_rows import SCHEMA, Row, RowError, build_row, make_record_batch
from sentprobe.probes.corpus.trees import (
    Mistake,
    ParsedSentence,
    restore_written_forms,
    straighten,
    straighten_word,
    unescape_word,
)

BATCH_SIZE = 256
"""The number of sentences per call of the parser, and the number of rows per Arrow record batch."""
HEAD_KEY = b"sentprobe"
"""The key of the :class:`ChunkHead` in the metadata of a chunk's Arrow file."""
_parser_lock = Lock()
"""Only one thread at a time calls the parser. A Dask worker may have several threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A sentence of the corpus that has no row because its analysis failed."""

    source: str
    line: int
    message: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkHead:
    """The metadata of a chunk's rows, stored in its Arrow file."""

    key: str
    """The digest of everything that determines the rows (:meth:`.sources.Chunk.compute_key`)."""
    source: str
    sentences: int
    """The number of sentences, including failures."""
    rows: int
    failures: tuple[Failure, ...]
    version: str = get_own_version()

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "ChunkHead":
        """Build the head from a dictionary; the inverse of :func:`dataclasses.asdict`."""
        return cls(**(value | {"failures": tuple(Failure(**failure) for failure in value["failures"])}))


def compute_chunk_rows(chunk: Chunk, recipe: AnalysisRecipe, key: str) -> bytes:
    """Analyse a chunk and return its rows as the bytes of an Arrow file, with a ``ChunkHead`` in its metadata."""
    failures: list[Failure] = []
    rows: list[Row] = []
    batches: list[pa.RecordBatch] = []
    source, sentences = chunk.source.name, 0
    for sentences, (line, outcome) in enumerate(_iterate_outcomes(chunk, recipe), 1):
        row = _build_row(outcome, source, sentences - 1, recipe)
        if isinstance(row, Row):
            rows.append(row)
        else:
            failures.append(Failure(source=source, line=row.line or line, message=row.message, text=row.text))
        if len(rows) == BATCH_SIZE:
            batches.append(make_record_batch(rows))
            rows = []
    batches.append(make_record_batch(rows))
    row_count = sentences - len(failures)
    head = ChunkHead(key=key, source=source, sentences=sentences, rows=row_count, failures=tuple(failures))
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    table = pa.Table.from_batches(batches).combine_chunks()
    table = table.replace_schema_metadata({HEAD_KEY: json.dumps(asdict(head))})
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _build_row(outcome: ParsedSentence | Mistake, source: str, place: int, recipe: AnalysisRecipe) -> Row | Mistake:
    if isinstance(outcome, Mistake):
        return outcome
    try:
        language = recipe.language or find_file_language(source)
        return build_row(replace(outcome, source=source, place=place), universal=recipe.universal, language=language)
    except RowError as error:
        return Mistake(0, str(error), shorten_line(" ".join(outcome.tokens)))


def _iterate_outcomes(chunk: Chunk, recipe: AnalysisRecipe) -> Iterator[tuple[int, ParsedSentence | Mistake]]:
    parser = load_parser(recipe.parser) if recipe.parser and recipe.has_parser else None
    sentences = _iterate_sentences(chunk, recipe, parser)
    while batch := list(islice(sentences, BATCH_SIZE)):
        unparsed = [piece.text.split() for _, piece in batch if isinstance(piece, RawText)]
        if unparsed and recipe.parser is None:
            line = next(line for line, piece in batch if isinstance(piece, RawText))
            raise UsageError(
                f"{chunk.source.name}, line {line}: a text that is not parsed; name a parser with "
                f"--parser, or use --parser {NO_PARSER} for tokens without a parse"
            )
        outcomes = iter(_parse_short(parser, unparsed, recipe.max_tokens))
        for line, piece in batch:
            yield (line, _restore_written(next(outcomes), piece) if isinstance(piece, RawText) else piece)


def _restore_written(outcome: ParserOutcome, raw: RawText) -> ParsedSentence | Mistake:
    """Add the original spelling of the tokens to a parse, or return a mistake if *outcome* is an error message."""
    if isinstance(outcome, str):
        return Mistake(0, outcome, shorten_line(" ".join(raw.written) or raw.text))
    return replace(outcome, written=raw.written) if raw.written else outcome


def _iterate_sentences(chunk: Chunk, recipe: AnalysisRecipe, parser: Parser | None) -> Iterator[tuple[int, ReadPiece]]:
    """Yield each sentence with the number of its line, or of the first line of its paragraph or tree."""
    read = FORMATS[chunk.source.format].read
    for piece in chunk.pieces:
        if isinstance(piece, Mistake):
            yield piece.line, piece
            continue
        for read_piece in read(piece, recipe.reading):
            if not isinstance(read_piece, RawText):
                yield piece.line, read_piece
            elif read_piece.holds is not TextUnit.TOKENS:
                yield from ((piece.line, sentence) for sentence in _split_sentences(read_piece, recipe, parser))
            elif read_piece.text.isascii():
                yield piece.line, read_piece
            else:
                tokens = tuple(read_piece.text.split())
                yield piece.line, RawText(" ".join(map(straighten_word, tokens)), TextUnit.TOKENS, tokens)


def _split_sentences(raw: RawText, recipe: AnalysisRecipe, parser: Parser | None) -> Iterator[ReadPiece]:
    if raw.holds is TextUnit.TEXT and recipe.punkt is None and parser is not None:
        yield from _parse_text(parser, raw, recipe.max_tokens)
        return
    straight = straighten(raw.text)
    texts = [straight.text]
    if raw.holds is TextUnit.TEXT and recipe.punkt is not None:
        texts = load_splitter(recipe.punkt)(straight.text)
    tokenize = _choose_tokenizer(None if raw.holds is TextUnit.TEXT else parser)
    sentences = list(map(tokenize, texts))
    for tokens, forms in zip(sentences, restore_written_forms(straight, sentences), strict=True):
        yield RawText(" ".join(tokens), TextUnit.TOKENS, forms)


def _choose_tokenizer(parser: Parser | None) -> Splitter:
    """Return the parser's tokenizer or, without a parser, the Penn Treebank's tokenizer."""
    treebank_tokenizer = load_tokenizer()
    if parser is None:
        return treebank_tokenizer

    def tokenize(sentence: str) -> list[str]:
        with _parser_lock:
            try:
                tokens = parser.tokenize(sentence)
            except SentprobeError:
                raise
            except Exception as error:
                raise ParserError(f"the parser's tokenizer failed: {first_line(error)}") from error
        return ["_".join(unescape_word(token).split()) for token in tokens] or treebank_tokenizer(sentence)

    return tokenize


def _parse_text(parser: Parser, raw: RawText, max_tokens: int) -> Iterator[ReadPiece]:
    straight = straighten(raw.text)
    outcomes = _parse_guarded(lambda: parser.parse_text(straight.text), count=1)
    sentences = [[] if isinstance(outcome, str) else list(map(unescape_word, outcome.tokens)) for outcome in outcomes]
    for outcome, forms in zip(outcomes, restore_written_forms(straight, sentences), strict=True):
        short_outcome = outcome if len(forms) <= max_tokens else _describe_length(forms, max_tokens)
        yield _restore_written(short_outcome, raw._replace(written=forms))


def _parse_short(parser: Parser | None, sentences: Sequence[Sequence[str]], max_tokens: int) -> list[ParserOutcome]:
    """Return a parse or error message per tokenised sentence; a sentence over *max_tokens* gets an error message."""
    if parser is None:
        return [ParsedSentence(tokens=tuple(tokens)) for tokens in sentences]
    short = [tokens for tokens in sentences if len(tokens) <= max_tokens]
    outcomes = iter(_parse_batch(parser, short))
    return [
        next(outcomes) if len(tokens) <= max_tokens else _describe_length(tokens, max_tokens) for tokens in sentences
    ]


def _describe_length(tokens: Sequence[str], max_tokens: int) -> str:
    return f"a sentence of {len(tokens)} tokens; --max-tokens allows {max_tokens}"


def _parse_batch(parser: Parser, sentences: Sequence[Sequence[str]]) -> Sequence[ParserOutcome]:
    """Parse a batch of sentences. If this fails, parse each sentence alone, so that only faulty sentences are lost."""
    if not sentences:
        return []
    outcomes = _parse_guarded(lambda: parser.parse(sentences), count=len(sentences))
    # With another number of outcomes, it is unknown which sentence each of them belongs to.
    if len(outcomes) == len(sentences) and not any(map(_has_other_words, outcomes, sentences)):
        return [
            outcome if isinstance(outcome, str) else replace(outcome, tokens=outcome.tokens or tuple(tokens))
            for outcome, tokens in zip(outcomes, sentences, strict=True)
        ]
    if len(sentences) > 1:
        return [outcome for tokens in sentences for outcome in _parse_batch(parser, [tokens])]
    if len(outcomes) != 1:
        return [f"the parser returned {format_count(len(outcomes), 'parse') if outcomes else 'no parse'}"]
    return ["the parser returned a parse of other words"]


def _has_other_words(outcome: ParserOutcome, tokens: Sequence[str]) -> bool:
    """Return whether a parse has other words than the sentence. If it has only a tree, build_row compares them."""
    if isinstance(outcome, str) or not outcome.tokens:
        return False
    return [*map(unescape_word, outcome.tokens)] != [*map(unescape_word, tokens)]


def _parse_guarded(parse: Callable[[], Sequence[ParserOutcome]], *, count: int) -> Sequence[ParserOutcome]:
    """Return the outcomes of *parse* for *count* texts. If it crashes, return [message] if *count* is 1, else []."""
    try:
        with _parser_lock:
            return parse()
    except SentprobeError:
        raise
    except Exception as error:
        return [f"{type(error).__name__}: {shorten_line(str(error), 200)}"] if count == 1 else []


Digests = NDArray[np.uint64]
_CHECKSUM_DIGITS = 64  # these bytes also keep Arrow's data aligned
MAX_DIGESTS = 8_000_000
"""The approximate number of digests that are in memory at a time."""


def parse_digests(digests: Iterable[str]) -> Digests:
    """Convert strings of 16 hexadecimal digits to numbers, (n,) uint64."""
    return np.frombuffer(bytes.fromhex("".join(digests)), dtype=">u8").astype(np.uint64)


def mark_first_rows(
    read_parts: Callable[[], Iterable[Digests]], total: int, path: Path, *, limit: int = MAX_DIGESTS
) -> NDArray[np.bool_]:
    """Return a mask of the rows whose digest no earlier row has, (total,) bool. It is a memory map of *path*."""
    if not total:
        return np.zeros(0, np.bool_)
    is_first = np.lib.format.open_memmap(path, mode="w+", dtype=np.bool_, shape=(total,))
    # Each of 2**bits passes compares only the digests whose highest bits are its number: about *limit* at most.
    bits = max(0, (total - 1).bit_length() - (limit.bit_length() - 1))
    for step in range(1 << bits):
        values, positions, start = [], [], 0
        for part in read_parts():
            inside = np.flatnonzero(part >> np.uint64(64 - bits) == step) if bits else np.arange(len(part))
            values.append(part[inside])
            positions.append(inside + start)
            start += len(part)
        _, first_indices = np.unique(np.concatenate(values), return_index=True)
        is_first[np.concatenate(positions)[first_indices]] = True
    is_first.flush()
    return is_first


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """The Arrow file of a finished chunk."""

    path: Path
    source: str
    place: int
    """The number of sentences that precede the chunk in its source."""
    sentences: int
    rows: int


def find_chunk_path(folder: Path, number: int) -> Path:
    return folder / f"chunk-{number:07d}.arrow"


def store_chunk(path: Path, content: bytes) -> None:
    """Write the Arrow data of a chunk to a file, after 64 hexadecimal digits, which are the SHA-256 of the data."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(_compute_checksum(content))
        file.write(content)


def _compute_checksum(content: bytes | pa.Buffer) -> bytes:
    return sha256(content).hexdigest().encode()


def find_head(path: Path, key: str) -> ChunkHead | None:
    """Return the header of a chunk's file; None if the file is missing or damaged, or of another key or version."""
    if not path.is_file():
        return None
    try:
        head = read_head(path)
    except SentprobeError:
        return None
    return head if (head.key, head.version) == (key, get_own_version()) else None


def read_head(path: Path) -> ChunkHead:
    """Return the head of a stored chunk; raise SentprobeError if the file is damaged."""
    try:
        with _open_content(path) as content:
            head = ChunkHead.from_json(parse_json(pa.ipc.open_file(content).schema.metadata[HEAD_KEY]))
        check_record(head)
        return head
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, FormatError) as error:
        raise _make_damaged_error(path) from error


def read_rows(path: Path, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the rows of a stored chunk, or only some columns; raise SentprobeError if the file is damaged."""
    fields = None if columns is None else [SCHEMA.get_field_index(name) for name in columns]
    options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    try:
        with _open_content(path) as content:
            return pa.ipc.open_file(content, options=options).read_all()
    except (pa.ArrowException, OSError) as error:
        raise _make_damaged_error(path) from error


@contextmanager
def _open_content(path: Path) -> Iterator[pa.Buffer]:
    with pa.memory_map(str(path)) as file:
        stored = file.read_buffer()
        content = stored.slice(min(_CHECKSUM_DIGITS, stored.size))
        if _compute_checksum(content) != stored.slice(0, min(_CHECKSUM_DIGITS, stored.size)).to_pybytes():
            raise _make_damaged_error(path)
        yield content


def _make_damaged_error(path: Path) -> SentprobeError:
    return SentprobeError(f"{path}: damaged; run the same command again: it replaces the file")


SHARD_ROWS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows:
    """The chunk rows that the table keeps: the first row of each distinct text."""

    chunks: Sequence[StoredChunk]
    mask: NDArray[np.bool_]
    """Whether each row of all chunks is kept, (rows,) bool."""
    chunk_starts: Sequence[int]
    """The number of rows before each chunk, followed by the number of all rows."""
    kept_starts: Sequence[int]
    """The number of kept rows before each chunk, followed by the number of all kept rows."""
    sentence_ids: Mapping[str, list[str]]
    """The ids (``sent_id``) of sentences with the same text, by the text's digest; only texts with several ids."""

    @property
    def total(self) -> int:
        """The number of kept rows."""
        return self.kept_starts[-1]


def find_kept_rows(chunks: Sequence[StoredChunk], scratch: Path) -> KeptRows:
    """Find the first row of each distinct text; *scratch* is the path of a temporary file."""
    starts = [0, *accumulate(chunk.rows for chunk in chunks)]

    def read_digests() -> Iterator[Digests]:
        for chunk in chunks:
            column = read_rows(chunk.path, columns=("digest",))["digest"]
            yield parse_digests(column.to_pylist())

    mask = mark_first_rows(read_digests, starts[-1], scratch)
    counts = (int(mask[a:b].sum()) for a, b in pairwise(starts))
    return KeptRows(
        chunks=chunks,
        mask=mask,
        chunk_starts=starts,
        kept_starts=[0, *accumulate(counts)],
        sentence_ids=_collect_sentence_ids(chunks, mask),
    )


def _collect_sentence_ids(chunks: Sequence[StoredChunk], mask: NDArray[np.bool_]) -> dict[str, list[str]]:
    if mask.all():
        return {}
    ids: dict[str, list[str]] = {}
    for chunk in chunks:
        rows = read_rows(chunk.path, columns=("digest", "sentence_ids")).drop_null()
        for digest, row_ids in zip(rows["digest"].to_pylist(), rows["sentence_ids"].to_pylist(), strict=True):
            ids.setdefault(digest, []).extend(row_ids)
    return {digest: text_ids for digest, text_ids in ids.items() if len(text_ids) > 1}


def write_shards(
    kept_rows: KeptRows, folder: Path, *, threads: int, on_shard_written: Callable[[], object]
) -> tuple[Shard, ...]:
    """Write the kept rows into shards in *folder*; call *on_shard_written* after each shard."""
    pool = ThreadPoolExecutor(threads)
    try:
        shards = []
        numbers = range(count_shards(kept_rows.total))
        for shard in pool.map(lambda number: _write_shard(kept_rows, folder, number), numbers):
            shards.append(shard)
            on_shard_written()
        return tuple(shards)
    finally:
        pool.shutdown(cancel_futures=True)


def count_shards(rows: int) -> int:
    return -(-rows // SHARD_ROWS)


def _write_shard(kept_rows: KeptRows, folder: Path, number: int) -> Shard:
    low = number * SHARD_ROWS
    table = _read_kept_rows(kept_rows, low, min(low + SHARD_ROWS, kept_rows.total))
    name = f"part-{number:05d}.parquet"
    with atomic_path(folder / name) as temporary:
        pq.write_table(table, temporary, compression="zstd", row_group_size=SHARD_ROWS)
    path = folder / name
    return Shard(file=name, rows=table.num_rows, size=path.stat().st_size, sha256=compute_checksum(path))


def _read_kept_rows(kept_rows: KeptRows, low: int, high: int) -> pa.Table:
    """Return kept rows *low* to *high* - 1, with ``id`` (index among kept rows) and ``place`` (index in the source)."""
    parts = []
    # The last chunk that begins at or before row *low*; the loop then reads chunk after chunk.
    number = bisect_right(kept_rows.kept_starts, low) - 1
    while number < len(kept_rows.chunks) and kept_rows.kept_starts[number] < high:
        mask = kept_rows.mask[kept_rows.chunk_starts[number] : kept_rows.chunk_starts[number + 1]]
        indices = np.flatnonzero(mask)
        first_kept = kept_rows.kept_starts[number]
        indices = indices[max(0, low - first_kept) : high - first_kept]
        if len(indices):
            chunk = kept_rows.chunks[number]
            table = read_rows(chunk.path)
            if len(indices) < table.num_rows:
                table = table.take(indices)
            # Numbered among all kept rows: *low* may lie in the middle of this chunk.
            ids = np.arange(table.num_rows, dtype=np.int64) + max(low, first_kept)
            columns = {"id": pa.array(ids), "place": pa.array(table["place"].to_numpy() + chunk.place)}
            if kept_rows.sentence_ids:
                pairs = zip(table["digest"].to_pylist(), table["sentence_ids"].to_pylist(), strict=True)
                all_ids = [kept_rows.sentence_ids.get(digest, row_ids) for digest, row_ids in pairs]
                columns["sentence_ids"] = pa.array(all_ids, SCHEMA.field("sentence_ids").type)
            parts.append(pa.table([columns.get(field.name, table[field.name]) for field in SCHEMA], schema=SCHEMA))
        number += 1
    return pa.concat_tables(parts).combine_chunks()
