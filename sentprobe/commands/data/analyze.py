"""The command ``probe analyze``: turn a corpus into a table."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.interruption import describe_kept_work, report_interruption
from sentprobe.commands.shared.output_paths import OUTPUT_FOLDER
from sentprobe.display.screen import print_message, print_place, print_text
from sentprobe.errors import UsageError
from sentprobe.probes.corpus.analysis_settings import MAX_TOKENS, AnalysisRecipe, make_recipe
from sentprobe.probes.corpus.sources import Source, find_file_language, find_sources
from sentprobe.probes.corpus.table import FAILURES, Table, choose_language
from sentprobe.probes.corpus.text_formats import FORMATS, PARQUET, RecordFields, TextUnit
from sentprobe.probes.syntax.compound_tenses import COMPOUND_TENSES
from sentprobe.probes.syntax.parsers import NO_PARSER, PARSERS
from sentprobe.processes import count_cores
from sentprobe.progress import show_bars
from sentprobe.specs import choose_member

if TYPE_CHECKING:
    from sentprobe.probes.corpus.analysis import AnalysisProgress

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
    return shlex.join(["probe", "analyze", *sources, *arguments])


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
