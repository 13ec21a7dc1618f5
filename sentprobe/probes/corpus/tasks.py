"""The natural-text tasks as a table: names, what they need of the corpus, and who draws them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.corpus.adi import adi_content, adi_length, adi_order
from sentprobe.probes.corpus.adi_controls import permuted, random_words
from sentprobe.probes.corpus.conneau_semantics import object_number, subject_number, tense
from sentprobe.probes.corpus.conneau_surface import sentence_length, word_content
from sentprobe.probes.corpus.conneau_syntax import bigram_shift, top_constituents
from sentprobe.probes.corpus.inversion import coordination_inversion
from sentprobe.probes.corpus.odd_man_out import odd_man_out
from sentprobe.probes.corpus.selection import Draw, Selection
from sentprobe.probes.corpus.tree_depth import tree_depth


class Suite(StrEnum):
    """Tasks that belong together."""

    CONNEAU = "conneau"
    """The ten of Conneau et al. 2018; what is built unless tasks are named."""
    ADI = "adi"
    """The three of Adi et al. 2017."""
    CONTROLS = "adi-controls"
    """The same three about permuted sentences, and about sentences of random words."""


class Need(StrEnum):
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
    need: Need = Need.NOTHING
    slots: int = 0
    """How many probe words an item has."""


_CONNEAU = (
    NaturalTask("SentLen", Suite.CONNEAU, sentence_length),
    NaturalTask("WC", Suite.CONNEAU, word_content),
    NaturalTask("TreeDepth", Suite.CONNEAU, tree_depth, Need.TREE),
    NaturalTask("TopConst", Suite.CONNEAU, top_constituents, Need.TREE),
    NaturalTask("BShift", Suite.CONNEAU, bigram_shift),
    NaturalTask("Tense", Suite.CONNEAU, tense, Need.CLAUSE),
    NaturalTask("SubjNum", Suite.CONNEAU, subject_number, Need.CLAUSE),
    NaturalTask("ObjNum", Suite.CONNEAU, object_number, Need.CLAUSE),
    NaturalTask("SOMO", Suite.CONNEAU, odd_man_out, Need.TAGS),
    NaturalTask("CoordInv", Suite.CONNEAU, coordination_inversion, Need.TREE),
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
