"""The command ``probe encoders``: list the kinds of encoder."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.encoders.kinds import ENCODERS, EncoderKind
from sentprobe.screen import print_table
from sentprobe.table_writers import empty_table

if TYPE_CHECKING:
    from rich.table import Table


FORMATS = ("text", "json")


@dataclass(frozen=True, slots=True)
class Listed:
    """A kind of encoder, and whether it can be used here."""

    name: str
    example: str
    summary: str
    argument: str
    """Whether it takes an argument: none, optional or required."""
    extra: str
    """The extra that it needs; empty: none."""
    extra_for: str
    """What of it needs the extra; empty: all."""
    installed: bool


def list_encoders() -> tuple[Listed, ...]:
    """Return the kinds of encoder, in the order of the table."""
    return tuple(map(_listed, ENCODERS))


def _listed(kind: EncoderKind) -> Listed:
    return Listed(
        name=kind.name,
        example=kind.example,
        summary=kind.summary,
        argument=kind.argument.value,
        extra=kind.extra,
        extra_for=kind.extra_for,
        installed=kind.installed,
    )


def encoders(
    format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> None:
    """List the kinds of encoder, with an example, and whether their extra is installed."""
    if format_ not in FORMATS:
        near = suggest(format_, FORMATS)
        raise UsageError(f"unknown format {format_!r}{near}; known: {', '.join(FORMATS)}")
    listed = list_encoders()
    if format_ == "json":
        entries = [{name: getattr(row, name) for name in Listed.__slots__} for row in listed]
        print(json.dumps(entries, indent=2))
    else:
        print_table(table(listed))


def table(listed: tuple[Listed, ...]) -> "Table":
    """Return the table that is printed."""
    from rich.text import Text  # noqa: PLC0415 - slow import

    made = empty_table(("kind", "what it is, and an example", "extra"), left=[1, 2])
    for row in listed:
        what = Text.assemble(row.summary, "\n", (row.example, "cyan"))
        made.add_row(Text(row.name), what, Text(extra_text(row)))
    return made


def extra_text(row: Listed) -> str:
    """Say which extra is needed, and whether it is there.

    >>> extra_text(Listed("x", "x:y", "", "required", "gensim", "binary files", False))
    'gensim (for binary files): not installed'
    """
    if not row.extra:
        return "none needed"
    what = f" (for {row.extra_for})" if row.extra_for else ""
    return f"{row.extra}{what}: {'installed' if row.installed else 'not installed'}"
