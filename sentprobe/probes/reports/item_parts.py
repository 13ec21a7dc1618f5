"""Accuracy on parts of the test items: items with equal or similar values of a column such as voice or length.

Test items that probes answer incorrectly (``probe show --wrong 5``).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError, escape_control_characters, suggest
from sentprobe.common.reading import parse_number
from sentprobe.common.specs import Lengths, find_bins
from sentprobe.common.tables import Grid, GridCell, GridRow, escape_markdown
from sentprobe.common.values import group_by
from sentprobe.probes.datasets.dataset import TRAINED
from sentprobe.probes.reports.figures import compute_figure
from sentprobe.probes.results.item_table import LABEL, LENGTH, ItemTable, read_item_tables
from sentprobe.probes.results.records import identify_result
from sentprobe.probes.results.result import Condition, Result, Results, SeedScore, make_score, pack_bits, renumber_units
from sentprobe.probes.runs.suites import to_own_name
from sentprobe.probes.statistics import Interval, compare_draws, difference_interval

MAX_PARTS = 12
"""If a column has more distinct numbers than this, the column is divided into bins. Else each number is a part."""
BIN_COUNT = 6
ItemTables: TypeAlias = Mapping[str, ItemTable]
"""Item tables by the fingerprint of their dataset."""


def partition_values(column: str, values: Iterable[str], *, labels: Sequence[str] = ()) -> dict[str, str]:
    """Return the name of the part that each value of a column belongs to; the parts are in the order of tables.

    Sentence lengths are divided into the bins of Adi et al. 2017, such as "5-8". Any other column with more than 12
    distinct numbers is divided into 6 bins with about equal numbers of items. In all other columns, each value is a
    part: *labels* come first, in their order, then the remaining values, sorted.

    >>> partition_values("distance", ["10", "2", "", "2"])
    {'2': '2', '10': '10', '': 'not known'}
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
        part_of[""] = "not known"
    return part_of


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
    # wrong_answers has an entry for each wrong item only.
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
    part_of = partition_values(column, (v for draw_values in values for v in draw_values), labels=tables[0].labels)
    by_part: dict[str, list[Result]] = {name: [] for name in part_of.values()}
    for result, table, draw_values in zip(draws, tables, values, strict=True):
        for name, part_results in by_part.items():
            chosen = np.array([part_of[value] == name for value in draw_values], dtype=np.bool_)
            if chosen.any():
                targets = table.targets[chosen]
                # Chance on the part, which may have mostly one label although the dataset is balanced.
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


def compute_gap(parts: Mapping[str, Sequence[Result]], condition: Condition) -> tuple[float, Interval] | None:
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
        return trained.accuracy - unseen.accuracy, difference_interval(*ends)
    first, second = ([result.scores[condition] for result in part] for part in zip(*scored, strict=True))
    fewest = min(score.total for score in (*first, *second))
    paired = compare_draws([score.accuracy for score in first], [score.accuracy for score in second], items=fewest)
    return paired.difference, paired.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongItem:
    """A test item that at least one probe of an encoder answers incorrectly."""

    place: int
    sentence: str
    marks: tuple[int, ...]
    """The positions of the probe words among the tokens of the sentence."""
    probes: tuple[str, ...]
    event: str
    answer: str
    prediction: str | None
    """The most frequent incorrect prediction of the probes; None if predictions are not stored."""
    wrong: int
    seeds: int
    columns: Mapping[str, str]

    def mark_probe_words(self, form: str = "[{}]", escape: Callable[[str], str] = str) -> str:
        """Return the sentence with its probe words in brackets, as in "the [dog] barks", or in another form."""
        tokens = map(escape, self.sentence.split())
        return " ".join(form.format(t) if i in self.marks else t for i, t in enumerate(tokens))


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongItems:
    """The number of incorrectly answered items of a result, or of one part, and the first such items (``shown``)."""

    result: Result
    part: str
    items: int
    wrong: int
    shown: tuple[WrongItem, ...]

    @property
    def title(self) -> str:
        """The title, such as "bow on Tense: 9 of 80 test items are answered wrong; the first 5"."""
        part = f" with {self.part}" if self.part else ""
        number = f"the first {len(self.shown)}" if len(self.shown) < self.wrong else "all of them"
        return (
            f"{self.result.encoder} on {self.result.task}: {self.wrong} of {self.items} test items"
            f"{part} are answered wrong; {number if self.wrong else 'none'}"
        )


def find_mistakes(result: Result, table: ItemTable, count: int, *, column: str | None = None) -> tuple[WrongItems, ...]:
    """Return, for each part of the test items, the items that probes answer incorrectly most often (at most *count*).

    The items of a part have the same value, or numbers of the same bin, in *column*. Without *column*, all items are
    one part.
    """
    seeds = result.scores[Condition.PROBE].seeds
    wrong = np.sum([~seed.items() for seed in seeds], axis=0)  # (items,)
    order = np.argsort(-wrong, kind="stable").tolist()  # items that equally many probes miss stay in their order
    parts: dict[str, NDArray[np.bool_]] = {"": np.ones(len(table), np.bool_)}
    if column is not None:
        values = table.columns[column]
        part_of = partition_values(column, values, labels=table.labels)
        names = np.array([part_of[value] for value in values], dtype=object)
        parts = {f"{column} {name}": names == name for name in part_of.values()}
    mistakes = []
    for part, chosen in parts.items():
        indices = [index for index in order if chosen[index] and wrong[index]]
        shown = tuple(
            WrongItem(
                place=index,
                sentence=table.sentences[index],
                marks=table.marks[index],
                probes=table.probes[index],
                event=table.events[index],
                answer=table.labels[table.targets[index]],
                prediction=_find_prediction(result, table, index),
                wrong=int(wrong[index]),
                seeds=len(seeds),
                columns={name: texts[index] for name, texts in table.columns.items() if name != LABEL},
            )
            for index in indices[:count]
        )
        mistakes.append(WrongItems(result=result, part=part, items=int(chosen.sum()), wrong=len(indices), shown=shown))
    return tuple(mistakes)


