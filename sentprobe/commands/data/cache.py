"""The command ``probe cache``: show, check or clear the cache."""

import time
from typing import Annotated

import typer

from sentprobe.commands.shared.help import HelpfulCommand, HelpfulGroup
from sentprobe.commands.shared.options import SETTINGS
from sentprobe.disk.files import find_cache_directory
from sentprobe.display.screen import print_place, print_table, print_text
from sentprobe.display.table_writers import build_empty_table
from sentprobe.errors import UsageError, format_count
from sentprobe.lexicon.memory import find_kept_files

cache_app = typer.Typer(
    name="cache",
    cls=HelpfulGroup,
    help="Show, check or clear the cache.",
    context_settings=SETTINGS,
    add_completion=False,
)


@cache_app.callback(invoke_without_command=True)
def show(context: typer.Context) -> None:
    """Show the cache folder, and the encoders whose sentence vectors it holds.

    The folder is $SENTPROBE_CACHE, else $XDG_CACHE_HOME/sentprobe, else ~/.cache/sentprobe.
    """
    from sentprobe.probes.encoders.cache.cache_upkeep import list_cached_encoders

    if context.invoked_subcommand is not None:
        return
    from rich.filesize import decimal
    from rich.text import Text

    directory = find_cache_directory()
    cached_encoders, form_files = list_cached_encoders(directory), find_kept_files(directory)
    print_place(f"cache: {directory}")
    if not (cached_encoders or form_files):
        print("the cache is empty")
        return
    if cached_encoders:
        header = ("encoder", "fingerprint", "sentences", "dim", "size", "last used")
        table = build_empty_table(header, left=[1, 5])
        for entry in cached_encoders:
            last_used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
            figures = f"{entry.sentences:,}", str(entry.dim), decimal(entry.size)
            names = ", ".join(entry.encoders), entry.fingerprint[:12]
            table.add_row(*map(Text, (*names, *figures, last_used)))
        print_table(table)
    if form_files:
        print_text(f"inflected forms: {format_count(len(form_files), 'lexicon')}")
    size = sum(entry.size for entry in cached_encoders) + sum(path.stat().st_size for path in form_files)
    print_text(f"{decimal(size)} in all")


@cache_app.command("clear", cls=HelpfulCommand)
def clear_command(
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder",
            "-e",
            help="Only this encoder: its name, or at least the first 8 characters of its fingerprint.",
        ),
    ] = None,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only vectors that were not used for DAYS days.")
    ] = None,
) -> None:
    """Clear the cache: sentence vectors, and inflected forms of words."""
    from rich.filesize import decimal

    from sentprobe.probes.encoders.cache.cache_upkeep import clear_inflected_forms, clear_vectors

    if older_than is not None and not older_than >= 0:
        raise UsageError(f"the number of days must not be negative, not {older_than}")
    directory = find_cache_directory()
    removed = clear_vectors(directory, encoder=encoder, older_than=older_than)
    parts = [format_count(removed.encoders, "encoder")]
    size = removed.size
    # With --encoder, inflected forms of lexicons are kept.
    if encoder is None and (forms := clear_inflected_forms(directory, older_than=older_than)):
        parts.append(format_count(len(forms), "lexicon"))
        size += sum(forms)
    print_place(f"removed from {directory}: {', '.join(parts)}, {decimal(size)}")


@cache_app.command("check", cls=HelpfulCommand)
def check_command() -> None:
    """Read every file in the cache, and remove damaged files."""
    from sentprobe.probes.encoders.cache.cache_upkeep import check_cache_files

    directory = find_cache_directory()
    checked = check_cache_files(directory)
    for path in checked.damaged:
        print_place(f"damaged, removed: {path}")
    print_place(f"cache: {directory}: {format_count(checked.files, 'file')} read, {len(checked.damaged)} damaged")
    if checked.leftovers:
        print_text(f"removed: {format_count(checked.leftovers, 'unfinished file')} of stopped processes")
