"""The run file: the options of ``probe run`` as TOML, read in place of them and written of them.

A key is the name of an option without its dashes, and ``targets`` are the words before the options.
What may be repeated is a list of texts, or one text; ``--controls/--no-controls`` is ``true`` or
``false``.
"""

import inspect
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer

from sentprobe.commands import options as opt
from sentprobe.errors import FormatError, UsageError, path_error, suggest
from sentprobe.values import parse_toml

NOT_WRITTEN = ("config", "force", "dry-run")
"""The keys that say nothing of what a run is."""

CONFIG = "Options from a file (run.toml); those here win."
"""The help of ``--config``."""

HEAD = "# The settings of a run. To do it again: probe run --config THIS_FILE --out ELSEWHERE\n"


@dataclass(frozen=True, slots=True)
class Setting:
    """What may be set in a run file: a parameter of the command, and the values that it takes."""

    parameter: str
    kind: type
    several: bool = False
    least: int | None = None

    def check(self, value: object) -> str | None:
        """Return what is wanted instead of the value; None: it is right."""
        values: list[Any] = value if self.several and isinstance(value, list) else [value]
        wanted = KINDS.get(self.kind, "a text")
        if any(type(each) is not (self.kind if self.kind in KINDS else str) for each in values):
            return (
                f"{wanted}, or a list of {wanted.removeprefix('a ')}s" if self.several else wanted
            )
        numbers = [each for each in values if isinstance(each, int)]
        if self.least is not None and any(each < self.least for each in numbers):
            return f"{wanted} from {self.least}"
        return None


KINDS: Mapping[type, str] = {bool: "true or false", int: "a whole number"}
"""What values are called; those of all other kinds are texts."""


def settings_of(context: typer.Context) -> dict[str, Setting]:
    """Return what may be set of a command, by key, in the order of its help."""
    parameters = inspect.signature(context.command.callback or read_run_file).parameters.values()
    known = (each for each in parameters if get_origin(each.annotation) is Annotated)
    return {_key(each): _setting(each) for each in known}


def _key(parameter: inspect.Parameter) -> str:
    """Return the name of an option without dashes, as ``--jobs`` or ``--cache/--no-cache``."""
    info = get_args(parameter.annotation)[1]
    named = [text for text in (info.default, *(info.param_decls or ())) if isinstance(text, str)]
    long = [text.partition("/")[0] for text in named if text.startswith("--")]
    return (long or [parameter.name.replace("_", "-")])[0].removeprefix("--")


def _setting(parameter: inspect.Parameter) -> Setting:
    kind, info = get_args(parameter.annotation)
    if type(None) in get_args(kind):
        (kind,) = set(get_args(kind)) - {type(None)}
    several = get_origin(kind) is list
    return Setting(parameter.name, get_args(kind)[0] if several else kind, several, info.min)


def read_run_file(context: typer.Context, path: Path | None) -> Path | None:
    """Take what the run file says for what is not on the command line; a callback of Typer.

    Raises:
        UsageError: it cannot be read, is no TOML, or a key or value in it is wrong; says where.
    """
    if path is not None:
        text = _read(path)
        known = {key: each for key, each in settings_of(context).items() if key != "config"}
        taken = {}
        for key, value in _parse(text, path).items():
            place = _place(path, text, key)
            if key not in known:
                raise UsageError(f"{place}: there is no option {key!r}{suggest(key, known)}")
            if wanted := known[key].check(value):
                raise UsageError(f"{place}: {key}: {wanted} is wanted, not {value!r}")
            several = known[key].several and not isinstance(value, list)
            taken[known[key].parameter] = [value] if several else value
        context.default_map = {**(context.default_map or {}), **taken}
    return path


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8") from None
    except OSError as error:
        raise path_error(path, "cannot read the run file", error) from error


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except FormatError as error:
        raise UsageError(f"{path}: {error}") from None


def _place(path: Path, text: str, key: str) -> str:
    """Return the file, and the line of a key where it is to be found."""
    written = re.compile(rf"""\s*(?:\[\s*)?["']?{re.escape(key)}["']?\s*[=\].]""")
    numbered = enumerate(text.split("\n"), 1)
    line = next((place for place, line in numbered if written.match(line)), None)
    return str(path) if line is None else f"{path}, line {line}"


def format_run_file(context: typer.Context, suites: Collection[str]) -> str:
    """Return the settings of a command as a run file, without those that the suites ignore."""
    lines = [HEAD]
    for key, setting in settings_of(context).items():
        value = context.params.get(setting.parameter)
        _, wanted = opt.OF_SUITES.get(setting.parameter, ("", ()))
        idle = wanted and not set(wanted) & set(suites)
        if key not in NOT_WRITTEN and not idle and value not in (None, [], ()):
            lines.append(f"{key} = {_written(value)}\n")
    return "".join(lines)


def _written(value: object) -> str:
    """Return a value in TOML: for texts, lists, numbers and truths that is JSON, but for DEL.

    >>> _written([Path("a"), "b"]), _written(True), _written(3)
    ('["a", "b"]', 'true', '3')
    """
    return json.dumps(value, default=str, ensure_ascii=False).replace("\x7f", "\\u007f")
