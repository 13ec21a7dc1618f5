"""TopConst of Conneau et al. 2018, section 2: which constituents are under the top S."""

from sentprobe.probes.dataset import TooFewError
from sentprobe.probes.known_task import Cue, why
from sentprobe.probes.natural import select
from sentprobe.probes.natural.task import (
    BAG_AND_ORDER,
    IN_TEXT,
    OF_STRUCTURE,
    NaturalTask,
    Said,
    TableNeed,
)

SEQUENCES = 19
"""How many sequences of constituents are classes, besides OTHER."""

OTHER = "OTHER"
"""The class of all sequences that are not among the most frequent."""

LEAST = 12
"""Sentences that a sequence must have to be a class of its own, unless the user says how many
classes there are: enough for each split to have some at the default proportions."""

ANSWER = rf"CASE WHEN {select.LENGTHS} AND regexp_full_match(top, '([A-Z]+ )+\.') THEN top END"
"""Constituents, none of them punctuation or a quote, and then the full stop's label."""


def top_constituents(draw: select.Draw) -> select.Selection:
    """Return TopConst: the 19 most frequent sequences of constituents under the top S, and OTHER.

    Sequences with punctuation or quotes inside are left out, and those without the full stop's
    label at the end. Classes are named with ``_`` between constituents, as in the published data.

    Raises:
        TooFewError: no sequence is frequent enough, or there is nothing for OTHER.
    """
    tops, notes = _sequences(draw)
    cases = " ".join(f"WHEN '{top}' THEN {n}" for n, top in enumerate(tops))
    pool = draw.pool(
        f"SELECT digest, CASE answer {cases} ELSE {len(tops)} END AS label, 0 AS form "
        f"FROM {select.asked(ANSWER)}"
    )
    labels = (*(top.replace(" ", "_") for top in tops), OTHER)
    places, got = select.by_class(pool, labels, draw.size, task=draw.task)
    return select.Selection(
        labels,
        select.entries_at(draw, pool, places, labels=labels),
        (
            *notes,
            *select.size_notes(draw, got, classes=len(labels), why=select.rarest(pool, labels)),
        ),
    )


def _sequences(draw: select.Draw) -> tuple[list[str], tuple[str, ...]]:
    """Return the most frequent sequences, and a note where they are not as many as in the paper."""
    wanted = draw.settings.sequences or SEQUENCES
    least = 1 if draw.settings.sequences else min(LEAST, _smallest_class(draw, wanted + 1))
    found = draw.corpus.query(
        f"SELECT answer FROM {select.asked(ANSWER)} "
        "GROUP BY answer HAVING count(*) >= ? ORDER BY count(*) DESC, answer LIMIT ?",
        least,
        wanted,
    )
    if not found:
        raise TooFewError(
            f"{draw.task}: the corpus has no sequence of top constituents with {least} sentences "
            "of 5 to 28 tokens; the task needs sentences with trees"
        )
    if len(found) == SEQUENCES:
        return [top for (top,) in found], ()
    note = f"{len(found)} sequences instead of {SEQUENCES}"
    if len(found) < wanted:
        note += f": no other has {least} sentences"
    return [top for (top,) in found], (note,)


def _smallest_class(draw: select.Draw, classes: int) -> int:
    return sum(select.wanted_share(draw.size, classes=classes).values())


TASK = NaturalTask(
    name="TopConst",
    published="top_constituents",
    asks="which constituents are under the top clause of s?",
    classes="the 19 most frequent sequences, OTHER",
    draw=top_constituents,
    need=TableNeed.TREE,
    labels={"top constituents": Said("top")},
    answer=Said(ANSWER),
    may_answer=why(OF_STRUCTURE, *BAG_AND_ORDER) | why(IN_TEXT, Cue.LENGTH),
)
