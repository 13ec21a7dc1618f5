"""The baselines of Conneau et al. 2018 (section 4, Table 2): classifiers that use no sentence vectors.

In tasks with probe words, the baselines *length* and *tfidf* also have a feature for each probe word.

Words at their places: random vectors of those at fixed places, with an exact bound, and of all words.

An encoder whose vectors depend only on the words at fixed places, such as the second, knows nothing of structure. It
may yet be right often: in many sentences that have the noun before the verb, the noun is the second word. One that
adds up a vector for each word at its place knows nothing of structure either, and has the order of all words.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError, import_module_of_extra
from sentprobe.common.specs import NoOptions, Spec, read_options
from sentprobe.probes.datasets.dataset import Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Baseline, Vectors, digest
from sentprobe.probes.encoders.word_vectors import sample_word_vectors

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

    def compute_log_odds(self) -> Iterator[NDArray[np.float64]]:
        """Yield, for each label, the log-odds of the features under it against all other labels together, (features,).

        With two labels, these are the weights by which :meth:`predict` decides. Rounding makes equal features tie.
        """
        weights = self._weights.tocsc()
        weights.data = np.expm1(weights.data)
        total = np.asarray(weights.sum(axis=1)).ravel()
        for index in range(len(self.classes)):
            own = weights[:, [index]].toarray().ravel()
            own_shares, other_shares = ((w + 1) / (w + 1).sum() for w in (own, total - own))
            yield np.round(np.log(own_shares / other_shares), 9)


MAX_NGRAMS = 2
"""Length of the longest n-grams of *tfidf*: bigrams, as in the paper."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TellingFeature:
    """A feature by which Naive Bayes recognises a label (Conneau et al. 2018, section 4)."""

    label: str
    feature: str
    """One or two words, such as ``frowns``, or a probe word, such as ``probe 0 is dance``."""
    log_odds: float
    items: int
    """How many training items have the feature."""
    with_label: int
    """How many of these have the label."""


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
        return _fit_predict(self._make_vectorizer(), SparseNaiveBayes(), data, lambda item: item)

    def find_telling_features(self, data: ProbeDataset, *, count: int) -> "list[TellingFeature]":
        """Return, for each label in turn, the *count* features with the highest log-odds above 0 in training items."""
        vectorizer = self._make_vectorizer()
        train = data.splits[Split.TRAIN]
        features = vectorizer.fit_transform(_read_items(data, train)).tocsc()
        model = SparseNaiveBayes().fit(features, train.targets)
        names = vectorizer.get_feature_names_out()
        telling = []
        for label, odds in zip(model.classes.tolist(), model.compute_log_odds(), strict=True):
            for column in (c for c in np.argsort(-odds, kind="stable")[:count].tolist() if odds[c] > 0):
                targets = train.targets[features[:, [column]].nonzero()[0]]
                telling.append(
                    TellingFeature(
                        label=data.labels[label],
                        feature=str(names[column]),
                        log_odds=float(odds[column]),
                        items=len(targets),
                        with_label=int((targets == label).sum()),
                    )
                )
        return telling

    def _make_vectorizer(self) -> Any:
        text = import_module_of_extra("sklearn.feature_extraction.text")
        return text.TfidfVectorizer(analyzer=self._extract_terms)

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


Places = tuple[int, ...]
"""Numbers of tokens: 0 is the first word of a sentence, -1 the last."""
FIRST_SECOND_LAST: Places = (0, 1, -1)


def find_words(tokens: Sequence[str], places: Places) -> tuple[str, ...]:
    """Return the token at each place, or "" for a place that the sentence does not have."""
    return tuple(tokens[place] if -len(tokens) <= place < len(tokens) else "" for place in places)


def describe_places(places: Places) -> str:
    """Return places as text: "words 1, 2 and last", "word 4", "word 2 from the end"."""
    names = [str(place + 1) if place >= 0 else "last" if place == -1 else f"{-place} from the end" for place in places]
    start = f"{', '.join(names[:-1])} and " if len(names) > 1 else ""
    return f"word{'s' * (len(names) > 1)} {start}{names[-1]}"


