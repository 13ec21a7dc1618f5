"""Variants of encoders whose vectors are cut to a half (``half=forward``) or their first dimensions, or rounded.

Variants of encoders, without the information on a dataset's labels (LEACE; Belrose et al. 2023, theorem 4.3).

After the erasure, no linear classifier on the vectors of the training items is better than a constant prediction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product

import numpy as np

from sentprobe.common.errors import UsageError, check_whole
from sentprobe.common.specs import OptionPair, Spec, choose_member, parse_spec, replace_options
from sentprobe.probes.datasets.dataset import Indices, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Baseline, Capabilities, Encoder, Half, Vectors, digest, get_capabilities


class Rounding(StrEnum):
    """Methods of rounding vectors, named as in sentence-transformers."""

    FLOAT32 = "float32"
    """No rounding."""
    INT8 = "int8"
    """Rounding to 256 equal steps between the minimum and the maximum of each dimension."""
    BINARY = "binary"
    """1 for positive numbers and 0 for all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """The part and the rounding of a variant's vectors."""

    half: Half = Half.BOTH
    """The half of a bidirectional encoder (Ettinger et al. 2018, section 7.2)."""
    dims: int = 0
    """Number of dimensions, counted from the first; 0: all dimensions."""
    rounding: Rounding = Rounding.FLOAT32

    def __str__(self) -> str:
        """Return the text for this storage in an encoder's name: "64 dims, int8"."""
        units = {"half": " half", "dims": " dims"}
        return ", ".join(f"{text}{units.get(key, '')}" for key, text in self.to_options())

    def compute_width(self, width: int) -> int:
        """Return the width of a variant of vectors of *width* dimensions."""
        half_width = width if self.half is Half.BOTH else width // 2
        return min(half_width, self.dims or half_width)

    def to_options(self) -> tuple[OptionPair, ...]:
        """Return the options of a spec for this storage, such as ``dims=64``."""
        half = "" if self.half is Half.BOTH else self.half.value
        rounding = "" if self.rounding is Rounding.FLOAT32 else self.rounding.value
        pairs = (("half", half), ("dims", str(self.dims or "")), ("quantize", rounding))
        return tuple((name, value) for name, value in pairs if value)


STORAGE_OPTION_NAMES = ("half", "dims", "quantize")
UNCHANGED = Storage()
"""The storage that leaves vectors unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageOptions:
    """The options ``half``, ``dims`` and ``quantize`` of a spec, such as ``dims=64,128&quantize=int8``."""

    half: tuple[Half, ...] = (Half.BOTH,)
    dims: tuple[int, ...] = (0,)
    quantize: tuple[Rounding, ...] = (Rounding.FLOAT32,)

    def __post_init__(self) -> None:
        for name in STORAGE_OPTION_NAMES:
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise UsageError(f"{name}={','.join(map(str, values))} has a value twice")

    @property
    def variants(self) -> tuple[Storage, ...]:
        """The storage of each variant: every combination of a value of each option."""
        combinations = product(self.half, self.dims, self.quantize)
        return tuple(Storage(half=half, dims=dims, rounding=rounding) for half, dims, rounding in combinations)

    def to_options(self) -> tuple[OptionPair, ...]:
        """Return the options ``dims`` and ``quantize`` of a spec, as pairs of name and value."""
        pairs = (("dims", self.dims), ("quantize", self.quantize))
        return tuple((name, ",".join(map(str, values))) for name, values in pairs)


def parse_storage(dims: str | None, quantize: str | None) -> StorageOptions:
    """Parse --dims and --quantize (None: left out); unchanged vectors are always included. Raises UsageError."""
    pairs = [(name, text) for name, text in (("dims", dims), ("quantize", quantize)) if text is not None]
    options = replace_options(StorageOptions(), pairs, owner="probe run")
    return make_storage_options(() if dims is None else options.dims, options.quantize)


def make_storage_options(dims: Sequence[int], quantize: Sequence[str]) -> StorageOptions:
    """Return options for *dims* and *quantize*; always include unchanged vectors (0, FLOAT32). Raises UsageError."""
    for width in dims:
        check_whole("dims", width)
        if width < 1:
            raise UsageError(f"dims={width}: a width must be at least 1; full vectors are always probed, too")
    roundings = [choose_member(Rounding, name, what="rounding") for name in quantize]
    return StorageOptions(
        dims=tuple(dict.fromkeys((0, *dims))), quantize=tuple(dict.fromkeys((Rounding.FLOAT32, *roundings)))
    )


def split_options(spec: Spec, *names: str) -> tuple[Spec, list[OptionPair]]:
    """Split a spec into a spec without the options *names*, and these options."""
    remaining = tuple(pair for pair in spec.options if pair[0] not in names)
    return replace(spec, options=remaining), [pair for pair in spec.options if pair[0] in names]


def add_storage_options(spec: Spec, options: StorageOptions) -> Spec:
    """Return a spec with the storage options; a spec that already has storage options is returned unchanged."""
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
    """The base encoder's family with the storage, such as ``bert, 64 dims``; empty if the encoder has no family."""
    base_is_probed: bool = False
    """Whether the same run also probes the base encoder."""

    @property
    def fingerprint(self) -> str:
        """A digest of the base encoder's fingerprint and ``storage``; empty if the base encoder has no fingerprint."""
        return self.base.fingerprint and digest("stored", self.base.fingerprint, self.storage)

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the base encoder that also apply to a variant."""
        base = get_capabilities(self.base)
        bind_to_order = self.bind_to_order if base.bind_to_order else None
        return base.derive_variant(family=self.family, bind_to_order=bind_to_order)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the cut and rounded vectors, (n, dim) float32. INT8 uses the range of these sentences' vectors."""
        return self.apply_storage(self.base.encode(sentences))

    def bind_to_order(self, sentences: Sequence[str]) -> "ReducedEncoder":
        """Return a copy of this encoder in which vector i of the base encoder belongs to sentence i."""
        bind = get_capabilities(self.base).bind_to_order
        return self if bind is None else replace(self, base=bind(sentences))

    def apply_storage(self, vectors: Vectors) -> Vectors:
        """Cut and round vectors. INT8 uses the vectors' minimum and maximum in each dimension."""
        cut = self.cut_dims(vectors)
        return round_vectors(cut, self.storage.rounding, scale=cut)

    def cut_dims(self, vectors: Vectors) -> Vectors:
        """Return the first dimensions of the vectors' half, (n, dims). Raises UsageError if there are fewer."""
        if self.storage.half is not Half.BOTH:
            number = get_capabilities(self.base).halves.index(self.storage.half)
            vectors = np.split(vectors, 2, axis=1)[number]
        width = vectors.shape[1]
        if self.storage.dims > width:
            raise UsageError(f"{self.name}: the vectors have only {width} dims, fewer than {self.storage.dims}")
        return vectors[:, : self.storage.dims or width]


