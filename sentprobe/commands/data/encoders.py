"""The command ``probe encoders``: list the kinds of encoder."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared.table_output import find_table_format
from sentprobe.display.screen import print_table
from sentprobe.display.table_writers import TableFormat, build_empty_table

if TYPE_CHECKING:
    from sentprobe.probes.encoders.kinds import EncoderKind

FIELDS = ("name", "example", "summary", "argument", "extra", "extra_for", "installed")


def encoders(format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text") -> None:
    """List the kinds of encoder, each with an example and its pip extra."""
    style = find_table_format(format_, None, subject="probe encoders", allowed=(TableFormat.TEXT, TableFormat.JSON))
    from rich.text import Text

    from sentprobe.probes.encoders.kinds import ENCODERS

    if style is TableFormat.JSON:
        print(json.dumps([{field: getattr(kind, field) for field in FIELDS} for kind in ENCODERS], indent=2))
        return
    table = build_empty_table(("kind", "what it is, and an example", "extra"), left=[1, 2])
    for kind in ENCODERS:
        description = Text.assemble(kind.summary, "\n", (kind.example, "cyan"))
        table.add_row(Text(kind.name), description, Text(describe_extra(kind)))
    print_table(table)


def describe_extra(kind: "EncoderKind") -> str:
    """Return the pip extra that a kind of encoder needs, and its state: ``"probe: not installed"``."""
    if not kind.extra:
        return "none needed"
    purpose = f" (for {kind.extra_for})" if kind.extra_for else ""
    return f"{kind.extra}{purpose}: {'installed' if kind.installed else 'not installed'}"
