"""The command ``probe analyze``: turn a corpus into a table.

The command ``probe agree``: agreement of two tables that hold annotations of the same sentences.

The command ``probe annotate``: accuracy and agreement of people on a task.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.help import map_given_options
from sentprobe.commands.shared.interruption import describe_kept_work, report_interruption
from sentprobe.commands.shared.options import REPLACED, TableFormatOption
from sentprobe.commands.shared.output_paths import OUTPUT_FILE, OUTPUT_FOLDER
from sentprobe.commands.shared.table_output import FLAT, check_output_file, find_table_format, write_tables
from sentprobe.common import tables as tw
from sentprobe.common.errors import SentprobeError, UsageError, format_count, suggest, suggest_path
from sentprobe.common.files import atomic_path, write_atomically
from sentprobe.common.inputs import describe_folder
from sentprobe.common.processes import check_count, count_cores
from sentprobe.common.screen import print_message, print_place, print_table, print_text, show_bars
from sentprobe.common.specs import choose_member
from sentprobe.common.tables import Grid, GridCell, GridRow, TableFormat
from sentprobe.common.values import format_json
from sentprobe.probes.corpus.parsers import NO_PARSER, PARSERS
from sentprobe.probes.corpus.sources import (
    FORMATS,
    PARQUET,
    RecordFields,
    Source,
    TextUnit,
    find_file_language,
    find_sources,
)
from sentprobe.probes.corpus.table import (
    FAILURES,
    MAX_TOKENS,
    AnalysisRecipe,
    Table,
    choose_language,
    make_recipe,
    open_table,
)
from sentprobe.probes.corpus.universal_labels import COMPOUND_TENSES

if TYPE_CHECKING:
    from sentprobe.probes.corpus.analysis import AnalysisProgress
    from sentprobe.probes.datasets.dataset import ProbeDataset
    from sentprobe.probes.natural import table_agreement


def agree(
    first: Annotated[Path, typer.Argument(metavar="GOLD", help="First table, such as gold trees.")],
    second: Annotated[Path, typer.Argument(metavar="PARSED", help="Second table, such as a parser's.")],
    disagreements: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"JSONL file for every disagreement; {REPLACED}"), OUTPUT_FILE
    ] = None,
    format_: TableFormatOption = "text",
) -> None:
    """Measure how often two tables of the same sentences have the same annotation.

    Both tables come from probe analyze: for example, one from gold trees, and one from a parser.
    """
    style = find_table_format(format_, None, subject="an agreement")
    check_output_file(disagreements)
    tables = open_table(first), open_table(second)
    agreement = measure_agreement(tables, disagreements)
    grids = build_grids(agreement)
    notes = describe_agreement(agreement, tables)
    if style is TableFormat.TEXT:
        for grid in grids:
            print_table(tw.build_rich_table(grid))
        print_text(notes, end="")
        if disagreements is not None:
            print_place(f"disagreements: {disagreements}")
    elif style in FLAT:
        print(tw.format_records(to_records(agreement), style), end="")
    else:
        print("\n".join(tw.format_grid(grid, style) for grid in grids) + tw.format_notes(notes, style), end="")


def measure_agreement(tables: tuple[Table, Table], disagreements: Path | None) -> "table_agreement.TableAgreement":
    """Return the agreement of two tables; if *disagreements* is a path, write all disagreements to that file."""
    from sentprobe.probes.natural import table_agreement

    with table_agreement.open_pairs(*tables) as pairs:
        agreement = pairs.compute_agreement()
        if not any(tally.both for tally in agreement.tallies.values()):
            raise SentprobeError(
                f"{tables[0].path}, {tables[1].path}: no shared sentence (of {agreement.both:,}) has "
                "a label in both; a table of tokens alone has no labels"
            )
        if disagreements is not None:
            with atomic_path(disagreements) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
                out.writelines(format_json(pair) + "\n" for pair in pairs.list_disagreements())
    return agreement


COUNTS = ("total", "neither", "same", "different", "only_a", "only_b", "kappa")


def to_records(agreement: "table_agreement.TableAgreement") -> list[dict[str, Any]]:
    """Return records of agreement (counts and shares): one for each label, one for each task, one for token tags."""
    named_tallies = [(measure.kind.value, measure.name, tally) for measure, tally in agreement.tallies.items()]
    return [
        {
            "kind": kind,
            "name": name,
            **{name: getattr(tally, name) for name in COUNTS},
            **_compute_shares(tally),
            "sentences": agreement.both,
            "sentences_only_a": agreement.only_a,
            "sentences_only_b": agreement.only_b,
        }
        for kind, name, tally in [*named_tallies, ("tokens", "tags", agreement.tags)]
    ]


def _compute_shares(tally: "table_agreement.AgreementCounts") -> dict[str, float | None]:
    """Return three shares of agreement and the ends of their 95% intervals, by name; None if a denominator is 0."""
    from sentprobe.probes.statistics import wilson

    counts = {
        "rate": (tally.agreed, tally.total),
        "rate_of_both": (tally.same, tally.both),
        "rate_of_b": (tally.same, tally.labelled_by_b),
    }
    shares: dict[str, float | None] = {}
    for name, (part, total) in counts.items():
        interval = wilson(part, total) if total else None
        values = (part / total, interval.low, interval.high) if interval else (None, None, None)
        shares |= dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))
    return shares


def _format_share(part: int, total: int) -> str:
    from sentprobe.probes.statistics import wilson

    if not total:
        return "-"
    ends = wilson(part, total)
    return f"{100 * part / total:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def build_grids(agreement: "table_agreement.TableAgreement") -> tuple[Grid, Grid]:
    """Return two grids of how often tables A and B agree: one has a row for each label, one has a row for each task."""
    from sentprobe.probes.natural import table_agreement

    rows: dict[table_agreement.MeasureKind, list[GridRow]] = {kind: [] for kind in table_agreement.MeasureKind}
    for measure, tally in agreement.tallies.items():
        only_a, only_b = f"{tally.only_a:,}", f"{tally.only_b:,}"
        if measure.kind is table_agreement.MeasureKind.LABEL:
            kappa = "-" if tally.kappa is None else f"{tally.kappa:.3f}"
            shares = _format_share(tally.agreed, tally.total), f"{tally.both:,}", _format_share(tally.same, tally.both)
            texts: tuple[str, ...] = (measure.task, *shares, kappa, only_a, only_b)
        else:
            share = _format_share(tally.same, tally.labelled_by_b)
            texts = (f"{tally.labelled_by_a:,}", f"{tally.labelled_by_b:,}", share, f"{tally.different:,}", only_b)
        rows[measure.kind].append(GridRow(measure.name, "", tuple(map(GridCell, texts))))
    label_header = ("label", "task", "same [95%]", "in both", "same of these [95%]", "kappa", "only A", "only B")
    task_header = ("task", "A could ask", "B could ask", "A says the same [95%]", "A says another", "A would not ask")
    label_rows, task_rows = (tuple(rows[kind]) for kind in table_agreement.MeasureKind)
    return Grid(label_header, label_rows), Grid(task_header, task_rows)


def describe_agreement(agreement: "table_agreement.TableAgreement", tables: tuple[Table, Table]) -> str:
    """Return the notes below the output: sizes of the corpus tables, and how to read the figures."""
    first, second = tables
    unmatched, tags, tag_note = agreement.only_a + agreement.only_b, agreement.tags, ""
    if tags.total:
        share, tasks = _format_share(tags.same, tags.total), _list_tasks_needing("TAGS")
        tag_note = f"Tags are the same for {share}% of {tags.total:,} tokens; {tasks} needs them. "
    lines = [
        f"A: {first.path}, {first.counts.rows:,} sentences. B: {second.path}, {second.counts.rows:,} sentences. In "
        f"both: {agreement.both:,}; only in A: {agreement.only_a:,}; only in B: {agreement.only_b:,}."
        + (" Sentences match if their tokens are the same." if unmatched else ""),
        "First table: percent of the shared sentences with the same label in both (or with none in "
        "both); then percent of those with a label in both, on which Cohen's kappa is computed.",
        "Second table: percent of the task's possible sentences in B (before frequency bands and "
        "balancing) with the same answer in A. Intervals: 95%, Wilson.",
        f"{tag_note}{_list_tasks_needing('NOTHING')} and the tasks of Adi et al. need no parse.",
    ]
    if unparsed := [name for name, table in zip("AB", tables, strict=True) if not table.constituents]:
        omitted = _list_tasks_needing("TREE")
        lines.append(f"There are no constituents in {' and '.join(unparsed)}; omitted: {omitted}.")
    return "".join(f"{line}\n" for line in lines)


def _list_tasks_needing(need: str) -> str:
    """Return the names of Conneau et al.'s tasks with TableNeed[*need*]. For "TREE", include tasks with CLAUSES."""
    from sentprobe.common.specs import TaskGroup
    from sentprobe.probes.natural.datasets import TASKS
    from sentprobe.probes.natural.natural_task import TableNeed

    needs = {TableNeed[need]} | ({TableNeed.CLAUSES} if need == "TREE" else set())
    chosen = [task for task in TASKS.values() if task.suite is TaskGroup.CONNEAU and task.need in needs]
    return ", ".join(task.name for task in chosen)


