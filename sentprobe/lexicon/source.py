"""Parser of the text of a lexicon file (TOML) into sections and entries, with the line of each key."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from sentprobe.common.errors import FormatError, SentprobeError, format_message
from sentprobe.common.values import parse_toml


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A mistake in a lexicon file; ``code`` is the code of the check that found it, such as L003."""

    line: int
    code: str
    text: str


class LexiconError(SentprobeError):
    """A lexicon file has mistakes; the message has a line ``FILE:LINE: CODE: ...`` for each problem."""

    exit_code = 2

    def __init__(self, path: str, problems: Iterable[Problem]) -> None:
        self.path = path
        self.problems = tuple(sorted(problems))
        super().__init__(path, self.problems)

    @property
    def code(self) -> str:
        """The code of the first problem."""
        return self.problems[0].code

    @property
    def line(self) -> int:
        """The line of the first problem, counted from 1."""
        return self.problems[0].line

    def __str__(self) -> str:
        lines = (f"{self.path}:{p.line}: {p.code}: {p.text}" for p in self.problems)
        return "\n".join(map(format_message, lines))


VOCABULARY = "vocabulary"
SYNONYMS = "synonyms"
SORTS = "sorts"
NOT_TOML = "L010"
HEADER = re.compile(r"\s*\[([^\[\]]+)\]")
KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*=""")
STRING_OR_COMMENT = re.compile(r""""(?:\\.|[^"\\])*(?:"|\\?$)|'[^']*(?:'|$)|\#.*""")
TOML_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(frozen=True, slots=True)
class Place:
    """The lines, counted from 1, where a key and its value stand. If ``key`` is None, those of the section's header."""

    section: str
    key: str | None
    first: int
    last: int


KeyPlaces = dict[tuple[str, str | None], Place]
"""The place of the first occurrence of each section and key."""


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """A key in a section of a lexicon file, with its value and its line."""

    key: str
    value: object
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    """A table in a lexicon file: the words of a kind, a vocabulary (``vocabulary.NAME``), sorts or synonyms."""

    name: str
    line: int
    entries: tuple[LexiconEntry, ...]
    is_table: bool = True


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed lexicon file; ``repeated`` has the place of each repeated key, and of the key's first occurrence."""

    path: str
    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    repeated: tuple[tuple[Place, Place], ...]

    def find_line(self, member: str, *, after: int) -> int:
        """Return the number of the first line from line *after* on that has *member* in quotes, or else *after*."""
        quoted = (f'"{member}"', f"'{member}'")
        for number, line in enumerate(self.lines[after - 1 :], start=after):
            if any(string in line for string in quoted):
                return number
        return after


def read_document(text: str, path: str) -> Document:
    """Parse the text of a lexicon file. Raises LexiconError (problem L010) if it is not TOML."""
    places = tuple(scan_places(text))
    firsts: KeyPlaces = {}
    repeated = []
    for place in places:
        first = firsts.setdefault((place.section, place.key), place)
        if place.key is not None and first is not place:
            repeated.append((place, first))
    lines = tuple(text.split("\n"))
    # Repeated entries are replaced by empty lines, because TOML forbids repeated keys.
    blank = {n for place, _ in repeated for n in range(place.first, place.last + 1)}
    unrepeated = "\n".join("" if number in blank else line for number, line in enumerate(lines, start=1))
    tables = _parse_tables(unrepeated, path, last=text.rstrip("\n").count("\n") + 1)
    sections = tuple(_make_sections(tables, firsts))
    return Document(path, lines, sections, tuple(repeated))


def scan_places(text: str) -> Iterator[Place]:
    r"""Yield the place of each section header and key in the text of a lexicon file, in order.

    >>> text = '[noun]\nman = { NNS = "men" }\n\n[vocabulary.v]\nnoun = [\n"man",\n]'
    >>> for place in scan_places(text):
    ...     print(place.section, place.key or "-", place.first, place.last)
    noun - 1 1
    noun man 2 2
    vocabulary.v - 4 4
    vocabulary.v noun 5 7
    """
    section, lines = "", iter(enumerate(text.split("\n"), start=1))
    for number, line in lines:
        if header := HEADER.match(line):
            section = re.sub(r"""["'\s]""", "", header[1])
            yield Place(section, None, number, number)
        elif key := KEY.match(line):
            last, depth = number, _count_open_brackets(line)
            while depth > 0 and (following := next(lines, None)):
                last, depth = following[0], depth + _count_open_brackets(following[1])
            yield Place(section, next(k for k in key.groups() if k is not None), number, last)


def _count_open_brackets(line: str) -> int:
    bare = STRING_OR_COMMENT.sub("", line)
    return sum((char in "[{") - (char in "]}") for char in bare)


def _parse_tables(text: str, path: str, *, last: int) -> Mapping[str, object]:
    """Return the TOML tables of *text*. Raises LexiconError (problem L010) with the line of a syntax error."""
    try:
        return parse_toml(text)
    except FormatError as error:
        where = TOML_LINE.search(str(error))
        line = int(where[1]) if where and where[1] else last
        text = f"a lexicon is a TOML file in UTF-8: {TOML_LINE.sub('', str(error))}"
        raise LexiconError(path, [Problem(line, NOT_TOML, text)]) from None


def _make_sections(tables: Mapping[str, object], places: KeyPlaces) -> Iterator[Section]:
    """Yield a section for each TOML table; any other value becomes a section without entries."""
    lines: dict[str, int] = {}
    for place in places.values():
        for name in accumulate(place.section.split("."), "{}.{}".format):
            lines.setdefault(name, place.first)
    for name, value in tables.items():
        if name == VOCABULARY and isinstance(value, dict):
            for inner, table in value.items():
                yield _make_section(f"{VOCABULARY}.{inner}", table, places, lines)
        else:
            yield _make_section(name, value, places, lines)


def _make_section(name: str, table: object, places: KeyPlaces, lines: Mapping[str, int]) -> Section:
    """Return the section of a TOML table; an entry whose line is unknown gets the line of the section.

    - lines: for each section, the line of the first header or key in it
    """
    parent, _, inner = name.rpartition(".")
    place = places.get((parent, inner))
    line = lines.get(name) or (place.first if place else 1)
    if not isinstance(table, dict):
        return Section(name, line, (), is_table=False)
    entries = []
    for key, value in table.items():
        place = places.get((name, key)) or places.get((f"{name}.{key}", None))
        entries.append(LexiconEntry(key, value, place.first if place else line))
    return Section(name, line, tuple(entries))
