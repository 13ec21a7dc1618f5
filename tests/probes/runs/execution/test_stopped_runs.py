"""A run that is stopped keeps its finished probes, and the same run continues."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.common.errors import SentprobeError
from sentprobe.common.scratch import hold_lock
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.results import store
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Result
from sentprobe.probes.results.store import read_results, write_result
from sentprobe.probes.runs import runner
from sentprobe.probes.runs.run import run

DATA = make_learnable_dataset(name="one", size=40)
FAST = replace(find_preset("ettinger"), max_epochs=1)


def run_in_folder(folder: Path, *, force: bool = False) -> Result:
    encoder = make_encoder("bow?dim=4", seed=1)
    (result,) = run([DATA], [encoder], preset=FAST, out=folder, seeds=2, force=force).records
    return replace(result, seconds={})


def stop_after(finished: int, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next run stop when it has trained the probes of *finished* conditions."""
    work, count = runner._call_work, iter(range(finished))

    def call_work(*arguments: Any) -> Any:
        if next(count, None) is None:
            raise error
        return work(*arguments)

    monkeypatch.setattr(runner, "_call_work", call_work)


def list_stored_conditions(folder: Path) -> list[Condition]:
    return [condition for result in read_results(folder).records for condition in result.scores]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), SentprobeError("training diverged")])
@pytest.mark.parametrize("finished", range(len(USUAL_CONDITIONS)))
def test_finished_probes_are_kept(
    finished: int, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_in_folder(tmp_path / "whole")
    assert len(whole.scores) == len(USUAL_CONDITIONS)
    with monkeypatch.context() as patch:
        stop_after(finished, error, patch)
        with pytest.raises(type(error)):
            run_in_folder(tmp_path / "stopped")
    stored = list_stored_conditions(tmp_path / "stopped")
    assert len(stored) == finished
    assert stored == [condition for condition in whole.scores if condition in stored]
    assert run_in_folder(tmp_path / "stopped") == whole
    assert list_stored_conditions(tmp_path / "stopped") == list_stored_conditions(tmp_path / "whole")


def test_a_stopped_run_that_replaces_results_keeps_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in_folder(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.json")}
    stop_after(2, KeyboardInterrupt(), monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        run_in_folder(tmp_path, force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.json")} == before


def test_an_interrupt_while_a_result_is_saved_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, stops = write_result, iter([KeyboardInterrupt()])

    def write_after_stop(result: Result, directory: Path) -> Path:
        for stop in stops:
            raise stop
        return write(result, directory)

    monkeypatch.setattr(store, "write_result", write_after_stop)
    with pytest.raises(KeyboardInterrupt):
        run_in_folder(tmp_path)
    assert len(list_stored_conditions(tmp_path)) == len(USUAL_CONDITIONS)


def test_a_stopped_run_does_not_wait_for_a_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The reason of the stop is raised, and the error of saving is logged."""
    monkeypatch.setattr(runner, "STOPPED_WAIT_SECONDS", 0.0)
    stop_after(2, KeyboardInterrupt(), monkeypatch)
    with hold_lock(tmp_path, command="other"), pytest.raises(KeyboardInterrupt):
        run_in_folder(tmp_path)
    assert list_stored_conditions(tmp_path) == []
    assert "are not kept" in caplog.text
    assert "waited 0 minutes" in caplog.text
