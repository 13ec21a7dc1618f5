"""Sentences of files that are excluded from sampling, found by their events."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from sentprobe.disk.files import decode_lines
from sentprobe.errors import FormatError, UsageError
from sentprobe.generator.bulk.sentence_files import read_file
from sentprobe.generator.events.event import Event
from sentprobe.generator.sentences.parse import ParseError, normalize_sentence, parse
from sentprobe.generator.sentences.sentence_records import TEXT, find_record_format
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Lexicon


def find_excluded_indices(paths: Iterable[Path], space: Space) -> list[int]:
    """Return the sorted indices of the sentences of files that are in a space. Raises UsageError or FormatError."""
    indices = {space.find(event) for path in paths for event in _read_events(path, space.lexicon)}
    return sorted(index for index in indices if index is not None)


def _read_events(path: Path, lexicon: Lexicon) -> Iterator[Event]:
    if _find_format(path) == TEXT:
        yield from _parse_text_events(path, lexicon)
    else:
        yield from (sentence.event for sentence in read_file(path, lexicon))


def _find_format(path: Path) -> str:
    """Return the format of a file; an unknown suffix means text."""
    try:
        return find_record_format(path.suffix)
    except UsageError:
        return TEXT


def _parse_text_events(path: Path, lexicon: Lexicon) -> Iterator[Event]:
    """Yield the events of a file's lines; skip lines that the grammar does not cover."""
    try:
        with path.open("rb") as lines:
            for line in decode_lines(lines):
                try:
                    yield from parse(normalize_sentence(line), lexicon)
                except ParseError:
                    continue
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot read it: {error.strerror}") from error
