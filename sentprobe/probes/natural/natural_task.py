"""Definition of a natural-text task: the rule that draws its items, and its description."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sentprobe.probes.known_task import Cue, KnownTask
from sentprobe.probes.natural.selection import Selection, SelectionRequest


class TaskGroup(StrEnum):
    """A suite of natural-text tasks."""

    CONNEAU = "conneau"
    """The ten of Conneau et al. 2018; the default."""
    ADI = "adi"
    """The three of Adi et al. 2017."""
    UNIVERSAL = "universal"
    """Tasks from Universal Dependencies."""
    CONTROLS = "adi-controls"
    """The tasks of Adi et al. 2017 on permuted sentences and on sentences of random words."""


class TableNeed(StrEnum):
    """Columns that a task needs in the rows of the table, besides the tokens."""

    NOTHING = "nothing"
    TAGS = "tags"
    CLAUSE = "the main clause"
    TREE = "constituents"
    CLAUSES = "constituents or Universal Dependencies"
    UNIVERSAL = "Universal Dependencies (probe analyze --universal)"


@dataclass(frozen=True, slots=True)
class ParseLabel:
    """A label from the parse of a sentence, as an SQL expression over its row; NULL: no label."""

    sql: str
    classes: bool = True
    """Whether its values are classes; otherwise they are positions in the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalTask(KnownTask):
    """A natural-text task: suite, item rule, required columns, and labels of the parse."""

    suite: TaskGroup = TaskGroup.CONNEAU
    preset: str = "conneau"
    select_items: Callable[[SelectionRequest], Selection]
    need: TableNeed = TableNeed.NOTHING
    feature: tuple[str, str] | None = None
    """The role (verb, subject, object) and the feature of Universal Dependencies that the answer is read from."""
    slots: int = 0
    """Number of probe words of an item."""
    labels: Mapping[str, ParseLabel] = field(default_factory=dict, hash=False)
    """Labels of the parse on which the answer depends, by name."""
    answer: ParseLabel | None = None
    """For a task about the parse: its answer for each candidate sentence.

    This is before frequency bands, balance and size select sentences. A rare sequence of TopConst counts as itself.
    """


CORRELATED_IN_TEXT = "in natural text it goes with the answer, which the task does not rule out; beat this figure"
"""Reason for a cue that the definition of the task does not mention."""
REVEALS_STRUCTURE = "words and their order tell of the structure; beat this figure"
BAG_AND_ORDER = (Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE)
"""All cues of a sentence without probe words except its length."""
