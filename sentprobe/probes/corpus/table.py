"""The table of an analysed corpus: its head (``table.json``), Parquet files of rows (shards), and failed sentences.

The settings of a corpus analysis that determine its rows, and the splitting of text into sentences and tokens.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.common.errors import (
    FormatError,
    SentprobeError,
    UsageError,
    describe_damage,
    describe_package,
    first_line,
    folder_part_error,
    get_own_version,
    import_module_of_extra,
    path_error,
)
from sentprobe.common.files import sync_folder, sync_path, to_local_path, write_atomically
from sentprobe.common.inputs import TABLE_MARKER, manage_folder, record_input
from sentprobe.common.scratch import hold_lock
from sentprobe.common.values import BadSyntaxError, check_record, format_json, parse_json
from sentprobe.probes.corpus.parsers import NO_PARSER, find_parser, load_parser
from sentprobe.probes.corpus.sources import RecordFields, find_file_language

if TYPE_CHECKING:
    import duckdb

PUNKT_FILES = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")
"""The files with the parameters of the sentence splitter Punkt, in NLTK's text format."""
Splitter = Callable[[str], list[str]]


def find_punkt(folder: Path | None) -> Path:
    """Return the folder of Punkt parameters, by default NLTK's for English; raise UsageError if files are missing."""
    if folder is None:
        from nltk.data import find

        try:
            return Path(find("tokenizers/punkt_tab/english"))
        except LookupError:
            raise UsageError(
                "splitting text into sentences needs Punkt parameters: name their folder with --punkt, "
                "or install those of NLTK: python -m nltk.downloader punkt_tab"
            ) from None
    missing = [name for name in PUNKT_FILES if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"{folder}: not a folder of Punkt parameters: it has no {missing[0]} "
            "(nltk.tokenize.punkt.save_punkt_params writes such a folder)"
        )
    return folder.resolve()


@lru_cache(maxsize=2)
def load_splitter(folder: str) -> Splitter:
    """Return Punkt's function (Kiss and Strunk 2006), which splits running text into sentences."""
    from nltk.tabdata import PunktDecoder
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    # NLTK's own function reads parameters only from NLTK's data folders.
    parameters, decoder = PunktParameters(), PunktDecoder()
    decoders = (decoder.txt2set, lambda lines: set(decoder.tab2tups(lines)), decoder.tab2intdict, decoder.txt2set)
    try:
        for name, decode in zip(PUNKT_FILES, decoders, strict=True):
            with Path(folder, name).open(encoding="utf-8") as lines:
                setattr(parameters, Path(name).stem, decode(lines))
    except OSError as error:
        raise path_error(Path(folder), "cannot read Punkt's parameters", error) from error
    except (ValueError, IndexError) as error:
        raise SentprobeError(f"{folder}: cannot read Punkt's parameters: {first_line(error)}") from error
    splitter: Splitter = PunktSentenceTokenizer(parameters).tokenize
    return splitter


@lru_cache(maxsize=1)
def load_tokenizer() -> Splitter:
    """Return the function that splits a sentence into tokens as in the Penn Treebank."""
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenizer: Splitter = NLTKWordTokenizer().tokenize
    return tokenizer


TABLE_FORMAT = "sentprobe-table 3"
"""The format name in ``table.json``."""
MAX_TOKENS = 100
"""The default maximum length of a sentence in tokens. Longer sentences are not parsed, and have no row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisRecipe:
    """The settings of an analysis that determine the rows of the table."""

    reading: RecordFields = RecordFields()  # noqa: RUF009 - frozen
    parser: str | None = None
    """The name of the parser, as in ``--parser``; None if all sources are already parsed."""
    punkt: str | None = None
    """The folder of Punkt parameters; None if the parser splits text into sentences, or no source has running text."""
    max_tokens: int = MAX_TOKENS
    universal: bool = False
    """Whether rows are built from Universal Dependencies even if a sentence also has Penn Treebank tags or a tree."""
    language: str = ""
    """The code of the language of all sources; "" if it is unknown, or if they have several languages."""

    @property
    def has_parser(self) -> bool:
        return self.parser not in {None, NO_PARSER}

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a dictionary for JSON. If there is a parser, load it to include its fingerprint."""
        parser_fingerprint, constituents = None, self.parser is None
        if self.parser and self.has_parser:
            parser_fingerprint = load_parser(self.parser).fingerprint
            constituents = find_parser(self.parser).constituents
        punkt_digest = self.punkt
        if self.punkt:
            content = b"".join(Path(self.punkt, name).read_bytes() for name in PUNKT_FILES)
            punkt_digest = sha256(content).hexdigest()[:16]
        return {
            "parser": self.parser,
            "parser_made_of": parser_fingerprint,
            "constituents": constituents,
            "punkt": punkt_digest,
            "max_tokens": self.max_tokens,
            "universal": self.universal,
            "reading": asdict(self.reading),
        }

    def format_line(self) -> str:
        """Return one line of JSON with all settings and versions that determine the rows of the table."""
        versions = [TABLE_FORMAT, get_own_version(), describe_package("nltk"), describe_package("pyarrow")]
        return json.dumps([self.to_json(), self.language, *versions], sort_keys=True)


