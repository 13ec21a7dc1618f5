"""Help of commands: examples, usage and options. ``--help-all`` explains the options that ``--help`` only names.

Find the options that the user set, and reject those that no chosen suite uses.
"""

import inspect
import math
import os
import re
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from sentprobe.commands.shared.output_paths import (
    check_output_paths,
    find_longest_name,
    find_standard_output,
    reject_repeated_options,
)
from sentprobe.common import specs
from sentprobe.common.screen import wrap
from sentprobe.common.settings import CLASSIFIER, HELD_OUT, MACHINE, METHODS, NATURAL_TEXT

HELP_ALL = "--help-all"
COLUMN_GAP = 2
VALUE_PLACEHOLDERS: Mapping[str, str] = {
    **{"str": "TEXT", "path": "PATH", "Path": "PATH"},
    **dict.fromkeys(("int", "int range", "float"), "N"),
}


@cache
def read_examples() -> dict[str, list[list[str]]]:
    """Return the examples of each command, as pairs of a command line and its meaning.

    The examples of ``gen`` and ``probe`` are repeated as examples of ``sentprobe``.
    """
    text = files(__package__).joinpath("examples.toml").read_text("utf-8")
    examples_by_command: dict[str, list[list[str]]] = tomllib.loads(text)
    package_examples = {
        _translate_to_sentprobe(command): [[_translate_to_sentprobe(line), meaning] for line, meaning in lines]
        for command, lines in examples_by_command.items()
        if command != "sentprobe"
    }
    return package_examples | examples_by_command


def _name_commands(text: str, ctx: Any) -> str:
    """Replace commands such as ``probe run`` by ``sentprobe run`` in a help text of the program ``sentprobe``."""
    if not ctx.command_path.startswith("sentprobe"):
        return text
    commands = "|".join(command for command in read_examples() if command.startswith("probe "))
    return re.sub(rf"\b({commands})\b", r"sent\1", text)


def _translate_to_sentprobe(line: str) -> str:
    """Return a command line of ``gen`` or ``probe`` as one of ``sentprobe``: ``probe run`` as ``sentprobe run``."""
    program, *_ = line.split()
    return re.sub("^probe", "sentprobe", line) if program == "probe" else f"sentprobe {line}"


class _LazyCoercion:
    """Conversion of a parameter's value that loads Typer's, with Pydantic, only for values that need it."""

    def __init__(self, parameter: Any) -> None:
        self._descriptor = parameter.type_descriptor
        self._is_repeatable = parameter.multiple or parameter.nargs == -1
        self._build_coercion = parameter.get_runtime_param

    def coerce(self, value: Any, **context: Any) -> Any:
        """Return the value in the parameter's type. No value, text and plain numbers are what Typer makes of them."""
        kind = self._descriptor.annotation
        if value is None:
            return () if self._is_repeatable else None
        if self._is_repeatable and kind == list[str] and all(type(member) is str for member in value):
            return [*value]
        is_plain = {str: self._is_plain_text, int: self._is_plain_number, Path: self._is_plain_path}.get(kind)
        if not self._is_repeatable and is_plain is not None and is_plain(value):
            return kind(value)
        return self._build_coercion().coerce(value, **context)

    def _is_plain_text(self, value: Any) -> bool:
        return type(value) is str and not self._descriptor.is_choice

    def _is_plain_path(self, value: Any) -> bool:
        """Say whether Typer would accept a path: with the usual settings, one that can be read or is new."""
        info = self._descriptor.parameter_info
        is_checked = info.exists or info.writable or info.resolve_path or not (info.file_okay and info.dir_okay)
        if is_checked or not info.readable or type(value) is not str or "\0" in value:
            return False
        return os.access(value, os.R_OK) or not os.path.lexists(value)

    def _is_plain_number(self, value: Any) -> bool:
        info = self._descriptor.parameter_info
        if not _PLAIN_NUMBER.fullmatch(str(value)):
            return False
        return (info.min or 0) <= int(value) <= (math.inf if info.max is None else info.max)


_PLAIN_NUMBER = re.compile("[0-9]{1,9}")


def _defer_coercion(parameter: Any) -> None:
    # Earlier versions of Typer have no such method and do not use Pydantic.
    if hasattr(parameter, "get_runtime_param") and "get_runtime_param" not in vars(parameter):
        coercion = _LazyCoercion(parameter)
        parameter.get_runtime_param = lambda: coercion


