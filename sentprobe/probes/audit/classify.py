"""What strong classifiers make of a cue: scikit-learn's linear model, and LightGBM's trees.

They are trained on the training items and scored on the test items. Which of the
two is believed is settled before either sees a test item: on the validation split where there is
one, else on a quarter of the training units held out.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.extras import load
from sentprobe.probes.audit.features import Features
from sentprobe.probes.dataset import Indices
from sentprobe.probes.statistics import Interval, accuracy_interval, wilson

TRAINING_LIMIT = 10_000
"""Training items beyond these are left out, whole units at random: a cue shows on fewer."""

BOOSTED_COLUMNS = 400
"""Boosted trees are given the features that most training items have, at most so many."""

BOOSTED_LABELS = 20
"""With more labels than these there are no boosted trees, which grow one per label and round."""

_WEIGHTS = 2_000_000
"""The most weights of the linear model: features times labels."""

_HELD_OUT = 0.25

_ROUNDS = 50

_RATE = 0.2

_LEVELS = 5

_TREES: Mapping[str, object] = {
    "max_depth": _LEVELS,
    "num_leaves": 2**_LEVELS,
    "min_data_in_leaf": 20,
    "max_bin": 63,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,  # else the faster way is found by trying both
    "verbosity": -1,
}
"""How LightGBM grows its trees. Nothing is drawn at random, so there is no seed."""

_TOLERANCE = 1e-3
"""The slope of the loss at which the linear model is taken for fitted; ten times scikit-learn's,
for a third of the passes and the same answers to all but a few items."""


class Classifier(StrEnum):
    """A classifier that is tried on each cue."""

    LINEAR = "linear"
    """Logistic regression, L2 with C = 1, over each feature scaled to at most 1."""
    BOOSTING = "boosting"
    """LightGBM's gradient boosted trees, with at most 32 leaves of at least 20 items."""


@dataclass(frozen=True, slots=True)
class ModelScore:
    """How many test items a classifier gets right, and two intervals of its accuracy."""

    correct: int
    total: int
    interval: Interval
    """At 95%."""
    strict: Interval
    """At the level that a verdict goes by: 99% for all cues of the audit together."""

    @property
    def accuracy(self) -> float:
        """The share of test items that are right."""
        return self.correct / self.total


@dataclass(frozen=True, slots=True)
class TrialItems:
    """Items of a split for a classifier: features, labels and units run in parallel."""

    features: Sequence[Features]
    targets: Indices
    units: Indices
    mirrored: bool = False
    """Whether the units are mirror pairs."""

    @property
    def settled(self) -> bool:
        """Whether each answer that the features could give is right equally often.

        So it is in mirror pairs whose two items look alike.
        """
        if not self.mirrored:
            return False
        counts: dict[frozenset[tuple[str, float]], Counter[int]] = {}
        for shown, target in zip(self.features, self.targets.tolist(), strict=True):
            counts.setdefault(frozenset(shown.items()), Counter())[target] += 1
        labels = set(self.targets.tolist())
        return all(
            len(each) == len(labels) and len(set(each.values())) == 1 for each in counts.values()
        )

    def take(self, rows: Indices) -> "TrialItems":
        """Return the part with these items."""
        features = [self.features[row] for row in rows.tolist()]
        return replace(self, features=features, targets=self.targets[rows], units=self.units[rows])


@dataclass(frozen=True, slots=True)
class Trial:
    """The scores of the classifiers, and which of them was chosen without the test items."""

    chosen: Classifier
    scores: Mapping[Classifier, ModelScore]

    @property
    def score(self) -> ModelScore:
        """The score of the one that was chosen."""
        return self.scores[self.chosen]


