"""The analysis of a chunk (consecutive lines, paragraphs or trees of a file) in a worker, which returns its rows."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from threading import Lock
from typing import Any

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.corpus.analysis_settings import AnalysisRecipe, Splitter, load_splitter, load_tokenizer
from sentprobe.probes.corpus.sources import Chunk, find_file_language
from sentprobe.probes.corpus.text_formats import FORMATS, RawText, ReadPiece, TextUnit
from sentprobe.probes.syntax.parsers import NO_PARSER, Parser, ParserError, ParserOutcome, load_parser
from sentprobe.probes.syntax.table_rows import Row, RowError, build_row
from sentprobe.probes.syntax.trees import Mistake, ParsedSentence, shorten, unescape_word
from sentprobe.probes.syntax.typography import restore_written_forms, straighten, straighten_word
from sentprobe.versions import get_own_version

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
    import pyarrow as pa

    from sentprobe.probes.syntax.table_columns import make_record_batch

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
        return Mistake(0, str(error), shorten(" ".join(outcome.tokens)))


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
        return Mistake(0, outcome, shorten(" ".join(raw.written) or raw.text))
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
            elif read_piece.holds is TextUnit.TOKENS:
                yield piece.line, _straighten_tokens(read_piece)
            else:
                yield from ((piece.line, sentence) for sentence in _split_sentences(read_piece, recipe, parser))


def _straighten_tokens(raw: RawText) -> RawText:
    if raw.text.isascii():
        return raw
    tokens = raw.text.split()
    return RawText(" ".join(map(straighten_word, tokens)), raw.holds, tuple(tokens))


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
                raise ParserError(f"the parser's tokenizer failed: {error}") from error
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
    if len(outcomes) == len(sentences):
        return outcomes
    if len(sentences) == 1:
        return outcomes or ["the parser returned no parse"]
    return [outcome for tokens in sentences for outcome in _parse_batch(parser, [tokens])]


def _parse_guarded(parse: Callable[[], Sequence[ParserOutcome]], *, count: int) -> Sequence[ParserOutcome]:
    """Return the outcomes of *parse* for *count* texts. If it crashes, return [message] if *count* is 1, else []."""
    try:
        with _parser_lock:
            return parse()
    except SentprobeError:
        raise
    except Exception as error:
        return [f"{type(error).__name__}: {shorten(str(error), 200)}"] if count == 1 else []
