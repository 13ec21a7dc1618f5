"""What strong off-the-shelf classifiers make of a cue: a linear model and boosted trees.

Both are scikit-learn's, trained on the training items and scored on the test items. Which of the
two is believed is settled before either sees a test item: on the validation split where there is
one, else on a quarter of the training units held out.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
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

_BINS = 64
"""Values of a feature that boosted trees tell apart; counts and places have fewer."""


class Classifier(StrEnum):
    """A classifier that is tried on each cue."""

    LINEAR = "linear"
    """Logistic regression, L2 with C = 1, over each feature scaled to at most 1."""
    BOOSTING = "boosting"
    """HistGradientBoostingClassifier at its defaults (100 rounds), but without early stopping."""


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

    load("sklearn.ensemble")  # only what is loaded can be limited
    train = sample(train, limit=TRAINING_LIMIT, seed=seed)
    labels = len(np.unique(train.targets))
    kinds = [c for c in Classifier if labels <= BOOSTED_LABELS or c is Classifier.LINEAR]
    with threadpool_limits(limits=1):
        chosen = _choose(kinds, train, validation, seed=seed)
        answers = _answers(kinds, train, test, seed=seed)
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


def _choose(
    kinds: Sequence[Classifier], train: TrialItems, validation: TrialItems | None, *, seed: int
) -> Classifier:
    if len(kinds) == 1:
        return kinds[0]
    fitted, judged = (train, validation) if validation else _hold_out(train, seed=seed)
    if not len(judged.targets):
        return kinds[0]
    answers = _answers(kinds, fitted, judged, seed=seed)
    return max(kinds, key=lambda kind: int((answers[kind] == judged.targets).sum()))


def _hold_out(train: TrialItems, *, seed: int) -> tuple[TrialItems, TrialItems]:
    """Return the training items without a quarter of the units, and the items of that quarter."""
    units = np.unique(train.units)
    drawn = np.random.default_rng([seed, 1]).permutation(units)[: int(_HELD_OUT * len(units))]
    held = np.isin(train.units, drawn)
    return train.take(np.flatnonzero(~held)), train.take(np.flatnonzero(held))


def _answers(
    kinds: Sequence[Classifier], train: TrialItems, test: TrialItems, *, seed: int
) -> Mapping[Classifier, Indices]:
    """Return each classifier's label for each test item, (n,) int64."""
    labels = np.unique(train.targets)
    if len(labels) == 1:  # scikit-learn's logistic regression refuses to learn a single label
        return dict.fromkeys(kinds, np.full(len(test.targets), labels[0]))
    shown, asked = _matrices(train, test)
    return {
        kind: np.asarray(_FITS[kind](shown, asked, train.targets, seed), dtype=np.int64)
        for kind in kinds
    }


def _matrices(train: TrialItems, test: TrialItems) -> tuple[Any, Any]:
    """Return sparse float32 matrices, (n, features); features that training lacks are left out.

    The columns are in order of how many training items have the feature, the commonest first.
    """
    vectorizer = load("sklearn.feature_extraction").DictVectorizer(dtype=np.float32)
    shown = vectorizer.fit_transform(train.features)
    common = np.argsort(-shown.getnnz(axis=0), kind="stable")
    return shown[:, common], vectorizer.transform(test.features)[:, common]


def _linear(train: Any, test: Any, targets: Indices, seed: int) -> Any:
    columns = _WEIGHTS // len(np.unique(targets))
    scaler = load("sklearn.preprocessing").MaxAbsScaler().fit(train[:, :columns])
    model = load("sklearn.linear_model").LogisticRegression(max_iter=300, random_state=seed)
    with warnings.catch_warnings():
        # A model that is a little short of its optimum is still a fair judge of a cue.
        warnings.simplefilter("ignore", load("sklearn.exceptions").ConvergenceWarning)
        model.fit(scaler.transform(train[:, :columns]), targets)
    return model.predict(scaler.transform(test[:, :columns]))


def _boosting(train: Any, test: Any, targets: Indices, seed: int) -> Any:
    boosting = load("sklearn.ensemble").HistGradientBoostingClassifier
    model = boosting(early_stopping=False, max_bins=_BINS, random_state=seed)
    model.fit(train[:, :BOOSTED_COLUMNS].toarray(), targets)
    return model.predict(test[:, :BOOSTED_COLUMNS].toarray())


_FITS: Mapping[Classifier, Callable[[Any, Any, Indices, int], Any]] = {
    Classifier.LINEAR: _linear,
    Classifier.BOOSTING: _boosting,
}
"""How each classifier is trained, and labels the test items."""
