"""Test items that an encoder's probes answer wrong, with all that is known of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.report.parts import ItemsOf, check_column, partition
from sentprobe.probes.runs.item_table import LABEL, ItemTable
from sentprobe.probes.runs.results import Condition, Result, Results
from sentprobe.probes.suites import own_name
from sentprobe.table_writers import Grid, GridCell, GridRow, in_markdown


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongItem:
    """A test item that at least one probe answers wrong."""

    place: int
    """Among the test items, from 0."""
    sentence: str
    marks: tuple[int, ...]
    """Which tokens of it are the probe words, from 0."""
    probes: tuple[str, ...]
    event: str
    """In the notation of events; empty where it is not known."""
    answer: str
    """The label that is right."""
    prediction: str | None
    """What the probes say most often in its place; None where that was not kept."""
    wrong: int
    """So many of the probes are wrong."""
    seeds: int
    """So many probes there are."""
    columns: Mapping[str, str]

    def marked(self, before: str = "[", after: str = "]") -> str:
        """Return the sentence with its probe words between two signs.

        >>> WrongItem(place=0, sentence="the man slept", marks=(1,), probes=("man",), event="",
        ...     answer="TRUE", prediction=None, wrong=1, seeds=1, columns={}).marked()
        'the [man] slept'
        """
        tokens = self.sentence.split()
        return " ".join(
            f"{before}{token}{after}" if at in self.marks else token
            for at, token in enumerate(tokens)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongItems:
    """What a result's probes answer wrong: some of these items, and how many there are."""

    result: Result
    part: str
    """The part of the items that they are of; empty: all."""
    items: int
    """So many test items there are in the part."""
    wrong: int
    """So many of them are answered wrong by a probe at least."""
    shown: tuple[WrongItem, ...]

    @property
    def title(self) -> str:
        """What stands above them."""
        of = f" with {self.part}" if self.part else ""
        number = f"the first {len(self.shown)}" if len(self.shown) < self.wrong else "all of them"
        return (
            f"{self.result.encoder} on {self.result.task}: {self.wrong} of {self.items} test items"
            f"{of} are answered wrong; {number if self.wrong else 'none'}"
        )


def mistakes_of(
    result: Result, table: ItemTable, count: int, *, column: str | None = None
) -> tuple[WrongItems, ...]:
    """Return at most *count* of the items that probes answer wrong, of each part with a *column*.

    First those that most probes answer wrong, and of these the first among the test items: the same
    each time.
    """
    seeds = result.scores[Condition.PROBE].seeds
    wrong = np.sum([~each.items() for each in seeds], axis=0)  # (items,)
    order = np.argsort(-wrong, kind="stable")
    found: list[WrongItems] = []
    for part, chosen in _parts(table, column):
        places = [at for at in order.tolist() if chosen[at] and wrong[at]]
        found.append(
            WrongItems(
                result=result,
                part=part,
                items=int(chosen.sum()),
                wrong=len(places),
                shown=tuple(_mistake(result, table, at, int(wrong[at])) for at in places[:count]),
            )
        )
    return tuple(found)


def _parts(table: ItemTable, column: str | None) -> Iterator[tuple[str, Any]]:
    """Yield the name of each part with which items are in it; without a column, all are in one."""
    if column is None:
        yield "", np.ones(len(table), np.bool_)
        return
    values = table.columns[column]
    parts = partition(column, values, labels=table.labels)
    yield from ((f"{column} {name}", parts.places(name, values)) for name in parts.names)


def _mistake(result: Result, table: ItemTable, at: int, wrong: int) -> WrongItem:
    seeds = result.scores[Condition.PROBE].seeds
    return WrongItem(
        place=at,
        sentence=table.sentences[at],
        marks=table.marks[at],
        probes=table.probes[at],
        event=table.events[at],
        answer=table.labels[table.targets[at]],
        prediction=_prediction(result, table, at),
        wrong=wrong,
        seeds=len(seeds),
        columns={name: values[at] for name, values in table.columns.items() if name != LABEL},
    )


def _prediction(result: Result, table: ItemTable, at: int) -> str | None:
    """Return the wrong answer that most probes give; of several the first label."""
    seeds = result.scores[Condition.PROBE].seeds
    given = [each.answers(table.targets, len(table.labels)) for each in seeds]
    said = Counter(int(each[at]) for each in given if each is not None)
    del said[int(table.targets[at])]
    most = max(said.values(), default=0)
    return min((table.labels[n] for n, c in said.items() if c == most), default=None)


