"""Results in a folder that several processes write to: each adds its seeds, and none is lost."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from sentprobe.probes.runs.results import Condition, Result, SeedScore, make_score
from sentprobe.probes.runs.store import (
    file_name,
    identity,
    one_writer,
    result_files,
    sound_result,
    write_result,
)

Stamp: TypeAlias = tuple[str, int, int]
"""A file as it is now: its name, and what changes when it is replaced."""


def stamps(directory: Path) -> frozenset[Stamp]:
    """Return the files of results that are there now."""
    return frozenset(map(_stamp, result_files(directory)))


def _stamp(path: Path) -> Stamp:
    found = path.stat()
    return path.name, found.st_ino, found.st_mtime_ns


def keep(result: Result, directory: Path, *, redone: frozenset[Stamp] = frozenset()) -> None:
    """Write a result into its file, with the seeds that are there and it has not.

    Another process may have written them since the file was read. The files *redone* are replaced
    by what is made anew, unless they have changed.

    Raises:
        UsageError, ResultsError: it cannot be written.
    """
    with one_writer(directory):
        path = directory / file_name(result)
        new = path.is_file() and _stamp(path) not in redone
        there = sound_result(path) if new else None
        same = there is not None and identity(there) == identity(result)
        write_result(joined(result, there) if there and same else result, directory)


def joined(result: Result, there: Result) -> Result:
    """Return a result with the seeds of another of the same encoder and task, but for its own."""
    new = {}
    for condition, score in there.scores.items():
        mine = result.scores[condition].seeds if condition in result.scores else ()
        known = {each.seed for each in mine}
        found = (each for each in score.seeds if each.seed not in known)
        new[condition] = [replace(each, made=each.made or there.made) for each in found]
    return add(result, new)


def add(known: Result, found: Mapping[Condition, Iterable[SeedScore]]) -> Result:
    """Return the result with more scores; conditions in their order, seeds in theirs."""
    scores = {}
    for condition in Condition:
        old = known.scores[condition].seeds if condition in known.scores else ()
        both = [*old, *(_made_as(known, each) for each in found.get(condition, ()))]
        if both:
            scores[condition] = make_score(both, known.units)
    return replace(known, scores=scores)


def _made_as(known: Result, score: SeedScore) -> SeedScore:
    """Leave out of a score how it was made where the result says the same.

    Of the versions those count that both state: another encoder's result states other packages.
    """
    made = score.made
    if made is None or (made.command, made.device) != (known.command, known.device):
        return score
    both = made.versions.keys() & known.versions.keys()
    differ = any(made.versions[name] != known.versions[name] for name in both)
    return score if differ else replace(score, made=None)
