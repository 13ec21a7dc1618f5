"""The compeval tasks as a table, and their sizes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sentprobe.errors import UsageError, suggest
from sentprobe.generator.drawn import DrawnEvent
from sentprobe.probes.compeval import mirror, questions
from sentprobe.probes.compeval.items import Drawer
from sentprobe.probes.dataset import Sampling, Size, Split
from sentprobe.probes.known_task import ABOUT_ORDER, ABOUT_WORDS, Cue, KnownTask, why


class HeldOut(StrEnum):
    """What test has that training does not."""

    NOTHING = "nothing"
    PAIRS = "pairs"
    ADVERBS = "adverbs"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompevalTask(KnownTask):
    """A compeval task: its probes, how its units are made, what it holds out, its templates.

    ``unit`` is the number of items in a unit, ``events`` yields all events that can be asked about,
    and ``question`` gives the label.
    """

    classes: str = "FALSE, TRUE"
    preset: str = "ettinger"
    has_noun: bool
    make: mirror.UnitMaker
    unit: int
    held_out: HeldOut
    templates: tuple[str, ...]
    question: questions.Question
    events: Callable[[Drawer], Iterator[DrawnEvent]] = Drawer.events

    def unit_of(self, sampling: Sampling) -> int:
        """Return of how many items the size of a split must be a multiple."""
        return self.unit if sampling is Sampling.MIRROR else 2


_WITH_CLAUSE = ("intransitive-rc", "transitive-rc")
_TWO_NOUNS = ("transitive", *_WITH_CLAUSE)
_PLACES = (Cue.NGRAMS, Cue.POSITION)
_WORDS = why(ABOUT_WORDS, Cue.BAG, *_PLACES)

TASKS = {
    task.name: task
    for task in (
        CompevalTask(
            name="Content1Probe",
            asks="does v occur in s?",
            has_noun=False,
            make=mirror.content1,
            unit=2,
            held_out=HeldOut.NOTHING,
            templates=_TWO_NOUNS,
            question=questions.occurs,
            may_answer=_WORDS,
        ),
        CompevalTask(
            name="Content2Probe",
            asks="do both n and v occur in s? (if not, one does)",
            has_noun=True,
            make=mirror.content2,
            unit=4,
            held_out=HeldOut.PAIRS,
            templates=_TWO_NOUNS,
            question=questions.both_occur,
            may_answer=_WORDS,
        ),
        CompevalTask(
            name="Order",
            asks="n and v occur in s; does n come before v?",
            has_noun=True,
            make=mirror.order,
            unit=2,
            held_out=HeldOut.PAIRS,
            templates=_TWO_NOUNS,
            question=questions.comes_first,
            may_answer=why(ABOUT_ORDER, *_PLACES),
        ),
        CompevalTask(
            name="SemRole",
            asks="n and v occur in s; is n the agent of v?",
            published="sr",
            has_noun=True,
            make=mirror.semrole,
            unit=2,
            held_out=HeldOut.PAIRS,
            templates=_TWO_NOUNS,
            question=questions.is_agent,
            may_answer=why("word order is what marks the role; beat this figure", *_PLACES),
        ),
        CompevalTask(
            name="Negation",
            asks="v and another verb occur in s, one of them negated; is v positive?",
            has_noun=False,
            make=mirror.negation,
            unit=2,
            held_out=HeldOut.ADVERBS,
            templates=_WITH_CLAUSE,
            question=questions.is_positive,
            events=mirror.one_negation,
            may_answer=why("a negation stands near its verb; beat this figure", *_PLACES),
        ),
    )
}
"""The tasks by name."""


def find_task(name: str) -> CompevalTask:
    """Return a task by name.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in TASKS:
        raise UsageError(
            f"there is no compeval task {name!r}{suggest(name, TASKS)}; the tasks are "
            + ", ".join(TASKS)
        )
    return TASKS[name]


def check_size(
    task: CompevalTask, size: Size, *, sampling: Sampling = Sampling.MIRROR, halves: bool = False
) -> None:
    """Refuse a size of which labels cannot be balanced; *halves*: in each half of the test items.

    Raises:
        UsageError: a split is not a positive multiple of the task's unit; validation may be 0.
    """
    for split in Split:
        unit = task.unit_of(sampling) * (2 if halves and split is Split.TEST else 1)
        count = size.of(split)
        if split is Split.VALIDATION and not count:
            continue
        if count <= 0 or count % unit:
            raise UsageError(
                f"{task.name}: the number of {split.value} items must be a positive multiple of "
                f"{unit}, so that labels balance, not {count}"
            )
