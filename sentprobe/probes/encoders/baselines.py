"""The baselines of Conneau et al. 2018 (section 4, Table 2): classifiers that use no sentence vectors.

In tasks with probe words, the baselines *length* and *tfidf* also have a feature for each probe word.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.extras import import_module_of_extra
from sentprobe.probes.dataset import Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders.protocol import Baseline, digest
from sentprobe.specs import Spec, read_options

_BATCH_ITEMS = 2_000
"""Maximum number of items in a batch."""


class SparseNaiveBayes:
    """Multinomial Naive Bayes with add-one smoothing, as in scikit-learn, but with sparse weights to save memory."""

    def fit(self, features: Any, targets: Indices) -> "SparseNaiveBayes":
        """Fit the classifier to n items: their term weights, a sparse matrix (n, features), and labels, (n,) int64."""
        from scipy.sparse import csr_array

        self.classes, index, counts = np.unique(targets, return_inverse=True, return_counts=True)
        ones = (np.ones(len(targets)), (index, np.arange(len(targets))))
        class_membership = csr_array(ones, shape=(len(self.classes), len(targets)))
        weights = csr_array(class_membership @ csr_array(features))
        totals = np.asarray(weights.sum(axis=1)).ravel() + weights.shape[1]
        # log((w + 1) / total) = log1p(w) - log(total), and log1p(0) = 0, so the matrix stays sparse.
        weights.data = np.log1p(weights.data)
        self._weights = weights.T.tocsr()
        self._totals: NDArray[np.float64] = np.log(totals)
        self._prior: NDArray[np.float64] = np.log(counts / counts.sum())
        return self

    def predict(self, features: Any) -> Indices:
        """Return the most likely label of each of n items, (n,) int64; the smaller label in a tie."""
        from scipy.sparse import csr_array

        rows = csr_array(features)
        indices = []
        for start in range(0, rows.shape[0], _BATCH_ITEMS):
            batch = rows[start : start + _BATCH_ITEMS]
            mass = np.asarray(batch.sum(axis=1)).ravel()
            scores = (batch @ self._weights).toarray() - np.outer(mass, self._totals) + self._prior
            indices.append(scores.argmax(axis=1))
        return np.asarray(self.classes[np.concatenate(indices)], np.int64)


MAX_NGRAMS = 2
"""Length of the longest n-grams of *tfidf*: bigrams, as in the paper."""


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a spec that has none, such as ``majority``."""


@dataclass(frozen=True, slots=True)
class TfidfOptions:
    """The options of the baseline ``tfidf``."""

    ngrams: int = 1
    """1: words (NB-uni-tfidf in the paper); 2: words and bigrams (NB-bi-tfidf)."""


@dataclass(frozen=True, slots=True)
class Majority:
    """The baseline that predicts the most frequent training label; in a tie, the first in the dataset's labels."""

    name: str = "majority"
    fingerprint: str = digest("majority")

    def predict(self, data: ProbeDataset, *, seed: int) -> Indices:
        """Return the same label for each test item, (n,) int64; *seed* is ignored."""
        del seed
        counts = np.bincount(data.splits[Split.TRAIN].targets, minlength=len(data.labels))
        return np.full(len(data.splits[Split.TEST]), counts.argmax(), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Length:
    """The baseline of logistic regression on the standardised number of tokens and the one-hot probe words."""

    name: str = "length"
    fingerprint: str = digest("length")

    def predict(self, data: ProbeDataset, *, seed: int) -> Indices:
        """Return a label for each test item, (n,) int64; *seed* is ignored."""
        del seed
        vectorizer = import_module_of_extra("sklearn.feature_extraction").DictVectorizer()
        # A large C makes the penalty negligible: a single number cannot be overfitted.
        regression = import_module_of_extra("sklearn.linear_model").LogisticRegression(C=1e4, max_iter=2000)
        return _fit_predict(vectorizer, regression, data, _make_length_features(data))


@dataclass(frozen=True, slots=True)
class Tfidf:
    """The baseline of multinomial Naive Bayes on scikit-learn's tf-idf weights of words, or words and bigrams."""

    name: str = "tfidf"
    ngrams: int = 1

    @property
    def fingerprint(self) -> str:
        """A digest of the baseline's name and its option ``ngrams``."""
        return digest("tfidf", self.ngrams)

    def predict(self, data: ProbeDataset, *, seed: int) -> Indices:
        """Return a label for each test item, (n,) int64; *seed* is ignored."""
        del seed
        vectorizer = import_module_of_extra("sklearn.feature_extraction.text").TfidfVectorizer
        return _fit_predict(vectorizer(analyzer=self._extract_terms), SparseNaiveBayes(), data, lambda item: item)

    def _extract_terms(self, item: "_Item") -> list[str]:
        tokens, probes = item
        sizes = range(1, self.ngrams + 1)
        grams = [tokens[i : i + n] for n in sizes for i in range(len(tokens) - n + 1)]
        return [" ".join(gram) for gram in grams] + _name_probe_features(probes)


_Item = tuple[Sequence[str], Sequence[str]]
"""The tokens of an item's sentence, and its probe words."""


def build_plain_baseline(spec: Spec) -> Baseline:
    """Build the baseline of a spec ``majority`` or ``length``. Raises UsageError if the spec has options."""
    read_options(spec, NoOptions())
    return (Majority if spec.kind == "majority" else Length)(spec.name)


def build_tfidf(spec: Spec) -> Baseline:
    """Build the baseline of a spec ``tfidf``. Raises UsageError if ``ngrams`` is neither 1 nor 2."""
    options = read_options(spec, TfidfOptions())
    if options.ngrams > MAX_NGRAMS:
        raise UsageError(f"tfidf: option ngrams={options.ngrams}: 1 or {MAX_NGRAMS} is expected")
    return Tfidf(spec.name, options.ngrams)


def _fit_predict(
    vectorizer: Any, classifier: Any, data: ProbeDataset, make_features: Callable[[_Item], object]
) -> Indices:
    from threadpoolctl import threadpool_limits

    train, test = data.splits[Split.TRAIN], data.splits[Split.TEST]
    with threadpool_limits(limits=1):  # affects libraries that are loaded already, as the classifier's is
        features = vectorizer.fit_transform([make_features(item) for item in _read_items(data, train)])
        classifier.fit(features, train.targets)
        answers = classifier.predict(vectorizer.transform([make_features(item) for item in _read_items(data, test)]))
    return np.asarray(answers, dtype=np.int64)


def _read_items(data: ProbeDataset, items: Items) -> list[_Item]:
    tokens = [sentence.split() for sentence in data.sentences]
    return [
        (tokens[row], [data.probe_words[probe] for probe in probes])
        for row, probes in zip(items.rows.tolist(), items.probes.tolist(), strict=True)
    ]


def _name_probe_features(probes: Sequence[str]) -> list[str]:
    """Return names such as ``probe 0 is dance``, which contain spaces, unlike tokens."""
    return [f"probe {slot} is {word}" for slot, word in enumerate(probes)]


def _make_length_features(data: ProbeDataset) -> Callable[[_Item], dict[str, float]]:
    """Return a function that computes an item's features; lengths are standardised over the training items."""
    lengths = [len(tokens) for tokens, _ in _read_items(data, data.splits[Split.TRAIN])]
    mean, spread = float(np.mean(lengths)), float(np.std(lengths)) or 1.0

    def compute_features(item: _Item) -> dict[str, float]:
        tokens, probes = item
        length = (len(tokens) - mean) / spread
        return {"length": length, **dict.fromkeys(_name_probe_features(probes), 1.0)}

    return compute_features