READING = "Reading the files"
"""Title of the ``--help`` panel (group of options) about reading files."""

reading_option = partial(opt.declare_option, READING)
"""Function that declares an option in the ``--help`` panel READING."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """Options for reading the files of a corpus."""

    format: Annotated[
        str | None,
        opt.build_format_option(
            ("text", "lines", "tokens", "trees", "conllu", "jsonl", "parquet"), "Default: by the suffix.", READING
        ),
    ] = None
    encoding: Annotated[str, reading_option(help="Character encoding of the files.")] = "utf-8"
    punkt: Annotated[
        Path | None,
        reading_option(
            metavar="DIR",
            help="Split text into sentences by Punkt, with the parameters in this folder. "
            "Default: the parser splits it.",
        ),
    ] = None
    text_column: Annotated[str, reading_option(help="Text column of JSONL and Parquet.")] = "text"
    holds: Annotated[str, reading_option(help="The text column holds: text, sentence or tokens.")] = "text"
    max_tokens: Annotated[int, reading_option(min=1, help="Skip sentences of more than N tokens.")] = MAX_TOKENS
    language: Annotated[
        str | None,
        reading_option(
            help="Language of the sentences, such as de. It decides which compound tenses are a past. "
            "Default: from the name of a file (de_gsd-ud-test.conllu) or of the folder --out (de.table)."
        ),
    ] = None
    universal: Annotated[
        bool, reading_option(help="Derive labels of tasks from Universal Dependencies, even if there are Penn tags.")
    ] = False


@opt.expand_option_groups
def analyze(
    sources: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files, patterns such as 'books/*.txt', or - (stdin).")
    ],
    out: Annotated[Path, opt.build_out_option("Folder for the table, new or of a stopped run."), OUTPUT_FOLDER],
    parser: Annotated[
        str | None,
        typer.Option(
            "--parser", "-p", help="stanza, bllip:MODEL, corenlp:URL, benepar, spacy:PIPELINE, or none (no parsing)."
        ),
    ] = None,
    force: opt.ForceOption = False,
    *,
    reading: ReadingOptions,
    where: opt.EngineOptions,
    jobs: opt.JobsOption = None,
) -> None:
    """Turn a corpus into a table, from which natural-text tasks are built.

    The table has a row for each distinct sentence, with its tokens, tags, trees and labels. To resume after an
    interruption, repeat the command.
    """
    from sentprobe.probes.corpus.analysis import Analysis, AnalysisProgress
    from sentprobe.probes.corpus.analysis import analyze as make_table

    holds = choose_member(TextUnit, reading.holds, what="content")
    machines = where.find_machines(jobs=count_cores() if jobs is None else jobs)
    found_sources = find_sources(sources, format=reading.format)
    language = choose_language([source.name for source in found_sources], out, chosen=reading.language)
    plan = Analysis(
        sources=found_sources,
        recipe=build_recipe(found_sources, parser, reading, RecordFields(reading.text_column, holds), language),
        out=out,
        encoding=reading.encoding,
        command=format_table_command(sources, parser, reading),
        language=language,
        force=force,
    )
    with report_interruption(lambda: describe_kept_work(out)), show_bars(notes=True) as reporter:
        pace = AnalysisProgress()
        table = make_table(plan, machines, reporter, pace)
    _print_summary(table, pace)


def build_recipe(
    sources: Sequence[Source], parser: str | None, reading: ReadingOptions, records: RecordFields, language: str
) -> AnalysisRecipe:
    """Return the settings for splitting and parsing; raise UsageError if a parser is missing, or not needed."""
    if parser is not None and all(FORMATS[source.format].parsed for source in sources):
        raise UsageError(f"{sources[0].name} is parsed already; leave out --parser")
    unparsed = [source.name for source in sources if source.format in {"text", "lines", "tokens"}]
    if parser is None and unparsed:
        parser_names = ", ".join(kind.name for kind in PARSERS)
        raise UsageError(
            f"{unparsed[0]} must be parsed; choose with --parser: {parser_names}, or {NO_PARSER} for tokens only"
        )
    text_formats = {"text", "jsonl", PARQUET} if records.holds is TextUnit.TEXT else {"text"}
    return make_recipe(
        reading=records,
        parser=parser,
        punkt=reading.punkt,
        max_tokens=reading.max_tokens,
        universal=reading.universal,
        language=language,
        has_text=parser is not None and any(source.format in text_formats for source in sources),
    )


def format_table_command(sources: Sequence[str], parser: str | None, reading: ReadingOptions) -> str:
    """Return a command line that makes the same table; it lacks the options that do not change the table."""
    arguments = [] if parser is None else ["--parser", parser]
    for field in fields(reading):
        value = getattr(reading, field.name)
        if value != field.default:
            arguments += [f"--{field.name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return opt.format_words(["probe", "analyze", *sources, *arguments])


def _print_summary(table: Table, pace: "AnalysisProgress") -> None:
    counts, seconds, analysed = table.counts, pace.seconds, pace.new_sentences
    print_text(
        f"{counts.rows:,} different sentences of {counts.sentences:,} "
        f"({counts.duplicates:,} repeated, {counts.failures:,} failed)"
    )
    if analysed < counts.sentences:
        print_text(f"{counts.sentences - analysed:,} of them had been analysed before")
    if counts.failures:
        print_place(f"failed sentences: {table.path / FAILURES}")
    if not table.constituents:
        content = "tags and dependencies" if table.recipe["parser_made_of"] else "tokens"
        print_text(
            f"there are only {content}: tree, depth, top constituents and coordinated clauses are "
            "left out, and so are the tasks that need them"
        )
    if table.has_values("dependency_depth") and (note := _format_tense_note(table)):
        print_text(note)
    print_message(f"{seconds:.1f} seconds, {analysed / seconds:,.0f} sentences a second")
    print_place(f"table: {table.path}" + (f", language {table.language}" if table.language else ""))


def _format_tense_note(table: Table) -> str:
    """Return a note on the languages whose compound tenses are not known; "" if all are."""
    languages = [table.language] if table.language else [find_file_language(source.path) for source in table.sources]
    unknown = sorted({*languages} - COMPOUND_TENSES.keys())
    if not unknown:
        return ""
    names = ", ".join(filter(None, unknown))
    reason = f"no compound tenses are known of: {names}" if names else "the language is unknown"
    advice = "" if all(unknown) else "; name the language with --language"
    return f"{reason}; a perfect has the tense of its auxiliary, also where it is the ordinary past{advice}"


@opt.expand_option_groups
def annotate(
    context: typer.Context,
    task: Annotated[
        str | None,
        typer.Argument(
            metavar="TASK|DATASET",
            help="Generated task, such as SemRole, built as by probe run; or a stored dataset, such as data/BShift.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        opt.build_out_option("New folder for sheets and key; with --read, results folder for the row Human."),
        OUTPUT_FOLDER,
    ] = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of test items to draw.")] = 200,
    annotators: Annotated[int, typer.Option(help="Number of annotators; each gets a sheet.")] = 3,
    question: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Question in words; {probe1}, {probe2}: words asked about. Default: the task's."
        ),
    ] = None,
    seed: Annotated[int, opt.build_seed_option("data and sample")] = 0,
    read: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Read the filled sheets of this folder.")] = None,
    at_least: Annotated[
        str, typer.Option(metavar="SHARE", help="Control items that an annotator must have right to count.")
    ] = "90%",
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"CSV file for each item's answers and majority; {REPLACED}"),
        OUTPUT_FILE,
    ] = None,
    format_: Annotated[str, opt.build_format_option(opt.TABLE_FORMATS)] = "text",
) -> None:
    """Write sheets for people to answer a task, and measure their accuracy.

    Each annotator fills a page (.html) or a table (.csv) in the folder sheets; keep key.json, which has the answers.
    Ten or more control items repeat examples of the instructions. With --read: accuracy, alpha, the majority.
    """
    if (task is None) == (read is None):
        raise UsageError("name a task or dataset to write sheets for, or --read FOLDER")
    unused = SHEET_OPTIONS if read else READING_OPTIONS
    if option := next((option for name, option in map_given_options(context).items() if name in unused), None):
        raise UsageError(f"{option} is for {'the writing of sheets, without --read' if read else '--read'}")
    if read is not None:
        _read_answers(read, out=out, labels=labels, at_least=at_least, format_=format_)
        return
    if out is None:
        raise UsageError("name a new folder for the sheets with --out")
    from sentprobe.probes.annotation.sheets import write_study
    from sentprobe.probes.annotation.study import draw_study

    check_count("annotators", annotators)
    data = _find_dataset(str(task), seed=seed)
    study = draw_study(data, n=n, seed=seed, question=question, command=opt.format_command_line())
    write_study(study, out, annotators=annotators)
    counts = f"{format_count(len(study.test_items), 'item')} and {format_count(len(study.controls), 'control item')}"
    print_place(f"{counts} of {study.task} for {format_count(annotators, 'annotator')}: {out}")


SHEET_OPTIONS = ("n", "annotators", "question", "seed")
READING_OPTIONS = ("at_least", "labels", "format_")
"""Parameters of ``probe annotate`` that are for one of its two uses."""


def _read_answers(folder: Path, *, out: Path | None, labels: Path | None, at_least: str, format_: str) -> None:
    """Read the sheets of a study, print accuracy and agreement, and write the files that were asked for."""
    from sentprobe.probes.annotation.answers import read_sheets, score_study
    from sentprobe.probes.annotation.study import read_study
    from sentprobe.probes.results.human_results import write_human
    from sentprobe.probes.results.store import check_directory, prepare_directory

    style = find_table_format(format_, None, subject="an annotation")
    share = opt.parse_share(at_least, "--at-least")
    if out is not None:
        check_directory(out)
    study = read_study(folder)
    annotated = score_study(study, read_sheets(folder, study), at_least=share, command=opt.format_command_line())
    write_tables([("", annotated.build_grid(), annotated.format_notes())], annotated.to_records, style)
    if labels is not None:
        write_atomically(labels, tw.format_records(annotated.to_label_records(), TableFormat.CSV))
        print_message(f"labels: {labels}")
    if out is not None:
        prepare_directory(out)
        write_human(annotated.result, out)
        print_message(f"results: {out}")


def _find_dataset(name: str, *, seed: int) -> "ProbeDataset":
    """Return the dataset of a generated task, or a stored one. Raises UsageError."""
    from sentprobe.probes.generated.tasks import SUITE_TASKS
    from sentprobe.probes.runs.targets import find_datasets, find_targets

    suite = next((suite for suite, tasks in SUITE_TASKS.items() if name in tasks), None)
    if suite is None:
        names = [task for tasks in SUITE_TASKS.values() for task in tasks]
        if not Path(name).exists():
            raise UsageError(f"there is no task {name!r}{suggest(name, names)}, nor such a dataset{suggest_path(name)}")
        if kind := describe_folder(Path(name)):
            raise UsageError(f"{name}: is {kind}, not a dataset, which probe build makes")
    targets = find_targets(suite or name, tasks=[name] if suite else (), seed=seed)
    with show_bars() as reporter:
        datasets, _ = find_datasets(targets, command=opt.format_command_line(), reporter=reporter)
    if len(datasets) > 1:
        raise UsageError(f"{name}: name one of its datasets: {', '.join(data.name for data in datasets)}")
    return datasets[0]
