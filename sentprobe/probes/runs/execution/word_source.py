"""Sources of probe word vectors: one-hot, an encoder's input word vectors, or its vectors of one-word sentences."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.dataset import ENCODER_WORDS, ONE_HOT
from sentprobe.probes.encoders import kinds
from sentprobe.probes.encoders.cache.embedding import embed
from sentprobe.probes.encoders.cache.vector_cache import Cache
from sentprobe.probes.encoders.files.word_vectors import MAX_WORDS_SHOWN, Bow
from sentprobe.probes.encoders.protocol import Encoder, EncoderError, Vectors, check_vectors, digest, get_capabilities
from sentprobe.probes.encoders.variants import cut_and_rounded, erasure
from sentprobe.specs import Spec

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WordSource:
    """Source of probe word vectors: one-hot, the probed encoder, or another encoder (Adi et al. 2017, section 3)."""

    name: str = ONE_HOT
    other_encoder: Encoder | None = None

    def find_encoder(self, probed: Encoder) -> Encoder | None:
        """Return the encoder of probe words in a run with the sentence encoder *probed*; None if words are one-hot."""
        return probed if self.name == ENCODER_WORDS else self.other_encoder

    def make_fingerprint(self, probed: Encoder) -> str:
        """Return the fingerprint of the probe words' vectors; empty if they are one-hot."""
        encoder = self.find_encoder(probed)
        if encoder is None:
            return ""
        # A bag of words has the same vector for a word and for a sentence of this word.
        is_bag = isinstance(find_base_encoder(encoder), Bow)
        vector_kind = "probe words" if is_bag or find_input_word_vectors(encoder) is None else "input words"
        return digest(vector_kind, encoder.fingerprint)


def find_input_word_vectors(encoder: Encoder) -> Callable[[Sequence[str]], Vectors] | None:
    return get_capabilities(find_base_encoder(encoder)).word_vectors


def find_base_encoder(encoder: Encoder) -> Encoder:
    """Return the encoder behind a variant, or behind a variant of a variant; return any other encoder unchanged."""
    while isinstance(encoder, cut_and_rounded.ReducedEncoder | erasure.ErasedEncoder):
        encoder = encoder.base
    return encoder


def parse_word_source(text: str) -> Spec | str:
    """Parse a source of probe word vectors: ``one-hot``, ``encoder``, or the spec of an encoder. Raises UsageError."""
    if text in (ONE_HOT, ENCODER_WORDS):
        return text
    names = [ONE_HOT, ENCODER_WORDS, *(kind.name for kind in kinds.ENCODERS)]
    name = text.partition("?")[0].partition(":")[0]
    spec = kinds.read_spec(text) if name else None
    if spec is None or spec.kind not in names:
        raise UsageError(
            f"unknown probe vectors {text!r}{suggest(name, names)}; "
            f"expected: {ONE_HOT}, {ENCODER_WORDS}, or the spec of an encoder, as in bow:glove.txt"
        )
    kinds.find_kind(spec)
    return spec


def make_word_source(source: Encoder | Spec | str, *, seed: int) -> WordSource:
    """Return the word source that *source* describes. An encoder built from a spec has the default seed *seed*."""
    if isinstance(source, str) and source not in (ONE_HOT, ENCODER_WORDS):
        source = parse_word_source(source)
    if isinstance(source, str):
        return WordSource(source)
    word_encoder = kinds.make_encoder(source, seed=seed) if isinstance(source, Spec) else source
    return WordSource(word_encoder.name, word_encoder)


def encode_words(encoder: Encoder, words: Sequence[str], *, cache: Cache | None = None) -> Vectors:
    """Return an encoder's vectors of words, (words, dim) float32, cut and rounded like its sentence vectors.

    Returns the input word vectors or, if the encoder has none, its vectors of one-word sentences. An unknown word has
    the zero vector, with a warning. Raises EncoderError if all words are unknown or encoding fails.
    """
    read_words = find_input_word_vectors(encoder)
    if read_words is None:
        try:
            return embed(encoder, words, cache=cache)
        except EncoderError as error:
            raise EncoderError(f"probe words: {error}; --probe-vectors one-hot needs none") from error
    vectors = check_vectors(read_words(words), sentences=words, encoder=encoder.name)
    has_vector = np.asarray(vectors.any(axis=1))
    if not has_vector.any():
        raise EncoderError(
            f"{encoder.name}: none of the {len(words)} probe words has a vector; --probe-vectors one-hot needs none"
        )
    if unknown := [words[row] for row in np.flatnonzero(~has_vector).tolist()]:
        examples = ", ".join(unknown[:MAX_WORDS_SHOWN]) + (", ..." if len(unknown) > MAX_WORDS_SHOWN else "")
        counts = (len(unknown), len(words))
        log.warning("%d of %d probe words have no vector in %s and are all 0: %s", *counts, encoder.name, examples)
    if not isinstance(encoder, cut_and_rounded.ReducedEncoder):
        return vectors
    storage = replace(encoder.storage, dims=min(encoder.storage.dims, vectors.shape[1]))  # narrower ones are not cut
    stored = replace(encoder, storage=storage).apply_storage(vectors[has_vector])
    completed = np.zeros((len(words), stored.shape[1]), dtype=np.float32)
    completed[has_vector] = stored
    return completed
