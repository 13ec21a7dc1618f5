"""What the page says of test items: how many are answered wrong, by structure, with an example."""

from collections.abc import Iterator
from dataclasses import dataclass

from sentprobe.probes.report.mistakes import WrongItems, mistakes_of
from sentprobe.probes.report.parts import ItemsOf
from sentprobe.probes.runs.item_table import ItemTable
from sentprobe.probes.runs.results import Result, Results

TEMPLATE = "template"
"""The column of a sentence's structure."""

FEW = 3
"""So many items are shown where there are no structures."""

ENCODERS = 6
"""Of so many encoders there are items on a page; probe show --wrong has those of any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMistakes:
    """What an encoder's probes answer wrong on a task, part by part."""

    of: Result
    parts: tuple[WrongItems, ...]

    @property
    def title(self) -> str:
        """What can be seen while it is folded."""
        wrong = sum(each.wrong for each in self.parts)
        total = sum(each.items for each in self.parts)
        return f"{self.of.encoder} on {self.of.task}: {wrong} of {total} test items"


def page_mistakes(results: Results, items: ItemsOf) -> Iterator[PageMistakes]:
    """Yield what the first encoders answer wrong on each task whose items are kept.

    Of several draws it is the first; layers of a model are left out.
    """
    whole = [each for each in results.records if each.layer is None]
    encoders = [*dict.fromkeys(each.encoder for each in whole)][:ENCODERS]
    first = {each.cell: each for each in reversed(whole) if each.encoder in encoders}
    for record in sorted(first.values(), key=lambda each: encoders.index(each.encoder)):
        if record.dataset_fingerprint in items:
            yield _mistakes(record, items[record.dataset_fingerprint])


def _mistakes(record: Result, table: ItemTable) -> PageMistakes:
    by_structure = TEMPLATE in table.columns
    found = mistakes_of(
        record, table, 1 if by_structure else FEW, column=TEMPLATE if by_structure else None
    )
    return PageMistakes(of=record, parts=found)
