"""What methods say beside accuracy: selectivity, description length, information, complexity."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import mean, stdev
from typing import Any, TypeAlias

from sentprobe.probes.report.tables import settings, titles
from sentprobe.probes.report.view import ShownTable
from sentprobe.probes.runs.results import METHODS, Condition, Result, Results, SeedScore
from sentprobe.probes.trainer.readings import Reading, area, code_length, compression
from sentprobe.table_writers import Grid, GridCell, GridRow

GAP = 3.0
"""The points by which a hidden layer gains more than is to be expected (Conneau et al. 2018)."""


@dataclass(frozen=True, slots=True)
class MethodColumn:
    """What stands above a column, the figure of each probe below it, and its decimals."""

    name: str
    figure: Callable[[Result, SeedScore], float]
    decimals: int = 1

    def show(self, probes: Sequence[tuple[Result, SeedScore]]) -> str:
        """Write the mean over probes, and their standard deviation where there are several."""
        if not probes:
            return "-"
        figures = [self.figure(*each) for each in probes]
        spread = f" ± {stdev(figures):.{self.decimals}f}" if len(figures) > 1 else ""
        return f"{mean(figures):.{self.decimals}f}{spread}"


Columns: TypeAlias = Callable[[SeedScore], list[MethodColumn]]
"""The columns for a task, given one of its probes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodTable:
    """A table of a method: a row for each encoder on a task."""

    title: str
    condition: Condition
    columns: Columns
    note: str


def method_tables(results: Results) -> Iterator[ShownTable]:
    """Yield a table for each method and task of which there are results, setting by setting."""
    tables = settings(results)
    for title, setting in zip(titles(tables), tables, strict=True):
        for each in TABLES:
            there = [r for r in setting.records if each.condition in r.scores]
            for task in dict.fromkeys(record.task for record in there):
                records = [record for record in there if record.task == task]
                named = f"{each.title}, {task}{f' ({title})' if title else ''}"
                yield named, _grid(records, each), f"{each.note}\n"


def _grid(records: Sequence[Result], table: MethodTable) -> Grid:
    first = records[0].scores[table.condition].seeds[0]
    columns = table.columns(first)
    rows = []
    for encoder in dict.fromkeys(record.encoder for record in records):
        mine = [each for each in records if each.encoder == encoder]
        probes = [
            (each, seed)
            for each in mine
            for seed in each.scores[table.condition].seeds
            if len(seed.readings) == len(first.readings)  # draws may have fewer items, and portions
        ]
        rows.append(GridRow(encoder, "", tuple(GridCell(each.show(probes)) for each in columns)))
    return Grid(("encoder", *(each.name for each in columns)), tuple(rows))


def _of_control(seed: SeedScore) -> list[MethodColumn]:
    del seed
    return [
        MethodColumn("accuracy", _plain),
        MethodColumn("control task", lambda result, seed: 100 * seed.accuracy),  # noqa: ARG005
        MethodColumn("selectivity", selectivity),
    ]


def _plain(result: Result, seed: SeedScore) -> float:
    """Return the accuracy on the task itself of the probe of the same seed, in percent."""
    seeds = result.scores[Condition.PROBE].seeds
    return 100 * next((each for each in seeds if each.seed == seed.seed), seeds[0]).accuracy


def selectivity(result: Result, control: SeedScore) -> float:
    """Return by how many points a probe is better on the task than on its control task."""
    return _plain(result, control) - 100 * control.accuracy


def _of_code(seed: SeedScore) -> list[MethodColumn]:
    del seed
    return [
        MethodColumn("kbit", lambda result, seed: _bits(result, seed) / 1000, 2),
        MethodColumn("compression", _compression, 2),
        MethodColumn("V-information", _information, 2),
        MethodColumn("area", _area),
    ]


def _bits(result: Result, seed: SeedScore) -> float:
    return code_length(seed.readings, labels=result.labels or 2)


def _compression(result: Result, seed: SeedScore) -> float:
    return compression(seed.readings, labels=result.labels or 2)


def _information(result: Result, seed: SeedScore) -> float:
    del result
    return mean(seed.information)


def _area(result: Result, seed: SeedScore) -> float:
    del result
    return 100 * area(seed.readings, total=seed.total)


def _by_items(seed: SeedScore) -> list[MethodColumn]:
    return [
        MethodColumn(str(each.at), partial(_accuracy, place))
        for place, each in enumerate(seed.readings)
    ]


def _accuracy(place: int, result: Result, seed: SeedScore) -> float:
    del result
    return 100 * seed.readings[place].correct / seed.total


