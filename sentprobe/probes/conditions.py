"""What a probe is trained on in a run: the items as they are, or one of the sanity runs."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sentprobe.probes.dataset import Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders import Vectors
from sentprobe.probes.encoders.wordvectors import Bow, random_vectors
from sentprobe.probes.results import Condition
from sentprobe.probes.trainer.fit import Fit, fit
from sentprobe.probes.trainer.presets import Preset
from sentprobe.probes.trainer.validation import carve


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How probes are trained in a run."""

    preset: Preset
    seed: int
    """Decides the random vectors and words, and which training items are set aside."""
    device: str = "cpu"
    threads: int | None = 1
    """PyTorch's threads; None leaves them as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a dataset gives to the trainer, without its texts."""

    name: str
    train: Items
    validation: Items | None
    test: Items
    words: int
    labels: int


def conditions_of(data: ProbeDataset, *, controls: bool = True) -> tuple[Condition, ...]:
    """Return the conditions that make sense for the dataset.

    Without probe words there are no random ones, and nothing is left without the sentence; without
    *controls*, only the probe itself is left.
    """
    if not controls:
        return (Condition.PROBE,)
    return tuple(c for c in Condition if data.slots or c not in OF_PROBE_WORDS)


OF_PROBE_WORDS = (Condition.RANDOM_PROBES, Condition.NO_SENTENCE)
"""The conditions that need probe words."""


def material_of(data: ProbeDataset, *, training: Training) -> Material:
    """Return the items for the trainer; where the preset needs validation, there is some.

    A dataset without gets a tenth of its training items for it, whole units.
    """
    train, validation = data.splits[Split.TRAIN], data.splits.get(Split.VALIDATION)
    if not training.preset.needs_validation:
        validation = None
    elif validation is None:
        train, validation = carve(train, data.units(Split.TRAIN), seed=training.seed)
    return Material(
        name=data.name,
        train=train,
        validation=validation,
        test=data.splits[Split.TEST],
        words=len(data.probe_words),
        labels=len(data.labels),
    )


def control_bow(*, seed: int, dim: int) -> Bow:
    """Return the encoder of the bag-of-words control: random word vectors, averaged."""
    return Bow("bag of words", random_vectors(seed=seed, dim=dim))


def fit_under(
    condition: Condition,
    material: Material,
    vectors: Vectors | Path,
    *,
    training: Training,
    seeds: tuple[int, ...],
    word_vectors: Vectors | Path | None = None,
) -> tuple[Fit, ...]:
    """Train a probe per seed under *condition*, which has randomness of its own.

    - vectors: (sentences, dim) float32, or a file of ``numpy.save`` that has them. Under
      RANDOM_SENTENCES and NO_SENTENCE only their shape counts; under BAG_OF_WORDS they are the
      control's
    - word_vectors: (words, word_dim) float32, or a file; None: the probe words are one-hot
    """
    if isinstance(vectors, Path):
        vectors = _load(vectors)
    if isinstance(word_vectors, Path):
        word_vectors = _load(word_vectors)
    generator = np.random.default_rng(_seed(training.seed, material.name, condition))
    changed, material = CONDITIONS[condition](vectors, material, generator)
    return fit(
        changed,
        train=material.train,
        test=material.test,
        validation=material.validation,
        words=material.words,
        labels=material.labels,
        preset=training.preset,
        seeds=seeds,
        device=training.device,
        threads=training.threads,
        word_vectors=word_vectors,
    )


def _load(path: Path) -> Vectors:
    vectors: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    return vectors


Inputs = tuple[Vectors, Material]


def _as_they_are(vectors: Vectors, material: Material, generator: np.random.Generator) -> Inputs:
    del generator
    return vectors, material


def _random_sentences(
    vectors: Vectors, material: Material, generator: np.random.Generator
) -> Inputs:
    """Draw a standard Gaussian vector per distinct sentence, of the same width.

    The published code draws one per item, so that even a repeated sentence cannot be known
    again; with one per sentence the control keeps the structure of the data.
    """
    return generator.standard_normal(vectors.shape, dtype=np.float32), material


def _random_probes(vectors: Vectors, material: Material, generator: np.random.Generator) -> Inputs:
    """Put a random probe word in every slot of every item, in every split.

    Each is drawn uniformly from the words that stand in that slot in training.
    """
    known = [np.unique(column) for column in material.train.probes.T]

    def drawn(items: Items) -> Items:
        columns: list[Indices] = [generator.choice(words, size=len(items)) for words in known]
        return replace(items, probes=np.stack(columns, axis=1))

    train, test = drawn(material.train), drawn(material.test)
    validation = drawn(material.validation) if material.validation else None
    return vectors, replace(material, train=train, validation=validation, test=test)


def _no_sentence(vectors: Vectors, material: Material, generator: np.random.Generator) -> Inputs:
    """Put one and the same vector in place of every sentence: a single 0, whatever the width."""
    del generator
    return np.zeros((len(vectors), 1), dtype=np.float32), material


CONDITIONS: Mapping[Condition, Callable[[Vectors, Material, np.random.Generator], Inputs]] = {
    Condition.PROBE: _as_they_are,
    Condition.RANDOM_SENTENCES: _random_sentences,
    Condition.RANDOM_PROBES: _random_probes,
    Condition.BAG_OF_WORDS: _as_they_are,
    Condition.NO_SENTENCE: _no_sentence,
}
"""How each condition changes sentence vectors and items."""


def _seed(seed: int, task: str, condition: Condition) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {condition} {task}".encode()).digest()[:8])
