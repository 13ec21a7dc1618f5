"""SubjNum and ObjNum of Conneau et al. 2018, section 2: the number of a noun of the main clause."""

from functools import partial

from sentprobe.probes.known_task import Cue, Redundancy, why
from sentprobe.probes.natural.select import LENGTHS, Draw, Selection
from sentprobe.probes.natural.target_words import can_be_asked, target_selection
from sentprobe.probes.natural.task import BAG_AND_ORDER, IN_TEXT, NaturalTask, Said, TableNeed

NUMBERS = ("NN", "NNS")


def noun_number(draw: Draw, role: str, *, others: Redundancy) -> Selection:
    """Return whether the head of the main clause's subject or direct object is NN or NNS.

    Common nouns only, in the band, each form in one split. A phrase whose number is not that of its
    head, as in *a cat and a dog*, is left out.
    """
    return target_selection(draw, role, answer=_answer(role), labels=NUMBERS, others=others)


def _answer(role: str) -> str:
    fits = f"({role}_tag, {role}_number) IN (('NN', 'sg'), ('NNS', 'pl'))"
    return f"CASE WHEN {LENGTHS} AND {fits} AND {can_be_asked(role)} THEN {role}_tag END"


def _task(name: str, published: str, role: str, *, commonest: float) -> NaturalTask:
    tags = {number: (number,) for number in NUMBERS}
    redundancy = Redundancy(of="number of its nouns", tags=tags, published=commonest)
    return NaturalTask(
        name=name,
        published=published,
        asks=f"is the {role} of the main clause of s singular or plural?",
        classes=", ".join(NUMBERS),
        draw=partial(noun_number, role=role, others=redundancy),
        need=TableNeed.CLAUSE,
        labels={
            role: Said(f"{role}_index", classes=False),
            f"{role} number": Said(f"{role}_number"),
        },
        answer=Said(_answer(role)),
        redundancy=redundancy,
        may_answer=why(
            "other words agree with the number of the noun; beat this figure", *BAG_AND_ORDER
        )
        | why(IN_TEXT, Cue.LENGTH),
    )


SUBJECT = _task("SubjNum", "subj_number", "subject", commonest=75.9)
OBJECT = _task("ObjNum", "obj_number", "object", commonest=78.7)
