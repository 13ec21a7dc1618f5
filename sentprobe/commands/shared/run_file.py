"""The run file: a TOML file with options of ``probe run``, read by ``--config`` and written with the results."""

import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer

from sentprobe.common.errors import FormatError, UsageError, path_error, suggest, suggest_path
from sentprobe.common.reading import read_text
from sentprobe.common.values import format_json, parse_toml
from sentprobe.probes.runs.suite_options import is_unused

UNWRITTEN_KEYS = ("config", "trust", "force", "dry-run", "wait", "verbose")
"""Options that a written run file leaves out, because they do not change the results."""
ONLY_ON_COMMAND_LINE = ("config", "trust", "dry-run")
CONFIG_HELP = "Options in a TOML file; the command line wins."
TRUST_HELP = "Let --config name encoders that run code or connect."
HEAD = "# The settings of a run. To do it again: probe run --config THIS_FILE --out ELSEWHERE\n"


@dataclass(frozen=True, slots=True)
class FileOption:
    """An option that a run file may set, and its accepted values."""

    parameter: str
    kind: type
    is_list: bool = False
    minimum: int | None = None

    def check(self, value: object) -> str | None:
        """Return None if *value* is accepted, else the accepted values, such as "a whole number from 1"."""
        values: list[Any] = value if self.is_list and isinstance(value, list) else [value]
        expected = KIND_NAMES.get(self.kind, "a text")
        if any(type(item) is not (self.kind if self.kind in KIND_NAMES else str) for item in values):
            return f"{expected}, or a list of {expected.removeprefix('a ')}s" if self.is_list else expected
        numbers = [item for item in values if isinstance(item, int)]
        if self.minimum is not None and any(item < self.minimum for item in numbers):
            return f"{expected} from {self.minimum}"
        return None


KIND_NAMES: Mapping[type, str] = {bool: "true or false", int: "a whole number"}
"""The names of types in messages; values of all other types are texts."""


def list_settings(context: typer.Context) -> dict[str, FileOption]:
    """Return the settings of a command by their keys in a run file, in the order of the command's parameters."""
    parameters = inspect.signature(context.command.callback or read_run_file).parameters.values()
    annotated = (parameter for parameter in parameters if get_origin(parameter.annotation) is Annotated)
    settings: dict[str, FileOption] = {}
    for parameter in annotated:
        kind, option, *_ = get_args(parameter.annotation)
        if type(None) in get_args(kind):
            (kind,) = set(get_args(kind)) - {type(None)}
        is_list = get_origin(kind) is list
        # The key is the option's long name without dashes, such as jobs, or cache for --cache/--no-cache.
        texts = [text for text in (option.default, *(option.param_decls or ())) if isinstance(text, str)]
        long_names = [text.partition("/")[0] for text in texts if text.startswith("--")]
        key = (long_names or [parameter.name.replace("_", "-")])[0].removeprefix("--")
        settings[key] = FileOption(parameter.name, get_args(kind)[0] if is_list else kind, is_list, option.min)
    return settings


def read_run_file(context: typer.Context, path: Path | None) -> Path | None:
    """Use the values in the run file *path* as defaults of the command; Typer calls this for ``--config``.

    Returns *path*. Raises UsageError, with the line of a wrong key or value.
    """
    if path is not None:
        text = _read_text(path)
        settings = {key: setting for key, setting in list_settings(context).items() if key not in ONLY_ON_COMMAND_LINE}
        values = {}
        try:
            chosen_values = parse_toml(text)
        except FormatError as error:
            raise UsageError(f"{path}: {error}") from None
        for key, value in chosen_values.items():
            place = _locate_key(path, text, key)
            if key not in settings:
                raise UsageError(f"{place}: there is no option {key!r}{suggest(key, settings)}")
            if expected := settings[key].check(value):
                raise UsageError(f"{place}: {key}: {expected} is expected, not {value!r}")
            is_scalar = settings[key].is_list and not isinstance(value, list)
            values[settings[key].parameter] = [value] if is_scalar else value
            for request in (value if isinstance(value, list) else [value]) if key in REQUESTING_KEYS else ():
                locate = partial(_locate_text, path, text, key, str(request))  # each call reads the whole file
                context.meta.setdefault(_REQUESTS, []).append((settings[key].parameter, key, locate, request))
            for item in value if isinstance(value, list) else [value]:
                locate = partial(_locate_text, path, text, key, str(item))
                words = [item, re.split("[=?]", item)[0], key] if isinstance(item, str) else [key]
                context.meta.setdefault(_VALUES, []).append((settings[key].parameter, locate, words))
        context.default_map = {**(context.default_map or {}), **values}
    return path


