"""A made-up task in one file, as a new one is added: a rule, and its value."""

from sentprobe.probes.known_task import ABOUT_WORDS, Cue, why
from sentprobe.probes.natural.select import (
    LENGTHS,
    Draw,
    Selection,
    asked,
    by_class,
    entries_at,
    rarest,
    size_notes,
)
from sentprobe.probes.natural.task import IN_TEXT, NaturalTask, Said

LABELS = ("NONE", "SOME")

ANSWER = f"CASE WHEN {LENGTHS} THEN if(list_contains(tokens, ','), 'SOME', 'NONE') END"


def commas(draw: Draw) -> Selection:
    """Return Commas: whether the sentence has a comma; classes are equally frequent."""
    pool = draw.pool(
        f"SELECT digest, if(answer = 'SOME', 1, 0) AS label, 0 AS form FROM {asked(ANSWER)}"
    )
    places, got = by_class(pool, LABELS, draw.size, task=draw.task)
    notes = size_notes(draw, got, classes=2, why=rarest(pool, LABELS))
    return Selection(LABELS, entries_at(draw, pool, places, labels=LABELS), notes)


TASK = NaturalTask(
    name="Commas",
    published="comma_counts",
    asks="does s have a comma?",
    classes="NONE, SOME",
    draw=commas,
    labels={"comma": Said("list_position(tokens, ',') - 1", classes=False)},
    answer=Said(ANSWER),
    may_answer=why(ABOUT_WORDS, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE) | why(IN_TEXT, Cue.LENGTH),
)
