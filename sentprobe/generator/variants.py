"""Variants of an event: its nearest neighbours, each of which differs from it in one property."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from sentprobe.errors import UsageError
from sentprobe.generator.contrasts import CONTRASTS, Contrast
from sentprobe.generator.drafts import EventDraft, NoOtherWordError
from sentprobe.generator.triplets import TripletPart, TripletRows, TripletSet, TripletSide

MOST = 8
"""So many variants every event has."""

_LEFT_OUT = frozenset({"negation", "adverb"})
"""Contrasts that not every event of a structure has."""


def variants_of(triplets: TripletSet, count: int) -> list[list[str]]:
    """Return *count* columns of variants in the positive's form; the first is the negative.

    The others are drawn from all that the structure has.

    Raises:
        UsageError: not every event has so many.
    """
    check_variants(count)
    if not count:
        return []
    known: dict[tuple[str, str, str], bool] = {}
    edits = {id(part): _edits(triplets, part, count, known) for part in triplets.parts}
    columns = [partial(_variant, triplets, edits, number) for number in range(count)]
    return TripletRows(triplets, columns).texts()


def check_variants(count: int) -> None:
    """Refuse a number of variants that not every event has.

    Raises:
        UsageError: it is one.
    """
    if not 0 <= count <= MOST:
        raise UsageError(f"an event has from 0 to {MOST} variants, not {count}")


_Change = Callable[[EventDraft], EventDraft]


def _variant(
    triplets: TripletSet, edits: dict[int, list[_Change]], number: int, part: TripletPart
) -> EventDraft:
    return edits[id(part)][number](triplets.draft(part, side=TripletSide.POSITIVE))


def _edits(
    triplets: TripletSet, part: TripletPart, count: int, known: dict[tuple[str, str, str], bool]
) -> list[_Change]:
    """Return that of the negative, and others, drawn by the seed.

    In *known* is kept which contrasts can be had at which place of a pattern.
    """
    stratum, own = part.stratum, triplets.space.contrast
    others = [
        (row, place)
        for row in _rows(triplets)
        for place in row.places(stratum.pattern)
        if (row, place) != (own, stratum.place) and _possible(row, place, part, known)
    ]
    if len(others) < count - 1:
        raise UsageError(f"{stratum.pattern.name}: an event has only {len(others) + 1} variants")
    key = (triplets.seed, stratum.pattern.name, stratum.place, stratum.voices)
    chosen = [(own, stratum.place), *Random(repr(key)).sample(others, count - 1)]
    return [partial(_edited, row, place) for row, place in chosen]


def _edited(row: Contrast, place: str, draft: EventDraft) -> EventDraft:
    return row.edit(draft, place)


def _possible(
    row: Contrast, place: str, part: TripletPart, known: dict[tuple[str, str, str], bool]
) -> bool:
    """Say whether the vocabulary has the words for an edit."""
    key = (row.name, place, part.stratum.pattern.name)
    if row.replaces and key not in known:
        try:
            row.edit(part.anchors, place)
        except NoOtherWordError:
            known[key] = False
    return known.setdefault(key, True)


def _rows(triplets: TripletSet) -> Iterator[Contrast]:
    """Yield the contrasts that every event has; a state has no other aspect."""
    states = bool(triplets.space.barred)
    for name, row in CONTRASTS.items():
        if name not in _LEFT_OUT and not (name == "aspect" and states):
            yield row
