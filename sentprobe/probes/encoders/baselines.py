"""The baselines of Conneau et al. 2018 (section 4, Table 2): classifiers without sentence vectors.

With 1,000 classes and the bigrams of 100,000 sentences that table would take 10 GB. The logarithm
of a smoothed count is that of 1 plus the count, less that of the class's total; where a class has
none of a feature it is 0, so sparse matrices are enough.

The paper's tasks have no probe words. Where a dataset has them, *length* and *tfidf* are told them
too, each word in its slot as a feature of its own, as a probe is told them beside the vector.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.extras import load
from sentprobe.probes.dataset import Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders.protocol import Baseline, digest
from sentprobe.specs import Spec, read_options

_ROWS = 2_000
"""How many items are classified at a time."""


class TextNaiveBayes:
    """A vectoriser of scikit-learn, and then Naive Bayes."""

    def __init__(self, vectorizer: Any) -> None:
        self._vectorizer = vectorizer
        self._bayes = SparseNaiveBayes()

    def fit(self, items: Sequence[object], targets: Indices) -> "TextNaiveBayes":
        """Learn from whatever the vectoriser takes."""
        self._bayes.fit(self._vectorizer.fit_transform(items), targets)
        return self

    def predict(self, items: Sequence[object]) -> Indices:
        """Return the likeliest label of each item, (n,) int64."""
        return self._bayes.predict(self._vectorizer.transform(items))


class SparseNaiveBayes:
    """Multinomial Naive Bayes with add-one smoothing, as scikit-learn's, in little memory."""

    def fit(self, features: Any, targets: Indices) -> "SparseNaiveBayes":
        """Learn from a sparse matrix of weights (n, features) and the labels (n,) int64."""
        csr_array = load("scipy.sparse").csr_array
        self.classes, index, counts = np.unique(targets, return_inverse=True, return_counts=True)
        ones = (np.ones(len(targets)), (index, np.arange(len(targets))))
        of_class = csr_array(ones, shape=(len(self.classes), len(targets)))
        weights = csr_array(of_class @ csr_array(features))
        totals = np.asarray(weights.sum(axis=1)).ravel() + weights.shape[1]
        weights.data = np.log1p(weights.data)
        self._weights = weights.T.tocsr()
        self._totals: NDArray[np.float64] = np.log(totals)
        self._prior: NDArray[np.float64] = np.log(counts / counts.sum())
        return self

    def predict(self, features: Any) -> Indices:
        """Return the likeliest label of each row, (n,) int64; of equally likely ones the first."""
        csr_array = load("scipy.sparse").csr_array
        rows = csr_array(features)
        parts = [
            self._best(rows[start : start + _ROWS]) for start in range(0, rows.shape[0], _ROWS)
        ]
        return np.asarray(self.classes[np.concatenate(parts)], np.int64)

    def _best(self, rows: Any) -> Indices:
        mass = np.asarray(rows.sum(axis=1)).ravel()
        scores = (rows @ self._weights).toarray() - np.outer(mass, self._totals) + self._prior
        return np.asarray(scores.argmax(axis=1), np.int64)


MAX_NGRAMS = 2
"""The longest n-grams of *tfidf*; the paper has words and bigrams."""


@dataclass(frozen=True, slots=True)
class NoOptions:
    """``majority`` and ``length`` have no options."""


@dataclass(frozen=True, slots=True)
class TfidfOptions:
    """Options of ``tfidf``."""

    ngrams: int = 1
    """1: words (the paper's NB-uni-tfidf); 2: words and bigrams (NB-bi-tfidf)."""


