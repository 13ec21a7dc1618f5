"""The one type of a probing task's data: sentences, items that point into them, splits, a card."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import SentprobeError, suggest
from sentprobe.extras import load


class CardError(SentprobeError):
    """A card in a file is not one that we could have written."""


class Sampling(StrEnum):
    """How the items of a suite are drawn.

    - MIRROR: balanced: compeval in mirror pairs where the task allows, the tasks of Adi et al. such
      that neither classes nor single words tell the answer
    - PAPER: as in the published datasets of Ettinger et al. 2018, and as Adi et al. 2017, section
      3.1, say that they did
    """

    MIRROR = "mirror"
    PAPER = "paper"


@dataclass(frozen=True, slots=True)
class Card:
    """How a dataset was made; two runs of one command give equal cards."""

    task: str
    seed: int = 0
    vocabulary: str = ""
    command: str = ""
    sampling: str = ""
    source: str = ""
    """Where the items come from: who made them, or the file that they were read from."""
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Package to version."""
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)
    """What was counted (items per structure, per label, ...) to how often."""
    largest_share: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Split to the share of its items that its most frequent structure has."""
    notes: tuple[str, ...] = ()
    """What does not hold of this dataset and does of others of its kind, in sentences."""
    audit: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What surface cues achieve, as JSON-able values; empty until the dataset is audited."""

    def to_json(self) -> dict[str, Any]:
        """Return the card as a value that :mod:`json` can write.

        >>> Card.from_json(Card("Order", seed=7).to_json())
        Card(task='Order', seed=7, vocabulary='', command='', sampling='', source='', versions={}, \
counts={}, largest_share={}, notes=(), audit={})
        """
        return {**asdict(self), "notes": list(self.notes)}

    @classmethod
    def from_json(cls, value: object) -> "Card":
        """Read a card back; the inverse of :meth:`to_json`. Fields may be missing, but the task.

        Raises:
            CardError: a field that no card has, or a value of another type.
        """
        if not isinstance(value, Mapping) or "task" not in value:
            raise CardError("a card must be an object that has at least the key 'task'")
        known = [each.name for each in fields(cls)]
        for key, item in value.items():
            if key not in known:
                raise CardError(f"a card has no field {key!r}{suggest(str(key), known)}")
            what, accepts = _KINDS.get(key, _TEXT)
            if not accepts(item):
                raise CardError(f"card: {key} must be {what}, not {item!r:.60}")
        return cls(**{**value, "notes": tuple(value.get("notes", ()))})


_Kind = tuple[str, Callable[[Any], bool]]


def _mapping_to(*types: type) -> Callable[[Any], bool]:
    def accepts(value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            isinstance(item, types) and not isinstance(item, bool) for item in value.values()
        )

    return accepts


_TEXT: _Kind = ("text", lambda value: isinstance(value, str))

_KINDS: Mapping[str, _Kind] = {
    "seed": ("a whole number", lambda value: isinstance(value, int) and value is not True),
    "versions": ("an object of texts", _mapping_to(str)),
    "counts": ("an object of whole numbers", _mapping_to(int)),
    "largest_share": ("an object of numbers", _mapping_to(int, float)),
    "notes": (
        "a list of texts",
        lambda value: (
            isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)
        ),
    ),
    "audit": ("an object", lambda value: isinstance(value, Mapping)),
}
"""The fields that are not text: what each must be, and whether a value is."""


Indices = NDArray[np.int64]

MAX_PROBES = 2
"""The most probe words that an item has (a noun and a verb; Ettinger et al. 2018)."""


class DatasetError(SentprobeError):
    """A dataset contradicts itself, or cannot be learned from."""


class TooFewError(SentprobeError):
    """A task cannot be built: the corpus or vocabulary has too few sentences or words for it."""


