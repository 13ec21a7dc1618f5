"""Output of ``probe show --format mteb``: a folder of results in MTEB's layout."""

from collections.abc import Sequence
from pathlib import Path

import typer

from sentprobe.commands.results.shown_results import build_sides, read_distances, read_runs
from sentprobe.commands.shared.given_options import map_given_options
from sentprobe.errors import UsageError, format_count
from sentprobe.probes.mteb.result_files import make_mteb_results, write_mteb_results

_ALLOWED_OPTIONS = ("runs", "format_", "out")


def write_for_mteb(runs: Sequence[Path], out: Path | None, context: typer.Context) -> None:
    """Write the results of runs into the folder *out* in MTEB's layout, and print the number of files."""
    if out is None:
        raise UsageError("--format mteb writes a folder: name it with --out")
    for name, option in map_given_options(context).items():
        if name not in _ALLOWED_OPTIONS:
            raise UsageError(f"{option} is for tables, and --format mteb writes none")
    source = ", ".join(map(str, runs))
    results = read_runs(runs)
    distances = read_distances(runs)
    if not results.records and not distances:
        raise UsageError(f"{source}: no results yet")
    hint = "MTEB's layout holds one of them: name fewer runs"
    encoder_results = make_mteb_results(build_sides(results, source, hint=hint), distances)
    write_mteb_results(encoder_results, out)
    files = sum(len(encoder_result.tasks) for encoder_result in encoder_results)
    print(f"results of {format_count(len(encoder_results), 'encoder')} in {format_count(files, 'file')}: {out}")