@dataclass(frozen=True, slots=True)
class Majority:
    """Always the commonest label of training; of equally common ones, the first."""

    name: str = "majority"

    @property
    def fingerprint(self) -> str:
        """A digest of the method."""
        return digest("majority")

    def predict(self, data: ProbeDataset, *, seed: int) -> Indices:
        """Return the same label for each test item, (n,) int64; *seed* changes nothing."""
        del seed
        counts = np.bincount(data.splits[Split.TRAIN].targets, minlength=len(data.labels))
        return np.full(len(data.splits[Split.TEST]), counts.argmax(), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Length:
    """Logistic regression over the number of tokens, standardised, and the probe words one-hot."""

    name: str = "length"

    @property
    def fingerprint(self) -> str:
        """A digest of the method."""
        return digest("length")

    def predict(self, data: ProbeDataset, *, seed: int) -> Indices:
        """Return a label for each test item, (n,) int64; *seed* changes nothing."""
        vectorizer = load("sklearn.feature_extraction").DictVectorizer()
        regression = load("sklearn.linear_model").LogisticRegression
        # So weak a penalty is none in effect: with one number there is nothing to overfit.
        model = load("sklearn.pipeline").make_pipeline(vectorizer, regression(C=1e4, max_iter=2000))
        return _fit_predict(model, data, _length_rows(data), seed=seed)


@dataclass(frozen=True, slots=True)
class Tfidf:
    """Naive Bayes over the tf-idf weights of words, or of words and bigrams.

    Multinomial, with add-one smoothing; tf-idf as scikit-learn computes it (smoothed idf, rows of
    length 1). The paper does not say more than "Naive Bayes" and "tf-idf". A token is what stands
    between spaces; a probe word is a token of its own, apart from those of the sentence.
    """

    name: str = "tfidf"
    ngrams: int = 1

    @property
    def fingerprint(self) -> str:
        """A digest of the method and its options."""
        return digest("tfidf", self.ngrams)

    def predict(self, data: ProbeDataset, *, seed: int) -> Indices:
        """Return a label for each test item, (n,) int64; *seed* changes nothing."""
        vectorizer = load("sklearn.feature_extraction.text").TfidfVectorizer
        model = TextNaiveBayes(vectorizer(analyzer=self._terms))
        return _fit_predict(model, data, lambda item: item, seed=seed)

    def _terms(self, item: "_Item") -> list[str]:
        tokens, probes = item
        sizes = range(1, self.ngrams + 1)
        grams = [tokens[i : i + n] for n in sizes for i in range(len(tokens) - n + 1)]
        return [" ".join(gram) for gram in grams] + _probe_names(probes)


_Item = tuple[Sequence[str], Sequence[str]]
"""The tokens of a sentence and the probe words."""


def build_majority(spec: Spec, *, seed: int) -> Baseline:
    """Return the baseline of ``majority``."""
    del seed
    read_options(spec, NoOptions())
    return Majority(spec.name)


def build_length(spec: Spec, *, seed: int) -> Baseline:
    """Return the baseline of ``length``."""
    del seed
    read_options(spec, NoOptions())
    return Length(spec.name)


def build_tfidf(spec: Spec, *, seed: int) -> Baseline:
    """Return the baseline of ``tfidf``.

    Raises:
        UsageError: an unknown option, or other n-grams than 1 or 2.
    """
    del seed
    options = read_options(spec, TfidfOptions())
    if options.ngrams > MAX_NGRAMS:
        raise UsageError(f"tfidf: option ngrams={options.ngrams}: 1 or {MAX_NGRAMS} is wanted")
    return Tfidf(spec.name, options.ngrams)


def _fit_predict(
    model: Any, data: ProbeDataset, make: Callable[[_Item], object], *, seed: int
) -> Indices:
    """Train on the training items as *make* gives them, and return the labels of the test items."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    # What is limited was loaded when *model* was made.
    del seed  # nothing is random in these
    train, test = data.splits[Split.TRAIN], data.splits[Split.TEST]
    with threadpool_limits(limits=1):
        model.fit([make(item) for item in _items(data, train)], train.targets)
        answers = model.predict([make(item) for item in _items(data, test)])
    return np.asarray(answers, dtype=np.int64)


def _items(data: ProbeDataset, items: Items) -> list[_Item]:
    tokens = [sentence.split() for sentence in data.sentences]
    return [
        (tokens[row], [data.probe_words[probe] for probe in probes])
        for row, probes in zip(items.rows.tolist(), items.probes.tolist(), strict=True)
    ]


def _probe_names(probes: Sequence[str]) -> list[str]:
    """Return a feature for each probe word, which no token of a sentence can be: it has spaces."""
    return [f"probe {slot} is {word}" for slot, word in enumerate(probes)]


def _length_rows(data: ProbeDataset) -> Callable[[_Item], dict[str, float]]:
    """Return what makes features of an item; the length is standardised as training has it."""
    lengths = [len(tokens) for tokens, _ in _items(data, data.splits[Split.TRAIN])]
    mean, spread = float(np.mean(lengths)), float(np.std(lengths)) or 1.0

    def row(item: _Item) -> dict[str, float]:
        tokens, probes = item
        length = (len(tokens) - mean) / spread
        return {"length": length, **dict.fromkeys(_probe_names(probes), 1.0)}

    return row
