"""Datasets of probing tasks: sentences, items (questions about a sentence) in splits, and a card."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import SentprobeError, format_count, suggest


class CardError(SentprobeError):
    """The card in a dataset's file is malformed."""


@dataclass(frozen=True, slots=True)
class Card:
    """A description of a dataset's origin. It has no date: repeating a command yields the same card."""

    task: str
    seed: int = 0
    vocabulary: str = ""
    command: str = ""
    sampling: str = ""
    source: str = ""
    language: str = ""
    """The language of the grammar that generated the sentences; empty: sentences were not generated."""
    train_language: str = ""
    """The language of the training items, if the user chose languages for training and test; else empty."""
    test_language: str = ""
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Numbers of items with certain properties, such as a label: ``{"test agreeing": 812}``."""
    largest_share: Mapping[str, float] = field(default_factory=dict, hash=False)
    """For each split, the share of items with the split's most frequent sentence template."""
    composition: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)
    """Shares of feature values, here and as published: ``{"rc-aspect prog": {"share": 0.28, "published": 0.3}}``."""
    notes: tuple[str, ...] = ()
    """Remarks on how this dataset differs from other datasets of its task."""
    audit: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Results of the audit (the accuracy of surface cues), as JSON values; empty before the audit."""

    def to_json(self) -> dict[str, Any]:
        """Return the card as a value that :mod:`json` can write.

        >>> Card.from_json(Card("Order", seed=7).to_json())
        Card(task='Order', seed=7, vocabulary='', command='', sampling='', source='', language='', \
train_language='', test_language='', versions={}, counts={}, largest_share={}, composition={}, notes=(), audit={})
        """
        languages = ("language", "train_language", "test_language")
        values = {name: value for name, value in asdict(self).items() if value or name not in languages}
        return values | {"notes": list(self.notes)}

    @classmethod
    def from_json(cls, value: object) -> "Card":
        """Read a card; the inverse of :meth:`to_json`. Only the task is required. Raises CardError."""
        if not isinstance(value, Mapping) or "task" not in value:
            raise CardError("a card must be an object that has at least the key 'task'")
        field_names = [field_.name for field_ in fields(cls)]
        for key, content in value.items():
            if key not in field_names:
                raise CardError(f"a card has no field {key!r}{suggest(str(key), field_names)}")
            expected, accepts = _FIELD_TYPES.get(key, _FIELD_TYPES["task"])
            if not accepts(content):
                raise CardError(f"card: {key} must be {expected}, not {content!r:.60}")
        return cls(**{**value, "notes": tuple(value.get("notes", ()))})


def build_mapping_check(*types: type) -> Callable[[Any], bool]:
    """Return a function that says whether a value is a mapping whose values have one of *types* and are not bool."""
    return lambda value: (
        isinstance(value, Mapping)
        and all(isinstance(item, types) and not isinstance(item, bool) for item in value.values())
    )


_FIELD_TYPES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "task": ("text", lambda value: isinstance(value, str)),  # also the type of all fields that are not in this table
    "seed": ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "versions": ("an object of texts", build_mapping_check(str)),
    "counts": ("an object of whole numbers", build_mapping_check(int)),
    "largest_share": ("an object of numbers", build_mapping_check(int, float)),
    "composition": (
        "an object of objects of numbers",
        lambda value: isinstance(value, Mapping) and all(map(build_mapping_check(int, float), value.values())),
    ),
    "notes": (
        "a list of texts",
        lambda value: isinstance(value, list | tuple) and all(isinstance(text, str) for text in value),
    ),
    "audit": ("an object", lambda value: isinstance(value, Mapping)),
}


Indices = NDArray[np.int64]

MAX_PROBES = 2
"""Maximum number of probe words of an item: a noun and a verb (Ettinger et al. 2018)."""


class DatasetError(SentprobeError):
    """A dataset is inconsistent, or a probe cannot be trained on it."""


class TooFewError(SentprobeError):
    """The corpus or vocabulary is too small for a task."""


class Split(StrEnum):
    """A split of the items. Every dataset has TRAIN and TEST; VALIDATION is optional."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


