"""Checks of a results folder against what its runs were asked for: missing results and conditions, edited files."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from sentprobe.errors import ResultsError
from sentprobe.probes.report.findings.control_verdicts import CONTROL_NAMES
from sentprobe.probes.results.result import Condition, Results
from sentprobe.probes.results.store import MARKER, make_file_name, read_requested_results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity

AGAIN = "Run the same command again: only the missing part is computed."


def find_incomplete(results: Results) -> Iterator[ClaimFinding]:
    """Find edited files, and conditions and results that a run was asked for and that its folder lacks."""
    edited = [record for record in results.records if record.edited]
    yield from _build_finding(
        "Files of results were edited after the run, or written by another version: their digest is wrong.",
        {f"{record.encoder} on {record.task}, seed {record.seed}": "" for record in edited},
        severity=Severity.SEVERE,
        advice="Run the same command again: edited results are computed anew.",
        cells=((record.encoder, record.task) for record in edited),
    )
    folders = dict.fromkeys(record.source for record in results.records if record.source)
    requested, damaged = {}, []
    for folder in folders:
        try:
            requested[folder] = read_requested_results(Path(folder))
        except ResultsError:
            damaged.append(folder)
    yield from _build_finding(
        "The record of what was run is damaged, so missing results cannot be found.",
        {f"{folder}/{MARKER}": "" for folder in damaged},
        severity=Severity.SEVERE,
        advice="Run the same commands again: they record it anew.",
        cells=((record.encoder, record.task) for record in results.records if record.source in damaged),
    )
    lacking = {}
    for record in results.records:
        conditions = requested.get(record.source, {}).get(make_file_name(record), {}).get("conditions", ())
        if missing := [name for name in conditions if Condition(name) not in record.scores]:
            names = ", ".join(CONTROL_NAMES.get(Condition(name), name) for name in missing)
            lacking[record.encoder, record.task, f"seed {record.seed}"] = names
    yield from _build_finding(
        "Controls or methods that the run was asked for are missing.",
        {f"{encoder} on {task}, {seed}": names for (encoder, task, seed), names in lacking.items()},
        severity=Severity.SEVERE,
        advice=AGAIN,
        cells=((encoder, task) for encoder, task, _ in lacking),
    )
    absent = [
        entry
        for folder, entries in requested.items()
        for name, entry in entries.items()
        if not (Path(folder) / name).exists()
    ]
    yield from _build_finding(
        "Results that the run was asked for are missing: the run is unfinished, or they were removed.",
        {f"{entry['encoder']} on {entry['task']}, seed {entry['seed']}": "" for entry in absent},
        severity=Severity.SEVERE,
        advice=f"{AGAIN} Report all that was run, not the best of it.",
        cells=((entry["encoder"], entry["task"]) for entry in absent),
    )


def _build_finding(
    problem: str, figures: dict[str, str], *, severity: Severity, advice: str, cells: Iterable[tuple[str, str]]
) -> Iterator[ClaimFinding]:
    """Yield a finding about *cells*, pairs of encoder and task, if there is any; *figures*: remarks by place."""
    if not figures:
        return
    encoders, tasks = zip(*cells, strict=True)
    yield ClaimFinding(
        severity=severity,
        problem=problem,
        figures=tuple(f"{place}: {remark}" if remark else place for place, remark in figures.items()),
        advice=advice,
        encoder=", ".join(dict.fromkeys(encoders)),
        task=", ".join(dict.fromkeys(tasks)),
    )
