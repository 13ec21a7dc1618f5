"""Variants of encoders, whose vectors are cut to their leading dimensions, rounded, or both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product

import numpy as np

from sentprobe.errors import UsageError, check_whole
from sentprobe.probes.encoders.protocol import Baseline, Capabilities, Encoder, Vectors, digest, get_capabilities
from sentprobe.specs import OptionPair, Spec, choose_member, parse_spec, replace_options


class Rounding(StrEnum):
    """Methods of rounding vectors, named as in sentence-transformers."""

    FLOAT32 = "float32"
    """No rounding."""
    INT8 = "int8"
    """To 256 equal steps between the minimum and the maximum of each dimension."""
    BINARY = "binary"
    """To 1 for positive numbers and 0 for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """How the vectors of a variant are cut and rounded."""

    dims: int = 0
    """Number of leading dimensions to keep; 0: all."""
    rounding: Rounding = Rounding.FLOAT32

    def __str__(self) -> str:
        """Return the number of dimensions and the rounding, as they appear in an encoder's name.

        >>> str(Storage(dims=64, rounding=Rounding.INT8)), str(Storage())
        ('64 dims, int8', '')
        """
        return ", ".join(f"{text} dims" if key == "dims" else text for key, text in self.to_options())

    def to_options(self) -> tuple[OptionPair, ...]:
        """Return the options with which a spec asks for this storage."""
        dims = [("dims", str(self.dims))] if self.dims else []
        rounded = self.rounding is not Rounding.FLOAT32
        return (*dims, *([("quantize", self.rounding.value)] if rounded else []))


