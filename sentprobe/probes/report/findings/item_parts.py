"""Accuracy on parts of the test items: items with equal or similar values of a column such as voice or length."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.disk.reading import parse_number
from sentprobe.errors import UsageError, suggest
from sentprobe.lengths import Lengths, find_bins
from sentprobe.probes.dataset import TRAINED
from sentprobe.probes.report.findings.mean_and_interval import compute_figure
from sentprobe.probes.results.item_table import LENGTH, ItemTable, read_item_tables
from sentprobe.probes.results.result import Condition, Result, SeedScore, make_score, pack_bits, renumber_units
from sentprobe.probes.statistics import Interval, compare_draws, difference_interval
from sentprobe.values import group_by

MAX_PARTS = 12
"""If a column has more distinct numbers than this, the column is divided into bins. Else each number is a part."""
BIN_COUNT = 6
ItemTables: TypeAlias = Mapping[str, ItemTable]
"""Item tables by the fingerprint of their dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A division of the values of a column into named parts."""

    names: tuple[str, ...]
    part_of: Mapping[str, str]

    def select(self, name: str, values: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether each of n values is in the part with this name, (n,) bool."""
        return np.array([self.part_of[value] == name for value in values], dtype=np.bool_)


def partition_values(column: str, values: Iterable[str], *, labels: Sequence[str] = ()) -> Partition:
    """Divide the values of a column into parts.

    Sentence lengths are divided into the bins of Adi et al. 2017, such as "5-8". Any other column with more than 12
    distinct numbers is divided into 6 bins with about equal numbers of items. In all other columns, each value is a
    part: *labels* come first, in their order, then the remaining values, sorted.

    >>> partition_values("distance", ["10", "2", "", "2"]).names
    ('2', '10', 'not known')
    """
    all_values = [*values]
    known_values = [value for value in all_values if value]
    numbers = _parse_numbers(known_values)
    if column == LENGTH and numbers and all(number.is_integer() for number in numbers.values()):
        bins = find_bins(map(int, numbers.values()), Lengths.BINS)
        ordered = sorted(numbers, key=numbers.__getitem__)
        part_of = {v: next(str(length_bin) for length_bin in bins if int(numbers[v]) in length_bin) for v in ordered}
    elif len(numbers) > MAX_PARTS:
        part_of = _bin_numbers(known_values, numbers)
    else:
        distinct = {*known_values}
        labels_first = [label for label in (TRAINED, *labels) if label in distinct]
        remaining = sorted(distinct - {*labels_first}, key=lambda value: (numbers.get(value, 0.0), value))
        part_of = {value: value for value in (*labels_first, *remaining)}
    if len(known_values) < len(all_values):
        part_of = {**part_of, "": "not known"}
    return Partition(names=tuple(dict.fromkeys(part_of.values())), part_of=part_of)


def _parse_numbers(values: Iterable[str]) -> dict[str, float]:
    """Parse texts as numbers; return the numbers by text, or {} if any text is not a finite number."""
    try:
        numbers = {value: parse_number(value) for value in {*values}}
    except ValueError:
        return {}
    return numbers if all(map(isfinite, numbers.values())) else {}


