"""Bibles as modules of SWORD, read by pysword: the verses of two are each other's translations.

A module is written ``sword:FOLDER/MODULE``; the folder has ``mods.d`` in it.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from struct import error as StructError  # noqa: N812 - it is a class
from typing import Any, NamedTuple

from sentprobe.errors import FormatError, SentprobeError, UsageError, first_line, suggest
from sentprobe.extras import load
from sentprobe.probes.pretraining.texts.sieves import Sieve

PREFIX = "sword:"


class Verse(NamedTuple):
    """Which verse it is: the book as OSIS names it, the chapter and the number."""

    book: str
    chapter: int
    number: int


def verse_pairs(name: str, other: str, sieve: Sieve) -> Iterator[tuple[str, str]]:
    """Yield the verses that two modules have; what only one has is counted.

    Raises:
        UsageError: there is no such module, or it is not in OSIS.
        FormatError: one of its files is damaged.
    """
    verses, others = read_verses(name), read_verses(other)
    for place in {**verses, **others}:
        if place in verses and place in others:
            yield verses[place], others[place]
        else:
            sieve.omit("untranslated")


def read_verses(name: str) -> dict[Verse, str]:
    """Return the verses of a module that are not empty, in its order."""
    path = Path(name.removeprefix(PREFIX))
    try:
        return {place: text for place, text in _verses(path) if text}
    except SentprobeError:
        raise
    except (OSError, KeyError, ValueError, IndexError, StructError) as error:
        raise FormatError(f"{name}: cannot read this module: {first_line(error)}") from error


def _verses(path: Path) -> Iterator[tuple[Verse, str]]:
    bible = _bible(path)
    cleaner = load("pysword.cleaner").OSISCleaner()
    for books in bible.get_structure().get_books().values():
        for book in books:
            for chapter in range(1, len(book.chapter_lengths) + 1):
                texts = bible.get_iter(books=[book.name], chapters=[chapter], clean=False)
                for number, text in enumerate(texts, 1):
                    words = " ".join(cleaner.clean(without_asides(text)).split())
                    yield Verse(book.osis_name, chapter, number), _STOP.sub(" .", words)


def _bible(path: Path) -> Any:
    modules = load("pysword.modules").SwordModules(str(path.parent))
    if not (path.parent / "mods.d").is_dir():
        raise UsageError(
            f"{PREFIX}{path}: there are no modules of SWORD in {path.parent}: it has no mods.d"
        )
    known = modules.parse_modules()
    if path.name not in known:
        near, has = suggest(path.name, known), ", ".join(sorted(known)) or "none"
        raise UsageError(f"{PREFIX}{path}: there is no module {path.name!r}{near}; known: {has}")
    if known[path.name].get("sourcetype", "OSIS").upper() != "OSIS":
        raise UsageError(f"{PREFIX}{path}: only modules in OSIS can be read")
    bible = modules.get_bible_from_module(path.name)
    # It would unpack a whole book for each verse.
    bible._decompressed_text = lru_cache(2)(bible._decompressed_text)
    return bible


_STOP = re.compile(r"(?<=\w)\.(?=[^\w\s]*\s)")
"""A full stop within a verse: verses are of several sentences, and have no abbreviations."""

_ASIDE = re.compile(r"<(note|title)\b(?:[^<>]*/>|.*?</\1>)", re.DOTALL | re.IGNORECASE)


def without_asides(verse: str) -> str:
    """Return a verse in OSIS without notes and titles; the words before and after stay apart.

    >>> without_asides('God<note n="1">Hebrew: <i>Elohim</i></note>created')
    'God created'
    """
    return _ASIDE.sub(" ", verse)
