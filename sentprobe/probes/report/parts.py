"""The parts of the test items that a column tells apart, and what results are on each of them.

A part of a result is again a result, on fewer items: what is worked out of results, as figures over
draws and intervals over units, is worked out of their parts in the same way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError, suggest
from sentprobe.lengths import Lengths, bins_of
from sentprobe.probes.dataset import TRAINED
from sentprobe.probes.report.figures import figure_of
from sentprobe.probes.runs.item_table import LENGTH, ItemTable, item_tables
from sentprobe.probes.runs.results import Condition, Result, SeedScore, make_score, pack, renumber
from sentprobe.probes.statistics import Interval, compare_draws, difference_interval

UNKNOWN = "not known"
"""The part of the items of which a column says nothing."""

MOST = 12
"""Of more different numbers than these, neighbours are one part."""

BINS = 6
"""So many parts there are then, of about as many items each."""

ItemsOf: TypeAlias = Mapping[str, ItemTable]
"""Test items by the fingerprint of their dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """How the values of a column are put into parts."""

    names: tuple[str, ...]
    """Of the parts, in order."""
    part_of: Mapping[str, str]
    """The name of its part, by value."""

    def places(self, name: str, values: Sequence[str]) -> NDArray[np.bool_]:
        """Return which of the values are in a part, (n,) bool."""
        return np.array([self.part_of[value] == name for value in values], dtype=np.bool_)


def partition(column: str, values: Iterable[str], *, labels: Sequence[str] = ()) -> Partition:
    """Return the parts that a column tells apart, given all of its values; each is in one part.

    Lengths are in the bins of Adi et al. 2017, many different numbers in bins of about as many
    items; of anything else each value is a part. Labels are in their own order.

    >>> partition("distance", ["10", "2", "", "2"]).names
    ('2', '10', 'not known')
    """
    every = [*values]
    known = [value for value in every if value]
    numbers = _numbers(known)
    if column == LENGTH and numbers and all(number.is_integer() for number in numbers.values()):
        part_of = _in_length_bins(numbers)
    elif len(numbers) > MOST:
        part_of = _in_bins(known, numbers)
    else:
        found = {*known}
        first = [label for label in (TRAINED, *labels) if label in found]
        rest = sorted(found - {*first}, key=lambda value: (numbers.get(value, 0.0), value))
        part_of = {value: value for value in (*first, *rest)}
    if len(known) < len(every):
        part_of = {**part_of, "": UNKNOWN}
    return Partition(names=tuple(dict.fromkeys(part_of.values())), part_of=part_of)


def _numbers(values: Iterable[str]) -> dict[str, float]:
    """Return each value as a number, if all are finite numbers; else nothing."""
    found = {}
    for value in {*values}:
        try:
            found[value] = float(value)
        except ValueError:
            return {}
    return found if all(map(isfinite, found.values())) else {}


def _in_length_bins(numbers: Mapping[str, float]) -> dict[str, str]:
    ordered = sorted(numbers, key=lambda value: numbers[value])
    bins = bins_of(map(int, numbers.values()), Lengths.BINS)
    return {v: next(str(each) for each in bins if int(numbers[v]) in each) for v in ordered}


def _in_bins(values: Sequence[str], numbers: Mapping[str, float]) -> dict[str, str]:
    """Put equal numbers into one bin, by the share of items that have a smaller one."""
    every = np.sort([numbers[value] for value in values])
    ordered = sorted(numbers, key=lambda value: (numbers[value], value))
    below = np.searchsorted(every, [numbers[value] for value in ordered])
    places = BINS * below // len(every)
    bins: dict[int, list[str]] = {}
    for place, value in zip(places.tolist(), ordered, strict=True):
        bins.setdefault(place, []).append(value)
    names = {place: " to ".join(dict.fromkeys((b[0], b[-1]))) for place, b in bins.items()}
    return {value: names[place] for place, each in bins.items() for value in each}


def check_column(items: Iterable[ItemTable], column: str) -> None:
    """Refuse a column that no test items have, or that makes no parts.

    Raises:
        UsageError: names the nearest column; the values are all different texts.
    """
    tables = [*items]
    known = [*dict.fromkeys(name for table in tables for name in table.columns)]
    if column not in known:
        raise UsageError(
            f"no test items have a column {column!r}{suggest(column, known)}; the columns are "
            + ", ".join(known)
        )
    for table in tables:
        values = table.columns.get(column, ())
        if MOST < len({*values}) == len(values) and not _numbers(values):
            raise UsageError(
                f"the column {column!r} of {table.task} is different for each item, so that there "
                "are no parts"
            )


