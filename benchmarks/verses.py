"""How many verses of the Bible a model finds in another English translation.

The translations are two modules of SWORD in one folder: usr/share/sword where Debian's packages
sword-text-kjv and sword-text-web were unpacked by dpkg -x. The package pysword reads them.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

VERSES = 1000


def same_verses(bibles: Path, *, verses: int = VERSES, seed: int = 0) -> list[tuple[str, str]]:
    """Return verses in both translations, drawn at random; no text is there twice."""
    modules = import_module("pysword.modules").SwordModules(str(bibles))
    first, second = (
        modules.get_bible_from_module(name) for name in sorted(modules.parse_modules())
    )
    places = list(_places(first, second))
    Random(seed).shuffle(places)
    found: list[tuple[str, str]] = []
    seen: set[str] = set()
    for place in places:
        pair = _text(first, *place), _text(second, *place)
        if all(pair) and seen.isdisjoint(pair):
            found.append(pair)
            seen.update(pair)
        if len(found) == verses:
            break
    return found


def found_at_once(model: str, pairs: Sequence[tuple[str, str]]) -> float:
    """Return how often a verse is nearest, by cosine, to itself in the other translation."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - slow import

    known = SentenceTransformer(model, device="cpu")
    asked, there = (
        known.encode(list(side), normalize_embeddings=True, show_progress_bar=False)
        for side in zip(*pairs, strict=True)
    )
    nearest = np.argmax(asked @ there.T, axis=1)
    return float(np.mean(nearest == np.arange(len(pairs))))


def _places(first: Any, second: Any) -> Iterator[tuple[str, int, int]]:
    """Yield book, chapter and verse of all that both divide in the same way."""
    lengths = [dict(_chapters(bible)) for bible in (first, second)]
    for place, length in lengths[0].items():
        if lengths[1].get(place) == length:
            yield from ((*place, verse) for verse in range(1, length + 1))


def _chapters(bible: Any) -> Iterator[tuple[tuple[str, int], int]]:
    for books in bible.get_structure().get_books().values():
        for book in books:
            for number, length in enumerate(book.chapter_lengths, 1):
                yield (book.name, number), length


def _text(bible: Any, book: str, chapter: int, verse: int) -> str:
    text = bible.get(books=[book], chapters=[chapter], verses=[verse])
    return " ".join(text.replace("¶", " ").split())
