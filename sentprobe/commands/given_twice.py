"""No command takes an option twice that has one value: which of the two was meant is not known."""

from collections.abc import Sequence
from typing import Any

from sentprobe.errors import UsageError


def refuse_twice(command: Any, context: Any, words: Sequence[str]) -> None:
    """Refuse *words*, the command line of *command*, if two are values of an option that has one.

    Raises:
        UsageError: an option that takes one value is given twice.
    """
    _, _, given = command.make_parser(context).parse_args(args=[*words])
    for parameter in single_valued(command, context):
        if given.count(parameter) > 1:
            raise UsageError(f"{long_name(parameter)} is given twice; it takes one value")


def single_valued(command: Any, context: Any) -> list[Any]:
    """Return the options of a command that take one value: neither a switch nor repeatable."""
    options = (each for each in command.get_params(context) if each.param_type_name == "option")
    return [each for each in options if not (each.is_flag or each.multiple or each.count)]


def long_name(parameter: Any) -> str:
    """Return the name of an option that says the most, as ``--encoder`` of ``-e``."""
    name: str = max(parameter.opts, key=len)
    return name
