"""The data of probes under each condition: the task's own, or data changed for a control or for a ``--method``.

Sources of probe word vectors: one-hot, an encoder's input word vectors, or its vectors of one-word sentences.
"""

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import numpy as np

from sentprobe.common.errors import SentprobeError, UsageError, suggest
from sentprobe.common.specs import Spec
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.datasets.dataset import ENCODER_WORDS, ONE_HOT, Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders import kinds, variants
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import (
    Encoder,
    EncoderError,
    Half,
    Vectors,
    check_vectors,
    digest,
    get_capabilities,
)
from sentprobe.probes.encoders.word_vectors import MAX_WORDS_SHOWN, Bow, sample_word_vectors
from sentprobe.probes.results.data_facts import find_training_words
from sentprobe.probes.results.result import Condition

if TYPE_CHECKING:
    from sentprobe.probes.classifier.fit import Fit

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WordSource:
    """Source of probe word vectors: one-hot, the probed encoder, or another encoder (Adi et al. 2017, section 3)."""

    name: str = ONE_HOT
    other_encoder: Encoder | None = None

    def find_encoder(self, probed: Encoder) -> Encoder | None:
        """Return the encoder of probe words in a run with the sentence encoder *probed*; None if words are one-hot."""
        return probed if self.name == ENCODER_WORDS else self.other_encoder

    def make_fingerprint(self, probed: Encoder) -> str:
        """Return the fingerprint of the probe words' vectors; empty if they are one-hot."""
        encoder = self.find_encoder(probed)
        if encoder is None:
            return ""
        # A bag of words has the same vector for a word and for a sentence of this word.
        is_bag = isinstance(find_base_encoder(encoder), Bow)
        vector_kind = "probe words" if is_bag or find_input_word_vectors(encoder) is None else "input words"
        return digest(vector_kind, encoder.fingerprint)


def find_input_word_vectors(encoder: Encoder) -> Callable[[Sequence[str]], Vectors] | None:
    return get_capabilities(find_base_encoder(encoder)).word_vectors


def find_base_encoder(encoder: Encoder) -> Encoder:
    """Return the encoder behind a variant, or behind a variant of a variant; return any other encoder unchanged."""
    while isinstance(encoder, variants.ReducedEncoder | variants.ErasedEncoder):
        encoder = encoder.base
    return encoder


def list_word_source_kinds() -> list[str]:
    """Return the accepted kinds of a source of probe word vectors."""
    return [ONE_HOT, ENCODER_WORDS, *kinds.list_kind_names()]


def parse_word_source(text: str) -> Spec | str:
    """Parse a source of probe word vectors: ``one-hot``, ``encoder``, or the spec of an encoder. Raises UsageError."""
    if text in (ONE_HOT, ENCODER_WORDS):
        return text
    names = list_word_source_kinds()
    name = text.partition("?")[0].partition(":")[0]
    spec = kinds.read_spec(text, names) if name else None
    if spec is None or spec.kind not in names:
        raise UsageError(
            f"unknown probe vectors {text!r}{suggest(name, names)}; "
            f"expected: {ONE_HOT}, {ENCODER_WORDS}, or the spec of an encoder, as in bow:glove.txt"
        )
    kinds.find_kind(spec)
    return spec


def make_word_source(source: Encoder | Spec | str, *, seed: int) -> WordSource:
    """Return the word source that *source* describes. An encoder built from a spec has the default seed *seed*."""
    if isinstance(source, str) and source not in (ONE_HOT, ENCODER_WORDS):
        source = parse_word_source(source)
    if isinstance(source, str):
        return WordSource(source)
    word_encoder = kinds.make_encoder(source, seed=seed) if isinstance(source, Spec) else source
    return WordSource(word_encoder.name, word_encoder)


