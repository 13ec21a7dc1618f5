"""Views of test items in ``probe show``: accuracy by a column of the items, and wrong answers."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sentprobe.commands.results.item_options import ItemViewOptions
from sentprobe.commands.shared.table_output import FLAT, find_table_format, print_or_write, write_tables
from sentprobe.display import table_writers as tw
from sentprobe.probes.report.findings import mistakes
from sentprobe.probes.report.tables.main_table import CellStyle
from sentprobe.probes.report.tables.part_tables import build_part_tables, index_by_fingerprint, to_part_records
from sentprobe.probes.report.tables.view import ShownTable, to_text
from sentprobe.probes.results.item_table import read_item_tables
from sentprobe.probes.results.result import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """A view of test items: options that select items, the style of tables, and the output file."""

    options: ItemViewOptions
    style: CellStyle = CellStyle()  # noqa: RUF009 - frozen
    caption: tw.Caption = tw.NO_CAPTION
    out: Path | None = None


def show_items(results: Results, view: ItemView, format_: str | None) -> None:
    """Print or write the wrongly answered items if the user asks for them, else accuracy by a column of the items."""
    options = view.options
    fmt = find_table_format(format_, view.out, subject=f"probe show {options.view_option}")
    results = mistakes.select_results(results, encoder=options.encoder, task=options.task)
    items = index_by_fingerprint(read_item_tables(results.records))
    if options.wrong is not None:
        wrong_items = mistakes.find_all_mistakes(results, items, options.wrong, column=options.by)
        _show_mistakes(wrong_items, view, fmt)
    else:
        tables = build_part_tables(results, items, options.by or "", view.style)
        make_records = partial(to_part_records, results, items, options.by or "")
        write_tables(tables, make_records, fmt, out=view.out, caption=view.caption)


def _show_mistakes(wrong_items: list[mistakes.WrongItems], view: ItemView, fmt: tw.TableFormat) -> None:
    if fmt in FLAT:
        print_or_write(tw.format_records(mistakes.to_mistake_records(wrong_items), fmt), view.out)
    elif fmt is tw.TableFormat.TEXT:
        text = "\n\n".join("\n".join(mistakes.render_mistakes(items)) for items in wrong_items)
        print_or_write(f"{text}\n", view.out, wrapped=True)
    elif fmt is tw.TableFormat.MARKDOWN:
        print_or_write("\n".join(map(mistakes.render_mistakes_markdown, wrong_items)), view.out)
    else:
        tables: list[ShownTable] = [(e.title, mistakes.build_mistake_grid(e), "") for e in wrong_items]
        print_or_write(to_text(tables, fmt, caption=view.caption), view.out)
