"""What a probe is trained on in a run: the items as they are, or one of the sanity runs."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import numpy as np

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.dataset import Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders import Vectors
from sentprobe.probes.encoders.word_vectors import Bow, random_vectors
from sentprobe.probes.runs.control_task import draw_labels
from sentprobe.probes.runs.results import USUAL, Condition
from sentprobe.probes.trainer.classifier import Preset

if TYPE_CHECKING:
    from sentprobe.probes.trainer.fit import Fit


def carve(
    train: Items, groups: Indices, *, share: float = 0.1, seed: int = 0
) -> tuple[Items, Items]:
    """Return the training items that are left, and validation items, both in their old order.

    - groups: (n,) int64, items with the same number stay together
    - share: of the items of each label, as nearly as whole groups allow, but never more

    Every probe word that is in a slot in training stays there. If all groups are larger than the
    share allows, the smallest that can be spared is taken.

    >>> items = Items([0, 1, 2, 3], [], [0, 1, 0, 1])
    >>> left, taken = carve(items, np.array([0, 0, 1, 1]), share=0.5, seed=0)
    >>> len(left), len(taken), sorted(taken.targets.tolist())
    (2, 2, [0, 1])

    Raises:
        UsageError: *share* is not between 0 and 1; *groups* is not one number per item.
        SentprobeError: no group can be spared.
    """
    if not 0 < share < 1:
        raise UsageError(f"share={share} of validation items is not between 0 and 1")
    if groups.shape != (len(train),):
        raise UsageError(f"groups of shape {groups.shape} for {len(train)} training items")
    members = _members(groups, np.random.default_rng(seed))
    taken = _Taken(train, share)
    chosen = [group for group in members if taken.take(group)]
    if not chosen:
        chosen = [_smallest(members, taken)]
    held = np.zeros(len(train), dtype=bool)
    held[np.concatenate(chosen)] = True
    return train.at(~held), train.at(held)


def _members(groups: Indices, generator: np.random.Generator) -> list[Indices]:
    """Return the places of each group's items, the groups in random order."""
    distinct, numbers = np.unique(groups, return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(1, len(distinct)))
    parts = np.split(order, starts)
    return [parts[place] for place in generator.permutation(len(parts))]


class _Taken:
    """Keeps count of what is left in training and of what may still be taken."""

    def __init__(self, train: Items, share: float) -> None:
        self._labels: list[int] = train.targets.tolist()
        self._words: list[list[int]] = train.probes.tolist()
        counts = Counter(self._labels)
        self._wanted = {label: int(share * count) for label, count in counts.items()}
        self._spare = counts
        self._left = Counter(key for words in self._words for key in enumerate(words))

    def take(self, group: Indices) -> bool:
        """Take the group's items if every label has room for them and they can be spared."""
        labels = Counter(self._labels[item] for item in group)
        if any(self._wanted[label] < count for label, count in labels.items()):
            return False
        if not self.can_spare(group):
            return False
        for label, count in labels.items():
            self._wanted[label] -= count
        self._spare.subtract(labels)
        self._left.subtract(self._count_words(group))
        return True

    def can_spare(self, group: Indices) -> bool:
        """Whether every label and every probe word of the items occurs in other items too."""
        labels = Counter(self._labels[item] for item in group)
        words = self._count_words(group)
        return all(self._spare[label] > count for label, count in labels.items()) and all(
            self._left[key] > count for key, count in words.items()
        )

    def _count_words(self, group: Sequence[int] | Indices) -> Counter[tuple[int, int]]:
        return Counter(key for item in group for key in enumerate(self._words[item]))


