"""The table of a corpus: a directory of Parquet shards and a head that says what is in them.

table.json       format, command, versions, parser, sources, counts, shards with their sha256
shards/          part-00000.parquet ...: one row per distinct sentence, in the corpus's order
failures.jsonl   the sentences without a row: source, line, why, how they begin
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.errors import FormatError, SentprobeError, UsageError, part_error, path_error
from sentprobe.extras import load
from sentprobe.files import TABLE, local_path, sync_folder, write_atomically
from sentprobe.locks import locked
from sentprobe.probes.corpus.recipe import FORMAT
from sentprobe.values import BadSyntaxError, check_record, parse_json

if TYPE_CHECKING:
    import duckdb


HEAD_NAME = TABLE
SHARDS = "shards"
FAILURES = "failures.jsonl"


class TableError(SentprobeError):
    """A directory that is no table, or one that is damaged or of another version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A file of rows: its name, rows, size in bytes, and the sha256 of its content."""

    file: str
    rows: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCount:
    """How many sentences a source has, with those that failed and those that came before."""

    path: str
    format: str
    sentences: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many sentences there were, and what became of them."""

    sentences: int
    rows: int
    duplicates: int
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """An analysed corpus; :attr:`files` are its shards, for whatever reads Parquet."""

    path: Path
    command: str
    recipe: Mapping[str, Any]
    versions: Mapping[str, str]
    sources: tuple[SourceCount, ...]
    counts: Counts
    shards: tuple[Shard, ...]
    folder: str = "shards"
    """Where they are; elsewhere only until the table has taken the place of another."""

    @property
    def files(self) -> list[str]:
        """The paths of the shards, in order."""
        return [str(self.path / self.folder / shard.file) for shard in self.shards]

    @property
    def constituents(self) -> bool:
        """Whether its rows may have trees: not where a parser gave only dependencies, or none."""
        return bool(self.recipe["constituents"])

    def check(self) -> None:
        """Read all shards and compare them with their checksums.

        Raises:
            TableError: a shard is damaged; names it.
        """
        for shard, file in zip(self.shards, self.files, strict=True):
            path = Path(file)
            if checksum(path) != shard.sha256:
                raise TableError(
                    f"{path}: damaged: its checksum is not the one in {HEAD_NAME}; "
                    "analyse the corpus again (probe analyze --force)"
                )

    def connect(self) -> "duckdb.DuckDBPyConnection":
        """Return a DuckDB connection in which the view ``sentences`` has the rows."""
        connection: duckdb.DuckDBPyConnection = load("duckdb").connect()
        self.show_in(connection, view="sentences")
        return connection

    def show_in(self, connection: "duckdb.DuckDBPyConnection", *, view: str) -> None:
        """Give a connection the rows as *view*: those of these files, whatever they are called.

        To DuckDB a path is a pattern, and there is no way to write every character as itself: files
        with such a name are read by Arrow.
        """
        paths = [local_path(Path(file)) for file in self.files]
        if not any(map(_PATTERN.search, paths)):
            # Without that, a folder named depth=3 would give all rows that depth.
            connection.read_parquet(paths, hive_partitioning=False).create_view(view)
            return
        from pyarrow import dataset, fs  # noqa: PLC0415 - slow import

        connection.register(view, dataset.dataset(paths, filesystem=fs.LocalFileSystem()))


_PATTERN = re.compile(r"[][*?{}\\]")
"""What makes a path a pattern, to DuckDB of any version."""


