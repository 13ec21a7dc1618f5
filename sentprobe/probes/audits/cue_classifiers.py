"""The classifiers of an audit (logistic regression and boosted trees), and the choice between them."""

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np

from sentprobe.common.errors import import_module_of_extra
from sentprobe.probes.audits.cue_features import Features
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.statistics import Interval, accuracy_interval, wilson

TRAINING_LIMIT = 10_000
"""The maximum number of training items. Of larger training sets, a random sample of units is used."""
BOOSTED_COLUMNS = 400
"""The maximum number of features of boosted trees: the features that occur in most training items."""
BOOSTED_LABELS = 20
"""The maximum number of labels for boosted trees, which grow one tree per label and round."""
_MAX_WEIGHTS = 2_000_000
_HELD_OUT_SHARE = 0.25
_ROUNDS = 50
_LEARNING_RATE = 0.2
_MAX_DEPTH = 5

_TREE_SETTINGS: Mapping[str, object] = {
    "max_depth": _MAX_DEPTH,
    "num_leaves": 2**_MAX_DEPTH,
    "min_data_in_leaf": 20,
    "max_bin": 63,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,  # otherwise LightGBM first times row-wise and column-wise training
    "verbosity": -1,
}

_TOLERANCE = 1e-3
"""The gradient tolerance of the linear model. Ten times scikit-learn's default, it saves two thirds of the iterations;
the answers are nearly the same."""


class Classifier(StrEnum):
    """A classifier that is tried on each cue."""

    LINEAR = "linear"
    """Scikit-learn's logistic regression (L2 penalty, C = 1) with features scaled to at most 1."""
    BOOSTING = "boosting"
    """LightGBM's gradient boosted trees with at most 32 leaves of at least 20 items."""


@dataclass(frozen=True, slots=True)
class ModelScore:
    """The accuracy of a classifier on the test items, with two intervals."""

    correct: int
    total: int
    interval: Interval
    strict: Interval
    """The interval that decides the verdict: 99%, corrected for the number of cues in the audit."""

    @property
    def accuracy(self) -> float:
        return self.correct / self.total


@dataclass(frozen=True, slots=True)
class TrialItems:
    """The items of a split as input of a classifier; all sequences have one entry per item."""

    features: Sequence[Features]
    targets: Indices
    units: Indices
    mirrored: bool = False

    @property
    def unpredictable(self) -> bool:
        """Whether features cannot predict labels, because the items of each mirror pair have the same features."""
        if not self.mirrored:
            return False
        counts = defaultdict[frozenset[tuple[str, float]], Counter[int]](Counter)
        for features, target in zip(self.features, self.targets.tolist(), strict=True):
            counts[frozenset(features.items())][target] += 1
        labels = set(self.targets.tolist())
        return all(len(count) == len(labels) and len(set(count.values())) == 1 for count in counts.values())

    def select(self, rows: Indices) -> "TrialItems":
        features = [self.features[row] for row in rows.tolist()]
        return replace(self, features=features, targets=self.targets[rows], units=self.units[rows])


@dataclass(frozen=True, slots=True)
class Trial:
    """The scores of the classifiers on one cue, and the classifier that was chosen without the test items."""

    chosen: Classifier
    scores: Mapping[Classifier, ModelScore]

    @property
    def score(self) -> ModelScore:
        """The score of the chosen classifier."""
        return self.scores[self.chosen]


def try_classifiers(
    train: TrialItems, test: TrialItems, *, validation: TrialItems | None, seed: int, strict: float
) -> Trial:
    """Train all classifiers, choose one without the test items, and score all on the test items."""
    from threadpoolctl import threadpool_limits

    import_module_of_extra("sklearn.linear_model")  # threadpool_limits affects only loaded libraries
    train = sample_units(train, limit=TRAINING_LIMIT, seed=seed)
    labels = len(np.unique(train.targets))
    kinds = [kind for kind in Classifier if labels <= BOOSTED_LABELS or kind is Classifier.LINEAR]
    with threadpool_limits(limits=1):
        chosen, answers = _choose_classifier(kinds, train, test, validation, seed=seed)
    return Trial(chosen, {kind: score_answers(answer, test, strict=strict) for kind, answer in answers.items()})