class FoldedHelp:
    """Base class of commands and groups whose help begins with examples and may fold panels of options."""

    folded: ClassVar[tuple[str, ...]] = ()
    """Titles of panels (groups of options) whose options ``--help`` only names; ``--help-all`` explains them."""

    def get_help_option_names(self, ctx: Any) -> list[str]:
        """Return the names of all help options, including ``--help-all`` if a panel of the command is folded."""
        names = sorted(super().get_help_option_names(ctx))  # type: ignore[misc]
        panels = {getattr(parameter, "rich_help_panel", None) for parameter in self.params}  # type: ignore[attr-defined]
        return [*names, HELP_ALL] if panels & {*self.folded} else names

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that prints help, with a text that explains ``--help-all``."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None and HELP_ALL in option.opts:
            option.help = "Show this; --help-all: every option."
        return option

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse and check the command line, and record whether ``--help-all`` is given."""
        ctx.meta[HELP_ALL] = HELP_ALL in args
        original_args = [*args]  # parsing empties args
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            _defer_coercion(parameter)
        remaining_args: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        if not ctx.resilient_parsing:
            reject_repeated_options(self, ctx, original_args)
            find_standard_output(self, ctx.params)
            check_output_paths(self, ctx.params)
        return remaining_args

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write examples, usage, description, panels, the names of options in folded panels, and the epilog."""
        command: Any = self
        panels = _group_by_panel(command, ctx)
        folded = () if ctx.meta.get(HELP_ALL) else self.folded
        folded_panels = {title: panels.pop(title) for title in folded if title in panels}
        folded_lines = [
            _wrap_text(f"{title}: {', '.join(map(find_longest_name, panel))}", formatter.width - COLUMN_GAP)
            for title, panel in folded_panels.items()
        ]
        example_lines = [
            f"{line}\n    {_name_commands(meaning, ctx)}" for line, meaning in read_examples().get(ctx.command_path, ())
        ]
        _write_lines("Examples", example_lines, formatter)
        command.format_usage(ctx, formatter)
        formatter.write("\n")
        _write_text(_name_commands(command.help or "", ctx), formatter)
        for title, panel in panels.items():
            _write_panel(title, [_format_parameter(parameter, ctx) for parameter in panel], formatter)
        subcommands = getattr(command, "commands", {}).items()
        rows = [(name, inspect.cleandoc(subcommand.help).split("\n\n")[0]) for name, subcommand in subcommands]
        _write_panel("Commands", rows, formatter)
        _write_lines(f"More options, explained by {ctx.command_path} {HELP_ALL}", folded_lines, formatter)
        _write_text(_name_commands(command.epilog or "", ctx), formatter)


class HelpfulCommand(FoldedHelp, TyperCommand):
    """A command whose help begins with examples."""


class HelpfulGroup(FoldedHelp, TyperGroup):
    """A group of commands whose help begins with examples."""


def _group_by_panel(command: Any, ctx: Any) -> dict[str, list[Any]]:
    """Return the visible arguments and options of a command, grouped by the title of their panel."""
    panels: dict[str, list[Any]] = {}
    for parameter in command.get_params(ctx):
        if not getattr(parameter, "hidden", False):
            default_panel = f"{parameter.param_type_name}s".capitalize()
            panels.setdefault(getattr(parameter, "rich_help_panel", None) or default_panel, []).append(parameter)
    return panels


def _format_parameter(parameter: Any, ctx: Any) -> tuple[str, str]:
    """Return the names of a parameter with a placeholder for its value, and its help."""
    names, description = parameter.get_help_record(ctx)
    description = re.sub(r"; x[<>]=\d+(?=\])", "", _name_commands(description, ctx))  # error messages name the range
    if parameter.param_type_name == "argument":
        return re.sub(r" <.*>$", "", names), description
    names = re.sub(r"<(?:list\[)?([^]>]*)\]?>", lambda match: VALUE_PLACEHOLDERS.get(match[1], match[1]), names)
    return names if re.match(r"-\w", names) else f"    {names}", description


def _write_text(text: str, formatter: Any) -> None:
    for paragraph in inspect.cleandoc(text).split("\n\n") if text else ():
        formatter.write(f"{_wrap_text(paragraph, formatter.width)}\n\n")


def _write_panel(title: str, rows: list[tuple[str, str]], formatter: Any) -> None:
    """Write rows in two columns; the first column gets the width for which the panel has the fewest lines."""
    columns = sorted({len(name) for name, _ in rows}, reverse=True)
    layouts = [[_format_row(*row, column, formatter.width) for row in rows] for column in columns]
    _write_lines(title, min(layouts, key=lambda lines: "\n".join(lines).count("\n"), default=[]), formatter)


def _format_row(name: str, text: str, column: int, width: int) -> str:
    """Return a row in two columns; if the name is too long for the first column, the text begins a new line."""
    indent = COLUMN_GAP + column
    description = textwrap.indent(_wrap_text(text, width - COLUMN_GAP - indent), " " * indent)
    if len(name) > column and description:
        return f"{name}\n{description}"
    return f"{name}{description[len(name) :]}"


def _write_lines(title: str, lines: Sequence[str], formatter: Any) -> None:
    if lines:
        indented = textwrap.indent("\n".join(lines), " " * COLUMN_GAP)
        formatter.write(f"{typer.style(f'{title}:', bold=True)}\n{indented}\n\n")


def _wrap_text(text: str, width: int) -> str:
    return wrap(" ".join(text.split()), width)


class CommandWithTaskList(HelpfulCommand):
    """A command whose help ends with the list of tasks."""

    folded: ClassVar = (METHODS, HELD_OUT, CLASSIFIER, MACHINE, NATURAL_TEXT)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, which ends with the names of tasks and task groups."""
        natural_tasks = [name for name in specs.NATURAL_TASKS if "-" not in name and name not in specs.UNIVERSAL_TASKS]
        task_lists = (specs.COMPEVAL_TASKS, specs.STRUCTURE_TASKS, natural_tasks, specs.TaskGroup)
        compeval, structure, natural, groups = map(", ".join, task_lists)
        self.epilog = (
            f"Tasks of compeval: {compeval}; structure: {structure}; natural: {natural}; task groups: {groups}. "
            "See probe tasks."
        )
        super().format_help(ctx, formatter)


def map_given_options(context: typer.Context) -> dict[str, str]:
    """Return the options set on the command line or in a run file, by parameter: ``{"format_": "--format"}``."""
    option_names = {
        str(parameter.name): "/".join([*parameter.opts[:1], *parameter.secondary_opts[:1]])
        for parameter in context.command.params
    }
    return {
        name: option_names[name]
        for name in context.params
        if (source := context.get_parameter_source(name)) and source.name in ("COMMANDLINE", "DEFAULT_MAP")
    }
