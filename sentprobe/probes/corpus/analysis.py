"""The analysis of a corpus, which writes a table. A resumed analysis reuses stored chunks of the corpus."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sentprobe.common.engines import Engine, EngineChoice, check_version, make_engine, run_tasks_on_engine
from sentprobe.common.errors import SentprobeError, find_versions, path_error
from sentprobe.common.files import atomic_path
from sentprobe.common.screen import Reporter, SilentReporter
from sentprobe.common.values import format_json
from sentprobe.probes.corpus import chunks as stored_chunks
from sentprobe.probes.corpus import table
from sentprobe.probes.corpus.chunks import ChunkHead, compute_chunk_rows
from sentprobe.probes.corpus.sources import Chunk, ChunkSize, Source, check_encoding, make_chunks
from sentprobe.probes.corpus.table import AnalysisRecipe

READ_CHUNK_SIZE = ChunkSize(pieces=2_000, characters=1_000_000)
"""The size of a chunk if no parser is used: its analysis takes a fraction of a second."""
PARSE_CHUNK_SIZE = ChunkSize(pieces=100, characters=10_000)
"""The size of a chunk if a parser is used: about a hundred sentences."""


@dataclass(slots=True)
class AnalysisProgress:
    """The number of sentences analysed so far, and the speed."""

    sentences: int = 0
    new_sentences: int = 0
    """The number of sentences that this run analysed, without those in reused chunks of an interrupted run."""
    start: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """The seconds since the start of the run."""
        return max(time.monotonic() - self.start, 1e-9)

    def __str__(self) -> str:
        return f"{self.sentences:,} sentences, {self.new_sentences / self.seconds:,.0f} per second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The files of the corpus, the settings that determine the rows (*recipe*), and other settings."""

    sources: tuple[Source, ...]
    recipe: AnalysisRecipe
    out: Path
    encoding: str = "utf-8"
    size: ChunkSize | None = None
    """The size of a chunk (None: one of the sizes above); it only affects how much work an interruption loses."""
    command: str = ""
    language: str = ""
    force: bool = False


def analyze(
    plan: Analysis, machines: EngineChoice, reporter: Reporter | None = None, progress: AnalysisProgress | None = None
) -> table.Table:
    """Analyse a corpus, or resume an interrupted analysis, and return the table.

    The bytes of the table do not depend on the engine or the number of workers. Sentences are counted in *progress*.

    Raises:
        UsageError: the output folder has a finished table (unless ``plan.force`` is set), or unrelated files.
        SentprobeError: the corpus cannot be read, or no sentence can be used.
    """
    reporter, progress = reporter or SilentReporter(), progress or AnalysisProgress()
    check_encoding(plan.encoding)
    with ExitStack() as stack:
        # The workers end before the table is written; the folder stays locked until it is.
        with make_engine(machines) as engine:
            stack.enter_context(table.lock_table_folder(plan.out, force=plan.force))
            chunks = _work_on_chunks(plan, engine, reporter, progress)
        try:
            return _write_table(plan, chunks, threads=machines.jobs, reporter=reporter)
        except OSError as error:
            raise path_error(plan.out, "cannot write the table", error) from error


class _ChunkTask(NamedTuple):
    chunk: Chunk
    key: str


def _run_task(task: _ChunkTask, recipe: AnalysisRecipe) -> bytes:
    return compute_chunk_rows(task.chunk, recipe, task.key)


class _FinishedChunks:
    def __init__(self, folder: Path, reporter: Reporter, progress: AnalysisProgress) -> None:
        self.folder = folder
        self.reporter = reporter
        self.progress = progress
        self.chunks: dict[int, stored_chunks.StoredChunk] = {}

    def add(self, chunk: Chunk, head: ChunkHead, *, resumed: bool) -> None:
        path = stored_chunks.find_chunk_path(self.folder, chunk.number)
        self.chunks[chunk.number] = stored_chunks.StoredChunk(
            path=path, source=head.source, place=0, sentences=head.sentences, rows=head.rows
        )
        self.progress.sentences += head.sentences
        self.progress.new_sentences += 0 if resumed else head.sentences
        self.reporter.note(str(self.progress))
        self.reporter.advance(chunk.size)


