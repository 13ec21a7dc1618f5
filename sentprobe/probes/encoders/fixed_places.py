"""Words at their places: random vectors of those at fixed places, with an exact bound, and of all words.

An encoder whose vectors depend only on the words at fixed places, such as the second, knows nothing of structure. It
may yet be right often: in many sentences that have the noun before the verb, the noun is the second word. One that
adds up a vector for each word at its place knows nothing of structure either, and has the order of all words.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from sentprobe.probes.dataset import Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders.baselines import SparseNaiveBayes
from sentprobe.probes.encoders.files.word_vectors import sample_word_vectors
from sentprobe.probes.encoders.protocol import Vectors

Places = tuple[int, ...]
"""Numbers of tokens: 0 is the first word of a sentence, -1 the last."""
FIRST_SECOND_LAST: Places = (0, 1, -1)


def find_words(tokens: Sequence[str], places: Places) -> tuple[str, ...]:
    """Return the token at each place, or "" for a place that the sentence does not have.

    >>> find_words(["dogs", "sleep"], (0, -1, 2))
    ('dogs', 'sleep', '')
    """
    return tuple(tokens[place] if -len(tokens) <= place < len(tokens) else "" for place in places)


def describe_places(places: Places) -> str:
    """Return places as text.

    >>> describe_places((0, 1, -1)), describe_places((3,)), describe_places((-2,))
    ('words 1, 2 and last', 'word 4', 'word 2 from the end')
    """
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
