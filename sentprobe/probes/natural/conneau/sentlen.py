"""SentLen of Conneau et al. 2018, section 2: the number of tokens."""

from collections.abc import Sequence
from functools import partial

from sentprobe.probes.known_task import Cue, give_reason
from sentprobe.probes.natural import selection
from sentprobe.probes.natural.natural_task import NaturalTask

BINS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))

ABOUT_LENGTH = give_reason(
    "the task is about the length of the sentence", *(Cue.LENGTH, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE, Cue.SENTENCE)
)
"""All cues except the probe words and their places."""

HOW_LONG = "how many tokens does s have?"


def format_bins(bins: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Return the class names of *bins*."""
    return tuple(f"{low}-{high}" for low, high in bins)


def list_bins(bins: Sequence[tuple[int, int]]) -> str:
    """Return the classes of *bins* in a line."""
    return ", ".join(format_bins(bins))


def select_length_classes(
    request: selection.SelectionRequest, bins: Sequence[tuple[int, int]], *, balanced: bool = True
) -> selection.Selection:
    """Return items whose classes are the consecutive length *bins*, equally large if *balanced*. Raises TooFewError."""
    labels = format_bins(bins)
    cases = " ".join(f"WHEN length <= {high} THEN {n}" for n, (_, high) in enumerate(bins))
    pool = request.select_pool(
        f"SELECT digest, CASE {cases} END AS label, 0 AS form FROM sentences "
        f"WHERE length BETWEEN {bins[0][0]} AND {bins[-1][1]}"
    )
    if balanced:
        return selection.select_classes(request, pool, labels)
    places, share = selection.select_unbalanced(pool, labels, request.size, task=request.task)
    notes = selection.describe_size(request, share, classes=1, why=f"it has {len(pool.labels):,} sentences")
    return selection.Selection(labels, selection.read_entries(request, pool, places, labels=labels), notes)


TASK = NaturalTask(
    name="SentLen",
    published="sentence_length",
    question_text=HOW_LONG,
    classes=list_bins(BINS),
    published_labels={name: str(number) for number, name in enumerate(format_bins(BINS))},
    select_items=partial(select_length_classes, bins=BINS),
    may_answer=ABOUT_LENGTH,
)
