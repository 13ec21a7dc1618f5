"""Distractors: sentences that differ from the anchor of a triplet in exactly one property."""

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import TypeAlias

from sentprobe.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.pairs.contrasts import CONTRASTS, Contrast
from sentprobe.generator.pairs.drafts import EventDraft
from sentprobe.generator.pairs.replacements import find_irreplaceable_words
from sentprobe.generator.pairs.triplets import TripletPart, TripletRows, TripletSet, TripletSide
from sentprobe.generator.spaces.rules import find_verbs_without_progressive
from sentprobe.lexicon import Kind
from sentprobe.lexicon.sorts import restrict_to_one_sort

MAX_DISTRACTORS = 8
"""Maximum number of distractors of a triplet."""

_USUAL_CONTRASTS = ("role", "modifier", "polarity", "tense", "aspect", "number", "noun", "verb")
"""Names of contrasts that are possible for most events."""


def render_distractors(triplets: TripletSet, count: int) -> list[list[str]]:
    """Return *count* lists, each with one distractor for every triplet, in the voice and word order of the positive.

    The first list holds the negatives. The other lists hold sentences with a different change, chosen at random.

    Raises:
        UsageError: a triplet has fewer than *count* distractors.
    """
    check_distractors(count)
    if not count:
        return []
    possible_edits: dict[tuple[str, str, str], bool] = {}
    edits = {id(part): _choose_edits(triplets, part, count, possible_edits) for part in triplets.parts}
    columns = [partial(_draft_distractor, triplets, edits, number) for number in range(count)]
    return TripletRows(triplets, columns).render_texts()


def check_distractors(count: int) -> None:
    """Raise UsageError if *count* is negative or above MAX_DISTRACTORS."""
    if not 0 <= count <= MAX_DISTRACTORS:
        raise UsageError(f"a triplet has from 0 to {MAX_DISTRACTORS} distractors, not {count}")


_Edit: TypeAlias = tuple[Contrast, str]
"""A contrast, and the path of the clause or noun that is changed."""


def _draft_distractor(
    triplets: TripletSet, edits: dict[int, list[_Edit]], number: int, part: TripletPart
) -> EventDraft:
    contrast, place = edits[id(part)][number]
    return contrast.edit(triplets.build_draft(part, side=TripletSide.POSITIVE), place)


def _choose_edits(
    triplets: TripletSet, part: TripletPart, count: int, possible_edits: dict[tuple[str, str, str], bool]
) -> list[_Edit]:
    """Return *count* edits that turn a positive into distractors. The first makes the negative; the others are random.

    The choice depends on the seed of *triplets*. *possible_edits* is a cache of which edits are possible.
    """
    stratum, own_contrast = part.stratum, triplets.space.contrast
    other_edits = [
        (contrast, place)
        for contrast in _find_applicable_contrasts(triplets)
        for place in contrast.find_places(stratum.pattern)
        if (contrast, place) != (own_contrast, stratum.place) and _is_possible(contrast, place, part, possible_edits)
    ]
    if len(other_edits) < count - 1:
        raise UsageError(f"{stratum.pattern.name}: a triplet has only {len(other_edits) + 1} distractors")
    key = (triplets.seed, stratum.pattern.name, stratum.place, stratum.voices)
    return [(own_contrast, stratum.place), *Random(repr(key)).sample(other_edits, count - 1)]


def _is_possible(
    contrast: Contrast, place: str, part: TripletPart, possible_edits: dict[tuple[str, str, str], bool]
) -> bool:
    if contrast.name == "tense" and f"{place}tense" not in part.anchors.values:
        return False  # a modal has no tense
    slot, key = contrast.replaced_slot, (contrast.name, place, part.stratum.pattern.name)
    if key not in possible_edits:
        draft = part.anchors
        possible_edits[key] = not slot or not find_irreplaceable_words(
            draft.replacements, draft.build_layout(), f"{place}{slot}"
        )
    return possible_edits[key]


def _find_applicable_contrasts(triplets: TripletSet) -> Iterator[Contrast]:
    """Yield the contrasts from which distractors of the triplets can be made.

    Aspect is excluded if the language or a verb has no progressive. It is also excluded if the negatives differ in an
    adverb, because some anchors need the progressive to show which verb the adverb modifies. Role and modifier are
    excluded unless all nouns have one sort (such as person), and all verbs and adjectives accept it.
    """
    space = triplets.space
    needs_aspect = space.contrast.needed_kind is Kind.ADVERB
    needs_aspect = needs_aspect or ev.Aspect.PROGRESSIVE not in space.lexicon.language.aspects
    needs_aspect = needs_aspect or bool(find_verbs_without_progressive(space.words, space.lexicon))
    has_sorts = restrict_to_one_sort(space.lexicon, space.vocabulary) is not space.lexicon
    for name in _USUAL_CONTRASTS:
        if not ((name == "aspect" and needs_aspect) or (CONTRASTS[name].moves_nouns and has_sorts)):
            yield CONTRASTS[name]
