"""Checks of command lines: repeated options, and outputs that would replace a file of results or another output.

Shell completion of option values; lists from slow modules are loaded only when the shell asks for them.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, auto
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args

from sentprobe.common import specs
from sentprobe.common.errors import UsageError
from sentprobe.common.inputs import check_output, declare_output, is_device
from sentprobe.common.specs import DEVICES, SUITES

Completer = Callable[[str], list[str]]
"""Function that receives an incomplete word and returns the possible complete words."""


def build_completer(list_names: Callable[[], Iterable[str]]) -> Completer:
    """Return a function that completes a word to the names that *list_names* returns."""
    return lambda incomplete: [name for name in list_names() if name.startswith(incomplete)]


def _list_encoder_specs() -> Iterable[str]:
    from sentprobe.probes.encoders.kinds import ENCODERS, SpecArgument

    return [f"{kind.name}:" if kind.argument is SpecArgument.REQUIRED else kind.name for kind in ENCODERS]


def _list_architectures() -> Iterable[str]:
    from sentprobe.probes.encoders.architecture import DEFAULT_LAYERS

    return (*DEFAULT_LAYERS, *specs.LANGUAGE_MODELS)


def _list_templates() -> Iterable[str]:
    from sentprobe.generator.spaces.templates import list_template_names

    return list_template_names(deep=True)


def _list_probe_vectors() -> Iterable[str]:
    from sentprobe.probes.datasets.dataset import ENCODER_WORDS, ONE_HOT

    return (ONE_HOT, ENCODER_WORDS, *_list_encoder_specs())


complete_preset = build_completer(lambda: specs.PRESETS)
complete_suite = build_completer(lambda: SUITES)
complete_column = build_completer(lambda: specs.ITEM_COLUMNS)
_complete_encoder = build_completer(_list_encoder_specs)
_complete_template = build_completer(_list_templates)

COMPLETERS: Mapping[str, Completer] = {
    "architecture": build_completer(_list_architectures),
    "contrast": build_completer(lambda: specs.CONTRASTS),
    "device": build_completer(lambda: DEVICES),
    **dict.fromkeys(("encoder", "then"), _complete_encoder),
    **dict.fromkeys(("template", "held_out", "hold_out"), _complete_template),
    "hold_out_structure": build_completer(lambda: specs.STRUCTURES),
    "method": build_completer(lambda: specs.MethodName),
    "mood": build_completer(lambda: specs.MOODS),
    "objective": build_completer(partial(resolve_name, "sentprobe.probes.training.objectives:OBJECTIVES")),
    "probe_vectors": build_completer(_list_probe_vectors),
    "sampling": build_completer(lambda: specs.Sampling),
    **dict.fromkeys(("suite", "targets"), complete_suite),
    "task": build_completer(
        lambda: (*specs.COMPEVAL_TASKS, *specs.STRUCTURE_TASKS, *specs.NATURAL_TASKS, *specs.TaskGroup)
    ),
    "vocabulary": build_completer(lambda: specs.VOCABULARIES),
}
"""Completers by the name of the parameter, such as ``task``, which means the same in every command."""


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


class Output(Enum):
    """A parameter with the path of an output."""

    FILE = auto()
    FOLDER = auto()
    """A folder, whose content the command checks itself."""


OUTPUT_FILE, OUTPUT_FOLDER = Output


def find_outputs(command: Any) -> dict[str, Output]:
    """Return the outputs of a command, by the parameter's name."""
    parameters = inspect.signature(command.callback).parameters.values() if command.callback else ()
    return {p.name: kind for p in parameters for kind in get_args(p.annotation) if isinstance(kind, Output)}


STDOUT = Path("-")


def find_standard_output(command: Any, values: dict[str, Any]) -> None:
    """Set ``--out -``, which means standard output, to None; raise UsageError if the command writes a folder."""
    option_names = {parameter.name: find_longest_name(parameter) for parameter in command.params}
    for name, kind in find_outputs(command).items():
        if values[name] == STDOUT and option_names[name] == "--out":
            if kind is OUTPUT_FOLDER:
                raise UsageError("--out -: a folder is expected, and - is standard output")
            values[name] = None


def check_output_paths(command: Any, values: Mapping[str, Any]) -> None:
    """Raise UsageError if an output replaces another, an input read so far, or a file of a results or data folder.

    What the command reads later is compared with the outputs when it is read, and when they are written.
    """
    option_names = {parameter.name: find_longest_name(parameter) for parameter in command.params}
    outputs: dict[str, Path] = {}
    for name, kind in find_outputs(command).items():
        if not values[name]:
            continue
        out, option = values[name], option_names[name]
        if kind is OUTPUT_FILE:
            declare_output(out)
        else:
            check_output(out, is_folder=True)
        for other_option, other_output in outputs.items():
            if _is_same_path(out, other_output) and not is_device(out):
                raise UsageError(f"{out}: is the path of {other_option} and of {option}; give each its own")
        outputs[option] = out


def _is_same_path(first: Path, second: Path) -> bool:
    """Return whether two paths lead to the same file or folder, by symbolic or hard links or directly."""
    # Path.resolve raises for circular links.
    is_same = os.path.realpath(first) == os.path.realpath(second)
    return is_same or (first.exists() and second.exists() and first.samefile(second))
