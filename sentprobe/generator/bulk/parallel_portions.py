"""Generation of a sample in portions by one or several processes; the bytes are the same."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, TypeAlias

from sentprobe.generator.bulk.generation import Renderer
from sentprobe.generator.sentences.sentence_records import PARQUET, RECORD_FORMATS, TEXT
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.space import Space

PORTION_SIZE = 32_768
"""Number of sentences that a process makes at a time, and number of rows of a Parquet row group."""

MIN_SENTENCES_PER_JOB, MIN_TEXTS_PER_JOB = 200_000, 1_000_000
"""Smallest number of annotated sentences, or of plain texts, for which starting a process saves time."""

Portion: TypeAlias = tuple[int, IndexArray]
"""The number of the portion's first sentence (from 0), and the indices of its sentences in the space."""

PortionResult: TypeAlias = tuple[int, Any]
"""Number of sentences, and their text or Arrow table."""


def choose_job_count(count: int, fmt: str) -> int:
    """Return the number of processes for *count* sentences; one core is left for writing."""
    useful = count // (MIN_TEXTS_PER_JOB if fmt == TEXT else MIN_SENTENCES_PER_JOB)
    if useful <= 1:
        return 1
    from sentprobe.processes import count_cores

    return max(1, min(useful, count_cores() - 1))


@contextmanager
def generate_portions(
    space: Space, indices: IndexArray, fmt: str, *, jobs: int | None
) -> Iterator[Iterator[PortionResult]]:
    """Generate the sentences at *indices* in a format, in order, with *jobs* processes.

    With None, the number of processes is chosen by the number of sentences. Only a few portions wait in memory.

    Raises:
        UsageError: the number of jobs is invalid.
        SentprobeError: a process was killed.
    """
    jobs = choose_job_count(len(indices), fmt) if jobs is None else jobs
    if jobs == 1:
        yield _build_maker(space, fmt).make_all(indices)
        return
    from sentprobe.processes import make_workers, run_in_order

    with make_workers(jobs) as pool:
        assert pool is not None
        work = partial(_make_portion, pickle.dumps((space, fmt)))
        yield map(_unpack_result, run_in_order(work, _cut_portions(indices), pool=pool, max_waiting=2 * jobs))


def _cut_portions(indices: IndexArray) -> Iterator[Portion]:
    for start in range(0, len(indices), PORTION_SIZE):
        yield start, indices[start : start + PORTION_SIZE]


def _make_portion(pickled_request: bytes, portion: Portion) -> PortionResult:
    """Make a portion in a worker process, which caches the portion maker of its last request (space and format)."""
    count, content = _get_maker(pickled_request)(portion)
    if isinstance(content, str):
        return count, content
    from sentprobe.generator.bulk.parquet import serialize_table

    return count, serialize_table(content)


def _unpack_result(result: PortionResult) -> PortionResult:
    count, content = result
    if isinstance(content, str):
        return result
    from sentprobe.generator.bulk.parquet import deserialize_table

    return count, deserialize_table(content)


@lru_cache(maxsize=1)
def _get_maker(pickled_request: bytes) -> Callable[[Portion], PortionResult]:
    return _build_maker(*pickle.loads(pickled_request))  # pickled by the parent process


def _build_maker(space: Space, fmt: str) -> "_TextMaker | _RowGroupMaker":
    return _RowGroupMaker(space) if fmt == PARQUET else _TextMaker(space, fmt)


class _TextMaker:
    def __init__(self, space: Space, fmt: str) -> None:
        form = RECORD_FORMATS[fmt]
        self._renderer = Renderer(space, form.write, escape=form.escape)

    def __call__(self, portion: Portion) -> PortionResult:
        start, indices = portion
        return len(indices), "".join(text for _, text in self._renderer.render_chunks(indices, start))

    def make_all(self, indices: IndexArray) -> Iterator[PortionResult]:
        return self._renderer.render_chunks(indices)


class _RowGroupMaker:
    def __init__(self, space: Space) -> None:
        from sentprobe.generator.bulk.parquet import TableMaker

        self._tables = TableMaker(space)

    def __call__(self, portion: Portion) -> PortionResult:
        start, indices = portion
        return len(indices), self._tables.build_row_group(indices, start)

    def make_all(self, indices: IndexArray) -> Iterator[PortionResult]:
        return map(self, _cut_portions(indices))