def checksum(path: Path) -> str:
    """Return the sha256 of a file, in hexadecimal digits.

    Raises:
        TableError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise part_error(path, "cannot read it", error, damaged=TableError) from error


def open_table(path: Path | str, *, check: bool = True) -> Table:
    """Open a table; with *check* its shards are compared with their checksums (500 MB a second).

    Raises:
        TableError: there is no table, it is not finished, it is of another version, or a shard is
            missing or damaged.
    """
    path = Path(path)
    table = _table(path, _head(path))
    for shard, name in zip(table.shards, table.files, strict=True):
        file = Path(name)
        if not file.is_file():
            raise TableError(f"{file}: missing; analyse the corpus again (probe analyze --force)")
        if file.stat().st_size != shard.size:
            raise TableError(
                f"{file}: damaged: it has {file.stat().st_size} bytes, not {shard.size}; "
                "analyse the corpus again (probe analyze --force)"
            )
    if check:
        table.check()
    return table


def _head(path: Path) -> dict[str, Any]:
    file = path / HEAD_NAME
    try:
        found = parse_json(file.read_bytes())
    except FileNotFoundError:
        if (path / "work").is_dir():
            raise TableError(f"{path}: not finished: run probe analyze again") from None
        raise UsageError(
            f"{path}: not a table of an analysed corpus; it has no {HEAD_NAME}"
        ) from None
    except NotADirectoryError:
        raise UsageError(
            f"{path}: a file, and not the table of an analysed corpus; make one of it first: "
            f"probe analyze {path} --out TABLE, with --parser if it is not parsed"
        ) from None
    except OSError as error:
        raise path_error(file, "cannot read it", error, otherwise=TableError) from error
    except BadSyntaxError as error:
        raise TableError(f"{file}: not the head of a table: {error}") from error
    made = found.get("format") if isinstance(found, dict) else None
    if made != FORMAT:
        raise TableError(
            f"{path}: made by another version: its format is {made!r}, this version reads "
            f"{FORMAT!r}; analyse the corpus again (probe analyze --force)"
        )
    return dict(found)


def _table(path: Path, head: dict[str, Any]) -> Table:
    try:
        table = Table(
            path=path,
            command=head["command"],
            recipe=head["recipe"],
            versions=head["versions"],
            sources=tuple(SourceCount(**each) for each in head["sources"]),
            counts=Counts(**head["counts"]),
            shards=tuple(Shard(**each) for each in head["shards"]),
            folder=_folder(path, head),
        )
        check_record(table)
        bool(table.constituents)
        for shard in table.shards:
            _check_shard(shard)
    except (KeyError, TypeError, FormatError) as error:
        raise TableError(f"{path / HEAD_NAME}: not the head of a table: {error}") from error
    return table


def _check_shard(shard: Shard) -> None:
    """Refuse a shard that would be another file than one in the folder of shards."""
    if not re.fullmatch(r"[\w-][\w.-]{0,99}", shard.file):
        raise FormatError(f"{shard.file!r} is no name of a shard")


def _folder(path: Path, head: dict[str, Any]) -> str:
    """Return the folder of the shards; new ones may have just got their usual place."""
    staged = head.get("folder") == STAGED and (path / STAGED).is_dir()
    return STAGED if staged else SHARDS


def format_head(table: Table) -> str:
    """Return the text of table.json; :func:`open_table` reads it."""
    head = {
        "format": FORMAT,
        "command": table.command,
        "recipe": table.recipe,
        "versions": table.versions,
        "counts": asdict(table.counts),
        "sources": [asdict(source) for source in table.sources],
        "shards": [asdict(shard) for shard in table.shards],
    }
    if table.folder != SHARDS:
        head["folder"] = table.folder
    return json.dumps(head, indent=2, ensure_ascii=False) + "\n"


WORK = "work"
"""The folder of the chunks that are done."""

MARKER = "work.json"
MARKER_TEXT = '{\n  "format": "sentprobe-table-work 1"\n}\n'


@contextmanager
def writing(out: Path, *, force: bool) -> Iterator[None]:
    """Make *out* a directory for a table, and keep others from writing there until the end.

    A finished table that is there stays until :func:`put_in_place` puts another in its place.

    Raises:
        UsageError: it is a finished table and *force* is not given, it has files in it that are
            not of a table, another process writes there, or it cannot be written to.
        SentprobeError: writing failed.
    """
    with ExitStack() as stack:
        try:
            out.mkdir(parents=True, exist_ok=True)
            _check_ours(out)
            alone = stack.enter_context(locked(out, wait=False))
            if alone:
                _begin(out, force=force)
        except OSError as error:
            raise path_error(out, "cannot write a table there", error) from error
        if not alone:
            raise UsageError(
                f"{out}: another probe analyze is writing a table there; wait until it is done, or "
                "write to another folder"
            )
        yield


def _check_ours(out: Path) -> None:
    ours = (out / WORK / MARKER).is_file() or _is_table(out / HEAD_NAME)
    if not ours and any(not _is_half_written(each) for each in out.iterdir()):
        raise UsageError(f"{out}: not empty, and not a table of an analysed corpus")


def _begin(out: Path, *, force: bool) -> None:
    _settle(out)
    if (out / HEAD_NAME).exists() and not force:
        raise UsageError(f"{out}: is a finished table; --force makes it anew")
    (out / WORK).mkdir(exist_ok=True)
    write_atomically(out / WORK / MARKER, MARKER_TEXT)


def _is_table(head: Path) -> bool:
    try:
        return str(parse_json(head.read_bytes())["format"]).startswith("sentprobe-table ")
    except (OSError, BadSyntaxError, TypeError, KeyError):
        return False


def _is_half_written(path: Path) -> bool:
    return path.name.startswith(".") or (path.name == WORK and not any(path.glob("[!.]*")))


STAGED = "shards.new"
"""The folder that shards are written into, with the failures, until the head names them."""


def new_shards(out: Path) -> Path:
    """Make the folder for the files of a new table, beside those of the one that is there."""
    shutil.rmtree(out / STAGED, ignore_errors=True)
    (out / STAGED).mkdir()
    return out / STAGED


def put_in_place(made: Table) -> Table:
    """Make what is in the folder of new shards the table, and return it.

    That is so from the moment that its head has its name: the head says where the shards are. Then
    these get their usual place. Whenever this is cut short, the old table is there or the new one.
    """
    sync_folder(made.path / STAGED)
    write_atomically(made.path / HEAD_NAME, format_head(replace(made, folder=STAGED)))
    _settle(made.path)
    return made


def _settle(out: Path) -> None:
    """Give new shards their usual place, where the head names them; no others are there then."""
    if not _is_staged(out / HEAD_NAME):
        return
    if (out / STAGED).is_dir():
        if (out / SHARDS).is_dir():
            shutil.rmtree(out / SHARDS)
        if (out / STAGED / FAILURES).exists():
            (out / STAGED / FAILURES).replace(out / FAILURES)
        (out / STAGED).rename(out / SHARDS)
    made = replace(_table(out, _head(out)), folder=SHARDS)
    write_atomically(out / HEAD_NAME, format_head(made))


def _is_staged(head: Path) -> bool:
    try:
        return bool(parse_json(head.read_bytes())["folder"] == STAGED)
    except (OSError, BadSyntaxError, TypeError, KeyError):
        return False
