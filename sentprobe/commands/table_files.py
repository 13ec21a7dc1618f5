"""The tables that commands print or write to a file: in which format, and with what in LaTeX."""

from collections.abc import Collection, Sequence
from pathlib import Path

from sentprobe.commands.options import LatexOptions
from sentprobe.errors import UsageError
from sentprobe.files import write_atomically
from sentprobe.specs import choose
from sentprobe.table_writers import Caption, TableFormat, make_caption

SUFFIXES = {
    ".md": TableFormat.MARKDOWN,
    ".tex": TableFormat.LATEX,
    ".csv": TableFormat.CSV,
    ".json": TableFormat.JSON,
    ".html": TableFormat.HTML,
}
"""The format of a file by its suffix; of any other it is text."""


MTEB = "mteb"
"""The format of results that is a folder and no table."""

FLAT = (TableFormat.CSV, TableFormat.JSON)
"""The formats of records, which say all of each."""


def find_format(name: str | None, out: Path | None, *, also: Sequence[str] = ()) -> TableFormat:
    """Return the format of that name; of none, the one that the suffix of *out* says.

    Raises:
        UsageError: there is no such format; the command may have those of *also* besides.
    """
    if name is not None:
        return choose(TableFormat, name, what="format", also=also)
    return TableFormat.TEXT if out is None else SUFFIXES.get(out.suffix.lower(), TableFormat.TEXT)


TABLES = tuple(each for each in TableFormat if each is not TableFormat.HTML)
"""The formats of a command that writes no page."""


def find_table_format(
    name: str | None, out: Path | None, *, what: str, known: Collection[TableFormat] = TABLES
) -> TableFormat:
    """Return the format of a command that has not all of them; *what* it writes, the message says.

    Raises:
        UsageError: there is no such format.
    """
    style = find_format(name, out)
    if style not in known:
        raise UsageError(f"{what} has no format {style.value!r}; {', '.join(known)}")
    return style


def find_caption(options: LatexOptions, style: TableFormat) -> Caption:
    """Return the caption and label of a table in LaTeX.

    Raises:
        UsageError: the table is in another format; see :func:`make_caption`.
    """
    for name, text in (("--caption", options.caption), ("--label", options.label)):
        if text is not None and style is not TableFormat.LATEX:
            raise UsageError(f"{name} is for --format latex, not for {style.value}")
    return make_caption(options.caption, options.label, dashes="--")


def print_or_write(text: str, out: Path | None) -> None:
    """Print *text*, or write it to a file, whole or not at all.

    Raises:
        UsageError: the file cannot be written to.
    """
    if out is None:
        print(text, end="")
    else:
        write_atomically(out, text)