STRUCTURE = "structure"
"""Name of the item column that states whether the syntactic structure of a sentence occurs in training."""

TRAINED = "trained"
"""Value of the column ``structure`` if the structure occurs in training."""


def name_structure_part(name: str) -> str:
    """Return the value of the column ``structure`` for a structure in test only: "held out: passive"."""
    return f"held out: {name}"


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The items of one split, as parallel arrays.

    - rows: the index of each item's sentence, (n,) int64
    - probes: the indices of its 0, 1 or 2 probe words, (n, k) int64
    - targets: the index of its label, (n,) int64
    - columns: further values of each item by column name, which are not shown to classifiers

    The indices refer to the dataset's sentences, probe words and labels. Lists are converted to read-only arrays.
    """

    rows: Indices
    probes: Indices
    targets: Indices
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = _to_index_array(self.rows, name="rows", ndim=1)
        targets = _to_index_array(self.targets, name="targets", ndim=1)
        probes = _to_index_array(self.probes, name="probes", ndim=2, count=len(rows))
        if not len(rows) == len(probes) == len(targets):
            raise DatasetError(
                f"rows, probes and targets have {len(rows)}, {len(probes)} and {len(targets)} "
                "entries; the three must have equally many"
            )
        if probes.shape[1] > MAX_PROBES:
            raise DatasetError(f"{probes.shape[1]} probe words per item; at most {MAX_PROBES}")
        for name, array in (("rows", rows), ("probes", probes), ("targets", targets)):
            object.__setattr__(self, name, array)
        for name, values in self.columns.items():
            if len(values) != len(rows):
                raise DatasetError(f"column {name!r}: {len(values)} values for {len(rows)} items")

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Items):
            return NotImplemented
        return all(map(np.array_equal, self._arrays(), other._arrays())) and self.columns == other.columns

    def __hash__(self) -> int:
        return hash(tuple(array.tobytes() for array in self._arrays()))

    @property
    def slots(self) -> int:
        """Number of probe words of an item, k."""
        return int(self.probes.shape[1])

    def select(self, selection: Any) -> "Items":
        """Return the items at the indices in an array, or those where a mask, (n,) bool, is true."""
        chosen = np.arange(len(self))[selection]
        columns = {n: tuple(values[i] for i in chosen) for n, values in self.columns.items()}
        return Items(self.rows[chosen], self.probes[chosen], self.targets[chosen], columns)

    def _arrays(self) -> tuple[Indices, Indices, Indices]:
        return self.rows, self.probes, self.targets


@dataclass(frozen=True, slots=True)
class ProbeDataset:
    """The data of a classification task about sentences. Any encoder can be probed on it.

    >>> items = Items([0, 1], [[0], [0]], [0, 1])
    >>> toy = ProbeDataset(
    ...     name="content1", sentences=("the man slept", "the man danced"),
    ...     labels=("FALSE", "TRUE"), probe_words=("dance",),
    ...     splits={Split.TRAIN: items, Split.TEST: items}, card=Card("content1"))
    >>> toy.slots, len(toy.splits[Split.TEST]), toy.fingerprint()[:12]
    (1, 2, 'b1234977fcde')
    """

    name: str
    sentences: tuple[str, ...]
    labels: tuple[str, ...]
    probe_words: tuple[str, ...]
    splits: Mapping[Split, Items] = field(hash=False)
    card: Card

    def __post_init__(self) -> None:
        splits = sorted(self.splits.items(), key=lambda entry: list(Split).index(entry[0]))
        object.__setattr__(self, "splits", dict(splits))
        _check_texts(self)
        _check_splits(self)
        _check_learnable(self)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(items)} {split} items" for split, items in self.splits.items())
        return f"<ProbeDataset {self.name!r}: {len(self.sentences)} sentences, {sizes}>"

    @property
    def slots(self) -> int:
        """Number of probe words of an item, the same in every split."""
        return self.splits[Split.TRAIN].slots

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the items' columns, the same in every split."""
        return tuple(self.splits[Split.TRAIN].columns)

    @property
    def mirrored(self) -> bool:
        """Whether each group of test items with equal words and probe words has balanced labels, as mirror pairs do."""
        test = self.splits[Split.TEST]
        return _have_balanced_labels(self.number_mirrors(Split.TEST), test.targets, len(self.labels))

    @property
    def balanced_probes(self) -> bool:
        """Whether each combination of probe words has all labels equally often in test, so that it predicts none."""
        test = self.splits[Split.TEST]
        _, groups = np.unique(test.probes, axis=0, return_inverse=True)
        return not self.slots or _have_balanced_labels(groups.ravel(), test.targets, len(self.labels))

    @property
    def held_out(self) -> str:
        """The structure that occurs in test only, such as ``passive``; empty if there is none, or several."""
        prefix = name_structure_part("")
        trained, tested = ({*self.splits[split].columns.get(STRUCTURE, ())} for split in (Split.TRAIN, Split.TEST))
        held_out = [part for part in tested - trained if part.startswith(prefix)]
        return held_out[0].removeprefix(prefix) if len(held_out) == 1 else ""

    def units(self, split: Split) -> Indices:
        """Return the number of each item's unit, (n,) int64; units are numbered in the order of their first items.

        Items with the same sentence are in one unit. So are mirrors: items with the same words, in any order, and the
        same probe words.
        """
        first = self.splits[split].rows
        second = self.number_mirrors(split)
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        # A graph with a node for each sentence and each mirror, and an edge for each item: its components are units.
        size = int(first.max()) + 1 + int(second.max()) + 1
        edges = (np.ones(len(first), np.int8), (first, second + int(first.max()) + 1))
        _, components = connected_components(coo_array(edges, shape=(size, size)), directed=False)
        # Components have arbitrary numbers; units are numbered in the order of their first items.
        _, starts, classes = np.unique(components[first], return_index=True, return_inverse=True)
        rank = np.empty(len(starts), np.int64)
        rank[np.argsort(starts)] = np.arange(len(starts))
        return np.asarray(rank[classes], np.int64)

    def number_mirrors(self, split: Split) -> Indices:
        """Return a number for each item, (n,) int64: equal for items with the same words, in any order, and probes."""
        items = self.splits[split]
        sorted_words = {row: tuple(sorted(self.sentences[row].split())) for row in np.unique(items.rows).tolist()}
        numbers: dict[object, int] = {}
        pairs = zip(items.rows.tolist(), items.probes.tolist(), strict=True)
        keys = ((sorted_words[row], *probe) for row, probe in pairs)
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)

    def fingerprint(self) -> str:
        """Return a SHA-256 digest, in hexadecimal, of everything except the card and the columns."""
        digest = hashlib.sha256()
        for texts in ((self.name,), self.sentences, self.labels, self.probe_words):
            _update_digest(digest, (text.encode() for text in texts), count=len(texts))
        for split, items in self.splits.items():
            # Little-endian, so that the fingerprint is the same on every machine.
            arrays = (array.astype("<i8").tobytes() for array in items._arrays())
            _update_digest(digest, (split.encode(), *arrays), count=items.slots)
        return digest.hexdigest()


