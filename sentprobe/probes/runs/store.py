"""A run directory: one JSON file per encoder and task, each whole or not there."""

import errno
import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from sentprobe.errors import ResultsError, SentprobeError, UsageError, path_error
from sentprobe.files import RESULTS, RUN_FILE, write_atomically
from sentprobe.locks import LOCK, locked
from sentprobe.probes.runs.data_facts import facts_from_json
from sentprobe.probes.runs.results import (
    OF_SEVERAL,
    Condition,
    Made,
    Norm,
    Result,
    Results,
    Score,
    SeedScore,
)
from sentprobe.probes.statistics import Interval
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.readings import Reading
from sentprobe.values import BadSyntaxError, check_record, parse_json

RESULT_FORMAT = "sentprobe-result 2"
"""The first value in each file of results."""


def format_result(result: Result) -> str:
    """Write a result as JSON, keys in the order of the fields; the inverse of parse_result."""
    value: dict[str, Any] = {"format": RESULT_FORMAT}
    value |= {entry.name: getattr(result, entry.name) for entry in fields(result)}
    del value["source"]
    value["data"] = result.data and result.data.to_json()
    value["units"] = _line(result.units)
    value["lengths"] = _line(result.lengths)
    value["norms"] = _norms_to_json(result.norms)
    value["preset"] = result.preset.to_json()
    value["scores"] = {c.value: _score_to_json(s) for c, s in result.scores.items()}
    return json.dumps(value, indent=2, ensure_ascii=False, default=dict) + "\n"


def _line(numbers: tuple[float, ...]) -> str:
    """Write numbers, however many, as one text: JSON would give each a line."""
    return " ".join(map(repr, numbers))


def _norms_to_json(norms: tuple[Norm, ...]) -> dict[str, str]:
    return {e.name: _line(tuple(getattr(n, e.name) for n in norms)) for e in fields(Norm)}


def _score_to_json(score: Score) -> dict[str, Any]:
    seeds = [_seed_to_json(each) for each in score.seeds]
    low, high = score.interval.low, score.interval.high
    summary = {"accuracy": score.accuracy, "spread": score.spread}
    return summary | {"interval": {"low": low, "high": high}, "seeds": seeds}


def _seed_to_json(score: SeedScore) -> dict[str, Any]:
    value = {entry.name: getattr(score, entry.name) for entry in fields(score)}
    value["made"] = score.made and asdict(score.made)
    del value["readings"], value["information"], value["instead"]
    instead = {"instead": _line(score.instead)} if score.instead else {}
    return value | instead | _of_methods(score)


def _of_methods(score: SeedScore) -> dict[str, Any]:
    """Return what methods keep as JSON: a line for each column; empty ones are not written."""
    columns = {
        entry.name: _line(tuple(getattr(each, entry.name) for each in score.readings))
        for entry in fields(Reading)
    }
    readings: dict[str, Any] = {"readings": columns} if score.readings else {}
    return readings | ({"information": _line(score.information)} if score.information else {})


def parse_result(text: str, *, source: str = "result") -> Result:
    """Read a result back; *source* names it in an error.

    What older versions did not keep is empty, or what it always was then.
    """
    try:
        value = parse_json(text)
        if (found := value.pop("format")) != RESULT_FORMAT:
            raise ResultsError(
                f"{source}: in the format {found!r} of another version of sentprobe, "
                f"not {RESULT_FORMAT!r}; use a new folder for results, or remove this file"
            )
        value["data"] = facts_from_json(value.get("data"))
        value["notes"] = _texts(value.get("notes", ()))
        value["units"] = _numbers(value["units"])
        value["lengths"] = _numbers(value.get("lengths", ""))
        value["norms"] = _norms_from_json(value.get("norms", {}))
        value["preset"] = Preset.from_json(value["preset"])
        value["scores"] = {
            Condition(key): _score_from_json(score) for key, score in value["scores"].items()
        }
        result = Result(**value)
        check_record(result)
        return _checked(result)
    except ResultsError:
        raise
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"{source}: not a result of sentprobe ({error})") from None


def _texts(found: Iterable[object]) -> tuple[str, ...]:
    texts = tuple(each for each in found if isinstance(each, str))
    if len(texts) != len(tuple(found)):
        raise ValueError("a note is no text")
    return texts


def _numbers(line: str) -> tuple[int, ...]:
    return tuple(map(int, line.split()))


def _norms_from_json(value: Mapping[str, str]) -> tuple[Norm, ...]:
    if not value:
        return ()
    texts = zip(*(value[entry.name].split() for entry in fields(Norm)), strict=True)
    return tuple(Norm(int(a), int(b), float(c), float(d)) for a, b, c, d in texts)


