"""Checks of command lines: an output must not replace an input, a file of results, or another output."""

import inspect
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any, get_args

from sentprobe.disk.files import RESULTS_MARKER, is_device
from sentprobe.errors import UsageError
from sentprobe.specs import SUITES


def reject_repeated_options(command: Any, context: Any, words: Sequence[str]) -> None:
    """Raise UsageError if the command line *words* repeats an option that takes one value."""
    _, _, parsed_parameters = command.make_parser(context).parse_args(args=[*words])
    for parameter in list_single_valued_options(command, context):
        if parsed_parameters.count(parameter) > 1:
            raise UsageError(f"{find_longest_name(parameter)} is given twice, but takes one value")


def list_single_valued_options(command: Any, context: Any) -> list[Any]:
    """Return the options of a command that take one value: all but switches and repeatable options."""
    options = (option for option in command.get_params(context) if option.param_type_name == "option")
    return [option for option in options if not (option.is_flag or option.multiple or option.count)]


def find_longest_name(parameter: Any) -> str:
    """Return the longest name of an option: ``--encoder`` rather than ``-e``."""
    name: str = max(parameter.opts, key=len)
    return name


class PathRole(Enum):
    """What a command does with the path in a parameter."""

    INPUT = auto()
    """The command reads the path; the value may also be ``RUN#ENCODER`` or the name of a suite."""
    INPUT_SPEC = auto()
    """The command reads the file in an encoder spec, such as ``bow:FILE``."""
    OUTPUT_FILE = auto()
    """The command writes a file."""
    OUTPUT_FOLDER = auto()
    """The command writes a folder, whose content it checks itself; the folder may lie inside an input."""


INPUT, INPUT_SPEC, OUTPUT_FILE, OUTPUT_FOLDER = PathRole
INPUTS = (INPUT, INPUT_SPEC)
ITEMS = "items"
"""Name of the folder for test items in a results folder."""


def find_path_roles(command: Any) -> dict[str, PathRole]:
    """Return the role of every parameter that names a path, by the parameter's name."""
    parameters = inspect.signature(command.callback).parameters.values() if command.callback else ()
    return {p.name: role for p in parameters for role in get_args(p.annotation) if isinstance(role, PathRole)}


def check_output_paths(command: Any, values: Mapping[str, Any]) -> None:
    """Raise UsageError if an output is an input or another output, or lies inside an input or a results folder."""
    roles = find_path_roles(command)
    inputs = [path for name, role in roles.items() if role in INPUTS for path in _list_input_paths(values[name], role)]
    option_names = {parameter.name: find_longest_name(parameter) for parameter in command.params}
    outputs: dict[str, Path] = {}
    for name, role in roles.items():
        if role in INPUTS or not values[name] or is_device(values[name]):
            continue
        out, option = values[name], option_names[name]
        _check_output(out, inputs, is_file=role is OUTPUT_FILE)
        for other_option, other_output in outputs.items():
            if _is_same_path(out, other_output):
                raise UsageError(f"{out}: is the path of {other_option} and of {option}; give each its own")
        outputs[option] = out


def _list_input_paths(value: Any, role: PathRole) -> list[Path]:
    """Return the existing paths in the value of a parameter: None, a path, a text or a list."""
    values = value if isinstance(value, list | tuple) else [value] if value else []
    texts = [str(entry) for entry in values]
    if role is INPUT_SPEC:
        texts = [text.partition("?")[0].partition(":")[2] for text in texts]
    else:
        texts = [path for text in texts if text not in SUITES for path in (text, text.rpartition("#")[0])]
    return [Path(text) for text in texts if os.path.exists(text)]  # noqa: PTH110 - Path raises for some texts


def _check_output(out: Path, inputs: Iterable[Path], *, is_file: bool) -> None:
    """Raise UsageError if *out* is an input, or if it is a file inside an input folder or a results folder."""
    for input_path in inputs:
        if _is_same_path(out, input_path):
            raise UsageError(f"{out}: is an input; the output needs another path")
        if is_file and _resolve(input_path) in _resolve(out).parents:
            raise UsageError(f"{out}: lies inside {input_path}, which is read; write it elsewhere")
    if not is_file:
        return
    if _is_standard_input(out):
        raise UsageError(f"{out}: is standard input; the output needs another path")
    parent = _resolve(out).parent
    for folder in (parent, *([parent.parent] if parent.name == ITEMS else [])):
        if _is_results_folder(folder):
            raise UsageError(f"{out}: lies in a folder of results, which probe run made; write it elsewhere")


def _is_results_folder(folder: Path) -> bool:
    try:
        with (folder / RESULTS_MARKER).open("rb") as marker:
            return b'"sentprobe-run' in marker.read(100)
    except OSError:
        return False


def _is_same_path(first: Path, second: Path) -> bool:
    """Return whether two paths lead to the same file or folder, by symbolic or hard links or directly."""
    return _resolve(first) == _resolve(second) or (first.exists() and second.exists() and first.samefile(second))


def _is_standard_input(path: Path) -> bool:
    """Return whether a path is the file that standard input is redirected from."""
    try:
        status = os.fstat(0)
        return stat.S_ISREG(status.st_mode) and path.exists() and os.path.samestat(status, path.stat())
    except OSError:  # standard input is closed
        return False


def _resolve(path: Path) -> Path:
    # Path.resolve raises for circular links.
    return Path(os.path.realpath(path))
