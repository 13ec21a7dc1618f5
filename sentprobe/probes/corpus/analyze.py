"""Analyse a corpus: from its files to a table, on any engine, and on from where it was stopped.

Each chunk of the corpus becomes a file of rows in ``work/``, under a name that says which it is, as
soon as it is done. When all are done, the first row of each text goes into the shards of the table,
its head is written, and ``work/`` goes.
"""

import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sentprobe.engines import Engine, Machines, check_version, make_engine, run
from sentprobe.errors import SentprobeError, path_error
from sentprobe.files import atomic_path
from sentprobe.probes.corpus import table
from sentprobe.probes.corpus.chunks import (
    StoredChunk,
    chunk_path,
    find_head,
    read_head,
    store_chunk,
)
from sentprobe.probes.corpus.recipe import Recipe
from sentprobe.probes.corpus.sources import Chunk, ChunkSize, Source, check_encoding, make_chunks
from sentprobe.probes.corpus.work import ChunkHead, work_on
from sentprobe.progress import Reporter, Silent
from sentprobe.versions import versions

READ = ChunkSize(pieces=2_000, characters=1_000_000)
"""A chunk that is only read: a fraction of a second of work."""

PARSE = ChunkSize(pieces=100, characters=10_000)
"""A chunk that is parsed: about a hundred sentences."""


@dataclass(slots=True)
class Pace:
    """How many sentences are analysed: in all, and by this run, which others may go before."""

    sentences: int = 0
    made: int = 0
    start: float = field(default_factory=time.monotonic)

    def add(self, sentences: int, *, resumed: bool) -> None:
        """Count sentences; *resumed*: they had been done by an earlier run."""
        self.sentences += sentences
        self.made += 0 if resumed else sentences

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return max(time.monotonic() - self.start, 1e-9)

    def __str__(self) -> str:
        return f"{self.sentences:,} sentences, {self.made / self.seconds:,.0f} a second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What is to be analysed, how, and where the table goes."""

    sources: tuple[Source, ...]
    recipe: Recipe
    out: Path
    encoding: str = "utf-8"
    size: ChunkSize | None = None
    """The size of a chunk; it changes nothing but how much is lost when a run is stopped."""
    command: str = ""
    force: bool = False
    """Make a table anew that is finished."""


def analyze(
    plan: Analysis,
    machines: Machines | None = None,
    reporter: Reporter | None = None,
    pace: Pace | None = None,
) -> table.Table:
    """Make the table of a corpus, or go on with one that was stopped, and return it.

    The same plan gives the same bytes, on either engine and with any number of workers. The
    sentences are counted in *pace*.

    Raises:
        UsageError: *out* is a finished table, or is not ours; see also
            :func:`~sentprobe.engines.make_engine`.
        SentprobeError: a file cannot be read or written, a parser cannot be used, or there is not
            one sentence.
    """
    machines = machines or Machines()
    reporter, pace = reporter or Silent(), pace or Pace()
    check_encoding(plan.encoding)
    with ExitStack() as stack:
        with make_engine(machines) as workers:
            stack.enter_context(table.writing(plan.out, force=plan.force))
            chunks = _work(plan, workers, reporter, pace)
        try:
            return _finish(plan, chunks, threads=machines.jobs, reporter=reporter)
        except OSError as error:
            raise path_error(plan.out, "cannot write the table", error) from error


class _Portion(NamedTuple):
    chunk: Chunk
    key: str


def _do(task: _Portion, recipe: Recipe) -> bytes:
    return work_on(task.chunk, recipe, task.key)


class _Done:
    """The chunks that are done, by number."""

    def __init__(self, folder: Path, reporter: Reporter, pace: Pace) -> None:
        self.folder = folder
        self.reporter = reporter
        self.pace = pace
        self.heads: dict[int, tuple[str, int, int]] = {}

    def add(self, chunk: Chunk, head: ChunkHead, *, resumed: bool) -> None:
        self.heads[chunk.number] = (head.source, head.sentences, head.rows)
        self.pace.add(head.sentences, resumed=resumed)
        self.reporter.note(str(self.pace))
        self.reporter.advance(chunk.size)

    def chunks(self) -> list[StoredChunk]:
        found = []
        places: Counter[str] = Counter()
        for number, (source, sentences, rows) in sorted(self.heads.items()):
            found.append(
                StoredChunk(
                    path=chunk_path(self.folder, number),
                    source=source,
                    place=places[source],
                    sentences=sentences,
                    rows=rows,
                )
            )
            places[source] += sentences
        return found


