"""The results folder: one JSON file per encoder, task and seed, written atomically by one or several processes."""

import errno
import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.common.errors import (
    ResultsError,
    SentprobeError,
    UsageError,
    describe_damage,
    format_count,
    format_message,
    path_error,
    suggest_path,
)
from sentprobe.common.files import RUN_FILE, write_atomically
from sentprobe.common.inputs import RESULTS_MARKER, manage_folder, record_input
from sentprobe.common.scratch import LOCK, WAIT_MINUTES, hold_lock, read_holder
from sentprobe.common.values import (
    BadSyntaxError,
    check_record,
    digest_value,
    format_json,
    parse_json,
    parse_json_object,
    pop_digest,
)
from sentprobe.probes.classifier.probe import CurvePoint, Preset
from sentprobe.probes.results import result as rs
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.statistics import Interval

RESULT_FORMAT = "sentprobe-result 3"


def format_result(result: rs.Result) -> str:
    """Return a result as JSON text, with keys in the order of the fields; the inverse of :func:`parse_result`."""
    value: dict[str, Any] = {"format": RESULT_FORMAT}
    value |= {entry.name: getattr(result, entry.name) for entry in fields(result)}
    del value["source"], value["edited"]
    value["data"] = result.data and result.data.to_json()
    value["units"] = _format_numbers(result.units)
    value["lengths"] = _format_numbers(result.lengths)
    value["norms"] = _columns_to_json(rs.Norm, result.norms)
    value["preset"] = result.preset.to_json()
    value["scores"] = {
        condition.value: {
            "accuracy": score.accuracy,
            "spread": score.spread,
            "interval": asdict(score.interval),
            "seeds": [_seed_to_json(seed_score) for seed_score in score.seeds],
        }
        for condition, score in result.scores.items()
    }
    value["digest"] = digest_value(value)
    return format_json(value, indent=2, default=dict) + "\n"


def _format_numbers(numbers: Iterable[float]) -> str:
    """Join numbers into one text, because indented JSON puts every number of a list on its own line."""
    return " ".join(map(repr, numbers))


def _columns_to_json(kind: type[rs.Norm | CurvePoint], records: Iterable[rs.Norm | CurvePoint]) -> dict[str, str]:
    return {e.name: _format_numbers(getattr(record, e.name) for record in records) for e in fields(kind)}


def _seed_to_json(score: rs.SeedScore) -> dict[str, Any]:
    value = {entry.name: getattr(score, entry.name) for entry in fields(score)}
    value["provenance"] = score.provenance and asdict(score.provenance)
    del value["readings"], value["information"], value["wrong_answers"]  # omitted if empty
    if score.pass_limit is None:
        del value["pass_limit"]
    if score.wrong_answers:
        value["wrong_answers"] = _format_numbers(score.wrong_answers)
    if score.readings:
        value["readings"] = _columns_to_json(CurvePoint, score.readings)
    if score.information:
        value["information"] = _format_numbers(score.information)
    return value


def parse_result(text: str, *, source: str = "result") -> rs.Result:
    """Parse the JSON text of a result; raise ResultsError, which names *source*, if it is malformed."""
    try:
        value = parse_json_object(text)
        edited = pop_digest(value)  # of the values as they are stored: compare before any is converted
        if (result_format := value.pop("format")) != RESULT_FORMAT:
            raise ResultsError(
                f"{source}: has the format {result_format!r} of another version of sentprobe, "
                f"not {RESULT_FORMAT!r}; use a new folder for results, or remove this file"
            )
        value["edited"] = edited
        value["data"] = value["data"] and DataFacts(**value["data"])
        value["notes"] = tuple(value["notes"])
        value["units"] = _parse_numbers(value["units"])
        value["lengths"] = _parse_numbers(value["lengths"])
        norms = zip(*(value["norms"][entry.name].split() for entry in fields(rs.Norm)), strict=True)
        value["norms"] = tuple(rs.Norm(int(a), int(b), float(c), float(d)) for a, b, c, d in norms)
        value["preset"] = Preset.from_json(value["preset"])
        value["scores"] = {rs.Condition(key): _score_from_json(score) for key, score in value["scores"].items()}
        result = rs.Result(**value)
        check_record(result)
        return _check_result(result)
    except ResultsError:
        raise
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"{source}: not a result of sentprobe ({describe_damage(error)})") from None


