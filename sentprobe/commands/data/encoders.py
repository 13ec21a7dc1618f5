"""The command ``probe encoders``: list the kinds of encoder."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.display.screen import print_table
from sentprobe.display.table_writers import build_empty_table
from sentprobe.errors import UsageError, suggest

if TYPE_CHECKING:
    from rich.table import Table


FORMATS = ("text", "json")


@dataclass(frozen=True, slots=True)
class ListedEncoder:
    """A kind of encoder, and whether its extra is installed."""

    name: str
    example: str
    summary: str
    argument: str
    """Whether the kind takes an argument: none, optional or required."""
    extra: str
    """The extra (optional dependencies) that the kind needs; empty if it needs no extra."""
    extra_for: str
    """The feature that needs the extra; empty if the whole kind needs it."""
    installed: bool


def list_encoders() -> tuple[ListedEncoder, ...]:
    """Return the kinds of encoder, in the order of the table."""
    from sentprobe.probes.encoders.kinds import ENCODERS

    return tuple(
        ListedEncoder(
            name=kind.name,
            example=kind.example,
            summary=kind.summary,
            argument=kind.argument.value,
            extra=kind.extra,
            extra_for=kind.extra_for,
            installed=kind.installed,
        )
        for kind in ENCODERS
    )


def encoders(format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text") -> None:
    """List the kinds of encoder, each with an example and the pip extra that it needs."""
    if format_ not in FORMATS:
        raise UsageError(f"unknown format {format_!r}{suggest(format_, FORMATS)}; known: {', '.join(FORMATS)}")
    listed = list_encoders()
    if format_ == "json":
        entries = [{name: getattr(row, name) for name in ListedEncoder.__slots__} for row in listed]
        print(json.dumps(entries, indent=2))
    else:
        print_table(build_encoder_table(listed))


def build_encoder_table(listed: tuple[ListedEncoder, ...]) -> "Table":
    """Return the terminal table of the kinds."""
    from rich.text import Text

    rich_table = build_empty_table(("kind", "what it is, and an example", "extra"), left=[1, 2])
    for row in listed:
        description = Text.assemble(row.summary, "\n", (row.example, "cyan"))
        rich_table.add_row(Text(row.name), description, Text(describe_extra(row)))
    return rich_table


def describe_extra(row: ListedEncoder) -> str:
    """Return which extra is needed, and whether it is installed.

    >>> describe_extra(ListedEncoder("x", "x:y", "", "required", "gensim", "binary files", False))
    'gensim (for binary files): not installed'
    """
    if not row.extra:
        return "none needed"
    purpose = f" (for {row.extra_for})" if row.extra_for else ""
    return f"{row.extra}{purpose}: {'installed' if row.installed else 'not installed'}"
