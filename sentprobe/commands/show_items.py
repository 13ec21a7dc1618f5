"""What ``probe show`` says of test items: accuracy by a column, and those answered wrong."""

from dataclasses import dataclass
from pathlib import Path

from sentprobe import table_writers as tw
from sentprobe.commands.options import ItemViewOptions
from sentprobe.commands.table_files import FLAT, find_table_format, print_or_write
from sentprobe.probes.report import mistakes
from sentprobe.probes.report.part_tables import by_fingerprint, part_records, part_sections
from sentprobe.probes.report.parts import ItemsOf
from sentprobe.probes.report.tables import CellStyle
from sentprobe.probes.report.view import ShownTable, to_text
from sentprobe.probes.runs.item_table import item_tables
from sentprobe.probes.runs.results import Results
from sentprobe.screen import print_table, say


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """How what is asked for is shown."""

    options: ItemViewOptions
    style: CellStyle = CellStyle()  # noqa: RUF009 - frozen
    caption: tw.Caption = tw.NO_CAPTION
    out: Path | None = None


def show_items(results: Results, view: ItemView, format_: str | None) -> None:
    """Print or write accuracy by a column, or mistakes.

    Raises:
        UsageError: no such encoder, task, column or format; results of an older version.
    """
    options = view.options
    fmt = find_table_format(format_, view.out, what=f"probe show {options.asked}")
    results = mistakes.results_on(results, encoder=options.encoder, task=options.task)
    items = by_fingerprint(item_tables(results.records))
    if options.wrong is not None:
        found = mistakes.all_mistakes(results, items, options.wrong, column=options.by)
        _show_mistakes(found, view, fmt)
    elif fmt in FLAT:
        print_or_write(
            tw.write_records(part_records(results, items, options.by or ""), fmt), view.out
        )
    else:
        _show_parts(results, items, view, fmt)


def _show_parts(results: Results, items: ItemsOf, view: ItemView, fmt: tw.TableFormat) -> None:
    shown = list(part_sections(results, items, view.options.by or "", view.style))
    if fmt is tw.TableFormat.TEXT and view.out is None:
        for title, grid, notes in shown:
            say(tw.write_title(title, tw.TableFormat.TEXT), end="")
            print_table(tw.draw(grid))
            say(notes, end="")
    else:
        print_or_write(to_text(shown, fmt, caption=view.caption), view.out)


def _show_mistakes(found: list[mistakes.WrongItems], view: ItemView, fmt: tw.TableFormat) -> None:
    if fmt in FLAT:
        print_or_write(tw.write_records(mistakes.mistake_records(found), fmt), view.out)
    elif fmt is tw.TableFormat.TEXT:
        text = "\n\n".join("\n".join(mistakes.mistake_lines(each)) for each in found)
        if view.out is None:
            say(text)
        else:
            print_or_write(f"{text}\n", view.out)
    elif fmt is tw.TableFormat.MARKDOWN:
        print_or_write("\n".join(map(mistakes.mistakes_in_markdown, found)), view.out)
    else:
        shown: list[ShownTable] = [(e.title, mistakes.mistake_grid(e), "") for e in found]
        print_or_write(to_text(shown, fmt, caption=view.caption), view.out)
