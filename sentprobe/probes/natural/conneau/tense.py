"""Tense of Conneau et al. 2018, section 2: the tense of the main verb."""

from sentprobe.probes.known_task import Cue, Redundancy, give_reason
from sentprobe.probes.natural.natural_task import BAG_AND_ORDER, CORRELATED_IN_TEXT, NaturalTask, ParseLabel, TableNeed
from sentprobe.probes.natural.selection import LENGTHS_SQL, Selection, SelectionRequest
from sentprobe.probes.natural.target_words import build_askable_sql, select_target_words

PRESENT, PAST = "PRES", "PAST"

TENSE_SQL = f"CASE WHEN verb_tag IN ('VBP', 'VBZ') THEN '{PRESENT}' WHEN verb_tag = 'VBD' THEN '{PAST}' END"
"""Tense by the main verb's tag; NULL for other tags."""

ANSWER_SQL = f"CASE WHEN {LENGTHS_SQL} AND {build_askable_sql('verb')} THEN {TENSE_SQL} END"


REDUNDANCY = Redundancy(feature="tense of its verbs", tags={PRESENT: ("VBP", "VBZ"), PAST: ("VBD",)}, published=95.2)


def select_tense(request: SelectionRequest) -> Selection:
    """Return the items of Tense: the main verb is VBP or VBZ (PRES), or VBD (PAST).

    The main verb is the finite verb of the main clause. Its form has a corpus frequency in the band, and is in one
    split only.
    """
    return select_target_words(request, "verb", answer=ANSWER_SQL, labels=(PRESENT, PAST), redundancy=REDUNDANCY)


TASK = NaturalTask(
    name="Tense",
    published="past_present",
    question_text="is the main verb of s in the present or the past?",
    classes="PRES, PAST",
    select_items=select_tense,
    need=TableNeed.CLAUSE,
    labels={"verb": ParseLabel("verb_index", classes=False), "tense": ParseLabel(TENSE_SQL)},
    answer=ParseLabel(ANSWER_SQL),
    redundancy=REDUNDANCY,
    may_answer=give_reason("other words go with the tense of the verb; beat this figure", *BAG_AND_ORDER)
    | give_reason(CORRELATED_IN_TEXT, Cue.LENGTH),
)