def make_stored_encoders(encoder: Encoder | Baseline, options: StorageOptions, *, label: str) -> Iterator[Encoder]:
    """Yield an encoder for each combination of the options ``half``, ``dims`` and ``quantize``. Raises UsageError.

    - label: the user's name for the encoder. If empty, a variant's name is a spec, such as ``bow?dims=64``
    """
    if not isinstance(encoder, Encoder):
        raise UsageError(f"{encoder.name} is a baseline, which has no vectors to cut or to round")
    family, halves = get_capabilities(encoder).family, get_capabilities(encoder).halves
    if not halves and options.half != (Half.BOTH,):
        raise UsageError(
            f"{encoder.name}: half= needs an encoder that joins a reading forward and one backward, in one layer: "
            "bilstm-last, bilstm-max, gru-bi, infersent, or skipthought with mode=bi"
        )
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
    """Return the encoder spec *name* with *options* added at its end: "bow" and ("dims", "64") give "bow?dims=64"."""
    spec = parse_spec(name)
    return str(replace(spec, options=(*spec.options, *options)))


def round_vectors(vectors: Vectors, rounding: Rounding, *, scale: Vectors) -> Vectors:
    """Round vectors, (n, dim) float32. INT8 uses the minimum and maximum of each dimension of *scale*, (m, dim)."""
    if rounding is Rounding.FLOAT32:
        return vectors
    if rounding is Rounding.BINARY:
        return (vectors > 0).astype(np.float32)
    least, greatest = scale.min(axis=0), scale.max(axis=0)
    width = (greatest - least) / np.float32(255)
    # 256 steps from least to greatest, as in sentence-transformers; a constant dimension has no width.
    steps = np.floor((vectors - least) / np.where(width == 0, 1, width))
    return np.asarray(np.clip(steps, 0, 255) - 128, np.float32)


ERASE = "erase"
"""Name of the spec option that takes the path of a dataset; the dataset's labels are erased from the vectors."""
NO_ERASURE = "none"
"""Value of the option ``erase`` for the unchanged vectors."""
MIN_VARIANCE_SHARE = 1e-9
"""Directions with less than this share of the greatest variance are treated as rounding errors."""


