"""Options that a command line or a run file gives, and whether a suite uses them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, get_type_hints

import typer

from sentprobe.commands.shared.options import CardOptions, CompevalOptions, ItemOptions, NaturalOptions
from sentprobe.errors import UsageError
from sentprobe.names import enumerate_names


def list_given_options(context: typer.Context) -> tuple[str, ...]:
    """Return the names of the parameters that the command line or a run file sets."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given_sources = ("COMMANDLINE", "DEFAULT_MAP")
    return tuple(name for name, source in sources.items() if source and source.name in given_sources)


def map_given_options(context: typer.Context) -> dict[str, str]:
    """Map each parameter that the user set to its option, such as ``--format``."""
    option_names = {
        parameter.name: "/".join([*parameter.opts[:1], *parameter.secondary_opts[:1]])
        for parameter in context.command.params
    }
    return {name: option_names[name] for name in list_given_options(context)}


def _list_suite_options(*groups: Any) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    for group in groups:
        for name, annotation in get_type_hints(group, include_extras=True).items():
            if name != "SUITES":
                flag = annotation.__metadata__[0].default
                yield name, (flag if isinstance(flag, str) else f"--{name.replace('_', '-')}", group.SUITES)


SUITE_OPTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = dict(
    _list_suite_options(CompevalOptions, ItemOptions, CardOptions, NaturalOptions)
)
"""For each parameter name: the option, and the suites that use the option."""


def reject_unused_options(given_options: Iterable[str], suites: Collection[str], *, data_name: str) -> None:
    """Raise UsageError, which names *data_name*, for a given option that none of the suites uses."""
    for name in given_options:
        option, option_suites = SUITE_OPTIONS.get(name, ("", ()))
        if option_suites and not set(option_suites) & set(suites):
            raise UsageError(f"{option} is for the suite {enumerate_names(option_suites)}, not for {data_name}")