def results_on(results: Results, *, encoder: str | None, task: str | None) -> Results:
    """Return the results of one encoder, on one task; None: of all. A task has two names.

    Raises:
        UsageError: there are none; names the nearest.
    """
    wanted = None if task is None else own_name(task)
    _check_known("encoder", encoder, results.encoders)
    _check_known("task", wanted, [own_name(each) for each in results.tasks])
    found = Results(
        tuple(
            each
            for each in results.records
            if encoder in (None, each.encoder) and wanted in (None, own_name(each.task))
        )
    )
    if not found.records:
        raise UsageError(f"there is no result of {encoder} on {task}")
    return found


def _check_known(what: str, name: str | None, known: Sequence[str]) -> None:
    if name is not None and name not in known:
        raise UsageError(
            f"there is no {what} {name!r} in these results{suggest(name, known)}; the {what}s are "
            + ", ".join(known)
        )


def all_mistakes(
    results: Results, items: ItemsOf, count: int, *, column: str | None = None
) -> list[WrongItems]:
    """Return the mistakes of each result, of at most *count* items, or so many of each part.

    Raises:
        UsageError: see :func:`check_column`.
    """
    if column is not None:
        check_column(items.values(), column)
    return [
        each
        for result in results.records
        for each in mistakes_of(result, items[result.dataset_fingerprint], count, column=column)
    ]


def mistake_lines(found: WrongItems) -> Iterator[str]:
    """Yield the lines that show mistakes as text: the sentence, and below it what is known."""
    yield found.title
    for number, each in enumerate(found.shown, 1):
        yield f"{number}. {each.marked()}"
        for name, value in _told(each).items():
            yield f"   {name}: {value}"


def mistakes_in_markdown(found: WrongItems) -> str:
    """Return the same as a list of Markdown, with the probe words in bold."""
    lines = [f"**{in_markdown(found.title)}**\n"]
    for number, each in enumerate(found.shown, 1):
        tokens = [in_markdown(token) for token in each.sentence.split()]
        for at in each.marks:
            tokens[at] = f"**{tokens[at]}**"
        lines.append(f"{number}. {' '.join(tokens)}")
        lines += [f"   - {name}: {in_markdown(value)}" for name, value in _told(each).items()]
    return "".join(f"{line}\n" for line in lines)


def _told(each: WrongItem) -> dict[str, str]:
    """Return what is shown of a mistake below its sentence, as far as it is known."""
    said = each.prediction or "not kept"
    if each.seeds > 1:
        said += f" ({each.wrong} of {each.seeds} probes wrong)"
    columns = (f"{name} {value}" for name, value in each.columns.items() if value)
    told = {
        PROBE_WORDS: ", ".join(each.probes),
        ANSWER: f"{each.answer}, predicted {said}",
        "event": each.event,
        "columns": ", ".join(columns),
    }
    return {name: value for name, value in told.items() if value}


PROBE_WORDS, ANSWER = "probe words", "answer"
"""What is shown of a mistake wherever it is, besides its sentence."""


def mistake_grid(found: WrongItems) -> Grid:
    """Lay mistakes out as a table for a page: a row for each, its sentence first."""
    told = [_told(each) for each in found.shown]
    heads = [name for name in (PROBE_WORDS, ANSWER) if any(name in each for each in told)]
    rows = [
        GridRow(each.marked(), "", tuple(GridCell(of.get(name, "")) for name in heads))
        for each, of in zip(found.shown, told, strict=True)
    ]
    return Grid(("sentence", *heads), tuple(rows))


def mistake_records(found: Sequence[WrongItems]) -> list[dict[str, Any]]:
    """Return a flat dictionary for each mistake, all with the same keys."""
    names = dict.fromkeys(n for one in found for each in one.shown for n in each.columns)
    return [_record(one, each, names) for one in found for each in one.shown]


def _record(one: WrongItems, each: WrongItem, names: Mapping[str, None]) -> dict[str, Any]:
    return {
        "run": one.result.source,
        "encoder": one.result.encoder,
        "task": one.result.task,
        "seed": one.result.seed,
        "part": one.part,
        "item": each.place,
        "sentence": each.sentence,
        "marked": each.marked(),
        "probes": ", ".join(each.probes),
        "answer": each.answer,
        "prediction": each.prediction,
        "wrong": each.wrong,
        "probes_trained": each.seeds,
        "event": each.event,
        **{f"column_{name}": each.columns.get(name) for name in names},
    }