def check_card_counts(data: ProbeDataset, source: str) -> None:
    """Raise DatasetError if the card of a dataset counts other numbers of a label's items than the dataset has."""
    for split, (index, label) in product(Split, enumerate(data.labels)):
        found = int((data.splits[split].targets == index).sum()) if split in data.splits else 0
        for key in (f"{split.value}: {label}", f"{split.value} {label}"):  # of generated and of natural tasks
            if (stated := data.card.counts.get(key, found)) != found:
                raise DatasetError(
                    f"{source}: {format_count(found, 'item')} of the split {split.value} and the label {label!r}, but "
                    f"its card counts {stated}: write the dataset again, or remove the counts from the card if you "
                    "changed the items yourself"
                )


def _have_balanced_labels(groups: Indices, targets: Indices, labels: int) -> bool:
    """Return whether each group of items has equally many items of each label; *groups* and *targets*: (n,) int64."""
    counts = np.zeros((int(groups.max()) + 1, labels), np.int64)
    np.add.at(counts, (groups, targets), 1)
    return bool((counts == counts[:, :1]).all())


def _update_digest(digest: "hashlib._Hash", parts: Iterable[bytes], *, count: int) -> None:
    """Add *count* and *parts* to the digest. Each part's length is added too, so that (ab, c) differs from (a, bc)."""
    digest.update(count.to_bytes(8, "little"))
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)