def _checked(result: Result) -> Result:
    """Refuse what no run writes: no score of the probe, or parts that do not fit together."""
    if Condition.PROBE not in result.scores:
        raise ValueError("there is no score of the probe itself")
    seeds = [each for score in result.scores.values() for each in score.seeds]
    if not all(0 <= share <= 1 for share in (result.majority, *(s.accuracy for s in seeds))):
        raise ValueError("an accuracy is no share of the items")
    _check_seeds(result)
    totals = {each.total for each in seeds}
    for of_items in (result.units, result.lengths):
        if len(totals) > 1 or (of_items and totals != {len(of_items)}):
            raise ValueError("scores, units and lengths are of different numbers of items")
    return result


def _check_seeds(result: Result) -> None:
    """Refuse a seed without the probes of its condition, or without an answer for each mistake."""
    for condition, score in result.scores.items():
        for each in score.seeds:
            if condition in OF_SEVERAL:
                _check_readings(condition, each)
            if each.instead and len(each.instead) != each.total - each.correct:
                raise ValueError("there is not an answer for each item that is wrong")


def _check_readings(condition: Condition, score: SeedScore) -> None:
    """Refuse readings that are not of one more item each, or no information on each test item."""
    ats = [each.at for each in score.readings]
    if len(ats) < 2 or not all(left < right for left, right in pairwise(ats)):
        raise ValueError(f"{condition} without its probes")
    portions = condition is Condition.PORTIONS
    if ats[0] < 0:
        raise ValueError(f"{condition} with a probe of {ats[0]}")
    if portions and (ats[0] < 1 or len(score.information) != score.total):
        raise ValueError(f"{condition} without what each item costs")
    if max(each.correct for each in score.readings) > score.total:
        raise ValueError(f"{condition} with more right answers than items")


def _score_from_json(value: Mapping[str, Any]) -> Score:
    seeds = tuple(_seed_from_json(each) for each in value["seeds"])
    if not seeds:
        raise ValueError("a score without a seed")
    for each in seeds:
        each.items()
    return Score(seeds, Interval(**value["interval"]))


def _seed_from_json(value: Mapping[str, Any]) -> SeedScore:
    made = value.get("made")
    others = {
        "instead": _numbers(value.get("instead", "")),
        "readings": _readings_from_json(value.get("readings", {})),
        "information": tuple(map(float, value.get("information", "").split())),
    }
    return SeedScore(**{**value, **others, "made": made and Made(**made)})


def _readings_from_json(value: Mapping[str, str]) -> tuple[Reading, ...]:
    columns = zip(
        *(value[name].split() for name in ("at", "correct", "bits") if value), strict=True
    )
    return tuple(
        Reading(at=int(at), correct=int(correct), bits=float(bits)) for at, correct, bits in columns
    )


log = logging.getLogger(__name__)

MARKER = RESULTS
"""The file that makes a directory a run of ours."""

OWN = (MARKER, RUN_FILE)
"""The files in it that are no results."""


RUN_FORMAT = "sentprobe-run 1"
"""The format in it."""


MARKER_TEXT = f'{{\n  "format": "{RUN_FORMAT}"\n}}\n'


def file_name(result: Result) -> str:
    """Return the name of the result's file: encoder, task and seed, and a digest.

    The digest is of the preset and the fingerprints of encoder, dataset and probe words' vectors,
    so that no result takes the place of one that was made otherwise.
    """
    digest = hashlib.sha256("\n".join(identity(result)).encode()).hexdigest()[:8]
    encoder, task = (
        re.sub(r"[^A-Za-z0-9_.=-]+", "_", name) for name in (result.encoder[-60:], result.task[:60])
    )
    return f"{encoder.lstrip('.')}.{digest}.{task}.seed{result.seed}.json"


def identity(result: Result) -> tuple[str, ...]:
    """Return what tells a result from others: encoder, data, classifier, seed, probe words."""
    made = (result.encoder_fingerprint, result.dataset_fingerprint)
    preset = json.dumps(result.preset.to_json())
    words = (result.probe_fingerprint,) if result.probe_fingerprint else ()
    return (*made, preset, result.encoder, result.task, str(result.seed), *words)


def prepare_directory(path: Path, run_file: str = "") -> None:
    """Make *path* a run directory, with the text of a run file in it, or say why it cannot be one.

    A directory that has files in it, but neither our marker nor results, is left alone.

    Raises:
        UsageError: it is not ours, or cannot be written to.
        ResultsError: its marker is damaged.
    """
    with _failing(path, "cannot write results here"):
        path.mkdir(parents=True, exist_ok=True)
        _check_ours(path)
        write_atomically(path / MARKER, MARKER_TEXT)
        if run_file:
            keep_run_file(path, run_file)


def check_directory(path: Path) -> None:
    """Say why *path* cannot be made a run directory; nothing is made.

    Raises:
        UsageError, ResultsError: see :func:`prepare_directory`.
    """
    with _failing(path, "cannot write results here"):
        if path.exists():
            _check_ours(path)
            return
        above = next(each for each in path.absolute().parents if each.exists())
        wanted = ((above.is_dir(), errno.ENOTDIR), (os.access(above, os.W_OK), errno.EACCES))
        for is_so, number in wanted:
            if not is_so:
                raise OSError(number, os.strerror(number))


