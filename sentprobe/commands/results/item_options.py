"""Options of ``probe show`` for views of test items."""

from dataclasses import dataclass
from typing import Annotated

import typer

from sentprobe.commands.shared.completion import complete_column
from sentprobe.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemViewOptions:
    """Options of ``probe show`` that select and group test items."""

    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Show accuracy for each value of a column of the items: voice, clause, distance, length, label, ...",
            autocompletion=complete_column,
        ),
    ] = None
    wrong: Annotated[
        int | None,
        typer.Option(help="Show N wrongly answered test items of --encoder on --task; with --by, N for each value."),
    ] = None
    encoder: Annotated[str | None, typer.Option("--encoder", "-e", help="For --by, --wrong: only this encoder.")] = None
    task: Annotated[str | None, typer.Option(help="For --by, --wrong: only this task.")] = None

    @property
    def view_option(self) -> str:
        """The option that asks for a view of items, ``--wrong`` or ``--by``; empty if neither is set."""
        if self.wrong is not None:
            return "--wrong"
        return "" if self.by is None else "--by"

    def check(self) -> None:
        """Raise UsageError if ``--wrong`` is below 1 or lacks an encoder or task, or if an option has no effect."""
        if self.wrong is not None and self.wrong < 1:
            raise UsageError(f"the number of wrong items must be positive, not {self.wrong}")
        if self.wrong is not None and None in (self.encoder, self.task):
            raise UsageError("--wrong needs --encoder and --task")
        for option, value in (("--encoder", self.encoder), ("--task", self.task)):
            if value is not None and not self.view_option:
                raise UsageError(f"{option} needs --by or --wrong")
