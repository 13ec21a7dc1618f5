"""The tasks of the suites compeval and structure, and their sizes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from sentprobe.common.errors import UsageError, suggest
from sentprobe.common.specs import COMPEVAL, STRUCTURE, Sampling, Size
from sentprobe.generator.events.event import Mood
from sentprobe.generator.spaces.drawn_event import DrawnEvent
from sentprobe.lexicon import Kind
from sentprobe.lexicon.languages.language import Language
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.datasets.known_task import ABOUT_ORDER, ABOUT_WORDS, Cue, KnownTask, give_reason
from sentprobe.probes.generated import mirror, structure_units
from sentprobe.probes.generated.held_out_pairs import VERB_KINDS
from sentprobe.probes.generated.items import Drawer
from sentprobe.probes.generated.mirror import (
    Question,
    do_both_occur,
    does_noun_precede,
    does_verb_occur,
    is_agent,
    is_positive,
)


class HeldOutKind(StrEnum):
    """The kind of words or pairs that test items have and training items lack."""

    NOTHING = "nothing"
    PAIRS = "pairs"
    ADVERBS = "adverbs"


_CLAUSE_TEMPLATES = ("intransitive-rc", "transitive-rc")
_NOUN_TEMPLATES = ("transitive", *_CLAUSE_TEMPLATES)
_TWO_CLAUSE_TEMPLATES = (
    "transitive-rc-both.agent.intransitive",
    "transitive-rc-both.agent.transitive.patient.intransitive",
)
"""Structures of Order with nouns that are neither second nor last, although they stand on both sides of a verb."""
_ORDER_CUES = (Cue.NGRAMS, Cue.POSITION)
_SENTENCE_REASONS = give_reason(ABOUT_ORDER, Cue.NGRAMS) | give_reason("the task is about it", Cue.TEMPLATE)
_WORD_REASONS = give_reason(ABOUT_WORDS, Cue.BAG, *_ORDER_CUES)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompevalTask(KnownTask):
    """A task of generated sentences; ``unit`` is the number of items in a unit: sentences times questions."""

    classes: str = "FALSE, TRUE"
    preset: str = "ettinger"
    probed_kinds: tuple[Kind, ...] = VERB_KINDS
    """The word kinds of the probe word that is not the noun; empty: the task has no probe words."""
    probed_kinds_with_cases: tuple[Kind, ...] = ()
    """The word kinds that replace ``probed_kinds`` in a language with cases; empty: no replacement."""
    needs: tuple[Kind | Mood, ...] = ()
    """The constructions that a language must have for the task, such as modals."""
    vocabulary: str = COMPEVAL
    has_one_sort: bool = True
    """Whether all nouns are of one sort, so that any two nouns can be exchanged."""
    make_units: mirror.UnitMaker
    crossed: tuple[int, ...] = (0,)
    """The slots in which the two questions of a unit may differ: 0 for their nouns (or only words), 1 for their verbs.

    Empty: the task has no probe words, and asks one question about each sentence.
    """
    unit: int = 4
    is_spread: bool = False
    """Whether structures are chosen so that the sentences of a unit differ in all places alike."""
    held_out: HeldOutKind = HeldOutKind.PAIRS
    templates: tuple[str, ...] = _NOUN_TEMPLATES
    mirror_templates: tuple[str, ...] = ()
    """Further templates of Sampling.MIRROR, which the published datasets lack."""
    question: Question
    sample_events: Callable[[Drawer], Iterator[DrawnEvent]] = Drawer.sample_events
    source: str = "sentprobe, after Ettinger et al. 2018"

    @property
    def has_noun(self) -> bool:
        """Whether an item has two probe words, a noun and another word."""
        return self.held_out is HeldOutKind.PAIRS

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels, such as ``("FALSE", "TRUE")``."""
        return tuple(self.classes.split(", "))

    def list_missing(self, language: Language) -> list[str]:
        """Return the constructions that the task needs and the language lacks, such as ``["modals"]``."""
        return [f"{need}s" for need in self.needs if need not in (*language.forms, *language.moods)]

    def adapt(self, language: Language) -> "CompevalTask":
        """Return the task's version for *language*; raise UsageError if the language lacks a needed construction."""
        if missing := self.list_missing(language):
            raise UsageError(f"{self.name}: sentprobe's {language.name} has no {' and no '.join(missing)}")
        has_cases = len(language.cases) > 1
        return replace(self, probed_kinds=(has_cases and self.probed_kinds_with_cases) or self.probed_kinds)

    def get_unit_size(self, sampling: Sampling) -> int:
        """Return the number that must divide a split's size so that two labels balance; 1 if there are more labels."""
        if len(self.labels) > 2:
            return 1
        return self.unit if sampling is Sampling.MIRROR else 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _StructureTask(CompevalTask):
    vocabulary: str = STRUCTURE
    held_out: HeldOutKind = HeldOutKind.ADVERBS
    templates: tuple[str, ...] = _CLAUSE_TEMPLATES
    source: str = "sentprobe"


