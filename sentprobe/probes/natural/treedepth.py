"""TreeDepth of Conneau et al. 2018, section 2: depth, told apart from length.

Deep trees are long sentences. The paper samples to a target: a bivariate Gaussian over length and
depth whose covariance is diagonal. So does this: at every depth, lengths have one and the same
Gaussian over the lengths of the published data. Over depths the Gaussian is as wide as the corpus
allows for the size asked for. At its widest it is flat: all depths are equally frequent. At its
narrowest the commonest depths have 19% each, the rarest 5%.

Shallow trees of many tokens and deep ones of few are rare, in any corpus. A target that had to be
met there would leave a few hundred items, or lengths so near each other that nothing is told apart.
So there may be fewer of these than the target has, as long as little is missing and length and
depth correlate no more than in the published data. A larger target is not tried.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.dataset import Indices, Split
from sentprobe.probes.known_task import why
from sentprobe.probes.natural import select
from sentprobe.probes.natural.task import BAG_AND_ORDER, OF_STRUCTURE, NaturalTask, Said, TableNeed

DEPTHS = range(5, 13)
"""The classes, in edges from ROOT to the deepest word."""

ANSWER = f"CASE WHEN {select.LENGTHS} AND depth BETWEEN {DEPTHS[0]} AND {DEPTHS[-1]} THEN depth END"

_LENGTHS = range(6, 23)
"""In tokens; those of the published data."""


Weights = NDArray[np.float64]

_DEPTH_SPREADS = (np.inf, 4.0, 3.0, 2.5, 2.2)
"""The standard deviations over depth that are tried, widest first."""
_LENGTH_SPREAD = 4.5
"""Cut off where the lengths end, it is a standard deviation of some 3.7 tokens."""
_LENGTH_MEANS = np.arange(12, 16.5, 0.5)
_STEP = 0.99
"""By what factor the size is reduced until it fits."""
_MISSING = 0.07
"""The largest share of the target's items that the corpus may lack."""
_CORRELATION = 0.07
"""The largest correlation of length and depth that may come of it; that of the published data."""


