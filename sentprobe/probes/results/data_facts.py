"""Facts about a dataset (sizes, origin, repeated sentences) that are stored in each result."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from itertools import accumulate
from operator import attrgetter
from typing import Any

from sentprobe.common.specs import NATURAL
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.read import find_built_in
from sentprobe.probes.datasets.dataset import ProbeDataset, Split

MAX_OVERLAP = 0.01
"""The largest acceptable share of test items whose sentence occurs in training, verbatim or inflected.

In the tasks of compeval, at most 0.8% of the test items have an inflected form of a training sentence.
"""

MAX_REWORDED = 0.2
"""The largest acceptable share of test items that are training items but for one word.

Sentences from templates are similar by design: 3.6% in Mood with 4,000 training items, 11.7% in
Content1Probe with 20,000 items and paper sampling. Tasks from novels have at most 0.2%.
"""
MIN_REWORDED_LENGTH = 4
"""The number of words from which two sentences that differ in one word are near copies, rather than both short."""


@dataclass(frozen=True, slots=True)
class SplitOverlap:
    """The number of test items, and how many repeat a training sentence, verbatim, inflected or but for one word."""

    items: int
    repeated: int
    inflected: int
    """The number of further test items whose lemmas equal those of a training sentence, in the same order."""
    reworded: int = 0
    """The number of test items that :func:`count_reworded` counts."""

    def __post_init__(self) -> None:
        if self.items < 1 or min(self.repeated, self.inflected) < 0 or self.repeated + self.inflected > self.items:
            raise ValueError(f"{self.repeated} and {self.inflected} items do not fit into {self.items}")

    @property
    def is_leaky(self) -> bool:
        """Whether the sentences of more than 1% of the test items occur verbatim in training."""
        return self.repeated > MAX_OVERLAP * self.items

    @property
    def has_near_copies(self) -> bool:
        """Whether more than 1% of the test items are inflected copies, or more than 20% copies but for one word."""
        return self.repeated + self.inflected > MAX_OVERLAP * self.items or self.reworded > MAX_REWORDED * self.items

    def format_repeated(self) -> str:
        return f"the sentences of {self.repeated / self.items:.1%} of the test items are training sentences"

    def format_inflected(self) -> str:
        return (
            f"{self.inflected / self.items:.1%} differ from a training sentence by inflection, case or punctuation only"
        )

    def format_reworded(self) -> str:
        return f"{self.reworded / self.items:.1%} are training items but for one word of the sentence"


def find_overlap(data: ProbeDataset, lexicon: Lexicon | None = None) -> SplitOverlap:
    """Count test items whose sentence is in training, verbatim or with equal lemmas (unknown words: equal stems)."""
    lexicon = lexicon or find_built_in(data.card.language)
    lemmas = {token: find_lemma(token, lexicon) for sentence in data.sentences for token in sentence.split()}
    lemmatised = [tuple(lemmas[token] for token in sentence.split() if lemmas[token]) for sentence in data.sentences]
    training_rows = {*data.splits[Split.TRAIN].rows.tolist()}
    training_lemmas = {lemmatised[row] for row in training_rows}
    test_rows = data.splits[Split.TEST].rows.tolist()
    repeated = sum(row in training_rows for row in test_rows)
    copied_or_inflected = sum(lemmatised[row] in training_lemmas for row in test_rows)
    return SplitOverlap(len(test_rows), repeated, copied_or_inflected - repeated, count_reworded(data))


def count_reworded(data: ProbeDataset) -> int:
    """Return the number of test items, verbatim copies apart, whose answer the near copies in training give.

    A near copy has the same probe words and, but for one word, the same words in the same order. Training sentences
    that differ in one word *and* ask about another word, as held-out pairs do, tell a probe nothing that it may repeat.
    """
    test, train = data.splits[Split.TEST], data.splits[Split.TRAIN]
    # Sentences are near copies if they share a key: an index of keys saves the comparison of all pairs of items.
    numbers: dict[tuple[int, str], int] = {}
    keys_by_row = {row: tuple(_list_gaps(data.sentences[row], numbers)) for row in {*test.rows.tolist()}}
    wanted = {key for keys in keys_by_row.values() for key in keys}
    answers = defaultdict[object, Counter[int]](Counter)
    for row, probes, target in zip(train.rows.tolist(), train.probes.tolist(), train.targets.tolist(), strict=True):
        for key in _list_gaps(data.sentences[row], numbers):
            if key in wanted:
                answers[key, tuple(probes)][target] += 1
    reworded, training_rows = 0, {*train.rows.tolist()}
    for row, probes, target in zip(test.rows.tolist(), test.probes.tolist(), test.targets.tolist(), strict=True):
        counts = Counter[int]()
        for key in keys_by_row[row]:
            counts.update(answers.get((key, tuple(probes)), {}))
        reworded += row not in training_rows and 2 * counts[target] > counts.total()
    return reworded


def _list_gaps(sentence: str, numbers: dict[tuple[int, str], int]) -> Iterator[tuple[int, int]]:
    """Yield for each word of a sentence, punctuation apart, the numbers of the words before it and of those after it.

    - numbers: the number of each sequence of words, by that of the sequence without its last word, and this word
    """
    words = [word for word in sentence.lower().split() if any(map(str.isalnum, word))]

    def number_starts(sequence: Iterable[str]) -> list[int]:
        return [
            *accumulate(sequence, lambda start, word: numbers.setdefault((start, word), len(numbers) + 1), initial=0)
        ]

    if len(words) >= MIN_REWORDED_LENGTH:
        yield from zip(number_starts(words), reversed(number_starts(reversed(words[1:]))), strict=False)


def count_by_length(data: ProbeDataset) -> int:
    """Return how many test items an encoder of the length alone answers: the commonest training label of its length.

    Lengths that training lacks get the label of the nearest length. The length is the number of tokens.
    """
    test, train = data.splits[Split.TEST], data.splits[Split.TRAIN]
    labels = defaultdict[int, Counter[int]](Counter)
    for row, target in zip(train.rows.tolist(), train.targets.tolist(), strict=True):
        labels[len(data.sentences[row].split())][target] += 1
    # Ties go to the smaller label and to the shorter length, so that the order of the items does not matter.
    answers = {length: min(counts, key=lambda label: (-counts[label], label)) for length, counts in labels.items()}
    lengths = [len(data.sentences[row].split()) for row in test.rows.tolist()]
    nearest = {length: min(answers, key=lambda known: (abs(known - length), known)) for length in {*lengths}}
    pairs = zip(lengths, test.targets.tolist(), strict=True)
    return sum(answers[nearest[length]] == target for length, target in pairs)


def find_training_words(data: ProbeDataset) -> frozenset[str]:
    """Return the distinct tokens of the training sentences."""
    return frozenset(word for row in data.splits[Split.TRAIN].rows for word in data.sentences[row].split())


def find_lemma(token: str, lexicon: Lexicon) -> str:
    """Return the lemma of a token; its stem if the lexicon lacks the token; "" for punctuation."""
    word = token.lower()
    if not any(map(str.isalnum, word)):
        return ""
    entries = lexicon.find(word)
    return entries[0][0].lemma if entries else FUNCTION_STEMS.get(word) or _stem(word)


_UNCHANGED_WORDS = ("are", "by", "did", "do", "is", "not", "was", "were")
FUNCTION_STEMS = {"being": "be", "does": "doe"} | {word: word for word in _UNCHANGED_WORDS}
"""Snowball stems of the function words in compeval. They save the import of NLTK, which takes two seconds."""


@cache
def _stem(word: str) -> str:
    from nltk.stem.snowball import EnglishStemmer

    return str(EnglishStemmer().stem(word))


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFacts:
    """The sizes and the origin of a dataset, as stored in a result."""

    train: int
    test: int
    validation: int = 0
    """The number of validation items. If it is 0, a classifier may validate on a part of the training items."""
    word_types: int
    vocabulary: str = ""
    sampling: str = ""
    """The sampling method of the items; empty if unknown, as in published datasets."""
    seed: int | None = None
    source: str = ""
    origin: str = ""
    """A digest of the lexicon or table rows and of all settings but the seed; empty if read from dataset files."""
    held_out: str = ""
    """The structure that half of the test items and no training items have; empty if no structure was held out."""
    repeated: int = 0
    inflected: int = 0
    reworded: int = 0
    by_length: int = 0
    """The number of test items that :func:`count_by_length` answers correctly; 0 if it was not counted."""
    train_language: str = ""
    test_language: str = ""
    """The language of the test items; empty for a task that does not compare languages."""
    test_digest: str = ""
    """A digest of the test items, equal for all training languages; empty if no languages are compared."""
    known_words: int = 0
    """The number of test items with at least one training word; 0 if no languages are compared."""
    places: str = ""
    """The places that the control with fixed positions sees, such as ``word 2``; empty if it was not run."""
    place_bound: float | None = None
    """The highest accuracy on the test items of any encoder that sees only fixed places, among the sets of places that
    were tried; None if unknown, or without mirror pairs."""

    def __post_init__(self) -> None:
        counts = (self.train, self.test, self.validation, self.word_types, self.repeated, self.inflected)
        if min(counts) < 0 or self.repeated + self.inflected > self.test:
            raise ValueError("the numbers of items in the facts about the data do not fit")

    @property
    def overlap(self) -> SplitOverlap:
        """The test items whose sentence also occurs in training."""
        return SplitOverlap(self.test, self.repeated, self.inflected, self.reworded)

    def is_other_draw(self, facts: "DataFacts") -> bool:
        """Return whether two datasets were built in the same way and differ only in the seed.

        Datasets from natural text may differ in size by up to a quarter, because the number of balanced items in a
        corpus depends on the draw. The answer is False if the origin of either dataset is unknown.
        """
        if None in (self.seed, facts.seed) or "" in (self.origin, facts.origin) or self.seed == facts.seed:
            return False
        get_source = attrgetter(
            "vocabulary", "sampling", "source", "origin", "held_out", "train_language", "test_language"
        )
        allowed_ratio = 1.25 if self.sampling.startswith(NATURAL) else 1.0
        sizes = [(self.train, facts.train), (self.validation, facts.validation), (self.test, facts.test)]
        if self.test_language:  # translations of test items are removed from validation: their number is random
            del sizes[1]
        has_same_sizes = all(max(pair) <= allowed_ratio * min(pair) for pair in sizes)
        return has_same_sizes and bool(get_source(self) == get_source(facts))

    def to_json(self) -> dict[str, Any]:
        """Return the facts for JSON, without empty facts about held-out structures, languages and fixed places."""
        language_facts = ("train_language", "test_language", "test_digest", "known_words")
        omitted = (
            *(() if self.held_out else ("held_out",)),
            *(() if self.test_language else language_facts),
            *(() if self.places else ("places", "place_bound")),
        )
        return {name: fact for name, fact in asdict(self).items() if name not in omitted}


def collect_data_facts(data: ProbeDataset, *, origin: str = "") -> DataFacts:
    """Compute the facts about a dataset from its items and its data card."""
    sizes = {split: len(items) for split, items in data.splits.items()}
    overlap = find_overlap(data)
    languages: dict[str, Any] = {}
    if data.card.test_language:
        words = find_training_words(data)
        test = data.splits[Split.TEST]
        pairs = zip(test.rows, test.targets, strict=True)
        lines = (f"{data.labels[label]}\t{data.sentences[row]}\n" for row, label in pairs)
        languages = {
            "train_language": data.card.train_language,
            "test_language": data.card.test_language,
            # surrogatepass: half of a surrogate pair in a sentence is no error.
            "test_digest": sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest(),
            "known_words": sum(not words.isdisjoint(data.sentences[row].split()) for row in test.rows),
        }
    return DataFacts(
        train=sizes[Split.TRAIN],
        test=sizes[Split.TEST],
        validation=sizes.get(Split.VALIDATION, 0),
        word_types=len({token for sentence in data.sentences for token in sentence.split()}),
        vocabulary=data.card.vocabulary,
        sampling=data.card.sampling,
        seed=data.card.seed if data.card.sampling else None,
        source=data.card.source,
        origin=origin,
        held_out=data.held_out,
        repeated=overlap.repeated,
        inflected=overlap.inflected,
        reworded=overlap.reworded,
        by_length=count_by_length(data),
        **languages,
    )
