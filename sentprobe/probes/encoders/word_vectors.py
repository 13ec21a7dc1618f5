"""Word vectors, random or from a file, and their average as a sentence vector."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sentprobe.probes.encoders.protocol import EncoderError, Vectors, digest
from sentprobe.specs import Natural

log = logging.getLogger(__name__)

SHOWN = 5
"""How many unknown words a message names."""


@dataclass(slots=True)
class _Seen:
    """What was looked up so far."""

    rows: dict[str, Vectors | None] = field(default_factory=dict)
    warned: int = 0
    """How many unknown words the warning counted; 0: there was none."""


@dataclass(frozen=True, slots=True)
class WordVectors:
    """A map from word to vector, (dim,) float32; None for a word that it does not have."""

    source: str
    dim: int
    fingerprint: str
    find: Callable[[str], Vectors | None] = field(repr=False)
    scale: float = 1.0
    """The root mean square of the numbers in the vectors."""
    seed: int | None = None
    """That by which they were drawn; None: they were not."""
    _seen: _Seen = field(default_factory=_Seen, repr=False, compare=False)

    def look_up(self, sentences: Sequence[str]) -> list[Vectors]:
        """Return the vectors of each sentence's known words, one (words, dim) array a sentence.

        Unknown words are left out. The first time that there are any, one warning says so; for
        those that come later, see :attr:`notes`.

        Raises:
            EncoderError: no word of a sentence is known.
        """
        rows = self._seen.rows
        new = {word for sentence in sentences for word in sentence.split()} - rows.keys()
        rows.update((word, self.find(word)) for word in new)
        if not self._seen.warned and (notes := self.notes):
            self._seen.warned = len(self._unknown())
            log.warning("%s", notes[0])
        return [self._matrix(sentence) for sentence in sentences]

    def of_words(self, texts: Sequence[str]) -> Vectors:
        """Return the vector of each word, (n, dim) float32; of several in a text, the average.

        Unknown words are left out; a text of them alone is 0. The sums are as in :class:`Bow`.
        """
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            known = [each for each in map(self.find, sorted(text.split())) if each is not None]
            if known:
                out[row] = np.stack(known).mean(axis=0, dtype=np.float64)
        return out

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence on the unknown words so far, if there are more than the warning said."""
        unknown = sorted(self._unknown())
        if len(unknown) == self._seen.warned:
            return ()
        some = ", ".join(unknown[:SHOWN]) + (", ..." if len(unknown) > SHOWN else "")
        return (
            f"{len(unknown)} of {len(self._seen.rows)} different words are not in {self.source} "
            f"and are left out: {some}",
        )

    def _unknown(self) -> list[str]:
        return [word for word, row in self._seen.rows.items() if row is None]

    def _matrix(self, sentence: str) -> Vectors:
        rows = [self._seen.rows[word] for word in sentence.split()]
        known = [row for row in rows if row is not None]
        if not known:
            raise EncoderError(f"no word of the sentence {sentence!r} is in {self.source}")
        return np.stack(known)


@dataclass(frozen=True, slots=True, kw_only=True)
class BowOptions:
    """Options of ``bow``."""

    dim: int = 300
    """Width of the random word vectors; a file has its own."""
    seed: Natural
    """Seed of the random word vectors; when it is not given, the run's."""


@dataclass(frozen=True, slots=True)
class Bow:
    """Bag of words: the average of the word vectors (BOW in Ettinger et al. 2018, section 7.1)."""

    cacheable: ClassVar[bool] = False
    """Averaging again is as quick as reading the cache."""
    name: str
    words: WordVectors

    @property
    def fingerprint(self) -> str:
        """A digest of the word vectors."""
        return digest("bow", self.words.fingerprint)

    @property
    def seed(self) -> int | None:
        """The seed of random word vectors; those of a file have none."""
        return self.words.seed

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of unknown words."""
        return self.words.notes

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the averages, (n, dim) float32; the order of words does not count.

        The words are summed in sorted order and in float64, so that two sentences with the same
        words have exactly the same vector.
        """
        out = np.empty((len(sentences), self.words.dim), dtype=np.float32)
        sorted_words = [" ".join(sorted(sentence.split())) for sentence in sentences]
        for row, matrix in enumerate(self.words.look_up(sorted_words)):
            out[row] = matrix.mean(axis=0, dtype=np.float64)
        return out

    def word_vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the word vectors of texts, (n, dim) float32; 0 where there is none."""
        return self.words.of_words(texts)


def random_vectors(*, seed: int, dim: int) -> WordVectors:
    """Return standard Gaussian word vectors; each depends on *seed*, *dim* and the word alone.

    >>> again = random_vectors(seed=1, dim=3).find("man")
    >>> bool((random_vectors(seed=1, dim=3).find("man") == again).all())
    True
    """

    def find(word: str) -> Vectors:
        key = int(digest("word", seed, word), 16)
        return np.random.default_rng(key).standard_normal(dim, dtype=np.float32)

    source = f"random vectors (seed {seed})"
    return WordVectors(source, dim, digest("gauss", seed, dim), find, seed=seed)
