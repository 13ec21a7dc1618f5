"""What a natural-text task is: a rule that draws its items, and all that others say of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sentprobe.probes.known_task import Cue, KnownTask
from sentprobe.probes.natural.select import Draw, Selection


class TaskGroup(StrEnum):
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
class Said:
    """What a parsed sentence says, as an SQL expression over its row; NULL: nothing."""

    sql: str
    classes: bool = True
    """Whether its values are classes; else they are positions in the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalTask(KnownTask):
    """A task: its suite, how it is drawn, what it needs, and what its parse says."""

    suite: TaskGroup = TaskGroup.CONNEAU
    preset: str = "conneau"
    draw: Callable[[Draw], Selection]
    need: TableNeed = TableNeed.NOTHING
    slots: int = 0
    """How many probe words an item has."""
    labels: Mapping[str, Said] = field(default_factory=dict, hash=False)
    """The labels of the parse that it takes its answer from, by name."""
    answer: Said | None = None
    """Of a task that asks about the parse: its answer for each sentence that it could take.

    That is before frequency bands, balance and size decide which are asked. A sequence of TopConst
    that is not frequent counts as itself.
    """


IN_TEXT = (
    "in natural text it goes with the answer, which the task does not rule out; beat this figure"
)
"""Why a cue may answer that a definition says nothing of."""

OF_STRUCTURE = "words and their order tell of the structure; beat this figure"

BAG_AND_ORDER = (Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE)
"""What is left of a sentence without probe words but for its length."""
