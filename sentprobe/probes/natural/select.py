"""What a task takes from a corpus: bands of words, items of each class and split.

The figures of Conneau et al. 2018 suit their corpus. In a corpus of fewer than :data:`REFERENCE`
tokens hardly a word would be frequent enough, so there they shrink in proportion; at the reference
and above they are the paper's. The words that Tense, SubjNum and ObjNum ask about have a reference
of their own (:mod:`sentprobe.probes.natural.target_words`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.probes.corpus.queries import Corpus, SentencePool
from sentprobe.probes.dataset import Indices, Sampling, Size, Split, TooFewError
from sentprobe.probes.formats.entries import Entry

REFERENCE = 10_000_000
"""Tokens from which on the paper's figures hold. Our choice: the paper does not say how large the
corpus was that it counted in, and from about this size its figures fill its datasets."""


@dataclass(frozen=True, slots=True)
class Band:
    """Corpus frequencies from *low* to *high*, both included."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"

    def scaled(self, tokens: int, *, full: int = REFERENCE) -> "Band":
        """Return the band for a corpus of so many tokens; of *full* and more it is this one.

        >>> str(Band(40, 400).scaled(50_000_000)), str(Band(40, 400).scaled(450_000))
        ('40-400', '2-18')
        """
        part = min(1.0, tokens / full)
        low = max(1, round(self.low * part))
        return Band(low, max(low + 1, round(self.high * part)))


_EXAMPLE = Band(100, 5000)


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalSettings:
    """What a user may say about words and classes; None: the paper's, scaled to the corpus."""

    band: Band | None = None
    """Frequencies for Tense, SubjNum and ObjNum."""
    odd_band: Band | None = None
    """Frequencies for SOMO."""
    first_rank: int | None = None
    words: int | None = None
    sequences: int | None = None
    sampling: Sampling = Sampling.MIRROR
    """How the tasks of Adi et al. draw."""

    def __post_init__(self) -> None:
        for what, number, least in (
            ("first rank", self.first_rank, 1),
            ("number of words", self.words, 2),
            ("number of sequences", self.sequences, 1),
        ):
            if number is not None and number < least:
                raise UsageError(f"the {what} must be at least {least}, not {number}")


def share(tokens: int) -> float:
    """Return by how much the paper's figures shrink in a corpus of so many tokens."""
    return min(1.0, tokens / REFERENCE)


def parse_band(text: str) -> Band:
    """Read ``LOW-HIGH``.

    Raises:
        UsageError: it is not two whole numbers, the first from 1 and no larger than the second.
    """
    found = re.fullmatch(r"([0-9]{1,18})-([0-9]{1,18})", text)
    if found is not None:
        low, high = map(int, found.groups())
        if 1 <= low <= high:
            return Band(low, high)
    raise UsageError(
        f"a frequency band is LOW-HIGH, such as {_EXAMPLE}, with LOW from 1 up, not {text!r}"
    )


_SHOWN = 20
"""The most classes whose counts an error lists."""


SplitPlaces = Mapping[Split, Indices]
"""For each split, positions in a pool."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many items one of several equal classes has in each split."""

    wanted: Mapping[Split, int]
    got: Mapping[Split, int]

    @property
    def scaled(self) -> bool:
        """Whether there are fewer than was asked for."""
        return self.wanted != self.got


def splits_of(size: Size) -> list[Split]:
    """Return the splits that are asked for."""
    return [split for split in Split if size.of(split)]


