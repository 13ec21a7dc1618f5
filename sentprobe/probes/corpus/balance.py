"""How many items each class has in each split, and which words belong to which split."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import SentprobeError
from sentprobe.probes.compeval import Size
from sentprobe.probes.corpus.queries import Pool
from sentprobe.probes.dataset import Indices, Split

_SHOWN = 20
"""The most classes whose counts an error lists."""


class TooFewError(SentprobeError):
    """A task cannot be built: the corpus has too few sentences for it."""


Places = Mapping[Split, Indices]
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


def by_class(pool: Pool, classes: Sequence[str], size: Size, *, task: str) -> tuple[Places, Share]:
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


def by_form(pool: Pool, classes: Sequence[str], size: Size, *, task: str) -> tuple[Places, Share]:
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


def deal_forms(pool: Pool, *, classes: int, wanted: Mapping[Split, int]) -> Indices:
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


def rarest(pool: Pool, classes: Sequence[str]) -> str:
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
