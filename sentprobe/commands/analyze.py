"""The command ``probe analyze``: turn a corpus into a table."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.stopping import goes_on, stopping
from sentprobe.errors import UsageError
from sentprobe.probes.corpus.recipe import MAX_TOKENS, Recipe, make_recipe
from sentprobe.probes.corpus.sources import Source, find_sources
from sentprobe.probes.corpus.table import FAILURES, Table
from sentprobe.probes.corpus.text_formats import FORMATS, PARQUET, Holds, RecordFields
from sentprobe.probes.syntax.parsers import NO_PARSER, PARSERS
from sentprobe.processes import cores
from sentprobe.progress import bars
from sentprobe.screen import say
from sentprobe.specs import choose

if TYPE_CHECKING:
    from sentprobe.probes.corpus.analyze import Pace

READING = "How the files are read"
"""A panel of ``--help``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How the files of a corpus are read."""

    format: Annotated[
        str | None,
        opt.format_among(
            "text, lines, tokens, trees, conllu, jsonl or parquet. By default as the suffix says.",
            READING,
        ),
    ] = None
    encoding: Annotated[str, typer.Option(help="Of the files' text.", rich_help_panel=READING)] = (
        "utf-8"
    )
    punkt: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Split text into sentences by Punkt, with the parameters in this folder.  "
            "By default as the parser does.",
            rich_help_panel=READING,
        ),
    ] = None
    text_column: Annotated[
        str, typer.Option(help="Of JSONL and Parquet.", rich_help_panel=READING)
    ] = "text"
    holds: Annotated[
        str,
        typer.Option(
            help="What is in that column: text, sentence or tokens.", rich_help_panel=READING
        ),
    ] = "text"
    max_tokens: Annotated[
        int,
        typer.Option(min=1, help="Longer sentences are not parsed.", rich_help_panel=READING),
    ] = MAX_TOKENS


@opt.with_groups
def analyze(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files, patterns such as 'books/*.txt', or - ."),
    ],
    out: Annotated[Path, opt.out_to("Folder for the table.")],
    parser: Annotated[
        str | None,
        typer.Option(
            "--parser",
            "-p",
            help="stanza, bllip:MODEL, corenlp:URL, benepar, spacy:PIPELINE, or none. "
            "Files of trees need no parser.",
        ),
    ] = None,
    force: opt.ForceOption = False,
    *,
    reading: ReadingOptions,
    where: opt.EngineOptions,
    jobs: opt.JobsOption = None,
) -> None:
    """Turn a corpus into a table, from which natural-text tasks are built.

    A stopped run goes on with the same command.
    """
    from sentprobe.probes.corpus.analyze import Analysis, Pace  # noqa: PLC0415 - slow
    from sentprobe.probes.corpus.analyze import analyze as make_table  # noqa: PLC0415 - slow

    holds = choose(Holds, reading.holds, what="content")
    machines = where.machines(jobs=cores() if jobs is None else jobs)
    found = find_sources(sources, format=reading.format)
    plan = Analysis(
        sources=found,
        recipe=find_recipe(found, parser, reading, RecordFields(reading.text_column, holds)),
        out=out,
        encoding=reading.encoding,
        command=same_table(sources, parser, reading),
        force=force,
    )
    with stopping(goes_on(out)), bars(notes=True) as reporter:
        pace = Pace()
        table = make_table(plan, machines, reporter, pace)
    print_table(table, pace)


def find_recipe(
    sources: Sequence[Source], parser: str | None, reading: ReadingOptions, records: RecordFields
) -> Recipe:
    """Return how the sentences of the sources are found and parsed.

    Raises:
        UsageError: no such parser; texts without a parser, or a parser without texts; no
            parameters for Punkt.
        ParserError: the parser's library or model is not there.
    """
    _check_parser(sources, parser)
    return make_recipe(
        reading=records,
        parser=parser,
        punkt=reading.punkt,
        max_tokens=reading.max_tokens,
        has_text=parser is not None and any(_has_text(source, records) for source in sources),
    )


def _has_text(source: Source, reading: RecordFields) -> bool:
    in_records = source.format in {"jsonl", PARQUET} and reading.holds is Holds.TEXT
    return source.format == "text" or in_records


def _check_parser(sources: Sequence[Source], parser: str | None) -> None:
    parsed = [FORMATS[source.format].parsed for source in sources]
    if parser is not None and all(parsed):
        raise UsageError(f"{sources[0].name} is parsed already; leave out --parser")
    if parser is None:
        for source in sources:
            if source.format in {"text", "lines", "tokens"}:
                known = ", ".join(kind.name for kind in PARSERS)
                raise UsageError(
                    f"{source.name} must be parsed; choose with --parser: {known}, "
                    f"or {NO_PARSER} for its tokens alone"
                )


def same_table(sources: Sequence[str], parser: str | None, reading: ReadingOptions) -> str:
    """Return the command that makes the same table, without what does not change it."""
    given = [] if parser is None else ["--parser", parser]
    for each in fields(reading):
        value = getattr(reading, each.name)
        if value != each.default:
            given += [f"--{each.name.replace('_', '-')}", str(value)]
    return shlex.join(["probe", "analyze", *sources, *given])


def print_table(table: Table, pace: "Pace") -> None:
    """Print what a table holds, what it lacks, and how long it took."""
    counts, seconds, made = table.counts, pace.seconds, pace.made
    say(
        f"{counts.rows:,} different sentences of {counts.sentences:,} "
        f"({counts.duplicates:,} repeated, {counts.failures:,} failed)"
    )
    if made < counts.sentences:
        print(f"{counts.sentences - made:,} of them had been analysed before")
    if counts.failures:
        print(f"why they failed: {table.path / FAILURES}")
    if not table.constituents:
        what = "tags and dependencies" if table.recipe["parser_made_of"] else "tokens"
        say(
            f"there are only {what}: tree, depth, top constituents and coordinated clauses are "
            "left out, and so are the tasks that need them"
        )
    rate = made / seconds
    print(f"{seconds:.1f} seconds, {rate:,.0f} sentences a second", file=sys.stderr)
    print(f"table: {table.path}")
