"""The sentences that geometry measures: those of the triplets of one contrast, and variants."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator import triplets as tr
from sentprobe.generator.constraints import Choices, Constraints, choose_words
from sentprobe.generator.drafts import MAIN
from sentprobe.generator.event import Event
from sentprobe.generator.layout import Layout, event_of
from sentprobe.generator.plan import plan_sentence
from sentprobe.generator.split import SplitSide, parse_side
from sentprobe.generator.triplet_files import place_name
from sentprobe.generator.variants import variants_of
from sentprobe.lexicon import Lexicon
from sentprobe.probes.encoders import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """How triplets are drawn: from which words and templates, how many, by which seed.

    Of the sentences of a dataset, *vocabulary* is that of its card, *templates* the suite that it
    was built for, or none if it was read, and *seed* that of the suite and of encoders.
    """

    vocabulary: str = "compeval"
    templates: tuple[str, ...] = ("all",)
    n: int = 400
    variants: int = 5
    seed: int = 0
    words: str = ""
    """A digest of the words; empty where they are not known."""
    held_out: tuple[str, ...] = ()
    """The share of the words and the structures that are held out of training data: only these are
    drawn from. Empty: all are."""

    @property
    def side(self) -> SplitSide | None:
        """The side of the split that is drawn from, None: both."""
        return parse_side(self.held_out, held_out=True)


GroupNames: TypeAlias = dict[str, list[str]]
"""By what triplets are grouped: for each of them, the name of its group."""


class TripletMaterial:
    """Triplets, with all that is measured of them besides vectors.

    The columns are the four sides, then the variants: row i of each belongs to triplet i. *units*
    has a number for each triplet, *dataset* the fingerprint of what the anchors were taken from,
    *items* the test items whose sentences they are: those of all triplets, then of all mirrors.
    """

    def __init__(
        self,
        contrast: str,
        drawing: Drawing,
        *,
        columns: Sequence[Sequence[str]],
        units: NDArray[np.int64],
        groups: GroupNames,
        dataset: str = "",
        items: Sequence[int] = (),
    ) -> None:
        self.contrast = contrast
        self.drawing = drawing
        self.columns = columns
        self.units = units
        self.groups = groups
        self.dataset = dataset
        self.items = items

    @cached_property
    def sentences(self) -> list[str]:
        """Each different sentence once."""
        return list(dict.fromkeys(text for column in self.columns for text in column))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Where each is among the sentences, (columns, triplets) int64."""
        places = {text: place for place, text in enumerate(self.sentences)}
        return np.array([[places[text] for text in column] for column in self.columns])

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all sentences."""
        of = [self.dataset] if self.dataset else []
        return digest(self.contrast, *self.sentences, self.rows.tolist(), *of)


class GeometryMaterial(TripletMaterial):
    """Triplets of a contrast that are drawn."""

    def __init__(self, space: tr.TripletSpace, drawing: Drawing) -> None:
        drawn = space.sample(drawing.n, seed=drawing.seed)
        super().__init__(
            space.contrast.name,
            drawing,
            columns=[*map(drawn.texts, tr.SIDES), *variants_of(drawn, drawing.variants)],
            units=drawn.units(),
            groups=_groups(drawn),
        )


def word_digest(lexicon: Lexicon, vocabulary: str) -> str:
    """Return a digest of the words of a vocabulary: what was drawn of them is told from others."""
    words = choose_words(lexicon, vocabulary, Choices(), Constraints())
    return digest(*words.nouns, "", *words.verbs, "", *words.adverbs)


BACKGROUND = 2000
"""How many sentences whitening is learned from."""


def background(lexicon: Lexicon, drawing: Drawing) -> list[str]:
    """Return sentences of all structures that triplets are of, in all their forms.

    They do not depend on the contrasts that are measured, so that a result does not.
    """
    space = tr.TripletSpace(
        lexicon,
        "tense",
        vocabulary=drawing.vocabulary,
        templates=drawing.templates,
        side=drawing.side,
    )
    drawn = space.sample(min(BACKGROUND // 2, space.count()), seed=drawing.seed)
    sides = (tr.TripletSide.ANCHOR, tr.TripletSide.POSITIVE)
    return list(dict.fromkeys(text for side in sides for text in drawn.texts(side)))


def _groups(drawn: tr.TripletSet) -> GroupNames:
    strata = drawn.strata()
    distances = np.empty(len(drawn), dtype=np.int64)
    for part in drawn.parts:
        distances[part.places] = _distances(part)
    return {
        "structure": [each.pattern.name for each in strata],
        "place": [place_name(each.place) for each in strata],
        "distance": [binned(each) for each in distances.tolist()],
    }


_STRUCTURAL = ("voice", "aspect", "negation")


def _distances(part: tr.TripletPart) -> NDArray[np.int64]:
    """Return the distance of each anchor; it follows from voice, aspect and negation."""
    kept = {
        name: np.minimum(column, int(name.rpartition(".")[2] in _STRUCTURAL))
        for name, column in part.anchors.values.items()
    }
    _, first, which = np.unique(
        np.stack([*kept.values()], axis=1), axis=0, return_index=True, return_inverse=True
    )
    layout, names = part.anchors.layout(), [*kept]
    columns = [kept[name][first].tolist() for name in names]
    found = np.array(
        [
            _distance(layout, tuple(zip(names, row, strict=True)), part.stratum.place)
            for row in zip(*columns, strict=True)
        ]
    )
    return found[which.reshape(-1)]


@lru_cache(maxsize=8192)  # the contrasts have the same structures
def _distance(layout: Layout, values: tuple[tuple[str, int], ...], place: str) -> int:
    """Return the distance in the clause that is changed."""
    numbers = dict(values)
    event = event_of({v.name: v.values[numbers[v.name]] for v in layout.variables}, layout)
    return distance_in(event, place)


def distance_in(event: Event, place: str) -> int:
    """Return how far the farther participant of the clause at a place is from its verb.

    A place is a clause, or the noun of one.
    """
    slots = {token.slot: at for at, token in enumerate(plan_sentence(event).tokens) if token.slot}
    clause = place if f"{place}verb" in slots else _clause_of(place)
    nouns = [f"{clause}{role}.noun" for role in ("agent", "patient")]
    if clause != MAIN:
        nouns.append(f"{clause.removesuffix('clause.')}noun")
    return max(abs(slots[noun] - slots[f"{clause}verb"]) for noun in nouns if noun in slots)


def _clause_of(noun: str) -> str:
    """Return the path of the clause that the noun at a path stands in.

    >>> _clause_of("agent."), _clause_of("agent.clause.patient.")
    ('', 'agent.clause.')
    """
    return noun.removesuffix(".").rpartition(".")[0] + "." if noun.count(".") > 1 else MAIN


_BINS: Sequence[tuple[int, str]] = ((3, "1 to 3 tokens"), (6, "4 to 6 tokens"))


def binned(distance: int) -> str:
    """Return the name of the group that a distance is in."""
    return next((name for most, name in _BINS if distance <= most), "7 tokens or more")
