"""The sentence models that ``probe train`` trains: a vocabulary, word vectors and a network."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from sentprobe.errors import FormatError, UsageError
from sentprobe.probes.encoders.files.word_vectors import WordVectors, list_some_words
from sentprobe.probes.encoders.networks import network as networks
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.protocol import EncoderError, Vectors

log = logging.getLogger(__name__)
PADDING, UNKNOWN = 0, 1
"""Rows of two special word vectors: for padding, and for all words outside the vocabulary."""
SPECIAL_ROWS = 2
"""Number of special word vectors; the vocabulary's words have the rows after them."""
WORD_VECTOR_STD = 0.1
"""Initial standard deviation of learned word vectors (Gehring et al. 2017, section 3.5)."""


@dataclass(frozen=True, slots=True)
class ModelVocabulary:
    """The words of a sentence model, and the row of each word's vector; the first word has row 2 (SPECIAL_ROWS).

    >>> ModelVocabulary(("the", "man")).find_ids("the old man")
    [2, 1, 3]
    """

    words: tuple[str, ...]
    lower: bool = False
    """Whether sentences are converted to lower case before the look-up."""
    reverse: bool = False
    """Whether the model reads sentences from the last word to the first (Adi et al. 2017, appendix I)."""
    rows: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows = {word: row for row, word in enumerate(self.words, start=SPECIAL_ROWS)}
        if len(rows) < len(self.words):
            twice = next(w for row, w in enumerate(self.words, SPECIAL_ROWS) if rows[w] != row)
            raise FormatError(f"the word {twice!r} is in the vocabulary twice")
        if wrong := [word for word in self.words if word.split() != [word]]:
            raise FormatError(f"{wrong[0]!r} is not a word: it is empty or contains spaces")
        object.__setattr__(self, "rows", rows)

    def find_ids(self, sentence: str) -> list[int]:
        """Return the row of each word's vector; UNKNOWN for words outside the vocabulary."""
        return [self.rows.get(word, UNKNOWN) for word in self.tokenize(sentence)]

    def tokenize(self, sentence: str) -> list[str]:
        """Return the words of a sentence, in lower case if ``lower``, and from the last to the first if ``reverse``."""
        words = (sentence.lower() if self.lower else sentence).split()
        return words[::-1] if self.reverse else words


class SentenceModel(nn.Module):
    """Word vectors, and a network that computes sentence vectors from them; see :func:`make_sentence_model`."""

    def __init__(self, vocabulary: ModelVocabulary, architecture: Architecture, *, frozen: bool) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.architecture = architecture
        self.frozen = frozen
        rows = SPECIAL_ROWS + len(vocabulary.words)
        self.words = nn.Embedding(rows, architecture.inputs, padding_idx=PADDING)
        self.words.weight.requires_grad_(not frozen)
        self.network = networks.NETWORKS[architecture.kind](architecture)

    @property
    def dim(self) -> int:
        """Width of the sentence vectors."""
        return self.network.dim

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the vectors of b sentences, (b, dim).

        - ids: row of each word's vector, (b, time) int64, padded with PADDING
        - lengths: number of words of each sentence, (b,) int64 on the CPU, from 1 to time
        """
        vectors: torch.Tensor = self.network(self.words(ids), lengths)
        return vectors

    def word_vectors(self, words: Sequence[str]) -> Vectors:
        """Return the input vectors of n words, (n, inputs) float32; zeros for unknown words."""
        rows = [self.vocabulary.rows.get(word, PADDING) for word in words]
        vectors: Vectors = self.words.weight.detach()[rows].cpu().float().numpy()
        return vectors


def make_sentence_model(
    architecture: Architecture,
    vocabulary: ModelVocabulary,
    *,
    vectors: WordVectors | None = None,
    frozen: bool = False,
    seed: int,
) -> SentenceModel:
    """Return an untrained sentence model with random weights. Raises UsageError or EncoderError.

    - vectors: initial word vectors; words without a vector get a random one of the same scale. None: all are random
    - frozen: whether training leaves the word vectors unchanged
    """
    check_size(architecture, words=len(vocabulary.words))
    if vectors is not None and vectors.dim != architecture.inputs:
        raise UsageError(
            f"{vectors.source}: word vectors of width {vectors.dim}; those of the model have {architecture.inputs}"
        )
    with torch.device("meta"):
        model = SentenceModel(vocabulary, architecture, frozen=frozen)
    generator = torch.Generator().manual_seed(seed)
    model.network = networks.make_network(architecture, generator=generator)
    model.words = model.words.to_empty(device="cpu")
    with torch.no_grad():
        weight = model.words.weight
        weight.normal_(0, WORD_VECTOR_STD if vectors is None else vectors.scale, generator=generator)
        weight[PADDING] = 0
        if vectors is not None:
            rows, known_vectors = _find_known_vectors(vocabulary, vectors)
            weight[rows] = torch.from_numpy(known_vectors)
    return model


def count_weights(architecture: Architecture, *, words: int) -> int:
    """Return the number of weights of a sentence model with *words* words, including word vectors."""
    network = networks.NETWORKS[architecture.kind].count_weights(architecture)
    return network + (words + SPECIAL_ROWS) * architecture.inputs


def check_size(architecture: Architecture, *, words: int) -> None:
    """Raise UsageError if a sentence model with *words* words has more than networks.MAX_WEIGHTS weights."""
    subject = f"{architecture.kind} over {words:,} words"
    networks.check_weights(architecture, subject=subject, other_weights=(words + SPECIAL_ROWS) * architecture.inputs)


def _find_known_vectors(vocabulary: ModelVocabulary, vectors: WordVectors) -> tuple[list[int], Vectors]:
    """Return the row numbers and vectors, (n, inputs), of the words with a vector. Raises EncoderError if n = 0."""
    lookups = ((row, vectors.find(word)) for word, row in vocabulary.rows.items())
    pairs = [(row, vector) for row, vector in lookups if vector is not None]
    if not pairs:
        raise EncoderError(f"{vectors.source}: none of the {len(vocabulary.words)} words has a vector")
    if lacking := [word for word in vocabulary.words if vectors.find(word) is None]:
        log.warning(
            "%d of %d words have no vector in %s and get random vectors: %s",
            *(len(lacking), len(vocabulary.words), vectors.source, list_some_words(lacking)),
        )
    return [row for row, _ in pairs], np.stack([vector for _, vector in pairs])
