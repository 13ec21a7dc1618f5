"""Validations of a training, in a folder of results."""

from pathlib import Path

import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import ResultsError
from sentprobe.probes.results import records as kept
from sentprobe.probes.results.records import LearningPoint, TrainingCurve

FINITE = st.floats(0, 1e9)
POINTS = st.builds(LearningPoint, step=st.integers(0, 10**9), epoch=FINITE, value=FINITE, loss=FINITE)
EMPTY = TrainingCurve(family="lstm autoencoder", seed=3, metric="BLEU")


@given(points=st.lists(POINTS, min_size=1))
@examples(50)
def test_curve_is_read_as_written(tmp_path_factory: pytest.TempPathFactory, points: list[LearningPoint]) -> None:
    folder = tmp_path_factory.mktemp("run")
    expected = EMPTY
    for point in points:
        kept.add_point(EMPTY, point, folder)
        expected = expected.append_point(point)
    curve = kept.read_learning_curve(folder)
    assert curve == expected
    assert curve.source == str(folder)
    assert kept.read_learning_curves([folder, folder / "other"]) == (expected,)


@given(points=st.lists(POINTS, min_size=1))
@examples(100)
def test_steps_rise_and_last_point_stays(points: list[LearningPoint]) -> None:
    """A training that was stopped goes on from a step before its last validations."""
    curve = EMPTY
    for point in points:
        curve = curve.append_point(point)
    steps = [point.step for point in curve.points]
    assert steps == sorted(set(steps))
    assert curve.find_point(points[-1].step) == curve.points[-1] == points[-1]


def test_points_of_another_training_are_dropped(tmp_path: Path) -> None:
    point = LearningPoint(step=1, epoch=0.5, value=0.25, loss=1.0)
    later = LearningPoint(step=2, epoch=1.0, value=0.5, loss=0.5)
    other_curve = TrainingCurve(family="lstm nmt", seed=3, metric="BLEU")
    kept.add_point(EMPTY, point, tmp_path)
    kept.add_point(other_curve, later, tmp_path)
    assert kept.read_learning_curve(tmp_path) == other_curve.append_point(later)


def test_share_is_shown_in_percent() -> None:
    point = LearningPoint(step=1, epoch=0.5, value=0.25, loss=1.0)
    accuracy = TrainingCurve(family="x", seed=0, metric="accuracy")
    assert (accuracy.label, accuracy.to_display_value(point)) == ("accuracy (%)", 25.0)
    assert (EMPTY.label, EMPTY.to_display_value(point)) == ("BLEU", 0.25)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "sentprobe-learned 2"}', '{"format": "sentprobe-learned 1"}',
     '{"format": "sentprobe-learned 1", "family": "x", "seed": 0, "metric": "BLEU", "points": []}'],
)  # fmt: skip
def test_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / kept.CURVE_FILE
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ResultsError) as caught:
        kept.read_learning_curve(tmp_path)
    assert str(caught.value).startswith(f"{path}: not a training curve of sentprobe (")
    assert not any(
        word in caught.value.args[0].removeprefix(str(path)) for word in ("pop", "argument", "__init__", "('format')")
    )
