"""Rejection of repeated options that take one value."""

from collections.abc import Sequence
from typing import Any

from sentprobe.errors import UsageError


def reject_repeated_options(command: Any, context: Any, words: Sequence[str]) -> None:
    """Raise UsageError if *words*, a command line, repeat an option that takes one value."""
    _, _, parsed_parameters = command.make_parser(context).parse_args(args=[*words])
    for parameter in list_single_valued_options(command, context):
        if parsed_parameters.count(parameter) > 1:
            raise UsageError(f"{find_longest_name(parameter)} is given twice, but takes one value")


def list_single_valued_options(command: Any, context: Any) -> list[Any]:
    """Return the options of a command that are neither switches nor repeatable."""
    options = (option for option in command.get_params(context) if option.param_type_name == "option")
    return [option for option in options if not (option.is_flag or option.multiple or option.count)]


def find_longest_name(parameter: Any) -> str:
    """Return the longest name of an option: ``--encoder`` rather than ``-e``."""
    name: str = max(parameter.opts, key=len)
    return name
