"""Tables of accuracy by training and test language, and of the accuracy lost if the two languages differ."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sentprobe.common.errors import split_lines
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.common.values import group_by
from sentprobe.probes.datasets.known_task import remove_languages
from sentprobe.probes.reports import comparisons as cmp
from sentprobe.probes.reports.paired_tests import MatchedResults
from sentprobe.probes.reports.table_findings import find_table
from sentprobe.probes.reports.tables.main_table import CellStyle, build_grid
from sentprobe.probes.reports.tables.notes import format_range
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.statistics import Correction

AT_CHANCE_MARK = "†"
"""The mark of figures of probes that are not significantly above chance in the language that they were trained on."""
AT_CHANCE_NOTE = (
    f"{AT_CHANCE_MARK} In the language of its training, this probe is not significantly above chance: the figure says "
    "nothing about other languages."
)
TableWithNotes = tuple[Grid, tuple[str, ...]]


def get_languages(result: Result) -> tuple[str, str]:
    """Return the languages of the training items and of the test items of a result, or ("", "") if unknown."""
    return ("", "") if result.data is None else (result.data.train_language, result.data.test_language)


def split_by_language(results: Results) -> tuple[Results, Results]:
    """Return (results outside crossings, results on crossings). A crossing has a training and a test language."""
    crossed = {result.task for result in results.records if all(get_languages(result))}
    across = group_by(results.records, lambda result: result.task in crossed)
    return Results(tuple(across.get(False, ()))), Results(tuple(across.get(True, ())))


def build_language_tables(results: Results, style: CellStyle) -> Iterator[TableWithNotes]:
    """Yield each task's accuracies by language; then yield the accuracy lost by training in another language."""
    _, across = split_by_language(results)
    if not across.records:
        return
    grid = build_grid(across, style=replace(style, intervals=True, all_rows=True))
    languages = {result.task: get_languages(result) for result in across.records}
    at_chance = _find_at_chance(across)
    by_task = group_by(across.tasks, remove_languages)
    for number, (task, names) in enumerate(by_task.items(), 1):
        notes = tuple(_describe_bags(across.records)) if number == len(by_task) else ()
        if any(task_name == task for _, task_name, _ in at_chance):
            notes = (AT_CHANCE_NOTE, *notes)
        columns = {languages[name]: grid.header.index(name) - 1 for name in names}
        yield _build_matrix(task, columns, grid, at_chance), notes
    if compared := compare_with_own_language(across):
        yield _build_loss_grid(compared, at_chance), tuple(split_lines(_describe_losses(compared, at_chance)))


OwnLanguage = tuple[str, str, str]
"""An encoder, a task without languages, and the language of training and test."""


def _find_at_chance(results: Results) -> frozenset[OwnLanguage]:
    """Return where an encoder is not significantly above chance in the language that its probe was trained on."""
    tests = ((encoder, test) for (encoder, _), test in find_table(results).cells.items() if not test.is_above)
    firsts = ((encoder, test.draws[0]) for encoder, test in tests)
    return frozenset(
        (encoder, remove_languages(first.task), train)
        for encoder, first in firsts
        for train, tested in [get_languages(first)]
        if train == tested
    )


def _mark(cell: GridCell) -> GridCell:
    return replace(cell, text=f"{cell.text} {AT_CHANCE_MARK}") if cell.text else cell


def _build_matrix(
    task: str, columns: dict[tuple[str, str], int], grid: Grid, at_chance: frozenset[OwnLanguage]
) -> Grid:
    """Return a task's accuracies: a row for each encoder and training language, a column for each test language."""
    train_on, test_on = (tuple(dict.fromkeys(pair[side] for pair in columns)) for side in (0, 1))
    rows = []
    for row in grid.rows:
        if row.heading:
            rows.append(replace(row, cells=(GridCell(""),) * (1 + len(test_on))))
            continue
        for train in train_on:
            cells = [row.cells[columns[train, test]] if (train, test) in columns else GridCell("") for test in test_on]
            if (row.encoder, task, train) in at_chance:
                cells = [*map(_mark, cells)]
            if any(cell.text for cell in cells):
                rows.append(replace(row, cells=(GridCell(train), *cells)))
    return Grid((task, "trained on", *(f"tested on {language}" for language in test_on)), tuple(rows))


def _describe_bags(records: Iterable[Result]) -> Iterator[str]:
    """Yield a note about the bag-of-words control across languages; yield nothing if no result has this control."""
    facts = [record.data for record in records if record.data and Condition.BAG_OF_WORDS in record.scores]
    if facts:
        percents = format_range((100 * (fact.known_words / fact.test) for fact in facts), decimals=0)
        yield (
            "Across languages, the bag of words knows only words that occur in training, such as names and "
            f"punctuation: {percents}% of test items have such a word. All other items get the same answer."
        )


def compare_with_own_language(results: Results) -> tuple[cmp.Comparison, ...]:
    """Compare, on the same test items, probes trained in the language of the items with probes trained in another."""
    by_test = group_by(
        results.records_by_cell.values(),
        lambda draws: (draws[0].encoder, remove_languages(draws[0].task), get_languages(draws[0])[1]),
    )
    matches: list[MatchedResults] = []
    for (*_, language), cells in by_test.items():
        by_training = {get_languages(draws[0])[0]: draws for draws in cells}
        in_language = by_training.pop(language, ())
        for draws in by_training.values():
            pairs = cmp.match_draws(in_language, draws)
            matched = [(a, b) for a, b in pairs if a.data and b.data and a.data.test_digest == b.data.test_digest]
            matches += [tuple(matched)] if matched else []
    return cmp.compare_results(matches)


def _is_at_chance(comparison: cmp.Comparison, at_chance: frozenset[OwnLanguage]) -> bool:
    """Return whether the probe trained on the language of the test items is not significantly above chance."""
    first = comparison.first
    return (first.encoder, remove_languages(first.task), get_languages(first)[0]) in at_chance


def _build_loss_grid(compared: Sequence[cmp.Comparison], at_chance: frozenset[OwnLanguage]) -> Grid:
    rows = []
    for comparison in compared:
        encoder, tasks = comparison.first.encoder, (comparison.first.task, comparison.second.task)
        first, second = map(GridCell, tasks)
        first = _mark(first) if _is_at_chance(comparison, at_chance) else first
        cells = (first, second, *cmp.build_figure_cells(comparison))
        rows.append(GridRow(encoder, encoder, cells, encoder=encoder))
    return Grid(("encoder", "A", "B", *cmp.list_figure_columns(compared)), tuple(rows))


def _describe_losses(compared: Sequence[cmp.Comparison], at_chance: frozenset[OwnLanguage]) -> str:
    several = any(comparison.draws > 1 for comparison in compared)
    marked = any(_is_at_chance(comparison, at_chance) for comparison in compared)
    return (
        (f"{AT_CHANCE_NOTE}\n" if marked else "")
        + "A: trained on the language of the test items. B: trained on another language.\n"
        + cmp.describe_tests(
            compared,
            observations=cmp.describe_pairing(compared, "items"),
            t_test="t-test over draws, with variances moderated by all of them" if several else cmp.PAIRED_T_TEST,
            correction=Correction.HOLM,
        )
    )
