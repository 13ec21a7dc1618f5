"""The protocols of encoders and baselines, and the check of sentence vectors."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import SentprobeError
from sentprobe.extras import format_install

if TYPE_CHECKING:
    from sentprobe.probes.dataset import Indices, ProbeDataset


Vectors = NDArray[np.float32]


class EncoderError(SentprobeError):
    """An encoder could not be loaded, or returned invalid vectors."""


@runtime_checkable
class Encoder(Protocol):
    """An object that encodes n sentences as n vectors of one width.

    Optional properties are :class:`.capabilities.Capabilities`. An encoder of this package declares them in a property
    ``capabilities``. For any other object, these attributes are read:

    - ``cacheable``, ``layer``, ``family``, ``step``, ``epoch``, ``seed``, ``notes``,
      ``word_vectors(texts)``: as in :class:`.capabilities.Capabilities`
    - ``together``: read as the property ``needs_all_sentences``
    - ``truncated(sentences)``: read as ``count_truncated``
    - ``in_order(sentences)``: read as ``bind_to_order``
    """

    @property
    def name(self) -> str:
        """The name in results."""

    @property
    def fingerprint(self) -> str:
        """A digest of everything that the vectors depend on, besides the sentence."""

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""


@runtime_checkable
class Baseline(Protocol):
    """A classifier that is reported beside the encoders and uses neither vectors nor a probe."""

    @property
    def name(self) -> str:
        """The name in results."""

    @property
    def fingerprint(self) -> str:
        """A digest of everything that the predictions depend on, besides data and seed."""

    def predict(self, data: "ProbeDataset", *, seed: int) -> "Indices":
        """Learn from the training items and return a label for each test item, (n,) int64."""


def check_vectors(vectors: object, *, sentences: Sequence[str], encoder: str) -> Vectors:
    """Return the vectors as a contiguous (n, dim) float32 array. Raises EncoderError."""
    array = np.asarray(vectors)
    if array.ndim != 2 or array.shape[1] == 0:
        raise EncoderError(f"encoder {encoder} returned an array of shape {array.shape}; wanted (sentences, dim)")
    if len(array) != len(sentences):
        raise EncoderError(f"encoder {encoder} returned {len(array)} rows for {len(sentences)} sentences")
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
    """Return the sha256 (hexadecimal) of the texts of the parts; it depends on the borders between parts.

    >>> digest("bow", 1) == digest("bow", 1), digest("bo", "w1") == digest("bow", 1)
    (True, False)
    """
    return hashlib.sha256(repr([str(part) for part in parts]).encode()).hexdigest()


def missing_extra(what: str, *extras: str) -> EncoderError:
    """Return the error that says how to install the extras that *what* needs."""
    return EncoderError(f"{what} needs the extra: {format_install(*extras)}")
