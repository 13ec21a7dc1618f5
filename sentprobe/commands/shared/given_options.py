"""Options that a command line or a run file gives, and whether a suite uses them."""

from collections.abc import Collection, Mapping
from dataclasses import fields

import typer

from sentprobe.commands.shared.options import CardOptions, CompevalOptions, ItemOptions, NaturalOptions
from sentprobe.errors import UsageError
from sentprobe.names import enumerate_names


def map_given_options(context: typer.Context) -> dict[str, str]:
    """Map each parameter that the command line or a run file sets to its option, such as ``--format``."""
    option_names = {
        str(parameter.name): "/".join([*parameter.opts[:1], *parameter.secondary_opts[:1]])
        for parameter in context.command.params
    }
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {
        name: option_names[name]
        for name, source in sources.items()
        if source and source.name in ("COMMANDLINE", "DEFAULT_MAP")
    }


SUITES_BY_PARAMETER: Mapping[str, tuple[str, ...]] = {
    field.name: group.SUITES
    for group in (CompevalOptions, ItemOptions, CardOptions, NaturalOptions)
    for field in fields(group)
}
"""The suites that use an option, by parameter name."""


def is_unused(parameter: str, suites: Collection[str]) -> bool:
    """Return whether an option is for suites, and for none of these."""
    return parameter in SUITES_BY_PARAMETER and not set(SUITES_BY_PARAMETER[parameter]) & set(suites)


def reject_unused_options(given_options: Mapping[str, str], suites: Collection[str], *, data_name: str) -> None:
    """Raise UsageError, which names *data_name*, for a given option, by parameter, that none of the suites uses."""
    for parameter, option in given_options.items():
        if is_unused(parameter, suites):
            users = enumerate_names(SUITES_BY_PARAMETER[parameter])
            raise UsageError(f"{option} is for the suite {users}, not for {data_name}")
