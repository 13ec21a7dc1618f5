"""Readers of the results folders that commands take as arguments."""

from collections.abc import Sequence
from pathlib import Path

from sentprobe.errors import UsageError
from sentprobe.probes.geometry.distance_results import GeometryResult, read_geometry
from sentprobe.probes.geometry.distance_tables import check_nearness
from sentprobe.probes.geometry.measures import Nearness
from sentprobe.probes.report.findings import comparisons
from sentprobe.probes.report.findings.comparisons import EncoderResults
from sentprobe.probes.report.tables.distance_report import sort_by_task
from sentprobe.probes.report.tables.main_table import sort_results, split_settings
from sentprobe.probes.results.result import Results
from sentprobe.probes.results.store import read_results


def read_runs(runs: Sequence[Path]) -> Results:
    """Read several runs as one; sort tasks, and the layers of each model, as in the tables."""
    records = [record for path in runs for record in read_results(path).records]
    return sort_results(Results(tuple(records)))


def read_probed_runs(runs: Sequence[Path]) -> Results:
    """Read several runs as one; raise UsageError if none has results of probes."""
    results = read_runs(runs)
    if not results.records:
        raise UsageError(f"{', '.join(map(str, runs))}: no results of probes yet")
    return results


def read_distances(runs: Sequence[Path]) -> tuple[GeometryResult, ...]:
    """Read the results of ``probe geometry`` in the folders."""
    return sort_by_task([result for path in runs for result in read_geometry(path)])


def check_distances(results: Sequence[GeometryResult], nearness: Nearness) -> None:
    """Raise UsageError if no result has this measure of nearness; cosine, the default, is always accepted."""
    if nearness is Nearness.COSINE:
        return
    if not results:
        raise UsageError("--nearness is for geometry, and the results are of probes alone")
    check_nearness(results, nearness)


def build_sides(results: Results, source: str, table: int | None = None, *, hint: str = "") -> list[EncoderResults]:
    """Return each encoder's results, of one *table* of several; *hint* ends the message of commands without --table."""
    tables = split_settings(sort_results(results))
    if table is not None and len(tables) > 1:
        if not 1 <= table <= len(tables):
            raise UsageError(f"{source} has the tables 1 to {len(tables)}, and no table {table}")
        tables = tables[table - 1 : table]
    joined_results = Results(tuple(record for draw_results in tables for record in draw_results.records))
    choice = f"choose one of its {len(tables)} tables, as probe show numbers them, with --table"
    return comparisons.group_by_encoder(joined_results, source, hint=hint or choice)
