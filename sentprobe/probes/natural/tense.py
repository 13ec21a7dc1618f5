"""Tense of Conneau et al. 2018, section 2: the tense of the main verb."""

from sentprobe.probes.known_task import Cue, Redundancy, why
from sentprobe.probes.natural.select import LENGTHS, Draw, Selection
from sentprobe.probes.natural.target_words import can_be_asked, target_selection
from sentprobe.probes.natural.task import BAG_AND_ORDER, IN_TEXT, NaturalTask, Said, TableNeed

PRESENT, PAST = "PRES", "PAST"

SHOWN = (
    f"CASE WHEN verb_tag IN ('VBP', 'VBZ') THEN '{PRESENT}' WHEN verb_tag = 'VBD' THEN '{PAST}' END"
)
"""The tense that the main verb's tag shows; other tags show none."""

ANSWER = f"CASE WHEN {LENGTHS} AND {can_be_asked('verb')} THEN {SHOWN} END"


REDUNDANCY = Redundancy(
    of="tense of its verbs", tags={PRESENT: ("VBP", "VBZ"), PAST: ("VBD",)}, published=95.2
)


def tense(draw: Draw) -> Selection:
    """Return Tense: whether the main verb is VBP or VBZ (PRES), or VBD (PAST).

    The main verb is the finite verb of the main clause; its form has a corpus frequency in the
    band, and is in one split only.
    """
    return target_selection(draw, "verb", answer=ANSWER, labels=(PRESENT, PAST), others=REDUNDANCY)


TASK = NaturalTask(
    name="Tense",
    published="past_present",
    asks="is the main verb of s in the present or the past?",
    classes="PRES, PAST",
    draw=tense,
    need=TableNeed.CLAUSE,
    labels={"verb": Said("verb_index", classes=False), "tense": Said(SHOWN)},
    answer=Said(ANSWER),
    redundancy=REDUNDANCY,
    may_answer=why("other words go with the tense of the verb; beat this figure", *BAG_AND_ORDER)
    | why(IN_TEXT, Cue.LENGTH),
)
