"""The command ``probe verify``: repeat a run, or compare two, figure by figure."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.run_file import TRUST_HELP
from sentprobe.commands.shared.table_output import find_table_format, write_tables
from sentprobe.common.errors import SentprobeError, UsageError, format_count
from sentprobe.common.scratch import make_scratch_folder
from sentprobe.common.screen import print_text
from sentprobe.common.tables import TableFormat

if TYPE_CHECKING:
    from sentprobe.probes.results.result import Result, Results


def verify(
    run: Annotated[Path, typer.Argument(help="Results folder, as written by probe run --out.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="A second results folder. Default: RUN is repeated here.")
    ] = None,
    format_: Annotated[str | None, opt.build_format_option(opt.TABLE_FORMATS, opt.DEFAULT_FORMAT_HELP)] = None,
    out: opt.OutFileOption = None,
    *,
    trust: Annotated[bool, typer.Option("--trust", help=TRUST_HELP)] = False,
) -> None:
    """Repeat a run, or compare two, and say which figures are equal, and why not.

    The answers of the probes are compared. The table has the figures that are not equal; CSV and JSON have all. The
    exit code is 1 if a figure is different or missing.
    """
    from sentprobe.probes.reports import verification
    from sentprobe.probes.results.store import read_results

    style = find_table_format(format_, out, subject="a verification")
    first, notes = read_results(run), ""
    if other is not None:
        second = read_results(other)
    else:
        with make_scratch_folder() as folder:
            _repeat_run(run, folder / "again", trust=trust)
            second = read_results(folder / "again")
        first, notes = _select_repeated(first, second)
    figures = verification.verify_results(first, second)
    if not figures:
        raise UsageError(f"{run}: has no results of probes")
    grid, notes = verification.build_verification_grid(figures), verification.describe_verification(figures) + notes
    if style is TableFormat.TEXT and out is None and not grid.rows:
        print_text(notes, end="")
    else:
        write_tables([("", grid, notes)], lambda: verification.to_verification_records(figures), style, out=out)
    good = (verification.FigureVerdict.EQUAL, verification.FigureVerdict.ROUNDING)
    raise typer.Exit(0 if all(figure.verdict in good for figure in figures) else 1)


def _select_repeated(first: "Results", second: "Results") -> "tuple[Results, str]":
    """Return the scores that were repeated, and a note on others: of earlier runs into the same folder."""
    from sentprobe.probes.results.result import Results

    repeated: list[Result] = []
    for record in first.records:
        again = [other.scores for other in second.records_by_cell.get(record.cell, ())]
        seeds = {
            condition: {score.seed for scores in again if condition in scores for score in scores[condition].seeds}
            for condition in record.scores
        }
        scores = {
            condition: replace(score, seeds=tuple(seed for seed in score.seeds if seed.seed in seeds[condition]))
            for condition, score in record.scores.items()
            if seeds[condition].intersection(seed.seed for seed in score.seeds)
        }
        if scores:
            repeated.append(replace(record, scores=scores))
    others = sum(map(_count_probes, first.records)) - sum(map(_count_probes, repeated))
    note = f"Not repeated: {format_count(others, 'probe')} of other runs; run.toml is of the last.\n" if others else ""
    return Results(tuple(repeated)), note


def _count_probes(record: "Result") -> int:
    return sum(len(score.seeds) for score in record.scores.values())


def _repeat_run(run: Path, out: Path, *, trust: bool) -> None:
    """Run the command of a results folder again. Raises UsageError without its run file, SentprobeError if it fails."""
    run_file = run / "run.toml"
    if not run_file.is_file():
        raise UsageError(f"{run}: has no run.toml, which probe run --out writes; name a second results folder")
    words = ["run", "--config", str(run_file), "--out", str(out), "--no-cache", *(["--trust"] if trust else [])]
    # With -P, Python imports nothing from the working directory, which may be a stranger's results folder.
    again = subprocess.run([sys.executable, "-P", "-m", "sentprobe", *words], stdout=subprocess.DEVNULL, check=False)
    if again.returncode:
        raise SentprobeError(f"{run}: cannot be repeated: probe run failed with exit code {again.returncode}")
