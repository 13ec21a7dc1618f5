"""A sample in portions, made by one process or several; the bytes do not tell by how many."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, TypeAlias

from sentprobe.generator.boxes import IndexArray
from sentprobe.generator.bulk import Renderer
from sentprobe.generator.records import PARQUET, RECORD_FORMATS, TEXT
from sentprobe.generator.space import Space

PORTION = 32_768
"""How many sentences a process makes at a time; in Parquet, a row group."""

ENOUGH, ENOUGH_TEXT = 200_000, 1_000_000
"""So many sentences for each process make up for its start; of plain text, of which each is soon
made."""

Portion: TypeAlias = tuple[int, IndexArray]
"""The number of its first sentence, from 0, and the indices."""

Lot: TypeAlias = tuple[int, Any]
"""How many sentences, and what was made of them: text, or an Arrow table."""


def jobs_for(count: int, fmt: str) -> int:
    """Return how many processes are worth their start; a core is left for the one that writes."""
    wanted = count // (ENOUGH_TEXT if fmt == TEXT else ENOUGH)
    if wanted <= 1:
        return 1
    from sentprobe.processes import cores  # noqa: PLC0415 - slow import

    return max(1, min(wanted, cores() - 1))


@contextmanager
def portions(
    space: Space, indices: IndexArray, fmt: str, *, jobs: int | None
) -> Iterator[Iterator[Lot]]:
    """Give the sentences at *indices* in a format, in order, made by *jobs* processes.

    None is as many as are worth it. Few portions wait for their turn, however many there are.

    Raises:
        UsageError: no such number of jobs.
        SentprobeError: a process was killed.
    """
    jobs = jobs_for(len(indices), fmt) if jobs is None else jobs
    if jobs == 1:
        yield _maker(space, fmt).all(indices)
        return
    from sentprobe.processes import in_order, workers  # noqa: PLC0415 - slow import

    with workers(jobs) as pool:
        assert pool is not None
        work = partial(_make, pickle.dumps((space, fmt)))
        yield map(_unpacked, in_order(work, _cut(indices), pool=pool, ahead=2 * jobs))


def _cut(indices: IndexArray) -> Iterator[Portion]:
    for start in range(0, len(indices), PORTION):
        yield start, indices[start : start + PORTION]


def _make(told: bytes, portion: Portion) -> Lot:
    """Make a portion of a space and format, in a process that knows them from the one before."""
    count, made = _known_maker(told)(portion)
    if isinstance(made, str):
        return count, made
    from sentprobe.generator.parquet import pack  # noqa: PLC0415 - slow import

    return count, pack(made)


def _unpacked(lot: Lot) -> Lot:
    count, made = lot
    if isinstance(made, str):
        return lot
    from sentprobe.generator.parquet import unpack  # noqa: PLC0415 - slow import

    return count, unpack(made)


@lru_cache(maxsize=1)
def _known_maker(told: bytes) -> Callable[[Portion], Lot]:
    return _maker(*pickle.loads(told))  # it came from the process that started this one


def _maker(space: Space, fmt: str) -> "_TextMaker | _GroupMaker":
    return _GroupMaker(space) if fmt == PARQUET else _TextMaker(space, fmt)


class _TextMaker:
    """Makes text."""

    def __init__(self, space: Space, fmt: str) -> None:
        form = RECORD_FORMATS[fmt]
        self._renderer = Renderer(space, form.write, escape=form.escape)

    def __call__(self, portion: Portion) -> Lot:
        start, indices = portion
        return len(indices), "".join(text for _, text in self._renderer.chunks(indices, start))

    def all(self, indices: IndexArray) -> Iterator[Lot]:
        """Yield the records of all, in smaller parts."""
        return self._renderer.chunks(indices)


class _GroupMaker:
    """Makes tables, each to be a row group."""

    def __init__(self, space: Space) -> None:
        from sentprobe.generator.parquet import TableMaker  # noqa: PLC0415 - slow import

        self._tables = TableMaker(space)

    def __call__(self, portion: Portion) -> Lot:
        start, indices = portion
        return len(indices), self._tables.group(indices, start)

    def all(self, indices: IndexArray) -> Iterator[Lot]:
        """Yield the tables of all."""
        return map(self, _cut(indices))
