"""Word vectors, and the bag-of-words encoder, which averages them."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sentprobe.probes.encoders.protocol import Capabilities, EncoderError, Vectors, digest
from sentprobe.specs import Natural

log = logging.getLogger(__name__)
MAX_WORDS_SHOWN = 5
"""Maximum number of words that a message lists."""


def list_some_words(words: Sequence[str]) -> str:
    """Return the first five words as ``a, b, c, d, e``, followed by ``, ...`` if there are more."""
    return ", ".join(words[:MAX_WORDS_SHOWN]) + (", ..." if len(words) > MAX_WORDS_SHOWN else "")


def note_unknown_words(words: Iterable[str], *, total: int, effect: str) -> tuple[str, ...]:
    """Return a note such as ``2 of 9 different words EFFECT: foo, bar``; an empty tuple if *words* is empty."""
    unknown = sorted(words)
    if not unknown:
        return ()
    return (f"{len(unknown)} of {total} different words {effect}: {list_some_words(unknown)}",)


@dataclass(frozen=True, slots=True)
class WordVectors:
    """A map from word to vector, (dim,) float32; unknown words map to None."""

    source: str
    dim: int
    fingerprint: str
    find: Callable[[str], Vectors | None] = field(repr=False)
    scale: float = 1.0
    """The root mean square of all numbers in the vectors."""
    seed: int | None = None
    """The seed of random vectors; None for vectors from a file."""
    _looked_up: dict[str, Vectors | None] = field(default_factory=dict, repr=False, compare=False)
    """The vectors of all words looked up so far; None for an unknown word."""
    _warned: set[str] = field(default_factory=set, repr=False, compare=False)
    """The unknown words that the logged warning counts; empty if no warning was logged."""

    def look_up(self, sentences: Sequence[str]) -> list[Vectors]:
        """Return each sentence's known word vectors, (words, dim). Raises EncoderError if a sentence has none."""
        new = {word for sentence in sentences for word in sentence.split()} - self._looked_up.keys()
        self._looked_up.update((word, self.find(word)) for word in new)
        if not self._warned and (notes := self.notes):
            self._warned.update(self._list_unknown_words())
            log.warning("%s", notes[0])
        matrices = []
        for sentence in sentences:
            vectors = [vector for word in sentence.split() if (vector := self._looked_up[word]) is not None]
            if not vectors:
                raise EncoderError(f"no word of the sentence {sentence!r} is in {self.source}")
            matrices.append(np.stack(vectors))
        return matrices

    def average_words(self, texts: Sequence[str]) -> Vectors:
        """Return the average vector of each text's known words, (n, dim) float32; zeros if no word is known."""
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors = [vector for vector in map(self.find, sorted(text.split())) if vector is not None]
            if vectors:
                out[row] = np.stack(vectors).mean(axis=0, dtype=np.float64)
        return out

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on all unknown words so far. Empty if there are none, or if a warning about all of them was logged."""
        unknown = self._list_unknown_words()
        if len(unknown) == len(self._warned):
            return ()
        effect = f"are not in {self.source} and are left out"
        return note_unknown_words(unknown, total=len(self._looked_up), effect=effect)

    def _list_unknown_words(self) -> list[str]:
        return [word for word, vector in self._looked_up.items() if vector is None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BowOptions:
    """The options of the encoder ``bow``."""

    dim: int = 300
    """Width of random word vectors; ignored if the word vectors are from a file."""
    seed: Natural
    """Seed of random word vectors; by default, the seed of the run."""


@dataclass(frozen=True, slots=True)
class Bow:
    """The bag-of-words encoder: the average of the word vectors (BOW in Ettinger et al. 2018, section 7.1)."""

    name: str
    words: WordVectors

    @property
    def fingerprint(self) -> str:
        """A digest of the word vectors."""
        return digest("bow", self.words.fingerprint)

    @property
    def capabilities(self) -> Capabilities:
        """The seed, the word vectors, and a note on unknown words. Averages are not cached, since averaging is fast."""
        return Capabilities(
            cacheable=False, seed=self.words.seed, notes=self.words.notes, word_vectors=self.words.average_words
        )

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return average word vectors, (n, dim) float32; word order does not change them, not even by rounding."""
        out = np.empty((len(sentences), self.words.dim), dtype=np.float32)
        sorted_words = [" ".join(sorted(sentence.split())) for sentence in sentences]
        for row, matrix in enumerate(self.words.look_up(sorted_words)):
            out[row] = matrix.mean(axis=0, dtype=np.float64)
        return out


def sample_word_vectors(*, seed: int, dim: int) -> WordVectors:
    """Return standard Gaussian word vectors of width *dim*; each vector's seed depends on *seed* and the word."""

    def find(word: str) -> Vectors:
        key = int(digest("word", seed, word), 16)
        return np.random.default_rng(key).standard_normal(dim, dtype=np.float32)

    source = f"random vectors (seed {seed})"
    return WordVectors(source, dim, digest("gauss", seed, dim), find, seed=seed)