def encode_words(encoder: Encoder, words: Sequence[str], *, cache: Cache | None = None) -> Vectors:
    """Return an encoder's vectors of words, (words, dim) float32, cut and rounded like its sentence vectors.

    Returns the input word vectors or, if the encoder has none, its vectors of one-word sentences. An unknown word has
    the zero vector, with a warning. Raises EncoderError if all words are unknown or encoding fails.
    """
    read_words = find_input_word_vectors(encoder)
    if read_words is None:
        try:
            return embed(encoder, words, cache=cache)
        except EncoderError as error:
            raise EncoderError(f"probe words: {error}; --probe-vectors one-hot needs none") from error
    vectors = check_vectors(read_words(words), sentences=words, encoder=encoder.name)
    has_vector = np.asarray(vectors.any(axis=1))
    if not has_vector.any():
        raise EncoderError(
            f"{encoder.name}: none of the {len(words)} probe words has a vector; --probe-vectors one-hot needs none"
        )
    if unknown := [words[row] for row in np.flatnonzero(~has_vector).tolist()]:
        examples = ", ".join(unknown[:MAX_WORDS_SHOWN]) + (", ..." if len(unknown) > MAX_WORDS_SHOWN else "")
        counts = (len(unknown), len(words))
        log.warning("%d of %d probe words have no vector in %s and are all 0: %s", *counts, encoder.name, examples)
    if not isinstance(encoder, variants.ReducedEncoder):
        return vectors
    # Input word vectors have no halves, and narrower ones are not cut.
    storage = replace(encoder.storage, half=Half.BOTH, dims=min(encoder.storage.dims, vectors.shape[1]))
    stored = replace(encoder, storage=storage).apply_storage(vectors[has_vector])
    completed = np.zeros((len(words), stored.shape[1]), dtype=np.float32)
    completed[has_vector] = stored
    return completed


def split_validation(train: Items, groups: Indices, *, share: float = 0.1, seed: int = 0) -> tuple[Items, Items]:
    """Split items into training and validation items, and return both.

    *groups*, (n,), has the number of each item's group. A group moves to validation as a whole. It cannot move if
    training would then lack a label or a probe word. For each label, at most the fraction *share* of its items moves.
    If this limit would leave validation empty, the smallest group that can move is moved nevertheless. Raises
    SentprobeError if no group can move.

    >>> items = Items([0, 1, 2, 3], [], [0, 1, 0, 1])
    >>> left, taken = split_validation(items, np.array([0, 0, 1, 1]), share=0.5, seed=0)
    >>> len(left), len(taken), sorted(taken.targets.tolist())
    (2, 2, [0, 1])
    """
    if not 0 < share < 1:
        raise UsageError(f"share={share} of validation items is not between 0 and 1")
    if groups.shape != (len(train),):
        raise UsageError(f"groups of shape {groups.shape} for {len(train)} training items")
    # The groups in random order; the stable sort keeps the items of each in ascending order.
    distinct, numbers = np.unique(groups, return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(1, len(distinct)))
    groups_of_items = np.split(order, starts)
    members = [groups_of_items[index] for index in np.random.default_rng(seed).permutation(len(groups_of_items))]
    selection = _ValidationSelection(train, share)
    chosen = [group for group in members if selection.try_take(group)] or [_find_smallest_group(members, selection)]
    is_held_out = np.zeros(len(train), dtype=bool)
    is_held_out[np.concatenate(chosen)] = True
    return train.select(~is_held_out), train.select(is_held_out)


class _ValidationSelection:
    """A selection of groups of training items for validation. Each label and each probe word stays in training."""

    def __init__(self, train: Items, share: float) -> None:
        columns = np.column_stack([train.targets, train.probes])
        self._values = [tuple(enumerate(row)) for row in columns.tolist()]
        """For each item, numbered pairs of column and value: the label in column 0, then the probe words."""
        self._training_counts = Counter(chain.from_iterable(self._values))
        self._quotas = {(0, label): int(share * self._training_counts[0, label]) for label in train.targets.tolist()}

    def try_take(self, group: Indices) -> bool:
        """Try to move a group of items to validation, within the quota of each label; return whether it was moved."""
        labels = Counter(self._values[item][0] for item in group)
        if any(self._quotas[label] < count for label, count in labels.items()):
            return False
        counts = self._count_values(group)
        if not self._leaves_others(counts):
            return False
        for label, count in labels.items():
            self._quotas[label] -= count
        self._training_counts.subtract(counts)
        return True

    def can_leave_training(self, group: Indices) -> bool:
        """Check whether each label and probe word of a group also occurs in a training item outside of the group."""
        return self._leaves_others(self._count_values(group))

    def _leaves_others(self, counts: Counter[tuple[int, int]]) -> bool:
        return all(self._training_counts[value] > count for value, count in counts.items())

    def _count_values(self, group: Indices) -> Counter[tuple[int, int]]:
        return Counter(chain.from_iterable(self._values[item] for item in group))