class Split(StrEnum):
    """A part of the items; TRAIN and TEST are in every dataset."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


STRUCTURE = "structure"
"""The column that says of test items whether training had sentences like theirs."""

TRAINED = "trained"
"""What it says of those whose structure training had."""


def structure_part(name: str) -> str:
    """Return what the column says of items that have the structure of that name, held out."""
    return f"held out: {name}"


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The items of one split, by position: *rows*, *probes* and *targets* run in parallel.

    - rows: (n,) int64, index into the dataset's sentences
    - probes: (n, k) int64 with k in {0, 1, 2}, index into its probe words
    - targets: (n,) int64, index into its labels
    - columns: what else is known of each item, by name: nobody is asked about it

    The arrays are read-only; lists are taken and converted.
    """

    rows: Indices
    probes: Indices
    targets: Indices
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = _indices(self.rows, name="rows", ndim=1)
        targets = _indices(self.targets, name="targets", ndim=1)
        probes = _indices(self.probes, name="probes", ndim=2, count=len(rows))
        if not len(rows) == len(probes) == len(targets):
            raise DatasetError(
                f"rows, probes and targets have {len(rows)}, {len(probes)} and {len(targets)} "
                "entries; they must run in parallel"
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
        same = all(map(np.array_equal, self._arrays(), other._arrays()))
        return same and self.columns == other.columns

    def __hash__(self) -> int:
        return hash(tuple(array.tobytes() for array in self._arrays()))

    @property
    def slots(self) -> int:
        """The number of probe words per item, k."""
        return int(self.probes.shape[1])

    def at(self, places: Any) -> "Items":
        """Return the items at these places, by number or as a mask."""
        chosen = np.arange(len(self))[places]
        columns = {n: tuple(values[at] for at in chosen) for n, values in self.columns.items()}
        return Items(self.rows[chosen], self.probes[chosen], self.targets[chosen], columns)

    def _arrays(self) -> tuple[Indices, Indices, Indices]:
        return self.rows, self.probes, self.targets


@dataclass(frozen=True, slots=True)
class ProbeDataset:
    """A classification task about sentences, ready for any encoder.

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
        object.__setattr__(self, "splits", dict(sorted(self.splits.items(), key=_split_order)))
        _check_texts(self)
        _check_splits(self)
        _check_learnable(self)

    def __repr__(self) -> str:
        """Name the dataset and its sizes; all of it would fill many screens."""
        sizes = ", ".join(f"{len(items)} {split} items" for split, items in self.splits.items())
        return f"<ProbeDataset {self.name!r}: {len(self.sentences)} sentences, {sizes}>"

    @property
    def slots(self) -> int:
        """The number of probe words per item, the same in every split."""
        return self.splits[Split.TRAIN].slots

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what else is known of each item, the same in every split."""
        return tuple(self.splits[Split.TRAIN].columns)

    @property
    def mirrored(self) -> bool:
        """Whether the test items are mirror pairs.

        That is, for the same words and probe words there are as many items of each label.
        """
        counts: dict[object, Counter[int]] = {}
        test = self.splits[Split.TEST]
        for row, probe, target in zip(test.rows, test.probes, test.targets, strict=True):
            key = (*sorted(self.sentences[row].split()), *probe.tolist())
            counts.setdefault(key, Counter())[int(target)] += 1
        return all(
            len({count[target] for target in range(len(self.labels))}) == 1
            for count in counts.values()
        )

    @property
    def balanced_probes(self) -> bool:
        """Whether the probe words alone tell nothing about the test items, or there are none.

        That is, for the same probe words there are as many items of each label.
        """
        test = self.splits[Split.TEST]
        _, numbers = np.unique(test.probes, axis=0, return_inverse=True)
        counts = np.zeros((int(numbers.max()) + 1, len(self.labels)), np.int64)
        np.add.at(counts, (numbers.ravel(), test.targets), 1)
        return not self.slots or bool((counts == counts[:, :1]).all())

    @property
    def held_out(self) -> str:
        """The structure that some test items have and no training item has; empty: no such one.

        >>> structure_part("passive")
        'held out: passive'
        """
        head = structure_part("")
        trained, tested = (
            {*self.splits[split].columns.get(STRUCTURE, ())} for split in (Split.TRAIN, Split.TEST)
        )
        found = [each for each in tested - trained if each.startswith(head)]
        return found[0].removeprefix(head) if len(found) == 1 else ""

    def units(self, split: Split) -> Indices:
        """Return a number per item of *split*, equal for those that belong together, (n,) int64.

        Items are not independent when they share a sentence, or are mirrors of each other (the same
        words in any order, and the same probe words). Units are numbered as they first occur; where
        all items are independent, they are 0, 1, 2, ...
        """
        items = self.splits[split]
        words = {row: tuple(sorted(self.sentences[row].split())) for row in np.unique(items.rows)}
        mirrors: dict[object, int] = {}
        keys = [
            mirrors.setdefault((words[row], *probe.tolist()), len(mirrors))
            for row, probe in zip(items.rows, items.probes, strict=True)
        ]
        return _joined(items.rows, np.array(keys, dtype=np.int64))

    def fingerprint(self) -> str:
        """Return the sha256 (hexadecimal) of name, texts and items, without card and columns."""
        digest = hashlib.sha256()
        for texts in ((self.name,), self.sentences, self.labels, self.probe_words):
            _feed(digest, (text.encode() for text in texts), count=len(texts))
        for split, items in self.splits.items():
            arrays = (array.astype("<i8").tobytes() for array in items._arrays())
            _feed(digest, (split.encode(), *arrays), count=items.slots)
        return digest.hexdigest()


def _joined(first: Indices, second: Indices) -> Indices:
    """Return the classes of items that equal values in either array link, (n,) int64."""
    coo_array = load("scipy.sparse").coo_array
    connected_components = load("scipy.sparse.csgraph").connected_components
    size = int(first.max()) + 1 + int(second.max()) + 1
    links = (np.ones(len(first), np.int8), (first, second + int(first.max()) + 1))
    _, of_node = connected_components(coo_array(links, shape=(size, size)), directed=False)
    _, starts, numbers = np.unique(of_node[first], return_index=True, return_inverse=True)
    rank = np.empty(len(starts), np.int64)
    rank[np.argsort(starts)] = np.arange(len(starts))
    return np.asarray(rank[numbers], np.int64)


def _feed(digest: "hashlib._Hash", parts: Iterable[bytes], *, count: int) -> None:
    """Add *count* and the parts, each with its length before it, so that none run together."""
    digest.update(count.to_bytes(8, "little"))
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)


