"""Tables of methods: which probes a row is of."""

from dataclasses import replace

import pytest
from probe_strategies import sample_result

from sentprobe.probes.report.geometry import all_records
from sentprobe.probes.report.html import report
from sentprobe.probes.report.methods import FIGURES, method_tables
from sentprobe.probes.runs.results import Condition, Result, Results, make_score
from sentprobe.probes.trainer.readings import Reading


def with_portions(encoder: str, *ats: int) -> Result:
    """A result with a probe a portion, each right on half of the test items."""
    result = sample_result(encoder, "Order", 600)
    readings = tuple(Reading(at=at, correct=500, bits=1.0) for at in ats)
    (seed,) = result.scores[Condition.PROBE].seeds
    made = make_score([replace(seed, readings=readings, information=(0.5,) * 1000)], ())
    return replace(result, scores={**result.scores, Condition.PORTIONS: made})


def test_records_have_what_the_tables_say() -> None:
    result = with_portions("bow?dim=1", 4, 8)
    plain, seed = result.scores[Condition.PROBE], result.scores[Condition.PORTIONS].seeds[0]
    control = make_score([replace(plain.seeds[0], accuracy=0.45)], ())
    widths = make_score([replace(seed, readings=(Reading(at=0, correct=550),))], ())
    more = {Condition.CONTROL_TASK: control, Condition.WIDTHS: widths}
    found = Results((replace(result, scores={**result.scores, **more}),))
    figures = {
        record["condition"]: {key: record[key] for key in FIGURES if record[key] is not None}
        for record in all_records(found, ())
    }
    assert figures.pop("control-task") == pytest.approx({"selectivity": 0.15})
    assert figures.pop("widths") == pytest.approx({"gap": 0.05})
    assert figures.pop("portions") == pytest.approx(
        {"description_length": 6.0, "compression": 8 / 6, "information": 0.5, "area": 0.5}
    )
    assert not any(figures.values())


def test_a_row_without_a_probe_of_as_many_portions_is_empty() -> None:
    records = (with_portions("bow?dim=1", 4, 8), with_portions("bow?dim=2", 2, 4, 8))
    shown = {title: grid for title, grid, _ in method_tables(Results(records))}
    rows = shown["accuracy by training items, Order"].rows
    assert {row.label: [cell.text for cell in row.cells] for row in rows} == {
        "bow?dim=1": ["50.0", "50.0"],
        "bow?dim=2": ["-", "-"],
    }


def test_on_the_page_a_note_stands_once_below_the_tables_that_it_is_of() -> None:
    one = with_portions("bow", 4, 8)
    page = report(Results((one, replace(one, task="SemRole"))))
    tables = [page.index(f"<h3>Description length, {task}</h3>") for task in ("Order", "SemRole")]
    assert (
        page.count("<h2>Methods</h2>") == page.count("<p>Online code of the training labels") == 1
    )
    assert page.index("<h2>Methods</h2>") < min(tables)
    assert max(tables) < page.index("<p>Online code") < page.index("<h3>Accuracy by training items")
