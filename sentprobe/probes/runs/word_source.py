"""What stands for a probe word: one-hot, or the vector by which an encoder reads the word.

An encoder that does not say how it reads words encodes the word alone, as a sentence.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.errors import UsageError, suggest
from sentprobe.probes import encoders
from sentprobe.probes.dataset import ONE_HOT, OWN_WORDS
from sentprobe.probes.encoders import erasure, storage
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.word_vectors import SHOWN, Bow
from sentprobe.specs import Spec

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WordSource:
    """Where the vectors of probe words are from: ``one-hot``, ``encoder``, or another encoder.

    Adi et al. 2017, section 3, put the vector of the word beside that of the sentence.
    """

    name: str = ONE_HOT
    other: encoders.Encoder | None = None

    def encoder(self, probed: encoders.Encoder) -> encoders.Encoder | None:
        """Return what encodes the words when *probed* encodes the sentences; None: one-hot."""
        return probed if self.name == OWN_WORDS else self.other

    def fingerprint(self, probed: encoders.Encoder) -> str:
        """Return a digest of all that the words' vectors depend on; empty: they are one-hot."""
        encoder = self.encoder(probed)
        if encoder is None:
            return ""
        # Of a bag of words, both are the same.
        bag = isinstance(plain_encoder(encoder), Bow)
        what = "probe words" if bag or input_words(encoder) is None else "input words"
        return encoders.digest(what, encoder.fingerprint)

    def are_input(self, probed: encoders.Encoder) -> bool:
        """Say whether they are the vectors by which an encoder reads words."""
        encoder = self.encoder(probed)
        return encoder is not None and input_words(encoder) is not None


def input_words(
    encoder: encoders.Encoder,
) -> Callable[[Sequence[str]], encoders.Vectors] | None:
    """Return what gives the vectors by which an encoder reads words; None: it does not say."""
    return getattr(plain_encoder(encoder), "word_vectors", None)


def plain_encoder(encoder: encoders.Encoder) -> encoders.Encoder:
    """Return the encoder whose vectors are neither cut, rounded nor erased."""
    while isinstance(encoder, storage.StoredEncoder | erasure.ErasedEncoder):
        encoder = encoder.whole
    return encoder


def parse_source(text: str) -> Spec | str:
    """Read ``one-hot`` or ``encoder``, or the spec of an encoder.

    Raises:
        UsageError: it is none; its message names what is near.
    """
    if text in (ONE_HOT, OWN_WORDS):
        return text
    kinds = [ONE_HOT, OWN_WORDS, *(kind.name for kind in encoders.ENCODERS)]
    name = text.partition("?")[0].partition(":")[0]
    spec = encoders.read_spec(text) if name else None
    if spec is None or spec.kind not in kinds:
        raise UsageError(
            f"unknown probe vectors {text!r}{suggest(name, kinds)}; "
            f"wanted: {ONE_HOT}, {OWN_WORDS}, or the spec of an encoder, as in bow:glove.txt"
        )
    encoders.find_kind(spec)
    return spec


def make_source(given: encoders.Encoder | Spec | str, *, seed: int) -> WordSource:
    """Return the source of that name or spec, made with *seed*, or of an encoder at hand.

    Raises:
        UsageError: see :func:`parse_source`; a spec of a baseline, or of several encoders.
    """
    if isinstance(given, str) and given not in (ONE_HOT, OWN_WORDS):
        given = parse_source(given)
    if isinstance(given, str):
        return WordSource(given)
    other = encoders.make_encoder(given, seed=seed) if isinstance(given, Spec) else given
    return WordSource(other.name, other)


def encode_words(
    encoder: encoders.Encoder, words: Sequence[str], *, cache: Cache | None = None
) -> encoders.Vectors:
    """Return the vectors of single words, (words, dim) float32.

    They are those by which the encoder reads words, stored as its sentence vectors are; nothing is
    erased from them. A word without one is 0, and a warning says so. An encoder that does not say
    how it reads words encodes each word alone.

    Raises:
        EncoderError: no word has a vector; the encoder failed.
    """
    read = input_words(encoder)
    if read is None:
        return _encoded_alone(encoder, words, cache=cache)
    vectors = encoders.check_vectors(read(words), sentences=words, encoder=encoder.name)
    known = np.asarray(vectors.any(axis=1))
    _warn(encoder, [words[place] for place in np.flatnonzero(~known).tolist()], words)
    if not isinstance(encoder, storage.StoredEncoder):
        return vectors
    stored = _stored(encoder, vectors[known])
    out = np.zeros((len(words), stored.shape[1]), dtype=np.float32)
    out[known] = stored
    return out


def _encoded_alone(
    encoder: encoders.Encoder, words: Sequence[str], *, cache: Cache | None
) -> encoders.Vectors:
    try:
        return embed(encoder, words, cache=cache)
    except encoders.EncoderError as error:
        raise encoders.EncoderError(
            f"probe words: {error}; --probe-vectors one-hot needs none"
        ) from error


def _warn(encoder: encoders.Encoder, unknown: Sequence[str], words: Sequence[str]) -> None:
    """Say which words have no vector.

    Raises:
        EncoderError: none has.
    """
    if len(unknown) == len(words):
        raise encoders.EncoderError(
            f"{encoder.name}: none of the {len(words)} probe words has a vector; "
            "--probe-vectors one-hot needs none"
        )
    if unknown:
        some = ", ".join(unknown[:SHOWN]) + (", ..." if len(unknown) > SHOWN else "")
        log.warning(
            "%d of %d probe words have no vector in %s and are all 0: %s",
            *(len(unknown), len(words), encoder.name, some),
        )


def _stored(encoder: storage.StoredEncoder, vectors: encoders.Vectors) -> encoders.Vectors:
    """Return word vectors as sentence vectors are stored; narrower ones are not cut."""
    dims = min(encoder.way.dims, vectors.shape[1])
    return replace(encoder, way=replace(encoder.way, dims=dims)).stored(vectors)