def _find_prediction(result: Result, table: ItemTable, index: int) -> str | None:
    """Return the most frequent wrong prediction for an item (in a tie, the first by name); None if none is stored."""
    seeds = result.scores[Condition.PROBE].seeds
    answers = [seed.answers(table.targets, len(table.labels)) for seed in seeds]
    votes = Counter(int(probe_answers[index]) for probe_answers in answers if probe_answers is not None)
    # Probes that are right say nothing about the mistake.
    del votes[int(table.targets[index])]
    top_count = max(votes.values(), default=0)
    return min((table.labels[n] for n, c in votes.items() if c == top_count), default=None)


def select_results(results: Results, *, encoder: str | None, task: str | None) -> Results:
    """Return the results of one encoder (None: all) on one task (None: all); raise UsageError if there are none."""
    find_name = str if task in results.tasks else to_own_name
    task_name = None if task is None else find_name(task)
    _check_name("encoder", encoder, results.encoders)
    _check_name("task", task_name, [find_name(name) for name in results.tasks])
    selected = tuple(
        result
        for result in results.records
        if encoder in (None, result.encoder) and task_name in (None, find_name(result.task))
    )
    if not selected:
        raise UsageError(f"there is no result of {encoder} on {task}")
    return Results(selected)


def _check_name(kind: str, name: str | None, known_names: Sequence[str]) -> None:
    if name is not None and name not in known_names:
        raise UsageError(
            f"there is no {kind} {name!r} in these results{suggest(name, known_names)}; the {kind}s are "
            + ", ".join(known_names)
        )


def find_all_mistakes(results: Results, items: ItemTables, count: int, *, column: str | None) -> list[WrongItems]:
    """Return the wrongly answered test items of all results. Raises UsageError if no items have the column *column*."""
    if column is not None:
        check_column(items.values(), column)
    return [
        wrong_items
        for result in results.records
        for wrong_items in find_mistakes(result, items[result.dataset_fingerprint], count, column=column)
    ]


def render_mistakes(mistakes: WrongItems) -> Iterator[str]:
    """Yield lines of plain text: the title, then each sentence followed by its details."""
    yield escape_control_characters(mistakes.title)
    for number, item in enumerate(mistakes.shown, 1):
        yield escape_control_characters(f"{number}. {item.mark_probe_words()}")
        for name, value in _describe_mistake(item).items():
            yield escape_control_characters(f"   {name}: {value}")


def render_mistakes_markdown(mistakes: WrongItems) -> str:
    """Return the incorrectly answered items as a Markdown list, with the probe words in bold."""
    lines = [f"**{escape_markdown(mistakes.title)}**\n"]
    for number, item in enumerate(mistakes.shown, 1):
        lines.append(f"{number}. {item.mark_probe_words('**{}**', escape_markdown)}")
        lines += [f"   - {name}: {escape_markdown(value)}" for name, value in _describe_mistake(item).items()]
    return "".join(f"{line}\n" for line in lines)


def _describe_mistake(item: WrongItem) -> dict[str, str]:
    prediction = item.prediction or "not stored"
    if item.seeds > 1:
        prediction += f" ({item.wrong} of {item.seeds} probes wrong)"
    details = {
        PROBE_WORDS: ", ".join(item.probes),
        ANSWER: f"{item.answer}, predicted {prediction}",
        "event": item.event,
        "columns": ", ".join(f"{name} {value}" for name, value in item.columns.items() if value),
    }
    return {name: value for name, value in details.items() if value}


PROBE_WORDS, ANSWER = "probe words", "answer"


def build_mistake_grid(mistakes: WrongItems) -> Grid:
    """Build a table for the report page with a row for each item shown."""
    details = [_describe_mistake(item) for item in mistakes.shown]
    headings = [name for name in (PROBE_WORDS, ANSWER) if any(name in item_details for item_details in details)]
    rows = [
        GridRow(item.mark_probe_words(), "", tuple(GridCell(item_details.get(name, "")) for name in headings))
        for item, item_details in zip(mistakes.shown, details, strict=True)
    ]
    return Grid(("sentence", *headings), tuple(rows))


def to_mistake_records(mistakes: Sequence[WrongItems]) -> list[dict[str, Any]]:
    """Return a dictionary for each item shown, all with the same keys: encoder, task, sentence, prediction, ..."""
    names = dict.fromkeys(name for wrong_items in mistakes for item in wrong_items.shown for name in item.columns)
    return [
        {
            **identify_result(wrong_items.result),
            "seed": wrong_items.result.seed,
            "part": wrong_items.part,
            "item": item.place,
            "sentence": item.sentence,
            "marked": item.mark_probe_words(),
            "probes": ", ".join(item.probes),
            "answer": item.answer,
            "prediction": item.prediction,
            "wrong": item.wrong,
            "probes_trained": item.seeds,
            "event": item.event,
            **{f"column_{name}": item.columns.get(name) for name in names},
        }
        for wrong_items in mistakes
        for item in wrong_items.shown
    ]
