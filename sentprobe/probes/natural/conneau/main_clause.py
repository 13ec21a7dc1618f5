"""Tasks Tense, SubjNum and ObjNum of Conneau et al. 2018, section 2.

They ask for the tense of the main verb, and for the number of its subject and object.
"""

from functools import partial

from sentprobe.probes.known_task import Cue, Redundancy, give_reason
from sentprobe.probes.natural.natural_task import BAG_AND_ORDER, CORRELATED_IN_TEXT, NaturalTask, ParseLabel, TableNeed
from sentprobe.probes.natural.selection import LENGTHS_SQL, Selection, SelectionRequest
from sentprobe.probes.natural.target_words import build_askable_sql, select_target_words

PRESENT, PAST = "PRES", "PAST"

_PASTS = " OR ".join(f"verb_tag || '|' LIKE '%|Tense={tense}|%'" for tense in ("Past", "Imp", "Pqp"))
TENSE_SQL = (
    f"CASE WHEN verb_tag IN ('VBP', 'VBZ') THEN '{PRESENT}' WHEN verb_tag = 'VBD' THEN '{PAST}' "
    "WHEN verb_tag LIKE '%|Mood=%' AND verb_tag || '|' NOT LIKE '%|Mood=Ind|%' THEN NULL "
    f"WHEN verb_tag || '|' LIKE '%|Tense=Pres|%' THEN '{PRESENT}' WHEN {_PASTS} THEN '{PAST}' END"
)
"""SQL for the main verb's tense, PRES or PAST; NULL if its tag has no tense or is not indicative."""

TENSE_ANSWER_SQL = f"CASE WHEN {LENGTHS_SQL} AND {build_askable_sql('verb')} THEN {TENSE_SQL} END"


_REDUNDANCY = Redundancy(
    feature="tense of its verbs",
    tags={
        PRESENT: ("VBP", "VBZ", "Mood=Ind|Tense=Pres"),
        PAST: ("VBD", *(f"Mood=Ind|Tense={tense}" for tense in ("Past", "Imp", "Pqp"))),
    },
    published=95.2,
)


def select_tense(request: SelectionRequest) -> Selection:
    """Return the items of Tense: the finite verb of the main clause is in the present (PRES) or the past (PAST)."""
    return select_target_words(request, "verb", answer=TENSE_ANSWER_SQL, labels=(PRESENT, PAST), redundancy=_REDUNDANCY)


TENSE = NaturalTask(
    name="Tense",
    published="past_present",
    question_text="is the main verb of s in the present or the past?",
    classes="PRES, PAST",
    select_items=select_tense,
    need=TableNeed.CLAUSE,
    feature=("verb", "Tense"),
    labels={"verb": ParseLabel("verb_index", classes=False), "tense": ParseLabel(TENSE_SQL)},
    answer=ParseLabel(TENSE_ANSWER_SQL),
    redundancy=_REDUNDANCY,
    may_answer=give_reason("other words go with the tense of the verb; beat this figure", *BAG_AND_ORDER)
    | give_reason(CORRELATED_IN_TEXT, Cue.LENGTH),
)

NUMBER_TAGS = ("NN", "NNS")
"""Classes of SubjNum and ObjNum: the head of the subject or object is singular (NN) or plural (NNS)."""


def _build_answer_sql(role: str) -> str:
    is_penn = f"{role}_tag NOT LIKE 'NOUN%'"
    tag = f"CASE WHEN {is_penn} THEN {role}_tag WHEN {role}_number = 'sg' THEN 'NN' ELSE 'NNS' END"
    fits = f"({tag}, {role}_number) IN (('NN', 'sg'), ('NNS', 'pl'))"
    return f"CASE WHEN {LENGTHS_SQL} AND {fits} AND {build_askable_sql(role)} THEN {tag} END"


def _make_task(name: str, published: str, role: str, *, commonest: float) -> NaturalTask:
    tags = {"NN": ("NN", "NOUN|Number=Sing"), "NNS": ("NNS", "NOUN|Number=Plur")}
    redundancy = Redundancy(feature="number of its nouns", tags=tags, published=commonest)
    answer = _build_answer_sql(role)
    return NaturalTask(
        name=name,
        published=published,
        question_text=f"is the {role} of the main clause of s singular or plural?",
        classes=", ".join(NUMBER_TAGS),
        select_items=partial(select_target_words, role=role, answer=answer, labels=NUMBER_TAGS, redundancy=redundancy),
        need=TableNeed.CLAUSE,
        feature=(role, "Number"),
        labels={role: ParseLabel(f"{role}_index", classes=False), f"{role} number": ParseLabel(f"{role}_number")},
        answer=ParseLabel(answer),
        redundancy=redundancy,
        may_answer=give_reason("other words agree with the number of the noun; beat this figure", *BAG_AND_ORDER)
        | give_reason(CORRELATED_IN_TEXT, Cue.LENGTH),
    )


SUBJECT = _make_task("SubjNum", "subj_number", "subject", commonest=75.9)
OBJECT = _make_task("ObjNum", "obj_number", "object", commonest=78.7)
