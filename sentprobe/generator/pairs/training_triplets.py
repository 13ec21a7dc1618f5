"""Training data for sentence encoders: triplets of sentences without metadata."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.pairs.drafts import EventDraft
from sentprobe.generator.pairs.triplets import TripletPart, TripletRows, TripletSet, TripletSide

COLUMNS = (TripletSide.ANCHOR, TripletSide.POSITIVE, TripletSide.NEGATIVE)
"""The columns of training data, in the order that a training loss expects."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _TrainingPart(TripletPart):
    """The triplets of a part with one kind of negative: in the positive's form, or in the anchor's form."""

    negative: TripletSide


def build_training_columns(triplets: TripletSet) -> Mapping[str, list[str]]:
    """Return anchor, positive and negative of each triplet.

    A random half of the negatives is in the positive's form, the other half in the anchor's.

    >>> from sentprobe.generator.pairs.triplets import TripletSpace
    >>> from sentprobe.lexicon import english
    >>> space = TripletSpace(english(), "role", templates=["transitive"])
    >>> for name, (text,) in build_training_columns(space.sample(1, seed=1)).items():
    ...     print(f"{name}: {text}")
    anchor: the lawyer is not being called by the doctor
    positive: the doctor is not calling the lawyer
    negative: the lawyer is not calling the doctor
    """
    order = np.random.default_rng((triplets.seed, 2)).permutation(len(triplets))
    parts = [half for part in triplets.parts for half in _split_by_negative_kind(part, order)]
    divided_triplets = TripletSet(triplets.space, tuple(parts), len(triplets), triplets.seed)
    makers = [partial(_build_sentence_draft, divided_triplets, side) for side in COLUMNS]
    return dict(zip(map(str, COLUMNS), TripletRows(divided_triplets, makers).render_texts(), strict=True))


def _split_by_negative_kind(part: TripletPart, order: NDArray[np.int64]) -> list[_TrainingPart]:
    """Divide a part by the kind of negative; half of all triplets of the set get each kind."""
    is_hard = order[part.positions] % 2 == 1
    kinds = ((TripletSide.NEGATIVE, ~is_hard), (TripletSide.HARD, is_hard))
    return [
        _TrainingPart(
            stratum=part.stratum,
            positions=part.positions[chosen],
            anchors=select_rows(part.anchors, chosen),
            negative=kind,
        )
        for kind, chosen in kinds
        if chosen.any()
    ]


def select_rows(draft: EventDraft, is_selected: NDArray[np.bool_]) -> EventDraft:
    """Return the selected events of a draft."""
    values = {name: column[is_selected] for name, column in draft.values.items()}
    return replace(draft, values=values, salts=draft.salts[is_selected])


def _build_sentence_draft(triplets: TripletSet, side: TripletSide, part: TripletPart) -> EventDraft:
    if side is TripletSide.NEGATIVE and isinstance(part, _TrainingPart):
        side = part.negative
    return triplets.build_draft(part, side=side)
