"""The main table of results: a row for each encoder, a column for each task (as Ettinger et al. 2018, table 2).

Accuracies from the tables of three papers, shown as rows beside the results of a run on the same tasks.
"""

import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from sentprobe.common.errors import format_count
from sentprobe.common.tables import Grid, GridCell, GridRow, ShownTable
from sentprobe.common.values import group_by
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.datasets.dataset import ENCODER_WORDS
from sentprobe.probes.reports.comparisons import shorten_folders
from sentprobe.probes.reports.control_verdicts import name_control
from sentprobe.probes.reports.figures import FEW_ITEMS, Figure
from sentprobe.probes.reports.references import Reference, find_reference
from sentprobe.probes.reports.table_findings import find_marked_cells, find_table
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.results.draws import join_draws
from sentprobe.probes.results.human_results import HUMAN, HumanResult, match_human
from sentprobe.probes.results.result import Condition, EncoderOnTask, Result, Results
from sentprobe.probes.runs.suites import list_known_tasks

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


@dataclass(slots=True)
class _DrawTable:
    """The results of one draw for one table, and the values that they must share, such as the data of a task."""

    records: dict[EncoderOnTask, Result] = field(default_factory=dict)
    shared: dict[tuple[str, str], object] = field(default_factory=dict)

    def add(self, record: Result) -> bool:
        """Return whether *record* fits the table (shared values, such as a task's data, agree); if it fits, add it.

        If the table already has a result of this encoder on this task, only one of the two results stays: the one with
        more conditions or, with equally many conditions, more seeds.
        """
        own_values = _list_shared_values(record)
        if any(self.shared.get(name, value) != value for name, value in own_values.items()):
            return False
        former = self.records.get(record.cell)
        if former is None:
            self.records[record.cell] = record
            self.shared |= own_values
        elif _count_scores(record) > _count_scores(former):
            self.records[record.cell] = record
            members = self.records.values()  # what only the former result demanded is no longer shared
            self.shared = {n: value for member in members for n, value in _list_shared_values(member).items()}
        return True


def _list_shared_values(record: Result) -> dict[tuple[str, str], object]:
    """Return the values that all results of a table must share with this result, such as the data of its task."""
    is_own = record.probe_vectors == ENCODER_WORDS  # the encoder's fingerprint identifies its word vectors
    values: dict[tuple[str, str], object] = {
        ("data", record.task): record.dataset_fingerprint,
        ("vectors", record.encoder): record.encoder_fingerprint,
    }
    if record.probe_vectors:
        values["probe words", ""] = record.probe_vectors, "" if is_own else record.probe_fingerprint
    if record.probe_fingerprint:
        values["word vectors", record.encoder] = record.probe_fingerprint
    return values


def split_single_draws(results: Results) -> tuple[Results, ...]:
    """Divide results into tables of comparable results of one draw, sorted by seed.

    All results of a table share the seed and the classifier. In a table, each task has one dataset, and each encoder
    name has one fingerprint. Of two results of an encoder on a task, the table has the result with more conditions or,
    if both have as many, the result with more seeds.
    """
    tables: list[_DrawTable] = []
    tables_by_setting: dict[tuple[int, Preset], list[_DrawTable]] = {}
    for record in results.records:
        candidates = tables_by_setting.setdefault((record.seed, record.preset), [])
        if not any(table.add(record) for table in candidates):
            table = _DrawTable()
            table.add(record)
            candidates.append(table)
            tables.append(table)
    members = [tuple(table.records.values()) for table in tables]
    return tuple(Results(records) for records in sorted(members, key=lambda records: records[0].seed))


