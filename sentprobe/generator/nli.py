"""Pairs of sentences of which one follows from the other, contradicts it, or neither.

They come in groups of eight, of the same words: four premises, each with two hypotheses. Half of
the pairs of each premise, of each hypothesis, and of each two bags of words are neutral. So what is
computed from any of these alone is right on half of a group at most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import ClassVar

from sentprobe.errors import UsageError
from sentprobe.generator import drafts
from sentprobe.generator import triplets as tr
from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.generator.split import SplitSide
from sentprobe.generator.templates import Pattern
from sentprobe.lexicon import Lexicon


class NliLabel(IntEnum):
    """What a premise says of a hypothesis, numbered as in SNLI."""

    ENTAILMENT = 0
    NEUTRAL = 1
    CONTRADICTION = 2


_SAME, _OPEN, _NOT = NliLabel
_HYPOTHESES = (tr.TripletSide.ANCHOR, tr.TripletSide.HARD)
_PREMISES = (tr.TripletSide.POSITIVE, tr.TripletSide.NEGATIVE)
_LABELS = ((_SAME, _OPEN), (_OPEN, _SAME), (_NOT, _OPEN), (_OPEN, _NOT))
"""By premise, the last two of which are negated or no longer, and by hypothesis."""

GROUP = len(_LABELS) * len(_HYPOTHESES)
"""So many pairs are of the same words."""

NEUTRAL_CONTRASTS = ("role", "negation")
"""The contrasts whose negative is of the same words, and neutral in both polarities.

``modifier`` is not: "the man that slept helped the lawyer" presupposes one lawyer, so that "the man
did not help the lawyer that slept" contradicts it.
"""


@dataclass(frozen=True, slots=True)
class NliColumns:
    """Pairs as columns, the eight of each group together."""

    premise: list[str]
    hypothesis: list[str]
    label: list[int]


class NliSpace(tr.TripletSpace):
    """The groups of pairs of a contrast over a vocabulary.

    A triplet and the one whose anchor is the other's hard negative give the same group.

    Raises:
        UsageError: the contrast has no such pairs; see also :class:`~.TripletSpace`.

    >>> from sentprobe.lexicon import english
    >>> found = NliSpace(english(), "role", templates=["transitive"]).pairs(1, seed=1)
    >>> found.premise[4], found.hypothesis[4]
    ('the doctor is calling the lawyer', 'the lawyer is not being called by the doctor')
    >>> NliLabel(found.label[4]).name
    'CONTRADICTION'
    """

    WHAT: ClassVar[str] = f"groups of {GROUP} pairs"
    SENTENCES: ClassVar[int] = len(_HYPOTHESES) + len(_LABELS)

    def __init__(
        self,
        lexicon: Lexicon,
        contrast: str,
        *,
        vocabulary: str = "compeval",
        templates: Sequence[str] = ("all",),
        side: SplitSide | None = None,
    ) -> None:
        if contrast in CONTRASTS and contrast not in NEUTRAL_CONTRASTS:
            raise UsageError(
                f"the contrast {contrast!r} has no pairs for --nli, but "
                f"{' and '.join(NEUTRAL_CONTRASTS)} have: another's negatives are not neutral in "
                "every structure, or known by their words"
            )
        super().__init__(lexicon, contrast, vocabulary=vocabulary, templates=templates, side=side)

    def count(self) -> int:
        """Return how many groups there are, exactly."""
        return super().count() // 2

    def pairs(self, count: int, *, seed: int) -> NliColumns:
        """Return the pairs of *count* different groups, those of each together.

        Raises:
            UsageError: *count* is not positive, larger than the space, or too large.
        """
        self.check(count)
        groups: list[tuple[str, ...]] = []
        wanted = count
        while len(groups) < count:
            triplets = self.drawn(min(wanted, super().count()), seed=seed)
            groups = _different([*zip(*_sentences(triplets), strict=True)])
            wanted *= 2
        return _crossed(groups[:count])

    def _strata_in(self, pattern: Pattern) -> Iterator[tr.Stratum]:
        """Yield those at one place for each form of the positive.

        At another place, the same anchors would have the same entailments and contradictions.
        """
        places = [*self.contrast.places(pattern)]
        for stratum in super()._strata_in(pattern):
            if stratum.place == places[len(stratum.voices) % len(places)]:
                yield stratum


def _sentences(triplets: tr.TripletSet) -> list[list[str]]:
    """Return the hypotheses and then the premises of each triplet, a list for each of the six."""
    sides = (partial(triplets.draft, side=side) for side in (*_HYPOTHESES, *_PREMISES))
    toggled = (partial(_toggled, triplets, side) for side in _PREMISES)
    return tr.TripletRows(triplets, [*sides, *toggled]).texts()


def _toggled(
    triplets: tr.TripletSet, side: tr.TripletSide, part: tr.TripletPart
) -> drafts.EventDraft:
    """Return a side with its main clause negated, or no longer."""
    return drafts.toggle_negation(triplets.draft(part, side=side), drafts.MAIN)


def _different(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return one row of each group: its hypotheses may be in either order."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in rows:
        anchor, hard, positive, negative, *_ = row
        found.setdefault(min((anchor, positive), (hard, negative)), row)
    return [*found.values()]


def _crossed(groups: Sequence[tuple[str, ...]]) -> NliColumns:
    """Return each premise with each hypothesis."""
    pairs = NliColumns([], [], [])
    for anchor, hard, *premises in groups:
        for premise, labels in zip(premises, _LABELS, strict=True):
            pairs.premise.extend((premise, premise))
            pairs.hypothesis.extend((anchor, hard))
            pairs.label.extend(labels)
    return pairs