@lru_cache(maxsize=64)  # many results have the same units and lengths
def _parse_numbers(line: str) -> tuple[int, ...]:
    return tuple(map(int, line.split()))


def _check_result(result: rs.Result) -> rs.Result:
    """Return the result; raise ValueError if it lacks the main probe or contains contradictory numbers."""
    if rs.Condition.PROBE not in result.scores:
        raise ValueError("there is no score of the main probe")
    seed_scores = [seed_score for score in result.scores.values() for seed_score in score.seeds]
    if not all(0 <= share <= 1 for share in (result.majority, *(s.accuracy for s in seed_scores))):
        raise ValueError("an accuracy is not between 0 and 1")
    for condition, seed_score in ((c, seed_score) for c, score in result.scores.items() for seed_score in score.seeds):
        if condition in rs.MULTI_PROBE_CONDITIONS:
            _check_readings(condition, seed_score)
        if seed_score.wrong_answers and len(seed_score.wrong_answers) != seed_score.total - seed_score.correct:
            raise ValueError("the number of incorrect answers differs from the number of incorrect items")
    totals = {seed_score.total for seed_score in seed_scores}
    for item_values in (result.units, result.lengths):
        if len(totals) > 1 or (item_values and totals != {len(item_values)}):
            raise ValueError("scores, units and lengths differ in their number of items")
    return result


def _check_readings(condition: rs.Condition, score: rs.SeedScore) -> None:
    """Raise ValueError if curve points are missing or impossible. The condition PORTIONS also needs V-information."""
    positions = [reading.at for reading in score.readings]
    if len(positions) < 2 or not all(left < right for left, right in pairwise(positions)):
        raise ValueError(f"{condition} without its probes")
    if positions[0] < 0:
        raise ValueError(f"{condition} with a probe of {positions[0]}")
    if condition is rs.Condition.PORTIONS and (positions[0] < 1 or len(score.information) != score.total):
        raise ValueError(f"{condition} without the information of each item")
    if max(reading.correct for reading in score.readings) > score.total:
        raise ValueError(f"{condition} with more correct answers than items")


def _score_from_json(value: Mapping[str, Any]) -> rs.Score:
    seed_scores = tuple(_seed_from_json(seed) for seed in value["seeds"])
    if not seed_scores:
        raise ValueError("a score without a seed")
    for seed_score in seed_scores:
        right = int(seed_score.items().sum())  # raises ValueError if the stored bits do not fit the number of items
        if right != seed_score.correct or abs(seed_score.accuracy - right / seed_score.total) > ROUNDING:
            raise ValueError(f"its accuracy is not that of its answers, {right} of {seed_score.total} right")
    return rs.Score(seed_scores, Interval(**value["interval"]))


def _seed_from_json(value: Mapping[str, Any]) -> rs.SeedScore:
    provenance, readings = value["provenance"], value.get("readings")
    columns = zip(*(readings[name].split() for name in ("at", "correct", "bits") if readings), strict=True)
    parsed_fields = {
        "wrong_answers": _parse_numbers(value.get("wrong_answers", "")),
        "readings": tuple(CurvePoint(at=int(at), correct=int(n), bits=float(bits)) for at, n, bits in columns),
        "information": tuple(map(float, value.get("information", "").split())),
    }
    return rs.SeedScore(**{**value, **parsed_fields, "provenance": provenance and rs.Provenance(**provenance)})


ROUNDING = 1e-9

log = logging.getLogger(__name__)
MARKER = RESULTS_MARKER
OWN_FILES = (MARKER, RUN_FILE)
RUN_FORMAT = "sentprobe-run 1"
WAIT_SECONDS = 60.0 * WAIT_MINUTES
"""The default time, in seconds, for which a run waits while another process has locked the results folder."""


def make_file_name(result: rs.Result) -> str:
    """Return the file name ENCODER.DIGEST.TASK.seedN.json of a result, with a digest of :func:`find_identity`."""
    digest = hashlib.sha256("\n".join(find_identity(result)).encode()).hexdigest()[:8]
    # Cut, since a file's name has at most 255 bytes; the digest keeps names apart that are equal after that.
    encoder, task = (re.sub(r"[^A-Za-z0-9_.=-]+", "_", name) for name in (result.encoder[-60:], result.task[:60]))
    return f"{encoder.lstrip('.')}.{digest}.{task}.seed{result.seed}.json"


