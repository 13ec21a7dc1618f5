"""``probe check`` compares a results folder with what its runs were asked for."""

import json
from pathlib import Path

import pytest
from helpers.strategies.probe_strategies import make_sample_result
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.results.result import Condition, Results
from sentprobe.probes.results.store import (
    MARKER,
    format_result,
    make_file_name,
    parse_result,
    prepare_directory,
    read_requested_results,
    read_results,
    record_requested_results,
    write_result,
)
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.training_checks import find_incomplete

RESULTS = [make_sample_result(encoder, task, 700, 500, 500) for encoder in ("a", "b") for task in ("Order", "SemRole")]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    prepare_directory(tmp_path)
    for result in RESULTS:
        write_result(result, tmp_path)
    record_requested_results(tmp_path, [(result, result.scores) for result in RESULTS])
    return tmp_path


def find(run: Path) -> list[ClaimFinding]:
    return list(find_incomplete(read_results(run)))


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


def test_complete_folder_has_no_finding(run: Path) -> None:
    assert find(run) == []
    assert [*find_incomplete(Results(()))] == []


def test_removed_control_is_missed(run: Path) -> None:
    path = run / make_file_name(RESULTS[0])
    scores = json.loads(path.read_text("utf-8"))["scores"]
    edit(path, scores={name: score for name, score in scores.items() if name != Condition.RANDOM_SENTENCES})
    edited, lacking = find(run)
    assert edited.figures == ("a on Order, seed 0",)
    assert lacking.figures == ("a on Order, seed 0: random sentences",)
    assert {edited.severity, lacking.severity} == {Severity.SEVERE}


def test_removed_results_and_tasks_are_missed(run: Path) -> None:
    for result in RESULTS[1:]:
        (run / make_file_name(result)).unlink()
    (absent,) = find(run)
    assert absent.figures == ("a on SemRole, seed 0", "b on Order, seed 0", "b on SemRole, seed 0")
    assert (absent.encoder, absent.task, absent.severity) == ("a, b", "SemRole, Order", Severity.SEVERE)


def test_edited_answers_are_seen(run: Path) -> None:
    path = run / make_file_name(RESULTS[0])
    scores = json.loads(path.read_text("utf-8"))["scores"]
    seed = scores["probe"]["seeds"][0]
    seed["right"] = seed["right"][::-1]  # as many right answers, on other items
    edit(path, scores=scores)
    (edited,) = find(run)
    assert edited.figures == ("a on Order, seed 0",)
    assert "edited after the run" in edited.problem


@given(st.sampled_from([{}, {"task": "other"}, {"majority": 0.25}, {"seed": 9}, {"digest": ""}]))
def test_digest_survives_layout_but_no_edit(changes: dict[str, object]) -> None:
    value = json.loads(format_result(RESULTS[0])) | changes
    assert parse_result(json.dumps(value | {"seconds": {"probe": 1.5}}, sort_keys=True)).edited is bool(changes)
    assert not parse_result(format_result(parse_result(json.dumps(value)))).edited


def test_requests_of_several_runs_add_up(run: Path) -> None:
    prepare_directory(run)
    before = read_requested_results(run)
    record_requested_results(run, [(RESULTS[0], [Condition.WIDTHS])])
    after = read_requested_results(run)
    (name,) = (name for name in after if after[name] != before[name])
    assert set(after[name]["conditions"]) == {*before[name]["conditions"], "widths"}
    (lacking,) = find(run)
    assert lacking.figures == ("a on Order, seed 0: widths",)


@pytest.mark.parametrize(
    "record",
    [
        "garbage", "[]", "", '{"requested": 1}', '{"requested": {"x": 3}}', '{"requested": {"x": {"conditions": []}}}',
        '{"requested": {"x": {"encoder": "a", "task": "t", "seed": 0, "conditions": ["no-such"]}}}',
        '{"requested": {"x": {"encoder": "a", "task": "t", "conditions": []}}}',
    ],
)  # fmt: skip
def test_damaged_requests_are_severe_and_replaced(run: Path, record: str) -> None:
    (run / MARKER).write_text(record, "utf-8")
    (finding,) = find(run)
    assert (finding.severity, finding.figures) == (Severity.SEVERE, (f"{run}/{MARKER}",))
    record_requested_results(run, [(result, result.scores) for result in RESULTS])
    assert find(run) == []