def try_classifiers(
    train: TrialItems, test: TrialItems, *, validation: TrialItems | None, seed: int, strict: float
) -> Trial:
    """Train each classifier, choose between them, and score each on the test items.

    *strict* is the confidence of the interval that a verdict goes by.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    load("sklearn.linear_model")  # only what is loaded can be limited
    train = sample(train, limit=TRAINING_LIMIT, seed=seed)
    labels = len(np.unique(train.targets))
    kinds = [c for c in Classifier if labels <= BOOSTED_LABELS or c is Classifier.LINEAR]
    with threadpool_limits(limits=1):
        chosen, answers = _judge(kinds, train, test, validation, seed=seed)
    return Trial(chosen, {k: score(answer, test, strict=strict) for k, answer in answers.items()})


def sample(part: TrialItems, *, limit: int, seed: int) -> TrialItems:
    """Return whole units drawn at random, with at most *limit* items; all, if they are no more."""
    if len(part.targets) <= limit:
        return part
    _, unit = np.unique(part.units, return_inverse=True)
    order = np.random.default_rng(seed).permutation(int(unit.max()) + 1)
    sizes = np.bincount(unit)[order]
    kept = order[np.cumsum(sizes) <= limit]
    return part.take(np.flatnonzero(np.isin(unit, kept)))


def score(answers: Indices, test: TrialItems, *, strict: float) -> ModelScore:
    """Return how many of the answers are right, with the intervals.

    A mirror pair counts as one item. Items of other units (that share a sentence) count for as
    many as the answers show: see :func:`sentprobe.probes.statistics.design_effect`.
    """
    right = answers == test.targets
    low, high = (_interval(right, test, confidence=level) for level in (0.95, strict))
    return ModelScore(int(right.sum()), len(right), low, high)


def _interval(right: NDArray[np.bool_], test: TrialItems, *, confidence: float) -> Interval:
    if not test.mirrored:
        return accuracy_interval(right, test.units.tolist(), confidence=confidence)
    worth = len(np.unique(test.units))
    return wilson(float(right.mean()) * worth, worth, confidence=confidence)


_Answers = Mapping[Classifier, Indices]
"""Each classifier's label for each item, (n,) int64."""


def _judge(
    kinds: Sequence[Classifier],
    train: TrialItems,
    test: TrialItems,
    validation: TrialItems | None,
    *,
    seed: int,
) -> tuple[Classifier, _Answers]:
    """Return the classifier that is chosen, and what each answers to the test items."""
    if validation and len(validation.targets):  # what is fitted for the choice is what is asked
        judging, answers = _answers(kinds, train, [validation, test], seed=seed)
        return _best(judging, validation), answers
    fitted, held = _hold_out(train, seed=seed)
    if test.settled and held.settled:
        return kinds[0], dict.fromkeys(kinds, np.zeros(len(test.targets), np.int64))
    (answers,) = _answers(kinds, train, [test], seed=seed)
    if len(kinds) == 1 or not len(held.targets):
        return kinds[0], answers
    (judging,) = _answers(kinds, fitted, [held], seed=seed)
    return _best(judging, held), answers


def _best(answers: _Answers, judged: TrialItems) -> Classifier:
    """Return the classifier that is right most often; of equally good ones, the first."""
    return max(answers, key=lambda kind: int((answers[kind] == judged.targets).sum()))


def _hold_out(train: TrialItems, *, seed: int) -> tuple[TrialItems, TrialItems]:
    """Return the training items without a quarter of the units, and the items of that quarter."""
    units = np.unique(train.units)
    drawn = np.random.default_rng([seed, 1]).permutation(units)[: int(_HELD_OUT * len(units))]
    held = np.isin(train.units, drawn)
    return train.take(np.flatnonzero(~held)), train.take(np.flatnonzero(held))


def _answers(
    kinds: Sequence[Classifier], train: TrialItems, asked: Sequence[TrialItems], *, seed: int
) -> list[_Answers]:
    """Return each classifier's labels for the items of each part that is *asked*."""
    labels = np.unique(train.targets)
    if len(labels) == 1:  # scikit-learn's logistic regression refuses to learn a single label
        return [dict.fromkeys(kinds, np.full(len(each.targets), labels[0])) for each in asked]
    shown, *matrices = _matrices([train, *asked])
    found = {kind: _FITS[kind](shown, matrices, train.targets, seed) for kind in kinds}
    return [
        {kind: np.asarray(found[kind][place], dtype=np.int64) for kind in kinds}
        for place in range(len(asked))
    ]


def _matrices(parts: Sequence[TrialItems]) -> list[Any]:
    """Return sparse float32 matrices, (n, features), of the features that the first part has.

    The columns are in order of how many of its items have the feature, the commonest first.
    """
    names = sorted(set(chain.from_iterable(parts[0].features)))
    places = {name: place for place, name in enumerate(names)}
    shown, *others = (_matrix(part, places) for part in parts)
    common = np.argsort(-shown.getnnz(axis=0), kind="stable")
    return [each[:, common] for each in (shown, *others)]