def _smallest(members: list[Indices], taken: _Taken) -> Indices:
    for group in sorted(members, key=len):
        if taken.can_spare(group):
            return group
    raise SentprobeError(
        "no validation items can be taken from the training items: every group that must stay "
        "together has a label or a probe word that no other has"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a dataset gives to the trainer, without its texts."""

    name: str
    train: Items
    validation: Items | None
    test: Items
    words: int
    labels: int
    types: Indices | None = None
    """(sentences,) int64, the word type by which a control task labels each; None: there is none"""


def conditions_of(data: ProbeDataset, *, controls: bool = True) -> tuple[Condition, ...]:
    """Return the conditions that make sense for the dataset.

    Without probe words there are no random ones, and nothing is left without the sentence; without
    *controls*, only the probe itself is left.
    """
    return conditions_with(probe_words=bool(data.slots), controls=controls)


def conditions_with(*, probe_words: bool, controls: bool) -> tuple[Condition, ...]:
    """Return the conditions for a dataset with or without probe words."""
    if not controls:
        return (Condition.PROBE,)
    return tuple(c for c in USUAL if probe_words or c not in OF_PROBE_WORDS)


OF_PROBE_WORDS = (Condition.RANDOM_PROBES, Condition.NO_SENTENCE)
"""The conditions that need probe words."""


def material_of(data: ProbeDataset, *, preset: Preset, seed: int) -> Material:
    """Return the items for the trainer; where the preset needs validation, there is some.

    A dataset without gets a tenth of its training items for it, whole units, drawn by *seed*.
    """
    train, validation = data.splits[Split.TRAIN], data.splits.get(Split.VALIDATION)
    if not preset.needs_validation:
        validation = None
    elif validation is None:
        train, validation = carve(train, data.units(Split.TRAIN), seed=seed)
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
    preset: Preset,
    seed: int,
    seeds: tuple[int, ...],
    device: str = "cpu",
    threads: int | None = 1,
    word_vectors: Vectors | Path | None = None,
) -> "tuple[Fit, ...]":
    """Train a probe per seed of *seeds* under *condition*, whose own randomness is by *seed*.

    - vectors: (sentences, dim) float32, or a file of ``numpy.save`` that has them. Under
      RANDOM_SENTENCES and NO_SENTENCE only their shape counts; under BAG_OF_WORDS they are the
      control's
    - word_vectors: (words, word_dim) float32, or a file; None: the probe words are one-hot
    """
    fit = _fitter(condition)
    if isinstance(vectors, Path):
        vectors = _load(vectors)
    if isinstance(word_vectors, Path):
        word_vectors = _load(word_vectors)
    generator = np.random.default_rng(_seed(seed, material.name, condition))
    changed, material = CONDITIONS[condition](vectors, material, generator)
    return fit(
        changed,
        train=material.train,
        test=material.test,
        validation=material.validation,
        words=material.words,
        labels=material.labels,
        preset=preset,
        seeds=seeds,
        device=device,
        threads=threads,
        word_vectors=word_vectors,
    )


def _fitter(condition: Condition) -> "Callable[..., tuple[Fit, ...]]":
    """Return what trains under a condition; PyTorch is slow to import."""
    found: Callable[..., tuple[Fit, ...]] = resolve_name(FITTERS.get(condition, USUAL_FITTER))
    return found


USUAL_FITTER = "sentprobe.probes.trainer.fit:fit"

FITTERS = {
    Condition.PORTIONS: "sentprobe.probes.trainer.portions:fit_portions",
    Condition.WIDTHS: "sentprobe.probes.trainer.widths:fit_widths",
}
"""What trains several probes for each seed."""


def _load(path: Path) -> Vectors:
    vectors: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    return vectors


TrainingInputs = tuple[Vectors, Material]


def _as_they_are(
    vectors: Vectors, material: Material, generator: np.random.Generator
) -> TrainingInputs:
    del generator
    return vectors, material


def _random_sentences(
    vectors: Vectors, material: Material, generator: np.random.Generator
) -> TrainingInputs:
    """Draw a standard Gaussian vector per distinct sentence, of the same width.

    The published code draws one per item, so that even a repeated sentence cannot be known
    again; with one per sentence the control keeps the structure of the data.
    """
    return generator.standard_normal(vectors.shape, dtype=np.float32), material


def _random_probes(
    vectors: Vectors, material: Material, generator: np.random.Generator
) -> TrainingInputs:
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


def _no_sentence(
    vectors: Vectors, material: Material, generator: np.random.Generator
) -> TrainingInputs:
    """Put one and the same vector in place of every sentence: a single 0, whatever the width."""
    del generator
    return np.zeros((len(vectors), 1), dtype=np.float32), material


def _control_task(
    vectors: Vectors, material: Material, generator: np.random.Generator
) -> TrainingInputs:
    assert material.types is not None
    labels = draw_labels(material.types, material.train, material.labels, generator)

    def labelled(items: Items) -> Items:
        return replace(items, targets=labels[items.rows])

    train, test = labelled(material.train), labelled(material.test)
    validation = labelled(material.validation) if material.validation else None
    return vectors, replace(material, train=train, validation=validation, test=test)


def _in_random_order(
    vectors: Vectors, material: Material, generator: np.random.Generator
) -> TrainingInputs:
    train = material.train
    order = generator.permutation(len(train))
    shuffled = Items(train.rows[order], train.probes[order], train.targets[order])
    return vectors, replace(material, train=shuffled)


CONDITIONS: Mapping[
    Condition, Callable[[Vectors, Material, np.random.Generator], TrainingInputs]
] = {
    Condition.PROBE: _as_they_are,
    Condition.RANDOM_SENTENCES: _random_sentences,
    Condition.RANDOM_PROBES: _random_probes,
    Condition.BAG_OF_WORDS: _as_they_are,
    Condition.NO_SENTENCE: _no_sentence,
    Condition.CONTROL_TASK: _control_task,
    Condition.PORTIONS: _in_random_order,
    Condition.WIDTHS: _as_they_are,
}
"""How each condition changes sentence vectors and items."""


def _seed(seed: int, task: str, condition: Condition) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {condition} {task}".encode()).digest()[:8])
