"""What an encoder is, the check of what it returns, and the table of encoder kinds."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.probes.specs import Spec, parse_spec, with_options

Vectors = NDArray[np.float32]


class EncoderError(SentprobeError):
    """An encoder could not be made, or returned something that is not sentence vectors."""


@runtime_checkable
class Encoder(Protocol):
    """Anything that turns n sentences into n vectors of one width."""

    @property
    def name(self) -> str:
        """What the results call it."""

    @property
    def fingerprint(self) -> str:
        """A digest of all that its vectors depend on, besides the sentence."""

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""


class Argument(Enum):
    """Whether a kind takes an argument after the colon."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class EncoderKind:
    """A row of the table of encoders."""

    name: str
    example: str
    summary: str
    argument: Argument
    build: Callable[[Spec, int], Encoder]


@dataclass(frozen=True, slots=True)
class BowOptions:
    """Options of ``bow``."""

    dim: int = 300
    """Width of the random word vectors; a file has its own."""


@dataclass(frozen=True, slots=True)
class BilstmOptions:
    """Options of ``bilstm-max``: Conneau et al. 2018, section 3.2 (2 x 512 over 300)."""

    dim: int = 300
    hidden: int = 512
    batch: int = 256


@dataclass(frozen=True, slots=True)
class SentenceTransformerOptions:
    """Options of ``st:``."""

    batch: int = 32
    device: str = ""
    """A PyTorch device; empty: what sentence-transformers chooses."""


def _bow(spec: Spec, seed: int) -> Encoder:
    from sentprobe.probes.wordvectors import Bow, random_vectors, read_word_vectors  # noqa: PLC0415

    options = with_options(BowOptions(), spec.options, owner="bow")
    if spec.argument:
        return Bow(name=str(spec), words=read_word_vectors(Path(spec.argument)))
    return Bow(name=str(spec), words=random_vectors(seed=seed, dim=options.dim))


def _bilstm_max(spec: Spec, seed: int) -> Encoder:
    from sentprobe.probes.recurrent import BilstmMax  # noqa: PLC0415
    from sentprobe.probes.wordvectors import random_vectors, read_word_vectors  # noqa: PLC0415

    options = with_options(BilstmOptions(), spec.options, owner="bilstm-max")
    path = Path(spec.argument) if spec.argument else None
    words = read_word_vectors(path) if path else random_vectors(seed=seed, dim=options.dim)
    return BilstmMax(
        name=str(spec), words=words, hidden=options.hidden, batch=options.batch, seed=seed
    )


def _sentence_transformer(spec: Spec, seed: int) -> Encoder:  # noqa: ARG001
    from sentprobe.probes.sentence_transformer import load_sentence_transformer  # noqa: PLC0415

    options = with_options(SentenceTransformerOptions(), spec.options, owner="st")
    return load_sentence_transformer(
        spec.argument, name=str(spec), batch=options.batch, device=options.device or None
    )


ENCODERS = (
    EncoderKind(
        "bow",
        "bow:glove.6B.300d.txt",
        "average of word vectors, random Gaussian or from a file (word2vec text, GloVe)",
        Argument.OPTIONAL,
        _bow,
    ),
    EncoderKind(
        "bilstm-max",
        "bilstm-max",
        "untrained BiLSTM with max pooling, over random word vectors or a file",
        Argument.OPTIONAL,
        _bilstm_max,
    ),
    EncoderKind(
        "st",
        "st:sentence-transformers/all-MiniLM-L6-v2",
        "a sentence-transformers model, by directory or hub name",
        Argument.REQUIRED,
        _sentence_transformer,
    ),
)
"""The encoder kinds, by the word before the colon of a spec."""


def make_encoder(spec: str, *, seed: int) -> Encoder:
    """Return the encoder that *spec* asks for; *seed* decides what is random in it.

    >>> make_encoder("bow?dim=4", seed=0).encode(["the man slept"]).shape
    (1, 4)
    """
    parsed = parse_spec(spec)
    return find_kind(spec).build(parsed, seed)


def find_kind(spec: str) -> EncoderKind:
    """Return the kind of encoder that *spec* asks for.

    Raises:
        UsageError: there is none of that name, or it wants an argument.
    """
    parsed = parse_spec(spec)
    kinds = {kind.name: kind for kind in ENCODERS}
    if parsed.kind not in kinds:
        near = suggest(parsed.kind, kinds)
        raise UsageError(f"unknown encoder {parsed.kind!r}{near}; known: {', '.join(kinds)}")
    kind = kinds[parsed.kind]
    if kind.argument is Argument.REQUIRED and not parsed.argument:
        raise UsageError(f"encoder {kind.name!r} wants an argument, as in {kind.example}")
    return kind


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
