"""Boosted trees over sparse features, the trees of all labels grown side by side.

The algorithm is that of histogram boosting (scikit-learn's HistGradientBoosting, LightGBM): each
round grows a tree for each label on the gradient of the loss, by the split that gains most, with
Newton's step in the leaves. But most of what a cue shows of an item is 0. So a feature is a row of
questions ("is it at least 2?") to which nearly all items answer no; sums go over those that answer
yes, and those of a left child are what its parent's leave over. Trees grow level by level.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.extras import load
from sentprobe.probes.dataset import Indices

ROUNDS = 50
RATE = 0.2
LEVELS = 5
"""Splits on the way to a leaf: a tree has at most 32 leaves."""
LEAF = 20
"""Items that a leaf has at least."""
VALUES = 64
"""The most values of a feature that are told apart."""

_HESSIAN = 1e-3
"""The least sum of second derivatives in a leaf."""

NodeSums = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Threshold:
    """Whether a feature is at least (of a negative bound: at most) so large."""

    column: int
    bound: float


def questions(shown: Any) -> list[Threshold]:
    """Return what may be asked of a sparse matrix, (n, features): what can divide the items."""
    by_column = shown.tocsc()
    found = []
    for column in range(shown.shape[1]):
        values = by_column.data[by_column.indptr[column] : by_column.indptr[column + 1]]
        if len(values) >= LEAF:
            found += [Threshold(column, bound) for bound in _bounds(values, items=shown.shape[0])]
    return found


def _bounds(values: NDArray[np.float32], *, items: int) -> list[float]:
    different = np.unique(values[values != 0])
    if len(different) > VALUES:
        different = np.unique(np.quantile(different, np.linspace(0, 1, VALUES), method="nearest"))
    return [
        bound for bound in different.tolist() if LEAF <= _said(values, bound).sum() <= items - LEAF
    ]


def _said(values: NDArray[np.float32], bound: float) -> NDArray[np.bool_]:
    """Return which of the values answer yes; 0 never does."""
    return np.asarray(values >= bound if bound > 0 else values <= bound)


def answers(shown: Any, asked: list[Threshold]) -> Any:
    """Return the answers, a sparse matrix of ones for yes, (n, questions)."""
    by_column = shown.tocsc()
    rows = [
        by_column.indices[start:end][_said(by_column.data[start:end], question.bound)]
        for question in asked
        for start, end in [by_column.indptr[question.column : question.column + 2]]
    ]
    starts = np.cumsum([0, *map(len, rows)])
    indices = np.concatenate(rows) if rows else np.zeros(0, np.int32)
    shape = shown.shape[0], len(asked)
    return load("scipy.sparse").csc_matrix((np.ones(len(indices)), indices, starts), shape=shape)


@dataclass(frozen=True, slots=True)
class Trees:
    """The trees of a round, one for each output: level by level what is asked, and the leaves.

    A node that is not split asks -1, to which all items answer no.
    """

    asked: list[Indices]
    """Of each level, (outputs, nodes) int64."""
    leaves: NodeSums
    """(outputs, 32) float64"""

    def values(self, said: NDArray[np.bool_]) -> NodeSums:
        """Return what the trees add to each item, (n, outputs); *said*: (n, questions + 1)."""
        items, outputs = np.arange(len(said))[:, None], np.arange(len(self.leaves))
        node = np.zeros((len(said), len(outputs)), np.int64)
        for asked in self.asked:
            node = 2 * node + said[items, asked[outputs, node]]
        return np.asarray(self.leaves[outputs, node])


def boosted_trees(train: Any, targets: Indices, tested: Sequence[Any]) -> list[Indices]:
    """Return labels for the items of each of the matrices *tested*, having learned from *train*.

    Items that answer alike are one item, as often as they are there: the trees are the same.
    """
    labels, places = np.unique(targets, return_inverse=True)
    asked = questions(train)
    shown = answers(train, asked)
    first, which = _different(shown)
    wanted = np.zeros((len(first), len(labels)))
    np.add.at(wanted, (which, places), 1)
    often = wanted.sum(axis=1)
    grower = _Grower(shown.tocsr()[first], often)
    scores = _boost(
        grower,
        wanted[:, int(len(labels) == 2) :],
        often,
        [_dense(answers(each, asked)) for each in tested],
    )
    return [labels[_best(score)] for score in scores]


def _boost(
    grower: "_Grower", wanted: NodeSums, often: NodeSums, tested: Sequence[NDArray[np.bool_]]
) -> list[NodeSums]:
    """Return the scores of the tested items, (n, outputs); *wanted* counts labels of training."""
    start = _log_odds(wanted.sum(axis=0) / often.sum())
    score = np.tile(start, (len(often), 1))
    scores = [np.tile(start, (len(said), 1)) for said in tested]
    for _ in range(ROUNDS):
        chances = _chances(score)
        weights = often[:, None] * chances
        trees, node = grower.grow(weights - wanted, np.maximum(weights * (1 - chances), 1e-12))
        score += trees.leaves[np.arange(len(start)), node]
        scores = [old + trees.values(said) for old, said in zip(scores, tested, strict=True)]
    return scores


def _different(shown: Any) -> tuple[Indices, Indices]:
    """Return a row of each kind in a sparse matrix, and for each row its kind."""
    packed = np.packbits(shown.toarray().astype(bool), axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return first, which.ravel()


def _dense(shown: Any) -> NDArray[np.bool_]:
    """Return the answers with a last column of noes, (n, questions + 1)."""
    return np.pad(shown.toarray().astype(bool), ((0, 0), (0, 1)))


def _log_odds(shares: NodeSums) -> NodeSums:
    return np.asarray(np.log(shares / (1 - shares)) if len(shares) == 1 else np.log(shares))


def _chances(scores: NodeSums) -> NodeSums:
    if scores.shape[1] == 1:
        return np.asarray(1 / (1 + np.exp(-scores)))
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _best(scores: NodeSums) -> Indices:
    found = scores.argmax(axis=1) if scores.shape[1] > 1 else scores[:, 0] > 0
    return np.asarray(found, np.int64)


class _Grower:
    """Grows the trees of a round on items whose answers are known, each there so *often*."""

    def __init__(self, shown: Any, often: NodeSums) -> None:
        self.said = _dense(shown)
        self._often = often
        self._columns = shown.T.tocsr()
        self._rows = shown.astype(np.int8)
        self._lengths = np.diff(shown.indptr)

    def grow(self, gradients: NodeSums, hessians: NodeSums) -> tuple[Trees, Indices]:
        """Return trees for gradients and second derivatives, (n, outputs) each, and the leaves.

        The leaves are those that the items come to, by number, (n, outputs).
        """
        items, outputs = gradients.shape
        node = np.zeros((items, outputs), np.int64)
        counts = np.broadcast_to(self._often[:, None], gradients.shape)
        sums = np.stack([gradients, hessians, counts])
        totals = sums.sum(axis=1)[:, :, None]
        # The sums over the items that say yes, (3, outputs, nodes, questions).
        yes = np.stack([(self._columns @ each).T for each in sums])[:, :, None, :]
        levels = []
        for level in range(LEVELS):
            asked = _splits(yes, totals)
            levels.append(asked)
            right = self.said[np.arange(items)[:, None], asked[np.arange(outputs), node]]
            node = 2 * node + right
            totals = _totals(sums, node, nodes=2 ** (level + 1))
            if level + 1 < LEVELS:
                yes = self._divided(yes, sums, node, right)
        leaves = -RATE * totals[0] / np.maximum(totals[1], _HESSIAN)
        return Trees(levels, leaves), node

    def _divided(
        self, before: NodeSums, sums: NodeSums, node: Indices, right: NDArray[np.bool_]
    ) -> NodeSums:
        """Return the sums of both children of each node, (3, outputs, 2 nodes, questions)."""
        _, outputs, nodes, asked = before.shape
        output, item = np.nonzero(right.T)
        taken = self._rows[item]
        place = (output * nodes + node[item, output] // 2) * asked
        where = np.repeat(place, self._lengths[item]) + taken.indices
        weights = sums[:, item, output]
        of_right = np.stack(
            [
                np.bincount(
                    where, np.repeat(each, self._lengths[item]), minlength=outputs * nodes * asked
                )
                for each in weights
            ]
        ).reshape(before.shape)
        both = np.stack([before - of_right, of_right], axis=3)
        return np.asarray(both.reshape(3, outputs, 2 * nodes, asked))


def _totals(sums: NodeSums, node: Indices, *, nodes: int) -> NodeSums:
    """Return the sums of each node, (3, outputs, nodes)."""
    outputs = node.shape[1]
    where = (node + nodes * np.arange(outputs)).ravel()
    found = [np.bincount(where, each.ravel(), minlength=outputs * nodes) for each in sums]
    return np.stack(found).astype(np.float64).reshape(3, outputs, nodes)


def _splits(yes: NodeSums, totals: NodeSums) -> Indices:
    """Return for each node the question that gains most, or -1, (outputs, nodes) int64."""
    no = totals[..., None] - yes
    fits = (np.minimum(yes[2], no[2]) >= LEAF - 0.5) & (np.minimum(yes[1], no[1]) >= _HESSIAN)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = yes[0] ** 2 / yes[1] + no[0] ** 2 / no[1]
        least = totals[0] ** 2 / totals[1]
    gains = np.where(fits, worth, -np.inf)
    if not gains.shape[-1]:
        return np.full(gains.shape[:-1], -1)
    best = gains.argmax(axis=-1)
    better = np.take_along_axis(gains, best[..., None], -1)[..., 0] > least + 1e-9
    return np.where(better, best, -1)
