"""Results as a table in the layout of Ettinger et al. 2018, table 2, and the lines below it."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sentprobe.probes.dataset import ONE_HOT, OWN_WORDS
from sentprobe.probes.report.data_lines import data_lines
from sentprobe.probes.report.draws import draws_of, join_draws
from sentprobe.probes.report.figures import Figure, figure_of
from sentprobe.probes.report.marks import marked
from sentprobe.probes.report.published import PUBLISHED, PublishedRow, published_lines, rows_of
from sentprobe.probes.report.sanity import NAMES, fold, is_balanced, shared_by, verdicts
from sentprobe.probes.report.spread_lines import of_items, over, spread_lines
from sentprobe.probes.runs.results import Condition, Result, Results, Score
from sentprobe.probes.suites import known_tasks
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.table_writers import Grid, GridCell, GridRow


def explain(results: Results, *, style: "CellStyle | None" = None) -> str:
    """Say in plain sentences how to read the table, and whether the sanity runs are at chance."""
    folded = () if style is None or style.all_rows else fold(results)
    lines = (
        *folded,
        *classifiers(results),
        *describe(results),
        *verdicts(results),
        *of_papers(results, style),
    )
    return "".join(f"{line}\n" for line in lines)


def of_papers(results: Results, style: "CellStyle | None") -> tuple[str, ...]:
    """Say what the papers' rows are of, where they are shown."""
    return tuple(published_lines(results.tasks)) if style and style.published else ()


def trained(results: Results) -> list[Preset]:
    """Return the classifier of each result but those of baselines, which train none of these."""
    return [record.preset for record in results.records if record.dim]


def classifiers(results: Results) -> Iterator[str]:
    """Name the classifiers, each with all its values."""
    yield from (f"classifier: {each}" for each in dict.fromkeys(trained(results)))


def describe(results: Results) -> Iterator[str]:
    """Say in plain sentences what the figures are of."""
    scores = [record.scores[Condition.PROBE] for record in results.records]
    yield (
        f"Accuracy in % on {_sizes(results)}{over(results)}. Chance (always the commonest label) "
        f"is {chance_text(results)}."
    )
    yield from spread_lines(results)
    yield from data_lines(results)
    if marked(results):
        yield (
            "Bold, or with a *: above its control (the bag of words of its width where words alone "
            "tell something, else chance), and tied with no other encoder by the test of probe "
            "compare."
        )
    yield from _skewed(results)
    yield from _word_vectors(results)
    yield from _precision(scores)
    if any(record.units and of_items(results, record.task) for record in results.records):
        yield (
            "Items that belong together (mirror pairs, questions about one sentence) are not "
            "independent: intervals are widened for it."
        )
    yield from _unfinished(scores)


def _skewed(results: Results) -> Iterator[str]:
    tasks = dict.fromkeys(r.task for r in results.records if not is_balanced(r))
    if tasks:
        yield (
            f"The labels of {', '.join(tasks)} are not equally common: chance is the share of the "
            "commonest, and a probe that knows nothing may be below it."
        )


def _word_vectors(results: Results) -> Iterator[str]:
    """Say what stands for probe words where they are not one-hot."""
    for name in dict.fromkeys(record.probe_vectors for record in results.records if record.dim):
        if name not in ("", ONE_HOT):
            whose = "the encoder's own of each word" if name == OWN_WORDS else f"those of {name}"
            yield f"Probe words are word vectors: {whose}."
    yield from _own_words(results)


def _own_words(results: Results) -> Iterator[str]:
    """Say which of an encoder's own vectors those of probe words are."""
    own = [record for record in results.records if record.probe_vectors == OWN_WORDS]
    read = dict.fromkeys(record.encoder for record in own if record.input_words)
    alone = dict.fromkeys(record.encoder for record in own if not record.input_words)
    if read:
        yield f"Of {', '.join(read)} they are the vectors by which it reads words (input vectors)."
    if alone:
        yield f"Of {', '.join(alone)} they are what it makes of the word alone."


