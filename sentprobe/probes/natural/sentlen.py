"""SentLen of Conneau et al. 2018, section 2: how many tokens a sentence has."""

from collections.abc import Sequence

from sentprobe.probes.known_task import Cue, why
from sentprobe.probes.natural import select
from sentprobe.probes.natural.task import NaturalTask

BINS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))
"""The classes of SentLen, in tokens."""

ABOUT_LENGTH = why(
    "the task is about the length of the sentence",
    *(Cue.LENGTH, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE, Cue.SENTENCE),
)
"""All cues but the probe words and their places."""

HOW_LONG = "how many tokens does s have?"


def names(bins: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Return what the classes of *bins* are called."""
    return tuple(f"{low}-{high}" for low, high in bins)


def shown(bins: Sequence[tuple[int, int]]) -> str:
    """Return the classes of *bins* in a line.

    >>> shown([(5, 8), (9, 12)])
    '5-8, 9-12'
    """
    return ", ".join(names(bins))


def sentence_length(draw: select.Draw) -> select.Selection:
    """Return SentLen: 6 classes by the number of tokens."""
    return length_classes(draw, BINS)


def length_classes(
    draw: select.Draw, bins: Sequence[tuple[int, int]], *, balanced: bool = True
) -> select.Selection:
    """Return a task whose classes are the lengths in *bins*, which follow on one another.

    - balanced: whether the classes are equally large; else they are as common as in the corpus

    Raises:
        TooFewError: a class is empty, or nearly so.
    """
    labels = names(bins)
    cases = " ".join(f"WHEN length <= {high} THEN {n}" for n, (_, high) in enumerate(bins))
    pool = draw.pool(
        f"SELECT digest, CASE {cases} END AS label, 0 AS form FROM sentences "
        f"WHERE length BETWEEN {bins[0][0]} AND {bins[-1][1]}"
    )
    take = select.by_class if balanced else select.as_they_come
    places, got = take(pool, labels, draw.size, task=draw.task)
    classes = len(labels) if balanced else 1
    why = select.rarest(pool, labels) if balanced else f"it has {len(pool.labels):,} sentences"
    return select.Selection(
        labels,
        select.entries_at(draw, pool, places, labels=labels),
        select.size_notes(draw, got, classes=classes, why=why),
    )


TASK = NaturalTask(
    name="SentLen",
    published="sentence_length",
    asks=HOW_LONG,
    classes=shown(BINS),
    published_labels={name: str(number) for number, name in enumerate(names(BINS))},
    draw=sentence_length,
    may_answer=ABOUT_LENGTH,
)