def keep_run_file(path: Path, text: str) -> None:
    """Keep the run file of the last run in a run directory; without a text, remove another's.

    Raises:
        UsageError: it cannot be written to.
    """
    place = path / RUN_FILE
    with _failing(path, "cannot write results here"):
        if not text:
            place.unlink(missing_ok=True)
        elif not place.is_file() or place.read_bytes() != text.encode():
            write_atomically(place, text)


def _check_ours(path: Path) -> None:
    marker = path / MARKER
    if marker.exists():
        _check_marker(marker)
    elif not _may_be_ours(path) and not marker.exists():  # another process may have made it since
        raise UsageError(f"{path}: not empty, and not a directory of sentprobe's results")


def _check_marker(marker: Path) -> None:
    try:
        value = parse_json(marker.read_bytes())
    except BadSyntaxError:
        if _may_be_ours(marker.parent):
            raise ResultsError(
                f"{marker}: damaged; remove it and run again: the results beside it are kept"
            ) from None
        value = None
    if not isinstance(value, dict) or value.get("format") != RUN_FORMAT:
        raise UsageError(f"{marker}: not made by sentprobe")


def _may_be_ours(path: Path) -> bool:
    """Say whether a directory, our own two files aside, is empty or has a result in it."""
    others = (each for each in path.iterdir() if each.name not in OWN)
    if all(map(_is_half_written, others)):
        return True
    return next(sound_results(path), None) is not None


def _is_half_written(path: Path) -> bool:
    """Say whether a file is one of our two, on its way to its name when its run was killed."""
    ours = any(path.name.startswith(f".{name}.") for name in OWN)
    return path.name == LOCK or (ours and path.name.endswith(".part"))


@contextmanager
def one_writer(directory: Path) -> Iterator[None]:
    """Keep other processes from writing results there until the end; wait for those who do.

    Raises:
        UsageError, ResultsError: it cannot be written to.
    """
    with _failing(directory, "cannot write results here"), locked(directory, wait=True):
        yield


def write_result(result: Result, directory: Path) -> Path:
    """Write the result into its file and return the path."""
    path = directory / file_name(result)
    write_atomically(path, format_result(result))
    return path


def find_result(result: Result, directory: Path) -> Result | None:
    """Return what an earlier run wrote into the file that *result* would be written to.

    A file that is damaged, or that is of something else, is reported and not used.
    """
    path = directory / file_name(result)
    if not path.exists():
        return None
    try:
        with _failing(path, "cannot read the result"):
            found = parse_result(path.read_text("utf-8"), source=str(path))
    except SentprobeError as error:
        log.warning("%s; it is made anew", error)
        return None
    if identity(found) != identity(result):
        log.warning("%s: of another encoder, dataset or classifier; it is made anew", path)
        return None
    return found


def sound_results(directory: Path) -> Iterator[Result]:
    """Yield the results in a run directory that can be read, by file name."""
    for path in result_files(directory):
        if (found := sound_result(path)) is not None:
            yield found


def sound_result(path: Path) -> Result | None:
    """Return the result in a file, if it can be read."""
    with suppress(ResultsError, OSError, UnicodeDecodeError):
        return parse_result(path.read_text("utf-8"), source=str(path))
    return None


def results_by_recipe(directory: Path) -> dict[str, Result]:
    """Return the results that can be read in a directory, if it is one of results, by recipe.

    Raises:
        UsageError: the directory may not be read.
    """
    with _failing(directory, "cannot read results"):
        there = sound_results(directory) if (directory / MARKER).is_file() else ()
        return {each.recipe: each for each in there}


def read_results(directory: Path | str) -> Results:
    """Read all results in a run directory, by file name; the inverse of writing each.

    Raises:
        UsageError: it is no run directory, or may not be read.
        ResultsError: a file in it is damaged.
    """
    directory = Path(directory)
    with _failing(directory, "cannot read results"):
        if not (directory / MARKER).exists():
            there = sorted(each.name for each in directory.glob("*") if (each / MARKER).exists())
            hint = f"; {directory / there[0]} is one" if there else ""
            raise UsageError(f"{directory}: not a directory of sentprobe's results{hint}")
        found = (parse_result(p.read_text("utf-8"), source=str(p)) for p in result_files(directory))
        return Results(tuple(replace(each, source=str(directory)) for each in found))


def result_files(directory: Path) -> list[Path]:
    """Return the files of results in a run directory, by name."""
    return sorted(path for path in directory.glob("[!.]*.json") if path.name != MARKER)


@contextmanager
def _failing(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise path_error(path, what, error) from error
    except UnicodeDecodeError as error:
        raise ResultsError(f"{path}: {what}: {error}") from error
