"""Variants of encoders from whose vectors LEACE erases a dataset's labels (Belrose et al. 2023, theorem 4.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import Indices, ProbeDataset, Split
from sentprobe.probes.encoders.protocol import Baseline, Capabilities, Encoder, Vectors, digest, get_capabilities
from sentprobe.probes.encoders.variants.cut_and_rounded import add_options
from sentprobe.probes.statistics import Floats
from sentprobe.specs import Spec

ERASE = "erase"
"""The option of a spec whose value is the path of the dataset to erase."""
NO_ERASURE = "none"
"""The value of the option that asks for the unchanged vectors."""
MIN_VARIANCE_SHARE = 1e-9
"""Directions whose variance is a smaller share of the greatest variance count as rounding errors."""


@dataclass(frozen=True, slots=True)
class Eraser:
    """An affine map that removes the part of vectors that predicts the labels of a dataset."""

    mean: Floats
    """The mean of the training vectors, (dim,)."""
    projection: Floats
    """A matrix (dim, dim) that maps a centred vector to the part to remove."""

    def apply(self, vectors: Vectors) -> Vectors:
        """Return the vectors without the part that predicts the labels, (n, dim) float32."""
        result: Vectors = (vectors - (vectors - self.mean) @ self.projection.T).astype(np.float32)
        return result


def find_eraser(vectors: Vectors, targets: Indices) -> Eraser:
    """Fit the eraser of the labels *targets*, (n,) int64, to the training vectors, (n, dim) float32."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    centred = vectors - mean
    labels = np.eye(int(targets.max()) + 1)[targets]
    values, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    varies = values > MIN_VARIANCE_SHARE * values[-1]
    spread = np.sqrt(values[varies])
    white = (axes[:, varies] / spread).T  # (directions, dim): vectors of variance 1 in each direction
    cross = white @ (centred.T @ (labels - labels.mean(axis=0))) / len(centred)
    directions, sizes, _ = np.linalg.svd(cross, full_matrices=False)
    directions = directions[:, sizes > MIN_VARIANCE_SHARE]
    return Eraser(mean, (axes[:, varies] * spread) @ directions @ directions.T @ white)


def check_erasable(data: ProbeDataset) -> ProbeDataset:
    """Return the dataset. Raises UsageError if its labels depend on probe words."""
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
    """Whether the unchanged vectors are probed in the same run."""

    @property
    def fingerprint(self) -> str:
        """A digest of base encoder and dataset; empty if the base encoder has no fingerprint."""
        base = self.base.fingerprint
        return base and digest("erased", base, self.data.fingerprint())

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the base encoder, except those that a variant cannot have."""
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
        """Return vectors after the erasure; *training_vectors* are those of :attr:`training_sentences`."""
        targets = self.data.splits[Split.TRAIN].targets
        return find_eraser(training_vectors, targets).apply(vectors)


def make_erased_encoder(
    encoder: Encoder | Baseline, data: ProbeDataset, *, name: str, base_is_probed: bool = False
) -> ErasedEncoder:
    """Return a variant whose vectors lack the labels of *data*. Raises UsageError for a baseline or unsuitable data."""
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
    """Yield a variant for each encoder and dataset, from whose vectors the dataset's labels are erased.

    - paths: the paths of datasets; NO_ERASURE among them yields no variant
    - label: the name that the user gave the encoders; empty: variants are named by their spec

    Raises UsageError.
    """
    from sentprobe.probes.formats.registry import read_dataset

    for path in paths:
        if path == NO_ERASURE:
            continue
        data = read_dataset(path)
        for encoder in encoders:
            name = f"{encoder.name}, without {data.name}" if label else add_options(encoder.name, (ERASE, path))
            yield make_erased_encoder(encoder, data, name=name, base_is_probed=NO_ERASURE in paths)


def split_erase_option(spec: Spec) -> tuple[Spec, tuple[str, ...]]:
    """Return a spec without its ``erase`` options, and the values of these options, which are paths of datasets."""
    paths = tuple(value for name, value in spec.options if name == ERASE)
    remaining = tuple(pair for pair in spec.options if pair[0] != ERASE)
    return replace(spec, options=remaining), paths


def add_erasure(spec: Spec, paths: Sequence[str]) -> Spec:
    """Return a spec with an ``erase`` option for each dataset, or the same spec if it has such an option already."""
    if not paths or split_erase_option(spec)[1]:
        return spec
    options = tuple((ERASE, path) for path in (NO_ERASURE, *paths))
    return replace(spec, options=(*spec.options, *options))
