"""TreeDepth of Conneau et al. 2018, section 2: depth, told apart from length.

Deep trees are long sentences. The paper samples to a target: a bivariate Gaussian over length and
depth whose covariance is diagonal. So does this: lengths have one and the same truncated Gaussian
at every depth. Over depths the Gaussian is as wide as the corpus allows for the size asked for. At
its widest it is flat: all depths are equally frequent, and length and depth do not correlate. At
its narrowest the commonest depths have 19% each, the rarest 5%; a corpus that cannot fill that
gives fewer items.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.dataset import Indices, Split
from sentprobe.probes.known_task import why
from sentprobe.probes.natural import select
from sentprobe.probes.natural.task import (
    BAG_AND_ORDER,
    OF_STRUCTURE,
    NaturalTask,
    Said,
    TableNeed,
)

DEPTHS = range(5, 13)
"""The classes, in edges from ROOT to the deepest word."""

ANSWER = f"CASE WHEN {select.LENGTHS} AND depth BETWEEN {DEPTHS[0]} AND {DEPTHS[-1]} THEN depth END"

_SHORTEST, _LONGEST = 5, 28


Weights = NDArray[np.float64]

_DEPTH_SPREADS = (np.inf, 4.0, 3.0, 2.5, 2.2)
"""The standard deviations over depth that are tried, widest first."""
_LENGTH_SPREADS = (5.0, 4.0, 3.0, 2.5, 2.0, 1.5)
_LENGTH_MEANS = np.arange(_SHORTEST, _LONGEST + 0.25, 0.25)
_STEP = 0.99
"""By what factor the size is reduced until it fits."""
_FIRST_STEP = 0.9
"""The same for as long as nothing has fitted."""
_REACH = 2.0
"""Standard deviations from the mean at which the lengths end."""


@dataclass(frozen=True, slots=True, eq=False)
class DepthTarget:
    """What is sampled to: shares of the depths, (8,), and of the lengths, (24,), by themselves."""

    depths: Weights
    lengths: Weights
    depth_spread: float
    length_mean: float
    length_spread: float

    def quotas(self, size: Mapping[Split, int]) -> dict[Split, Indices]:
        """Return how many sentences each depth and length has in each split, (8, 24) int64."""
        return {split: self._quota(number) for split, number in size.items()}

    def _quota(self, number: int) -> Indices:
        rows = {n: apportion(self.lengths, int(n)) for n in np.unique(self._depths(number))}
        return np.stack([rows[n] for n in self._depths(number)])

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
        f"SELECT digest, answer - {DEPTHS[0]} AS label, length AS form FROM {select.asked(ANSWER)}"
    )
    cells = np.zeros((len(DEPTHS), _LONGEST - _SHORTEST + 1), np.int64)
    np.add.at(cells, (pool.labels, pool.forms - _SHORTEST), 1)
    size = {split: draw.size.of(split) for split in select.splits_of(draw.size)}
    target, got = best_target(cells, size) or (None, size)
    if target is None:
        counts = {f"depth {d}": int(n) for d, n in zip(DEPTHS, cells.sum(axis=1), strict=True)}
        raise select.too_few(draw.task, counts, needed=len(size))
    quotas = target.quotas(got)
    places = _take(pool, quotas)
    labels = tuple(map(str, DEPTHS))
    notes = [_describe(target, quotas)]
    if got != size:
        items = {split: int(quota.sum()) for split, quota in quotas.items()}
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


def best_target(
    cells: Indices, size: Mapping[Split, int]
) -> tuple[DepthTarget, dict[Split, int]] | None:
    """Return the widest target that fits all of *size*, or else the one of which most items fit.

    Returns the size that fits with it. None where not even a training item of each depth fits.
    """
    best: tuple[DepthTarget, dict[Split, int]] | None = None
    for target in _targets():
        found = _fit(target, cells, size, at_least=0 if best is None else sum(best[1].values()))
        if found is None:
            continue
        best = target, found
        if found == size:
            break
    return best


def _targets() -> Iterator[DepthTarget]:
    """Yield all targets, the widest first."""
    depths = np.array(DEPTHS, np.float64)
    lengths = np.arange(_SHORTEST, _LONGEST + 1, dtype=np.float64)
    middle = depths.mean()
    for depth_spread in _DEPTH_SPREADS:
        for length_spread in _LENGTH_SPREADS:
            for mean in _LENGTH_MEANS:
                shares = _gaussian(lengths, float(mean), length_spread)
                shares[np.abs(lengths - mean) > _REACH * length_spread] = 0
                yield DepthTarget(
                    _gaussian(depths, middle, depth_spread),
                    shares / shares.sum(),
                    depth_spread,
                    float(mean),
                    length_spread,
                )


def _gaussian(values: Weights, mean: float, spread: float) -> Weights:
    weights = np.exp(-(((values - mean) / spread) ** 2) / 2)
    return np.asarray(weights / weights.sum())


def _fit(
    target: DepthTarget, cells: Indices, size: Mapping[Split, int], *, at_least: int
) -> dict[Split, int] | None:
    """Return the largest size up to *size*, in its proportions, that fits; more than *at_least*."""
    if at_least and _fitting(target, cells, size, at_least + 1) is None:
        return None
    total = sum(size.values())
    number = min(total, int(_bound(target, cells) * total / size[Split.TRAIN]))
    while number > at_least and number * size[Split.TRAIN] >= len(DEPTHS) * total:
        found = _fitting(target, cells, size, number)
        if found is not None:
            return found
        number = min(number - 1, int(number * (_STEP if at_least else _FIRST_STEP)))
    return None


def _fitting(
    target: DepthTarget, cells: Indices, size: Mapping[Split, int], number: int
) -> dict[Split, int] | None:
    """Return *size* in proportion reduced to *number* items, if so many of each cell are there."""
    part = min(1.0, number / sum(size.values()))
    scaled = {split: max(1, int(count * part + 1e-9)) for split, count in size.items()}
    quotas = target.quotas(scaled)
    fits = bool(np.all(sum(quotas.values()) <= cells))
    return scaled if fits and quotas[Split.TRAIN].sum(axis=1).all() else None


def _bound(target: DepthTarget, cells: Indices) -> float:
    """Return more training items than can fit: rounding takes less than one from a cell or row."""
    shares = np.outer(target.depths, target.lengths)
    reached = shares > 0
    by_cell = ((cells + 1)[reached] / shares[reached]).min()
    by_depth = ((cells * reached).sum(axis=1) + 1) / target.depths
    return float(min(by_cell, by_depth.min()))


def _take(pool: SentencePool, quotas: Mapping[Split, Indices]) -> select.SplitPlaces:
    places: dict[Split, list[Indices]] = {split: [] for split in quotas}
    width = _LONGEST - _SHORTEST + 1
    cell_of = pool.labels * width + pool.forms - _SHORTEST
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
        f"{split.value} {correlation(quota):.3f}".replace("-0.000", "0.000")
        for split, quota in quotas.items()
    )
    return (
        f"sampled to lengths in a Gaussian of mean {target.length_mean} and standard deviation "
        f"{target.length_spread}, the same at each depth, and {shares}; "
        f"correlation of length and depth that remains: {correlations}"
    )


def correlation(quota: Indices) -> float:
    """Return the correlation of depth and length among items counted by both, (8, 24); 0 if none.

    >>> correlation(np.ones((8, 24), np.int64))
    0.0
    """
    depth, length = (np.repeat(index.ravel(), quota.ravel()) for index in np.indices(quota.shape))
    if min(depth.std(), length.std()) < 1e-12:
        return 0.0
    found = round(float(np.corrcoef(depth, length)[0, 1]), 12)
    return found + 0.0


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