def sample_units(part: TrialItems, *, limit: int, seed: int) -> TrialItems:
    """Return a random sample of whole units that has at most *limit* items."""
    if len(part.targets) <= limit:
        return part
    _, unit_numbers = np.unique(part.units, return_inverse=True)
    order = np.random.default_rng(seed).permutation(int(unit_numbers.max()) + 1)
    sizes = np.bincount(unit_numbers)[order]
    chosen_units = order[np.cumsum(sizes) <= limit]
    return part.select(np.flatnonzero(np.isin(unit_numbers, chosen_units)))


def score_answers(answers: Indices, test: TrialItems, *, strict: float) -> ModelScore:
    """Compute the accuracy of predicted labels, (n,), with intervals that allow for dependent items of one unit."""
    right = answers == test.targets
    levels, units = (0.95, strict), len(np.unique(test.units))
    if test.mirrored:  # as if each unit were one item
        low, high = (wilson(float(right.mean()) * units, units, confidence=level) for level in levels)
    else:
        low, high = (accuracy_interval(right, test.units.tolist(), confidence=level) for level in levels)
    return ModelScore(int(right.sum()), len(right), low, high)


_Answers = Mapping[Classifier, Indices]


def _choose_classifier(
    kinds: Sequence[Classifier], train: TrialItems, test: TrialItems, validation: TrialItems | None, *, seed: int
) -> tuple[Classifier, _Answers]:
    """Choose a classifier by accuracy on non-test items. Return it, and all classifiers' predictions of test items."""
    if validation and len(validation.targets):  # the same trained model serves both choice and test
        held_answers, answers = _predict(kinds, train, [validation, test], seed=seed)
        return _find_best(held_answers, validation), answers
    all_units = np.unique(train.units)
    held_units = np.random.default_rng([seed, 1]).permutation(all_units)[: int(_HELD_OUT_SHARE * len(all_units))]
    is_held = np.isin(train.units, held_units)
    inner_train, held_out = train.select(np.flatnonzero(~is_held)), train.select(np.flatnonzero(is_held))
    # Equal features then occur equally often with each label: any classifier is as accurate as a guess.
    if test.unpredictable and held_out.unpredictable:
        return kinds[0], dict.fromkeys(kinds, np.zeros(len(test.targets), np.int64))
    (answers,) = _predict(kinds, train, [test], seed=seed)
    if len(kinds) == 1 or not len(held_out.targets):
        return kinds[0], answers
    (held_answers,) = _predict(kinds, inner_train, [held_out], seed=seed)
    return _find_best(held_answers, held_out), answers


def _find_best(answers: _Answers, items: TrialItems) -> Classifier:
    return max(answers, key=lambda kind: int((answers[kind] == items.targets).sum()))


def _predict(
    kinds: Sequence[Classifier], train: TrialItems, parts: Sequence[TrialItems], *, seed: int
) -> list[_Answers]:
    labels = np.unique(train.targets)
    if len(labels) == 1:  # scikit-learn's logistic regression refuses to learn a single label
        return [dict.fromkeys(kinds, np.full(len(part.targets), labels[0])) for part in parts]
    names = sorted(set(chain.from_iterable(train.features)))
    columns = {name: i for i, name in enumerate(names)}
    unordered = [_build_matrix(part, columns) for part in (train, *parts)]
    # Frequent features first: each classifier cuts off the columns beyond its limit.
    order = np.argsort(-unordered[0].getnnz(axis=0), kind="stable")
    train_matrix, *matrices = (matrix[:, order] for matrix in unordered)
    predictions = {kind: _PREDICTORS[kind](train_matrix, matrices, train.targets, seed) for kind in kinds}
    return [{kind: np.asarray(predictions[kind][i], dtype=np.int64) for kind in kinds} for i in range(len(parts))]


def _build_matrix(part: TrialItems, column_numbers: Mapping[str, int]) -> Any:
    """Return a sparse feature matrix, (n, columns); features that are not in *column_numbers* are dropped."""
    from scipy.sparse import csr_matrix

    numbers = map(column_numbers.get, chain.from_iterable(part.features), repeat(-1))
    columns = np.fromiter(numbers, np.int32)
    values = np.fromiter(chain.from_iterable(features.values() for features in part.features), np.float32)
    rows = np.repeat(np.arange(len(part.features)), [*map(len, part.features)])
    is_column = columns >= 0
    starts = np.searchsorted(rows[is_column], np.arange(len(part.features) + 1))
    shape = len(part.features), len(column_numbers)
    return csr_matrix((values[is_column], columns[is_column], starts), shape=shape)