def _indices(values: object, *, name: str, ndim: int, count: int = 0) -> Indices:
    """Return *values* as a read-only int64 array; an empty list of probes is (count, 0)."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
        array = array.reshape(count, 0) if ndim == 2 and array.ndim < 2 else array
    if not np.issubdtype(array.dtype, np.integer):
        raise DatasetError(f"{name} must be integers, not {array.dtype}")
    if array.ndim != ndim:
        raise DatasetError(f"{name} must have {ndim} dimensions, not {array.ndim}")
    copy = np.array(array, dtype=np.int64, order="C")
    copy.flags.writeable = False
    return copy


def _split_order(entry: tuple[Split, Items]) -> int:
    return list(Split).index(entry[0])


def _check_texts(data: ProbeDataset) -> None:
    for what, texts in (
        ("sentence", data.sentences),
        ("label", data.labels),
        ("probe word", data.probe_words),
    ):
        _check_distinct(texts, what=what)
    for sentence in data.sentences:
        if not sentence or " ".join(sentence.split()) != sentence:
            raise DatasetError(f"sentence {sentence!r} is not tokens with one space between them")
    if len(data.labels) < 2:
        raise DatasetError(f"dataset {data.name!r} has one label only: {list(data.labels)}")


def _check_distinct(texts: Sequence[str], *, what: str) -> None:
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            raise DatasetError(f"{what} {text!r} is there twice")
        seen.add(text)


def _check_splits(data: ProbeDataset) -> None:
    for split in (Split.TRAIN, Split.TEST):
        if split not in data.splits:
            raise DatasetError(f"dataset {data.name!r} has no {split} split")
    for split, items in data.splits.items():
        if not len(items):
            raise DatasetError(f"split {split} of dataset {data.name!r} is empty")
        if items.columns.keys() != data.splits[Split.TRAIN].columns.keys():
            names = " and ".join(
                repr([*each.columns]) for each in (items, data.splits[Split.TRAIN])
            )
            raise DatasetError(f"split {split} and train have different columns: {names}")
        if items.slots != data.slots:
            raise DatasetError(
                f"split {split} has {items.slots} probe words per item, train has {data.slots}"
            )
        _check_range(items.rows, len(data.sentences), split=split, what="row")
        _check_range(items.probes, len(data.probe_words), split=split, what="probe word")
        _check_range(items.targets, len(data.labels), split=split, what="target")


def _check_range(array: Indices, size: int, *, split: Split, what: str) -> None:
    wrong = np.argwhere((array < 0) | (array >= size))
    if len(wrong):
        item = int(wrong[0][0])
        value = int(array[tuple(wrong[0])])
        raise DatasetError(f"split {split}, item {item}: {what} {value} is not in 0..{size - 1}")


def _check_learnable(data: ProbeDataset) -> None:
    """Refuse a training split with one label, and words and labels that are never trained.

    A word is one-hot in its own slot (noun or verb), so it must be in that slot in training.
    """
    train = data.splits[Split.TRAIN]
    classes = np.unique(train.targets)
    if len(classes) < 2:
        raise DatasetError(f"all training items have one label, {data.labels[classes[0]]!r}")
    for split, items in data.splits.items():
        strange = np.setdiff1d(items.targets, classes)
        if len(strange):
            raise DatasetError(
                f"label {data.labels[strange[0]]!r} occurs in {split} but never in training"
            )
        for slot in range(data.slots):
            unseen = np.setdiff1d(items.probes[:, slot], train.probes[:, slot])
            if len(unseen):
                raise DatasetError(
                    f"probe word {data.probe_words[unseen[0]]!r} occurs in {split} "
                    f"but never in training (slot {slot + 1})"
                )


ONE_HOT = "one-hot"
"""How probe words are given to a probe unless word vectors are asked for."""

OWN_WORDS = "encoder"
"""How they are given where each encoder that is probed makes their vectors, too."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many items each split has; no validation split unless it is asked for."""

    train: int = 4000
    test: int = 1000
    validation: int = 0

    def changed(self, train: int | None, test: int | None, validation: int | None) -> "Size":
        """Return the size with other numbers where they are not None.

        >>> Size().changed(400, None, 50)
        Size(train=400, test=1000, validation=50)
        """
        return Size(
            self.train if train is None else train,
            self.test if test is None else test,
            self.validation if validation is None else validation,
        )

    def of(self, split: Split) -> int:
        """Return the size of *split*."""
        return {
            Split.TRAIN: self.train,
            Split.VALIDATION: self.validation,
            Split.TEST: self.test,
        }[split]
