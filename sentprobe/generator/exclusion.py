"""Sentences that are not to be drawn: those of files, found by their events."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from sentprobe.errors import FormatError, UsageError
from sentprobe.files import decode_lines
from sentprobe.generator.event import Event
from sentprobe.generator.parse import ParseError, parse, plain
from sentprobe.generator.records import TEXT, format_of
from sentprobe.generator.sentence_files import read_file
from sentprobe.generator.space import Space
from sentprobe.lexicon import Lexicon


def indices_of(paths: Iterable[Path], space: Space) -> list[int]:
    """Return where the sentences of files are in a space, sorted; those outside it are left out.

    Raises:
        UsageError: a file cannot be read.
        FormatError: what is in it is not right; says where.
    """
    found = {space.find(event) for path in paths for event in _events(path, space.lexicon)}
    return sorted(index for index in found if index is not None)


def _events(path: Path, lexicon: Lexicon) -> Iterator[Event]:
    if _format(path) == TEXT:
        yield from _events_of_text(path, lexicon)
    else:
        yield from (sentence.event for sentence in read_file(path, lexicon))


def _format(path: Path) -> str:
    """Return the format of a file; one of an unknown suffix is text."""
    try:
        return format_of(path.suffix)
    except UsageError:
        return TEXT


def _events_of_text(path: Path, lexicon: Lexicon) -> Iterator[Event]:
    """Yield the events of a file's lines; what the grammar does not cover is never drawn anyway."""
    try:
        with path.open("rb") as lines:
            for line in decode_lines(lines):
                try:
                    yield from parse(plain(line), lexicon)
                except ParseError:
                    continue
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot read it: {error.strerror}") from error
