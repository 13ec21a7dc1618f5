"""The control with fixed positions in a run: one training for all encoders, its figure, its row, and comparisons."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result

from sentprobe.common.errors import ResultsError
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.encoders.baselines import PLACES_WIDTH, compute_place_bound, describe_places, list_place_sets
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.reports.comparisons import compare_encoders
from sentprobe.probes.reports.tables.main_table import build_grid
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.result import Condition, Results
from sentprobe.probes.runs import controls, job_vectors
from sentprobe.probes.runs.run import run

FAST = replace(find_preset("ettinger"), max_epochs=6)
POSITIONS = Condition.FIXED_POSITIONS


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The shapes of the vectors on which the control was trained."""
    shapes: list[tuple[int, int]] = []
    train: Callable[..., Any] = controls.train_under_condition

    def record_shape(condition: Condition, items: Any, vectors: Any, **arguments: Any) -> Any:
        arrays = [*vectors]
        shapes.extend(array.shape for array in arrays if condition is POSITIONS)
        return train(condition, items, arrays, **arguments)

    monkeypatch.setattr(job_vectors, "train_under_condition", record_shape)
    return shapes


def test_control_is_trained_once_for_encoders_of_any_width(tmp_path: Path, shapes: list[tuple[int, int]]) -> None:
    data = [build_task("Order", train=80, test=24), make_learnable_dataset(size=60)]
    results = run(data, ["bow?dim=8", "bow?dim=4&name=b"], preset=FAST, out=tmp_path)
    assert [width for _, width in shapes] == [PLACES_WIDTH, PLACES_WIDTH]
    for task in results.tasks:
        first, second = (record for record in results.records if record.task == task)
        assert first.scores[POSITIONS].seeds == second.scores[POSITIONS].seeds
        assert first.data is not None
        assert first.data.places
    run(data, ["bow?dim=6&name=c"], preset=FAST, out=tmp_path)  # from the stored results
    assert len(shapes) == 2


def test_control_is_within_the_bound_and_learns_the_place() -> None:
    data = build_task("Attachment", train=800, test=200)  # what words at fixed places tell is easy to learn here
    (record,) = run([data], ["bow?dim=8"], preset=replace(FAST, max_epochs=60)).records
    facts, control = record.data, record.scores[POSITIONS]
    assert facts is not None
    bounds = {
        describe_places(places): compute_place_bound(data, Split.TEST, places) for places in list_place_sets(data)
    }
    own_bound = bounds[facts.places]
    assert own_bound is not None
    assert control.accuracy <= own_bound
    assert facts.place_bound == max(bound or 0 for bound in bounds.values())
    assert control.accuracy > 0.5 + 0.4 * (own_bound - 0.5)


def test_a_run_without_controls_chooses_no_places() -> None:
    (record,) = run([make_learnable_dataset(size=60)], ["bow?dim=4"], preset=FAST, controls=False).records
    assert record.data is not None
    assert (record.data.places, POSITIONS in record.scores) == ("", False)


def make_table(*right: int, positions: int) -> Results:
    records = (
        make_sample_result(f"e{n}", "Order", count, 500, 500, 500, 500, positions) for n, count in enumerate(right)
    )
    return Results(tuple(records))


def test_the_last_rows_have_the_controls_with_positions() -> None:
    record = make_sample_result("e0", "Order", 900, 500, 500, 500, 500, 800, 850)
    grid = build_grid(Results((record, replace(record, encoder="e1", dim=4))))
    names = ["words and positions, dim 3", "words and positions, dim 4", "fixed positions"]
    assert [row.label for row in grid.rows] == ["e0", "e1", *names]
    assert [row.cells[0].text for row in grid.rows[2:]] == ["85.0", "85.0", "80.0"]


def test_encoders_are_compared_with_a_control() -> None:
    comparisons = compare_encoders(make_table(900, 700, positions=800), against="fixed positions")
    assert [(c.first.encoder, c.second_name, c.accuracies) for c in comparisons] == [
        ("e0", "fixed positions", (0.9, 0.8)),
        ("e1", "fixed positions", (0.7, 0.8)),
    ]
    assert [c.is_better for c in comparisons] == [True, False]
    assert compare_encoders(make_table(900, 700, positions=800), against="bag of words")[0].accuracies == (0.9, 0.5)
    ordered = Results((make_sample_result("e0", "Order", 900, 500, 500, 500, 500, 800, 850),))
    assert compare_encoders(ordered, against="words and positions")[0].accuracies == (0.9, 0.85)


def test_a_comparison_with_a_control_that_was_not_run_is_an_error() -> None:
    without = Results((make_sample_result("a", "Order", 900), make_sample_result("b", "Order", 800)))
    with pytest.raises(ResultsError, match="no control with fixed positions: run it again without --no-controls"):
        compare_encoders(without, against="fixed positions")


def test_notes_state_places_and_bounds() -> None:
    data = build_task("Negation", train=80, test=24)
    notes = describe_all(run([data], ["bow?dim=4"], preset=FAST))
    assert "Fixed positions, chosen on training items: word" in notes
    assert "exceeds" in notes
    assert "(mirror pairs: an exact bound)" in notes
    unmirrored = describe_all(run([make_learnable_dataset(size=60)], ["bow?dim=4"], preset=FAST))
    assert "Fixed positions, chosen on training items: word" in unmirrored
    assert "an exact bound" not in unmirrored
