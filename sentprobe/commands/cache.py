"""What ``probe cache`` does, as functions that anyone can call."""

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal
from rich.markup import escape
from rich.table import Table

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.cache import default_directory
from sentprobe.probes.encoders.cache_upkeep import CachedEncoder, check, clear, entries


def show_cache(directory: Path | None = None) -> None:
    """Print where the cache is, and what it holds of each encoder."""
    directory = directory or default_directory()
    found = entries(directory)
    print(f"cache: {directory}")
    if not found:
        print("it is empty")
        return
    console = Console() if sys.stdout.isatty() else Console(width=200)
    console.print(_table(found))
    print(f"{decimal(sum(entry.size for entry in found))} in all")


def clear_cache(
    directory: Path | None = None, *, encoder: str | None = None, older_than: float | None = None
) -> None:
    """Remove what is kept of all encoders, or of those chosen, and print how much that was.

    Raises:
        UsageError: there is no such encoder in the cache, or the number of days is not one.
    """
    if older_than is not None and not older_than >= 0:
        raise UsageError(f"the number of days must not be negative, not {older_than}")
    directory = directory or default_directory()
    removed = clear(directory, encoder=encoder, older_than=older_than)
    print(
        f"removed from {directory}: {_count(removed.encoders, 'encoder')}, {decimal(removed.size)}"
    )


def check_cache(directory: Path | None = None) -> None:
    """Read every file of the cache, remove the damaged ones, and print which they were."""
    directory = directory or default_directory()
    checked = check(directory)
    for path in checked.damaged:
        print(f"damaged, removed: {path}")
    read = _count(checked.files, "file")
    print(f"cache: {directory}: {read} read, {len(checked.damaged)} damaged")
    if checked.leftovers:
        print(f"removed: {_count(checked.leftovers, 'unfinished file')} of killed processes")


def _table(found: tuple[CachedEncoder, ...]) -> Table:
    table = Table()
    for heading in ("encoder", "fingerprint"):
        table.add_column(heading, overflow="fold")
    for heading in ("sentences", "dim", "size"):
        table.add_column(heading, justify="right")
    table.add_column("last used")
    for entry in found:
        table.add_row(
            escape(", ".join(entry.encoders)),
            escape(entry.fingerprint[:12]),
            f"{entry.sentences:,}",
            str(entry.dim),
            decimal(entry.size),
            time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used)),
        )
    return table


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")
