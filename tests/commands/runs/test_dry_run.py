"""``probe run --dry-run``: missing results and estimated time; nothing is written."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import Command
from probe_strategies import make_learnable_dataset

from sentprobe.commands.shared.options import ItemOptions
from sentprobe.commands.shared.target_options import parse_targets
from sentprobe.probes.dataset import Split
from sentprobe.probes.formats import write_dataset
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Result, Results
from sentprobe.probes.runs.execution.completed_tasks import CompletedTasks
from sentprobe.probes.runs.execution.runner import run_tasks
from sentprobe.probes.runs.execution.task import Task
from sentprobe.probes.runs.forecast import forecast, measured_speed
from sentprobe.probes.runs.request.run_request import ProbeInputs, ProbeTraining, RunRequest
from sentprobe.probes.trainer.presets import find_preset, override
from sentprobe.progress import SilentReporter
from sentprobe.specs import parse_spec

TINY = ("--task", "Order", "--train", "56", "--test", "28", "--set", "max_epochs=2", "--jobs", "1")


def test_what_is_there_and_what_is_not(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    out = tmp_path / "run"
    arguments = ("run", "compeval", *TINY, "--out", out)
    bow = ("-e", "bow?dim=8")
    code, stdout, _ = command(*arguments, *bow, "--dry-run")
    assert code == 0
    assert "5 probes: probe, random-sentences, random-probes, bag-of-words, no-sentence" in stdout
    assert "0 results found, 1 missing. Nothing was written.\nAbout " in stdout
    assert not out.exists()
    assert command(*arguments, *bow)[0] == 0
    before = sorted(out.iterdir())
    _, stdout, _ = command(*arguments, *bow, "-e", "majority", "--dry-run")
    assert "nothing" in stdout
    assert "1 result found, 1 missing." in stdout
    _, stdout, _ = command(*arguments, *bow, "--dry-run")
    assert stdout.endswith("1 result found, 0 missing. Nothing was written.\n")
    assert sorted(out.iterdir()) == before


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_draws_are_counted_as_the_run_then_makes_them(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run = ("run", "compeval", *TINY, "-e", "bow?dim=8", "--no-controls", "--no-cache")
    out = ("--out", tmp_path / "run")
    assert command(*run, "--draws", 1, *out)[0] == 0
    before = files_in(tmp_path / "run")
    _, stdout, _ = command(*run, "--draws", 3, *out, "--dry-run")
    assert "2 probes in 2 of 3 draws: probe" in stdout
    assert "1 result found, 2 missing. Nothing was written.\nAbout " in stdout
    assert files_in(tmp_path / "run") == before
    _, _, stderr = command(*run, "--draws", 3, *out)
    assert stderr.endswith("1 result found, 2 made\n")
    _, stdout, _ = command(*run, "--draws", 3, *out, "--dry-run")
    assert stdout.endswith("3 results found, 0 missing. Nothing was written.\n")


def test_draws_of_datasets_that_are_read(tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "one")
    run = ("run", tmp_path / "one", "-e", "bow?dim=8", "--set", "max_epochs=2", "--jobs", 1)
    out = ("--no-controls", "--no-cache", "--out", tmp_path / "run")
    assert command(*run, *out)[0] == 0
    _, stdout, _ = command(*run, *out, "--draws", 2, "--dry-run")
    assert "1 result found, 1 missing." in stdout
    assert command(*run, *out, "--draws", 2)[2].endswith("1 result found, 1 made\n")


SECONDS = st.floats(0, 1e4)


@given(SECONDS, SECONDS, st.integers(1, 500), st.integers(1, 500), st.integers(0, 10_000))
def test_the_line_is_never_below_what_was_measured_nor_above_its_share(
    less: float, more: float, few: int, further: int, beyond: int
) -> None:
    many = few + further
    size = many + beyond
    actual = measured_speed.extrapolate(size, (few, less), (many, more))
    assert more * (1 - 1e-9) <= actual <= more * size / many * (1 + 1e-9) + 1e-9


@given(SECONDS, SECONDS, st.integers(1, 400), st.integers(1, 400), st.integers(0, 10_000))
def test_what_is_on_a_line_is_found(fixed: float, slope: float, few: int, further: int, beyond: int) -> None:
    many = few + further
    names = [(count, fixed + slope * count) for count in (few, many)]
    expected = fixed + slope * (many + beyond)
    assert measured_speed.extrapolate(many + beyond, *names) == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_a_cut_dataset_asks_only_what_training_has() -> None:
    small = measured_speed.sample_dataset(make_learnable_dataset(name="one", size=400), dict.fromkeys(Split, 40))
    assert {split: len(items) for split, items in small.splits.items()}[Split.TRAIN] == 40
    train, test = small.splits[Split.TRAIN], small.splits[Split.TEST]
    assert {*test.targets.tolist()} <= {*train.targets.tolist()}


def test_datasets_that_are_read(tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "one")
    options = ("-e", "bow?dim=8", "--set", "max_epochs=2", "--jobs", "1", "--dry-run")
    code, stdout, stderr = command("run", tmp_path / "one", *options)
    assert code == 0
    assert "0 results found, 1 missing." in stdout
    assert {line.split(":")[0] for line in stderr.splitlines()} == {"small run"}


def test_a_folder_that_the_run_would_refuse(tmp_path: Path, command: Command) -> None:
    (tmp_path / "thesis.tex").touch()
    run = ("run", "compeval", *TINY, "-e", "bow?dim=8", "--out", tmp_path)
    refused = command(*run, "--dry-run")
    assert refused == command(*run)
    message = f"probe: {tmp_path}: not empty, and not a directory of sentprobe's results\n"
    assert refused == (2, "", message)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


START, EACH = 0.5, 0.01
"""What a step takes here, in seconds: a part that is always the same, and one for each item."""


def run_by_item(tasks: Sequence[Task], *args: Any, **options: Any) -> CompletedTasks:
    """Run the tasks with recorded times that grow linearly with the number of items."""
    ran = run_tasks(tasks, *args, **options)
    items = {task.name: sum(map(len, task.data.splits.values())) for task in tasks}
    records = [
        replace(result, seconds=_seconds(result, START + EACH * items[result.task])) for result in ran.results.records
    ]
    return ran._replace(results=Results(tuple(records)))


def _seconds(result: Result, step: float) -> dict[str, float]:
    bag = result.seconds.get(Condition.BAG_OF_WORDS)
    return {key: step if spent == bag else 2 * step for key, spent in result.seconds.items()}


@pytest.mark.parametrize(("train", "seeds"), [(400, 1), (40_000, 1), (40_000, 10)])
def test_small_runs_stand_for_all_items_and_seeds(train: int, seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "run_tasks", run_by_item)
    monkeypatch.setattr(forecast, "time", SimpleNamespace(perf_counter=count().__next__))
    inputs = ProbeInputs(
        targets=parse_targets(["compeval"], ["Order"], items=ItemOptions(train=train, test=100)),
        encoders=[parse_spec("bow?dim=8")],
    )
    preset = override(find_preset("ettinger"), [("max_epochs", "2")])
    training = ProbeTraining(seeds=seeds, preset=preset)
    actual = forecast.make_forecast(RunRequest(inputs=inputs, training=training), reporter=SilentReporter())
    step = START + EACH * (train + 100)
    assert actual.encode == pytest.approx(2 * step)
    # The encoder is that of the bag-of-words control: of five probes it alone is for nothing.
    assert actual.train == pytest.approx((1 + 3 * 2) * seeds * step)
    assert actual.build == pytest.approx(((train + 100) / 500) ** forecast.GROWTH)
    assert actual.planned[0].missing == dict.fromkeys(USUAL_CONDITIONS, tuple(range(seeds)))
