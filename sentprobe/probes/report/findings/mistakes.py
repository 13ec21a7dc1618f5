"""Test items that probes answer incorrectly (``probe show --wrong 5``)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.display.table_writers import Grid, GridCell, GridRow, escape_markdown
from sentprobe.errors import UsageError, escape_control_characters, suggest
from sentprobe.probes.report.findings.item_parts import ItemTables, check_column, partition_values
from sentprobe.probes.results.item_table import LABEL, ItemTable
from sentprobe.probes.results.records import identify_result
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.suites import to_own_name


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
    order = np.argsort(-wrong, kind="stable").tolist()
    parts: dict[str, NDArray[np.bool_]] = {"": np.ones(len(table), np.bool_)}
    if column is not None:
        values = table.columns[column]
        partition = partition_values(column, values, labels=table.labels)
        parts = {f"{column} {name}": partition.select(name, values) for name in partition.names}
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