def _to_index_array(values: object, *, name: str, ndim: int, count: int = 0) -> Indices:
    """Return *values* as a read-only int64 array; an empty list of probe words becomes an array (count, 0)."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64).reshape((count, 0) if ndim == 2 and array.ndim < 2 else array.shape)
    if not np.issubdtype(array.dtype, np.integer):
        raise DatasetError(f"{name} must be integers, not {array.dtype}")
    if array.ndim != ndim:
        raise DatasetError(f"{name} must have {ndim} dimensions, not {array.ndim}")
    copy = np.array(array, dtype=np.int64, order="C")
    copy.flags.writeable = False
    return copy


def _check_texts(data: ProbeDataset) -> None:
    for kind, texts in (("sentence", data.sentences), ("label", data.labels), ("probe word", data.probe_words)):
        seen: set[str] = set()
        for text in texts:
            if text in seen:
                raise DatasetError(f"{kind} {text!r} occurs twice")
            seen.add(text)
    for sentence in data.sentences:
        if not sentence or " ".join(sentence.split()) != sentence:
            raise DatasetError(f"sentence {sentence!r}: expected tokens with one space between them")
    if len(data.labels) < 2:
        raise DatasetError(f"dataset {data.name!r} has one label only: {list(data.labels)}")


def _check_splits(data: ProbeDataset) -> None:
    for split in (Split.TRAIN, Split.TEST):
        if split not in data.splits:
            raise DatasetError(f"dataset {data.name!r} has no {split} split")
    for split, items in data.splits.items():
        if not len(items):
            raise DatasetError(f"split {split} of dataset {data.name!r} is empty")
        if items.columns.keys() != data.splits[Split.TRAIN].columns.keys():
            names = f"{[*items.columns]} and {[*data.columns]}"
            raise DatasetError(f"split {split} and train have different columns: {names}")
        if items.slots != data.slots:
            raise DatasetError(f"split {split} has {items.slots} probe words per item, train has {data.slots}")
        _check_range(items.rows, len(data.sentences), split=split, kind="row")
        _check_range(items.probes, len(data.probe_words), split=split, kind="probe word")
        _check_range(items.targets, len(data.labels), split=split, kind="target")


def _check_range(array: Indices, size: int, *, split: Split, kind: str) -> None:
    outside = np.argwhere((array < 0) | (array >= size))
    if len(outside):
        value = array[tuple(outside[0])]
        raise DatasetError(f"split {split}, item {outside[0][0]}: {kind} {value} is not in 0..{size - 1}")


def _check_learnable(data: ProbeDataset) -> None:
    """Raise DatasetError if training has only one label, or lacks a label or probe word of another split.

    A probe word must occur in training in the same slot: as the first word, or as the second.
    """
    train = data.splits[Split.TRAIN]
    training_labels = np.unique(train.targets)
    if len(training_labels) < 2:
        raise DatasetError(f"all training items have one label, {data.labels[training_labels[0]]!r}")
    for split, items in data.splits.items():
        unseen_labels = np.setdiff1d(items.targets, training_labels)
        if len(unseen_labels):
            raise DatasetError(f"label {data.labels[unseen_labels[0]]!r} occurs in {split} but never in training")
        # By slot, since a one-hot word has weights of its own in each slot: untrained ones would answer at random.
        for slot in range(data.slots):
            unseen_words = np.setdiff1d(items.probes[:, slot], train.probes[:, slot])
            if len(unseen_words):
                raise DatasetError(
                    f"probe word {data.probe_words[unseen_words[0]]!r} occurs in {split} "
                    f"but never in training (slot {slot + 1})"
                )


ONE_HOT = "one-hot"
"""A probe gets its probe words as one-hot vectors (the default)."""

ENCODER_WORDS = "encoder"
"""A probe gets its probe words as vectors of the probed encoder."""
