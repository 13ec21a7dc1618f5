"""The training texts of encoders, as tokens separated by spaces, and counts of texts that were left out."""

import io
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import format_count
from sentprobe.generator.bulk.sentence_files import write_sentences
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.pairs.inference_pairs import NliLabel
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english
from sentprobe.lexicon.read import choose_vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Omissions:
    """The number of texts, pairs or trees that were left out for each reason.

    >>> str(Omissions(empty=1, long=20))
    '21 were left out: 1 without a token, 20 too long'
    """

    empty: int = 0
    long: int = 0
    unlabelled: int = 0
    untranslated: int = 0
    unparsed: int = 0

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return sum(getattr(self, field.name) for field in fields(self))

    def __str__(self) -> str:
        counts = [f"{count} {words}" for name, words in _REASON_PHRASES.items() if (count := getattr(self, name))]
        verb = "was" if self.total == 1 else "were"
        return f"{self.total} {verb} left out: {', '.join(counts)}" if counts else "none was left out"


_REASON_PHRASES = {
    "empty": "without a token",
    "long": "too long",
    "unlabelled": "without a label",
    "untranslated": "not translated",
    "unparsed": "without a tree",
}


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences in reading order, from one or more documents.

    A document also ends where a sentence is left out. Thus, neighbours in a document are neighbours in the source.

    >>> text = Sentences(("a dog", "it ran", "a cat"), documents=(0, 2))
    >>> [text.texts[start:end] for start, end in text.list_spans()]
    [('a dog', 'it ran'), ('a cat',)]
    """

    texts: tuple[str, ...]
    documents: tuple[int, ...]
    """The index of each document's first sentence; no document is empty."""
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.texts)

    def __str__(self) -> str:
        return f"{format_count(len(self), 'sentence')} in {format_count(len(self.documents), 'document')}"

    def list_spans(self) -> list[tuple[int, int]]:
        """Return, for each document, the index of its first sentence and the index after its last."""
        return [*zip(self.documents, (*self.documents[1:], len(self)), strict=True)]


@dataclass(frozen=True, slots=True)
class SentencePairs:
    """Sentences and their translations."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.sources)

    def __str__(self) -> str:
        return format_count(len(self), "pair")


@dataclass(frozen=True, slots=True, eq=False)
class NliPairs:
    """Pairs of a premise and a hypothesis for natural language inference, with their labels."""

    premises: tuple[str, ...]
    hypotheses: tuple[str, ...]
    labels: NDArray[np.int64]
    """The number of each pair's :class:`~sentprobe.generator.pairs.inference_pairs.NliLabel`, (pairs,)."""
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.premises)

    def __str__(self) -> str:
        numbers = np.bincount(self.labels, minlength=len(NliLabel))
        label_counts = ", ".join(f"{numbers[label]} {label.name.lower()}" for label in NliLabel)
        return f"{format_count(len(self), 'pair')} ({label_counts})"


@dataclass(frozen=True, slots=True)
class Triplets:
    """Triplets of an anchor, a positive (a sentence of the same meaning) and a negative."""

    anchors: tuple[str, ...]
    positives: tuple[str, ...]
    negatives: tuple[str, ...]
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.anchors)

    def __str__(self) -> str:
        return format_count(len(self), "triplet")


@dataclass(frozen=True, slots=True)
class Trees:
    """Sentences and, for each sentence, its tree as one line of symbols (:func:`.constituents.linearise`)."""

    sentences: tuple[str, ...]
    trees: tuple[str, ...]
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.sentences)

    def __str__(self) -> str:
        return format_count(len(self), "tree")


@dataclass(frozen=True, slots=True)
class Meanings:
    """Sentences, and for each sentence the notation of its event, with spaces added by :func:`split_notation`."""

    sentences: tuple[str, ...]
    events: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.sentences)

    def __str__(self) -> str:
        return f"{format_count(len(self), 'sentence')} with {'its event' if len(self) == 1 else 'their events'}"


def sample_meanings(count: int, *, seed: int) -> Meanings:
    """Draw *count* different events of all templates at random; return their sentences and notations.

    >>> drawn = sample_meanings(1, seed=3)
    >>> print(drawn.sentences[0])
    the librarians are not being defeated by the ministers that are not exonerating the cashiers
    >>> print(drawn.events[0])  # doctest: +ELLIPSIS
    defeat [passive, pres, prog, not, adv()] (agent: the minister [pl] that exonerate [activ...
    """
    lexicon = english()
    space = Space(lexicon, vocabulary=choose_vocabulary(lexicon))
    places = space.sample(count, seed=seed)
    text_file = io.StringIO()
    write_sentences(space, places, text_file, "text")
    events = (split_notation(write_event(event)) for event in space.events(places))
    return Meanings(tuple(text_file.getvalue().splitlines()), tuple(events))


def split_notation(notation: str) -> str:
    """Insert spaces before the brackets of an event's notation, so that lemmas and features are separate words.

    >>> split_notation("help[past, neg](agent: the professor[pl])")
    'help [past, neg] (agent: the professor [pl])'
    """
    for bracket in ("[", "(agent:", "(patient:"):
        notation = notation.replace(bracket, f" {bracket}")
    return notation
