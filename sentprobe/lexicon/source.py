"""The text of a lexicon file as sections and entries that know their lines.

A lexicon file is TOML. Its values are read without lines and without all of the repeated keys, so
that a second look at the text finds where each key stands. That look takes time in proportion to
the text, whatever is in it: no pattern can match one stretch of it in several ways.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sentprobe.errors import FormatError
from sentprobe.lexicon.problems import LexiconError, Problem
from sentprobe.values import parse_toml

VOCABULARY = "vocabulary"
NOT_TOML = "L010"

HEADER = re.compile(r"\s*\[([^\[\]]+)\]")
KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*=""")
STRING_OR_COMMENT = re.compile(r""""(?:\\.|[^"\\])*(?:"|\\?$)|'[^']*(?:'|$)|\#.*""")
TOML_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a key (or, if *key* is None, a section's header) stands: its first and last line."""

    section: str
    key: str | None
    first: int
    last: int


KeyPlaces = dict[tuple[str, str | None], Place]
"""The first place of each section and key."""


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """A key of a section with its value."""

    key: str
    value: object
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the file: the words of a kind, or the vocabulary ``vocabulary.NAME``."""

    name: str
    line: int
    entries: tuple[LexiconEntry, ...]
    is_table: bool = True


@dataclass(frozen=True, slots=True)
class Document:
    """A lexicon file; *repeated* pairs each repeated key with the place of the first."""

    path: str
    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    repeated: tuple[tuple[Place, Place], ...]

    def line_of(self, member: str, *, after: int) -> int:
        """Return the first line from *after* on with the string *member*, else *after* itself."""
        quoted = (f'"{member}"', f"'{member}'")
        for number, line in enumerate(self.lines[after - 1 :], start=after):
            if any(string in line for string in quoted):
                return number
        return after


def read_document(text: str, path: str) -> Document:
    """Return the sections and entries of a lexicon file's text.

    Raises:
        LexiconError: L010, the text is not TOML.
    """
    places = tuple(scan(text))
    firsts: KeyPlaces = {}
    repeated = []
    for place in places:
        first = firsts.setdefault((place.section, place.key), place)
        if place.key is not None and first is not place:
            repeated.append((place, first))
    lines = tuple(text.split("\n"))
    tables = parse(without(lines, repeated), path, last=text.rstrip("\n").count("\n") + 1)
    sections = tuple(sections_of(tables, firsts))
    return Document(path, lines, sections, tuple(repeated))


def scan(text: str) -> Iterator[Place]:
    r"""Yield the place of each header and key, in order.

    >>> text = '[noun]\nman = { NNS = "men" }\n\n[vocabulary.v]\nnoun = [\n"man",\n]'
    >>> for place in scan(text):
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
            last, depth = number, nesting(line)
            while depth > 0 and (following := next(lines, None)):
                last, depth = following[0], depth + nesting(following[1])
            yield Place(section, next(k for k in key.groups() if k is not None), number, last)


def nesting(line: str) -> int:
    """Return how many brackets a line leaves open (or closes, if negative)."""
    bare = STRING_OR_COMMENT.sub("", line)
    return sum((char in "[{") - (char in "]}") for char in bare)


def without(lines: tuple[str, ...], repeated: list[tuple[Place, Place]]) -> str:
    """Return the text with the repeated entries blanked, so that the rest can be read."""
    blank = {n for place, _ in repeated for n in range(place.first, place.last + 1)}
    kept = ("" if number in blank else line for number, line in enumerate(lines, start=1))
    return "\n".join(kept)


def parse(text: str, path: str, *, last: int) -> Mapping[str, object]:
    """Return the TOML tables of *text*; a syntax error becomes the problem L010 with its line."""
    try:
        return parse_toml(text)
    except FormatError as error:
        where = TOML_LINE.search(str(error))
        line = int(where[1]) if where and where[1] else last
        reason = TOML_LINE.sub("", str(error))
        problem = Problem(line, NOT_TOML, f"a lexicon is a TOML file in UTF-8: {reason}")
        raise LexiconError(path, [problem]) from None


def sections_of(tables: Mapping[str, object], places: KeyPlaces) -> Iterator[Section]:
    """Yield the tables as sections; what is no table becomes a section without entries."""
    for name, value in tables.items():
        if name == VOCABULARY and isinstance(value, dict):
            parts = [(f"{VOCABULARY}.{inner}", table) for inner, table in value.items()]
        else:
            parts = [(name, value)]
        for section, table in parts:
            yield section_of(section, table, places)


def section_of(name: str, table: object, places: KeyPlaces) -> Section:
    """Return one section, with the line of each entry as near as the text tells it."""
    parent, _, inner = name.rpartition(".")
    headers = (p for p in places.values() if p.section == name or p.section.startswith(f"{name}."))
    header = next(headers, None) or places.get((parent, inner))
    line = header.first if header else 1
    if not isinstance(table, dict):
        return Section(name, line, (), is_table=False)
    entries = []
    for key, value in table.items():
        place = places.get((name, key)) or places.get((f"{name}.{key}", None))
        entries.append(LexiconEntry(key, value, place.first if place else line))
    return Section(name, line, tuple(entries))
