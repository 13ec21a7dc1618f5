"""From sentences to checked vectors: each distinct sentence once, from the cache where it is."""

from collections.abc import Iterator, Sequence

import numpy as np

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.dataset import Indices
from sentprobe.probes.encoders.cache import Cache, CachedVectors
from sentprobe.probes.encoders.erasure import ErasedEncoder
from sentprobe.probes.encoders.protocol import Encoder, EncoderError, Vectors, check_vectors
from sentprobe.probes.encoders.storage import StoredEncoder
from sentprobe.progress import Reporter, Silent, shorten

CHUNK = 1024
"""Sentences that are encoded, and then kept, at a time."""


def embed(
    encoder: Encoder,
    sentences: Sequence[str],
    *,
    cache: Cache | None = None,
    reporter: Reporter | None = None,
) -> Vectors:
    """Return the vectors of *sentences*, (n, dim) float32, in their order.

    Distinct sentences are encoded once, the longest first. With *cache*, those in it are not
    encoded, and the others are added to it as they are encoded; an encoder whose attribute
    ``cacheable`` is False, or without a fingerprint, goes past it.

    Raises:
        UsageError: there are no sentences.
        EncoderError: the encoder raised, or returned something that is not a finite vector of the
            same width for each sentence.
    """
    if not sentences:
        raise UsageError("there are no sentences to encode")
    if isinstance(encoder, StoredEncoder):
        return encoder.stored(embed(encoder.whole, sentences, cache=cache, reporter=reporter))
    if isinstance(encoder, ErasedEncoder):
        texts = [*sentences, *encoder.learned_from]
        vectors = embed(encoder.whole, texts, cache=cache, reporter=reporter)
        return encoder.erase(vectors[: len(sentences)], vectors[len(sentences) :])
    reporter = reporter or Silent()
    cache = cache if _cacheable(encoder) else None
    distinct = list(dict.fromkeys(sentences))
    reporter.begin(f"encode with {shorten(encoder.name)}", len(distinct))
    table = _Table(encoder.name, distinct)
    for part in cache.read(encoder, distinct) if cache else ():
        table.fill(part, cache=cache)
        reporter.advance(len(part.places))
    size = len(distinct) if getattr(encoder, "together", False) else CHUNK
    for places in table.batches(size):
        texts = [distinct[place] for place in places]
        vectors = _encode(encoder, texts)
        table.fill(CachedVectors(places, vectors), cache=cache)
        if cache:
            cache.write(encoder, texts, vectors)
        reporter.advance(len(texts))
    return table.rows_of(sentences)


class _Table:
    """The vectors of distinct sentences, of which some are still missing."""

    def __init__(self, encoder: str, sentences: Sequence[str]) -> None:
        self._encoder = encoder
        self._sentences = sentences
        self._missing = np.ones(len(sentences), dtype=np.bool_)
        self._vectors: Vectors | None = None

    def fill(self, part: CachedVectors, *, cache: Cache | None) -> None:
        """Put vectors in their places; the first decide the width."""
        width = part.vectors.shape[1]
        if self._vectors is None:
            self._vectors = np.empty((len(self._sentences), width), dtype=np.float32)
        if width != self._vectors.shape[1]:
            raise EncoderError(
                f"encoder {self._encoder} returned vectors of width {width} "
                f"after vectors of width {self._vectors.shape[1]}{_kept_in(cache)}"
            )
        self._vectors[part.places] = part.vectors
        self._missing[part.places] = False

    def batches(self, size: int) -> Iterator[Indices]:
        """Yield the places of what is missing, so many at a time, the longest sentences first.

        Ties go by the text, so that the batches do not depend on the order of the sentences.
        """
        places = np.flatnonzero(self._missing).tolist()
        places.sort(key=lambda place: (-len(self._sentences[place]), self._sentences[place]))
        for first in range(0, len(places), size):
            yield np.array(places[first : first + size], dtype=np.int64)

    def rows_of(self, sentences: Sequence[str]) -> Vectors:
        """Return the vectors of *sentences*, in their order, when none is missing."""
        assert self._vectors is not None
        if len(sentences) == len(self._sentences):  # then they are the same
            return self._vectors
        rows = {text: row for row, text in enumerate(self._sentences)}
        return self._vectors[[rows[text] for text in sentences]]


def _kept_in(cache: Cache | None) -> str:
    if cache is None:
        return ""
    return (
        f"; some may be from the cache {cache.directory}: if the encoder was changed, remove them "
        "with `probe cache clear`, or pass --no-cache"
    )


def _cacheable(encoder: Encoder) -> bool:
    return bool(getattr(encoder, "cacheable", True) and encoder.fingerprint)


def _encode(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    try:
        vectors = encoder.encode(texts)
        return check_vectors(vectors, sentences=texts, encoder=encoder.name)
    except SentprobeError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or "no message"
        raise EncoderError(
            f"encoder {encoder.name} failed on {len(texts)} sentences (the first: {texts[0]!r}): "
            f"{type(error).__name__}: {reason}"
        ) from error
