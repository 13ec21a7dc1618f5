"""A vocabulary, word vectors and a network: all of an encoder that is trained here."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from sentprobe.errors import FormatError, UsageError
from sentprobe.probes.encoders.networks import network as networks
from sentprobe.probes.encoders.protocol import EncoderError, Vectors
from sentprobe.probes.encoders.word_vectors import SHOWN, WordVectors

log = logging.getLogger(__name__)

PADDING, UNKNOWN = 0, 1
"""The rows of word vectors that are no word's: 0 is what follows the end of a sentence."""

SPECIAL = 2
"""How many such rows there are."""

SPREAD = 0.1
"""Standard deviation of word vectors that are to be learned (Gehring et al. 2017, section 3.5)."""


@dataclass(frozen=True, slots=True)
class KnownWords:
    """The words that have a row of word vectors, from row 2 on.

    >>> KnownWords(("the", "man")).ids("the old man")
    [2, 1, 3]
    """

    words: tuple[str, ...]
    lower: bool = False
    """Whether sentences are read in lower case."""
    reverse: bool = False
    """Whether they are read from the last word to the first (Adi et al. 2017, appendix I)."""
    rows: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows = {word: row for row, word in enumerate(self.words, start=SPECIAL)}
        if len(rows) < len(self.words):
            twice = next(w for row, w in enumerate(self.words, SPECIAL) if rows[w] != row)
            raise FormatError(f"the word {twice!r} is in the vocabulary twice")
        if wrong := [word for word in self.words if word.split() != [word]]:
            raise FormatError(f"{wrong[0]!r} is no word: nothing, or spaces in it")
        object.__setattr__(self, "rows", rows)

    def ids(self, sentence: str) -> list[int]:
        """Return the row of each word."""
        return [self.rows.get(word, UNKNOWN) for word in self.tokens(sentence)]

    def tokens(self, sentence: str) -> list[str]:
        """Return the words as they are looked up, in the order in which they are read."""
        words = (sentence.lower() if self.lower else sentence).split()
        return words[::-1] if self.reverse else words


class SentenceModel(nn.Module):
    """Sentences as rows of word vectors -> vectors.

    It is made without weights on the device ``meta``; see :func:`make_sentence_model`.
    """

    def __init__(
        self, vocabulary: KnownWords, architecture: networks.Architecture, *, frozen: bool
    ) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.architecture = architecture
        self.frozen = frozen
        rows = SPECIAL + len(vocabulary.words)
        self.words = nn.Embedding(rows, architecture.inputs, padding_idx=PADDING)
        self.words.weight.requires_grad_(not frozen)
        self.network = networks.bare_network(architecture)

    @property
    def dim(self) -> int:
        """Width of the sentence vectors."""
        return self.network.dim

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the sentence vectors, (b, dim).

        - ids: (b, time) int64, of PADDING beyond the end of a sentence
        - lengths: (b,) int64 on the CPU, each from 1 to time
        """
        vectors: torch.Tensor = self.network(self.words(ids), lengths)
        return vectors

    def word_vectors(self, words: Sequence[str]) -> Vectors:
        """Return the vectors by which words are read, (n, inputs) float32.

        A word that is not in the vocabulary has zeros, not the vector of all unknown words.
        """
        rows = [self.vocabulary.rows.get(word, PADDING) for word in words]
        found: Vectors = self.words.weight.detach()[rows].cpu().float().numpy()
        return found


def make_sentence_model(
    architecture: networks.Architecture,
    vocabulary: KnownWords,
    *,
    vectors: WordVectors | None = None,
    frozen: bool = False,
    seed: int,
) -> SentenceModel:
    """Return a model before it has learned anything; the seed decides what is random in it.

    - vectors: what the word vectors are at first; words that it lacks, and the unknown word, are
      drawn as large as its own are on average. None: all are drawn, with standard deviation 0.1
    - frozen: whether word vectors stay as they are

    Raises:
        UsageError: the word vectors are of another width; there are too many weights.
        EncoderError: none of the words has a vector.
    """
    check_size(architecture, words=len(vocabulary.words))
    if vectors is not None and vectors.dim != architecture.inputs:
        raise UsageError(
            f"{vectors.source}: word vectors of width {vectors.dim}; "
            f"the model's are {architecture.inputs} wide"
        )
    with torch.device("meta"):
        model = SentenceModel(vocabulary, architecture, frozen=frozen)
    generator = torch.Generator().manual_seed(seed)
    model.network = networks.make_network(architecture, generator=generator)
    model.words = model.words.to_empty(device="cpu")
    _draw_words(model, vectors, generator)
    return model


def count_weights(architecture: networks.Architecture, *, words: int) -> int:
    """Return how many weights a model has, those of its word vectors counted."""
    network = networks.NETWORKS[architecture.kind].count(architecture)
    return network + (words + SPECIAL) * architecture.inputs


def check_size(architecture: networks.Architecture, *, words: int) -> None:
    """Refuse a model that no memory holds.

    Raises:
        UsageError: it has too many weights.
    """
    count = count_weights(architecture, words=words)
    if count > networks.MOST_WEIGHTS:
        raise UsageError(
            f"{architecture.kind}: {architecture.hidden} units in {architecture.layers} layers "
            f"over {words:,} words have {count:.1e} weights; "
            f"at most {networks.MOST_WEIGHTS:,} are made"
        )


def _draw_words(
    model: SentenceModel, vectors: WordVectors | None, generator: torch.Generator
) -> None:
    spread = SPREAD if vectors is None else vectors.scale
    with torch.no_grad():
        model.words.weight.normal_(0, spread, generator=generator)
        model.words.weight[PADDING] = 0
        if vectors is not None:
            rows, found = _known(model.vocabulary, vectors)
            model.words.weight[rows] = torch.from_numpy(found)


def _known(vocabulary: KnownWords, vectors: WordVectors) -> tuple[list[int], Vectors]:
    """Return the rows of words that have a vector, and these, (n, inputs)."""
    each = ((row, vectors.find(word)) for word, row in vocabulary.rows.items())
    found = [(row, vector) for row, vector in each if vector is not None]
    if not found:
        raise EncoderError(
            f"{vectors.source}: none of the {len(vocabulary.words)} words has a vector"
        )
    if lacking := [word for word in vocabulary.words if vectors.find(word) is None]:
        some = ", ".join(lacking[:SHOWN]) + (", ..." if len(lacking) > SHOWN else "")
        log.warning(
            "%d of %d words have no vector in %s and are drawn: %s",
            *(len(lacking), len(vocabulary.words), vectors.source, some),
        )
    return [row for row, _ in found], np.stack([vector for _, vector in found])
