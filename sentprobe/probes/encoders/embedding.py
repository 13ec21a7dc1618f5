"""Encode each distinct sentence once, or read its vector from the embedding cache."""

from collections.abc import Iterator, Sequence

import numpy as np

from sentprobe.common.errors import SentprobeError, UsageError, is_out_of_memory
from sentprobe.common.screen import Reporter, SilentReporter, shorten
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.encoder import Encoder, EncoderError, Vectors, check_vectors, get_capabilities
from sentprobe.probes.encoders.variants import ErasedEncoder, ReducedEncoder

CHUNK = 1024
"""Number of sentences that are encoded, and then written to the cache, at a time."""


def embed(
    encoder: Encoder, sentences: Sequence[str], *, cache: Cache | None = None, reporter: Reporter | None = None
) -> Vectors:
    """Return the vectors of *sentences*, (n, dim) float32, in order.

    Each distinct sentence is encoded once, the longest first. If the encoder is cacheable and has a fingerprint,
    vectors are read from *cache*, and new vectors are added to it. Raises UsageError if there are no sentences, and
    EncoderError if the encoder fails or does not return finite vectors of one width.
    """
    if not sentences:
        raise UsageError("there are no sentences to encode")
    # The cache holds the vectors of the base encoder, so its variants need not encode again.
    if isinstance(encoder, ReducedEncoder):
        return encoder.apply_storage(embed(encoder.base, sentences, cache=cache, reporter=reporter))
    if isinstance(encoder, ErasedEncoder):
        texts = [*sentences, *encoder.training_sentences]
        vectors = embed(encoder.base, texts, cache=cache, reporter=reporter)
        return encoder.erase(vectors[: len(sentences)], vectors[len(sentences) :])
    reporter = reporter or SilentReporter()
    cache = cache if get_capabilities(encoder).cacheable and encoder.fingerprint else None
    distinct = list(dict.fromkeys(sentences))
    reporter.begin(f"encode sentences with {shorten(encoder.name)}", len(distinct))
    table = _VectorTable(encoder.name, distinct)
    for positions, vectors in cache.read(encoder, distinct) if cache else ():
        table.fill(positions, vectors, cache=cache)
        reporter.advance(len(positions))
    size = len(distinct) if get_capabilities(encoder).needs_all_sentences else CHUNK
    for positions in table.iterate_missing(size):
        texts = [distinct[position] for position in positions]
        vectors = _encode(encoder, texts)
        table.fill(positions, vectors, cache=cache)
        if cache:
            cache.write(encoder, texts, vectors)
        reporter.advance(len(texts))
    return table.get_vectors(sentences)


class _VectorTable:
    """The vectors of distinct sentences, and a mask of the sentences whose vectors are missing so far."""

    def __init__(self, encoder: str, sentences: Sequence[str]) -> None:
        self._encoder = encoder
        self._sentences = sentences
        self._missing = np.ones(len(sentences), dtype=np.bool_)
        self._vectors: Vectors | None = None

    def fill(self, positions: Indices, vectors: Vectors, *, cache: Cache | None) -> None:
        """Insert vectors. Raises EncoderError if vectors of another width were inserted before."""
        width = vectors.shape[1]
        if self._vectors is None:
            self._vectors = np.empty((len(self._sentences), width), dtype=np.float32)
        if width != self._vectors.shape[1]:
            text = f"encoder {self._encoder} returned vectors of width {width} after vectors of width "
            text += str(self._vectors.shape[1])
            if cache is not None:
                text += f"; some may be from the cache {cache.directory}: if the encoder was changed, remove them "
                text += "with `probe cache clear`, or pass --no-cache"
            raise EncoderError(text)
        self._vectors[positions] = vectors
        self._missing[positions] = False

    def iterate_missing(self, size: int) -> Iterator[Indices]:
        """Yield batches of the positions of sentences without a vector: longest sentences first, ties by alphabet."""
        positions = np.flatnonzero(self._missing).tolist()
        positions.sort(key=lambda position: (-len(self._sentences[position]), self._sentences[position]))
        for start in range(0, len(positions), size):
            yield np.array(positions[start : start + size], dtype=np.int64)

    def get_vectors(self, sentences: Sequence[str]) -> Vectors:
        assert self._vectors is not None
        if len(sentences) == len(self._sentences):  # then all sentences are distinct
            return self._vectors
        rows = {text: row for row, text in enumerate(self._sentences)}
        return self._vectors[[rows[text] for text in sentences]]


def _encode(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    try:
        vectors = encoder.encode(texts)
        return check_vectors(vectors, sentences=texts, encoder=encoder.name)
    except SentprobeError:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        reason = " ".join(str(error).split()) or "no message"
        raise EncoderError(
            f"encoder {encoder.name} failed on {len(texts)} sentences (the first: {texts[0]!r}): "
            f"{type(error).__name__}: {reason}"
        ) from error
