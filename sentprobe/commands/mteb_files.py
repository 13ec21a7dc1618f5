"""What ``probe show --format mteb`` writes: a folder of results in MTEB's layout."""

from collections.abc import Sequence
from pathlib import Path

import typer

from sentprobe.commands.given_runs import read_distances, read_runs, sides_of
from sentprobe.commands.options import given_as_written
from sentprobe.errors import UsageError, counted
from sentprobe.probes.mteb.result_files import mteb_results, write_mteb_results

_MEANT = ("runs", "format_", "out")


def write_for_mteb(runs: Sequence[Path], out: Path | None, context: typer.Context) -> None:
    """Write the results of runs into a folder, and say where they are.

    Raises:
        UsageError: no folder is named, or an option that is of tables; there are no results, or
            two of an encoder on a task; the folder cannot be written to.
        ResultsError: a file of results is damaged.
    """
    if out is None:
        raise UsageError("--format mteb writes a folder: name it with --out")
    _refuse_options_of_tables(context)
    named = ", ".join(map(str, runs))
    results = read_runs(runs)
    distances = read_distances(runs, probed=bool(results.records))
    if not results.records and not distances:
        raise UsageError(f"{named}: no results yet")
    hint = "MTEB's layout has room for one: name fewer runs"
    found = mteb_results(sides_of(results, named, hint=hint), distances)
    write_mteb_results(found, out)
    files = sum(len(each.tasks) for each in found)
    print(f"results of {counted(len(found), 'encoder')} in {counted(files, 'file')}: {out}")


def _refuse_options_of_tables(context: typer.Context) -> None:
    for name, written in given_as_written(context).items():
        if name not in _MEANT:
            raise UsageError(f"{written} is of tables, and --format mteb writes none")
