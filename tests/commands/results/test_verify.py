"""The command ``probe verify``: a run repeated, and two runs compared figure by figure."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.shown_runs import write_run
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.probes.results.result import Condition, Result, make_score
from sentprobe.probes.results.store import write_result

RESULT = make_sample_result("bow", "Order", 700, 500, 510, mirrored=True)


def answer(result: Result, correct: int) -> Result:
    """Return a result whose main probes have other answers, with the same inputs."""
    other = make_sample_result(result.encoder, result.task, correct, mirrored=True)
    return replace(result, scores={**result.scores, Condition.PROBE: other.scores[Condition.PROBE]})


def read_probe(command: Command, *words: object) -> tuple[int, dict[str, str]]:
    code, out, _ = command("verify", *words, "-f", "csv")
    rows = list(csv.DictReader(out.splitlines()))
    return code, next(row for row in rows if row["figure"] == "probe")


def test_copies_are_equal(tmp_path: Path, command: Command) -> None:
    runs = [write_run(tmp_path / name, RESULT) for name in "ab"]
    figures = len(RESULT.scores)
    assert check_success(command("verify", *runs)) == f"{figures} figures: {figures} equal.\n"
    records = json.loads(check_success(command("verify", *runs, "-f", "json")))
    assert [record["verdict"] for record in records] == ["equal"] * figures
    assert {record["first_accuracy"] == record["second_accuracy"] for record in records} == {True}


CHANGES: dict[str, tuple[Callable[[Result], Result], str, str]] = {
    "data": (lambda r: replace(r, dataset_fingerprint="feedbeef00"), "different", "data (digests "),
    "encoder": (lambda r: replace(r, encoder_fingerprint="feedbeef00"), "different", "encoder (digests "),
    "classifier": (
        lambda r: replace(r, preset=replace(r.preset, batch=7, max_epochs=3)),
        "different",
        "batch 200 and 7; max_epochs 700 and 3",
    ),
    "few answers": (lambda r: answer(r, 698), "within rounding", "nothing that is recorded (another processor?)"),
    "version": (lambda r: replace(answer(r, 698), versions={"torch": "9.9"}), "within rounding", "torch None and 9.9"),
    "device": (lambda r: replace(answer(r, 698), device="cuda"), "within rounding", "device cpu and cuda"),
    "many answers": (lambda r: answer(r, 300), "different", "nothing that is recorded (another processor?)"),
    "seed": (
        lambda r: replace(
            r, scores={c: make_score([replace(s, seed=5) for s in v.seeds], r.units) for c, v in r.scores.items()}
        ),
        "different",
        "seeds ",
    ),
}


@pytest.mark.parametrize(("change", "verdict", "reason"), CHANGES.values(), ids=CHANGES)
def test_reason_is_named(
    change: Callable[[Result], Result], verdict: str, reason: str, tmp_path: Path, command: Command
) -> None:
    runs = write_run(tmp_path / "a", RESULT), write_run(tmp_path / "b", change(RESULT))
    code, row = read_probe(command, *runs)
    assert (row["verdict"], code) == (verdict, int(verdict == "different"))
    assert reason in row["differs"]
    _, back = read_probe(command, *reversed(runs))
    assert back["verdict"] == verdict
    assert (back["first_accuracy"], back["second_accuracy"]) == (row["second_accuracy"], row["first_accuracy"])


def test_geometry_alone_is_refused(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run")
    check_refusal(command("verify", run, run), f"{run}: has no results of probes")


def test_sizes_and_missing_data_are_told_apart(tmp_path: Path, command: Command) -> None:
    """One encoder on two versions of a task, of other sizes: one version is in one run only."""
    small = replace(make_sample_result("bow", "Order", 300, total=500), dataset_fingerprint="feedbeef00")
    first = write_run(tmp_path / "a", RESULT, small)
    code, out, _ = command("verify", first, write_run(tmp_path / "b", RESULT))
    assert code == 1
    assert out.count("missing") == 2  # in the row, and in the count below
    others = [
        answer(RESULT, 699),
        replace(make_sample_result("bow", "Order", 301, total=500), dataset_fingerprint="feedbeef00"),
    ]
    assert "2 within rounding" in check_success(command("verify", first, write_run(tmp_path / "c", *others)))


def test_missing_result_is_one_row(tmp_path: Path, command: Command) -> None:
    first = write_run(tmp_path / "a", RESULT, make_sample_result("lstm", "Order", 600))
    code, out, _ = command("verify", first, write_run(tmp_path / "b", RESULT))
    assert code == 1
    assert [row.split("│")[4].strip() for row in out.splitlines() if "lstm" in row] == ["all"]
    assert "only in A" in out


def test_result_with_same_inputs_is_found_first(tmp_path: Path, command: Command) -> None:
    """Of two results of an encoder on other data, each is compared with its own."""
    other = replace(answer(RESULT, 400), dataset_fingerprint="feedbeef00")
    runs = [write_run(tmp_path / "a", RESULT, other), write_run(tmp_path / "b", other, RESULT)]
    assert "different" not in check_success(command("verify", *runs))


def test_last_run_into_a_folder_is_repeated(tmp_path: Path, command: Command) -> None:
    run = tmp_path / "run"
    words = "compeval --task Content1Probe -e bow?dim=2 --train 56 --test 56 --set max_epochs=1 --jobs 1 --no-controls"
    check_success(command("run", *words.split(), "--seeds", 2, "--out", run))
    assert check_success(command("verify", run)) == "1 figure: 1 equal.\n"
    check_success(command("run", *words.split(), "--out", run))
    assert check_success(command("verify", run)) == (
        "1 figure: 1 equal.\nNot repeated: 1 probe of other runs; run.toml is of the last.\n"
    )


@pytest.mark.slow
def test_run_is_repeated(tmp_path: Path, command: Command) -> None:
    run = tmp_path / "run"
    words = "compeval --task Content1Probe -e bow?dim=4 --train 60 --test 40 --set max_epochs=3 --jobs 1"
    check_success(command("run", *words.split(), "--out", run))
    assert check_success(command("verify", run)) == "7 figures: 7 equal.\n"
    write_result(RESULT, run)
    again = check_success(command("verify", run))
    assert "7 figures: 7 equal." in again
    assert "Not repeated: " in again
    (run / "run.toml").write_text((run / "run.toml").read_text().replace("max_epochs=3", "max_epochs=2"))
    code, row = read_probe(command, run)
    assert (code, row["verdict"], row["differs"]) == (1, "different", "max_epochs 3 and 2")


def test_stranger_needs_trust(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", RESULT)
    (run / "run.toml").write_text('targets = ["compeval"]\nencoder = ["python:evil"]\n')
    check_refusal(command("verify", run), f"{run}: cannot be repeated: probe run failed with exit code 2", 1)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("st:./zzz", "there is no folder ./zzz in {here}, where the paths of a run file begin\n"),
        (
            "st:./models/mien",
            "there is no folder ./models/mien in {here}, where the paths of a run file begin (did you",
        ),
        ("hf:my-model", "opens a connection, which a run file may not ask for: add --trust if you trust the file, or"),
        ("hf:my-model", "; there is no folder my-model in {here}, where the paths of a run file begin\n"),
    ],
)
def test_model_of_another_folder_is_named(spec: str, message: str, working_folder: Path, command: Command) -> None:
    """The run file names a model by a path that begins in the folder of the run; verify is called in another."""
    run = write_run(working_folder / "run", RESULT)
    (working_folder / "models" / "mine").mkdir(parents=True)
    (run / "run.toml").write_text(f'targets = ["compeval"]\nencoder = ["{spec}"]\n')
    assert command("verify", run)[0] == 1
    message = message.format(here=working_folder)
    code, _, err = command("run", "--config", run / "run.toml")
    assert code == 2
    assert err.startswith(f"probe: {run}/run.toml, line 2: encoder {spec}")
    assert message in err


def test_module_in_a_strangers_folder_is_not_imported(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "run", RESULT)
    (run / "run.toml").write_text('targets = ["none"]\n')
    (run / "typer.py").write_text("open('imported', 'w')")
    monkeypatch.chdir(run)
    check_refusal(command("verify", "."), ".: cannot be repeated: probe run failed with exit code 2", 1)
    assert not Path("imported").exists()


def test_folder_without_run_file_is_refused(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", RESULT)
    (run / "run.toml").unlink(missing_ok=True)
    check_refusal(
        command("verify", run), f"{run}: has no run.toml, which probe run --out writes; name a second results folder"
    )
    check_refusal(command("verify", run, tmp_path / "none"), f"{tmp_path / 'none'}: no such folder of results")
