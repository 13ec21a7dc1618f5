"""Variants of encoders, without the information on a dataset's labels (LEACE; Belrose et al. 2023, theorem 4.3).

After the erasure, no linear classifier on the vectors of the training items is better than a constant prediction.
"""

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
"""Name of the spec option that takes the path of a dataset; the dataset's labels are erased from the vectors."""
NO_ERASURE = "none"
"""Value of the option ``erase`` for the unchanged vectors."""
MIN_VARIANCE_SHARE = 1e-9
"""Directions with less than this share of the greatest variance are treated as rounding errors."""


@dataclass(frozen=True, slots=True)
class Eraser:
    """An affine map of vectors that erases the labels of a dataset."""

    mean: Floats
    """The mean of the training vectors, (dim,)."""
    projection: Floats
    """A matrix (dim, dim) whose product with a centred vector is subtracted from the vector."""

    def apply(self, vectors: Vectors) -> Vectors:
        """Return the vectors after the erasure, (n, dim) float32."""
        return np.asarray(vectors - (vectors - self.mean) @ self.projection.T, np.float32)


def find_eraser(vectors: Vectors, targets: Indices) -> Eraser:
    """Fit an eraser of labels to the training vectors, (n, dim) float32, and their labels *targets*, (n,) int64."""
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
    # r(x) = x - W+ P W (x - mean): W whitens, and P projects onto the columns of W Cov(x, labels).
    return Eraser(mean, (axes[:, varies] * spread) @ directions @ directions.T @ white)


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
        return find_eraser(training_vectors, targets).apply(vectors)


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
    from sentprobe.probes.formats.registry import read_dataset

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
