"""Accuracies from the tables of three papers, shown as rows beside the results of a run on the same tasks."""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from sentprobe.probes.report.references import Reference, find_reference
from sentprobe.probes.results.result import Results

PUBLISHED = "published"
"""The ``section`` of table rows from papers, and the ``condition`` of records from papers."""


class PublishedKind(StrEnum):
    """The kind of system that a published row describes."""

    ENCODER = "encoder"
    BASELINE = "baseline"
    BOUND = "bound"
    """An upper bound: human accuracy, or the share of automatic labels that are correct."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row of a paper's table, with the accuracy on each task in percent."""

    name: str
    source: str
    accuracies: Mapping[str, float] = field(hash=False)
    kind: PublishedKind = PublishedKind.ENCODER

    @property
    def label(self) -> str:
        """Name, source and kind, such as "Hum. Eval. (Conneau et al. 2018, bound)"; for encoders, without the kind."""
        kind = "" if self.kind is PublishedKind.ENCODER else f", {self.kind}"
        return f"{self.name} ({self.source}{kind})"


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A paper's table, with facts about its data and classifier."""

    reference: Reference
    where: str
    classifier: str
    items: Mapping[str, int] = field(hash=False)
    """The number of items by split; empty if the paper does not state it."""
    chance: Mapping[str, float] = field(hash=False)
    """The share of the most frequent label in percent, by task."""
    rows: tuple[PublishedRow, ...]


@cache
def read_published_tables() -> tuple[PublishedTable, ...]:
    """Read the packaged tables: Ettinger et al. 2018, Conneau et al. 2018, Adi et al. 2017."""
    text = files(__package__).joinpath("published.toml").read_text("utf-8")
    tables = []
    for table in tomllib.loads(text)["table"]:
        reference = find_reference(table["reference"])
        rows = (
            PublishedRow(
                row["name"], reference.label, row["accuracies"], PublishedKind(row.get("kind", PublishedKind.ENCODER))
            )
            for row in table["row"]
        )
        tables.append(
            PublishedTable(
                reference=reference,
                where=table["where"],
                classifier=table["classifier"],
                items=table.get("items", {}),
                chance=table["chance"],
                rows=tuple(rows),
            )
        )
    return tuple(tables)


def find_tables(tasks: Collection[str]) -> tuple[PublishedTable, ...]:
    """Return the published tables that have at least one of these tasks."""
    return tuple(table for table in read_published_tables() if not table.chance.keys().isdisjoint(tasks))


def describe_published_tables(tasks: Sequence[str]) -> Iterator[str]:
    """Yield a note on each published table with one of these tasks, or one note if no table has any."""
    tables = find_tables(tasks)
    for table in tables:
        sizes = " and ".join(f"{count:,} {split}" for split, count in table.items.items())
        items = f", {sizes} items" if sizes else ""
        bounds = " and ".join(row.name for row in table.rows if row.kind is PublishedKind.BOUND)
        bounds_text = f"; {bounds} is human accuracy, an upper bound" if bounds else ""
        shares = {task: f"{table.chance[task]:.1f}" for task in tasks if task in table.chance}
        chance = ", ".join(f"{share} on {task}" for task, share in shares.items())
        if len({*shares.values()}) == 1:
            chance = f"{next(iter(shares.values()))} on all"
        yield (
            f"Published rows: {table.reference.citation}, {table.where}; its classifier is that of the preset "
            f"{table.classifier}{items}, chance {chance}. Data and encoders are the paper's{bounds_text}."
        )
    if not tables:
        yield "No published rows: none of the papers' tables has one of these tasks."


def to_published_records(results: Results) -> list[dict[str, Any]]:
    """Return a record for each accuracy that a paper reports on a task of *results*; keys as in ``to_records()``."""
    keys = dict.fromkeys(results.to_records()[0]) if results.records else {}
    return [
        {
            **keys,
            "run": table.reference.citation,
            "encoder": row.label,
            "task": task,
            "condition": PUBLISHED,
            "accuracy": row.accuracies[task] / 100,
            "majority": table.chance[task] / 100,
            "total": table.items.get("test"),
            "preset": table.classifier,
        }
        for table in find_tables(results.tasks)
        for row in table.rows
        for task in results.tasks
        if task in row.accuracies
    ]
