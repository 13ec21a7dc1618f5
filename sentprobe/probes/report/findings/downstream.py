"""Scores of encoders on downstream tasks, read from a CSV file or a folder of MTEB results."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from statistics import fmean

from sentprobe.disk.inputs import record_input
from sentprobe.disk.reading import parse_number
from sentprobe.errors import FormatError, UsageError, path_error
from sentprobe.probes.formats.records import read_table_rows
from sentprobe.values import BadSyntaxError, parse_json

Scores = Mapping[str, Mapping[str, float]]
MODEL_META = "model_meta.json"


def read_scores(path: Path) -> Scores:
    """Read scores from a CSV table (a row per encoder, a column per task) or from a folder of MTEB results."""
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder of scores")
    return _read_mteb(path) if path.is_dir() else _read_table(path)


def _read_table(path: Path) -> Scores:
    rows = read_table_rows(path)
    where, header = next(rows, ("", []))
    tasks = [name.strip() for name in header[1:]]
    if not tasks:
        raise FormatError(f"{path}: the first line names no task; encoder,TASK,... is expected")
    duplicates = [name for name in tasks if tasks.count(name) > 1]
    if duplicates or "" in tasks:
        problem = f"names {duplicates[0]!r} twice" if duplicates else "has a column without a name"
        raise FormatError(f"{where}: the first line {problem}")
    scores: dict[str, dict[str, float]] = {}
    for where, row in rows:
        if len(row) != len(header):
            raise FormatError(f"{where}: {len(row)} fields; the first line has {len(header)}")
        name = row[0].strip()
        if name in scores or not name:
            raise FormatError(f"{where}: {f'the encoder {name!r} occurs twice' if name else 'the encoder has no name'}")
        cells = zip(tasks, row[1:], strict=True)
        scores[name] = {t: _parse_score(c, f"{where}, {t}") for t, c in cells if c.strip()}
    return scores


def _parse_score(text: str, where: str) -> float:
    try:
        value = parse_number(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise FormatError(f"{where}: {text.strip()!r} is not a score; a number is expected")
    return value


def _read_mteb(folder: Path) -> Scores:
    record_input(folder)
    root = folder / "results" if (folder / "results").is_dir() else folder
    scores: dict[str, dict[str, float]] = {}
    for path in sorted(root.glob("*/*/*.json")):
        if path.name != MODEL_META:
            model = path.parent.parent.name.replace("__", "/", 1)
            task, score = _read_task(path)
            if task in scores.setdefault(model, {}):
                raise FormatError(f"{path}: {model} has two scores on {task}; keep the folder of one revision only")
            scores[model][task] = score
    if not scores:
        raise UsageError(f"{folder}: has no results of MTEB (MODEL/REVISION/TASK.json)")
    return scores


def _read_task(path: Path) -> tuple[str, float]:
    """Return the task name and the main score of an MTEB result file. The score is averaged over languages."""
    try:
        value = parse_json(path.read_bytes())
        task, scores = value["task_name"], value["scores"]
        split = scores["test"] if "test" in scores else next(iter(scores.values()))
        numbers = [_parse_score(str(part["main_score"]), str(path)) for part in split]
        if not isinstance(task, str) or not numbers:
            raise TypeError("the task or the score is missing")
        return task, fmean(numbers)
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=FormatError) from error
    except BadSyntaxError as error:
        raise FormatError(f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError, StopIteration, IndexError):
        raise FormatError(
            f"{path}: not a result of MTEB: it needs 'task_name' and 'scores' with 'main_score'"
        ) from None


def match_names(encoders: Sequence[str], scored: Sequence[str]) -> dict[str, str]:
    """Return, for each probed encoder that has scores, its name in the table of scores.

    An encoder's name is looked up as it is, then as :func:`to_mteb_name` returns it. If both are missing, bare
    names are compared. A bare name has no ``st:``, folder, organisation or options; it must be unique in both lists.

    >>> match_names(["bow", "st:./all-MiniLM-L6-v2"], ["sentence-transformers/all-MiniLM-L6-v2"])
    {'st:./all-MiniLM-L6-v2': 'sentence-transformers/all-MiniLM-L6-v2'}
    """
    bare_scored = [_strip_name(name) for name in scored]
    bare_encoders = [_strip_name(name) for name in encoders]
    matches = {}
    for encoder, bare in zip(encoders, bare_encoders, strict=True):
        if encoder in scored:
            matches[encoder] = encoder
        elif (mteb_name := to_mteb_name(encoder)) in scored:
            matches[encoder] = mteb_name
        elif bare_scored.count(bare) == 1 == bare_encoders.count(bare):
            matches[encoder] = scored[bare_scored.index(bare)]
    return matches


def _strip_name(name: str) -> str:
    """Remove prefix, folders and options from an encoder's name: ``st:org/x?batch=8`` becomes ``x``."""
    return name.partition("?")[0].rpartition(":")[2].rstrip("/").rpartition("/")[2]


def to_mteb_name(encoder: str) -> str:
    """Return the name of an encoder in the form of MTEB: ORGANISATION/MODEL.

    >>> to_mteb_name("st:sentence-transformers/all-MiniLM-L6-v2"), to_mteb_name("st:./mini?batch=8")
    ('sentence-transformers/all-MiniLM-L6-v2', 'sentprobe/mini_batch=8')
    >>> to_mteb_name("bow:glove.txt?dim=50"), to_mteb_name("dev step 100")
    ('sentprobe/bow_glove.txt_dim=50', 'sentprobe/dev_step_100')
    """
    spec, query, options = encoder.partition("?")
    kind, _, model = spec.partition(":")
    if kind in ("st", "hf") and re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", model):
        organisation, _, bare = model.partition("/")
    else:
        last = spec.rstrip("/").rpartition("/")[2]
        named = last if kind == "st" or not model else f"{kind}_{last.removeprefix(f'{kind}:')}"
        organisation, bare = "sentprobe", named.removeprefix("st:")
    return f"{_to_folder_name(organisation)}/{_to_folder_name(f'{bare}{query}{options}')}"


def _to_folder_name(text: str) -> str:
    return re.sub(r"_+", "_", re.sub(r"[^\w.=+-]", "_", text)).strip("_.")[:100] or "encoder"
