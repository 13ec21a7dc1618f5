"""Test sentences that also occur in training: verbatim, or with the same lemmas."""

from dataclasses import dataclass
from functools import cache

from sentprobe.lexicon import Lexicon, english
from sentprobe.probes.dataset import ProbeDataset, Split

MAX_OVERLAP = 0.01
"""Share of test items whose sentence may occur in training; in the tasks of compeval at most 0.8% do, inflected."""


@dataclass(frozen=True, slots=True)
class SplitOverlap:
    """Numbers of test items whose sentence occurs in training."""

    items: int
    repeated: int
    """Test items whose sentence occurs in training verbatim."""
    inflected: int
    """Further test items whose sentence has the lemmas of a training sentence, in the same order."""

    def __post_init__(self) -> None:
        if self.items < 1 or min(self.repeated, self.inflected) < 0 or self.repeated + self.inflected > self.items:
            raise ValueError(f"{self.repeated} and {self.inflected} items do not fit into {self.items}")

    @property
    def is_leaky(self) -> bool:
        """Whether training has the sentences of more than 1% of the test items verbatim."""
        return self.repeated > MAX_OVERLAP * self.items

    @property
    def has_near_copies(self) -> bool:
        """Whether training has the sentences of more than 1% of the test items, verbatim or with the same lemmas."""
        return self.repeated + self.inflected > MAX_OVERLAP * self.items

    def format_repeated(self) -> str:
        """Return the share of repeated sentences as text.

        >>> SplitOverlap(1000, 100, 8).format_repeated()
        'the sentences of 10.0% of the test items are training sentences'
        """
        return f"the sentences of {self.repeated / self.items:.1%} of the test items are training sentences"

    def format_inflected(self) -> str:
        """Return the share of inflected sentences as text.

        >>> SplitOverlap(1000, 100, 8).format_inflected()
        '0.8% differ from a training sentence by inflection, case or punctuation only'
        """
        share = f"{self.inflected / self.items:.1%}"
        return f"{share} differ from a training sentence by inflection, case or punctuation only"


def find_overlap(data: ProbeDataset, lexicon: Lexicon | None = None) -> SplitOverlap:
    """Count the test items whose sentence training has; unknown lemmas count by their Snowball stem."""
    lexicon = lexicon or english()
    lemmas = {token: find_lemma(token, lexicon) for sentence in data.sentences for token in sentence.split()}
    lemmatised = [tuple(lemmas[token] for token in sentence.split() if lemmas[token]) for sentence in data.sentences]
    training_rows = {*data.splits[Split.TRAIN].rows.tolist()}
    training_lemmas = {lemmatised[row] for row in training_rows}
    test_rows = data.splits[Split.TEST].rows.tolist()
    repeated = sum(row in training_rows for row in test_rows)
    copied_or_inflected = sum(lemmatised[row] in training_lemmas for row in test_rows)
    return SplitOverlap(len(test_rows), repeated, copied_or_inflected - repeated)


def find_lemma(token: str, lexicon: Lexicon) -> str:
    """Return a lemma of a token, or the stem of a word that the lexicon lacks; empty for punctuation."""
    word = token.lower()
    if not any(map(str.isalnum, word)):
        return ""
    readings = lexicon.find(word)
    return readings[0][0].lemma if readings else FUNCTION_STEMS.get(word) or _stem(word)


FUNCTION_STEMS = {word: word for word in ("are", "by", "did", "do", "is", "not", "was", "were")} | {
    "being": "be",
    "does": "doe",
}
"""Snowball stems of the function words of compeval, whose tasks then need no NLTK: its import takes two seconds."""


@cache
def _stem(word: str) -> str:
    from nltk.stem.snowball import EnglishStemmer

    return str(EnglishStemmer().stem(word))