def _work(plan: Analysis, engine: Engine, reporter: Reporter, pace: Pace) -> list[StoredChunk]:
    """Do all chunks that are not done, and return all in order."""
    folder = plan.out / table.WORK
    reporter.begin("analyse", sum(source.size for source in plan.sources))
    done = _Done(folder, reporter, pace)
    work = partial(_do, recipe=plan.recipe)
    with closing(run(work, _tasks(plan, done), engine)) as results:
        for task, content in results:
            path = chunk_path(folder, task.chunk.number)
            store_chunk(path, content)
            head = read_head(path)
            check_version(head.version)
            done.add(task.chunk, head, resumed=False)
    return done.chunks()


def _tasks(plan: Analysis, done: _Done) -> Iterator[_Portion]:
    """Yield the chunks that are not done; those that are go to *done*."""
    recipe = plan.recipe.describe()
    size = plan.size or (PARSE if plan.recipe.parses else READ)
    for chunk in make_chunks(
        plan.sources, reading=plan.recipe.reading, encoding=plan.encoding, size=size
    ):
        key = chunk.key(recipe)
        head = find_head(chunk_path(done.folder, chunk.number), key)
        if head is None:
            yield _Portion(chunk, key)
        else:
            done.add(chunk, head, resumed=True)


def _finish(
    plan: Analysis, chunks: Sequence[StoredChunk], *, threads: int, reporter: Reporter
) -> table.Table:
    """Write the shards, the failures and the head, and remove what was worked with."""
    from sentprobe.probes.corpus.chunks import find_kept, shard_count, write_shards  # noqa: PLC0415

    counted = Counter[str]()
    for chunk in chunks:
        counted[chunk.source] += chunk.sentences
    sentences, rows = counted.total(), sum(chunk.rows for chunk in chunks)
    if not rows:
        _refuse_empty(plan, chunks, sentences)
    kept = find_kept(chunks, plan.out / table.WORK / "first.npy")
    folder = table.new_shards(plan.out)
    reporter.begin("write the table", shard_count(kept.total))
    shards = write_shards(kept, folder, threads=threads, done=reporter.advance)
    _write_failures(chunks, folder / table.FAILURES)
    made = table.Table(
        path=plan.out,
        command=plan.command,
        recipe=plan.recipe.to_json() | {"encoding": plan.encoding},
        versions=versions("sentprobe", "nltk", "numpy", "pyarrow"),
        sources=tuple(
            table.SourceCount(
                path=source.name, format=source.format, sentences=counted[source.name]
            )
            for source in plan.sources
        ),
        counts=table.Counts(
            sentences=sentences,
            rows=kept.total,
            duplicates=rows - kept.total,
            failures=sentences - rows,
        ),
        shards=shards,
    )
    table.put_in_place(made)
    shutil.rmtree(plan.out / table.WORK, ignore_errors=True)
    return made


def _refuse_empty(plan: Analysis, chunks: Sequence[StoredChunk], sentences: int) -> None:
    first = next(iter(_failures(chunks)), None)
    files = "the file" if len(plan.sources) == 1 else f"the {len(plan.sources)} files"
    shutil.rmtree(plan.out / table.WORK, ignore_errors=True)
    if first is None:
        names = ", ".join(source.name for source in plan.sources[:3])
        raise SentprobeError(f"there is no sentence in {files} of the corpus ({names})")
    raise SentprobeError(
        f"none of the {sentences} sentences in {files} of the corpus could be used; the first: "
        f"{first['source']}, line {first['line']}: {first['message']}"
    )


def _failures(chunks: Sequence[StoredChunk]) -> Iterator[dict[str, object]]:
    for chunk in chunks:
        if chunk.rows < chunk.sentences:
            yield from map(asdict, read_head(chunk.path).failures)


def _write_failures(chunks: Sequence[StoredChunk], path: Path) -> None:
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        for failure in _failures(chunks):
            out.write(json.dumps(failure, ensure_ascii=False) + "\n")
