"""Retrieval of Bible verses in another English translation by a model's vectors.

The translations are two SWORD modules in one folder: usr/share/sword of the Debian packages sword-text-kjv and
sword-text-web, unpacked by dpkg -x. The package pysword reads them (pip install pysword).
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

VERSES = 1000


def sample_verse_pairs(bibles: Path, *, verses: int = VERSES, seed: int = 0) -> list[tuple[str, str]]:
    """Return random verses in both translations; no text repeats."""
    modules = import_module("pysword.modules").SwordModules(str(bibles))
    first, second = (modules.get_bible_from_module(name) for name in sorted(modules.parse_modules()))
    places = list(_find_shared_verses(first, second))
    Random(seed).shuffle(places)
    pairs: list[tuple[str, str]] = []
    seen: set[str] = set()
    for place in places:
        pair = _read_verse(first, *place), _read_verse(second, *place)
        if all(pair) and seen.isdisjoint(pair):
            pairs.append(pair)
            seen.update(pair)
        if len(pairs) == verses:
            break
    return pairs


def measure_retrieval(model: str, pairs: Sequence[tuple[str, str]]) -> float:
    """Return the share of verses whose nearest vector, by cosine, is their translation's."""
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(model, device="cpu")
    first_vectors, second_vectors = (
        encoder.encode(list(side), normalize_embeddings=True, show_progress_bar=False)
        for side in zip(*pairs, strict=True)
    )
    nearest = np.argmax(first_vectors @ second_vectors.T, axis=1)
    return float(np.mean(nearest == np.arange(len(pairs))))


def _find_shared_verses(first: Any, second: Any) -> Iterator[tuple[str, int, int]]:
    """Yield book, chapter and verse of the chapters of equal length in both translations."""
    lengths = [dict(_list_chapters(bible)) for bible in (first, second)]
    for place, length in lengths[0].items():
        if lengths[1].get(place) == length:
            yield from ((*place, verse) for verse in range(1, length + 1))


def _list_chapters(bible: Any) -> Iterator[tuple[tuple[str, int], int]]:
    for books in bible.get_structure().get_books().values():
        for book in books:
            for number, length in enumerate(book.chapter_lengths, 1):
                yield (book.name, number), length


def _read_verse(bible: Any, book: str, chapter: int, verse: int) -> str:
    text = bible.get(books=[book], chapters=[chapter], verses=[verse])
    return " ".join(text.replace("¶", " ").split())