def make_recipe(
    *,
    reading: RecordFields,
    parser: str | None,
    punkt: Path | None,
    max_tokens: int,
    has_text: bool,
    universal: bool = False,
    language: str = "",
) -> AnalysisRecipe:
    """Return the recipe of an analysis. Punkt splits running text if *punkt* is set or the parser cannot split it."""
    splits = parser not in {None, NO_PARSER} and load_parser(str(parser)).splits
    folder = str(find_punkt(punkt)) if has_text and (punkt is not None or not splits) else None
    return AnalysisRecipe(
        reading=reading, parser=parser, punkt=folder, max_tokens=max_tokens, universal=universal, language=language
    )


HEAD_NAME = TABLE_MARKER
SHARDS = "shards"
FAILURES = "failures.jsonl"


class TableError(SentprobeError):
    """A table is damaged, not finished, or written by another version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A Parquet file of rows: its name, number of rows, size in bytes, and SHA-256."""

    file: str
    rows: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCount:
    """A file of the corpus, and its number of sentences, including failures and duplicates."""

    path: str
    format: str
    sentences: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers of sentences in a corpus, of rows in the table, of duplicate sentences, and of failed sentences."""

    sentences: int
    rows: int
    duplicates: int
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The table of an analysed corpus."""

    path: Path
    command: str
    recipe: Mapping[str, Any]
    versions: Mapping[str, str]
    counts: Counts
    sources: tuple[SourceCount, ...]
    shards: tuple[Shard, ...]
    language: str = ""
    """The language of the sentences, such as ``de``; empty if unknown."""
    folder: str = "shards"
    """The subfolder of the shards. It has another name while the table replaces an older table."""

    @property
    def files(self) -> list[str]:
        """The paths of the shards, in order."""
        return [str(self.path / self.folder / shard.file) for shard in self.shards]

    @property
    def constituents(self) -> bool:
        """Whether rows may have constituency trees; false for a dependency parser, or without a parser."""
        return bool(self.recipe["constituents"])

    def has_values(self, column: str) -> bool:
        """Return whether any row has a value in *column*, by Parquet's statistics; true if a shard is unreadable."""
        import pyarrow.parquet as pq

        try:
            heads = [pq.read_metadata(file) for file in self.files]
        except (OSError, ValueError):  # check_shards reports the error
            return True
        groups = (head.row_group(number) for head in heads for number in range(head.num_row_groups))
        parts = (group.column(number) for group in groups for number in range(group.num_columns))
        statistics = [part.statistics for part in parts if part.path_in_schema == column]
        return any(values is None or values.has_min_max for values in statistics)

    def check_shards(self) -> None:
        """Compare all shards with their checksums; raise TableError if a shard is damaged."""
        for shard, file in zip(self.shards, self.files, strict=True):
            path = Path(file)
            if compute_checksum(path) != shard.sha256:
                raise TableError(
                    f"{path}: damaged: its checksum is not the one in {HEAD_NAME}; "
                    "analyse the corpus again (probe analyze --force)"
                )

    def connect(self) -> "duckdb.DuckDBPyConnection":
        """Return a DuckDB connection with the rows of the table as the view ``sentences``."""
        connection: duckdb.DuckDBPyConnection = import_module_of_extra("duckdb").connect()
        self.create_view(connection, view="sentences")
        return connection

    def create_view(self, connection: "duckdb.DuckDBPyConnection", *, view: str) -> None:
        """Create a view of the rows. Files are read by Arrow if DuckDB would take their paths for glob patterns."""
        paths = [to_local_path(Path(file)) for file in self.files]
        if not any(map(_PATTERN_CHARACTERS.search, paths)):
            # With Hive partitioning, a folder named depth=3 would set the column depth of all rows.
            connection.read_parquet(paths, hive_partitioning=False).create_view(view)
            return
        from pyarrow import dataset, fs

        connection.register(view, dataset.dataset(paths, filesystem=fs.LocalFileSystem()))