def wanted_share(size: Size, *, classes: int) -> dict[Split, int]:
    """Return the items of each class by split, rounded up so that no split is too small.

    >>> wanted_share(Size(100_000, 10_000, 10_000), classes=6)[Split.TRAIN]
    16667
    """
    return {split: -(-size.of(split) // classes) for split in splits_of(size)}


def share_out(capacity: int, wanted: Mapping[Split, int]) -> dict[Split, int] | None:
    """Return *wanted*, in proportion reduced to *capacity*; None where one has to be empty.

    >>> share_out(60, {Split.TRAIN: 100, Split.VALIDATION: 10, Split.TEST: 10})
    {<Split.TRAIN: 'train'>: 50, <Split.VALIDATION: 'validation'>: 5, <Split.TEST: 'test'>: 5}
    """
    total = sum(wanted.values())
    if capacity >= total:
        return dict(wanted)
    if capacity < len(wanted):
        return None
    small: dict[Split, int] = {
        s: max(1, capacity * n // total) for s, n in wanted.items() if s is not Split.TRAIN
    }
    while sum(small.values()) >= capacity:  # training has the smaller share: it gets its one
        small[max(small, key=small.__getitem__)] -= 1
    train = capacity - sum(small.values())
    return {split: small.get(split, train) for split in wanted}


def by_class(
    pool: SentencePool, classes: Sequence[str], size: Size, *, task: str
) -> tuple[SplitPlaces, Share]:
    """Take equally many sentences of each class, in the order of the pool.

    Raises:
        TooFewError: a class has not even one for each split.
    """
    counts = np.bincount(pool.labels, minlength=len(classes))
    wanted = wanted_share(size, classes=len(classes))
    got = share_out(int(counts.min()), wanted)
    if got is None:
        raise too_few(task, dict(zip(classes, counts.tolist(), strict=True)), needed=len(wanted))
    places: dict[Split, list[Indices]] = {split: [] for split in got}
    for label in range(len(classes)):
        rest = np.flatnonzero(pool.labels == label)
        for split, number in got.items():
            places[split].append(rest[:number])
            rest = rest[number:]
    return {s: np.sort(np.concatenate(each)) for s, each in places.items()}, Share(wanted, got)


def as_they_come(
    pool: SentencePool, classes: Sequence[str], size: Size, *, task: str
) -> tuple[SplitPlaces, Share]:
    """Take sentences in the order of the pool, whatever their classes are.

    Raises:
        TooFewError: there is not even one for each split.
    """
    wanted = wanted_share(size, classes=1)
    got = share_out(len(pool.labels), wanted)
    if got is None:
        counts = np.bincount(pool.labels, minlength=len(classes)).tolist()
        raise too_few(task, dict(zip(classes, counts, strict=True)), needed=len(wanted))
    ends = np.cumsum([got[split] for split in got])
    parts = np.split(np.arange(ends[-1]), ends[:-1])
    return dict(zip(got, parts, strict=True)), Share(wanted, got)


def by_form(
    pool: SentencePool, classes: Sequence[str], size: Size, *, task: str
) -> tuple[SplitPlaces, Share]:
    """Take equally many sentences of each class such that no form is in two splits.

    Raises:
        TooFewError: the forms cannot be divided so that each split has some of each class.
    """
    wanted = wanted_share(size, classes=len(classes))
    of_item = deal_forms(pool, classes=len(classes), wanted=wanted)
    splits = list(wanted)
    cells = {
        (split, label): np.flatnonzero((of_item == number) & (pool.labels == label))
        for number, split in enumerate(splits)
        for label in range(len(classes))
    }
    part = min(1.0, *(len(cell) / wanted[split] for (split, _), cell in cells.items()))
    got = {split: int(wanted[split] * part + 1e-9) for split in splits}
    if not all(got.values()):
        counts = {f"{classes[c]} in {s.value}": len(cell) for (s, c), cell in cells.items()}
        raise too_few(task, counts, needed=1, forms=True)
    places = {
        split: np.sort(
            np.concatenate([cells[split, label][: got[split]] for label in range(len(classes))])
        )
        for split in splits
    }
    return places, Share(wanted, got)


def deal_forms(pool: SentencePool, *, classes: int, wanted: Mapping[Split, int]) -> Indices:
    """Return for each sentence the number of the split that its form is dealt to, (n,) int64.

    The commonest forms are dealt first, each to the split that lacks most of its class, so that the
    rarer ones can make the shares even. A form that is too common for the share of a small split
    goes to training; how much too common it may be is tried, and of the deals the one with which
    the dataset is largest is taken. Forms of like frequency come in the pool's random order, so
    that which go where depends on the seed.
    """
    forms, first, index = np.unique(pool.forms, return_index=True, return_inverse=True)
    counts = np.zeros((len(forms), classes), np.int64)
    np.add.at(counts, (index, pool.labels), 1)
    sizes = counts.sum(axis=1)
    octave = np.log2(np.maximum(sizes, 1)).astype(np.int64)
    order = np.lexsort((first, -octave))
    part = np.array(list(wanted.values())) / sum(wanted.values())
    best, of_form = -1.0, np.zeros(len(forms), np.int64)
    for excess in _excesses(sizes):
        dealt, have = _deal(counts, order, part, excess=excess)
        if (filled := float((have / part[:, None]).min())) > best:
            best, of_form = filled, dealt
    return np.asarray(of_form[index], np.int64)


def _excesses(sizes: Indices) -> list[float]:
    """Return by how many sentences a form may exceed the share of its split, as is to be tried."""
    if not len(sizes):
        return []
    return [float(sizes.min() - 1), float(np.median(sizes)), np.inf]


def _deal(
    counts: Indices, order: Indices, part: NDArray[np.float64], *, excess: float
) -> tuple[Indices, NDArray[np.float64]]:
    """Return the split of each form, and how many sentences of each class the splits then have.

    - counts: (forms, classes) int64
    - order: (forms,) int64, as they are dealt
    - part: (splits,) float64, the share of each
    """
    room = part[:, None] * counts.sum(axis=0)
    have = np.zeros_like(room)
    dealt = np.zeros(counts.shape[1])
    of_form = np.zeros(len(counts), np.int64)
    for form in order:
        label = int(counts[form].argmax())
        dealt += counts[form]
        lack = part * dealt[label] - have[:, label]
        left = room[:, label] - have[:, label]
        fits = left + excess >= counts[form, label]
        split = int(np.where(fits, lack, -np.inf).argmax() if fits.any() else left.argmax())
        of_form[form] = split
        have[split] += counts[form]
    return of_form, have


def rarest(pool: SentencePool, classes: Sequence[str]) -> str:
    """Return a clause that says which class has the fewest sentences, and how many."""
    counts = np.bincount(pool.labels, minlength=len(classes))
    label = int(counts.argmin())
    return f"the rarest class, {classes[label]}, has {counts[label]:,} sentences"


def too_few(
    task: str, counts: Mapping[str, int], *, needed: int, forms: bool = False
) -> TooFewError:
    """Return an error that says what there is, the rarest classes first."""
    rarest = sorted(counts.items(), key=lambda entry: (entry[1], entry[0]))
    shown = ", ".join(f"{name}: {count}" for name, count in rarest[:_SHOWN])
    more = f" and {len(rarest) - _SHOWN} more classes" if len(rarest) > _SHOWN else ""
    why = ", and no word may be in two splits" if forms else ""
    return TooFewError(
        f"{task}: the corpus has too few sentences: at least {needed} are needed of each class"
        f"{why}; it has {shown or 'none'}{more}"
    )


def scaled_note(size: Size, items: Mapping[Split, int], *, why: str) -> str:
    """Return the notice that a dataset is smaller than was asked for."""
    asked = ", ".join(f"{size.of(split):,} {split.value}" for split in items)
    made = ", ".join(f"{number:,} {split.value}" for split, number in items.items())
    return f"scaled down: {asked} items were asked for, the corpus gives {made}; {why}"


_SCALED = re.compile(
    r"(.+?): scaled down: (.+) items were asked for, the corpus gives (.+?); (.+)", re.DOTALL
)


def told_once(notes: Iterable[str]) -> list[str]:
    """Return the notes of several tasks, each ``TASK: NOTE``, with one line for all scaled down.

    >>> sizes = {Split.TRAIN: 90, Split.TEST: 9}
    >>> one = scaled_note(Size(100, 10, 0), sizes, why="few")
    >>> told_once([f"WC: {one}", "WC: 5 words", f"SOMO: {one}"])
    ['scaled down: 100 train, 10 test items were asked for, the corpus gives WC 90, 9 (few); \
SOMO 90, 9 (few)', 'WC: 5 words']
    """
    found = {note: _SCALED.fullmatch(note) for note in notes}
    asked = Counter(match[2] for match in found.values() if match)
    told: dict[str, str] = {}
    for note, match in found.items():
        if match is None or asked[match[2]] == 1:
            told[note] = note
        else:
            made = f"{match[1]} {re.sub(' [a-z]+', '', match[3])} ({match[4]})"
            start = f"scaled down: {match[2]} items were asked for, the corpus gives "
            told[start] = f"{told[start]}; {made}" if start in told else start + made
    return list(told.values())


LENGTHS = "length BETWEEN 5 AND 28"
"""The sentences of Conneau et al. 2018, as a condition of a query."""


def asked(answer: str) -> str:
    """Return what a query selects from: the rows for which *answer* is not NULL, with the answer.

    >>> asked("verb_tag")
    '(SELECT *, verb_tag AS answer FROM sentences) WHERE answer IS NOT NULL'
    """
    return f"(SELECT *, {answer} AS answer FROM sentences) WHERE answer IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Draw:
    """What to draw: a task's dataset, from which corpus, how large, with which seed."""

    task: str
    corpus: Corpus
    size: Size
    seed: int
    settings: NaturalSettings = NaturalSettings()

    @property
    def key(self) -> str:
        """What the order of sentences depends on, besides the sentences."""
        return f"{self.seed} {self.task}"

    def random(self, text: object = "") -> Random:
        """Return a generator for this task, seed and *text*."""
        return Random(f"{self.key} {text}")

    def pool(self, sql: str, *, limit: int | None = None) -> SentencePool:
        """Return what *sql* selects, in this draw's random order."""
        return self.corpus.pool(sql, key=self.key, limit=limit)

    @property
    def as_published(self) -> bool:
        """Whether a task of Adi et al. is drawn as theirs was."""
        return self.settings.sampling is Sampling.PAPER

    @property
    def total(self) -> int:
        """The items of all splits together."""
        return sum(self.size.of(split) for split in Split)


@dataclass(frozen=True, slots=True)
class Selection:
    """The items of a task, and what its card is to say."""

    labels: tuple[str, ...]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """What was counted, besides the items of each class."""
    forms: Mapping[Split, frozenset[str]] = field(default_factory=dict)
    """The words that the questions of each split are about, where no word may be in two."""


def item(split: Split, label: str, text: str, probes: tuple[str, ...] = ()) -> Entry:
    """Return an item by its texts."""
    return Entry(split=split, label=label, sentence=text, probes=probes)


def entries_at(
    draw: Draw, pool: SentencePool, places: SplitPlaces, *, labels: Sequence[str]
) -> tuple[Entry, ...]:
    """Return the sentences at those places, unchanged, with their labels."""
    entries: list[Entry] = []
    for split, chosen in places.items():
        texts = draw.corpus.texts(pool.handles[chosen])
        named = (labels[label] for label in pool.labels[chosen])
        entries += [item(split, label, text) for label, text in zip(named, texts, strict=True)]
    return tuple(entries)


def size_notes(draw: Draw, share: Share, *, classes: int, why: str) -> tuple[str, ...]:
    """Return the notice that a task was scaled down, if it was."""
    if not share.scaled:
        return ()
    items = {split: number * classes for split, number in share.got.items()}
    return (scaled_note(draw.size, items, why=why),)


def digest_of(text: str) -> str:
    """Return the digest that a sentence has in the table, or would have."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def unknown_texts(corpus: Corpus, texts: Iterable[str]) -> set[str]:
    """Return those of the texts that are not sentences of the corpus."""
    digests = {digest_of(text): text for text in texts}
    known = corpus.known(sorted(digests))
    return {text for digest, text in digests.items() if digest not in known}