def _find_smallest_group(members: list[Indices], selection: _ValidationSelection) -> Indices:
    for group in sorted(members, key=len):
        if selection.can_leave_training(group):
            return group
    raise SentprobeError(
        "no validation items can be taken from the training items: every group that must stay "
        "together has a label or a probe word that no other group has"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeItems:
    """A dataset's items by split, without texts, and how many different probe words and labels the dataset has."""

    name: str
    train: Items
    validation: Items | None
    test: Items
    words: int
    labels: int
    types: Indices | None = None
    """The type of each sentence, (sentences,) int64: the control task has a label per type; None without that task."""


def make_probe_items(data: ProbeDataset, *, preset: Preset, seed: int) -> ProbeItems:
    """Return the items by split; if *preset* needs validation items that *data* lacks, split them from training."""
    train, validation = data.splits[Split.TRAIN], data.splits.get(Split.VALIDATION)
    if not preset.needs_validation:
        validation = None
    # By unit: sentences that depend on each other never stand on both sides.
    elif validation is None:
        train, validation = split_validation(train, data.units(Split.TRAIN), seed=seed)
    return ProbeItems(
        name=data.name,
        train=train,
        validation=validation,
        test=data.splits[Split.TEST],
        words=len(data.probe_words),
        labels=len(data.labels),
    )


def make_control_bow(*, seed: int, dim: int) -> Bow:
    """Return the encoder of the bag-of-words control, whose sentence vector is the mean of random word vectors."""
    return Bow("bag of words", sample_word_vectors(seed=seed, dim=dim))


def encode_bag_of_words(bow: Bow, data: ProbeDataset) -> Vectors:
    """Return the vectors of the bag-of-words control, (sentences, dim) float32.

    In a dataset across languages, words that do not occur in training sentences are skipped. A sentence without
    training words has the zero vector, so that the probe predicts the same label for all of these sentences.
    """
    if not data.card.test_language:
        return bow.encode(data.sentences)
    words = find_training_words(data)
    texts = [" ".join(word for word in sentence.split() if word in words) for sentence in data.sentences]
    rows = [row for row, text in enumerate(texts) if text]
    vectors = np.zeros((len(texts), bow.words.dim), dtype=np.float32)
    vectors[rows] = bow.encode([texts[row] for row in rows])
    return vectors


LIMITING_CONDITIONS: Mapping[Condition, Condition] = {
    Condition.RANDOM_PROBES: Condition.PROBE,
    Condition.RANDOM_SENTENCES: Condition.BAG_OF_WORDS,
}
"""For each control, the condition whose probe sets the maximum number of passes; both probes have the same seed.

All encoders of one width share the probes on random sentence vectors, so no single encoder's probe may limit them.
The bag-of-words probe, which these encoders share, too, sets the limit.
"""


def train_under_condition(
    condition: Condition,
    items: Sequence[ProbeItems],
    vectors: Iterable[Vectors | Path],
    *,
    preset: Preset,
    seed: int,
    seeds: tuple[int, ...],
    device: str = "cpu",
    threads: int | None = 1,
    word_vectors: Vectors | Path | None = None,
    pass_limits: Mapping[int, int] | None = None,
) -> "tuple[Fit, ...]":
    """Train a probe for each of *seeds* under *condition*. Return, for each test set in turn, a Fit for each seed.

    - items: the items of datasets that differ in test items only
    - vectors: for each dataset, its sentence vectors as an array or a ``numpy.save`` file. They are loaded one after
      another. RANDOM_SENTENCES and NO_SENTENCE use only their shape
    - seed: determines, with the name of the first dataset, how *condition* randomizes the data
    - word_vectors: the vectors of the probe words, as an array or a file; None means one-hot
    - pass_limits: the maximum number of passes, by seed
    """
    # By name, since PyTorch is slow to import.
    fit: Callable[..., tuple[Fit, ...]] = resolve_name(
        TRAINING_FUNCTIONS.get(condition, "sentprobe.probes.classifier.fit:fit")
    )
    first_items, *further_items = items
    # Each condition and task has random numbers of its own. Not hash(), which differs between processes.
    digest = hashlib.sha256(f"{seed} {condition} {first_items.name}".encode()).digest()
    generator = np.random.default_rng(int.from_bytes(digest[:8]))
    arrays = map(_load_vectors, vectors)
    inputs = next(arrays)
    if condition in CHANGES:
        inputs, first_items = CHANGES[condition](inputs, first_items, generator)
    return fit(
        inputs,
        train=first_items.train,
        test=first_items.test,
        validation=first_items.validation,
        words=first_items.words,
        labels=first_items.labels,
        preset=preset,
        seeds=seeds,
        device=device,
        threads=threads,
        word_vectors=None if word_vectors is None else _load_vectors(word_vectors),
        **({"pass_limits": pass_limits} if pass_limits else {}),
        **({"further_tests": zip(arrays, (m.test for m in further_items), strict=True)} if further_items else {}),
    )


TRAINING_FUNCTIONS = {
    Condition.PORTIONS: "sentprobe.probes.classifier.fit:fit_portions",
    Condition.WIDTHS: "sentprobe.probes.classifier.fit:fit_widths",
}


def _load_vectors(vectors: Vectors | Path) -> Vectors:
    return np.load(vectors, mmap_mode="r", allow_pickle=False) if isinstance(vectors, Path) else vectors


TrainingInputs = tuple[Vectors, ProbeItems]


def _randomize_probe_words(vectors: Vectors, material: ProbeItems, generator: np.random.Generator) -> TrainingInputs:
    """Replace each item's n-th probe word by a uniformly random word among the n-th probe words of training items."""
    words_by_slot = [np.unique(column) for column in material.train.probes.T]

    def randomize(items: Items) -> Items:
        word_columns: list[Indices] = [generator.choice(words, size=len(items)) for words in words_by_slot]
        return replace(items, probes=np.stack(word_columns, axis=1))

    return vectors, _change_splits(material, randomize)


def _replace_labels(vectors: Vectors, material: ProbeItems, generator: np.random.Generator) -> TrainingInputs:
    assert material.types is not None
    labels = sample_labels(material.types, material.train, material.labels, generator)
    return vectors, _change_splits(material, lambda items: replace(items, targets=labels[items.rows]))


def _change_splits(material: ProbeItems, change: Callable[[Items], Items]) -> ProbeItems:
    train, test = change(material.train), change(material.test)
    return replace(
        material, train=train, test=test, validation=change(material.validation) if material.validation else None
    )


def _shuffle_training(vectors: Vectors, material: ProbeItems, generator: np.random.Generator) -> TrainingInputs:
    # Portions are prefixes of this order, so that each is a random sample of the items.
    train, order = material.train, generator.permutation(len(material.train))
    shuffled = Items(train.rows[order], train.probes[order], train.targets[order])
    return vectors, replace(material, train=shuffled)


CHANGES: Mapping[Condition, Callable[[Vectors, ProbeItems, np.random.Generator], TrainingInputs]] = {
    # Gaussian noise for each distinct sentence; in the published control, each item has its own.
    Condition.RANDOM_SENTENCES: lambda vectors, items, generator: (
        generator.standard_normal(vectors.shape, dtype=np.float32),
        items,
    ),
    Condition.RANDOM_PROBES: _randomize_probe_words,
    Condition.NO_SENTENCE: lambda vectors, items, _: (np.zeros((len(vectors), 1), dtype=np.float32), items),
    Condition.CONTROL_TASK: _replace_labels,
    Condition.PORTIONS: _shuffle_training,
}

WORD = re.compile(r"\w")


def find_word_types(data: ProbeDataset) -> Indices:
    """Return each sentence's word type in the control task, (sentences,) int64. Sentences of one type share a label.

    Sentences with the same last word have the same type. However, if all test sentences also occur in training, each
    sentence has its own type.
    """
    train, test = (data.splits[split].rows for split in (Split.TRAIN, Split.TEST))
    if np.isin(test, train).all():
        return np.arange(len(data.sentences), dtype=np.int64)
    words = [find_last_word(sentence) for sentence in data.sentences]
    return np.unique(words, return_inverse=True)[1].astype(np.int64)


def find_last_word(sentence: str) -> str:
    """Return the last token that has a letter or digit, or else the last token, in lower case."""
    tokens = sentence.lower().split()
    return next((token for token in reversed(tokens) if WORD.search(token)), tokens[-1])


def sample_labels(types: Indices, train: Items, labels: int, generator: np.random.Generator) -> Indices:
    """Return a random label for each sentence, (sentences,) int64, for the control task (Hewitt & Liang 2019).

    Sentences of the same type get the same label. The type is usually the last word (see :func:`find_word_types`).
    In *train*, each label keeps about its true number of items. For this, the types in *train* are labelled in random
    order: each gets the label that still lacks the most items. Any other type gets a random label. It is drawn with
    the frequencies of the true labels in *train*.
    """
    type_counts = np.bincount(types[train.rows], minlength=int(types.max()) + 1)
    counts = np.bincount(train.targets, minlength=labels)
    type_labels = generator.choice(labels, size=len(type_counts), p=counts / counts.sum())
    missing_counts = counts + generator.random(labels) / 2  # ties are broken at random
    for word_type in generator.permutation(np.flatnonzero(type_counts)):
        type_labels[word_type] = missing_counts.argmax()
        missing_counts[type_labels[word_type]] -= type_counts[word_type]
    return np.asarray(type_labels[types], np.int64)