def _work_on_chunks(
    plan: Analysis, engine: Engine, reporter: Reporter, progress: AnalysisProgress
) -> list[stored_chunks.StoredChunk]:
    folder = plan.out / table.WORK_FOLDER
    reporter.begin("analyse", sum(source.size for source in plan.sources))
    finished = _FinishedChunks(folder, reporter, progress)
    run_task = partial(_run_task, recipe=plan.recipe)
    with closing(run_tasks_on_engine(run_task, _list_open_tasks(plan, finished), engine)) as results:
        for task, content in results:
            path = stored_chunks.find_chunk_path(folder, task.chunk.number)
            stored_chunks.store_chunk(path, content)
            head = stored_chunks.read_head(path)
            check_version(head.version)
            finished.add(task.chunk, head, resumed=False)
    # Chunks finish in any order, so a chunk's place in its source is known only now.
    chunks, next_places = [], Counter[str]()
    for _, chunk in sorted(finished.chunks.items()):
        chunks.append(replace(chunk, place=next_places[chunk.source]))
        next_places[chunk.source] += chunk.sentences
    return chunks


def _list_open_tasks(plan: Analysis, finished: _FinishedChunks) -> Iterator[_ChunkTask]:
    recipe = plan.recipe.format_line()
    size = plan.size or (PARSE_CHUNK_SIZE if plan.recipe.has_parser else READ_CHUNK_SIZE)
    for chunk in make_chunks(plan.sources, reading=plan.recipe.reading, encoding=plan.encoding, size=size):
        key = chunk.compute_key(recipe)
        head = stored_chunks.find_head(stored_chunks.find_chunk_path(finished.folder, chunk.number), key)
        if head is None:
            yield _ChunkTask(chunk, key)
        else:
            finished.add(chunk, head, resumed=True)


def _write_table(
    plan: Analysis, chunks: Sequence[stored_chunks.StoredChunk], *, threads: int, reporter: Reporter
) -> table.Table:
    sentence_counts = Counter[str]()
    for chunk in chunks:
        sentence_counts[chunk.source] += chunk.sentences
    sentences, rows = sentence_counts.total(), sum(chunk.rows for chunk in chunks)
    if not rows:
        error = _make_empty_error(plan, next(_read_failures(chunks), None), sentences)
        shutil.rmtree(plan.out / table.WORK_FOLDER, ignore_errors=True)
        raise error
    kept_rows = stored_chunks.find_kept_rows(chunks, plan.out / table.WORK_FOLDER / "first.npy")
    folder = table.make_staged_folder(plan.out)
    reporter.begin("write the table", stored_chunks.count_shards(kept_rows.total))
    shards = stored_chunks.write_shards(kept_rows, folder, threads=threads, on_shard_written=reporter.advance)
    with atomic_path(folder / table.FAILURES) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        for failure in _read_failures(chunks):
            out.write(format_json(failure) + "\n")
    new_table = table.Table(
        path=plan.out,
        command=plan.command,
        recipe=plan.recipe.to_json() | {"encoding": plan.encoding},
        versions=find_versions("sentprobe", "nltk", "numpy", "pyarrow"),
        sources=tuple(
            table.SourceCount(path=source.name, format=source.format, sentences=sentence_counts[source.name])
            for source in plan.sources
        ),
        counts=table.Counts(
            sentences=sentences, rows=kept_rows.total, duplicates=rows - kept_rows.total, failures=sentences - rows
        ),
        shards=shards,
        language=plan.language,
    )
    table.replace_table(new_table)
    shutil.rmtree(plan.out / table.WORK_FOLDER, ignore_errors=True)
    return new_table


def _make_empty_error(plan: Analysis, first: dict[str, object] | None, sentences: int) -> SentprobeError:
    files = "the file" if len(plan.sources) == 1 else f"the {len(plan.sources)} files"
    if first is None:
        names = ", ".join(source.name for source in plan.sources[:3])
        return SentprobeError(f"there is no sentence in {files} of the corpus ({names})")
    return SentprobeError(
        f"none of the {sentences} sentences in {files} of the corpus could be used; the first: "
        f"{first['source']}, line {first['line']}: {first['message']}"
    )


def _read_failures(chunks: Sequence[stored_chunks.StoredChunk]) -> Iterator[dict[str, object]]:
    for chunk in chunks:
        if chunk.rows < chunk.sentences:
            yield from map(asdict, stored_chunks.read_head(chunk.path).failures)