UNCHANGED = Storage()
"""The storage that leaves vectors unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageOptions:
    """The options of a spec that ask for variants: the widths and the roundings."""

    dims: tuple[int, ...] = (0,)
    quantize: tuple[Rounding, ...] = (Rounding.FLOAT32,)

    def __post_init__(self) -> None:
        for name in ("dims", "quantize"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise UsageError(f"{name}={','.join(map(str, values))} has a value twice")

    @property
    def variants(self) -> tuple[Storage, ...]:
        """A storage for each combination of a width and a rounding."""
        return tuple(Storage(dims=dims, rounding=rounding) for dims, rounding in product(self.dims, self.quantize))

    def to_options(self) -> tuple[OptionPair, ...]:
        """Return the options as pairs of name and text, as in a spec."""
        pairs = (("dims", self.dims), ("quantize", self.quantize))
        return tuple((name, ",".join(map(str, values))) for name, values in pairs)


STORAGE_OPTION_NAMES = ("dims", "quantize")


def parse_storage(dims: str | None, quantize: str | None) -> StorageOptions:
    """Return the storage options for the unchanged vectors and the variants in two command-line options.

    An option that is not used is None. Raises UsageError.

    >>> parse_storage("64,128", "int8").to_options()
    (('dims', '0,64,128'), ('quantize', 'float32,int8'))
    """
    pairs = zip(STORAGE_OPTION_NAMES, (dims, quantize), strict=True)
    stated = [(name, text) for name, text in pairs if text is not None]
    options = replace_options(StorageOptions(), stated, owner="probe run")
    return make_storage_options(() if dims is None else options.dims, options.quantize)


def make_storage_options(dims: Sequence[int], quantize: Sequence[str]) -> StorageOptions:
    """Return the storage options for the unchanged vectors and these widths and roundings. Raises UsageError."""
    for width in dims:
        check_whole("dims", width)
        if width < 1:
            raise UsageError(f"dims={width}: a width must be at least 1; full vectors are always probed, too")
    roundings = [choose_member(Rounding, name, what="rounding") for name in quantize]
    return StorageOptions(
        dims=tuple(dict.fromkeys((0, *dims))), quantize=tuple(dict.fromkeys((Rounding.FLOAT32, *roundings)))
    )


def split_storage_options(spec: Spec) -> tuple[Spec, StorageOptions]:
    """Return a spec without its storage options, and these options."""
    storage = [pair for pair in spec.options if pair[0] in STORAGE_OPTION_NAMES]
    remaining = tuple(pair for pair in spec.options if pair[0] not in STORAGE_OPTION_NAMES)
    return replace(spec, options=remaining), replace_options(StorageOptions(), storage, owner=spec.kind)


def add_storage_options(spec: Spec, options: StorageOptions) -> Spec:
    """Return a spec with these storage options, or the same spec if it has storage options already."""
    has_options = any(name in STORAGE_OPTION_NAMES for name, _ in spec.options)
    if has_options or options.variants == (UNCHANGED,):
        return spec
    return replace(spec, options=(*spec.options, *options.to_options()))


@dataclass(frozen=True, slots=True)
class ReducedEncoder:
    """An encoder whose vectors are cut or rounded."""

    base: Encoder
    storage: Storage
    name: str
    family: str = ""
    """The family of the base encoder, if it has one, and the storage."""
    base_is_probed: bool = False
    """Whether the unchanged vectors are probed in the same run."""

    @property
    def fingerprint(self) -> str:
        """A digest of base encoder and storage; empty if the base encoder has no fingerprint."""
        return self.base.fingerprint and digest("stored", self.base.fingerprint, self.storage)

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the base encoder, except those that a variant cannot have."""
        base = get_capabilities(self.base)
        bind_to_order = self.bind_to_order if base.bind_to_order else None
        return base.derive_variant(family=self.family, bind_to_order=bind_to_order)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the cut and rounded vectors, (n, dim) float32; these sentences set the range for int8."""
        return self.apply_storage(self.base.encode(sentences))

    def bind_to_order(self, sentences: Sequence[str]) -> "ReducedEncoder":
        """Return the variant of a base encoder whose vectors belong to these sentences in order."""
        bind = get_capabilities(self.base).bind_to_order
        return self if bind is None else replace(self, base=bind(sentences))

    def apply_storage(self, vectors: Vectors) -> Vectors:
        """Return vectors cut and rounded; their minimum and maximum in each dimension set the range for int8."""
        cut = self.cut_dims(vectors)
        return round_vectors(cut, self.storage.rounding, scale=cut)

    def cut_dims(self, vectors: Vectors) -> Vectors:
        """Return the leading dimensions of vectors, (n, dims). Raises UsageError if they have fewer dimensions."""
        width = vectors.shape[1]
        if self.storage.dims > width:
            raise UsageError(f"{self.name}: the vectors have only {width} dims, fewer than {self.storage.dims}")
        return vectors[:, : self.storage.dims or width]


def make_stored_encoders(encoder: Encoder | Baseline, options: StorageOptions, *, label: str) -> Iterator[Encoder]:
    """Yield an encoder's variants. Raises UsageError for a baseline.

    - label: the name that the user gave the encoder; empty: variants are named by their spec
    """
    if not isinstance(encoder, Encoder):
        raise UsageError(f"{encoder.name} is a baseline, which has no vectors to cut or to round")
    family = get_capabilities(encoder).family
    for storage in options.variants:
        if storage == UNCHANGED:
            yield encoder
            continue
        yield ReducedEncoder(
            encoder,
            storage,
            name=f"{encoder.name}, {storage}" if label else add_options(encoder.name, *storage.to_options()),
            family=f"{family}, {storage}" if family else "",
            base_is_probed=UNCHANGED in options.variants,
        )


def add_options(name: str, *options: OptionPair) -> str:
    """Return the text of the spec *name* with further options."""
    spec = parse_spec(name)
    return str(replace(spec, options=(*spec.options, *options)))


def round_vectors(vectors: Vectors, rounding: Rounding, *, scale: Vectors) -> Vectors:
    """Return rounded vectors, (n, dim) float32; the minima and maxima of *scale*, (m, dim), set the range for int8."""
    if rounding is Rounding.FLOAT32:
        return vectors
    if rounding is Rounding.BINARY:
        return (vectors > 0).astype(np.float32)
    least, greatest = scale.min(axis=0), scale.max(axis=0)
    width = (greatest - least) / np.float32(255)
    steps = np.floor((vectors - least) / np.where(width == 0, 1, width))
    result: Vectors = (np.clip(steps, 0, 255) - 128).astype(np.float32)
    return result
