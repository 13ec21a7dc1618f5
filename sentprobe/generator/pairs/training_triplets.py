"""Training data for sentence encoders: triplets of sentences without metadata."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.pairs.drafts import EventDraft, select_rows
from sentprobe.generator.pairs.triplets import TripletPart, TripletRows, TripletSet, TripletSide

COLUMNS = (TripletSide.ANCHOR, TripletSide.POSITIVE, TripletSide.NEGATIVE)
"""The columns of training data, in the order that a training loss expects."""

PORTION_SIZE = 32_768
"""Number of triplets that are rendered at a time, and number of rows of a Parquet row group."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _TrainingPart(TripletPart):
    """The triplets of a part with one kind of negative: in the positive's form, or in the anchor's form."""

    negative: TripletSide


def iterate_training_columns(triplets: TripletSet) -> Iterator[dict[str, list[str]]]:
    """Yield anchor, positive and negative of each triplet as columns, for some triplets at a time.

    A random half of the negatives is in the positive's form, the other half in the anchor's.

    >>> from sentprobe.generator.pairs.triplets import TripletSpace
    >>> from sentprobe.lexicon import english
    >>> space = TripletSpace(english(), "role", templates=["transitive"])
    >>> (columns,) = iterate_training_columns(space.sample(1, seed=1))
    >>> for name, (text,) in columns.items():
    ...     print(f"{name}: {text}")
    anchor: the lawyer is not being called by the doctor
    positive: the doctor is not calling the lawyer
    negative: the lawyer is not calling the doctor
    """
    order = np.random.default_rng((triplets.seed, 2)).permutation(len(triplets))
    parts = [half for part in triplets.parts for half in _split_by_negative_kind(part, order)]
    divided_triplets = TripletSet(triplets.space, tuple(parts), len(triplets), triplets.seed)
    for _, portion in divided_triplets.iterate_portions(PORTION_SIZE):
        makers = [partial(_build_sentence_draft, portion, side) for side in COLUMNS]
        yield dict(zip(map(str, COLUMNS), TripletRows(portion, makers).render_texts(), strict=True))


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


def _build_sentence_draft(triplets: TripletSet, side: TripletSide, part: TripletPart) -> EventDraft:
    if side is TripletSide.NEGATIVE and isinstance(part, _TrainingPart):
        side = part.negative
    return triplets.build_draft(part, side=side)