def on_items(result: Result, chosen: NDArray[np.bool_], *, majority: float) -> Result:
    """Return a result on some of its test items.

    - chosen: (n,) bool
    - majority: the share of the most frequent label among them
    """
    units = renumber(np.array(result.units)[chosen]) if result.units else ()
    scores = {
        condition: make_score((_seed_on(each, chosen) for each in score.seeds), units)
        for condition, score in result.scores.items()
    }
    lengths = tuple(n for n, kept in zip(result.lengths, chosen, strict=False) if kept)
    return replace(result, units=units, lengths=lengths, norms=(), scores=scores, majority=majority)


def _seed_on(score: SeedScore, chosen: NDArray[np.bool_]) -> SeedScore:
    right = score.items()
    correct, total = int(right[chosen].sum()), int(chosen.sum())
    instead = np.array(score.instead, np.int64)[chosen[~right]] if score.instead else ()
    return replace(
        score,
        accuracy=correct / total,
        correct=correct,
        total=total,
        right=pack(right[chosen]),
        instead=tuple(map(int, instead)),
        readings=(),  # they are of all items
        information=tuple(compress(score.information, chosen)),
    )


def parts_of_draws(draws: Sequence[Result], items: ItemsOf, column: str) -> dict[str, list[Result]]:
    """Return by part the results of one encoder on one task, of each draw that has such items."""
    tables = [items[each.dataset_fingerprint] for each in draws]
    values = [table.columns[column] for table in tables]
    parts = partition(column, (v for each in values for v in each), labels=tables[0].labels)
    found: dict[str, list[Result]] = {name: [] for name in parts.names}
    for result, table, each in zip(draws, tables, values, strict=True):
        for name, of_part in found.items():
            chosen = parts.places(name, each)
            if chosen.any():
                targets = table.targets[chosen]
                majority = float(np.bincount(targets).max() / len(targets))
                of_part.append(on_items(result, chosen, majority=majority))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PartAccuracy:
    """The accuracy on a part of the test items."""

    name: str
    """What the column says of them."""
    items: int
    accuracy: float
    """The mean over the seeds."""
    spread: float | None
    """The standard deviation over the seeds (of a sample); None for one."""
    interval: Interval
    """95%, as for the accuracy of all items."""
    majority: float
    """The share of their most frequent label: chance."""


def accuracy_by(
    result: Result,
    column: str,
    *,
    condition: Condition = Condition.PROBE,
    items: ItemTable | None = None,
) -> tuple[PartAccuracy, ...]:
    """Return the accuracy on each part of the test items that a column tells apart.

    - column: ``"voice"``, ``"clause"``, ``"label"``, ... or any column of the dataset's own
    - items: the test items; by default those in the folder that the result was read from

    Raises:
        UsageError: the folder does not keep them, or they have no such column.
        ResultsError: what is in the folder is damaged.
    """
    table = item_tables([result])[0] if items is None else items
    check_column([table], column)
    parts = parts_of_draws([result], {result.dataset_fingerprint: table}, column)
    return tuple(
        PartAccuracy(
            name=name,
            items=score.total,
            accuracy=score.accuracy,
            spread=score.spread,
            interval=score.interval,
            majority=each.majority,
        )
        for name, (each,) in parts.items()
        if (score := each.scores.get(condition)) is not None
    )


@dataclass(frozen=True, slots=True)
class GeneralizationGap:
    """By how much an accuracy is lower on items whose structure training lacked."""

    difference: float
    interval: Interval
    """95%."""


def gap_of(parts: Mapping[str, Sequence[Result]], condition: Condition) -> GeneralizationGap | None:
    """Return the generalisation gap, if the parts are what was trained and what was held out.

    Of one draw the interval is of the choice of the test items, which are others in both parts; so
    it is of several that have the same items, as datasets in files do. Else it is Student's t over
    the draws.
    """
    if len(parts) != 2 or TRAINED not in parts or len({*map(len, parts.values())}) > 1:
        return None
    (other,) = (name for name in parts if name != TRAINED)
    pairs = zip(parts[TRAINED], parts[other], strict=True)
    known = [pair for pair in pairs if all(condition in each.scores for each in pair)]
    if not known:
        return None
    if len({one.dataset_fingerprint for one, _ in known}) == 1:
        return _of_same_items(known, condition)
    scores = [(one.scores[condition], two.scores[condition]) for one, two in known]
    first, second = zip(*((one.accuracy, two.accuracy) for one, two in scores), strict=True)
    fewest = min(each.total for pair in scores for each in pair)
    paired = compare_draws(first, second, items=fewest)
    return GeneralizationGap(paired.difference, paired.interval)


def _of_same_items(
    draws: Sequence[tuple[Result, Result]], condition: Condition
) -> GeneralizationGap:
    """Return the gap by the figures of both parts, whose intervals are of the choice of items."""
    figures = (figure_of(part, condition) for part in zip(*draws, strict=True))
    one, two = (each for each in figures if each is not None)
    ends = (one.accuracy, one.interval), (two.accuracy, two.interval)
    return GeneralizationGap(one.accuracy - two.accuracy, difference_interval(*ends))
