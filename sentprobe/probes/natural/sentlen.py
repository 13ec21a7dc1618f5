"""SentLen of Conneau et al. 2018, section 2: how many tokens a sentence has."""

from collections.abc import Sequence

from sentprobe.probes.cues import Cue, why
from sentprobe.probes.natural.select import (
    Draw,
    Selection,
    by_class,
    entries_at,
    rarest,
    size_notes,
)
from sentprobe.probes.natural.task import NaturalTask

BINS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))
"""The classes of SentLen, in tokens."""

ABOUT_LENGTH = why(
    "the task is about the length of the sentence",
    *(Cue.LENGTH, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE, Cue.SENTENCE),
)
"""All cues but the probe words and their places."""


def sentence_length(draw: Draw) -> Selection:
    """Return SentLen: 6 classes by the number of tokens."""
    return length_classes(draw, BINS)


def length_classes(draw: Draw, bins: Sequence[tuple[int, int]]) -> Selection:
    """Return a task whose classes are the lengths in *bins*, which follow on one another.

    Raises:
        TooFewError: a class is empty, or nearly so.
    """
    labels = tuple(f"{low}-{high}" for low, high in bins)
    cases = " ".join(f"WHEN length <= {high} THEN {n}" for n, (_, high) in enumerate(bins))
    pool = draw.pool(
        f"SELECT digest, CASE {cases} END AS label, 0 AS form FROM sentences "
        f"WHERE length BETWEEN {bins[0][0]} AND {bins[-1][1]}"
    )
    places, got = by_class(pool, labels, draw.size, task=draw.task)
    return Selection(
        labels,
        entries_at(draw, pool, places, labels=labels),
        size_notes(draw, got, classes=len(labels), why=rarest(pool, labels)),
    )


TASK = NaturalTask(
    name="SentLen", published="sentence_length", draw=sentence_length, may_answer=ABOUT_LENGTH
)
