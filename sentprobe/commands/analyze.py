"""What ``probe analyze`` does, as functions that anyone can call."""

import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from sentprobe.errors import UsageError
from sentprobe.probes.corpus.analyze import Analysis, Machines, analyze
from sentprobe.probes.corpus.recipe import MAX_TOKENS, make_recipe
from sentprobe.probes.corpus.sources import Source, find_sources
from sentprobe.probes.corpus.table import FAILURES, Table
from sentprobe.probes.corpus.text_formats import FORMATS, PARQUET, Holds, RecordFields
from sentprobe.probes.syntax.parsers import NO_PARSER, PARSERS


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzeRequest:
    """What a user asks for."""

    sources: tuple[str, ...]
    out: Path
    parser: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    punkt: Path | None = None
    text_column: str = "text"
    holds: Holds = Holds.TEXT
    max_tokens: int = MAX_TOKENS
    force: bool = False


def analyze_command(request: AnalyzeRequest, machines: Machines) -> None:
    """Make the table with a bar for the progress, and print what is in it.

    Raises:
        UsageError: see :func:`make_plan`.
    """
    plan = make_plan(request)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    start = time.monotonic()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bars = AnalysisBars(progress)
        table = analyze(plan, machines, bars)
    print_table(table, seconds=time.monotonic() - start, made=bars.made)


def make_plan(request: AnalyzeRequest) -> Analysis:
    """Return the plan for what was asked.

    Raises:
        UsageError: no such file, format, encoding or parser; texts without a parser, or a parser
            without texts; no parameters for Punkt.
        ParserError: the parser's library or model is not there.
    """
    sources = find_sources(request.sources, format=request.format)
    _check_parser(sources, request.parser)
    reading = RecordFields(request.text_column, request.holds)
    recipe = make_recipe(
        reading=reading,
        parser=request.parser,
        punkt=request.punkt,
        max_tokens=request.max_tokens,
        has_text=request.parser is not None and any(_has_text(s, reading) for s in sources),
    )
    return Analysis(
        sources=sources,
        recipe=recipe,
        out=request.out,
        encoding=request.encoding,
        command=command_line(request),
        force=request.force,
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


def command_line(request: AnalyzeRequest) -> str:
    """Return the command that makes the same table, without what does not change it."""
    options = {
        "--parser": request.parser,
        "--format": request.format,
        "--encoding": request.encoding if request.encoding != "utf-8" else None,
        "--punkt": request.punkt and str(request.punkt),
        "--text-column": request.text_column if request.text_column != "text" else None,
        "--holds": request.holds.value if request.holds is not Holds.TEXT else None,
        "--max-tokens": str(request.max_tokens) if request.max_tokens != MAX_TOKENS else None,
    }
    given = [part for name, value in options.items() if value for part in (name, value)]
    return shlex.join(["probe", "analyze", *request.sources, *given])


class AnalysisBars:
    """Draws a bar for each step, with the sentences so far and how many there are a second."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._start = time.monotonic()
        self._sentences = 0
        self.made = 0
        """The sentences that this run has analysed."""

    def begin(self, step: str, total: int) -> None:
        """Add a bar."""
        self._task = self._progress.add_task(step, total=total or None, note="")

    def advance(self, amount: int) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task, amount)

    def found(self, sentences: int, *, resumed: bool) -> None:
        """Count sentences, and say how many a second are made."""
        self._sentences += sentences
        self.made += 0 if resumed else sentences
        rate = self.made / max(time.monotonic() - self._start, 1e-9)
        if self._task is not None:
            note = f"{self._sentences:,} sentences, {rate:,.0f} a second"
            self._progress.update(self._task, note=note)


def print_table(table: Table, *, seconds: float, made: int) -> None:
    """Print what a table holds, and what it lacks."""
    counts = table.counts
    print(
        f"{counts.rows:,} different sentences of {counts.sentences:,} "
        f"({counts.duplicates:,} repeated, {counts.failures:,} failed)"
    )
    if made < counts.sentences:
        print(f"{counts.sentences - made:,} of them had been analysed before")
    if counts.failures:
        print(f"why they failed: {table.path / FAILURES}")
    if not table.constituents:
        what = "tags and dependencies" if table.recipe["parser_made_of"] else "tokens"
        print(
            f"there are only {what}: tree, depth, top constituents and coordinated clauses are "
            "left out, and so are the tasks that need them"
        )
    rate = made / max(seconds, 1e-9)
    print(f"{seconds:.1f} seconds, {rate:,.0f} sentences a second", file=sys.stderr)
    print(f"table: {table.path}")
