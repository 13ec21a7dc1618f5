"""The interfaces of encoders and baselines, their optional properties, and the check of sentence vectors."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import SentprobeError, format_install

if TYPE_CHECKING:
    from sentprobe.probes.datasets.dataset import Indices, ProbeDataset

Vectors = NDArray[np.float32]


class EncoderError(SentprobeError):
    """An encoder could not be loaded, or returned invalid vectors."""


@runtime_checkable
class Encoder(Protocol):
    """An object that encodes n sentences as n vectors of the same width.

    Optional properties are in the attribute ``capabilities`` (:class:`Capabilities`). A user's object may instead have
    an attribute for each property except ``position``. The attribute has the property's name, with three exceptions:

    - the attribute ``together`` stands for ``needs_all_sentences``
    - the method ``truncated(sentences)`` stands for ``count_truncated``
    - the method ``in_order(sentences)`` stands for ``bind_to_order``
    """

    @property
    def name(self) -> str:
        """The name in results."""

    @property
    def fingerprint(self) -> str:
        """A digest of weights, options etc.; encoders with equal fingerprints give a sentence the same vector."""

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""


@runtime_checkable
class Baseline(Protocol):
    """A classifier that uses no sentence vectors; its accuracy is reported with those of the encoders."""

    @property
    def name(self) -> str:
        """The name in results."""

    @property
    def fingerprint(self) -> str:
        """A digest of the baseline's options etc.; with equal fingerprints, data and seeds, predictions are equal."""

    def predict(self, data: "ProbeDataset", *, seed: int) -> "Indices":
        """Learn from the training items of *data*; return a label for each test item, (n,) int64."""


def check_vectors(vectors: object, *, sentences: Sequence[str], encoder: str) -> Vectors:
    """Return the output of *encoder* as a contiguous array, (n, dim) float32. Raises EncoderError if it is invalid."""
    array = np.asarray(vectors)
    if array.ndim != 2 or array.shape[1] == 0:
        raise EncoderError(f"encoder {encoder} returned an array of shape {array.shape}; expected (sentences, dim)")
    if len(array) != len(sentences):
        raise EncoderError(f"encoder {encoder} returned {len(array)} rows for {len(sentences)} sentences")
    if not np.issubdtype(array.dtype, np.floating):
        raise EncoderError(f"encoder {encoder} returned {array.dtype}; floating point is expected")
    with np.errstate(over="ignore"):
        result = np.ascontiguousarray(array, dtype=np.float32)
    invalid_rows = np.flatnonzero(~np.isfinite(result).all(axis=1))
    if len(invalid_rows):
        raise EncoderError(
            f"encoder {encoder} returned a vector that is not finite for the sentence "
            f"{sentences[invalid_rows[0]]!r} ({len(invalid_rows)} such)"
        )
    return result


def select_rows(vectors: Vectors, rows: Sequence[int]) -> Vectors:
    """Return *rows* of *vectors*: a view if the rows follow each other, since vectors may fill half of the memory."""
    first = rows[0] if len(rows) else 0
    if list(rows) == [*range(first, first + len(rows))]:
        return vectors[first : first + len(rows)]
    return vectors[rows]


def digest(*parts: object) -> str:
    """Return a SHA-256 digest, in hexadecimal, of several values; each is converted to text."""
    # The text of a data class has its name and its fields in order, so a change of these changes stored digests.
    return hashlib.sha256(repr([str(part) for part in parts]).encode()).hexdigest()


def missing_extra(what: str, *extras: str) -> EncoderError:
    """Return an error that says that *what* (such as ``an encoder st:...``) needs extras, and how to install them."""
    return EncoderError(f"{what} needs the extra: {format_install(*extras)}")


T = TypeVar("T")
TruncationCounter: TypeAlias = Callable[[Sequence[str]], int | None]
"""A function that returns the number of sentences that an encoder truncates; None: unknown."""