def _matrix(part: TrialItems, places: Mapping[str, int]) -> Any:
    """Return the features as a matrix, (n, features), those without a place left out."""
    of_name = map(places.get, chain.from_iterable(part.features), repeat(-1))
    columns = np.fromiter(of_name, np.int32)
    values = np.fromiter(chain.from_iterable(f.values() for f in part.features), np.float32)
    rows = np.repeat(np.arange(len(part.features)), [len(f) for f in part.features])
    kept = columns >= 0
    starts = np.searchsorted(rows[kept], np.arange(len(part.features) + 1))
    shape = len(part.features), len(places)
    return load("scipy.sparse").csr_matrix((values[kept], columns[kept], starts), shape=shape)


def _linear(train: Any, asked: Sequence[Any], targets: Indices, seed: int) -> list[Any]:
    columns = _WEIGHTS // len(np.unique(targets))
    scaler = load("sklearn.preprocessing").MaxAbsScaler().fit(train[:, :columns])
    shown, *others = (scaler.transform(each[:, :columns]) for each in (train, *asked))
    together = _equal_columns(shown)
    model = load("sklearn.linear_model").LogisticRegression(
        max_iter=300, tol=_TOLERANCE, random_state=seed
    )
    with warnings.catch_warnings():
        # A model that is a little short of its optimum is still a fair judge of a cue.
        warnings.simplefilter("ignore", load("sklearn.exceptions").ConvergenceWarning)
        model.fit(shown @ together, targets)
    return [model.predict(each @ together) for each in others]


def _equal_columns(shown: Any) -> Any:
    """Return what makes one column of columns that are equal, (features, different ones).

    Most n-grams are in one item, so that a tenth of the columns is left, and the model is the same:
    the penalty on k equal weights is that on one weight of a column sqrt(k) times as large.
    """
    by_column = shown.tocsc()
    by_column.sort_indices()
    ends, numbers = by_column.indptr.tolist(), dict[tuple[bytes, bytes], int]()
    number_of = [
        numbers.setdefault(
            (by_column.indices[a:b].tobytes(), by_column.data[a:b].tobytes()), len(numbers)
        )
        for a, b in pairwise(ends)
    ]
    weights = (1 / np.sqrt(np.bincount(number_of)))[number_of].astype(np.float32)
    places = np.arange(len(number_of)), number_of
    return load("scipy.sparse").csr_matrix((weights, places), shape=(len(number_of), len(numbers)))


def boosting(train: Any, asked: Sequence[Any], targets: Indices, _: int = 0) -> list[Indices]:
    """Return labels for the rows of each sparse matrix *asked*, as trees learn them from *train*.

    Where no column divides the items, the commonest label is the answer.
    """
    shown, *others = (each[:, :BOOSTED_COLUMNS] for each in (train, *asked))
    labels, places = np.unique(targets, return_inverse=True)
    if len(labels) == 1 or not shown.shape[1]:  # LightGBM refuses no columns
        commonest = labels[np.bincount(places).argmax()]
        return [np.full(each.shape[0], commonest) for each in others]
    lightgbm = load("lightgbm")
    model = lightgbm.train(_trees_for(len(labels)), lightgbm.Dataset(shown, places), _ROUNDS)
    scores = (model.predict(each, raw_score=True, num_threads=1) for each in others)
    return [labels[_highest(each)] for each in scores]


def _trees_for(labels: int) -> Mapping[str, object]:
    """Return LightGBM's settings for so many labels, at least two.

    Of k labels, more than two, its steps are only (k - 1) / k as long as Newton's: undone here.
    """
    if labels == 2:
        return {**_TREES, "objective": "binary", "learning_rate": _RATE}
    rate = _RATE * labels / (labels - 1)
    return {**_TREES, "objective": "multiclass", "num_class": labels, "learning_rate": rate}


def _highest(scores: NDArray[np.float64]) -> Indices:
    """Return the places of the labels; of two labels there is one score, that of the second."""
    found = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(found, np.int64)


_FITS: Mapping[Classifier, Callable[[Any, Any, Indices, int], Any]] = {
    Classifier.LINEAR: _linear,
    Classifier.BOOSTING: boosting,
}
"""How each classifier is trained, and labels the test items."""
