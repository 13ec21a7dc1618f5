"""How often two rows of each of many sentences say the same, counted in Python, label by label.

An oracle of ``probe agree``, which counts in SQL; it says what a label is a second time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sentprobe.probes.natural.agreement import Tally
from sentprobe.probes.syntax.rows import Row

TENSES = {"VBP": "PRES", "VBZ": "PRES", "VBD": "PAST"}


class Label(StrEnum):
    """A label that two rows can agree on."""

    TENSE = "tense"
    VERB = "verb"
    SUBJECT = "subject"
    SUBJECT_NUMBER = "subject number"
    OBJECT = "object"
    OBJECT_NUMBER = "object number"
    DEPTH = "depth"
    TOP = "top constituents"
    CLAUSES = "coordinated clauses"


CLASSES = frozenset(
    (Label.TENSE, Label.SUBJECT_NUMBER, Label.OBJECT_NUMBER, Label.DEPTH, Label.TOP)
)
"""The labels that are classes; the others are positions in the sentence."""


_VALUES: Mapping[Label, Callable[[Row], object]] = {
    Label.TENSE: lambda row: None if row.verb is None else TENSES.get(row.tag(row.verb)),
    Label.VERB: lambda row: row.verb,
    Label.SUBJECT: lambda row: row.subject and row.subject.index,
    Label.SUBJECT_NUMBER: lambda row: row.subject and row.subject.number,
    Label.OBJECT: lambda row: row.object and row.object.index,
    Label.OBJECT_NUMBER: lambda row: row.object and row.object.number,
    Label.DEPTH: lambda row: row.depth,
    Label.TOP: lambda row: row.top,
    Label.CLAUSES: lambda row: row.clauses,
}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A sentence for which two analyses say different things."""

    text: str
    first: object
    second: object


@dataclass(slots=True)
class Agreement:
    """What two analyses say of one label: counts of sentences, and those that differ."""

    neither: int = 0
    """Neither has the label."""
    same: int = 0
    """Both have it, with the same value."""
    different: list[Disagreement] = field(default_factory=list)
    """Both have it, with different values."""
    one_only: list[Disagreement] = field(default_factory=list)
    """One has it; the other's value is None."""
    classes: tuple[Counter[object], Counter[object]] | None = field(default=None, compare=False)
    """Of a label with classes: how often each says which, where both have it."""

    @property
    def tally(self) -> Tally:
        """The counts."""
        only_a = sum(each.second is None for each in self.one_only)
        both = self.same + len(self.different)
        chance = None
        if self.classes is not None:
            first, second = self.classes
            agreeing = sum(n * second[value] for value, n in first.items())
            chance = agreeing / both**2 if both else 1.0
        return Tally(
            neither=self.neither,
            same=self.same,
            different=len(self.different),
            only_a=only_a,
            only_b=len(self.one_only) - only_a,
            chance=chance,
        )

    @property
    def total(self) -> int:
        """The number of sentences."""
        return self.tally.total

    @property
    def rate(self) -> float:
        """The share of all sentences for which both say the same, if only that there is none."""
        return self.tally.rate

    @property
    def rate_of_both(self) -> float:
        """The share with the same value among the sentences to which both give one."""
        return self.tally.rate_of_both


def agreement(pairs: Iterable[tuple[Row, Row]]) -> dict[Label, Agreement]:
    """Compare two rows of each of many sentences, label by label, in memory.

    The two must have the same tokens for positions to mean the same.
    """
    found = {
        label: Agreement(classes=(Counter(), Counter()) if label in CLASSES else None)
        for label in Label
    }
    for one, other in pairs:
        for label, value in _VALUES.items():
            _count(found[label], one.text, value(one), value(other))
    return found


def _count(counts: Agreement, text: str, first: object, second: object) -> None:
    if first is None and second is None:
        counts.neither += 1
        return
    if counts.classes is not None and first is not None and second is not None:
        counts.classes[0][first] += 1
        counts.classes[1][second] += 1
    if first == second:
        counts.same += 1
    else:
        where = counts.one_only if first is None or second is None else counts.different
        where.append(Disagreement(text, first, second))
