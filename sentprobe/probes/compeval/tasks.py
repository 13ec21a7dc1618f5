"""The compeval tasks and their sizes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sentprobe.errors import UsageError, suggest
from sentprobe.generator.spaces.drawn_event import DrawnEvent
from sentprobe.probes.compeval import mirror, questions
from sentprobe.probes.compeval.items import Drawer
from sentprobe.probes.dataset import Sampling, Size, Split
from sentprobe.probes.known_task import ABOUT_ORDER, ABOUT_WORDS, Cue, KnownTask, give_reason


class HeldOutKind(StrEnum):
    """The kind of words or pairs that test items have and training items lack."""

    NOTHING = "nothing"
    PAIRS = "pairs"
    ADVERBS = "adverbs"


_CLAUSE_TEMPLATES = ("intransitive-rc", "transitive-rc")
_NOUN_TEMPLATES = ("transitive", *_CLAUSE_TEMPLATES)
_ORDER_CUES = (Cue.NGRAMS, Cue.POSITION)
_WORD_REASONS = give_reason(ABOUT_WORDS, Cue.BAG, *_ORDER_CUES)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompevalTask(KnownTask):
    """A compeval task.

    ``unit`` is the number of items of a unit, ``sample_events`` yields all events that a question applies to, and
    ``question`` gives the label.
    """

    classes: str = "FALSE, TRUE"
    preset: str = "ettinger"
    has_noun: bool = True
    make_units: mirror.UnitMaker
    unit: int = 2
    held_out: HeldOutKind = HeldOutKind.PAIRS
    templates: tuple[str, ...] = _NOUN_TEMPLATES
    question: questions.Question
    sample_events: Callable[[Drawer], Iterator[DrawnEvent]] = Drawer.sample_events
    absent_probes: bool = False
    """Whether a sentence may lack one of its probe words."""

    def get_unit_size(self, sampling: Sampling) -> int:
        """Return the number that the size of a split must be a multiple of."""
        return self.unit if sampling is Sampling.MIRROR else 2


TASKS = {
    task.name: task
    for task in (
        CompevalTask(
            name="Content1Probe",
            question_text="does v occur in s?",
            has_noun=False,
            make_units=mirror.make_content1_units,
            held_out=HeldOutKind.NOTHING,
            question=questions.does_verb_occur,
            may_answer=_WORD_REASONS,
        ),
        CompevalTask(
            name="Content2Probe",
            question_text="do both n and v occur in s? (if not, one does)",
            make_units=mirror.make_content2_units,
            unit=4,
            question=questions.do_both_occur,
            absent_probes=True,
            may_answer=_WORD_REASONS,
        ),
        CompevalTask(
            name="Order",
            question_text="n and v occur in s; does n come before v?",
            make_units=mirror.make_order_units,
            question=questions.does_noun_precede,
            may_answer=give_reason(ABOUT_ORDER, *_ORDER_CUES),
        ),
        CompevalTask(
            name="SemRole",
            question_text="n and v occur in s; is n the agent of v?",
            published="sr",
            make_units=mirror.make_semrole_units,
            question=questions.is_agent,
            may_answer=give_reason("word order is what marks the role; beat this figure", *_ORDER_CUES),
        ),
        CompevalTask(
            name="Negation",
            question_text="v and another verb occur in s, one of them negated; is v positive?",
            has_noun=False,
            make_units=mirror.make_negation_units,
            held_out=HeldOutKind.ADVERBS,
            templates=_CLAUSE_TEMPLATES,
            question=questions.is_positive,
            sample_events=mirror.sample_negations,
            may_answer=give_reason("a negation stands near its verb; beat this figure", *_ORDER_CUES),
        ),
    )
}


def find_task(name: str) -> CompevalTask:
    """Return a task by name, or raise UsageError."""
    if name not in TASKS:
        raise UsageError(f"there is no compeval task {name!r}{suggest(name, TASKS)}; the tasks are " + ", ".join(TASKS))
    return TASKS[name]


def check_size(task: CompevalTask, size: Size, *, sampling: Sampling = Sampling.MIRROR, halves: bool = False) -> None:
    """Raise UsageError if a size does not allow balanced labels; with *halves*, in each half of the test items."""
    for split in Split:
        unit = task.get_unit_size(sampling) * (2 if halves and split is Split.TEST else 1)
        count = size.count_items(split)
        if split is Split.VALIDATION and not count:
            continue
        if count <= 0 or count % unit:
            raise UsageError(
                f"{task.name}: the number of {split.value} items must be a positive multiple of "
                f"{unit}, so that labels balance, not {count}"
            )