def find_identity(result: rs.Result) -> tuple[str, ...]:
    """Return the values that identify a result: encoder, dataset, classifier, task, seed and probe word vectors."""
    fingerprints = (result.encoder_fingerprint, result.dataset_fingerprint)
    preset = json.dumps(result.preset.to_json())
    # Left out if empty, so that results without probe words keep the names that they have always had.
    words = (result.probe_fingerprint,) if result.probe_fingerprint else ()
    return (*fingerprints, preset, result.encoder, result.task, str(result.seed), *words)


def prepare_directory(path: Path, run_file: str = "") -> None:
    """Create a results folder with marker and run file. Raise UsageError if the folder has other files."""
    with _convert_read_errors(path, "cannot write results here"):
        path.mkdir(parents=True, exist_ok=True)
        _check_ownership(path)
        if not (path / MARKER).exists():
            _write_marker(path, {})
        if run_file:
            write_run_file(path, run_file)


RequestedResults: TypeAlias = Mapping[str, Mapping[str, Any]]
"""By the name of a result's file: its encoder, task, seed and conditions (a sorted list)."""


def _write_marker(path: Path, requested: RequestedResults) -> None:
    value = {"format": RUN_FORMAT, "requested": requested}
    write_atomically(path / MARKER, format_json(value, indent=2) + "\n")


def read_requested_results(path: Path) -> RequestedResults:
    """Return what all runs into the results folder *path* were asked for. Raises ResultsError for a damaged record."""
    value: Any = None
    try:
        value = parse_json((path / MARKER).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, BadSyntaxError):
        pass
    requested = value.get("requested", {}) if isinstance(value, dict) else None
    if not (isinstance(requested, dict) and all(map(_is_request, requested.values()))):
        raise ResultsError(f"{path / MARKER}: the record of what was run is damaged")
    return requested


def _is_request(entry: object) -> bool:
    kinds = {"encoder": str, "task": str, "seed": int, "conditions": list}
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), kind) for key, kind in kinds.items()):
        return False
    return all(name in [*rs.Condition] for name in entry["conditions"])


RequestedConditions: TypeAlias = Iterable[tuple[rs.Result, Iterable[rs.Condition]]]
"""Results that a run was asked for, each with its conditions."""


def record_requested_results(path: Path, requested: RequestedConditions) -> None:
    """Add to what the runs into the results folder *path* were asked for. The folder must be locked by this process."""
    recorded: RequestedResults = {}
    with suppress(ResultsError):  # the record is written anew
        recorded = read_requested_results(path)
    new = dict(recorded)
    for result, conditions in requested:
        name = make_file_name(result)
        known = {condition.value for condition in conditions}.union(new[name]["conditions"] if name in new else ())
        cell = {"encoder": result.encoder, "task": result.task, "seed": result.seed}
        new[name] = {**cell, "conditions": sorted(known)}
    if new != recorded:
        _write_marker(path, new)


def check_directory(path: Path) -> None:
    """Raise UsageError or ResultsError if results cannot be stored in the folder *path*; write nothing."""
    with _convert_read_errors(path, "cannot write results here"):
        if path.exists():
            _check_ownership(path)
            return
        # The errors that mkdir would raise, without making a folder.
        ancestor = next(folder for folder in path.absolute().parents if folder.exists())
        for is_met, number in ((ancestor.is_dir(), errno.ENOTDIR), (os.access(ancestor, os.W_OK), errno.EACCES)):
            if not is_met:
                raise OSError(number, os.strerror(number))


def write_run_file(path: Path, text: str) -> None:
    """Write *text* into the run file of a results folder, or remove the run file if *text* is empty."""
    run_file = path / RUN_FILE
    with _convert_read_errors(path, "cannot write results here"):
        _reject_links(path)
        manage_folder(path)
        if not text:
            run_file.unlink(missing_ok=True)
        elif not run_file.is_file() or run_file.read_bytes() != text.encode():
            write_atomically(run_file, text)


