"""Find the options that the user set, and reject those that no chosen suite uses."""

from collections.abc import Collection, Mapping
from dataclasses import fields

import typer

from sentprobe.commands.shared.options import CardOptions, CompevalOptions, ItemOptions, NaturalOptions
from sentprobe.errors import UsageError
from sentprobe.names import enumerate_names


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


SUITES_BY_PARAMETER: Mapping[str, tuple[str, ...]] = {
    field.name: group.SUITES
    for group in (CompevalOptions, ItemOptions, CardOptions, NaturalOptions)
    for field in fields(group)
}
"""Suites that use an option, by the name of the option's parameter."""


def is_unused(parameter: str, suites: Collection[str]) -> bool:
    """Return whether a parameter is only for suites that are not in *suites*."""
    return parameter in SUITES_BY_PARAMETER and not set(SUITES_BY_PARAMETER[parameter]) & set(suites)


def reject_unused_options(given_options: Mapping[str, str], suites: Collection[str], *, data_name: str) -> None:
    """Raise UsageError for the first option that none of *suites* uses.

    - given_options: options by parameter, from :func:`map_given_options`
    - data_name: the chosen suites or datasets, as the error message shows them
    """
    for parameter, option in given_options.items():
        if is_unused(parameter, suites):
            users = enumerate_names(SUITES_BY_PARAMETER[parameter])
            raise UsageError(f"{option} is for the suite {users}, not for {data_name}")
