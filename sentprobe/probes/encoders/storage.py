"""Vectors as people store them: cut after their first numbers, rounded, or both.

Whatever ways are asked for, the whole vectors are encoded once, and kept in the cache.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product
from typing import Any

import numpy as np

from sentprobe.errors import UsageError, check_whole
from sentprobe.probes.encoders.protocol import (
    Baseline,
    Encoder,
    Vectors,
    digest,
    seed_of,
    truncated_by,
)
from sentprobe.specs import OptionPair, Spec, choose, parse_spec, with_options


class Rounding(StrEnum):
    """What is kept of each number; the names are sentence-transformers'."""

    FLOAT32 = "float32"
    """All of it."""
    INT8 = "int8"
    """Which of 256 equal steps it is in, between the least and the greatest of its column."""
    BINARY = "binary"
    """Whether it is more than 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """A way of storing vectors."""

    dims: int = 0
    """The numbers that are kept, from the first; 0: all."""
    rounding: Rounding = Rounding.FLOAT32

    def __str__(self) -> str:
        """Say what is not kept.

        >>> str(Storage(dims=64, rounding=Rounding.INT8)), str(Storage())
        ('64 dims, int8', '')
        """
        return ", ".join(f"{text} dims" if key == "dims" else text for key, text in self.options())

    def options(self) -> tuple[OptionPair, ...]:
        """Return the options of a spec that ask for it."""
        dims = [("dims", str(self.dims))] if self.dims else []
        rounded = self.rounding is not Rounding.FLOAT32
        return (*dims, *([("quantize", self.rounding.value)] if rounded else []))


WHOLE = Storage()
"""All of each vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageOptions:
    """The options that a spec of any encoder may have, each a list."""

    dims: tuple[int, ...] = (0,)
    quantize: tuple[Rounding, ...] = (Rounding.FLOAT32,)

    def __post_init__(self) -> None:
        for name in ("dims", "quantize"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise UsageError(f"{name}={','.join(map(str, values))} has a value twice")

    @property
    def ways(self) -> tuple[Storage, ...]:
        """Each width with each rounding."""
        pairs = product(self.dims, self.quantize)
        return tuple(Storage(dims=dims, rounding=rounding) for dims, rounding in pairs)

    def options(self) -> tuple[OptionPair, ...]:
        """Return them as a spec has them."""
        pairs = (("dims", self.dims), ("quantize", self.quantize))
        return tuple((name, ",".join(map(str, values))) for name, values in pairs)


NAMES = ("dims", "quantize")


def parse_storage(dims: str | None, quantize: str | None) -> StorageOptions:
    """Return what is asked for beside the whole vectors; None: nothing.

    >>> parse_storage("64,128", "int8").options()
    (('dims', '0,64,128'), ('quantize', 'float32,int8'))

    Raises:
        UsageError: a width is no whole number from 1, or there is no such rounding.
    """
    pairs = zip(NAMES, (dims, quantize), strict=True)
    given = [(name, text) for name, text in pairs if text is not None]
    asked = with_options(StorageOptions(), given, owner="probe run")
    return as_storage(() if dims is None else asked.dims, asked.quantize)


def as_storage(dims: Sequence[int], quantize: Sequence[str]) -> StorageOptions:
    """Return the same of widths and names of roundings.

    Raises:
        UsageError: a width is less than 1, or there is no such rounding.
    """
    for each in dims:
        check_whole("dims", each)
        if each < 1:
            raise UsageError(
                f"dims={each}: a width is at least 1; whole vectors are probed in any case"
            )
    roundings = [choose(Rounding, each, what="rounding") for each in quantize]
    return StorageOptions(
        dims=tuple(dict.fromkeys((0, *dims))),
        quantize=tuple(dict.fromkeys((Rounding.FLOAT32, *roundings))),
    )


def split_spec(spec: Spec) -> tuple[Spec, StorageOptions]:
    """Return a spec without these options, and what they ask for."""
    mine = [pair for pair in spec.options if pair[0] in NAMES]
    rest = tuple(pair for pair in spec.options if pair[0] not in NAMES)
    return replace(spec, options=rest), with_options(StorageOptions(), mine, owner=spec.kind)


def is_stored(spec: Spec) -> bool:
    """Say whether a spec has one of these options."""
    return any(name in NAMES for name, _ in spec.options)


def with_storage(spec: Spec, asked: StorageOptions) -> Spec:
    """Return a spec that asks for this too, unless it says itself how its vectors are stored."""
    if is_stored(spec) or asked.ways == (WHOLE,):
        return spec
    return replace(spec, options=(*spec.options, *asked.options()))


@dataclass(frozen=True, slots=True)
class StoredEncoder:
    """An encoder whose vectors are cut or rounded."""

    whole: Encoder
    """The encoder of the whole vectors."""
    way: Storage
    name: str
    family: str = ""
    """That of the whole, stored in this way."""
    beside: bool = False
    """Whether the whole vectors are probed, too."""
    cacheable: bool = field(default=False, init=False)
    """What is kept are the whole vectors."""

    @property
    def fingerprint(self) -> str:
        """A digest of the encoder and the way of storing; empty where the encoder has none."""
        return self.whole.fingerprint and digest("stored", self.whole.fingerprint, self.way)

    @property
    def seed(self) -> int | None:
        """That of the weights."""
        return seed_of(self.whole)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of what was encoded so far."""
        return tuple(getattr(self.whole, "notes", ()))

    @property
    def layer(self) -> int | None:
        """The layer of a model that the whole vectors are."""
        return getattr(self.whole, "layer", None)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return vectors as they are stored, (n, dim) float32, on the scale of these sentences."""
        return self.stored(self.whole.encode(sentences))

    def truncated(self, sentences: Sequence[str]) -> int | None:
        """Return of how many sentences the beginning only is read; None: nobody knows."""
        return truncated_by(self.whole, sentences)

    def stored(self, whole: Vectors) -> Vectors:
        """Return whole vectors as they are stored, on the scale of these."""
        vectors = self.cut(whole)
        return rounded(vectors, self.way.rounding, scale=vectors)

    def cut(self, whole: Vectors) -> Vectors:
        """Return the numbers that are kept of each vector, (n, dims).

        Raises:
            UsageError: there are not so many.
        """
        width = whole.shape[1]
        if self.way.dims > width:
            raise UsageError(
                f"{self.name}: {self.way.dims} dims of vectors that have {width}; ask for fewer"
            )
        return whole[:, : self.way.dims or width]


class OrderedStoredEncoder(StoredEncoder):
    """One whose whole vectors go by the order of the sentences."""

    __slots__ = ()

    def in_order(self, sentences: Sequence[str]) -> StoredEncoder:
        """Return the encoder of vectors of these sentences, one each."""
        whole: Any = self.whole
        placed = whole.in_order(sentences)
        return StoredEncoder(placed, self.way, self.name, self.family, self.beside)


def store(encoder: Encoder | Baseline, asked: StorageOptions, *, label: str) -> Iterator[Encoder]:
    """Yield the encoder stored in each way that is asked for.

    - label: what its name is if that is no spec; empty: it is one

    Raises:
        UsageError: it is a baseline.
    """
    if not isinstance(encoder, Encoder):
        raise UsageError(f"{encoder.name} is a baseline, which has no vectors to cut or to round")
    kind = OrderedStoredEncoder if hasattr(encoder, "in_order") else StoredEncoder
    for way in asked.ways:
        if way == WHOLE:
            yield encoder
            continue
        family = getattr(encoder, "family", "")
        name = f"{encoder.name}, {way}" if label else _as_spec(encoder.name, way)
        beside = WHOLE in asked.ways
        yield kind(encoder, way, name, f"{family}, {way}" if family else "", beside)


def _as_spec(name: str, way: Storage) -> str:
    spec = parse_spec(name)
    return str(replace(spec, options=(*spec.options, *way.options())))


def rounded(vectors: Vectors, rounding: Rounding, *, scale: Vectors) -> Vectors:
    """Return what is read back from rounded vectors, (n, dim) float32.

    - scale: (m, dim) float32, the vectors whose least and greatest numbers are the ends of the
      steps of int8; what is beyond is in the first or last step
    """
    if rounding is Rounding.FLOAT32:
        return vectors
    if rounding is Rounding.BINARY:
        return (vectors > 0).astype(np.float32)
    least, greatest = scale.min(axis=0), scale.max(axis=0)
    width = (greatest - least) / np.float32(255)
    steps = np.floor((vectors - least) / np.where(width == 0, 1, width))
    result: Vectors = (np.clip(steps, 0, 255) - 128).astype(np.float32)
    return result
