"""What a sentence encoder is trained on: triplets of sentences, and nothing about them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.drafts import EventDraft
from sentprobe.generator.triplets import TripletPart, TripletRows, TripletSet, TripletSide

COLUMNS = (TripletSide.ANCHOR, TripletSide.POSITIVE, TripletSide.NEGATIVE)
"""The columns of training data, in the order in which a loss takes them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _TrainingPart(TripletPart):
    """Triplets of a part whose negatives are all of one kind."""

    negative: TripletSide


def training_columns(triplets: TripletSet) -> Mapping[str, list[str]]:
    """Return anchor, positive and negative of each triplet.

    Of one half of the triplets, drawn at random, the negative is in the positive's form, of the
    other in the anchor's.

    >>> from sentprobe.generator.triplets import TripletSpace
    >>> from sentprobe.lexicon import english
    >>> space = TripletSpace(english(), "role", templates=["transitive"])
    >>> for name, (text,) in training_columns(space.sample(1, seed=1)).items():
    ...     print(f"{name}: {text}")
    anchor: the lawyer is not being called by the doctor
    positive: the doctor is not calling the lawyer
    negative: the lawyer is not calling the doctor
    """
    order = np.random.default_rng((triplets.seed, 2)).permutation(len(triplets))
    parts = [half for part in triplets.parts for half in _halves(part, order)]
    divided = TripletSet(triplets.space, tuple(parts), len(triplets), triplets.seed)
    makers = [partial(_sentence, divided, side) for side in COLUMNS]
    return dict(zip(map(str, COLUMNS), TripletRows(divided, makers).texts(), strict=True))


def _halves(part: TripletPart, order: NDArray[np.int64]) -> list[_TrainingPart]:
    """Divide a part by the kind of negative; of all parts, each kind has half of the triplets."""
    hard = order[part.places] % 2 == 1
    kinds = ((TripletSide.NEGATIVE, ~hard), (TripletSide.HARD, hard))
    return [
        _TrainingPart(
            stratum=part.stratum,
            places=part.places[chosen],
            anchors=rows_of(part.anchors, chosen),
            negative=kind,
        )
        for kind, chosen in kinds
        if chosen.any()
    ]


def rows_of(draft: EventDraft, chosen: NDArray[np.bool_]) -> EventDraft:
    """Return the chosen ones of the events."""
    values = {name: column[chosen] for name, column in draft.values.items()}
    return replace(draft, values=values, salts=draft.salts[chosen])


def _sentence(triplets: TripletSet, side: TripletSide, part: TripletPart) -> EventDraft:
    if side is TripletSide.NEGATIVE and isinstance(part, _TrainingPart):
        side = part.negative
    return triplets.draft(part, side=side)
