"""Tasks like those of Conneau et al. 2018 with answers from Universal Dependencies, such as DepDepth and Voice."""

from functools import partial

from sentprobe.common.specs import TaskGroup
from sentprobe.probes.datasets.dataset import TooFewError
from sentprobe.probes.datasets.known_task import Cue, Redundancy, give_reason
from sentprobe.probes.natural import natural_task as nt
from sentprobe.probes.natural import parsed_tasks, selection
from sentprobe.probes.natural.surface_tasks import build_askable_sql, select_target_words

ORDER_SQL = f"CASE WHEN {selection.LENGTHS_SQL} THEN root_dependents END"
VOICE_SQL = f"CASE WHEN {selection.LENGTHS_SQL} AND voice IN ('Act', 'Pass') THEN voice END"


def select_feature(request: selection.SelectionRequest, role: str, feature: str) -> selection.Selection:
    """Return items about a *feature*, such as Gender, of the main verb or of the subject noun. Raises TooFewError.

    The classes are the n most frequent values of the feature; n is the number that gives the largest balanced dataset.
    """
    noun = "" if role == "verb" else f"AND {role}_tag LIKE 'NOUN|%' AND {role}_number IS NOT NULL "
    value = f"split_part(split_part({role}_tag || '|', '|{feature}=', 2), '|', 1)"
    # A word with several values of the feature, such as Gender=Fem,Masc, has no answer, nor has one without a value.
    answer = (
        f"CASE WHEN {selection.LENGTHS_SQL} AND {build_askable_sql(role)} {noun}"
        f"THEN CASE WHEN {value} <> '' AND {value} NOT LIKE '%,%' THEN {value} END END"
    )
    rows = request.corpus.query(
        f"SELECT answer, count(*) FROM {selection.build_answered_rows_sql(answer)} "
        "GROUP BY answer ORDER BY count(*) DESC, answer"
    )
    if len(rows) < 2:
        values = ", ".join(f"{value}: {count:,}" for value, count in rows) or "none"
        words = "main verbs" if role == "verb" else f"{role}s that are nouns"
        raise TooFewError(f"{request.task}: needs two values of {feature} of {words}; the corpus has {values}")
    # A balanced dataset of n classes has n times as many items as the corpus has sentences of the rarest of them.
    class_count = max(range(2, len(rows) + 1), key=lambda number: number * rows[number - 1][1])
    labels = tuple(sorted(str(value) for value, _ in rows[:class_count]))
    redundancy = Redundancy(
        feature=f"{feature} of its words", tags={label: (f"{feature}={label}",) for label in labels}, published=0
    )
    return select_target_words(request, role, answer=answer, labels=labels, redundancy=redundancy)


def select_voice(request: selection.SelectionRequest) -> selection.Selection:
    """Return the items of Voice: the main clause is active (Act) or passive (Pass). Raises TooFewError."""
    pool = request.select_pool(
        f"SELECT digest, (answer = 'Pass')::INT AS label, 0 AS form FROM {selection.build_answered_rows_sql(VOICE_SQL)}"
    )
    return selection.select_classes(request, pool, ("Act", "Pass"))


_WORDS_TELL = give_reason(nt.REVEALS_STRUCTURE, *nt.BAG_AND_ORDER)
_ANY_CUE = _WORDS_TELL | give_reason(nt.CORRELATED_IN_TEXT, Cue.LENGTH)


def _make_feature_task(name: str, role: str, feature: str) -> nt.NaturalTask:
    word = "main verb" if role == "verb" else f"{role} of the main clause"
    return nt.NaturalTask(
        name=name,
        suite=TaskGroup.UNIVERSAL,
        question_text=f"which {feature} feature does the {word} of s have?",
        classes=f"the values of {feature}",
        select_items=partial(select_feature, role=role, feature=feature),
        need=nt.TableNeed.UNIVERSAL,
        feature=(role, feature),
        may_answer=_ANY_CUE,
    )


TASKS = (
    nt.NaturalTask(
        name="DepDepth",
        suite=TaskGroup.UNIVERSAL,
        question_text="how many dependencies lead from the root to the deepest word?",
        classes="3 to 5",
        select_items=partial(
            parsed_tasks.select_tree_depth,
            column="dependency_depth",
            usual=range(3, 6),
            length_spreads=(*parsed_tasks.LENGTH_SPREADS, 3, 2),
        ),
        need=nt.TableNeed.UNIVERSAL,
        may_answer=_WORDS_TELL,
    ),
    nt.NaturalTask(
        name="TopDeps",
        suite=TaskGroup.UNIVERSAL,
        question_text="which relations do the root's dependents have, in their order?",
        classes="the 19 most frequent sequences, OTHER",
        select_items=partial(parsed_tasks.select_top_constituents, answer=ORDER_SQL),
        need=nt.TableNeed.UNIVERSAL,
        may_answer=_ANY_CUE,
    ),
    _make_feature_task("SubjGender", "subject", "Gender"),
    _make_feature_task("SubjPerson", "verb", "Person"),
    _make_feature_task("VerbMood", "verb", "Mood"),
    nt.NaturalTask(
        name="Voice",
        suite=TaskGroup.UNIVERSAL,
        question_text="is the main clause of s active or passive?",
        classes="Act, Pass",
        select_items=select_voice,
        need=nt.TableNeed.UNIVERSAL,
        may_answer=_ANY_CUE,
    ),
)
