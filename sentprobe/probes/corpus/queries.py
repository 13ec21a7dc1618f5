"""The table as DuckDB sees it: counts of words, and pools of sentences in a random order.

DuckDB does the work on all rows and hands over numbers; texts are read only of what was chosen.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import SentprobeError, first_line
from sentprobe.extras import load
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.dataset import Indices
from sentprobe.scratch import scratch_folder

if TYPE_CHECKING:
    import duckdb


MEMORY = "2GB"
"""How much memory DuckDB may use; what does not fit goes to temporary files."""
THREADS = 2

_BATCH = 10_000
"""Rows that are fetched at a time."""

HANDLE = "('0x' || digest)::UBIGINT"
"""A sentence's digest as a number."""

Handles = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class SentencePool:
    """Sentences that a task may take, in a random order that the seed alone decides.

    - handles: (n,) uint64, the digests of the sentences as numbers
    - labels: (n,) int64, the class of each
    - forms: (n,) int64, the rank of the word that the question is about; 0 where there is none
    """

    handles: Handles
    labels: Indices
    forms: Indices

    def __len__(self) -> int:
        return len(self.handles)


class Corpus:
    """A table that is being queried; its counts are made once, whatever the number of tasks."""

    def __init__(self, connection: "duckdb.DuckDBPyConnection") -> None:
        self._connection = connection

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query.

        Raises:
            SentprobeError: a shard cannot be read, or there is no room for temporary files.
        """
        return self._execute(sql, parameters).fetchall()

    def stream(self, sql: str, *parameters: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query that has more of them than should be in memory.

        Raises:
            SentprobeError: a shard cannot be read, or there is no room for temporary files.
        """
        found = self._execute(sql, parameters)
        with _explained():
            while rows := found.fetchmany(_BATCH):
                yield from rows

    def add(self, table: Table, *, view: str) -> None:
        """Give queries another table too, as *view*.

        Raises:
            SentprobeError: a shard cannot be read.
        """
        with _explained():
            table.show_in(self._connection, view=view)

    @cached_property
    def tokens(self) -> int:
        """The number of tokens in the corpus."""
        ((tokens,),) = self.query("SELECT coalesce(sum(length), 0) FROM sentences")
        return int(tokens)

    @cached_property
    def frequencies(self) -> str:
        """The name of a table (word, n, rank): lower-case words, how often, and from 1 by that.

        Equally frequent words are in the order of their letters, so that no two share a rank.
        """
        self._execute(
            "CREATE TEMP TABLE frequencies AS "
            "SELECT word, n, row_number() OVER (ORDER BY n DESC, word) AS rank FROM ("
            "SELECT lower(token) AS word, sum(n)::BIGINT AS n FROM ("
            "SELECT unnest(tokens) AS token, 1 AS n FROM sentences) GROUP BY word)",
            (),
        )
        return "frequencies"

    def words(self, ranks: Sequence[int]) -> dict[int, str]:
        """Return the words of those ranks."""
        rows = self.query(
            f"SELECT rank, word FROM {self.frequencies} WHERE rank IN (SELECT unnest(?::BIGINT[]))",
            sorted({int(rank) for rank in ranks}),
        )
        return dict(rows)

    def pool(self, sql: str, *, key: str, limit: int | None = None) -> SentencePool:
        """Return what *sql* selects (digest, label, form), in the random order of *key*."""
        few = "" if limit is None else f"LIMIT {limit}"
        found = self._execute(
            f"SELECT {HANDLE} AS handle, label::BIGINT AS label, form::BIGINT AS form "
            f"FROM ({sql}) ORDER BY md5_number_lower(concat(digest, ' ', ?)), digest {few}",
            (key,),
        ).fetchnumpy()
        columns = [np.asarray(found[name]) for name in ("handle", "label", "form")]
        return SentencePool(columns[0], columns[1], columns[2])

    def texts(self, handles: Handles) -> list[str]:
        """Return the sentences with those digests, in their order."""
        return [text for (text,) in self.columns(handles, "text")]

    def columns(self, handles: Handles, names: str) -> list[tuple[Any, ...]]:
        """Return the columns *names* of those sentences, in the order of the handles."""
        import pyarrow as pa  # noqa: PLC0415 - slow import

        chosen = pa.table({"handle": handles, "nth": np.arange(len(handles))})
        with self._registered(chosen):
            rows = self.query(
                f"SELECT nth, {names} FROM sentences JOIN chosen ON {HANDLE} = handle"
            )
        return [row[1:] for row in sorted(rows, key=lambda row: int(row[0]))]

    def known(self, digests: Sequence[str]) -> set[str]:
        """Return which of the digests are those of sentences of the corpus."""
        import pyarrow as pa  # noqa: PLC0415 - slow import

        with self._registered(pa.table({"digest": pa.array(digests, pa.string())})):
            rows = self.query(
                "SELECT DISTINCT digest FROM sentences SEMI JOIN chosen USING (digest)"
            )
        return {digest for (digest,) in rows}

    @contextmanager
    def _registered(self, table: object) -> Iterator[None]:
        self._connection.register("chosen", table)
        try:
            yield
        except BaseException:  # after Ctrl-C the connection refuses even this
            with suppress(load("duckdb").Error):
                self._connection.unregister("chosen")
            raise
        self._connection.unregister("chosen")

    def _execute(self, sql: str, parameters: Sequence[object]) -> "duckdb.DuckDBPyConnection":
        with _explained():
            return self._connection.execute(sql, parameters)


@contextmanager
def _explained() -> Iterator[None]:
    """Say in a sentence what DuckDB could not do."""
    duckdb = load("duckdb")
    try:
        yield
    except duckdb.IOException as error:
        raise SentprobeError(f"cannot read the table: {first_line(error)}") from error
    except duckdb.OutOfMemoryException as error:
        raise SentprobeError(f"the query needs more memory: {first_line(error)}") from error
    except duckdb.InterruptException:  # Ctrl-C, which DuckDB takes for itself
        raise KeyboardInterrupt from None
    except duckdb.Error as error:  # a damaged shard ends in one of many
        raise SentprobeError(f"cannot read the table: {first_line(error)}") from error


@contextmanager
def open_corpus(table: Table, *, threads: int = THREADS, memory: str = MEMORY) -> Iterator[Corpus]:
    """Open a table for queries, which may use so many threads and so much memory.

    Raises:
        SentprobeError: a shard cannot be read.
    """
    with _explained():
        opened = table.connect()
    with scratch_folder() as spill, opened as connection:
        connection.execute("SET temp_directory = ?", (str(spill),))
        connection.execute("SET memory_limit = ?", (memory,))
        connection.execute("SET threads = ?", (threads,))
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        yield Corpus(connection)