TASKS = {
    task.name: task
    for task in (
        CompevalTask(
            name="Content1Probe",
            question_text="does v occur in s?",
            make_units=mirror.make_content1_units,
            held_out=HeldOutKind.NOTHING,
            question=does_verb_occur,
            may_answer=_WORD_REASONS,
        ),
        CompevalTask(
            name="Content2Probe",
            question_text="do both n and v occur in s? (if not, one does)",
            make_units=mirror.make_content2_units,
            crossed=(1, 0),
            question=do_both_occur,
            may_answer=_WORD_REASONS,
        ),
        CompevalTask(
            name="Order",
            question_text="n and v occur in s; does n come before v?",
            make_units=mirror.make_order_units,
            crossed=(1, 0),
            is_spread=True,
            mirror_templates=_TWO_CLAUSE_TEMPLATES,
            question=does_noun_precede,
            may_answer=give_reason(ABOUT_ORDER, *_ORDER_CUES),
        ),
        CompevalTask(
            name="SemRole",
            question_text="n and v occur in s; is n the agent of v?",
            published="sr",
            make_units=mirror.make_semrole_units,
            question=is_agent,
            may_answer=give_reason("word order is what marks the role; beat this figure", *_ORDER_CUES),
        ),
        CompevalTask(
            name="Negation",
            question_text="v and another verb occur in s, one of them negated; is v positive?",
            make_units=mirror.make_negation_units,
            held_out=HeldOutKind.ADVERBS,
            templates=_CLAUSE_TEMPLATES,
            question=is_positive,
            sample_events=mirror.sample_negations,
            may_answer=give_reason("a negation stands near its verb; beat this figure", *_ORDER_CUES),
        ),
    )
}