def _count_scores(record: Result) -> tuple[int, int]:
    scores = record.scores
    return len(scores), sum(len(score.seeds) for score in scores.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStyle:
    """The optional parts of a table: intervals, standard deviations, published results, controls and people."""

    intervals: bool = False
    sources: bool = False
    """Whether the table has the standard deviations between draws and between probes, the sources of variation."""
    published: bool = False
    all_rows: bool = False
    """Whether the table has all controls."""
    human: tuple[HumanResult, ...] = ()
    """Accuracies of people, of which a table has those on its data."""


def build_grid(results: Results, *, style: CellStyle | None = None) -> Grid:
    """Build a table of comparable results, with rows of encoders and, if *style* has them, people, papers and controls.

    A cell is the mean accuracy over draws and seeds in %, with ± half its 95% interval if there are several probes.
    The best cell of a column is marked if it is above its control and significantly better than every other model
    (:mod:`.table_findings`). A control that depends only on the vector width has one row for each width. The last rows
    have the controls with positions, figures to exceed.
    """
    style = style or CellStyle()
    rows = [*_build_encoder_rows(results, Condition.PROBE, style)]
    if human := match_human(style.human, results.records):
        # with intervals always, since a sample of the test items is small
        texts = (human[task].figure if task in human else "" for task in results.tasks)
        rows.append(GridRow(HUMAN, "human", tuple(map(GridCell, texts))))
    if style.published:
        for published in [row for table in find_tables(results.tasks) for row in table.rows]:
            texts = (f"{published.accuracies[n]:.1f}" if n in published.accuracies else "" for n in results.tasks)
            rows.append(GridRow(published.label, PUBLISHED, tuple(map(GridCell, texts))))
    if style.all_rows:
        rows += [
            *_build_shared_rows(results, Condition.RANDOM_SENTENCES, style),
            *_build_encoder_rows(results, Condition.RANDOM_PROBES, style),
            *_build_shared_rows(results, Condition.BAG_OF_WORDS, style),
            *_build_shared_rows(results, Condition.NO_SENTENCE, style),
        ]
    rows += _build_shared_rows(results, Condition.WORDS_AND_POSITIONS, style)
    rows += _build_shared_rows(results, Condition.FIXED_POSITIONS, style)
    filled_rows = (row for row in rows if row.heading or any(cell.text for cell in row.cells))
    return Grid(("encoder", *results.tasks), tuple(filled_rows))


def build_human_tables(human: Sequence[HumanResult], results: Results) -> Iterator[ShownTable]:
    """Yield a table, as (title, grid, notes), of people on data that no table of *results* has, if there is any.

    It has a row for each study.
    """
    matched = match_human(human, results.records)
    others = [result for result in human if matched.get(result.task) != result]
    if others:
        notes = "".join(f"Human: {result.describe()}.\n" for result in others)
        title = "people, on other data than the encoders" if results.records else "people"
        rows = tuple(GridRow(result.task, "human", (GridCell(result.figure),)) for result in others)
        yield title, Grid(("task", HUMAN), rows), notes


def to_human_records(human: Sequence[HumanResult]) -> list[dict[str, Any]]:
    """Return a record for each accuracy of people; keys as in ``to_records()``."""
    return [
        {
            "run": result.source,
            "encoder": HUMAN,
            "task": result.task,
            "condition": "human",
            "accuracy": result.accuracy,
            "low": result.interval.low,
            "high": result.interval.high,
            "majority": result.majority,
            "total": len(result.items),
            "dataset_fingerprint": result.dataset_fingerprint,
        }
        for result in human
    ]


def _build_shared_rows(results: Results, condition: Condition, style: CellStyle) -> list[GridRow]:
    by_name: dict[str, dict[str, Result]] = {}
    for record in results.records:
        if condition in record.scores:
            by_name.setdefault(name_control(record, condition), {}).setdefault(record.task, record)
    return [_build_row(name, condition, results, firsts, style) for name, firsts in by_name.items()]


def _build_row(
    label: str, condition: Condition, results: Results, firsts: Mapping[str, Result], style: CellStyle
) -> GridRow:
    findings = find_table(results)  # once, since the look-up reads all results
    cells = []
    for task in results.tasks:
        draws = results.records_by_cell[firsts[task].cell] if task in firsts else ()
        figure = findings.find_figure(draws, condition) if draws else None
        if figure is None:
            cells.append(GridCell(""))
            continue
        text = format_figure(figure, intervals=style.intervals)
        if figure.items < FEW_ITEMS:
            interval = format_figure(replace(figure, half_width=None), intervals=True)
            text = f"{interval} ({format_count(figure.items, 'item')})"
        between = {"draws": figure.between_draws, "probes": figure.between_probes} if style.sources else {}
        parts = [f"{source} {_format_percent(part)}" for source, part in between.items() if part is not None]
        cells.append(GridCell(text + (f" ({', '.join(parts)})" if parts else "")))
    return GridRow(label, condition.value, tuple(cells))


def _build_encoder_rows(results: Results, condition: Condition, style: CellStyle) -> Iterator[GridRow]:
    """Yield a row for each encoder; the rows of a model's layers stand below a heading with the model's name."""
    by_encoder = {record.encoder: record for record in results.records if condition in record.scores}
    best = find_marked_cells(results) if condition is Condition.PROBE else ()
    tail = f", {CONTROLS[condition].name}" if condition in CONTROLS else ""
    layers = [record for record in by_encoder.values() if record.layer is not None]
    layer_counts = Counter(record.family for record in layers)
    families = {record.encoder: record.family for record in layers if layer_counts[record.family] > 1}
    labels = shorten_folders(families.get(name, name) for name in by_encoder)
    # groupby joins neighbours only: sort_results has put the layers of a family side by side.
    for family, names in groupby(by_encoder, key=families.get):
        if family is not None:
            empty = (GridCell(""),) * len(results.tasks)
            yield GridRow(f"{labels[family]}{tail}", condition.value, empty, heading=True)
        for name in names:
            label = f"{labels[name]}{tail}" if family is None else f"  layer {by_encoder[name].layer}"
            firsts = {task: first for task in results.tasks if (first := results.find(name, task))}
            row = _build_row(label, condition, results, firsts, style)
            pairs = zip(results.tasks, row.cells, strict=True)
            cells = tuple(replace(cell, best=(name, task) in best) for task, cell in pairs)
            yield replace(row, cells=cells, encoder=name)


def format_figure(figure: Figure, *, intervals: bool = False) -> str:
    """Return an accuracy in percent, such as "61.2 ± 2.1" or, with *intervals*, "61.2 ± 2.1 [59.1, 63.3]"."""
    half_width = "" if figure.half_width is None else f" ± {_format_percent(figure.half_width)}"
    low, high = _format_percent(figure.interval.low), _format_percent(figure.interval.high)
    return _format_percent(figure.accuracy) + half_width + (f" [{low}, {high}]" if intervals else "")


def _format_percent(accuracy: float) -> str:
    return f"{100 * accuracy:.1f}"


def sort_results(results: Results) -> Results:
    """Return the results sorted by task in the order of the papers' tables, with encoders in order of appearance.

    Layers and training steps of a model are sorted by their number.
    """
    task_ranks = {task.name: rank for rank, task in enumerate(list_known_tasks())}
    models = dict.fromkeys(record.family or record.encoder for record in results.records)
    model_ranks = {name: rank for rank, name in enumerate(models)}
    encoder_ranks = {name: rank for rank, name in enumerate(results.encoders)}

    def find_place(record: Result) -> tuple[object, ...]:
        layer = -1 if record.layer is None else record.layer
        snapshot = (-1 if record.step is None else record.step, record.epoch or 0.0)
        task_rank = task_ranks.get(record.task, len(task_ranks))
        model_rank, rank = model_ranks[record.family or record.encoder], encoder_ranks[record.encoder]
        return model_rank, layer, snapshot, rank, task_rank, record.task

    return Results(tuple(sorted(results.records, key=find_place)))


def split_settings(results: Results) -> tuple[Results, ...]:
    """Divide results into tables in which all results are comparable. The draws of a run go into the same table."""
    # The sources are part of the key, since results that differ only in their folder are equal.
    return _split_settings(results, tuple(record.source for record in results.records))


@lru_cache(maxsize=8)
def _split_settings(results: Results, sources: tuple[str, ...]) -> tuple[Results, ...]:  # noqa: ARG001
    return join_draws(split_single_draws(results))


def describe_differences(tables: Sequence[Results]) -> tuple[str, ...]:
    """Return one title for each table, such as "table 2 of 3, seed 1". The title of a single table is ""."""
    if len(tables) == 1:
        return ("",)
    differences = [""] * len(tables)
    seeds = [sorted({record.seed for record in table.records}) for table in tables]
    words = [sorted({record.probe_vectors for record in table.records} - {""}) for table in tables]
    for texts in (
        [f", seed {' and '.join(map(str, numbers))}" for numbers in seeds],
        [f", probe words: {' and '.join(names)}" if names else "" for names in words],
    ):
        if len(set(texts)) > 1:
            differences = [before + text for before, text in zip(differences, texts, strict=True)]
    return tuple(f"table {place} of {len(tables)}{text}" for place, text in enumerate(differences, 1))


def describe_origins(results: Results) -> Iterator[str]:
    """Yield a line such as "from FOLDER: ENCODER, ENCODER" for each results folder."""
    for folder, records in group_by(results.records, lambda record: record.source).items():
        if folder:
            yield f"from {folder}: {', '.join(dict.fromkeys(record.encoder for record in records))}"
