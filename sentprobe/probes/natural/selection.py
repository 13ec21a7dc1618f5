"""Selection of the items of a natural-text task: frequency bands of words, balanced classes, and splits."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Sampling, Size
from sentprobe.probes.corpus.queries import Corpus, SentencePool
from sentprobe.probes.datasets.dataset import Indices, Split, TooFewError
from sentprobe.probes.datasets.records import Entry

REFERENCE_TOKENS = 10_000_000
"""Number of tokens from which the paper's frequencies and ranks apply unchanged. Our choice: the paper does not state
the size of its corpus, but a corpus of about this size gives datasets of the paper's size."""


@dataclass(frozen=True, slots=True)
class FrequencyBand:
    """A range of word frequencies, as numbers of occurrences in the corpus, from *low* to *high* inclusive."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"

    def scale(self, tokens: int, *, full_tokens: int = REFERENCE_TOKENS) -> "FrequencyBand":
        """Return the band for a corpus of *tokens* tokens; it shrinks in proportion below *full_tokens*.

        >>> [str(FrequencyBand(40, 400).scale(tokens)) for tokens in (50_000_000, 450_000)]
        ['40-400', '2-18']
        """
        factor = min(1.0, tokens / full_tokens)
        low = max(1, round(self.low * factor))
        return FrequencyBand(low, max(low + 1, round(self.high * factor)))


DEPTHS = range(5, 13)
"""Classes of TreeDepth in the paper, in edges from ROOT to the deepest word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalSettings:
    """The user's settings for words and classes; None means the paper's value, scaled to the corpus."""

    band: FrequencyBand | None = None
    """Corpus frequencies of target words in Tense, SubjNum and ObjNum."""
    odd_band: FrequencyBand | None = None
    """Corpus frequencies of replaced words and replacements in SOMO."""
    first_rank: int | None = None
    """Frequency rank from which the words of WC are taken."""
    words: int | None = None
    """Number of words in WC."""
    sequences: int | None = None
    """Number of classes of TopConst and TopDeps besides OTHER."""
    depths: range = DEPTHS
    """Classes of TreeDepth."""
    sampling: Sampling = Sampling.MIRROR
    """Sampling method of the tasks of Adi et al."""

    def __post_init__(self) -> None:
        for name, number, least in (
            ("first rank", self.first_rank, 1),
            ("number of words", self.words, 2),
            ("number of sequences", self.sequences, 1),
        ):
            if number is not None and number < least:
                raise UsageError(f"the {name} must be at least {least}, not {number}")


def parse_band(text: str) -> FrequencyBand:
    """Parse a frequency band ``LOW-HIGH``. Raises UsageError unless these are whole numbers with 1 <= LOW <= HIGH."""
    if (match := re.fullmatch(r"([0-9]{1,18})-([0-9]{1,18})", text)) and 1 <= int(match[1]) <= int(match[2]):
        return FrequencyBand(int(match[1]), int(match[2]))
    raise UsageError(f"a frequency band is LOW-HIGH, such as 100-5000, with LOW from 1 up, not {text!r}")


def parse_depths(text: str) -> range:
    """Parse ``LOW-HIGH``, with 1 <= LOW < HIGH <= 99, as the classes of TreeDepth. Raises UsageError."""
    if (match := re.fullmatch(r"([0-9]{1,2})-([0-9]{1,2})", text)) and 1 <= int(match[1]) < int(match[2]):
        return range(int(match[1]), int(match[2]) + 1)
    raise UsageError(f"depths are LOW-HIGH, such as 5-11, with LOW from 1 up and HIGH up to 99, not {text!r}")


_MAX_SHOWN = 20
"""Maximum number of classes that an error message lists."""
SplitIndices = Mapping[Split, Indices]
"""For each split, the indices of its sentences in a sentence pool, (n,) int64."""


ClassShare = Mapping[Split, int]
"""For each split, the number of items per class; classes are of equal size."""


def list_splits(size: Size) -> list[Split]:
    """Return the splits that have items."""
    return [split for split in Split if size.count_items(split)]


