"""The definition of a natural-text task: its description, and the function that selects its items."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from sentprobe.common.specs import TaskGroup
from sentprobe.probes.datasets.known_task import Cue, KnownTask
from sentprobe.probes.natural.selection import Selection, SelectionRequest


class TableNeed(StrEnum):
    """The information about a sentence that a task needs from the table, besides the tokens."""

    NOTHING = "nothing"
    TAGS = "tags"
    CLAUSE = "the main clause"
    TREE = "constituents"
    CLAUSES = "constituents or Universal Dependencies"
    UNIVERSAL = "Universal Dependencies (probe analyze --universal)"


@dataclass(frozen=True, slots=True)
class ParseLabel:
    """A label from the parse of a sentence, as an SQL expression over a table's row; NULL means no label."""

    sql: str
    classes: bool = True
    """Whether the values are classes; otherwise they are positions in the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalTask(KnownTask):
    """A task on sentences of natural text, with the function that selects its items from an analysed table."""

    suite: TaskGroup = TaskGroup.CONNEAU
    preset: str = "conneau"
    select_items: Callable[[SelectionRequest], Selection]
    need: TableNeed = TableNeed.NOTHING
    feature: tuple[str, str] | None = None
    """The role and the Universal Dependencies feature that give the answer, such as ``("verb", "Tense")``."""
    slots: int = 0
    """Number of probe words of an item."""
    labels: Mapping[str, ParseLabel] = field(default_factory=dict, hash=False)
    """The labels from the parse that determine the answer, by name."""
    answer: ParseLabel | None = None
    """For a task about the parse, the answer for each sentence, before selection by frequency band, balance and size.

    At that point, a rare sequence in TopConst is a class of its own, not OTHER.
    """

    @property
    def module(self) -> str:
        """Name of the module of the function that selects the items."""
        function = self.select_items.func if isinstance(self.select_items, partial) else self.select_items
        return function.__module__


CORRELATED_IN_TEXT = "in natural text it goes with the answer, which the task does not rule out; beat this figure"
"""Reason why a cue may answer a task whose definition does not mention the cue."""
REVEALS_STRUCTURE = "words and their order tell of the structure; beat this figure"
BAG_AND_ORDER = (Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE)
"""The cues from the words of a sentence and their order."""
