"""The split of words and structures between training data and what is tested on.

A word, or a structure, is held out or not by itself, whatever vocabulary, lexicon or task it is in:
so nothing need be passed from the maker of training data to that of a test but the same split.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from sentprobe.errors import UsageError
from sentprobe.generator.event import Frame
from sentprobe.generator.templates import Pattern, find_patterns, template_names
from sentprobe.lexicon import Kind, Lexicon

DIVIDED = (Kind.NOUN, Kind.TRANSITIVE, Kind.INTRANSITIVE)
"""The kinds of words that are on one side; others are on both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSide:
    """One side of a split: what is held out, or the rest.

    *share* of the words is held out, None: words are not divided. *structures* are those that are
    held out, none: structures are not divided.

    Raises:
        UsageError: no share; no such structure, or one that has forms outside of those held out.

    >>> rest = SplitSide(share=0.3, held_out=False)
    >>> rest.has_word("professor"), rest.has_word("lawyer"), str(rest)
    (False, True, '--hold-out 0.3')
    """

    share: float | None = None
    structures: tuple[str, ...] = ()
    held_out: bool

    def __post_init__(self) -> None:
        if self.share is not None and not 0 < self.share < 1:
            raise UsageError(
                f"{self.option} {self.share:g}: the share of the words that is held out is "
                "between 0 and 1"
            )
        families = {_family(each) for each in find_patterns(self.structures)}
        for pattern in find_patterns(template_names()):
            if _family(pattern) in families and not self._names(pattern):
                raise UsageError(
                    f"{self}: other forms, or negatives, of the same sentences have the structure "
                    f"{pattern.name}; hold all of {pattern.name.partition('.')[0]} out"
                )

    @property
    def option(self) -> str:
        """The option that asks for this side."""
        return "--held-out" if self.held_out else "--hold-out"

    def __str__(self) -> str:
        """Return it as it is written on the command line."""
        return " ".join(f"{self.option} {value}" for value in self.values)

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the option; the inverse of :func:`parse_side`."""
        share = () if self.share is None else (str(self.share),)
        return share + self.structures

    def has_word(self, lemma: str) -> bool:
        """Say whether a noun or verb is on this side."""
        return self.share is None or (_rank(lemma) < self.share) is self.held_out

    def has_structure(self, pattern: Pattern) -> bool:
        """Say whether a structure is on this side."""
        return not self.structures or self._names(pattern) is self.held_out

    def _names(self, pattern: Pattern) -> bool:
        return pattern in find_patterns(self.structures)

    def templates(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the sub-templates of templates that are on this side."""
        found = filter(self.has_structure, find_patterns(names))
        return tuple(dict.fromkeys(each.name for each in found))

    def lexicon(self, lexicon: Lexicon, vocabulary: str) -> Lexicon:
        """Return the lexicon, with only the words of this side in a vocabulary.

        Raises:
            UsageError: of the nouns, or of the verbs of a kind, none is.
        """
        return _on_side(self, lexicon, vocabulary) if self.share is not None else lexicon


@lru_cache(maxsize=16)  # texts are written by what is kept for a lexicon, which equals itself only
def _on_side(side: SplitSide, lexicon: Lexicon, vocabulary: str) -> Lexicon:
    words = lexicon.vocabulary(vocabulary).words
    kept = {kind: [*filter(side.has_word, words[kind])] for kind in DIVIDED if words[kind]}
    for kind, lemmas in kept.items():
        if not lemmas:
            name = kind.value if kind is Kind.NOUN else f"{kind.value} verb"
            raise UsageError(
                f"{side}: that leaves vocabulary {vocabulary!r} no {name}; choose another share, "
                "or a larger vocabulary"
            )
    return lexicon.with_words(vocabulary, kept)


def _rank(lemma: str) -> float:
    """Return where a word stands from 0 to 1: by chance, but always the same."""
    return int.from_bytes(sha256(lemma.encode()).digest()[:6], "big") / 2**48


def _family(pattern: Pattern) -> tuple[Frame, tuple[Frame, ...]]:
    """Return what all forms of a sentence have in common, and the negatives of all contrasts.

    A voice or a role that is exchanged makes another kind of relative clause, or it is on the other
    noun.
    """
    return pattern.frame, tuple(sorted(clause.frame for _, clause in pattern.clauses))


def parse_side(values: Sequence[str], *, held_out: bool) -> SplitSide | None:
    """Return the side that the values of an option name: a share of the words, and structures.

    None if there are no values: everything is on it.

    Raises:
        UsageError: two shares, or one that is none; see also :class:`SplitSide`.

    >>> parse_side(["0.3", "transitive"], held_out=True)
    SplitSide(share=0.3, structures=('transitive',), held_out=True)
    """
    if not values:
        return None
    shares = {value: number for value in values if (number := _number(value)) is not None}
    structures = tuple(dict.fromkeys(value for value in values if value not in shares))
    if len(shares) > 1:
        option = SplitSide(held_out=held_out).option
        raise UsageError(f"{option}: one share of the words, not {' and '.join(shares)}")
    return SplitSide(
        share=next(iter(shares.values()), None), structures=structures, held_out=held_out
    )


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