REQUESTING_KEYS = ("encoder", "probe-vectors", "scheduler")
"""Keys whose values can run code, open a connection or send a key."""
_REQUESTS = "sentprobe.requests"
"""Entry of Typer's context with the values of these keys: parameter, key, function that finds the place, text."""


def check_requests(context: typer.Context, *, trust: bool) -> None:
    """Refuse a run file that runs code or opens a connection without *trust*, or sends a key. Raises UsageError.

    Options on the command line, which replace those of the file, are not checked.
    """
    for parameter, key, locate, text in context.meta.get(_REQUESTS, ()):
        source = context.get_parameter_source(parameter)
        if source is None or source.name != "DEFAULT_MAP":
            continue
        from sentprobe.probes.encoders.kinds import ForeignRequest, find_model_name, find_request
        from sentprobe.probes.runs.controls import list_word_source_kinds

        kinds = list_word_source_kinds() if key == "probe-vectors" else ()
        request = ForeignRequest.CONNECTION if key == "scheduler" else find_request(text, kinds)
        if request is ForeignRequest.KEY:
            raise UsageError(
                f"{locate()}: {key} {text} {request}, which only the command line may ask for: --{key} {text}"
            )
        if request is None or trust:
            continue
        model = find_model_name(text, kinds) if request is ForeignRequest.CONNECTION and key != "scheduler" else ""
        absent = f"there is no folder {model} in {Path.cwd()}, where the paths of a run file begin" if model else ""
        if _is_path(model):
            raise UsageError(f"{locate()}: {key} {text}: {absent}{suggest_path(model)}")
        raise UsageError(
            f"{locate()}: {key} {text} {request}, which a run file may not ask for: add --trust if you trust the "
            f"file, or give it on the command line: --{key} {text}{f'; {absent}' if absent else ''}"
        )


def _is_path(model: str) -> bool:
    """Return whether a model is named by a path, which no name on the hub is.

    >>> _is_path("./mine"), _is_path("/models/mine"), _is_path("models/mine/best"), _is_path("group/model")
    (True, True, True, False)
    """
    return model.startswith((".", "/", "~")) or model.endswith("/") or model.count("/") > 1


_VALUES = "sentprobe.values"
"""Entry of Typer's context with each value of the run file: parameter, function that finds the place, words for it."""


@contextmanager
def naming_run_file(context: typer.Context) -> Iterator[None]:
    """Begin a UsageError that names a value of the run file with the value's place, such as ``run.toml, line 3``."""
    try:
        yield
    except UsageError as error:
        message = str(error)
        # check_requests has named the place already.
        if message.startswith(f"{context.params.get('config')}, line "):
            raise
        # The longest value first, since a message that names bow?dim=8 also names bow.
        for parameter, locate, words in sorted(context.meta.get(_VALUES, ()), key=lambda value: -len(value[2][0])):
            source = context.get_parameter_source(parameter)
            is_named = any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) for word in words if word)
            if is_named and source is not None and source.name == "DEFAULT_MAP":
                raise UsageError(f"{locate()}: {message}") from None
        raise


def _locate_text(path: Path, text: str, key: str, value: str) -> str:
    """Return the position of a value of *key*, which may stand in a later line than the key."""
    place = _locate_key(path, text, key)
    first = int(place.rpartition(" ")[2]) if place != str(path) else 1
    lines = enumerate(text.split("\n")[first - 1 :], first)
    line = next((number for number, line in lines if value in line), None)
    return place if line is None else f"{path}, line {line}"


def _read_text(path: Path) -> str:
    try:
        return read_text(path)
    except FormatError as error:
        raise UsageError(f"{path}: {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read the run file", error) from error


def _locate_key(path: Path, text: str, key: str) -> str:
    """Return the position of a key for a message, such as ``run.toml, line 3``; only the file if no line has it."""
    key_pattern = re.compile(rf"""\s*(?:\[\s*)?["']?{re.escape(key)}["']?\s*[=\].]""")
    numbered = enumerate(text.split("\n"), 1)
    line = next((place for place, line in numbered if key_pattern.match(line)), None)
    return str(path) if line is None else f"{path}, line {line}"


def format_run_file(context: typer.Context, suites: Collection[str]) -> str:
    """Return a run file with the options of a command, except those that no suite in *suites* uses."""
    lines = [HEAD]
    for key, setting in list_settings(context).items():
        value = context.params.get(setting.parameter)
        if key not in UNWRITTEN_KEYS and not is_unused(setting.parameter, suites) and value not in (None, [], ()):
            lines.append(f"{key} = {_format_value(value)}\n")
    return "".join(lines)


def _format_value(value: object) -> str:
    """Return a value as TOML, which equals JSON here, since DEL is escaped."""
    return format_json(value, default=str)