_PATTERN_CHARACTERS = re.compile(r"[][*?{}\\]")
"""The characters that make a path a glob pattern in any version of DuckDB."""


def compute_checksum(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits; raise TableError if the file cannot be read."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise folder_part_error(path, error, damaged=TableError) from error


def open_table(path: Path | str, *, check: bool = True) -> Table:
    """Open the table in a folder; *check* compares the shards with their checksums (about 500 MB per second).

    Raises:
        UsageError: the folder is not a table.
        TableError: the table is damaged, not finished, or written by another version.
    """
    path = Path(path)
    record_input(path)
    table = _build_table(path, _read_head(path))
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
        table.check_shards()
    return table


def _read_head(path: Path) -> dict[str, Any]:
    file = path / HEAD_NAME
    try:
        head = parse_json(file.read_bytes())
    except FileNotFoundError:
        if (path / "work").is_dir():
            raise TableError(f"{path}: not finished: run probe analyze again") from None
        raise UsageError(f"{path}: not a table of an analysed corpus; it has no {HEAD_NAME}") from None
    except NotADirectoryError:
        raise UsageError(
            f"{path}: a file, not the table of an analysed corpus; first run probe analyze "
            f"{path} --out TABLE, with --parser if the file is not parsed"
        ) from None
    except OSError as error:
        raise path_error(file, "cannot read it", error, otherwise=TableError) from error
    except BadSyntaxError as error:
        raise TableError(f"{file}: not the head of a table: {error}") from error
    table_format = head.get("format") if isinstance(head, dict) else None
    if table_format != TABLE_FORMAT:
        raise TableError(
            f"{path}: written by another version: its format is {table_format!r}, this version reads "
            f"{TABLE_FORMAT!r}; analyse the corpus again (probe analyze --force)"
        )
    return dict(head)


def _build_table(path: Path, head: dict[str, Any]) -> Table:
    # If the staged folder is missing, the shards were moved to their final place.
    is_staged = head.get("folder") == STAGED_SHARDS and (path / STAGED_SHARDS).is_dir()
    try:
        table = Table(
            path=path,
            command=head["command"],
            recipe=head["recipe"],
            versions=head["versions"],
            sources=tuple(SourceCount(**source) for source in head["sources"]),
            counts=Counts(**head["counts"]),
            shards=tuple(Shard(**shard_record) for shard_record in head["shards"]),
            language=head["language"],
            folder=STAGED_SHARDS if is_staged else SHARDS,
        )
        check_record(table)
        # A property that is computed from the recipe: it raises here, where the message names the file, not at its
        # first use.
        bool(table.constituents)
        for shard in table.shards:
            if not re.fullmatch(r"[\w-][\w.-]{0,99}", shard.file):
                raise FormatError(f"{shard.file!r} is not the name of a shard")
    except (KeyError, TypeError, FormatError) as error:
        raise TableError(f"{path / HEAD_NAME}: not the head of a table: {describe_damage(error)}") from error
    return table


def format_head(table: Table) -> str:
    """Return the text of the file ``table.json``, from which :func:`open_table` opens the table."""
    head = {"format": TABLE_FORMAT} | asdict(table)
    for name in ("path", *(["folder"] if table.folder == SHARDS else [])):
        del head[name]
    return format_json(head, indent=2) + "\n"


_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_CODE = re.compile(r"[a-z]{2}(?=\.|$)")


def choose_language(files: Iterable[str], folder: Path, *, chosen: str | None = None) -> str:
    """Return *chosen*, else the language that all *files* name, else the one that *folder* names; "" if unknown.

    >>> choose_language(["ud/de_gsd-ud-dev.conllu", "ud/de_pud-ud-test.conllu.xz"], Path("table"))
    'de'
    >>> choose_language(["all.conllu"], Path("fr.table")), choose_language(["all.conllu"], Path("table"))
    ('fr', '')
    """
    if chosen is not None:
        if _LANGUAGE.fullmatch(chosen):
            return chosen
        raise UsageError(f"the language {chosen!r} has characters besides letters, digits and _; examples: de, pt_BR")
    codes = {find_file_language(file) for file in files}
    if len(codes) == 1 and codes != {""}:
        return codes.pop()
    match = _CODE.match(folder.name)
    return match[0] if match else ""


WORK_FOLDER = "work"
"""The folder of finished chunks inside the folder of the table."""
WORK_MARKER = "work.json"


@contextmanager
def lock_table_folder(out: Path, *, force: bool) -> Iterator[None]:
    """Prepare and lock a new table's folder; raise UsageError if it has other files or, without *force*, a table."""
    with ExitStack() as stack:
        try:
            out.mkdir(parents=True, exist_ok=True)
            _check_folder(out)
            manage_folder(out)
            is_locked = stack.enter_context(hold_lock(out))
            if is_locked:
                _move_staged_shards(out)
                if (out / HEAD_NAME).exists() and not force:
                    raise UsageError(f"{out}: is a finished table; --force replaces it")
                (out / WORK_FOLDER).mkdir(exist_ok=True)
                write_atomically(out / WORK_FOLDER / WORK_MARKER, '{\n  "format": "sentprobe-table-work 1"\n}\n')
        except OSError as error:
            raise path_error(out, "cannot write a table there", error) from error
        if not is_locked:
            raise UsageError(
                f"{out}: another probe analyze is writing a table there; wait until it is done, or "
                "write to another folder"
            )
        yield


def _check_folder(out: Path) -> None:
    is_table = _read_head_field(out, "format").startswith("sentprobe-table ")
    is_table_folder = is_table or (out / WORK_FOLDER / WORK_MARKER).is_file()
    files = (file for file in out.iterdir() if not file.name.startswith("."))
    if not is_table_folder and any(file.name != WORK_FOLDER or any(file.glob("[!.]*")) for file in files):
        raise UsageError(f"{out}: not empty, and not a table of an analysed corpus")


def _read_head_field(out: Path, name: str) -> str:
    try:
        return str(parse_json((out / HEAD_NAME).read_bytes())[name])
    except (OSError, BadSyntaxError, TypeError, KeyError):
        return ""


STAGED_SHARDS = "shards.new"
"""The folder of new shards and failures before they replace the files of an older table."""


def make_staged_folder(out: Path) -> Path:
    """Create an empty folder for the files of a new table, and return its path."""
    shutil.rmtree(out / STAGED_SHARDS, ignore_errors=True)
    (out / STAGED_SHARDS).mkdir()
    return out / STAGED_SHARDS


def replace_table(table: Table) -> Table:
    """Replace any older table with *table*. Write the header, then move the table's files out of ``shards.new``."""
    sync_folder(table.path / STAGED_SHARDS)
    # The header names shards.new, so that a process killed before the move leaves a readable table.
    write_atomically(table.path / HEAD_NAME, format_head(replace(table, folder=STAGED_SHARDS)))
    _move_staged_shards(table.path)
    return table


def _move_staged_shards(out: Path) -> None:
    """Replace a table's older shards and failures with those in ``shards.new`` if the header names that folder."""
    if _read_head_field(out, "folder") != STAGED_SHARDS:
        return
    if (out / STAGED_SHARDS).is_dir():
        if (out / SHARDS).is_dir():
            shutil.rmtree(out / SHARDS)
        if (out / STAGED_SHARDS / FAILURES).exists():
            (out / STAGED_SHARDS / FAILURES).replace(out / FAILURES)
        (out / STAGED_SHARDS).rename(out / SHARDS)
        sync_path(out)
    table = replace(_build_table(out, _read_head(out)), folder=SHARDS)
    write_atomically(out / HEAD_NAME, format_head(table))
