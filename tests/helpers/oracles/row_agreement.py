"""Agreement of two rows of each sentence, counted in Python label by label.

An oracle for ``probe agree``, which counts in SQL; it defines the labels a second time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sentprobe.probes.corpus.table_rows import Row
from sentprobe.probes.natural.table_agreement import AgreementCounts

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


CLASSES = frozenset((Label.TENSE, Label.SUBJECT_NUMBER, Label.OBJECT_NUMBER, Label.DEPTH, Label.TOP))
"""The labels that are classes; the others are positions in the sentence."""


_VALUES: Mapping[Label, Callable[[Row], object]] = {
    Label.TENSE: lambda row: None if row.verb is None else TENSES.get(row.tags[row.verb]),
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
    """A sentence with different labels in two analyses."""

    text: str
    first: object
    second: object


@dataclass(slots=True)
class Agreement:
    """Agreement of two analyses on a label: counts of sentences, and those that differ."""

    neither: int = 0
    """Neither has the label."""
    same: int = 0
    """Both have it, with the same value."""
    different: list[Disagreement] = field(default_factory=list)
    """Both have it, with different values."""
    one_only: list[Disagreement] = field(default_factory=list)
    """One has it; the other's value is None."""
    classes: tuple[Counter[object], Counter[object]] | None = field(default=None, compare=False)
    """For a label with classes: frequencies of the classes in each analysis, where both have the
    label."""

    @property
    def tally(self) -> AgreementCounts:
        """The counts."""
        only_a = sum(disagreement.second is None for disagreement in self.one_only)
        both = self.same + len(self.different)
        chance = None
        if self.classes is not None:
            first, second = self.classes
            agreeing = sum(n * second[value] for value, n in first.items())
            chance = agreeing / both**2 if both else 1.0
        return AgreementCounts(
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
        """The share of all sentences with the same value in both, or with none in both."""
        return self.tally.rate

    @property
    def rate_of_both(self) -> float:
        """The share with the same value among the sentences with a value in both."""
        return self.tally.rate_of_both


def compare_rows(pairs: Iterable[tuple[Row, Row]]) -> dict[Label, Agreement]:
    """Compare two rows of each sentence, label by label, in memory.

    The two must have the same tokens; otherwise positions cannot be compared.
    """
    agreements = {label: Agreement(classes=(Counter(), Counter()) if label in CLASSES else None) for label in Label}
    for row, other_row in pairs:
        for label, value in _VALUES.items():
            _count(agreements[label], row.text, value(row), value(other_row))
    return agreements


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