def erase_labels(vectors: Vectors, training_vectors: Vectors, targets: Indices) -> Vectors:
    """Return *vectors* after an affine map, fitted to training vectors, that erases their labels, (n, dim) float32.

    - training_vectors, targets: (m, dim) float32, and the label of each, (m,) int64
    """
    mean = training_vectors.mean(axis=0, dtype=np.float64)
    centred = training_vectors - mean
    labels = np.eye(int(targets.max()) + 1)[targets]
    values, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    varies = values > MIN_VARIANCE_SHARE * values[-1]
    spread = np.sqrt(values[varies])
    white = (axes[:, varies] / spread).T  # (directions, dim): vectors of variance 1 in each direction
    cross = white @ (centred.T @ (labels - labels.mean(axis=0))) / len(centred)
    directions, sizes, _ = np.linalg.svd(cross, full_matrices=False)
    directions = directions[:, sizes > MIN_VARIANCE_SHARE]
    # r(x) = x - W+ P W (x - mean): W whitens, and P projects onto the columns of W Cov(x, labels).
    projection = (axes[:, varies] * spread) @ directions @ directions.T @ white
    return np.asarray(vectors - (vectors - mean) @ projection.T, np.float32)


def check_erasable(data: ProbeDataset) -> ProbeDataset:
    """Return the dataset unchanged. Raises UsageError if its items have probe words."""
    if data.slots:
        raise UsageError(f"{data.name} cannot be erased: its labels depend on probe words, not on the sentences alone")
    return data


@dataclass(frozen=True, slots=True)
class ErasedEncoder:
    """An encoder from whose vectors the labels of a dataset are erased."""

    base: Encoder
    data: ProbeDataset = field(repr=False)
    """The dataset whose labels are erased."""
    name: str
    base_is_probed: bool = False
    """Whether the same run also probes the base encoder."""

    @property
    def fingerprint(self) -> str:
        """A digest of the fingerprints of base encoder and dataset; empty if the base encoder has none."""
        base = self.base.fingerprint
        return base and digest("erased", base, self.data.fingerprint())

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the base encoder that also apply to a variant."""
        base = get_capabilities(self.base)
        return base.derive_variant(family=f"{base.family}, without {self.data.name}" if base.family else "")

    @property
    def training_sentences(self) -> list[str]:
        """The sentence of each training item of the dataset."""
        return [self.data.sentences[row] for row in self.data.splits[Split.TRAIN].rows]

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors after the erasure, (n, dim) float32."""
        training_vectors = self.base.encode(self.training_sentences)
        return self.erase(self.base.encode(sentences), training_vectors)

    def erase(self, vectors: Vectors, training_vectors: Vectors) -> Vectors:
        """Erase the labels from vectors; *training_vectors* are those of :attr:`training_sentences`."""
        targets = self.data.splits[Split.TRAIN].targets
        return erase_labels(vectors, training_vectors, targets)


def make_erased_encoder(
    encoder: Encoder | Baseline, data: ProbeDataset, *, name: str, base_is_probed: bool = False
) -> ErasedEncoder:
    """Return a variant of an encoder; the labels of *data* are erased from the variant's vectors. Raises UsageError."""
    if not isinstance(encoder, Encoder):
        raise UsageError(f"{encoder.name} is a baseline, which has no vectors to erase from")
    if get_capabilities(encoder).bind_to_order:
        raise UsageError(
            f"{encoder.name}: to erase a property, name the sentences that the vectors belong to "
            "(file:VECTORS?sentences=FILE)"
        )
    return ErasedEncoder(encoder, check_erasable(data), name, base_is_probed)


def make_erased_encoders(
    encoders: Sequence[Encoder | Baseline], paths: Sequence[str], *, label: str
) -> Iterator[ErasedEncoder]:
    """Yield a variant for each encoder and dataset. The dataset's labels are erased from the variant's vectors.

    - paths: the paths of datasets; NO_ERASURE among them states that the encoders themselves are probed, too
    - label: the user's name for the encoders. If empty, a variant's name is a spec, such as ``bow?erase=PATH``

    Raises UsageError.
    """
    from sentprobe.probes.datasets.formats import read_dataset

    for path in paths:
        if path == NO_ERASURE:
            continue
        data = read_dataset(path)
        for encoder in encoders:
            name = f"{encoder.name}, without {data.name}" if label else add_options(encoder.name, (ERASE, path))
            yield make_erased_encoder(encoder, data, name=name, base_is_probed=NO_ERASURE in paths)


def add_erasure(spec: Spec, paths: Sequence[str]) -> Spec:
    """Add ``erase=none`` and, for each path, ``erase=PATH`` to a spec, unless it has ``erase`` or there is no path."""
    if not paths or any(name == ERASE for name, _ in spec.options):
        return spec
    options = tuple((ERASE, path) for path in (NO_ERASURE, *paths))
    return replace(spec, options=(*spec.options, *options))
