"""Results folders with several writing processes: each adds its seeds, and none is lost."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from sentprobe.probes.results import store
from sentprobe.probes.results.result import Condition, Result, SeedScore, make_score

Stamp: TypeAlias = tuple[str, int, int]
"""The state of a file: name, inode number and modification time in nanoseconds."""


def read_stamps(directory: Path) -> frozenset[Stamp]:
    """Return the stamps of the result files in a folder."""
    return frozenset(map(read_stamp, store.list_result_files(directory)))


def read_stamp(path: Path) -> Stamp:
    """Return a file's name, inode and time of change, which differ after a change."""
    status = path.stat()
    return path.name, status.st_ino, status.st_mtime_ns


def save_result(
    result: Result,
    directory: Path,
    *,
    redone: frozenset[Stamp] = frozenset(),
    wait: float = store.WAIT_SECONDS,
    command: str = "",
) -> None:
    """Write a result, with the seeds that another process wrote since; unchanged files *redone* are replaced."""
    with store.lock_directory(directory, wait=wait, command=command):
        path = directory / store.make_file_name(result)
        has_changed = path.is_file() and read_stamp(path) not in redone
        stored = store.read_sound_result(path) if has_changed else None
        is_same = stored is not None and store.find_identity(stored) == store.find_identity(result)
        store.write_result(merge_seeds(result, stored) if stored and is_same else result, directory)


def merge_seeds(result: Result, stored: Result) -> Result:
    """Return a result with the additional seeds of a stored result of the same encoder and task."""
    additional_scores = {}
    for condition, score in stored.scores.items():
        own_seeds = result.scores[condition].seeds if condition in result.scores else ()
        own_numbers = {seed_score.seed for seed_score in own_seeds}
        additional_scores[condition] = [
            replace(s, provenance=s.provenance or stored.provenance) for s in score.seeds if s.seed not in own_numbers
        ]
    return add_scores(result, additional_scores)


def add_scores(result: Result, new_scores: Mapping[Condition, Iterable[SeedScore]]) -> Result:
    """Return the result with more scores, ordered by condition and seed."""
    scores = {}
    for condition in Condition:
        old_seeds = result.scores[condition].seeds if condition in result.scores else ()
        new_seeds = (_drop_shared_provenance(result, seed_score) for seed_score in new_scores.get(condition, ()))
        if seed_scores := [*old_seeds, *new_seeds]:
            scores[condition] = make_score(seed_scores, result.units)
    return replace(result, scores=scores)


def _drop_shared_provenance(result: Result, score: SeedScore) -> SeedScore:
    """Remove a score's provenance if it equals that of the result, of the packages that both list."""
    provenance = score.provenance
    if provenance is None or (provenance.command, provenance.device) != (result.command, result.device):
        return score
    shared_packages = provenance.versions.keys() & result.versions.keys()
    differ = any(provenance.versions[name] != result.versions[name] for name in shared_packages)
    return score if differ else replace(score, provenance=None)