def compute_place_bound(data: ProbeDataset, split: Split, places: Places) -> float | None:
    """Return the highest accuracy of an encoder that sees only the words at *places*; None without mirror pairs.

    In a mirror pair, a sentence and its mirror have opposite answers to the same question. If they have the same words
    at *places*, the encoder cannot tell them apart, and is right on exactly half. So the bound is 0.5 plus half the
    share of units whose two sentences differ at *places*. It holds for any function of these words, the probe words
    and the bag of words.
    """
    return _compute_bound(_Mirrors(data, split), places) if data.mirrored else None


def find_best_place(data: ProbeDataset) -> int | None:
    """Return the single place with the highest bound in the training items; None without mirror pairs."""
    if not data.mirrored:
        return None
    mirrors = _Mirrors(data, Split.TRAIN)
    longest = max(map(len, mirrors.tokens))
    places = [place for number in range(longest) for place in (number, -1 - number)]
    return max(places, key=lambda place: _compute_bound(mirrors, (place,)))  # the first of equal ones


def list_place_sets(data: ProbeDataset) -> tuple[Places, ...]:
    """Return the sets of places that are tried on a dataset: first, second and last; second; last; the best place."""
    best = find_best_place(data)
    return tuple(dict.fromkeys([FIRST_SECOND_LAST, (1,), (-1,), *([] if best is None else [(best,)])]))


def compute_highest_bound(data: ProbeDataset, place_sets: Iterable[Places]) -> float | None:
    """Return the highest bound of any of *place_sets* in the test items; None without mirror pairs."""
    bounds = (compute_place_bound(data, Split.TEST, places) for places in place_sets)
    return max((bound for bound in bounds if bound is not None), default=None)


class _Mirrors:
    """The items of a split, and the numbers of their groups (:meth:`ProbeDataset.number_mirrors`)."""

    def __init__(self, data: ProbeDataset, split: Split) -> None:
        items = data.splits[split]
        rows, self.rows = np.unique(items.rows, return_inverse=True)
        self.tokens = [data.sentences[row].split() for row in rows.tolist()]
        """The tokens of each distinct sentence, to which ``rows`` refers."""
        self.groups = data.number_mirrors(split)
        self.targets = items.targets


def _compute_bound(mirrors: _Mirrors, places: Places) -> float:
    numbers: dict[tuple[str, ...], int] = {}
    words = [numbers.setdefault(find_words(tokens, places), len(numbers)) for tokens in mirrors.tokens]
    # A number for each pair of group and visible words: items of one number look alike to the encoder.
    views = mirrors.groups * len(numbers) + np.array(words, dtype=np.int64)[mirrors.rows]
    return count_best_answers(views, mirrors.targets) / len(views)