STRUCTURE_TASKS: dict[str, CompevalTask] = {
    task.name: task
    for task in (
        _StructureTask(
            name="Attachment",
            question_text="n and the verb v of a relative clause occur in s; does the clause belong to n?",
            make_units=structure_units.make_attachment_units,
            held_out=HeldOutKind.PAIRS,
            templates=("transitive-rc",),
            question=structure_units.is_modified,
            may_answer=give_reason("a relative clause follows its noun; beat this figure", *_ORDER_CUES),
        ),
        _StructureTask(
            name="TenseOf",
            question_text="v and another verb occur in s, one past and one present; is v past?",
            make_units=structure_units.make_tense_units,
            question=structure_units.is_past,
            may_answer=give_reason("an auxiliary stands near its verb; beat this figure", *_ORDER_CUES),
        ),
        _StructureTask(
            name="NumberOf",
            question_text="v and another verb occur in s, one with a plural agent; is it v?",
            probed_kinds_with_cases=(Kind.TRANSITIVE,),
            make_units=structure_units.make_number_units,
            question=structure_units.is_agent_plural,
            may_answer=give_reason("word order is what marks the agent; beat this figure", *_ORDER_CUES),
        ),
        _StructureTask(
            name="Modality",
            needs=(Kind.MODAL,),
            question_text="v and another verb occur in s, one of them under a modal; is it v?",
            make_units=structure_units.make_modality_units,
            question=structure_units.is_under_modal,
            may_answer=give_reason("a modal stands near its verb; beat this figure", *_ORDER_CUES),
        ),
        _StructureTask(
            name="Binding",
            question_text="n and the adjective w occur in s; does w belong to n?",
            probed_kinds=(Kind.ADJECTIVE,),
            make_units=structure_units.make_binding_units,
            held_out=HeldOutKind.PAIRS,
            templates=_NOUN_TEMPLATES,
            question=structure_units.is_bound,
            may_answer=give_reason("an adjective stands before its noun; beat this figure", *_ORDER_CUES),
        ),
        _StructureTask(
            name="Recipient",
            needs=(Kind.DITRANSITIVE,),
            question_text="n and v occur in s; is n the recipient of v?",
            probed_kinds=(Kind.DITRANSITIVE,),
            has_one_sort=False,
            make_units=structure_units.make_recipient_units,
            held_out=HeldOutKind.PAIRS,
            templates=("ditransitive", "ditransitive-rc", *(f"{name}-ditransitive" for name in _CLAUSE_TEMPLATES)),
            question=structure_units.is_recipient,
            may_answer=give_reason("word order is what marks the role; beat this figure", *_ORDER_CUES),
        ),
        _StructureTask(
            name="Question",
            needs=(Mood.QUESTION,),
            question_text="does s ask for the agent or the patient?",
            classes="agent, patient",
            probed_kinds=(),
            make_units=structure_units.make_question_units,
            crossed=(),
            unit=2,
            templates=("transitive", "transitive-rc"),
            question=structure_units.is_patient_asked,
            may_answer=_SENTENCE_REASONS,
        ),
        _StructureTask(
            name="Mood",
            needs=(Mood.QUESTION, Mood.ORDER),
            question_text="is s a statement, a question or an order?",
            classes=", ".join(structure_units.MOODS),
            probed_kinds=(),
            make_units=structure_units.make_mood_units,
            crossed=(),
            unit=len(structure_units.MOODS),
            templates=("transitive", "transitive-rc.patient"),
            question=structure_units.get_mood,
            may_answer=_SENTENCE_REASONS | give_reason("an order does not name its agent", Cue.BAG, Cue.LENGTH),
        ),
    )
}

SUITE_TASKS: Mapping[str, dict[str, CompevalTask]] = {COMPEVAL: TASKS, STRUCTURE: STRUCTURE_TASKS}
"""The tasks of each suite of generated sentences, by name."""


def find_task(name: str, suite: str | None = None) -> CompevalTask:
    """Return the task *name* of a suite, or of any suite if *suite* is None. Raises UsageError."""
    suites = SUITE_TASKS if suite is None else {suite: SUITE_TASKS[suite]}
    tasks = {name: task for suite_tasks in suites.values() for name, task in suite_tasks.items()}
    if name not in tasks:
        raise UsageError(
            f"there is no {' or '.join(suites)} task {name!r}{suggest(name, tasks)}; the tasks are {', '.join(tasks)}"
        )
    return tasks[name]


def check_size(task: CompevalTask, size: Size, *, sampling: Sampling = Sampling.MIRROR, halves: bool = False) -> None:
    """Raise UsageError if labels cannot balance in splits of *size*, or if the task does not support *sampling*.

    With *halves*, labels must also balance in each half of the test items.
    """
    if sampling is Sampling.PAPER and task.name in STRUCTURE_TASKS:
        raise UsageError(f"{task.name}: sampling paper is for tasks of a paper; those of structure are mirror pairs")
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
