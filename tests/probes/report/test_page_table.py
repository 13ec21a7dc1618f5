"""The table of a page, and what its cells say."""

from dataclasses import replace

from probe_strategies import sample_result
from shown_runs import LAYERS

from sentprobe.probes.report.page_table import PageTable, page_table
from sentprobe.probes.report.standings import standings
from sentprobe.probes.report.tables import CellStyle, grid
from sentprobe.probes.runs.results import Results


def page(*records: object, **style: bool) -> PageTable:
    results = Results(records)  # type: ignore[arg-type]
    shown = grid(results, style=CellStyle(**style))
    return page_table(shown, standings(results), intervals=style.get("intervals", False))


ORDER = [sample_result(name, "Order", n, 500, 500, 500) for name, n in (("a", 500), ("b", 690))]


def test_a_cell_says_its_interval_its_control_and_its_group() -> None:
    ((_, row),) = page(*ORDER).parts
    (cell,) = row.cells
    assert (cell.text, cell.value, cell.shade, cell.group) == ("69.0", 69.0, 0.38, 1)
    assert cell.told == (
        "b on Order",
        f"95% interval {cell.interval}",
        "19.0 points above its control (chance 50.0)",
        "group 1 of 2: not significantly worse than the best",
    )


def test_intervals_are_not_said_twice() -> None:
    ((row, _),) = page(*ORDER, intervals=True).parts
    assert "[" in row.cells[0].text
    assert row.cells[0].interval == ""


def test_below_the_last_row_stands_what_is_to_be_above() -> None:
    words = replace(sample_result("a", "Content1Probe", 900, 500, 500, 880), mirrored=False)
    assert page(*ORDER, words).controls == ("chance 50.0", "words 88.0")


def test_sanity_runs_are_a_part_of_their_own() -> None:
    parts = page(*ORDER, all_rows=True).parts
    assert len(parts) > 1
    assert all(cell.shade is None for row in parts[1] for cell in row.cells)


def test_a_layer_keeps_the_name_of_its_model() -> None:
    (rows,) = page(*LAYERS).parts
    assert [(row.label, row.of, row.heading) for row in rows] == [
        ("hf:m", "", True),
        ("layer 10", "hf:m", False),
        ("layer 2", "hf:m", False),
        ("layer 0", "hf:m", False),
    ]
    assert [row.cells[0].value for row in rows[1:]] == [59.0, 51.8, 50.0]