def count_best_answers(views: Indices, targets: Indices) -> int:
    """Return how many items the best function of their views answers correctly; *views* and *targets*: (n,) int64.

    >>> count_best_answers(np.array([7, 7, 7, 2]), np.array([1, 0, 1, 0]))
    3
    """
    labels = int(targets.max()) + 1
    answers, counts = np.unique(views * labels + targets, return_counts=True)
    _, starts = np.unique(answers // labels, return_index=True)
    return int(np.maximum.reduceat(counts, starts).sum())


PLACES_WIDTH = 192
"""Width of the control's vectors; 32 to 128 for each place give the same accuracies in compeval."""


def encode_places(sentences: Sequence[str], places: Places, *, seed: int) -> Vectors:
    """Return random vectors of the words at one to three *places*, side by side, (sentences, PLACES_WIDTH) float32.

    A word has the same vector at each place. The vector of a place that a sentence does not have is 0.
    """
    width = PLACES_WIDTH // len(places)
    find = sample_word_vectors(seed=seed, dim=width).find
    words = [find_words(sentence.split(), places) for sentence in sentences]
    vectors = {word: find(word) for word in {word for row in words for word in row if word}}
    nothing = np.zeros(width, np.float32)
    return np.stack([np.concatenate([vectors.get(word, nothing) for word in row]) for row in words])


FIRST_LETTERS = 4
"""How many letters forms of a word share, roughly: *help*, *helped*."""


def encode_words_and_positions(
    sentences: Sequence[str], *, seed: int, dim: int, known_words: Collection[str] | None = None
) -> Vectors:
    """Return for each sentence the mean of random vectors of its words at their places, (sentences, dim) float32.

    The vector of a word is the sum of one for the word and one for its first letters, so that what a probe learns of a
    form holds for others. It is rotated by n elements at the n-th place, so that places repeat in sentences longer than
    *dim*. If *known_words* are given, what is not in them, or begins none of them, has the vector 0.
    """
    parts = {part for sentence in sentences for word in sentence.split() for part in _list_parts(word)}
    if known_words is not None:
        parts &= {part for word in known_words for part in _list_parts(word)}
    ordered_parts = sorted(parts)
    source = sample_word_vectors(seed=seed, dim=dim)
    vectors = dict(zip(ordered_parts, chain.from_iterable(source.look_up(ordered_parts)), strict=True))
    # An unknown part adds nothing to its word; the word still counts in the mean.
    nothing = np.zeros(dim, np.float32)
    out = np.zeros((len(sentences), dim), np.float32)
    for row, sentence in enumerate(sentences):
        words = (sum(vectors.get(part, nothing) for part in _list_parts(word)) for word in sentence.split())
        out[row] = np.mean([np.roll(word, place) for place, word in enumerate(words)], axis=0)
    return out


def _list_parts(word: str) -> tuple[str, str]:
    return word, f"{word[:FIRST_LETTERS]}-"


def choose_places(data: ProbeDataset, place_sets: Sequence[Places], *, seed: int) -> Places:
    """Return the set of places that tells most about the answers to training items.

    Each set is tried in half of the units of the training items by naive Bayes over the
    words at the places, alone and combined with each probe word, and is scored on the other half. Test items are not
    read. Of equally good sets, the first is returned.
    """
    train = data.splits[Split.TRAIN]
    units = data.units(Split.TRAIN)
    # Whole units are held out: the mirror of a held-out item would give its answer away.
    is_held = np.random.default_rng(seed).permutation(int(units.max()) + 1)[units] % 2 == 0
    if is_held.all() or not is_held.any():
        return place_sets[0]

    def count_right(places: Places) -> int:
        features = _build_features(data, train, places)
        predicted = SparseNaiveBayes().fit(features[~is_held], train.targets[~is_held]).predict(features[is_held])
        return int((predicted == train.targets[is_held]).sum())

    return max(place_sets, key=count_right)


def _build_features(data: ProbeDataset, items: Items, places: Places) -> Any:
    """Return one-hot features, a sparse matrix (n, features): each word, and each pair of a word and a probe word."""
    from scipy.sparse import csr_array

    rows, numbers = np.unique(items.rows, return_inverse=True)
    words = np.array([find_words(data.sentences[row].split(), places) for row in rows.tolist()])  # (rows, places)
    columns: list[Indices] = []
    width = 0
    for column in words.T:
        _, word_numbers = np.unique(column, return_inverse=True)
        plain = word_numbers[numbers]
        pairs = (plain * len(data.probe_words) + probes for probes in items.probes.T)
        for values in (plain, *pairs):
            distinct, feature = np.unique(values, return_inverse=True)
            columns.append(feature + width)
            width += len(distinct)
    features = np.stack(columns, axis=1)  # (n, features of an item)
    starts = np.arange(len(items) + 1) * features.shape[1]
    return csr_array((np.ones(features.size), features.ravel(), starts), shape=(len(items), width))
