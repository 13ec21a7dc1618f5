"""What the help of every command begins with: three examples."""

import tomllib
from importlib.resources import files
from typing import Any

from typer.core import TyperCommand, TyperGroup


def examples() -> dict[str, list[list[str]]]:
    """Return by command, as in ``probe run``, its examples, each with what it does."""
    text = files("sentprobe.commands").joinpath("examples.toml").read_text("utf-8")
    return tomllib.loads(text)


def show_examples(command: str) -> str:
    """Return the lines at the beginning of a command's help."""
    found = examples().get(command, [])
    lines = (f"   {line}\n       {what}\n" for line, what in found)
    return "".join(["\n Examples:\n", *lines]) if found else ""


class HelpfulCommand(TyperCommand):
    """A command whose help begins with examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        print(show_examples(ctx.command_path), end="")
        super().format_help(ctx, formatter)


class HelpfulGroup(TyperGroup):
    """A group of commands whose help begins with examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        print(show_examples(ctx.command_path), end="")
        super().format_help(ctx, formatter)