def compute_class_share(size: Size, *, classes: int) -> ClassShare:
    """Return the requested number of items per class in each split, rounded up."""
    return {split: -(-size.count_items(split) // classes) for split in list_splits(size)}


def scale_share(capacity: int, requested: Mapping[Split, int]) -> dict[Split, int] | None:
    """Return *requested*, reduced in proportion if its sum exceeds *capacity*; None if a split would be empty.

    >>> scale_share(60, {Split.TRAIN: 100, Split.VALIDATION: 10, Split.TEST: 10})
    {<Split.TRAIN: 'train'>: 50, <Split.VALIDATION: 'validation'>: 5, <Split.TEST: 'test'>: 5}
    """
    total = sum(requested.values())
    if capacity >= total:
        return dict(requested)
    if capacity < len(requested):
        return None
    small: dict[Split, int] = {s: max(1, capacity * n // total) for s, n in requested.items() if s is not Split.TRAIN}
    while sum(small.values()) >= capacity:  # training would be empty
        small[max(small, key=small.__getitem__)] -= 1
    train = capacity - sum(small.values())
    return {split: small.get(split, train) for split in requested}


def select_balanced(
    pool: SentencePool, classes: Sequence[str], size: Size, *, task: str
) -> tuple[SplitIndices, ClassShare]:
    """Return each split's sentences, as indices in the pool, and each split's items per class. Raises TooFewError."""
    counts = np.bincount(pool.labels, minlength=len(classes))
    requested = compute_class_share(size, classes=len(classes))
    obtained = scale_share(int(counts.min()), requested)
    if obtained is None:
        raise make_too_few_error(task, dict(zip(classes, counts.tolist(), strict=True)), needed=len(requested))
    indices: dict[Split, list[Indices]] = {split: [] for split in obtained}
    for label in range(len(classes)):
        remaining = np.flatnonzero(pool.labels == label)
        for split, number in obtained.items():
            indices[split].append(remaining[:number])
            remaining = remaining[number:]
    return {split: np.sort(np.concatenate(class_indices)) for split, class_indices in indices.items()}, obtained


def select_unbalanced(
    pool: SentencePool, classes: Sequence[str], size: Size, *, task: str
) -> tuple[SplitIndices, ClassShare]:
    """Return the pool indices of the sentences in each split, and each split's size. Raises TooFewError."""
    requested = compute_class_share(size, classes=1)
    obtained = scale_share(len(pool.labels), requested)
    if obtained is None:
        counts = np.bincount(pool.labels, minlength=len(classes)).tolist()
        raise make_too_few_error(task, dict(zip(classes, counts, strict=True)), needed=len(requested))
    ends = np.cumsum([obtained[split] for split in obtained])
    parts = np.split(np.arange(ends[-1]), ends[:-1])
    return dict(zip(obtained, parts, strict=True)), obtained


def select_by_form(
    pool: SentencePool, classes: Sequence[str], size: Size, *, task: str
) -> tuple[SplitIndices, ClassShare]:
    """Like select_balanced, except that no word form is in two splits. Raises TooFewError."""
    requested = compute_class_share(size, classes=len(classes))
    split_numbers = deal_forms(pool, classes=len(classes), requested=requested)
    splits = list(requested)
    candidates = {
        (split, label): np.flatnonzero((split_numbers == number) & (pool.labels == label))
        for number, split in enumerate(splits)
        for label in range(len(classes))
    }
    filled_share = min(1.0, *(len(rows) / requested[split] for (split, _), rows in candidates.items()))
    # 49 * (1 / 49) is less than 1, and would be rounded down to 0.
    obtained = {split: int(requested[split] * filled_share + 1e-9) for split in splits}
    if not all(obtained.values()):
        counts = {f"{classes[c]} in {s.value}": len(rows) for (s, c), rows in candidates.items()}
        raise make_too_few_error(task, counts, needed=1, forms=True)
    indices = {
        split: np.sort(np.concatenate([candidates[split, label][: obtained[split]] for label in range(len(classes))]))
        for split in splits
    }
    return indices, obtained


def deal_forms(pool: SentencePool, *, classes: int, requested: Mapping[Split, int]) -> Indices:
    """Return the index of each sentence's split, (n,) int64. Sentences with the same target word share a split."""
    forms, first, index = np.unique(pool.forms, return_index=True, return_inverse=True)
    counts = np.zeros((len(forms), classes), np.int64)
    np.add.at(counts, (index, pool.labels), 1)
    sizes = counts.sum(axis=1)
    # Frequent forms come first: rare ones, dealt last, can still even out the splits.
    # Forms of similar frequency (within an octave) stay in the pool's random order, which depends on the seed.
    octave = np.log2(np.maximum(sizes, 1)).astype(np.int64)
    order = np.lexsort((first, -octave))
    split_shares = np.array(list(requested.values())) / sum(requested.values())
    best_filled, form_splits = -1.0, np.zeros(len(forms), np.int64)
    # By how many sentences a form may exceed its split's share: several limits are tried.
    for excess in (sizes.min() - 1, np.median(sizes), np.inf) if len(sizes) else ():
        dealt, split_counts = _deal_with_excess(counts, order, split_shares, excess=float(excess))
        if (filled := float((split_counts / split_shares[:, None]).min())) > best_filled:
            best_filled, form_splits = filled, dealt
    return np.asarray(form_splits[index], np.int64)


def _deal_with_excess(
    counts: Indices, order: Indices, split_shares: NDArray[np.float64], *, excess: float
) -> tuple[Indices, NDArray[np.float64]]:
    """Assign each word form, with all its sentences, to one split.

    *counts*, (forms, classes), is the number of sentences of each form and class. If possible, no split exceeds its
    share of a class by more than *excess* sentences. Return the index of each form's split, (forms,), and the number of
    sentences in each split and class, (splits, classes).
    """
    room = split_shares[:, None] * counts.sum(axis=0)
    split_counts = np.zeros_like(room)
    dealt = np.zeros(counts.shape[1])
    form_splits = np.zeros(len(counts), np.int64)
    for form in order:
        label = int(counts[form].argmax())
        dealt += counts[form]
        # Judged by the form's commonest class: among the splits with room, the form goes to the one that lacks most of
        # its share of the sentences dealt so far, so that all splits fill at the same pace.
        lack = split_shares * dealt[label] - split_counts[:, label]
        left = room[:, label] - split_counts[:, label]
        fits = left + excess >= counts[form, label]
        split = int(np.where(fits, lack, -np.inf).argmax() if fits.any() else left.argmax())
        form_splits[form] = split
        split_counts[split] += counts[form]
    return form_splits, split_counts


def describe_rarest_class(pool: SentencePool, classes: Sequence[str]) -> str:
    counts = np.bincount(pool.labels, minlength=len(classes))
    label = int(counts.argmin())
    return f"the rarest class, {classes[label]}, has {counts[label]:,} sentences"


def make_too_few_error(task: str, counts: Mapping[str, int], *, needed: int, forms: bool = False) -> TooFewError:
    """Return an error that lists the number of sentences of each class, the rarest classes first."""
    rarest = sorted(counts.items(), key=lambda entry: (entry[1], entry[0]))
    shown = ", ".join(f"{name}: {count}" for name, count in rarest[:_MAX_SHOWN])
    more = f" and {len(rarest) - _MAX_SHOWN} more classes" if len(rarest) > _MAX_SHOWN else ""
    why = ", and no word may be in two splits" if forms else ""
    return TooFewError(
        f"{task}: the corpus has too few sentences: at least {needed} are needed of each class"
        f"{why}; it has {shown or 'none'}{more}"
    )


def format_scaled_note(size: Size, items: Mapping[Split, int], *, why: str) -> str:
    """Return a note for a dataset's card: the dataset is smaller than requested, and *why* states the reason."""
    requested = ", ".join(f"{size.count_items(split):,} {split.value}" for split in items)
    obtained = ", ".join(f"{number:,} {split.value}" for split, number in items.items())
    return f"scaled down: {requested} items were asked for, the corpus gives {obtained}; {why}"


_SCALED_PATTERN = re.compile(r"(.+?): scaled down: (.+) items were asked for, the corpus gives (.+?); (.+)", re.DOTALL)


def merge_scaled_notes(notes: Iterable[str]) -> list[str]:
    """Merge the notes on tasks that were scaled down from the same requested size; leave other notes unchanged.

    >>> sizes = {Split.TRAIN: 90, Split.TEST: 9}
    >>> note = format_scaled_note(Size(100, 10, 0), sizes, why="few")
    >>> merge_scaled_notes([f"WC: {note}", "WC: 5 words", f"SOMO: {note}"])
    ['scaled down: 100 train, 10 test items were asked for, the corpus gives WC 90, 9 (few); \
SOMO 90, 9 (few)', 'WC: 5 words']
    """
    matches = {note: _SCALED_PATTERN.fullmatch(note) for note in notes}
    request_counts = Counter(match[2] for match in matches.values() if match)
    merged: dict[str, str] = {}
    for note, match in matches.items():
        if match is None or request_counts[match[2]] == 1:
            merged[note] = note
        else:
            task_sizes = f"{match[1]} {re.sub(' [a-z]+', '', match[3])} ({match[4]})"
            start = f"scaled down: {match[2]} items were asked for, the corpus gives "
            merged[start] = f"{merged[start]}; {task_sizes}" if start in merged else start + task_sizes
    return list(merged.values())


LENGTHS_SQL = "length BETWEEN 5 AND 28"
"""SQL condition for the sentence lengths of Conneau et al. 2018, in tokens."""


def build_answered_rows_sql(answer: str) -> str:
    """Return SQL, to follow FROM, for the rows in which *answer* is not NULL, with an added column ``answer``."""
    return f"(SELECT *, {answer} AS answer FROM sentences) WHERE answer IS NOT NULL"


@dataclass(frozen=True, slots=True)
class SelectionRequest:
    """A request for the items of a task, with corpus, size, seed and settings."""

    task: str
    corpus: Corpus
    size: Size
    seed: int
    settings: NaturalSettings = NaturalSettings()

    @property
    def key(self) -> str:
        """Seed and task as one text, such as ``0 SOMO``, which determines the random order of sentences."""
        return f"{self.seed} {self.task}"

    def make_random(self, text: object) -> Random:
        """Return a random generator for this task, seed and *text*."""
        return Random(f"{self.key} {text}")

    def select_pool(self, sql: str, *, limit: int | None = None) -> SentencePool:
        """Return the sentences that *sql* selects (at most *limit*), in this request's random order."""
        return self.corpus.select_pool(sql, key=self.key, limit=limit)

    @property
    def as_published(self) -> bool:
        """Whether the tasks of Adi et al. are sampled as in their paper."""
        return self.settings.sampling is Sampling.PAPER


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected items of a task, with notes and counts for its card."""

    labels: tuple[str, ...]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts for the card, in addition to the number of items of each class."""
    forms: Mapping[Split, frozenset[str]] = field(default_factory=dict)
    """The target words of each split, in a task in which no word may be in two splits."""


def read_entries(
    request: SelectionRequest, pool: SentencePool, indices: SplitIndices, *, labels: Sequence[str]
) -> tuple[Entry, ...]:
    """Return the pool's sentences at *indices* as items with their class names."""
    entries: list[Entry] = []
    for split, chosen in indices.items():
        texts = request.corpus.read_texts(pool.handles[chosen])
        label_names = (labels[label] for label in pool.labels[chosen])
        entries += [Entry(split=split, label=n, sentence=text) for n, text in zip(label_names, texts, strict=True)]
    return tuple(entries)


def describe_size(request: SelectionRequest, share: ClassShare, *, classes: int, why: str) -> tuple[str, ...]:
    """Return one note for the card if *share* (items per class in each split) is smaller than requested, else ()."""
    if share == compute_class_share(request.size, classes=classes):
        return ()
    items = {split: number * classes for split, number in share.items()}
    return (format_scaled_note(request.size, items, why=why),)


def select_classes(
    request: SelectionRequest, pool: SentencePool, labels: tuple[str, ...], *, notes: Iterable[str] = ()
) -> Selection:
    """Return equally many items of each class, one item per sentence. *notes* are for the card. Raises TooFewError."""
    indices, share = select_balanced(pool, labels, request.size, task=request.task)
    size_notes = describe_size(request, share, classes=len(labels), why=describe_rarest_class(pool, labels))
    return Selection(labels, read_entries(request, pool, indices, labels=labels), (*notes, *size_notes))
