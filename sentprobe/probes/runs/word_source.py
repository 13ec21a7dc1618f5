"""What stands for a probe word: one-hot, or the vector that an encoder gives to the word alone."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.errors import UsageError, suggest
from sentprobe.probes import encoders
from sentprobe.probes.dataset import ONE_HOT, OWN_WORDS
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.word_vectors import SHOWN, Bow
from sentprobe.specs import Spec, parse_spec

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
        return "" if encoder is None else encoders.digest("probe words", encoder.fingerprint)


def parse_source(text: str) -> Spec | str:
    """Read ``one-hot`` or ``encoder``, or the spec of an encoder.

    Raises:
        UsageError: it is none; its message names what is near.
    """
    kinds = [ONE_HOT, OWN_WORDS, *(kind.name for kind in encoders.ENCODERS)]
    name = text.partition("?")[0].partition(":")[0]
    if name not in kinds:
        raise UsageError(
            f"unknown probe vectors {text!r}{suggest(name, kinds)}; "
            f"wanted: {ONE_HOT}, {OWN_WORDS}, or the spec of an encoder, as in bow:glove.txt"
        )
    if text in (ONE_HOT, OWN_WORDS):
        return text
    spec = parse_spec(text)
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

    Where an encoder averages word vectors, a word without a vector is 0, and a warning says so.

    Raises:
        EncoderError: no word has a vector; the encoder failed.
    """
    unknown = _unknown(encoder, words)
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
    missing = set(unknown)
    known = [word for word in words if word not in missing]
    try:
        vectors = embed(encoder, known, cache=cache)
    except encoders.EncoderError as error:
        raise encoders.EncoderError(
            f"probe words: {error}; --probe-vectors one-hot needs none"
        ) from error
    if not unknown:
        return vectors
    return _filled(vectors, [word not in missing for word in words])


def _unknown(encoder: encoders.Encoder, words: Sequence[str]) -> list[str]:
    if not isinstance(encoder, Bow):
        return []
    find = encoder.words.find
    return [word for word in words if all(find(part) is None for part in word.split())]


def _filled(vectors: encoders.Vectors, known: Sequence[bool]) -> encoders.Vectors:
    """Put the vectors in the places that are known, and zeros in the others."""
    out = np.zeros((len(known), vectors.shape[1]), dtype=np.float32)
    out[np.array(known)] = vectors
    return out
