"""The help of every command: three examples, the usage, and its options, a line or two for each.

A command may fold panels of options that few need: the help names these options, and
``--help-all`` explains them.
"""

import inspect
import re
import textwrap
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from sentprobe.commands.given_twice import long_name, refuse_twice
from sentprobe.screen import wrap

HELP_ALL = "--help-all"

GAP = 2
"""What stands before each of the two columns of a panel."""

VALUES: Mapping[str, str] = {"str": "TEXT", "path": "PATH", "int": "N", "int range": "N"}
"""What stands for a value, by its type."""


def examples() -> dict[str, list[list[str]]]:
    """Return by command, as in ``probe run``, its examples, each with what it does."""
    text = files("sentprobe.commands").joinpath("examples.toml").read_text("utf-8")
    return tomllib.loads(text)


class Folding:
    """What helpful commands and groups have in common: help, of which a part may be folded."""

    folded: ClassVar[tuple[str, ...]] = ()
    """The panels whose options the help only names, unless all of it is asked for."""

    def get_help_option_names(self, ctx: Any) -> list[str]:
        """Return what asks for help."""
        names = sorted(super().get_help_option_names(ctx))  # type: ignore[misc]
        folds = {getattr(each, "rich_help_panel", None) for each in self.params}  # type: ignore[attr-defined]
        return [*names, HELP_ALL] if folds & {*self.folded} else names

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line, and whether all of the help is asked for."""
        ctx.meta[HELP_ALL] = HELP_ALL in args
        given = [*args]  # which reading uses up
        rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        if not ctx.resilient_parsing:
            refuse_twice(self, ctx, given)
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _write_help(self, ctx, formatter, folded=() if ctx.meta.get(HELP_ALL) else self.folded)


class HelpfulCommand(Folding, TyperCommand):
    """A command whose help begins with examples."""


class HelpfulGroup(Folding, TyperGroup):
    """A group of commands whose help begins with examples."""


def _write_help(command: Any, ctx: Any, formatter: Any, *, folded: Iterable[str]) -> None:
    """Write examples, usage, what the command does, its panels, and what stands at the end."""
    panels = _panels(command, ctx)
    more = [
        _wrap(f"{each}: {', '.join(map(long_name, panels.pop(each)))}", formatter.width - GAP)
        for each in folded
        if each in panels
    ]
    shown = [f"{line}\n    {what}" for line, what in examples().get(ctx.command_path, ())]
    _write_lines("Examples", shown, formatter)
    command.format_usage(ctx, formatter)
    formatter.write("\n")
    _write_text(command.help, formatter)
    for title, panel in panels.items():
        _write_panel(title, [_row(each, ctx) for each in panel], formatter)
    _write_panel("Commands", _commands(command), formatter)
    _write_lines(f"More options, explained by {ctx.command_path} {HELP_ALL}", more, formatter)
    _write_text(command.epilog, formatter)


def _panels(command: Any, ctx: Any) -> dict[str, list[Any]]:
    """Return the arguments and options of a command, by the panel in which they are shown."""
    found: dict[str, list[Any]] = {}
    for each in command.get_params(ctx):
        if not getattr(each, "hidden", False):
            usual = f"{each.param_type_name}s".capitalize()
            found.setdefault(getattr(each, "rich_help_panel", None) or usual, []).append(each)
    return found


def _row(parameter: Any, ctx: Any) -> tuple[str, str]:
    """Return the names of a parameter with what stands for its value, and what it means."""
    names, meaning = parameter.get_help_record(ctx)
    meaning = re.sub(r"; x[<>]=\d+(?=\])", "", meaning)  # the error says what is allowed
    if parameter.param_type_name == "argument":
        return re.sub(r" <.*>$", "", names), meaning
    names = re.sub(r"<(?:list\[)?([^]>]*)\]?>", lambda found: VALUES.get(found[1], found[1]), names)
    return names if re.match(r"-\w", names) else f"    {names}", meaning


def _commands(group: Any) -> list[tuple[str, str]]:
    """Return the commands of a group, with what each does."""
    named = getattr(group, "commands", {}).items()
    return [(name, inspect.cleandoc(each.help).split("\n\n")[0]) for name, each in named]


def _write_text(text: str | None, formatter: Any) -> None:
    for paragraph in inspect.cleandoc(text).split("\n\n") if text else ():
        formatter.write(f"{_wrap(paragraph, formatter.width)}\n\n")


def _write_panel(title: str, rows: list[tuple[str, str]], formatter: Any) -> None:
    """Write rows, with the second column where it takes the fewest lines."""
    places = sorted({len(name) for name, _ in rows}, reverse=True)
    drawn = [[_lines(*row, place, formatter.width) for row in rows] for place in places]
    _write_lines(
        title, min(drawn, key=lambda lines: "\n".join(lines).count("\n"), default=[]), formatter
    )


def _lines(name: str, text: str, place: int, width: int) -> str:
    """Return a row; below a name for which there is no room, its text has lines of its own."""
    at = GAP + place
    meaning = textwrap.indent(_wrap(text, width - GAP - at), " " * at)
    if len(name) > place and meaning:
        return f"{name}\n{meaning}"
    return f"{name}{meaning[len(name) :]}"


def _write_lines(title: str, lines: Sequence[str], formatter: Any) -> None:
    """Write lines below a title, which is bold in a terminal: elsewhere Typer takes that off."""
    if lines:
        indented = textwrap.indent("\n".join(lines), " " * GAP)
        formatter.write(f"{typer.style(f'{title}:', bold=True)}\n{indented}\n\n")


def _wrap(text: str, width: int) -> str:
    return wrap(" ".join(text.split()), width)
