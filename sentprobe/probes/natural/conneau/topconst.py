"""Task TopConst of Conneau et al. 2018, section 2: the sequence of constituents under the top clause."""

from sentprobe.probes.dataset import TooFewError
from sentprobe.probes.known_task import Cue, give_reason
from sentprobe.probes.natural import natural_task as nt
from sentprobe.probes.natural import selection

SEQUENCES = 19
"""The paper's number of classes besides OTHER."""
OTHER = "OTHER"
"""Class of all rarer sequences."""
MIN_SENTENCES = 12
"""Minimum number of sentences of a class, so that each split has the class; 1 if the user sets the class count."""
ANSWER_SQL = rf"CASE WHEN {selection.LENGTHS_SQL} AND regexp_full_match(top, '([A-Z]+ )+\.') THEN top END"
"""SQL for the top constituents, such as ``NP VP .``; NULL unless the only punctuation is a full stop at the end."""


def select_top_constituents(request: selection.SelectionRequest, answer: str = ANSWER_SQL) -> selection.Selection:
    """Return the items of TopConst or, if *answer* is the SQL of TopDeps, of TopDeps. Raises TooFewError.

    The classes are the most frequent values of *answer*, up to 19 by default, and OTHER for all other values.
    """
    tops, notes = _find_sequences(request, answer)
    cases = " ".join(f"WHEN '{top}' THEN {n}" for n, top in enumerate(tops))
    pool = request.select_pool(
        f"SELECT digest, CASE answer {cases} ELSE {len(tops)} END AS label, 0 AS form "
        f"FROM {selection.build_answered_rows_sql(answer)}"
    )
    labels = (*(top.replace(" ", "_") for top in tops), OTHER)
    return selection.select_classes(request, pool, labels, notes=notes)


def _find_sequences(request: selection.SelectionRequest, answer: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the most frequent values of the SQL expression *answer*; if there are not 19, also a note for the card."""
    max_sequences = request.settings.sequences or SEQUENCES
    class_items = sum(selection.compute_class_share(request.size, classes=max_sequences + 1).values())
    min_sentences = 1 if request.settings.sequences else min(MIN_SENTENCES, class_items)
    rows = request.corpus.query(
        f"SELECT answer FROM {selection.build_answered_rows_sql(answer)} "
        "GROUP BY answer HAVING count(*) >= ? ORDER BY count(*) DESC, answer LIMIT ?",
        min_sentences,
        max_sequences,
    )
    if not rows:
        raise TooFewError(
            f"{request.task}: the corpus has no sequence of top constituents with {min_sentences} sentences "
            "of 5 to 28 tokens; the task needs sentences with trees"
        )
    if len(rows) == SEQUENCES:
        return [top for (top,) in rows], ()
    note = f"{len(rows)} sequences instead of {SEQUENCES}"
    if len(rows) < max_sequences:
        note += f": no other has {min_sentences} sentences"
    return [top for (top,) in rows], (note,)


TASK = nt.NaturalTask(
    name="TopConst",
    published="top_constituents",
    question_text="which constituents are under the top clause of s?",
    classes="the 19 most frequent sequences, OTHER",
    select_items=select_top_constituents,
    need=nt.TableNeed.TREE,
    labels={"top constituents": nt.ParseLabel("top")},
    answer=nt.ParseLabel(ANSWER_SQL),
    may_answer=give_reason(nt.REVEALS_STRUCTURE, *nt.BAG_AND_ORDER) | give_reason(nt.CORRELATED_IN_TEXT, Cue.LENGTH),
)
