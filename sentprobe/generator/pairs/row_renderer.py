"""Renderer that writes the sentences of triplets as text, many at a time."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import attrgetter
from threading import Lock

import numpy as np

from sentprobe.generator.bulk.generation import Renderer
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.spaces.constraints import Words
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.space import EventBatch, NumberedEvents
from sentprobe.lexicon import Lexicon


class RowSource:
    """A source of events for a renderer. The caller assigns events to ``rows``; *words* must contain their lemmas."""

    def __init__(self, lexicon: Lexicon, words: Words) -> None:
        self.lexicon = lexicon
        self.words = words
        self.rows: NumberedEvents | None = None

    def count(self) -> int:
        """Return the number of sentences in ``rows``."""
        return self.rows.count() if self.rows else 0

    def batches(self, indices: IndexArray) -> Iterator[EventBatch]:
        """Yield the events at the positions *indices* in ``rows``: for each layout, one batch of its events."""
        yield from self.rows.batches(indices) if self.rows else ()


class RowRenderer:
    """Renderer of sentences as records. *write* turns a sentence into a one-line record; *escape* encodes a word."""

    def __init__(
        self, lexicon: Lexicon, words: Words, write: Callable[[Sentence], str], escape: Callable[[str], str] = str
    ) -> None:
        self._source = RowSource(lexicon, words)
        self._lock = Lock()
        self._renderer = Renderer(self._source, lambda sentence: f"{write(sentence)}\n", escape=escape)

    def render_columns(self, rows: NumberedEvents, count: int) -> list[list[str]]:
        """Return the records of *rows*, cut into *count* lists of equal length, such as anchors and positives."""
        with self._lock:  # threads share a renderer
            self._source.rows = rows
            try:
                chunks = self._renderer.render_chunks(np.arange(rows.count()))
                records = "".join(text for _, text in chunks).split("\n")[:-1]
            finally:
                self._source.rows = None
        step = len(records) // count
        return [records[column * step : (column + 1) * step] for column in range(count)]


@lru_cache(maxsize=4)
def make_text_renderer(lexicon: Lexicon, words: Words) -> RowRenderer:
    """Return the cached renderer of sentences with these words as plain text."""
    return RowRenderer(lexicon, words, attrgetter("text"))