class Half(StrEnum):
    """A half of the vector of a bidirectional encoder: the direction in which it reads the sentence, or both halves."""

    BOTH = "both"
    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Optional properties of an encoder, such as its layer and its notes for the user."""

    cacheable: bool = True
    """Whether the vectors are written to the embedding cache."""
    needs_all_sentences: bool = False
    """Whether ``encode`` must get all sentences in one call."""
    layer: int | None = None
    """Number of the model's layer that computes the vectors; None: unknown."""
    position: str = ""
    """The pooling method, such as ``mean``, or the token whose hidden state is the vector; empty: unknown."""
    family: str = ""
    """A common name of all layers of a model, or of all checkpoints of a training."""
    step: int | None = None
    """The training step of a checkpoint; None: the encoder is not a checkpoint."""
    epoch: float | None = None
    seed: int | None = None
    """The seed of random weights; None: the encoder has no random weights."""
    notes: tuple[str, ...] = ()
    """Notes for the user about the sentences encoded so far."""
    count_truncated: TruncationCounter | None = None
    """Returns the number of sentences that the encoder truncates. None: the encoder cannot count them."""
    word_vectors: Callable[[Sequence[str]], Vectors] | None = None
    """Returns the average of each text's input word vectors, (n, width) float32; zeros if no word is known.

    None: the encoder has no word vectors.
    """
    halves: tuple[Half, ...] = ()
    """The directions of the first and the second half of a vector; empty if the directions are not apart in it."""
    bind_to_order: Callable[[Sequence[str]], Encoder] | None = None
    """Returns an encoder in which vector i belongs to sentence i of the distinct sentences of all datasets.

    None: the vectors do not depend on the order of sentences.
    """

    def derive_variant(
        self, *, family: str, bind_to_order: Callable[[Sequence[str]], Encoder] | None = None
    ) -> "Capabilities":
        """Return the properties of a variant. Its vectors are not cached, since those of the base encoder are."""
        without_step = replace(self, needs_all_sentences=False, step=None, epoch=None, word_vectors=None, halves=())
        return replace(without_step, cacheable=False, family=family, bind_to_order=bind_to_order)


def get_capabilities(encoder: Encoder | Baseline) -> Capabilities:
    """Return the attribute ``capabilities`` of an encoder; without it, read the properties from other attributes."""
    declared = getattr(encoder, "capabilities", None)
    return declared if isinstance(declared, Capabilities) else read_attributes(encoder)


def read_attributes(encoder: object, *, cacheable: bool = True) -> Capabilities:
    """Return the capabilities that a user's encoder has as attributes. *cacheable* replaces a missing ``cacheable``."""
    return Capabilities(
        cacheable=bool(getattr(encoder, "cacheable", cacheable)),
        needs_all_sentences=bool(getattr(encoder, "together", False)),
        layer=_read_typed(encoder, "layer", int),
        family=_read_typed(encoder, "family", str) or "",
        step=_read_typed(encoder, "step", int),
        epoch=_read_typed(encoder, "epoch", float, int),
        seed=_read_typed(encoder, "seed", int),
        notes=tuple(map(str, _read_typed(encoder, "notes", list, tuple) or ())),
        count_truncated=_read_function(encoder, "truncated"),
        word_vectors=_read_function(encoder, "word_vectors"),
        bind_to_order=_read_function(encoder, "in_order"),
    )


def read_name(encoder: object) -> str:
    """Return the attribute ``name`` of a user's object; without it, the name of the function or class."""
    return _read_typed(encoder, "name", str) or read_code_name(encoder)


def read_code_name(encoder: object) -> str:
    """Return the name of a function, such as ``lambda``; for other objects, the name of their class."""
    name = _read_typed(encoder, "__name__", str) or ""
    return name.strip("<>") if name else type(encoder).__name__


def read_fingerprint(encoder: object) -> str:
    """Return the attribute ``fingerprint`` of a user's object; empty if it has none."""
    return _read_typed(encoder, "fingerprint", str) or ""


def count_truncated_sentences(encoder: Encoder, sentences: Sequence[str]) -> int | None:
    """Return the number of sentences that an encoder truncates; None if unknown."""
    counter = get_capabilities(encoder).count_truncated
    return None if counter is None else counter(sentences)


def collect_notes(encoders: Iterable[Encoder | Baseline]) -> list[str]:
    """Return all notes that encoders have for the user, in the order of the encoders."""
    return [note for encoder in encoders for note in get_capabilities(encoder).notes]


def _read_typed(encoder: object, name: str, *kinds: type[T]) -> T | None:
    value = getattr(encoder, name, None)
    return value if isinstance(value, kinds) else None


def _read_function(encoder: object, name: str) -> Callable[..., Any] | None:
    function = getattr(encoder, name, None)
    return function if callable(function) else None
