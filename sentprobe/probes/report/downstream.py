"""Scores of encoders on other tasks, as people have them: a CSV file, or a folder of MTEB's."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

from sentprobe.errors import FormatError, UsageError, path_error
from sentprobe.probes.formats.records import table_rows
from sentprobe.values import BadSyntaxError, parse_json

Scores = Mapping[str, Mapping[str, float]]
"""Encoder, as the file calls it, to task to score."""

MODEL_META = "model_meta.json"
"""The file beside MTEB's results that says what the model is."""


def read_scores(path: Path) -> Scores:
    """Read the scores of encoders on tasks.

    - a CSV or TSV file: a row for each encoder, its name in the first column; a column for each
      task; an empty cell where there is no score
    - a folder of MTEB's: ``MODEL/REVISION/TASK.json``, or one with ``results/`` in it

    Raises:
        UsageError: there is nothing at the path; a folder has no such files.
        FormatError: a cell is no number, an encoder is there twice; says where.
        DatasetError: the file cannot be read as a table.
    """
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder of scores")
    return _read_mteb(path) if path.is_dir() else _read_table(path)


def _read_table(path: Path) -> Scores:
    rows = table_rows(path)
    where, header = next(rows, ("", []))
    tasks = [name.strip() for name in header[1:]]
    if not tasks:
        raise FormatError(f"{path}: the first line names no task: encoder,TASK,... is wanted")
    doubled = [name for name in tasks if tasks.count(name) > 1]
    if doubled or "" in tasks:
        what = f"names {doubled[0]!r} twice" if doubled else "has a column without a name"
        raise FormatError(f"{where}: the first line {what}")
    found: dict[str, dict[str, float]] = {}
    for where, row in rows:
        if len(row) != len(header):
            raise FormatError(f"{where}: {len(row)} fields; the first line has {len(header)}")
        name = row[0].strip()
        if name in found or not name:
            what = "is there twice" if name else "has no name"
            raise FormatError(f"{where}: the encoder {name!r} {what}")
        cells = zip(tasks, row[1:], strict=True)
        found[name] = {t: _number(c, f"{where}, {t}") for t, c in cells if c.strip()}
    return found


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise FormatError(f"{where}: {text.strip()!r} is no score; a number is wanted")
    return value


def _read_mteb(folder: Path) -> Scores:
    root = folder / "results" if (folder / "results").is_dir() else folder
    found: dict[str, dict[str, float]] = {}
    for path in sorted(root.glob("*/*/*.json")):
        if path.name != MODEL_META:
            model = path.parent.parent.name.replace("__", "/", 1)
            task, score = _read_task(path)
            if task in found.setdefault(model, {}):
                raise FormatError(f"{path}: {model} has two scores on {task}; name one revision")
            found[model][task] = score
    if not found:
        raise UsageError(f"{folder}: no results of MTEB (MODEL/REVISION/TASK.json) are there")
    return found


def _read_task(path: Path) -> tuple[str, float]:
    """Return the task of a file of MTEB's, and its main score: the mean over languages."""
    try:
        value = parse_json(path.read_bytes())
        task, scores = value["task_name"], value["scores"]
        split = scores["test"] if "test" in scores else next(iter(scores.values()))
        return _checked(task, [part["main_score"] for part in split], path)
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=FormatError) from error
    except BadSyntaxError as error:
        raise FormatError(f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError, StopIteration, IndexError):
        raise FormatError(
            f"{path}: not a result of MTEB: 'task_name', 'scores' and in these 'main_score' are "
            "wanted"
        ) from None


def _checked(task: Any, parts: Sequence[Any], path: Path) -> tuple[str, float]:
    numbers = [_number(str(part), str(path)) for part in parts]
    if not isinstance(task, str) or not numbers:
        raise TypeError("no task, or no score")
    return task, fmean(numbers)


def match_names(encoders: Sequence[str], scored: Sequence[str]) -> dict[str, str]:
    """Return which name of the scores is each encoder's, of those that have one.

    It is the same name or, where that is of one on either side only, the same model: ``st:``, a
    folder, an organisation and options do not count.

    >>> match_names(["bow", "st:./all-MiniLM-L6-v2"], ["sentence-transformers/all-MiniLM-L6-v2"])
    {'st:./all-MiniLM-L6-v2': 'sentence-transformers/all-MiniLM-L6-v2'}
    """
    bare = [_bare(name) for name in scored]
    own = [_bare(name) for name in encoders]
    found = {}
    for encoder in encoders:
        if encoder in scored:
            found[encoder] = encoder
        elif mteb_name(encoder) in scored:
            found[encoder] = mteb_name(encoder)
        elif bare.count(_bare(encoder)) == 1 == own.count(_bare(encoder)):
            found[encoder] = scored[bare.index(_bare(encoder))]
    return found


def _bare(name: str) -> str:
    """Return the name of a model alone.

    >>> _bare("st:models/all-MiniLM-L6-v2?batch=8"), _bare("org/x"), _bare("bow")
    ('all-MiniLM-L6-v2', 'x', 'bow')
    """
    return name.partition("?")[0].rpartition(":")[2].rstrip("/").rpartition("/")[2]


def mteb_name(encoder: str) -> str:
    """Return what an encoder is called where its results are in MTEB's layout, with organisation.

    >>> mteb_name("st:sentence-transformers/all-MiniLM-L6-v2"), mteb_name("st:./mini?batch=8")
    ('sentence-transformers/all-MiniLM-L6-v2', 'sentprobe/mini_batch=8')
    >>> mteb_name("bow:glove.txt?dim=50"), mteb_name("dev step 100")
    ('sentprobe/bow_glove.txt_dim=50', 'sentprobe/dev_step_100')
    """
    spec, query, options = encoder.partition("?")
    kind, _, model = spec.partition(":")
    if kind in _OF_HUB and re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", model):
        organisation, _, bare = model.partition("/")
    else:
        last = spec.rstrip("/").rpartition("/")[2]
        named = last if kind == "st" or not model else f"{kind}_{last.removeprefix(f'{kind}:')}"
        organisation, bare = "sentprobe", named.removeprefix("st:")
    return f"{_plain_name(organisation)}/{_plain_name(f'{bare}{query}{options}')}"


_OF_HUB = ("st", "hf")
"""The kinds of encoders whose models may be the hub's."""


def _plain_name(text: str) -> str:
    """Return a name for a folder in which two underscores stand for the slash."""
    return re.sub(r"_+", "_", re.sub(r"[^\w.=+-]", "_", text)).strip("_.")[:100] or "encoder"
