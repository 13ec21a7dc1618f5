"""Vectors from which a property is gone: no linear classifier can tell the labels of a dataset.

LEACE (Belrose et al. 2023, theorem 4.3): the least change of the vectors, by mean squares, after
which they and the labels have no covariance. It is learned from the training items alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import Indices, ProbeDataset, Split
from sentprobe.probes.encoders.protocol import (
    Baseline,
    Encoder,
    Vectors,
    digest,
    seed_of,
    truncated_by,
)
from sentprobe.probes.statistics import Floats
from sentprobe.specs import Spec, parse_spec

ERASE = "erase"
"""The option of a spec; its value is the path of a dataset."""

NOTHING = "none"
"""The value that asks for the whole vectors beside others."""

LEAST = 1e-9
"""What varies less than this, as a share of what varies most, is only rounding."""


@dataclass(frozen=True, slots=True)
class Eraser:
    """An affine map: from each vector goes its part, seen from the mean, that tells the labels."""

    mean: Floats
    """(dim,)"""
    part: Floats
    """(dim, dim), of rank at most one less than there are labels"""

    def apply(self, vectors: Vectors) -> Vectors:
        """Return the vectors without it, (n, dim) float32."""
        result: Vectors = (vectors - (vectors - self.mean) @ self.part.T).astype(np.float32)
        return result


def find_eraser(vectors: Vectors, targets: Indices) -> Eraser:
    """Return what takes the labels out of vectors.

    - vectors: (n, dim) float32, of the training items
    - targets: (n,) int64
    """
    mean = vectors.mean(axis=0, dtype=np.float64)
    centred = vectors - mean
    labels = np.eye(int(targets.max()) + 1)[targets]
    values, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = values > LEAST * values[-1]
    spread = np.sqrt(values[kept])
    white = (axes[:, kept] / spread).T  # (kept, dim): vectors of variance 1 in each direction
    cross = white @ (centred.T @ (labels - labels.mean(axis=0))) / len(centred)
    told, sizes, _ = np.linalg.svd(cross, full_matrices=False)
    told = told[:, sizes > LEAST]
    return Eraser(mean, (axes[:, kept] * spread) @ told @ told.T @ white)


def check_erasable(data: ProbeDataset) -> ProbeDataset:
    """Return a dataset whose answers are about the sentences alone.

    Raises:
        UsageError: they are about probe words, too.
    """
    if data.slots:
        raise UsageError(
            f"{data.name} cannot be erased: its answers depend on probe words, and so are no "
            "property of the sentences"
        )
    return data


@dataclass(frozen=True, slots=True)
class ErasedEncoder:
    """An encoder from whose vectors a property is gone."""

    whole: Encoder
    data: ProbeDataset = field(repr=False)
    """The dataset whose labels say what the property is."""
    name: str
    beside: bool = False
    """Whether the whole vectors are probed, too."""
    cacheable: bool = field(default=False, init=False)

    @property
    def fingerprint(self) -> str:
        """A digest of the encoder and the dataset; empty where the encoder has none."""
        known = self.whole.fingerprint
        return known and digest("erased", known, self.data.fingerprint())

    @property
    def seed(self) -> int | None:
        """That of the weights."""
        return seed_of(self.whole)

    @property
    def layer(self) -> int | None:
        """The layer of a model that the whole vectors are."""
        return getattr(self.whole, "layer", None)

    @property
    def family(self) -> str:
        """That of the whole, without the property."""
        whole = getattr(self.whole, "family", "")
        return f"{whole}, without {self.data.name}" if whole else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of what was encoded so far."""
        return tuple(getattr(self.whole, "notes", ()))

    @property
    def learned_from(self) -> list[str]:
        """The sentence of each training item of the dataset."""
        return [self.data.sentences[row] for row in self.data.splits[Split.TRAIN].rows]

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the vectors without the property, (n, dim) float32."""
        known = self.whole.encode(self.learned_from)
        return self.erase(self.whole.encode(sentences), known)

    def truncated(self, sentences: Sequence[str]) -> int | None:
        """Return of how many sentences the beginning only is read; None: nobody knows."""
        return truncated_by(self.whole, sentences)

    def erase(self, vectors: Vectors, known: Vectors) -> Vectors:
        """Return vectors without the property, given those of :attr:`learned_from`."""
        return find_eraser(known, self.data.splits[Split.TRAIN].targets).apply(vectors)


def erased(
    encoder: Encoder | Baseline, data: ProbeDataset, *, name: str, beside: bool = False
) -> ErasedEncoder:
    """Return an encoder without the property of a dataset.

    Raises:
        UsageError: it is a baseline, or goes by the order of sentences; see also
            :func:`check_erasable`.
    """
    if not isinstance(encoder, Encoder):
        raise UsageError(f"{encoder.name} is a baseline, which has no vectors to erase from")
    if hasattr(encoder, "in_order"):
        raise UsageError(
            f"{encoder.name}: to erase from its vectors it must be known which sentences they are "
            "of (file:VECTORS?sentences=FILE)"
        )
    return ErasedEncoder(encoder, check_erasable(data), name, beside)


def erase_each(
    encoders: Sequence[Encoder | Baseline], paths: Sequence[str], *, label: str
) -> Iterator[ErasedEncoder]:
    """Yield each encoder without the property of each dataset.

    - paths: of the datasets; NOTHING asks for no encoder
    - label: what their names are if these are no specs; empty: they are

    Raises:
        UsageError: see :func:`erased`; there is no such dataset.
    """
    from sentprobe.probes.formats import read_dataset  # noqa: PLC0415 - pyarrow is slow

    for path in paths:
        data = None if path == NOTHING else read_dataset(path)
        for each in encoders if data else ():
            assert data is not None
            name = f"{each.name}, without {data.name}" if label else _as_spec(each.name, path)
            yield erased(each, data, name=name, beside=NOTHING in paths)


def _as_spec(name: str, path: str) -> str:
    spec = parse_spec(name)
    return str(replace(spec, options=(*spec.options, (ERASE, path))))


def split_erase(spec: Spec) -> tuple[Spec, tuple[str, ...]]:
    """Return a spec without this option, and the paths of the datasets that it names."""
    paths = tuple(value for name, value in spec.options if name == ERASE)
    rest = tuple(pair for pair in spec.options if pair[0] != ERASE)
    return replace(spec, options=rest), paths


def with_erasure(spec: Spec, paths: Sequence[str]) -> Spec:
    """Return a spec that also asks for its vectors without the properties of these datasets."""
    if not paths or split_erase(spec)[1]:
        return spec
    more = tuple((ERASE, path) for path in (NOTHING, *paths))
    return replace(spec, options=(*spec.options, *more))
