"""The folders of results that a command is given: as one run, by their distances, by encoder."""

import sys
from collections.abc import Sequence
from pathlib import Path

from sentprobe.errors import UsageError, told
from sentprobe.probes.geometry.measures import Nearness
from sentprobe.probes.geometry.results import GeometryResult, OlderGeometryError, read_geometry
from sentprobe.probes.geometry.tables import check_nearness
from sentprobe.probes.report import comparisons
from sentprobe.probes.report.comparisons import Side
from sentprobe.probes.report.geometry import by_task
from sentprobe.probes.report.tables import arrange, settings
from sentprobe.probes.runs.results import Results
from sentprobe.probes.runs.store import read_results


def read_runs(runs: Sequence[Path]) -> Results:
    """Read several runs as one, layers of a model in order, and compeval tasks in the paper's."""
    records = [record for path in runs for record in read_results(path).records]
    return arrange(Results(tuple(records)))


def read_probed_runs(runs: Sequence[Path]) -> Results:
    """Read several runs as one, of which some have probes.

    Raises:
        UsageError: none has.
    """
    results = read_runs(runs)
    if not results.records:
        raise UsageError(f"{', '.join(map(str, runs))}: no results of probes yet")
    return results


def read_distances(runs: Sequence[Path], *, probed: bool) -> tuple[GeometryResult, ...]:
    """Read what ``probe geometry`` has put into folders of results.

    Beside probes, results of geometry of another version are left out, and a line on stderr says
    so.
    """
    try:
        return by_task([each for path in runs for each in read_geometry(path)])
    except OlderGeometryError as error:
        if not probed:
            raise
        print(told(f"left out: geometry: {error}"), file=sys.stderr)
        return ()


def check_distances(found: Sequence[GeometryResult], nearness: Nearness) -> None:
    """Refuse a nearness, other than the usual one, that no result of geometry has.

    Raises:
        UsageError: there is none, or no geometry at all.
    """
    if nearness is Nearness.COSINE:
        return
    if not found:
        raise UsageError("--nearness is of geometry, and here are results of probes alone")
    check_nearness(found, nearness)


def sides_of(
    results: Results, source: str, table: int | None = None, *, hint: str = ""
) -> list[Side]:
    """Return the encoders of runs, with what is there twice once; *table* chooses one of several.

    *hint* ends the message of a command that cannot choose.

    Raises:
        UsageError: there is no such table; without one, an encoder has two results on a task.
    """
    tables = settings(arrange(results))
    if table is not None and len(tables) > 1:
        if not 1 <= table <= len(tables):
            raise UsageError(f"{source} has the tables 1 to {len(tables)}, and no table {table}")
        tables = tables[table - 1 : table]
    joined = Results(tuple(record for each in tables for record in each.records))
    choice = f"choose one of its {len(tables)} tables, as probe show numbers them, with --table"
    return comparisons.sides(joined, source, hint=hint or choice)
