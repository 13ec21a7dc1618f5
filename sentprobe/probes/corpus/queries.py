"""DuckDB queries on the table of a corpus: word counts, and pools of sentences in random order."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import SentprobeError, first_line, import_module_of_extra
from sentprobe.common.scratch import make_scratch_folder
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.datasets.dataset import Indices

if TYPE_CHECKING:
    import duckdb

MEMORY = "2GB"
"""The memory limit of DuckDB, above which it uses temporary files."""
THREADS = 2
_FETCH_ROWS = 10_000
HANDLE_SQL = "('0x' || digest)::UBIGINT"
"""The SQL expression for the handle of a sentence: its digest as a number."""
Handles = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class SentencePool:
    """The candidate sentences of a task, in a random order that depends only on the seed.

    - handles: the digest of each sentence as a number, (n,) uint64
    - labels: the class of each sentence, (n,) int64
    - forms: the frequency rank of the word that the item asks about, or 0 if it asks about none, (n,) int64
    """

    handles: Handles
    labels: Indices
    forms: Indices

    def __len__(self) -> int:
        return len(self.handles)


class Corpus:
    """The table of a corpus, open for queries. Word counts are computed once for all tasks."""

    def __init__(self, connection: "duckdb.DuckDBPyConnection") -> None:
        self._connection = connection

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query; raise SentprobeError if the table cannot be read."""
        return self._execute(sql, parameters).fetchall()

    def stream(self, sql: str, *parameters: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query whose result may not fit into memory."""
        cursor = self._execute(sql, parameters)
        with _translate_errors():
            while rows := cursor.fetchmany(_FETCH_ROWS):
                yield from rows

    def add_table(self, table: Table, *, view: str) -> None:
        """Make another table available to queries under the name *view*."""
        with _translate_errors():
            table.create_view(self._connection, view=view)

    @cached_property
    def token_count(self) -> int:
        """The number of tokens in the corpus."""
        ((tokens,),) = self.query("SELECT coalesce(sum(length), 0) FROM sentences")
        return int(tokens)

    @cached_property
    def frequency_table(self) -> str:
        """The name of a SQL table with the columns word (lower-case), n (count) and rank (unique, from 1)."""
        self._execute(
            "CREATE TEMP TABLE frequencies AS "
            "SELECT word, n, row_number() OVER (ORDER BY n DESC, word) AS rank FROM ("
            "SELECT lower(token) AS word, sum(n)::BIGINT AS n FROM ("
            "SELECT unnest(tokens) AS token, 1 AS n FROM sentences) GROUP BY word)",
            (),
        )
        return "frequencies"

    def find_words(self, ranks: Sequence[int]) -> dict[int, str]:
        """Return a dictionary of frequency ranks (1 is the most frequent word) and their words."""
        rows = self.query(
            f"SELECT rank, word FROM {self.frequency_table} WHERE rank IN (SELECT unnest(?::BIGINT[]))",
            sorted({int(rank) for rank in ranks}),
        )
        return dict(rows)

    def select_pool(self, sql: str, *, key: str, limit: int | None = None) -> SentencePool:
        """Return the sentences (digest, label, form) that *sql* selects, in a random order that *key* determines."""
        limit_clause = "" if limit is None else f"LIMIT {limit}"
        arrays = self._execute(
            f"SELECT {HANDLE_SQL} AS handle, label::BIGINT AS label, form::BIGINT AS form "
            f"FROM ({sql}) ORDER BY md5_number_lower(concat(digest, ' ', ?)), digest "
            f"{limit_clause}",
            (key,),
        ).fetchnumpy()
        columns = [np.asarray(arrays[name]) for name in ("handle", "label", "form")]
        return SentencePool(columns[0], columns[1], columns[2])

    def read_texts(self, handles: Handles) -> list[str]:
        """Return the texts of the sentences with these *handles*, in the same order."""
        return [text for (text,) in self.read_columns(handles, "text")]

    def read_columns(self, handles: Handles, names: str) -> list[tuple[Any, ...]]:
        """Return the columns *names*, such as ``"text, length"``, of the sentences *handles*, in the same order."""
        with self._register(handle=handles, nth=np.arange(len(handles))):
            rows = self.query(f"SELECT nth, {names} FROM sentences JOIN chosen ON {HANDLE_SQL} = handle")
        return [row[1:] for row in sorted(rows, key=lambda row: int(row[0]))]

    def find_unknown_digests(self, digests: Sequence[str]) -> list[str]:
        """Return the digests to which no sentence of the corpus belongs."""
        with self._register(digest=digests):
            return [digest for (digest,) in self.query("FROM chosen ANTI JOIN sentences USING (digest)")]

    def find_sentence_ids(self, texts: Sequence[str]) -> dict[str, list[str]]:
        """Return a dictionary of texts and their CoNLL-U ids (``sent_id``). Texts without an id are left out."""
        with self._register(text=texts):
            rows = self.query("SELECT text, sentence_ids FROM sentences SEMI JOIN chosen USING (text)")
        return {text: ids for text, ids in rows if ids}

    @contextmanager
    def _register(self, **columns: NDArray[Any] | Sequence[str]) -> Iterator[None]:
        """Give queries access to a table ``chosen`` with these columns of numbers or texts."""
        import pyarrow as pa

        types = {name: None if isinstance(values, np.ndarray) else pa.string() for name, values in columns.items()}
        table = pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
        self._connection.register("chosen", table)
        try:
            yield
        except BaseException:  # after Ctrl-C, the connection may reject even unregister
            with suppress(import_module_of_extra("duckdb").Error):
                self._connection.unregister("chosen")
            raise
        self._connection.unregister("chosen")

    def _execute(self, sql: str, parameters: Sequence[object]) -> "duckdb.DuckDBPyConnection":
        with _translate_errors():
            return self._connection.execute(sql, parameters)


@contextmanager
def _translate_errors() -> Iterator[None]:
    duckdb = import_module_of_extra("duckdb")
    try:
        yield
    except duckdb.IOException as error:
        raise SentprobeError(f"cannot read the table: {first_line(error)}") from error
    except duckdb.OutOfMemoryException as error:
        raise SentprobeError(f"the query needs more memory: {first_line(error)}") from error
    except duckdb.InterruptException:  # DuckDB handles Ctrl-C itself
        raise KeyboardInterrupt from None
    except duckdb.Error as error:  # a damaged shard can cause many kinds of error
        raise SentprobeError(f"cannot read the table: {first_line(error)}") from error


@contextmanager
def open_corpus(table: Table, *, threads: int = THREADS, memory: str = MEMORY) -> Iterator[Corpus]:
    """Open a table for queries, with limited threads and memory; raise SentprobeError if it cannot be read."""
    with _translate_errors():
        connection_context = table.connect()
    with make_scratch_folder() as spill, connection_context as connection:
        connection.execute("SET temp_directory = ?", (str(spill),))
        connection.execute("SET memory_limit = ?", (memory,))
        connection.execute("SET threads = ?", (threads,))
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        yield Corpus(connection)