def _check_ownership(path: Path) -> None:
    """Raise UsageError if the folder has other files; from then on, the command may replace what is in it."""
    marker = path / MARKER
    _reject_links(path)
    if marker.exists():
        try:
            value = parse_json(marker.read_bytes())
        except BadSyntaxError:
            if _is_possibly_ours(marker.parent):
                raise ResultsError(f"{marker}: damaged; remove it and run again: existing results are kept") from None
            value = None
        if not isinstance(value, dict) or value.get("format") != RUN_FORMAT:
            raise UsageError(f"{marker}: not written by sentprobe")
    elif not _is_possibly_ours(path) and not marker.exists():  # another process may have created the marker
        raise UsageError(f"{path}: not empty, and not a directory of sentprobe's results")
    manage_folder(path)


def _reject_links(directory: Path) -> None:
    """Raise UsageError if a file of the results folder is a link, because writing would change the link's target."""
    subfolders = (directory / name for name in ("items", "geometry", "learned", "lm", "human"))
    files = (file for folder in subfolders for file in (folder, *folder.glob("*")))
    for path in (*directory.glob("*.json"), directory / RUN_FILE, *files):
        if path.is_symlink():
            raise UsageError(f"{path}: is a link, and results are not written through links; replace it by the file")


def _is_possibly_ours(path: Path) -> bool:
    """Return whether a folder has at least one result, or no files except those that every run writes."""
    other_names = (file.name for file in path.iterdir() if file.name not in OWN_FILES)
    prefixes = tuple(f".{name}." for name in OWN_FILES)
    # A killed run leaves its lock and its temporary files behind.
    is_empty = all(name == LOCK or (name.startswith(prefixes) and name.endswith(".part")) for name in other_names)
    return is_empty or next(read_sound_results(path), None) is not None


@contextmanager
def lock_directory(directory: Path, *, wait: float, command: str = "") -> Iterator[None]:
    """Lock a results folder; raise ResultsError if another process holds the lock for *wait* seconds."""
    duration = format_count(round(wait), "second") if 1 <= wait < 60 else format_count(round(wait / 60), "minute")
    limit = f"{duration} (--wait) for its lock, held by"

    def report(holder: str) -> None:
        log.warning("%s", format_message(f"{directory}: waiting at most {limit} {holder}"))

    with (
        _convert_read_errors(directory, "cannot write results here"),
        hold_lock(directory, wait=wait, command=command, report=report) as is_locked,
    ):
        if not is_locked:
            raise ResultsError(f"{directory}: waited {limit} {read_holder(directory)}")
        yield


def write_result(result: rs.Result, directory: Path) -> Path:
    path = directory / make_file_name(result)
    write_atomically(path, format_result(result))
    return path


def find_result(result: rs.Result, directory: Path) -> rs.Result | None:
    """Return the stored result with the identity of *result*, or None; log a warning if the file is unusable."""
    path = directory / make_file_name(result)
    if not path.exists():
        return None
    try:
        with _convert_read_errors(path, "cannot read the result"):
            stored = parse_result(path.read_text("utf-8"), source=str(path))
    except SentprobeError as error:
        log.warning("%s; the result is recomputed", error)
        return None
    if stored.edited:
        log.warning("%s: was edited after the run; the result is recomputed", path)
        return None
    if find_identity(stored) != find_identity(result):
        log.warning("%s: has another encoder, dataset or classifier; the result is recomputed", path)
        return None
    return stored


def read_sound_results(directory: Path) -> Iterator[rs.Result]:
    """Yield the results of all readable, unedited files in a results folder, in order of file name."""
    return filter(None, map(read_sound_result, list_result_files(directory)))


def read_sound_result(path: Path) -> rs.Result | None:
    """Return the result in a file, or None if it is unreadable or was edited."""
    with suppress(ResultsError, OSError, UnicodeDecodeError):
        result = parse_result(path.read_text("utf-8"), source=str(path))
        return None if result.edited else result
    return None


def read_results_by_recipe(directory: Path) -> dict[str, rs.Result]:
    """Return all readable, unedited results in a folder, by ``Result.recipe``; {} if it is not a results folder."""
    with _convert_read_errors(directory, "cannot read results"):
        results = read_sound_results(directory) if (directory / MARKER).is_file() else ()
        return {result.recipe: result for result in results}


