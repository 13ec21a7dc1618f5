"""All events, training rows or entailment pairs of a sample at once; the package gives them portion by portion."""

from typing import Any, NamedTuple

from sentprobe.generator.events.event import Event
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.inference_pairs import COLUMNS, NliSpace, iterate_training_columns
from sentprobe.generator.pairs.triplets import TripletSet, TripletSide, TripletSpace
from sentprobe.generator.spaces.layout import build_layout_event
from sentprobe.lexicon import Kind, english


def choose_contrast_vocabulary(contrast: str, usual: str = "compeval") -> str:
    """Return `everyday` for a contrast that needs its words, or the usual vocabulary."""
    return "everyday" if CONTRASTS[contrast].needed_kind in (Kind.ADJECTIVE, Kind.DITRANSITIVE) else usual


def build_contrast_space(contrast: str) -> TripletSpace:
    """Return the triplets of a contrast over the usual vocabulary, or over `everyday` if it needs its words."""
    return TripletSpace(english(), contrast, vocabulary=choose_contrast_vocabulary(contrast))


class NliColumns(NamedTuple):
    """Pairs as columns; the eight pairs of a group follow one another."""

    premise: list[str]
    hypothesis: list[str]
    label: list[int]


def build_events(triplets: TripletSet, side: TripletSide) -> list[Event]:
    """Return the events of one side, in the order of the triplets."""
    events: dict[int, Event] = {}
    for part in triplets.parts:
        draft = triplets.build_draft(part, side=side)
        layout = draft.build_layout()
        for row, place in enumerate(part.positions.tolist()):
            values = {v.name: v.values[draft.values[v.name][row]] for v in layout.variables}
            events[place] = build_layout_event(values, layout)
    return [events[place] for place in range(len(triplets))]


def build_training_columns(triplets: TripletSet) -> dict[str, list[str]]:
    """Return anchor, positive and negative of each triplet."""
    portions = [*iterate_training_columns(triplets)]
    return {name.value: [text for portion in portions for text in portion[name]] for name in COLUMNS}


def sample_pairs(space: NliSpace, count: int, *, seed: int) -> NliColumns:
    """Return the pairs of *count* different groups."""
    portions: list[Any] = [*space.iterate_pairs(count, seed=seed)]
    return NliColumns(*([x for portion in portions for x in portion[name]] for name in NliColumns._fields))