def predict_with_linear_model(train: Any, matrices: Sequence[Any], targets: Indices, seed: int) -> list[Any]:
    """Train logistic regression on *train*, (n, features), and return its predictions for each of *matrices*."""
    column_limit = _MAX_WEIGHTS // len(np.unique(targets))
    # This scaling keeps zeros, so that the matrix stays sparse.
    scaler = import_module_of_extra("sklearn.preprocessing").MaxAbsScaler().fit(train[:, :column_limit])
    scaled_train, *scaled_matrices = (scaler.transform(matrix[:, :column_limit]) for matrix in (train, *matrices))
    merge = _merge_equal_columns(scaled_train)
    linear_model = import_module_of_extra("sklearn.linear_model")
    model = linear_model.LogisticRegression(max_iter=300, tol=_TOLERANCE, random_state=seed)
    with warnings.catch_warnings():
        # A model that has nearly converged still measures a cue fairly.
        warnings.simplefilter("ignore", import_module_of_extra("sklearn.exceptions").ConvergenceWarning)
        model.fit(scaled_train @ merge, targets)
    return [model.predict(matrix @ merge) for matrix in scaled_matrices]


def _merge_equal_columns(matrix: Any) -> Any:
    """Return a matrix M, (features, distinct columns). In *matrix* @ M, equal columns of *matrix* are merged.

    Most n-grams occur in a single item. If two n-grams occur only in the same item, their columns are equal. About a
    tenth of the columns remain. A column that replaces k equal columns is multiplied by sqrt(k). Thus the penalty on
    its weight equals the penalty on the weights of the k columns, and predictions do not change.
    """
    from scipy.sparse import csr_matrix

    by_column = matrix.tocsc()
    by_column.sort_indices()
    ends, number_by_content = by_column.indptr.tolist(), dict[tuple[bytes, bytes], int]()
    contents = ((by_column.indices[a:b].tobytes(), by_column.data[a:b].tobytes()) for a, b in pairwise(ends))
    numbers = [number_by_content.setdefault(content, len(number_by_content)) for content in contents]
    weights = (1 / np.sqrt(np.bincount(numbers)))[numbers].astype(np.float32)
    places = np.arange(len(numbers)), numbers
    return csr_matrix((weights, places), shape=(len(numbers), len(number_by_content)))


def predict_with_boosting(train: Any, matrices: Sequence[Any], targets: Indices, _: int = 0) -> list[Indices]:
    """Train boosted trees on *train*, (n, features), and return their predictions for each of *matrices*."""
    train_columns, *other_columns = (matrix[:, :BOOSTED_COLUMNS] for matrix in (train, *matrices))
    labels, label_numbers = np.unique(targets, return_inverse=True)
    if len(labels) == 1 or not train_columns.shape[1]:  # LightGBM rejects a matrix without columns
        commonest = labels[np.bincount(label_numbers).argmax()]
        return [np.full(matrix.shape[0], commonest) for matrix in other_columns]
    if len(labels) == 2:
        settings = {**_TREE_SETTINGS, "objective": "binary", "learning_rate": _LEARNING_RATE}
    else:
        rate = _LEARNING_RATE * len(labels) / (len(labels) - 1)  # LightGBM's steps are (k - 1) / k of Newton's steps
        settings = {**_TREE_SETTINGS, "objective": "multiclass", "num_class": len(labels), "learning_rate": rate}
    lightgbm = import_module_of_extra("lightgbm")
    model = lightgbm.train(settings, lightgbm.Dataset(train_columns, label_numbers), _ROUNDS)
    scores = (model.predict(matrix, raw_score=True, num_threads=1) for matrix in other_columns)
    # For two labels, there is a single score: that of the second label.
    return [labels[(score > 0).astype(np.int64) if score.ndim == 1 else score.argmax(axis=1)] for score in scores]


_PREDICTORS: Mapping[Classifier, Callable[[Any, Any, Indices, int], Any]] = {
    Classifier.LINEAR: predict_with_linear_model,
    Classifier.BOOSTING: predict_with_boosting,
}