@dataclass(frozen=True, slots=True, eq=False)
class DepthTarget:
    """What is sampled to: shares of the depths, (8,), and of the lengths, (17,), by themselves."""

    depths: Weights
    lengths: Weights
    depth_spread: float
    length_mean: float

    def quotas(self, size: Mapping[Split, int], cells: Indices) -> dict[Split, Indices]:
        """Return how many of the *cells* each split takes at each depth and length, (8, 17) int64.

        Of each depth, lengths are dealt to the splits in turn, so that all have the same.
        """
        wanted = np.stack([self._depths(number) for number in size.values()])
        rows = np.stack([apportion(self.lengths, int(total)) for total in wanted.sum(axis=0)])
        taken = np.minimum(rows, cells)
        dealt = [_deal(row, wanted[:, depth]) for depth, row in enumerate(taken)]
        return {split: np.stack([each[n] for each in dealt]) for n, split in enumerate(size)}

    def _depths(self, number: int) -> Indices:
        if np.isinf(self.depth_spread):
            return np.full(len(DEPTHS), -(-number // len(DEPTHS)), np.int64)
        return apportion(self.depths, number)


def tree_depth(draw: select.Draw) -> select.Selection:
    """Return TreeDepth: 8 classes by the depth of the tree, sampled so that length tells little.

    Raises:
        TooFewError: there is no length of which sentences of all depths are there.
    """
    pool = draw.pool(
        f"SELECT digest, answer - {DEPTHS[0]} AS label, length AS form FROM {select.asked(ANSWER)} "
        f"AND length BETWEEN {_LENGTHS[0]} AND {_LENGTHS[-1]}"
    )
    cells = np.zeros((len(DEPTHS), len(_LENGTHS)), np.int64)
    np.add.at(cells, (pool.labels, pool.forms - _LENGTHS[0]), 1)
    size = {split: draw.size.of(split) for split in select.splits_of(draw.size)}
    found = best_target(cells, size)
    if found is None:
        counts = {f"depth {d}": int(n) for d, n in zip(DEPTHS, cells.sum(axis=1), strict=True)}
        raise select.too_few(draw.task, counts, needed=len(size))
    target, quotas = found
    places = _take(pool, quotas)
    labels = tuple(map(str, DEPTHS))
    notes = [_describe(target, quotas)]
    items = {split: int(quota.sum()) for split, quota in quotas.items()}
    if any(items[split] < number for split, number in size.items()):
        notes.append(select.scaled_note(draw.size, items, why="a rare depth and length decides"))
    return select.Selection(
        labels, select.entries_at(draw, pool, places, labels=labels), tuple(notes)
    )


def apportion(shares: Weights, number: int) -> Indices:
    """Return whole numbers in proportion to *shares* that add up to *number*, (n,) int64.

    Largest remainders (Hamilton's method).

    >>> apportion(np.array([0.5, 0.25, 0.25]), 5).tolist()
    [3, 1, 1]
    """
    exact = shares / shares.sum() * number
    whole: Indices = np.floor(exact + 1e-9).astype(np.int64)
    order = np.argsort(-(exact - whole), kind="stable")
    whole[order[: number - int(whole.sum())]] += 1
    return whole


def _deal(row: Indices, wanted: Indices) -> Indices:
    """Return the items at each length, (n,), dealt to splits in proportion to *wanted*, (s, n).

    >>> _deal(np.array([4, 2]), np.array([4, 2])).tolist()
    [[3, 1], [1, 1]]
    """
    dealt = np.zeros((len(wanted), len(row)), np.int64)
    if not row.any():
        return dealt
    numbers = apportion(wanted / wanted.sum(), int(row.sum()))
    turns = np.concatenate([(np.arange(number) + 0.5) / max(1, number) for number in numbers])
    split = np.repeat(np.arange(len(numbers)), numbers)[np.argsort(turns, kind="stable")]
    np.add.at(dealt, (split, np.repeat(np.arange(len(row)), row)), 1)
    return dealt


def best_target(
    cells: Indices, size: Mapping[Split, int]
) -> tuple[DepthTarget, dict[Split, Indices]] | None:
    """Return the widest target that the corpus meets in full, or else the one with most items.

    With it, what each split takes. None where not even an item of each depth fits each split.
    """
    best: tuple[DepthTarget, dict[Split, Indices]] | None = None
    most = 0
    for target in _targets():
        number = _fitting(target, cells, sum(size.values()))
        quotas = _scaled(target, cells, size, number)
        items = sum(int(quota.sum()) for quota in quotas.values())
        if items > most and all(quota.sum(axis=1).all() for quota in quotas.values()):
            best, most = (target, quotas), items
        if items >= sum(size.values()):
            break
    return best


def _targets() -> Iterator[DepthTarget]:
    """Yield all targets, the widest first."""
    depths, lengths = np.array(DEPTHS, np.float64), np.array(_LENGTHS, np.float64)
    for depth_spread in _DEPTH_SPREADS:
        for mean in _LENGTH_MEANS:
            yield DepthTarget(
                _gaussian(depths, float(depths.mean()), depth_spread),
                _gaussian(lengths, float(mean), _LENGTH_SPREAD),
                depth_spread,
                float(mean),
            )


def _gaussian(values: Weights, mean: float, spread: float) -> Weights:
    weights = np.exp(-(((values - mean) / spread) ** 2) / 2)
    return np.asarray(weights / weights.sum())


def _fitting(target: DepthTarget, cells: Indices, total: int) -> int:
    """Return the largest number of items up to *total* of which the corpus lacks but few; or 0."""
    steps = int(np.log(total) / -np.log(_STEP)) + 1
    numbers = np.floor(total * _STEP ** np.arange(steps))
    wanted = numbers[:, None, None] * np.outer(target.depths, target.lengths)
    taken = np.minimum(wanted, cells)
    there = taken.sum(axis=(1, 2)) >= (1 - _MISSING) * numbers
    fits = there & (np.abs(correlation(taken)) <= _CORRELATION)
    return int(numbers[fits.argmax()]) if fits.any() else 0


def _scaled(
    target: DepthTarget, cells: Indices, size: Mapping[Split, int], number: int
) -> dict[Split, Indices]:
    """Return the quotas of *size* in proportion reduced to *number* items."""
    part = min(1.0, number / sum(size.values()))
    scaled = {split: max(1, int(count * part + 1e-9)) for split, count in size.items()}
    return target.quotas(scaled, cells)


def _take(pool: SentencePool, quotas: Mapping[Split, Indices]) -> select.SplitPlaces:
    places: dict[Split, list[Indices]] = {split: [] for split in quotas}
    width = len(_LENGTHS)
    cell_of = pool.labels * width + pool.forms - _LENGTHS[0]
    order = np.argsort(cell_of, kind="stable")
    starts = np.searchsorted(cell_of[order], np.arange(len(DEPTHS) * width))
    for split, quota in quotas.items():
        for cell in np.flatnonzero(quota):
            number = int(quota.flat[cell])
            places[split].append(order[starts[cell] : starts[cell] + number])
            starts[cell] += number
    return {split: np.sort(np.concatenate(each)) for split, each in places.items()}


def _describe(target: DepthTarget, quotas: Mapping[Split, Indices]) -> str:
    shares = (
        "all depths equally frequent"
        if np.isinf(target.depth_spread)
        else f"depths in a Gaussian of standard deviation {target.depth_spread} around 8.5"
    )
    correlations = ", ".join(
        f"{split.value} {float(correlation(quota)):.3f}".replace("-0.000", "0.000")
        for split, quota in quotas.items()
    )
    return (
        f"sampled to {_LENGTHS[0]} to {_LENGTHS[-1]} tokens in a Gaussian of mean "
        f"{target.length_mean} and standard deviation {_LENGTH_SPREAD}, the same at each depth, "
        f"and {shares}{_missing(target, quotas)}; "
        f"correlation of length and depth that remains: {correlations}"
    )


def _missing(target: DepthTarget, quotas: Mapping[Split, Indices]) -> str:
    """Return a clause that says whether there are fewer items than in the target somewhere.

    That is, at some length or, where depths are to be equally frequent, at some depth.
    """
    rows = sum(quotas.values(), np.zeros((len(DEPTHS), len(_LENGTHS)), np.int64))
    met = all(np.array_equal(row, apportion(target.lengths, int(row.sum()))) for row in rows)
    even = not np.isinf(target.depth_spread) or len({*rows.sum(axis=1).tolist()}) == 1
    return "" if met and even else ", but fewer where the corpus has too few"


def correlation(quota: NDArray[Any]) -> Weights:
    """Return the correlation of depth and length among items counted by both, (..., 8, 17); or 0.

    >>> correlation(np.ones((8, 17))).tolist()
    0.0
    """
    shares = quota / np.maximum(quota.sum(axis=(-2, -1), keepdims=True), 1e-12)
    depth, length = (np.arange(n) for n in quota.shape[-2:])
    by_depth, by_length = shares.sum(axis=-1), shares.sum(axis=-2)
    deep, long = by_depth @ depth, by_length @ length
    spreads = (by_depth @ depth**2 - deep**2) * (by_length @ length**2 - long**2)
    together = np.einsum("...dl,d,l->...", shares, depth, length) - deep * long
    return np.asarray(together / np.sqrt(np.maximum(spreads, 1e-12))).round(9) + 0.0


TASK = NaturalTask(
    name="TreeDepth",
    published="tree_depth",
    asks="how many edges lead from the root to the deepest word of s?",
    classes="5 to 12",
    draw=tree_depth,
    need=TableNeed.TREE,
    labels={"depth": Said("depth")},
    answer=Said(ANSWER),
    may_answer=why(OF_STRUCTURE, *BAG_AND_ORDER),
)