def read_results(directory: Path | str) -> rs.Results:
    """Read all results in a results folder, in the order in which runs asked for them.

    Raises:
        UsageError: the folder is not a results folder, or not readable.
        ResultsError: a file in the folder is damaged.
    """
    directory = Path(directory)
    with _convert_read_errors(directory, "cannot read results"):
        if not directory.exists():
            raise UsageError(f"{directory}: no such folder of results{suggest_path(directory)}")
        if not (directory / MARKER).exists():
            folders = sorted(folder.name for folder in directory.glob("*") if (folder / MARKER).exists())
            hint = f"; {directory / folders[0]} is one" if folders else ""
            raise UsageError(f"{directory}: not a directory of sentprobe's results{hint}")
        record_input(directory)
        results = (parse_result(p.read_text("utf-8"), source=str(p)) for p in list_result_files(directory))
        return rs.Results(tuple(replace(result, source=str(directory)) for result in results))


def list_result_files(directory: Path) -> list[Path]:
    """Return the paths of the result files in a results folder, as runs asked for them; then others, by name."""
    requested: RequestedResults = {}
    with suppress(ResultsError):  # a damaged record is told elsewhere
        requested = read_requested_results(directory)
    ranks = {name: rank for rank, name in enumerate(requested)}
    paths = sorted(path for path in directory.glob("[!.]*.json") if path.name != MARKER)
    return sorted(paths, key=lambda path: ranks.get(path.name, len(ranks)))


@contextmanager
def _convert_read_errors(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise path_error(path, what, error) from error
    except UnicodeDecodeError as error:
        raise ResultsError(f"{path}: {what}: {error}") from error


Stamp: TypeAlias = tuple[str, int, int]
"""The name, inode number and modification time (in nanoseconds) of a file, which show whether it was rewritten."""


def read_stamps(directory: Path) -> frozenset[Stamp]:
    """Return the stamps of all result files in a results folder."""
    return frozenset(map(read_stamp, list_result_files(directory)))


def read_stamp(path: Path) -> Stamp:
    status = path.stat()
    return path.name, status.st_ino, status.st_mtime_ns


def save_result(
    result: rs.Result,
    directory: Path,
    *,
    redone: frozenset[Stamp] = frozenset(),
    wait: float = WAIT_SECONDS,
    command: str = "",
    requested: RequestedConditions = (),
) -> None:
    """Write a result to its file, and record what was *requested*.

    Scores of other seeds in this file are kept, unless *redone* has the file's stamp.
    """
    with lock_directory(directory, wait=wait, command=command):
        record_requested_results(directory, requested)
        path = directory / make_file_name(result)
        # With --force, files that stood there when the run began are replaced; one written since then is of another
        # process.
        has_changed = path.is_file() and read_stamp(path) not in redone
        stored = read_sound_result(path) if has_changed else None
        is_same = stored is not None and find_identity(stored) == find_identity(result)
        write_result(merge_seeds(result, stored) if stored and is_same else result, directory)


def merge_seeds(result: rs.Result, stored: rs.Result) -> rs.Result:
    """Return *result* with the seeds that only *stored* has. Both are results of the same encoder and task."""
    additional_scores = {}
    for condition, score in stored.scores.items():
        own_seeds = result.scores[condition].seeds if condition in result.scores else ()
        own_numbers = {seed_score.seed for seed_score in own_seeds}
        additional_scores[condition] = [
            replace(s, provenance=s.provenance or stored.provenance) for s in score.seeds if s.seed not in own_numbers
        ]
    return add_scores(result, additional_scores)


def add_scores(result: rs.Result, new_scores: Mapping[rs.Condition, Iterable[rs.SeedScore]]) -> rs.Result:
    """Return the result with additional scores, sorted by condition and seed."""
    scores = {}
    for condition in rs.Condition:
        old_seeds = result.scores[condition].seeds if condition in result.scores else ()
        new_seeds = (_drop_shared_provenance(result, seed_score) for seed_score in new_scores.get(condition, ()))
        if seed_scores := [*old_seeds, *new_seeds]:
            scores[condition] = rs.make_score(seed_scores, result.units)
    return replace(result, scores=scores)


def _drop_shared_provenance(result: rs.Result, score: rs.SeedScore) -> rs.SeedScore:
    """Return *score*, without provenance if *result* has the same command, device and versions of shared packages."""
    provenance = score.provenance
    if provenance is None or (provenance.command, provenance.device) != (result.command, result.device):
        return score
    shared_packages = provenance.versions.keys() & result.versions.keys()
    differ = any(provenance.versions[name] != result.versions[name] for name in shared_packages)
    return score if differ else replace(score, provenance=None)
