"""Tables and records of methods."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from helpers.strategies.probe_strategies import make_sample_result
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.probe import CurvePoint
from sentprobe.probes.reports.pages.html import build_report_page
from sentprobe.probes.reports.tables.distance_report import join_records
from sentprobe.probes.reports.tables.view import build_method_tables
from sentprobe.probes.results.records import METHOD_FIGURES
from sentprobe.probes.results.result import Condition, Result, Results, make_score


def add_portions(encoder: str, *ats: int) -> Result:
    """A result with a probe a portion, each right on half of the test items."""
    result = make_sample_result(encoder, "Order", 600)
    readings = tuple(CurvePoint(at=at, correct=500, bits=1.0) for at in ats)
    (seed,) = result.scores[Condition.PROBE].seeds
    portions_score = make_score([replace(seed, readings=readings, information=(0.5,) * 1000)], ())
    return replace(result, scores={**result.scores, Condition.PORTIONS: portions_score})


def add_all_methods(*, correct: tuple[int, ...] = (500, 500), bits: float = 1.0, control: float = 0.45) -> Results:
    """A result with the control task, two portions and a linear probe."""
    result = add_portions("bow?dim=1", 4, 8)
    plain, seed = result.scores[Condition.PROBE], result.scores[Condition.PORTIONS].seeds[0]
    readings = tuple(CurvePoint(at=at, correct=n, bits=bits) for at, n in zip((4, 8), correct, strict=True))
    seeds = {
        Condition.PORTIONS: replace(seed, readings=readings),
        Condition.CONTROL_TASK: replace(plain.seeds[0], accuracy=control),
        Condition.WIDTHS: replace(seed, readings=(CurvePoint(at=0, correct=550),)),
    }
    more = {condition: make_score([score], ()) for condition, score in seeds.items()}
    return Results((replace(result, scores={**result.scores, **more}),))


def find_figures(records: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the figures of methods in records, by condition."""
    keys = [figure.key for figure in METHOD_FIGURES]
    return {record["condition"]: {key: record[key] for key in keys if not pd.isna(record[key])} for record in records}


def test_records_frame_and_csv_have_the_figures_of_methods() -> None:
    results = add_all_methods()
    frame = results.to_frame().to_dict("records")
    for records in (results.to_records(), frame, join_records(results, ())):
        figures = find_figures(records)
        assert figures.pop("control-task") == pytest.approx({"selectivity": 0.15})
        assert figures.pop("widths") == pytest.approx({"gap": 0.05})
        assert figures.pop("portions") == pytest.approx(
            {"description_length": 6.0, "compression": 8 / 6, "information": 0.5, "area": 0.5}
        )
        assert not any(figures.values())


@examples(40)
@given(st.tuples(*[st.integers(0, 1000)] * 2), st.floats(0, 1e5), st.floats(0, 1))
def test_tables_show_the_figures_of_the_records(correct: tuple[int, ...], bits: float, control: float) -> None:
    results = add_all_methods(correct=correct, bits=bits, control=control)
    shown: dict[str, str] = {}
    for _, grid, _ in build_method_tables(results):
        (row,) = grid.rows
        shown.update(zip(grid.header[1:], (cell.text for cell in row.cells), strict=True))
    values = {key: value for figures in find_figures(results.to_records()).values() for key, value in figures.items()}
    for figure in METHOD_FIGURES:
        assert shown[figure.heading] == f"{figure.scale * values[figure.key]:.{figure.decimals}f}"


def test_every_view_of_results_has_the_tables_of_methods() -> None:
    results = add_all_methods()
    for text in (results.to_markdown(), results.to_latex(), str(results), results._repr_html_()):
        for title in ("control task, Order", "description length, Order", "complexity, Order"):
            assert title in text.lower().replace("order", "Order")
    assert "description length" not in Results((make_sample_result("bow", "Order", 600),)).to_markdown()


def test_a_row_without_a_probe_of_as_many_portions_is_empty() -> None:
    records = (add_portions("bow?dim=1", 4, 8), add_portions("bow?dim=2", 2, 4, 8))
    shown = {title: grid for title, grid, _ in build_method_tables(Results(records))}
    rows = shown["accuracy by training items, Order"].rows
    assert {row.label: [cell.text for cell in row.cells] for row in rows} == {
        "bow?dim=1": ["50.0", "50.0"],
        "bow?dim=2": ["-", "-"],
    }


def test_on_the_page_a_note_stands_once_below_the_tables_that_it_is_of() -> None:
    one = add_portions("bow", 4, 8)
    page = build_report_page(Results((one, replace(one, task="SemRole"))))
    tables = [page.index(f"<h3>Description length, {task}</h3>") for task in ("Order", "SemRole")]
    assert page.count("<h2>Methods</h2>") == page.count("<p>kbit: online codelength of the training labels") == 1
    assert page.index("<h2>Methods</h2>") < min(tables)
    assert max(tables) < page.index("<p>kbit: online") < page.index("<h3>Accuracy by training items")
