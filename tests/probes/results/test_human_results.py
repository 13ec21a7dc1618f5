"""Results of people: their file, and which results of encoders they stand beside."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.strategies.probe_strategies import make_sample_result
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import ResultsError, UsageError
from sentprobe.probes.reports.tables.main_table import build_human_tables
from sentprobe.probes.results.human_results import (
    FOLDER,
    HumanResult,
    format_human,
    match_human,
    parse_human,
    read_human,
    write_human,
)
from sentprobe.probes.results.result import Results

RESULT = HumanResult(
    task="Order",
    dataset_fingerprint="ab" * 32,
    majority=0.5,
    items=(4, 2, 9, 1),
    units=(0, 1, 2, 3),
    scores=(1.0, 1.0, 0.5, 0.0),
    annotators=2,
    left_out=1,
    alpha=0.25,
    command="probe annotate --read study",
    versions={"sentprobe": "0.1"},
)


@given(
    st.lists(st.tuples(st.integers(0, 99), st.sampled_from([0.0, 1 / 3, 0.5, 1.0])), min_size=1),
    st.none() | st.floats(-1, 1),
)
def test_file_is_read_as_written(items: list[tuple[int, float]], alpha: float | None) -> None:
    places, scores = zip(*items, strict=True)
    result = replace(RESULT, items=places, units=tuple(range(len(places))), scores=scores, alpha=alpha)
    assert parse_human(format_human(result), source="x.json") == result
    assert result.interval.low <= result.accuracy <= result.interval.high


def test_note_names_people_and_agreement() -> None:
    assert RESULT.describe() == (
        "the majority of 2 annotators on 4 test items of Order, Krippendorff's alpha 0.25, "
        "1 more left out by control items"
    )
    alone = replace(RESULT, annotators=1, left_out=0, alpha=None)
    assert alone.describe() == "one annotator on 4 test items of Order"
    assert RESULT.figure.startswith("62.5 [")


def test_folder_keeps_one_result_of_a_dataset(tmp_path: Path) -> None:
    other = replace(RESULT, task="../a b", dataset_fingerprint="cd" * 32)
    for result in (replace(RESULT, annotators=5), RESULT, other):
        write_human(result, tmp_path)
    assert sorted(path.name for path in (tmp_path / FOLDER).iterdir()) == ["Order.abababab.json", "_a_b.cdcdcdcd.json"]
    assert read_human([tmp_path]) == (RESULT, other)
    assert read_human([tmp_path])[0].source == str(tmp_path)
    assert read_human([tmp_path / "none"]) == ()


def test_only_results_on_the_same_data_are_matched() -> None:
    record = replace(make_sample_result("bow", "Order", 5, 5, 5, 5), dataset_fingerprint=RESULT.dataset_fingerprint)
    assert match_human([RESULT], [record]) == {"Order": RESULT}
    assert match_human([RESULT], [replace(record, task="SemRole")]) == {}
    assert match_human([RESULT], [replace(record, dataset_fingerprint="other")]) == {}
    studies = [replace(RESULT, source=source) for source in ("one", "two")]
    with pytest.raises(UsageError, match="people answered Order in two studies, of one and two"):
        match_human(studies, [record])


def test_people_on_other_data_have_a_row_for_each_study() -> None:
    others = [RESULT, replace(RESULT, dataset_fingerprint="cd" * 32, scores=(1.0,) * 4)]
    ((title, grid, notes),) = build_human_tables(others, Results(()))
    assert title == "people"
    assert [(row.label, row.cells[0].text) for row in grid.rows] == [("Order", other.figure) for other in others]
    assert notes.count("Human: ") == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sentprobe-human 1", "sentprobe-human 9", "its format is not"),
        ('"items": "4 2', '"items": "4', "items, units and scores differ in their number"),
        ('"scores": "1.0', '"scores": "1.5', "a score is not between 0 and 1"),
        ('"alpha": 0.25', '"alpha": NaN', "alpha must be"),
        ('"alpha"', '"alfa"', "'alfa' is not expected"),
        ('"scores": "1.0', '"scores": "0.0', "its digest is missing or wrong"),
        ('"alpha": 0.25', '"alpha": 0.75', "its digest is missing or wrong"),
    ],
)
def test_damaged_file_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    write_human(RESULT, tmp_path)
    (path,) = (tmp_path / FOLDER).iterdir()
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(ResultsError, match=re.escape(message)) as caught:
        read_human([tmp_path])
    assert str(caught.value).startswith(f"{path}: not a result of probe annotate (")
    assert str(caught.value).endswith("; remove the file, and read the sheets again")