def _bin_numbers(values: Sequence[str], numbers: Mapping[str, float]) -> dict[str, str]:
    """Return the bin of each number, such as "3 to 7"; bins have about equal numbers of items."""
    sorted_numbers = np.sort([numbers[value] for value in values])
    ordered = sorted(numbers, key=lambda value: (numbers[value], value))
    # The number of smaller values decides the bin, so that equal values are in the same bin.
    below = np.searchsorted(sorted_numbers, [numbers[value] for value in ordered])
    bin_of = dict(zip(ordered, (BIN_COUNT * below // len(sorted_numbers)).tolist(), strict=True))
    bins = group_by(ordered, bin_of.__getitem__).values()
    return {value: " to ".join(dict.fromkeys((members[0], members[-1]))) for members in bins for value in members}


def check_column(items: Iterable[ItemTable], column: str) -> None:
    """Raise UsageError if no items have the column, or if each item has a different text in the column."""
    tables = [*items]
    known_columns = [*dict.fromkeys(name for table in tables for name in table.columns)]
    if column not in known_columns:
        raise UsageError(
            f"no test items have a column {column!r}{suggest(column, known_columns)}; the columns are "
            + ", ".join(known_columns)
        )
    for table in tables:
        values = table.columns.get(column, ())
        if MAX_PARTS < len({*values}) == len(values) and not _parse_numbers(values):
            raise UsageError(
                f"the column {column!r} of {table.task} has a different value for each item: it does not form parts"
            )


def select_items(result: Result, chosen: NDArray[np.bool_], *, majority: float) -> Result:
    """Restrict a result to *chosen* items, (n,) bool; *majority* is the share of these items' most frequent label."""
    units = renumber_units(np.array(result.units)[chosen]) if result.units else ()
    scores = {
        condition: make_score((_select_seed_items(seed, chosen) for seed in score.seeds), units)
        for condition, score in result.scores.items()
    }
    lengths = tuple(n for n, is_chosen in zip(result.lengths, chosen, strict=False) if is_chosen)
    return replace(result, units=units, lengths=lengths, norms=(), scores=scores, majority=majority)


def _select_seed_items(score: SeedScore, chosen: NDArray[np.bool_]) -> SeedScore:
    right = score.items()
    correct, total = int(right[chosen].sum()), int(chosen.sum())
    predictions = np.array(score.wrong_answers, np.int64)[chosen[~right]] if score.wrong_answers else ()
    return replace(
        score,
        accuracy=correct / total,
        correct=correct,
        total=total,
        right=pack_bits(right[chosen]),
        wrong_answers=tuple(map(int, predictions)),
        readings=(),  # curve points exist for all items only
        information=tuple(compress(score.information, chosen)),
    )


def split_by_part(draws: Sequence[Result], items: ItemTables, column: str) -> dict[str, list[Result]]:
    """Map each part of the test items, such as "passive", to the results of the draws on this part alone."""
    tables = [items[result.dataset_fingerprint] for result in draws]
    values = [table.columns[column] for table in tables]
    parts = partition_values(column, (v for draw_values in values for v in draw_values), labels=tables[0].labels)
    by_part: dict[str, list[Result]] = {name: [] for name in parts.names}
    for result, table, draw_values in zip(draws, tables, values, strict=True):
        for name, part_results in by_part.items():
            chosen = parts.select(name, draw_values)
            if chosen.any():
                targets = table.targets[chosen]
                majority = float(np.bincount(targets).max() / len(targets))
                part_results.append(select_items(result, chosen, majority=majority))
    return by_part


@dataclass(frozen=True, slots=True, kw_only=True)
class PartAccuracy:
    """The accuracy of one encoder on one part of the test items."""

    name: str
    items: int
    accuracy: float
    spread: float | None
    interval: Interval
    majority: float


def accuracy_by(
    result: Result, column: str, *, condition: Condition = Condition.PROBE, items: ItemTable | None = None
) -> tuple[PartAccuracy, ...]:
    """Return the accuracy on each part of the test items. A part has one value, or one bin of numbers, in *column*.

    - column: ``"voice"``, ``"clause"``, ``"label"``, ... or any other column of the dataset
    - condition: the condition whose accuracy is returned; by default that of the main probe
    - items: the test items; by default those in the folder that the result was read from

    Raises:
        UsageError: no items are stored, *column* is unknown, or it has more than 12 texts, all of them different.
        ResultsError: the stored items are damaged.
    """
    table = read_item_tables([result])[0] if items is None else items
    check_column([table], column)
    parts = split_by_part([result], {result.dataset_fingerprint: table}, column)
    return tuple(
        PartAccuracy(
            name=name,
            items=score.total,
            accuracy=score.accuracy,
            spread=score.spread,
            interval=score.interval,
            majority=part_result.majority,
        )
        for name, (part_result,) in parts.items()
        if (score := part_result.scores.get(condition)) is not None
    )


@dataclass(frozen=True, slots=True)
class GeneralizationGap:
    """The accuracy on items with trained structures minus that on items whose structure was held out of training."""

    difference: float
    interval: Interval


def compute_gap(parts: Mapping[str, Sequence[Result]], condition: Condition) -> GeneralizationGap | None:
    """Return the accuracy on trained structures minus the accuracy on a held-out structure, with an interval.

    Return None unless *parts* has two keys: TRAINED and the name of a held-out structure. Also return None if no draw
    has scores of *condition* on both parts. If all draws have the same test items, the interval follows from the
    intervals of the two accuracies. Otherwise, it is Student's t interval over draws.

    - parts: for each part, the results of all draws on it
    """
    if len(parts) != 2 or TRAINED not in parts or len({*map(len, parts.values())}) > 1:
        return None
    (held_out,) = (name for name in parts if name != TRAINED)
    pairs = zip(parts[TRAINED], parts[held_out], strict=True)
    scored = [pair for pair in pairs if all(condition in result.scores for result in pair)]
    if not scored:
        return None
    if len({result.dataset_fingerprint for result, _ in scored}) == 1:
        # The choice of items is then the same in each draw, so a t-test over draws would overlook it.
        figures = (compute_figure(part, condition) for part in zip(*scored, strict=True))
        trained, unseen = (figure for figure in figures if figure is not None)
        ends = (trained.accuracy, trained.interval), (unseen.accuracy, unseen.interval)
        return GeneralizationGap(trained.accuracy - unseen.accuracy, difference_interval(*ends))
    first, second = ([result.scores[condition] for result in part] for part in zip(*scored, strict=True))
    fewest = min(score.total for score in (*first, *second))
    paired = compare_draws([score.accuracy for score in first], [score.accuracy for score in second], items=fewest)
    return GeneralizationGap(paired.difference, paired.interval)