def _by_portion(seed: SeedScore) -> list[MethodColumn]:
    return [
        MethodColumn(str(left.at), partial(_bits_a_label, place), 2)
        for place, (left, _) in enumerate(pairwise(seed.readings))
    ]


def _bits_a_label(place: int, result: Result, seed: SeedScore) -> float:
    del result
    left, right = seed.readings[place : place + 2]
    return left.bits / (right.at - left.at)


def _by_width(seed: SeedScore) -> list[MethodColumn]:
    widths = [
        MethodColumn("linear" if not each.at else str(each.at), partial(_accuracy, place))
        for place, each in enumerate(seed.readings)
    ]
    return [*widths, MethodColumn("classifier", _plain), MethodColumn("gap", gap)]


def gap(result: Result, widths: SeedScore) -> float:
    """Return by how many points the classifier is better than a linear probe."""
    return _plain(result, widths) - _accuracy(0, result, widths)


TABLES = (
    MethodTable(
        title="control task",
        condition=Condition.CONTROL_TASK,
        columns=_of_control,
        note="Selectivity (Hewitt & Liang 2019): accuracy less that on random labels, which are "
        "the same for a word type everywhere, in points.",
    ),
    MethodTable(
        title="description length",
        condition=Condition.PORTIONS,
        columns=_of_code,
        note="Online code of the training labels, and how many times as long they are without the "
        "vectors (Voita & Titov 2020); V-information of a test item in bits (Xu et al. 2020); area "
        "under the accuracy by the logarithm of training items, in %.",
    ),
    MethodTable(
        title="accuracy by training items",
        condition=Condition.PORTIONS,
        columns=_by_items,
        note="Accuracy in % of probes that were trained on so many items, by their loss on "
        "validation.",
    ),
    MethodTable(
        title="bits a label by training items",
        condition=Condition.PORTIONS,
        columns=_by_portion,
        note="What a label of the next portion costs by a probe that was trained on so many items.",
    ),
    MethodTable(
        title="complexity",
        condition=Condition.WIDTHS,
        columns=_by_width,
        note="Accuracy in % of a linear probe, of hidden layers of these widths, and of the "
        f"classifier; gap: classifier less linear, in points. More than {GAP:.0f} says that the "
        "property is not there linearly, if it is one of the sentence alone: where probe words are "
        "balanced, no linear probe can know the answer.",
    ),
)
"""The tables, in their order."""


def _share(points: Callable[[Result, SeedScore], float]) -> Callable[[Result, SeedScore], float]:
    return lambda result, seed: points(result, seed) / 100


FIGURES: Mapping[str, tuple[Condition, Callable[[Result, SeedScore], float]]] = {
    "selectivity": (Condition.CONTROL_TASK, _share(selectivity)),
    "description_length": (Condition.PORTIONS, _bits),
    "compression": (Condition.PORTIONS, _compression),
    "information": (Condition.PORTIONS, _information),
    "area": (Condition.PORTIONS, _share(_area)),
    "gap": (Condition.WIDTHS, _share(gap)),
}
"""By the key in a record: the condition, and the figure of a probe, as a share of 1."""


def records_with_figures(results: Results) -> list[dict[str, Any]]:
    """Return the records of results, in which that of a method says what its tables say."""
    there = ((result, condition) for result in results.records for condition in result.scores)
    return [
        record | {key: _figure(key, *each) for key in FIGURES}
        for record, each in zip(results.to_records(), there, strict=True)
    ]


def _figure(key: str, result: Result, condition: Condition) -> float | None:
    """Return the mean over probes of what a key says; None: it is of another condition."""
    of, figure = FIGURES[key]
    seeds = result.scores[condition].seeds
    return mean(figure(result, seed) for seed in seeds) if of is condition else None


def method_records(results: Results) -> list[dict[str, Any]]:
    """Return a flat dictionary for each probe of each method, all with the same keys."""
    return [
        _record(result, condition, seed, reading)
        for result in results.records
        for condition in METHODS
        if condition in result.scores
        for seed in result.scores[condition].seeds
        for reading in seed.readings
    ]


def _record(
    result: Result, condition: Condition, seed: SeedScore, reading: Reading
) -> dict[str, Any]:
    return {
        "run": result.source,
        "encoder": result.encoder,
        "task": result.task,
        "condition": condition.value,
        "seed": seed.seed,
        "at": reading.at,
        "accuracy": reading.correct / seed.total,
        "bits": reading.bits if condition is Condition.PORTIONS else None,
        "total": seed.total,
        "preset": result.preset.name,
    }
