"""The texts that encoders learn from, as values: sentences in tokens with a space between any two.

What a reader left out, and why, is kept with what it read.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import counted
from sentprobe.generator.nli import NliLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class Omissions:
    """How many texts, or pairs and trees, a reader left out.

    >>> str(Omissions(empty=1, long=20))
    '21 were left out: 1 without a token, 20 too long'
    """

    empty: int = 0
    """One of their texts has no token."""
    long: int = 0
    """One of their texts has more tokens than are allowed."""
    unlabelled: int = 0
    """Their annotators did not agree on a label."""
    untranslated: int = 0
    """One of the languages is missing, or the translation is marked as unsure."""
    unparsed: int = 0
    """They have no tree."""

    @property
    def total(self) -> int:
        """How many there are of all kinds."""
        return sum(getattr(self, each.name) for each in fields(self))

    def __str__(self) -> str:
        total = self.total
        kinds = [
            f"{number} {words}"
            for name, words in _REASONS.items()
            if (number := getattr(self, name))
        ]
        were = "was" if total == 1 else "were"
        return f"{total} {were} left out: {', '.join(kinds)}" if kinds else "none was left out"


_REASONS = {
    "empty": "without a token",
    "long": "too long",
    "unlabelled": "without a label",
    "untranslated": "not translated",
    "unparsed": "without a tree",
}


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences in reading order, of one or more documents.

    Where a sentence was left out a new document begins: neighbours were neighbours in the text.

    >>> text = Sentences(("a dog", "it ran", "a cat"), documents=(0, 2))
    >>> [text.texts[start:end] for start, end in text.spans()]
    [('a dog', 'it ran'), ('a cat',)]
    """

    texts: tuple[str, ...]
    documents: tuple[int, ...]
    """Where each document begins; none is empty."""
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.texts)

    def __str__(self) -> str:
        what = counted(len(self), "sentence")
        return f"{what} in {counted(len(self.documents), 'document')}"

    def spans(self) -> list[tuple[int, int]]:
        """Return where each document begins and ends."""
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
        return counted(len(self), "pair")


@dataclass(frozen=True, slots=True, eq=False)
class NliPairs:
    """Premises, hypotheses, and what the one says of the other."""

    premises: tuple[str, ...]
    hypotheses: tuple[str, ...]
    labels: NDArray[np.int64]
    """(pairs,), the numbers of :class:`~sentprobe.generator.nli.NliLabel`."""
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.premises)

    def __str__(self) -> str:
        numbers = np.bincount(self.labels, minlength=len(NliLabel))
        each = ", ".join(f"{numbers[label]} {label.name.lower()}" for label in NliLabel)
        return f"{counted(len(self), 'pair')} ({each})"


@dataclass(frozen=True, slots=True)
class Triplets:
    """Anchors, each with a sentence that is near to it and one that is not."""

    anchors: tuple[str, ...]
    positives: tuple[str, ...]
    negatives: tuple[str, ...]
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.anchors)

    def __str__(self) -> str:
        return counted(len(self), "triplet")


@dataclass(frozen=True, slots=True)
class Trees:
    """Sentences, and their constituents in a line of symbols: see :mod:`.linear`."""

    sentences: tuple[str, ...]
    trees: tuple[str, ...]
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.sentences)

    def __str__(self) -> str:
        return counted(len(self), "tree")