def _precision(scores: Sequence[Score]) -> Iterator[str]:
    """Name the floating point numbers of training; a baseline has none."""
    counts = Counter(each.precision for score in scores for each in score.seeds if each.precision)
    if not counts:
        return
    each = [
        name + (f" ({count} probes)" if len(counts) > 1 else "")
        for name, count in sorted(counts.items())
    ]
    what = " (the first layer's products; all else is float32)" if "bfloat16" in counts else ""
    yield f"Trained in {' and '.join(each)}{what}."


def _unfinished(scores: Sequence[Score]) -> Iterator[str]:
    converged = [each.converged for score in scores for each in score.seeds]
    count = converged.count(False)
    if count:
        yield (
            f"{count} of {len(converged)} probes {'was' if count == 1 else 'were'} stopped by "
            f"max_epochs before {'it' if count == 1 else 'they'} converged; more passes may raise "
            f"{'its' if count == 1 else 'their'} accuracy."
        )


def _sizes(results: Results) -> str:
    sizes = _told(results, lambda record: str(record.scores[Condition.PROBE].total))
    first, *others = sizes.items()
    if len(set(sizes.values())) == 1:
        return f"{first[1]} test items"
    return f"{first[1]} test items of {first[0]}" + "".join(f", {n} of {t}" for t, n in others)


def chance_text(results: Results) -> str:
    """Say what chance is: on every task or, where it differs, on each."""
    shares = _told(results, lambda record: f"{100 * record.majority:.1f}")
    if len(set(shares.values())) > 1:
        return ", ".join(f"{share} on {task}" for task, share in shares.items())
    return next(iter(shares.values())) + (" on every task" if len(shares) > 1 else "")


