"""The table of a page, and the tooltips of its cells."""

from dataclasses import replace

from probe_strategies import make_sample_result
from shown_runs import LAYERS

from sentprobe.probes.report.findings.table_findings import compute_standings
from sentprobe.probes.report.page.html import PageTable, build_page_table
from sentprobe.probes.report.tables.main_table import CellStyle, build_grid
from sentprobe.probes.results.result import Results


def make_page_table(*records: object, **style: bool) -> PageTable:
    results = Results(records)  # type: ignore[arg-type]
    shown = build_grid(results, style=CellStyle(**style))
    return build_page_table(shown, compute_standings(results), intervals=style.get("intervals", False))


ORDER = [make_sample_result(name, "Order", n, 500, 500, 500) for name, n in (("a", 500), ("b", 690))]


def test_a_cell_says_its_interval_its_control_and_its_group() -> None:
    ((_, row),) = make_page_table(*ORDER).parts
    (cell,) = row.cells
    assert (cell.text, cell.value, cell.shade, cell.group) == ("69.0", 69.0, 0.38, 1)
    assert cell.tooltip_lines == (
        "b on Order",
        f"95% interval {cell.interval}",
        "19.0 points above its control (chance 50.0)",
        "group 1 of 2: not significantly worse than the best",
    )


def test_intervals_are_not_said_twice() -> None:
    ((row, _),) = make_page_table(*ORDER, intervals=True).parts
    assert "[" in row.cells[0].text
    assert row.cells[0].interval == ""


def test_below_the_last_row_stands_what_is_to_be_above() -> None:
    words = replace(make_sample_result("a", "Content1Probe", 900, 500, 500, 880), mirrored=False)
    assert make_page_table(*ORDER, words).controls == ("chance 50.0", "words 88.0")


def test_controls_are_a_part_of_their_own() -> None:
    parts = make_page_table(*ORDER, all_rows=True).parts
    assert len(parts) > 1
    assert all(cell.shade is None for row in parts[1] for cell in row.cells)


def test_a_layer_keeps_the_name_of_its_model() -> None:
    (rows,) = make_page_table(*LAYERS).parts
    assert [(row.label, row.of, row.heading) for row in rows] == [
        ("hf:m", "", True),
        ("layer 10", "hf:m", False),
        ("layer 2", "hf:m", False),
        ("layer 0", "hf:m", False),
    ]
    assert [row.cells[0].value for row in rows[1:]] == [59.0, 51.8, 50.0]
