"""Writing sentences to files and reading them back.

A file appears under its name only when it is whole: it is written beside it and then renamed.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from sentprobe.errors import FormatError, UsageError
from sentprobe.files import atomic_path, decode_lines
from sentprobe.generator.boxes import IndexArray
from sentprobe.generator.portions import portions
from sentprobe.generator.records import PARQUET, RECORD_FORMATS, format_of
from sentprobe.generator.sentence import Sentence
from sentprobe.generator.space import Space
from sentprobe.lexicon import Lexicon
from sentprobe.progress import Reporter, Silent


def write_sentences(
    space: Space,
    indices: IndexArray,
    out: IO[str],
    fmt: str,
    reporter: Reporter | None = None,
    *,
    jobs: int | None = 1,
) -> None:
    """Write the sentences of *space* at *indices* to a text stream in a record format.

    They are made by so many processes; None is as many as are worth it.
    """
    reporter = reporter or Silent()
    reporter.begin("generate", len(indices))
    with portions(space, indices, fmt, jobs=jobs) as made:
        for count, records in made:
            out.write(records)
            reporter.advance(count)


def write_file(
    space: Space,
    indices: IndexArray,
    path: Path | str,
    fmt: str | None = None,
    reporter: Reporter | None = None,
    *,
    jobs: int | None = 1,
) -> None:
    """Write sentences of *space* to a file; its suffix says the format if not given.

    They are made by so many processes; None is as many as are worth it.

    Raises:
        UsageError: an unknown format, or a path that cannot be written; no such number of jobs.
        SentprobeError: a process was killed.
    """
    path = Path(path)
    name = format_of(path.suffix, fmt)
    with atomic_path(path) as temporary:
        if name == PARQUET:
            _write_groups(space, indices, temporary, reporter or Silent(), jobs)
        else:
            with _open(temporary) as out:
                write_sentences(space, indices, out, name, reporter, jobs=jobs)


def _write_groups(
    space: Space, indices: IndexArray, path: Path, reporter: Reporter, jobs: int | None
) -> None:
    from sentprobe.generator.parquet import open_parquet, schema  # noqa: PLC0415 - slow import

    reporter.begin("generate", len(indices))
    kind = schema(space.count())
    with portions(space, indices, PARQUET, jobs=jobs) as made, open_parquet(path, kind) as writer:
        for count, group in made:
            writer.write_table(group)
            reporter.advance(count)


def write_annotated(
    sentences: Iterable[Sentence], path: Path | str, fmt: str | None = None
) -> None:
    """Write sentences to a file one by one; its suffix says the format if not given.

    Raises:
        UsageError: an unknown format, or a path that cannot be written.
    """
    path = Path(path)
    name = format_of(path.suffix, fmt)
    with atomic_path(path) as temporary:
        if name == PARQUET:
            from sentprobe.generator.parquet import write_parquet  # noqa: PLC0415 - slow import

            write_parquet(sentences, temporary)
        else:
            with _open(temporary) as out:
                out.writelines(map(RECORD_FORMATS[name].write, sentences))


def _open(path: Path) -> IO[str]:
    return path.open("w", encoding="utf-8", newline="\n")


def read_file(path: Path | str, lexicon: Lexicon, fmt: str | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a file in any of the formats; text and trees are parsed.

    Raises:
        UsageError: the file cannot be read, or its format is unknown.
        FormatError: what is in it is not right; says where.
    """
    path = Path(path)
    name = format_of(path.suffix, fmt)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    try:
        if name == PARQUET:
            from sentprobe.generator.parquet import read_parquet  # noqa: PLC0415 - slow import

            yield from read_parquet(path)
        else:
            with path.open("rb") as lines:
                yield from RECORD_FORMATS[name].read(decode_lines(lines), lexicon)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot read it: {error.strerror}") from error
