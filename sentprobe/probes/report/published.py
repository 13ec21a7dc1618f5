"""The accuracies of the three papers' tables, as rows beside a run that has one of their tasks."""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from sentprobe.probes.report.references import Reference, find_reference
from sentprobe.probes.runs.results import Results

PUBLISHED = "published"
"""The section of rows from papers, and the condition of their records."""


class PublishedKind(StrEnum):
    """What a published row is of."""

    ENCODER = "encoder"
    BASELINE = "baseline"
    """A simple method without an encoder."""
    BOUND = "bound"
    """What people achieve, or in how many items the automatic labels are right."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row of a paper's table: task to accuracy in percent, as printed."""

    name: str
    source: str
    """Authors and year."""
    accuracies: Mapping[str, float] = field(hash=False)
    kind: PublishedKind = PublishedKind.ENCODER

    @property
    def label(self) -> str:
        """What stands before the row."""
        kind = "" if self.kind is PublishedKind.ENCODER else f", {self.kind}"
        return f"{self.name} ({self.source}{kind})"


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A paper's table, and what its figures are of."""

    reference: Reference
    where: str
    classifier: str
    """The preset that does as the paper did."""
    items: Mapping[str, int] = field(hash=False)
    """Split to number of items, of those that the paper says."""
    chance: Mapping[str, float] = field(hash=False)
    """Task to the share of the commonest label, in percent."""
    rows: tuple[PublishedRow, ...]


@cache
def published() -> tuple[PublishedTable, ...]:
    """Read the packaged tables: of Ettinger et al. 2018, Conneau et al. 2018, Adi et al. 2017."""
    text = files("sentprobe.probes.report").joinpath("published.toml").read_text("utf-8")
    return tuple(map(_table, tomllib.loads(text)["table"]))


def _table(value: Mapping[str, Any]) -> PublishedTable:
    reference = find_reference(value["reference"])
    rows = (
        PublishedRow(
            row["name"],
            reference.label,
            row["accuracies"],
            PublishedKind(row.get("kind", PublishedKind.ENCODER)),
        )
        for row in value["row"]
    )
    return PublishedTable(
        reference=reference,
        where=value["where"],
        classifier=value["classifier"],
        items=value.get("items", {}),
        chance=value["chance"],
        rows=tuple(rows),
    )


def tables_of(tasks: Collection[str]) -> tuple[PublishedTable, ...]:
    """Return the tables that have one of these tasks."""
    return tuple(table for table in published() if not table.chance.keys().isdisjoint(tasks))


def rows_of(tasks: Collection[str]) -> Iterator[PublishedRow]:
    """Yield the rows of the tables that have one of these tasks."""
    for table in tables_of(tasks):
        yield from table.rows


def published_lines(tasks: Sequence[str]) -> Iterator[str]:
    """Say in plain sentences what the rows beside these tasks are of."""
    tables = tables_of(tasks)
    for table in tables:
        yield _line(table, [task for task in tasks if task in table.chance])
    if not tables:
        yield "No rows of the papers: none of their tables has one of these tasks."


def _line(table: PublishedTable, tasks: Sequence[str]) -> str:
    sizes = " and ".join(f"{count:,} {split}" for split, count in table.items.items())
    citation = table.reference.citation
    items = f", {sizes} items" if sizes else ""
    return (
        f"Published rows: {citation}, {table.where}; its classifier is that of the preset "
        f"{table.classifier}{items}, chance {_chance(table, tasks)}. Data and encoders are the "
        f"paper's, not these{_bounds(table)}."
    )


def _chance(table: PublishedTable, tasks: Sequence[str]) -> str:
    shares = {task: f"{table.chance[task]:.1f}" for task in tasks}
    if len(set(shares.values())) == 1:
        return f"{shares[tasks[0]]} on all"
    return ", ".join(f"{share} on {task}" for task, share in shares.items())


def _bounds(table: PublishedTable) -> str:
    bounds = [row.name for row in table.rows if row.kind is PublishedKind.BOUND]
    if not bounds:
        return ""
    return f"; {' and '.join(bounds)} is what people achieve, a bound"


def published_records(results: Results) -> list[dict[str, Any]]:
    """Return the papers' figures for the tasks, as records with the keys of those of results."""
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
        for table in tables_of(results.tasks)
        for row in table.rows
        for task in results.tasks
        if task in row.accuracies
    ]
