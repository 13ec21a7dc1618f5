"""A made-up task in a file of its own, as a new task is added."""

from sentprobe.probes.datasets.known_task import ABOUT_WORDS, Cue, give_reason
from sentprobe.probes.natural.natural_task import CORRELATED_IN_TEXT, NaturalTask, ParseLabel
from sentprobe.probes.natural.selection import (
    LENGTHS_SQL,
    Selection,
    SelectionRequest,
    build_answered_rows_sql,
    describe_rarest_class,
    describe_size,
    read_entries,
    select_balanced,
)

LABELS = ("NONE", "SOME")

ANSWER = f"CASE WHEN {LENGTHS_SQL} THEN if(list_contains(tokens, ','), 'SOME', 'NONE') END"


def commas(draw: SelectionRequest) -> Selection:
    """Return Commas: whether the sentence has a comma; classes are equally frequent."""
    pool = draw.select_pool(
        f"SELECT digest, if(answer = 'SOME', 1, 0) AS label, 0 AS form FROM {build_answered_rows_sql(ANSWER)}"
    )
    places, got = select_balanced(pool, LABELS, draw.size, task=draw.task)
    notes = describe_size(draw, got, classes=2, why=describe_rarest_class(pool, LABELS))
    return Selection(LABELS, read_entries(draw, pool, places, labels=LABELS), notes)


TASK = NaturalTask(
    name="Commas",
    published="comma_counts",
    question_text="does s have a comma?",
    classes="NONE, SOME",
    select_items=commas,
    labels={"comma": ParseLabel("list_position(tokens, ',') - 1", classes=False)},
    answer=ParseLabel(ANSWER),
    may_answer=give_reason(ABOUT_WORDS, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE)
    | give_reason(CORRELATED_IN_TEXT, Cue.LENGTH),
)
