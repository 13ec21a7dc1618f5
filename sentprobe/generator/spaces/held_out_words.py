"""The split of words and structures between training and test data; a hash decides whether a word is held out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from sentprobe.disk.reading import parse_number
from sentprobe.errors import UsageError
from sentprobe.generator.events.event import Frame
from sentprobe.generator.spaces.templates import Pattern, find_patterns, list_all_patterns
from sentprobe.lexicon import Kind, Lexicon

DIVIDED_KINDS = (Kind.NOUN, Kind.TRANSITIVE, Kind.INTRANSITIVE, Kind.DITRANSITIVE, Kind.DATIVE)
"""The kinds of words that are split; words of other kinds are on both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSide:
    """One side of a split. The test side has the held-out words and structures, the training side has the others.

    ``share`` is the share of held-out words; if None, both sides have all words. ``structures`` are held out. Raises
    UsageError if ``share`` is not between 0 and 1. It is also raised if a sentence with a held-out structure can have
    a paraphrase or negative whose structure is not held out.

    >>> training = SplitSide(share=0.3, held_out=False)
    >>> training.has_word("professor"), training.has_word("lawyer"), str(training)
    (False, True, '--hold-out 0.3')
    """

    share: float | None = None
    structures: tuple[str, ...] = ()
    held_out: bool

    def __post_init__(self) -> None:
        if self.share is not None and not 0 < self.share < 1:
            raise UsageError(
                f"{self.option} {self.share:g}: the share of the words that is held out is between 0 and 1"
            )
        families = {_find_family(pattern) for pattern in find_patterns(self.structures)}
        for pattern in list_all_patterns():
            if _find_family(pattern) in families and not self._is_listed(pattern):
                raise UsageError(
                    f"{self}: other forms, or negatives, of the same sentences have the structure "
                    f"{pattern.name}; hold all of {pattern.name.partition('.')[0]} out"
                )

    @property
    def option(self) -> str:
        """The command-line option for this side: ``--held-out`` for test, ``--hold-out`` for training."""
        return "--held-out" if self.held_out else "--hold-out"

    def __str__(self) -> str:
        """Return the options of ``gen pairs`` that select this side."""
        return " ".join(f"{self.option} {value}" for value in self.values)

    @property
    def values(self) -> tuple[str, ...]:
        """The values of this side's command-line option: first ``share`` (left out if None), then ``structures``."""
        share = () if self.share is None else (str(self.share),)
        return share + self.structures

    def has_word(self, lemma: str) -> bool:
        """Say whether a noun or a verb is on this side."""
        if self.share is None:
            return True
        rank = int.from_bytes(sha256(lemma.encode()).digest()[:6], "big") / 2**48  # from 0 to 1
        return (rank < self.share) is self.held_out

    def has_structure(self, pattern: Pattern) -> bool:
        """Say whether the structure *pattern* is on this side of the split between training and test."""
        return not self.structures or self._is_listed(pattern) is self.held_out

    def _is_listed(self, pattern: Pattern) -> bool:
        return pattern in find_patterns(self.structures)

    def select_templates(self, names: Iterable[str]) -> tuple[str, ...]:
        """Expand the templates *names* into structures; return the names of those structures that are on this side."""
        return tuple(dict.fromkeys(pattern.name for pattern in find_patterns(names) if self.has_structure(pattern)))

    def restrict_lexicon(self, lexicon: Lexicon, vocabulary: str) -> Lexicon:
        """Return a lexicon whose vocabulary has only the words of this side. Raises UsageError if no word is left."""
        return _restrict_lexicon(self, lexicon, vocabulary) if self.share is not None else lexicon


@lru_cache(maxsize=16)  # renderers are cached by lexicon, which is compared by identity
def _restrict_lexicon(side: SplitSide, lexicon: Lexicon, vocabulary: str) -> Lexicon:
    words = lexicon.vocabulary(vocabulary).words
    words_by_kind = {kind: [*filter(side.has_word, words[kind])] for kind in DIVIDED_KINDS if words.get(kind)}
    for kind, lemmas in words_by_kind.items():
        if not lemmas:
            name = kind.value if kind is Kind.NOUN else f"{kind.value} verb"
            raise UsageError(
                f"{side}: that leaves vocabulary {vocabulary!r} no {name}; choose another share, or a larger vocabulary"
            )
    return lexicon.replace_words(vocabulary, words_by_kind)


def _find_family(pattern: Pattern) -> tuple[Frame, tuple[Frame, ...]]:
    """Return the frames of main and relative clauses. They are the same in a sentence's paraphrases and negatives."""
    return pattern.frame, tuple(sorted(clause.frame for _, clause in pattern.clauses))


def parse_side(values: Sequence[str], *, held_out: bool) -> SplitSide | None:
    """Return the split side that *values* select (a share, structures, or both); None if empty. Raises UsageError.

    >>> parse_side(["0.3", "transitive"], held_out=True)
    SplitSide(share=0.3, structures=('transitive',), held_out=True)
    """
    if not values:
        return None
    shares = {value: number for value in values if (number := _parse_number(value)) is not None}
    structures = tuple(dict.fromkeys(value for value in values if value not in shares))
    if len(shares) > 1:
        option = SplitSide(held_out=held_out).option
        raise UsageError(f"{option}: one share of the words, not {' and '.join(shares)}")
    return SplitSide(share=next(iter(shares.values()), None), structures=structures, held_out=held_out)


def _parse_number(value: str) -> float | None:
    try:
        return parse_number(value)
    except ValueError:
        return None
