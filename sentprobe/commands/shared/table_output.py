"""Output of tables by commands: choice of the format, caption, and output file."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sentprobe.commands.shared.options import LatexOptions
from sentprobe.common import tables as tw
from sentprobe.common.errors import UsageError, format_count, suggest
from sentprobe.common.files import write_atomically
from sentprobe.common.inputs import check_output
from sentprobe.common.screen import print_message, print_table, print_text
from sentprobe.common.tables import Caption, ShownTable, TableFormat, build_caption

SUFFIXES = {
    "": TableFormat.TEXT,
    ".txt": TableFormat.TEXT,
    ".md": TableFormat.MARKDOWN,
    ".tex": TableFormat.LATEX,
    ".csv": TableFormat.CSV,
    ".json": TableFormat.JSON,
    ".html": TableFormat.HTML,
}

MTEB = "mteb"
"""Name of the format that writes a folder of results in MTEB's layout."""
FLAT = (TableFormat.CSV, TableFormat.JSON)
"""Formats that write records, with all fields of the results, instead of a table for readers."""
NON_PAGE_FORMATS = tuple(table_format for table_format in TableFormat if table_format is not TableFormat.HTML)
"""All formats but HTML, which only few commands write."""


def find_table_format(
    name: str | None,
    out: Path | None,
    *,
    subject: str,
    allowed: Collection[TableFormat] = NON_PAGE_FORMATS,
    also: Sequence[str] = (),
) -> TableFormat:
    """Return the named format or, if *name* is None, the format for the suffix of the file *out*.

    Raises UsageError if the format is not allowed, or *out* cannot be written.

    - subject: noun for messages, such as "a comparison"
    - also: names of formats that the command handles itself, such as ``mteb``; error messages list them too
    """
    check_output_file(out)
    format_names = [*map(str, allowed), *also]
    suffix = "" if out is None else out.suffix.lower()
    if name is None and suffix not in SUFFIXES:
        raise UsageError(f"{out}: no format has the suffix {suffix!r}; choose by --format: {', '.join(format_names)}")
    if name is not None and name not in list(TableFormat):
        raise UsageError(f"there is no format {name!r}{suggest(name, format_names)}; known: {', '.join(format_names)}")
    style = SUFFIXES[suffix] if name is None else TableFormat(name)
    if style not in allowed:
        raise UsageError(f"{subject} has no format {style.value!r}; known: {', '.join(allowed)}")
    return style


def check_output_file(out: Path | None) -> None:
    """Raise UsageError if *out* is a folder, lies in a folder that does not exist, or must not be replaced."""
    if out is not None and out.is_dir():
        raise UsageError(f"{out}: is a directory, not a file to write")
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"{out}: cannot write there: there is no directory {out.parent}")
    if out is not None:
        check_output(out)


def find_caption(options: LatexOptions, style: TableFormat) -> Caption:
    """Return the caption and label of a LaTeX table; raise UsageError if they are set for another format."""
    for name, text in (("--caption", options.caption), ("--label", options.label)):
        if text is not None and style is not TableFormat.LATEX:
            raise UsageError(f"{name} is for --format latex, not for {style.value}")
    return build_caption(options.caption, options.label, dashes="--")


def print_tables(tables: Iterable[ShownTable]) -> None:
    """Print tables in the terminal, each with its title and notes."""
    for title, grid, notes in tables:
        print_text(tw.format_title(title, TableFormat.TEXT), end="")
        print_table(tw.build_rich_table(grid))
        print_text(notes, end="")


def write_tables(
    tables: Iterable[ShownTable],
    make_records: Callable[[], Sequence[Mapping[str, Any]]],
    style: TableFormat,
    *,
    out: Path | None = None,
    caption: Caption = tw.NO_CAPTION,
) -> None:
    """Write tables with title and notes to *out* or, if None, to stdout; for CSV and JSON, write records instead.

    - tables: title, table and notes of each
    - make_records: called for CSV and JSON only
    """
    if style in FLAT:
        print_or_write(tw.format_records(make_records(), style), out)
    elif style is TableFormat.TEXT and out is None:
        print_tables(tables)
    else:
        print_or_write(tw.format_tables([*tables], style, caption=caption), out)


def print_or_write(text: str, out: Path | None, *, wrapped: bool = False) -> None:
    """Write *text* to the file *out*, or print it if *out* is None. If *wrapped*, wrap printed lines at line width."""
    if out is not None:
        write_atomically(out, text)
    elif wrapped:
        print_text(text, end="")
    else:
        print(text, end="")


def print_reuse(reused: int, *, total: int) -> None:
    """Print on stderr how many of *total* results were reused, and how many are new."""
    if reused:
        suffix = f", {total - reused} made" if total > reused else ""
        print_message(f"{format_count(reused, 'result')} found{suffix}")
