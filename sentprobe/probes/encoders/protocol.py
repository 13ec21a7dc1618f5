"""What an encoder is, and the check of what it returns."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import SentprobeError

if TYPE_CHECKING:
    from sentprobe.probes.dataset import Indices, ProbeDataset


Vectors = NDArray[np.float32]


class EncoderError(SentprobeError):
    """An encoder could not be made, or returned something that is not sentence vectors."""


@runtime_checkable
class Encoder(Protocol):
    """Anything that turns n sentences into n vectors of one width.

    It may also have these attributes, which callers look for and do without:

    - ``cacheable: bool``: whether its vectors are worth keeping on disk; true when absent
    - ``together: bool``: whether it must see all sentences at once; false when absent
    - ``layer: int | None`` and ``family: str``: where it stands among the layers of one model
    - ``step: int | None`` and ``epoch: float | None``: how far its training, of ``family``, was
    - ``seed: int | None``: that by which its weights were drawn; None, or absent: it has others
    - ``notes: tuple[str, ...]``: what a user should know of what was encoded so far, in sentences
    - ``truncated(sentences)``: returns of how many of the sentences it reads the beginning only;
      None: it cannot say
    - ``word_vectors(texts)``: returns the vectors by which it reads words, (n, width) float32: of a
      text of several words their average, of one that it does not know zeros
    - ``in_order(sentences)``: returns the encoder to be used when these are all the sentences that
      will be asked for, each once, in the order of the datasets
    """

    @property
    def name(self) -> str:
        """What the results call it."""

    @property
    def fingerprint(self) -> str:
        """A digest of all that its vectors depend on, besides the sentence."""

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""


@runtime_checkable
class Baseline(Protocol):
    """A classifier of its own that stands beside the encoders: no vectors, no probe."""

    @property
    def name(self) -> str:
        """What the results call it."""

    @property
    def fingerprint(self) -> str:
        """A digest of all that its answers depend on, besides data and seed."""

    def predict(self, data: "ProbeDataset", *, seed: int) -> "Indices":
        """Return a label for each test item, (n,) int64, learned from the training items."""


def check_vectors(vectors: object, *, sentences: Sequence[str], encoder: str) -> Vectors:
    """Return *vectors* as a contiguous (n, dim) float32 array, or say what is wrong with them."""
    array = np.asarray(vectors)
    if array.ndim != 2 or array.shape[1] == 0:
        raise EncoderError(
            f"encoder {encoder} returned an array of shape {array.shape}; wanted (sentences, dim)"
        )
    if len(array) != len(sentences):
        raise EncoderError(
            f"encoder {encoder} returned {len(array)} rows for {len(sentences)} sentences"
        )
    if not np.issubdtype(array.dtype, np.floating):
        raise EncoderError(f"encoder {encoder} returned {array.dtype}; floating point is wanted")
    with np.errstate(over="ignore"):
        result = np.ascontiguousarray(array, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(result).all(axis=1))
    if len(bad):
        raise EncoderError(
            f"encoder {encoder} returned a vector that is not finite for the sentence "
            f"{sentences[bad[0]]!r} ({len(bad)} such)"
        )
    return result


def digest(*parts: object) -> str:
    """Return the sha256 (hexadecimal) of the parts' texts, none run together.

    >>> digest("bow", 1) == digest("bow", 1), digest("bo", "w1") == digest("bow", 1)
    (True, False)
    """
    return hashlib.sha256(repr([str(part) for part in parts]).encode()).hexdigest()


def seed_of(encoder: Encoder | Baseline) -> int | None:
    """Return the seed by which an encoder's weights were drawn; None: they were not."""
    seed = getattr(encoder, "seed", None)
    return seed if isinstance(seed, int) else None


def truncated_by(encoder: Encoder, sentences: Sequence[str]) -> int | None:
    """Return of how many sentences an encoder reads the beginning only; None: nobody knows."""
    count = getattr(encoder, "truncated", None)
    return count(sentences) if callable(count) else None


def missing_extra(what: str, *, extra: str) -> EncoderError:
    """Return the error that says which extra *what* needs.

    >>> print(missing_extra("a binary file of word vectors", extra="gensim"))
    a binary file of word vectors needs the extra: pip install 'sentprobe[gensim]'
    """
    return EncoderError(f"{what} needs the extra: pip install 'sentprobe[{extra}]'")
