"""The natural-text tasks as a table: names, what they need of the corpus, and who draws them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.natural.adi import adi_content, adi_length, adi_order, permuted, random_words
from sentprobe.probes.natural.bshift import bigram_shift
from sentprobe.probes.natural.coordinv import coordination_inversion
from sentprobe.probes.natural.select import Draw, Selection
from sentprobe.probes.natural.sentlen import sentence_length
from sentprobe.probes.natural.somo import odd_man_out
from sentprobe.probes.natural.tense_number import object_number, subject_number, tense
from sentprobe.probes.natural.topconst import top_constituents
from sentprobe.probes.natural.treedepth import tree_depth
from sentprobe.probes.natural.wc import word_content


class Suite(StrEnum):
    """Tasks that belong together."""

    CONNEAU = "conneau"
    """The ten of Conneau et al. 2018; what is built unless tasks are named."""
    ADI = "adi"
    """The three of Adi et al. 2017."""
    CONTROLS = "adi-controls"
    """The same three about permuted sentences, and about sentences of random words."""


class TableNeed(StrEnum):
    """What a task needs of the rows of the table, besides their tokens."""

    NOTHING = "nothing"
    TAGS = "tags"
    CLAUSE = "the main clause"
    TREE = "constituents"


@dataclass(frozen=True, slots=True)
class NaturalTask:
    """A task: its name, its suite, how it is drawn, and what it needs."""

    name: str
    suite: Suite
    draw: Callable[[Draw], Selection]
    need: TableNeed = TableNeed.NOTHING
    slots: int = 0
    """How many probe words an item has."""


_CONNEAU = (
    NaturalTask("SentLen", Suite.CONNEAU, sentence_length),
    NaturalTask("WC", Suite.CONNEAU, word_content),
    NaturalTask("TreeDepth", Suite.CONNEAU, tree_depth, TableNeed.TREE),
    NaturalTask("TopConst", Suite.CONNEAU, top_constituents, TableNeed.TREE),
    NaturalTask("BShift", Suite.CONNEAU, bigram_shift),
    NaturalTask("Tense", Suite.CONNEAU, tense, TableNeed.CLAUSE),
    NaturalTask("SubjNum", Suite.CONNEAU, subject_number, TableNeed.CLAUSE),
    NaturalTask("ObjNum", Suite.CONNEAU, object_number, TableNeed.CLAUSE),
    NaturalTask("SOMO", Suite.CONNEAU, odd_man_out, TableNeed.TAGS),
    NaturalTask("CoordInv", Suite.CONNEAU, coordination_inversion, TableNeed.TREE),
)
_OF_ADI = (("AdiLength", adi_length, 0), ("AdiContent", adi_content, 1), ("AdiOrder", adi_order, 2))
_ADI = tuple(NaturalTask(name, Suite.ADI, draw, slots=slots) for name, draw, slots in _OF_ADI)
_CONTROLS = tuple(
    NaturalTask(f"{name}-{what}", Suite.CONTROLS, partial(draw, change=change), slots=slots)
    for name, draw, slots in _OF_ADI
    for what, change in (("permuted", permuted), ("random", random_words))
)

TASKS = {task.name: task for task in (*_CONNEAU, *_ADI, *_CONTROLS)}
"""All tasks by name."""


def find_tasks(names: Iterable[str] = ()) -> list[NaturalTask]:
    """Return the tasks of those names or suites; of no names, the ten of Conneau et al. 2018.

    Raises:
        UsageError: there is none of that name, or one is named twice.
    """
    found = [task for name in [*names] or [Suite.CONNEAU] for task in _named(name)]
    for place, task in enumerate(found):
        if task in found[:place]:
            raise UsageError(f"the task {task.name!r} is named twice")
    return found


def _named(name: str) -> Sequence[NaturalTask]:
    if name in TASKS:
        return [TASKS[name]]
    if name in {suite.value for suite in Suite}:
        return [task for task in TASKS.values() if task.suite == name]
    known = [*TASKS, *(suite.value for suite in Suite)]
    raise UsageError(
        f"there is no natural-text task {name!r}{suggest(name, known)}; the tasks are "
        f"{', '.join(TASKS)}; the suites are {', '.join(Suite)}"
    )
