"""The command ``probe cache``: show, check or clear what is kept on disk, above all vectors."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.help import HelpfulCommand, HelpfulGroup
from sentprobe.commands.options import SETTINGS
from sentprobe.errors import UsageError, counted
from sentprobe.files import cache_directory
from sentprobe.lexicon.memory import kept_files
from sentprobe.probes.encoders.cache_upkeep import CachedEncoder, check, clear, clear_forms, entries
from sentprobe.screen import print_table
from sentprobe.table_writers import empty_table

if TYPE_CHECKING:
    from rich.table import Table

cache_app = typer.Typer(
    name="cache",
    cls=HelpfulGroup,
    help="Show, check or clear the sentence vectors that are kept on disk.",
    context_settings=SETTINGS,
    add_completion=False,
)


@cache_app.callback(invoke_without_command=True)
def show(context: typer.Context) -> None:
    """Show where sentence vectors are kept, and of which encoders; also check and clear them.

    The folder is SENTPROBE_CACHE, else sentprobe in XDG_CACHE_HOME, else ~/.cache/sentprobe.
    """
    if context.invoked_subcommand is not None:
        return
    from rich.filesize import decimal  # noqa: PLC0415 - slow import

    directory = cache_directory()
    found, forms = entries(directory), kept_files(directory)
    print(f"cache: {directory}")
    if not (found or forms):
        print("it is empty")
        return
    if found:
        print_table(draw_entries(found))
    if forms:
        print(f"inflected forms: {counted(len(forms), 'lexicon')}")
    size = sum(entry.size for entry in found) + sum(path.stat().st_size for path in forms)
    print(f"{decimal(size)} in all")


@cache_app.command("clear", cls=HelpfulCommand)
def clear_command(
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder", "-e", help="Only this encoder: its name, or 8 characters of fingerprint."
        ),
    ] = None,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only what was last used so long ago.")
    ] = None,
) -> None:
    """Remove what is kept, also the inflected forms of lexicons; only files of ours."""
    if older_than is not None and not older_than >= 0:
        raise UsageError(f"the number of days must not be negative, not {older_than}")
    clear_cache(cache_directory(), encoder=encoder, older_than=older_than)


@cache_app.command("check", cls=HelpfulCommand)
def check_command() -> None:
    """Read every file, and remove those that are damaged."""
    check_cache(cache_directory())


def clear_cache(directory: Path, *, encoder: str | None, older_than: float | None) -> None:
    """Remove what is kept of all encoders, or of those chosen, and print how much that was.

    The inflected forms of lexicons are of no encoder.

    Raises:
        UsageError: there is no such encoder in the cache.
    """
    from rich.filesize import decimal  # noqa: PLC0415 - slow import

    removed = clear(directory, encoder=encoder, older_than=older_than)
    parts = [counted(removed.encoders, "encoder")]
    size = removed.size
    if encoder is None and (forms := clear_forms(directory, older_than=older_than)):
        parts.append(counted(len(forms), "lexicon"))
        size += sum(forms)
    print(f"removed from {directory}: {', '.join(parts)}, {decimal(size)}")


def check_cache(directory: Path) -> None:
    """Read every file of the cache, remove the damaged ones, and print which they were."""
    checked = check(directory)
    for path in checked.damaged:
        print(f"damaged, removed: {path}")
    read = counted(checked.files, "file")
    print(f"cache: {directory}: {read} read, {len(checked.damaged)} damaged")
    if checked.leftovers:
        print(f"removed: {counted(checked.leftovers, 'unfinished file')} of killed processes")


def draw_entries(found: Iterable[CachedEncoder]) -> "Table":
    """Return a table for a terminal: what is kept of each encoder."""
    from rich.filesize import decimal  # noqa: PLC0415 - slow import
    from rich.text import Text  # noqa: PLC0415 - slow import

    header = ("encoder", "fingerprint", "sentences", "dim", "size", "last used")
    drawn = empty_table(header, left=[1, 5])
    for entry in found:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
        figures = f"{entry.sentences:,}", str(entry.dim), decimal(entry.size)
        names = ", ".join(entry.encoders), entry.fingerprint[:12]
        drawn.add_row(*map(Text, (*names, *figures, used)))
    return drawn
