"""The table of a page, and the tooltips of its cells."""

from dataclasses import replace
from pathlib import Path

from helpers.runs.shown_runs import LAYERS
from helpers.strategies.probe_strategies import make_sample_result

import sentprobe
from sentprobe.probes.reports.pages.html import PageTable, build_page_table, build_report_page
from sentprobe.probes.reports.pages.page_parts import build_gate_page
from sentprobe.probes.reports.table_findings import compute_standings
from sentprobe.probes.reports.tables.main_table import CellStyle, build_grid
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


CONTROL_CHARACTERS = "\u202e\a\x1b"


def test_a_report_page_has_no_control_characters() -> None:
    first, second = (replace(r, encoder=f"{r.encoder}{CONTROL_CHARACTERS}", command=CONTROL_CHARACTERS) for r in ORDER)
    page = build_report_page(Results((first, second)))
    assert {*CONTROL_CHARACTERS}.isdisjoint(page)
    assert r"a\u202e\x07\x1b" in page


def test_a_gate_page_has_no_control_characters(tmp_path: Path) -> None:
    rows = [f"the man{CONTROL_CHARACTERS} slept {n},the man {n} slept,{n % 2}" for n in range(40)]
    (tmp_path / "pairs.csv").write_text("\n".join(["a,b,same", *rows]), "utf-8")
    gate = sentprobe.gate("bow?dim=8", contrasts=["role"], n=40, pairs=tmp_path / "pairs.csv")
    page = build_gate_page(gate, command=f"probe gate bow --pairs {CONTROL_CHARACTERS}", intervals=False)
    assert {*CONTROL_CHARACTERS}.isdisjoint(page)
    assert r"the man\u202e\x07\x1b slept" in page
    assert r"probe gate bow --pairs \u202e\x07\x1b" in page
