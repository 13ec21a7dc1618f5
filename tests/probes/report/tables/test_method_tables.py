"""Tables of methods: which probes a row is of."""

from dataclasses import replace

import pytest
from probe_strategies import make_sample_result

from sentprobe.probes.report.page.html import build_report_page
from sentprobe.probes.report.tables.distance_report import join_records
from sentprobe.probes.report.tables.method_tables import FIGURES, build_method_tables
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.trainer.codelength import CurvePoint


def add_portions(encoder: str, *ats: int) -> Result:
    """A result with a probe a portion, each right on half of the test items."""
    result = make_sample_result(encoder, "Order", 600)
    readings = tuple(CurvePoint(at=at, correct=500, bits=1.0) for at in ats)
    (seed,) = result.scores[Condition.PROBE].seeds
    portions_score = make_score([replace(seed, readings=readings, information=(0.5,) * 1000)], ())
    return replace(result, scores={**result.scores, Condition.PORTIONS: portions_score})


def test_records_have_what_the_tables_say() -> None:
    result = add_portions("bow?dim=1", 4, 8)
    plain, seed = result.scores[Condition.PROBE], result.scores[Condition.PORTIONS].seeds[0]
    control = make_score([replace(plain.seeds[0], accuracy=0.45)], ())
    widths = make_score([replace(seed, readings=(CurvePoint(at=0, correct=550),))], ())
    more = {Condition.CONTROL_TASK: control, Condition.WIDTHS: widths}
    results_with_methods = Results((replace(result, scores={**result.scores, **more}),))
    figures = {
        record["condition"]: {key: record[key] for key in FIGURES if record[key] is not None}
        for record in join_records(results_with_methods, ())
    }
    assert figures.pop("control-task") == pytest.approx({"selectivity": 0.15})
    assert figures.pop("widths") == pytest.approx({"gap": 0.05})
    assert figures.pop("portions") == pytest.approx(
        {"description_length": 6.0, "compression": 8 / 6, "information": 0.5, "area": 0.5}
    )
    assert not any(figures.values())


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
    assert page.count("<h2>Methods</h2>") == page.count("<p>Online code of the training labels") == 1
    assert page.index("<h2>Methods</h2>") < min(tables)
    assert max(tables) < page.index("<p>Online code") < page.index("<h3>Accuracy by training items")
