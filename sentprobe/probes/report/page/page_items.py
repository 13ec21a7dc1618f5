"""Wrongly answered test items on the report page: their number by structure, with examples."""

from collections.abc import Iterator
from dataclasses import dataclass

from sentprobe.probes.report.findings.item_parts import ItemTables
from sentprobe.probes.report.findings.mistakes import WrongItems, find_mistakes
from sentprobe.probes.results.result import Result, Results

TEMPLATE = "template"

ITEMS_WITHOUT_STRUCTURES = 3

MAX_ENCODERS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMistakes:
    """The wrongly answered items of an encoder on a task, part by part."""

    of: Result
    parts: tuple[WrongItems, ...]

    @property
    def title(self) -> str:
        """The line that is visible while the list of items is folded."""
        wrong = sum(part.wrong for part in self.parts)
        total = sum(part.items for part in self.parts)
        return f"{self.of.encoder} on {self.of.task}: {wrong} of {total} test items"


def build_page_mistakes(results: Results, items: ItemTables) -> Iterator[PageMistakes]:
    """Yield the mistakes of the first encoders (no layers) on each task with stored items, in the first draw."""
    records = [record for record in results.records if record.layer is None]
    encoders = [*dict.fromkeys(record.encoder for record in records)][:MAX_ENCODERS]
    first = {record.cell: record for record in reversed(records) if record.encoder in encoders}
    for record in sorted(first.values(), key=lambda record: encoders.index(record.encoder)):
        if record.dataset_fingerprint in items:
            table = items[record.dataset_fingerprint]
            count, column = (1, TEMPLATE) if TEMPLATE in table.columns else (ITEMS_WITHOUT_STRUCTURES, None)
            yield PageMistakes(of=record, parts=find_mistakes(record, table, count, column=column))