def _told(results: Results, what: Callable[[Result], str]) -> dict[str, str]:
    """Return what is said of each task; what differs between draws is said in turn."""
    told: dict[str, dict[str, None]] = {}
    for record in results.records:
        told.setdefault(record.task, {})[what(record)] = None
    return {task: " or ".join(texts) for task, texts in told.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStyle:
    """What a cell shows besides the accuracy."""

    intervals: bool = False
    """The 95% interval behind each figure."""
    sources: bool = False
    """Behind a figure of several draws, what its spread is due to."""
    published: bool = False
    """Whether the rows of the papers that have the tasks stand below those of the encoders."""
    all_rows: bool = False
    """Whether sanity runs have rows too; else a line below the table stands for them."""


def grid(results: Results, *, style: CellStyle | None = None) -> Grid:
    """Lay results of one setting out: encoders, published rows, and sanity runs if asked for.

    A figure is the mean over draws and seeds, in percent, with its standard deviation where it has
    several. In each column the best is marked if it is above its control and not tied with another
    encoder, or else nothing (see :mod:`.marks`). Sanity runs that depend on an encoder's width
    alone have a row per width.
    """
    style = style or CellStyle()
    rows = [
        *_encoder_rows(results, Condition.PROBE, style),
        *(_published(row, results) for row in (rows_of(results.tasks) if style.published else ())),
        *(_sanity_rows(results, style) if style.all_rows else ()),
    ]
    shown = tuple(row for row in rows if row.heading or any(cell.text for cell in row.cells))
    return Grid(("encoder", *results.tasks), shown)


def _sanity_rows(results: Results, style: CellStyle) -> Iterator[GridRow]:
    yield from _by_width(results, Condition.RANDOM_SENTENCES, style)
    yield from _encoder_rows(results, Condition.RANDOM_PROBES, style)
    yield from _by_width(results, Condition.BAG_OF_WORDS, style)
    yield from _by_width(results, Condition.NO_SENTENCE, style)


Find = Callable[[str], Result | None]
"""Gives the result that a row shows for a task."""


def _of_encoder(results: Results, encoder: str) -> Find:
    return lambda task: results.find(encoder, task)


def _by_width(results: Results, condition: Condition, style: CellStyle) -> list[GridRow]:
    """Return a row for each width (or what else counts) under a condition that encoders share."""
    there = [record for record in results.records if condition in record.scores]
    named = [(", ".join([NAMES[condition], *shared_by(each, condition)]), each) for each in there]
    rows = []
    for name in dict.fromkeys(name for name, _ in named):
        first = {record.task: record for other, record in reversed(named) if other == name}
        rows.append(_row(name, condition, results, first.get, style))
    return rows


def _row(
    label: str, condition: Condition, results: Results, find: Find, style: CellStyle
) -> GridRow:
    found = map(find, results.tasks)
    draws = (draws_of(results, each) if each else () for each in found)
    cells = (_cell(each, condition, style) for each in draws)
    return GridRow(label, condition.value, tuple(cells))


def _encoder_rows(results: Results, condition: Condition, style: CellStyle) -> Iterator[GridRow]:
    """Yield a row for each encoder; layers of one model stand below a row with its name."""
    there = {each.encoder: each for each in results.records if condition in each.scores}
    best = marked(results) if condition is Condition.PROBE else ()
    tail = f", {NAMES[condition]}" if condition in NAMES else ""
    for family, names in groupby(there, key=_families(there.values()).get):
        if family is not None:
            empty = (GridCell(""),) * len(results.tasks)
            yield GridRow(f"{family}{tail}", condition.value, empty, heading=True)
        for name in names:
            label = f"{name}{tail}" if family is None else f"  layer {there[name].layer}"
            row = _row(label, condition, results, _of_encoder(results, name), style)
            yield replace(row, cells=_mark(name, row.cells, results, best), whose=name)


def _families(records: Collection[Result]) -> Mapping[str, str]:
    """Return the model of each encoder that is one of its several layers."""
    layers = [each for each in records if each.layer is not None]
    sizes = Counter(each.family for each in layers)
    return {each.encoder: each.family for each in layers if sizes[each.family] > 1}


def _mark(
    encoder: str, cells: Sequence[GridCell], results: Results, best: Collection[tuple[str, str]]
) -> tuple[GridCell, ...]:
    """Mark the cells of an encoder that are the best of their columns."""
    pairs = zip(results.tasks, cells, strict=True)
    return tuple(replace(each, best=(encoder, task) in best) for task, each in pairs)


def _cell(draws: Sequence[Result], condition: Condition, style: CellStyle) -> GridCell:
    figure = figure_of(draws, condition)
    if figure is None:
        return GridCell("")
    text = show_score(figure, intervals=style.intervals)
    return GridCell(text + (_sources(figure) if style.sources else ""))


def _sources(figure: Figure) -> str:
    """Write what the spread of a figure is due to, as standard deviations in points."""
    between = {"draws": figure.between_draws, "probes": figure.between_probes}
    parts = [f"{what} {_percent(part)}" for what, part in between.items() if part is not None]
    return f" ({', '.join(parts)})" if parts else ""


def show_score(score: Score | Figure, *, intervals: bool = False) -> str:
    """Write an accuracy in percent, with its spread, and with its 95% interval when asked for."""
    spread = "" if score.spread is None else f" ± {_percent(score.spread)}"
    low, high = _percent(score.interval.low), _percent(score.interval.high)
    return _percent(score.accuracy) + spread + (f" [{low}, {high}]" if intervals else "")


def _percent(accuracy: float) -> str:
    return f"{100 * accuracy:.1f}"


def _published(row: PublishedRow, results: Results) -> GridRow:
    texts = (row.accuracies.get(task) for task in results.tasks)
    cells = tuple(GridCell("" if value is None else f"{value:.1f}") for value in texts)
    return GridRow(row.label, PUBLISHED, cells)


def arrange(results: Results) -> Results:
    """Return the results by encoder (a model's layers in order), tasks as in the papers' tables."""
    ranks = {task.name: rank for rank, task in enumerate(known_tasks())}
    return Results(tuple(sorted(results.records, key=lambda each: _order(each, ranks))))


def _order(record: Result, ranks: Mapping[str, int]) -> tuple[object, ...]:
    rank = ranks.get(record.task, len(ranks))
    layer = -1 if record.layer is None else record.layer
    at = (-1 if record.step is None else record.step, record.epoch or 0.0)
    return record.family or record.encoder, layer, at, record.encoder, rank, record.task


def settings(results: Results) -> tuple[Results, ...]:
    """Divide results into tables in which all are comparable, in order of appearance.

    Runs that differ only in their draw are one table; see :func:`.draws.join_draws`.
    """
    return join_draws(single_draws(results))


def single_draws(results: Results) -> tuple[Results, ...]:
    """Divide results into tables of one draw each.

    In one table are the results of one classifier and run seed, with one dataset per task and one
    encoder per name. What is there twice (from runs that overlap) is kept once, with more seeds.
    Tables are in the order of their seeds, whatever the names of their files are.
    """
    tables: list[list[Result]] = []
    for record in results.records:
        for table in tables:
            place = _place(record, table)
            if place is not None:
                table[place : place + 1] = [_fuller(record, *table[place : place + 1])]
                break
        else:
            tables.append([record])
    tables.sort(key=lambda table: table[0].seed)
    return tuple(Results(tuple(table)) for table in tables)


def titles(tables: Sequence[Results]) -> tuple[str, ...]:
    """Return what stands above each of several tables: its number, and in what they differ.

    That is the seed, and what stands for probe words.
    """
    if len(tables) == 1:
        return ("",)
    told = [""] * len(tables)
    for what in (_seed_text, _words_text):
        texts = [what(table) for table in tables]
        if len(set(texts)) > 1:
            told = [before + text for before, text in zip(told, texts, strict=True)]
    return tuple(f"table {place} of {len(tables)}{text}" for place, text in enumerate(told, 1))


def _seed_text(table: Results) -> str:
    seeds = sorted({record.seed for record in table.records})
    return f", seed {' and '.join(map(str, seeds))}"


def _words_text(table: Results) -> str:
    names = sorted({record.probe_vectors for record in table.records} - {""})
    return f", probe words: {' and '.join(names)}" if names else ""


def origins(results: Results) -> Iterator[str]:
    """Say which encoders come from which folder, where the results were read from several."""
    by_folder: dict[str, dict[str, None]] = {}
    for record in results.records:
        by_folder.setdefault(record.source, {})[record.encoder] = None
    for folder, encoders in by_folder.items():
        if folder:
            yield f"from {folder}: {', '.join(encoders)}"


def _place(record: Result, table: Sequence[Result]) -> int | None:
    """Return where a record belongs in a table, or None when it does not."""
    for other in table:
        if _contradict(record, other):
            return None
    for place, other in enumerate(table):
        if other.cell == record.cell:
            return place
    return len(table)


def _contradict(one: Result, other: Result) -> bool:
    if (one.preset, one.seed) != (other.preset, other.seed):
        return True
    if "" not in (one.probe_vectors, other.probe_vectors) and _words(one) != _words(other):
        return True
    if one.task == other.task and one.dataset_fingerprint != other.dataset_fingerprint:
        return True
    same = one.encoder == other.encoder
    return same and (
        one.encoder_fingerprint != other.encoder_fingerprint or _other_words(one, other)
    )


def _other_words(one: Result, other: Result) -> bool:
    """Say whether an encoder's vectors of probe words changed, as from an older version's."""
    prints = {one.probe_fingerprint, other.probe_fingerprint} - {""}
    return len(prints) > 1


def _words(record: Result) -> tuple[str, str]:
    """Return what stands for probe words; of an encoder's own, the encoder says which."""
    own = record.probe_vectors == OWN_WORDS
    return record.probe_vectors, "" if own else record.probe_fingerprint


def _fuller(record: Result, other: Result | None = None) -> Result:
    if other is None or _seeds(record) > _seeds(other):
        return record
    return other


def _seeds(record: Result) -> tuple[int, int]:
    scores = record.scores
    return len(scores), sum(len(score.seeds) for score in scores.values())
