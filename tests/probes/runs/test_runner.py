"""Runs that are stopped or run again: no job is repeated, no result is lost."""

import errno
import logging
import os
import signal
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import ENVIRONMENT, PROBE, alive, descendants, wait_for
from helpers.strategies.probe_strategies import CountingEncoder, make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sentprobe.common import engines
from sentprobe.common.errors import ResultsError, SentprobeError
from sentprobe.common.scratch import hold_lock
from sentprobe.common.specs import parse_pair, parse_spec
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.results import store
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Provenance, Result, Results, find_provenances
from sentprobe.probes.results.store import MARKER, make_file_name, read_results, write_result
from sentprobe.probes.runs import missing_jobs, runner
from sentprobe.probes.runs.run import execute_request, run
from sentprobe.probes.runs.settings import Run, RunRequest
from sentprobe.probes.runs.suite_options import ItemOptions
from sentprobe.probes.runs.targets import find_targets

FAST = replace(find_preset("ettinger"), max_epochs=2)
CONDITIONS = len(USUAL_CONDITIONS)
DATASETS = [make_learnable_dataset(name="one", size=40), make_learnable_dataset(name="two", size=50)]


def make_counting_encoder(name: str = "bow") -> Any:
    return CountingEncoder(make_encoder("bow?dim=4", seed=0), name=name)


def drop_seconds(results: Results) -> list[Result]:
    """Results without durations, in which equal runs differ."""
    return [replace(record, seconds={}) for record in results.records]


def read_files(directory: Path) -> dict[str, tuple[int, bytes]]:
    files = [path for path in directory.rglob("*") if path.is_file() and path.name != MARKER]
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_second_run_does_nothing(tmp_path: Path) -> None:
    first = run(DATASETS, [make_counting_encoder()], preset=FAST, out=tmp_path)
    before = read_files(tmp_path)
    again = make_counting_encoder()
    assert run(DATASETS, [again], preset=FAST, out=tmp_path) == first
    assert again.encoded_texts == []
    assert read_files(tmp_path) == before


def test_only_missing_work_is_done(tmp_path: Path) -> None:
    run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path)
    more = make_counting_encoder()
    both = run(DATASETS, [more], preset=FAST, out=tmp_path)
    assert set(more.encoded_texts) == set(DATASETS[1].sentences)
    assert drop_seconds(both) == drop_seconds(run(DATASETS, [make_counting_encoder()], preset=FAST))


def list_seeds(fits: list[dict[str, Any]]) -> list[tuple[int, ...]]:
    return [tuple(call["seeds"]) for call in fits]


def test_missing_seeds_are_added(tmp_path: Path, fits: list[dict[str, Any]]) -> None:
    run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path, seeds=2)
    run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path, seeds=3)
    assert list_seeds(fits) == [(0, 1)] * CONDITIONS + [(2,)] * CONDITIONS
    (result,) = read_results(tmp_path).records
    for score in result.scores.values():
        assert [seed_score.seed for seed_score in score.seeds] == [0, 1, 2]


def test_probes_keep_their_provenance(tmp_path: Path) -> None:
    """The first command and its versions are the result's; later ones stand beside their seeds."""

    def run_with(name: str, *, seeds: int, command: str) -> Result:
        run([DATASETS[0]], [make_counting_encoder(name)], preset=FAST, out=tmp_path, seeds=seeds, command=command)
        return next(result for result in read_results(tmp_path).records if result.encoder == name)

    first = run_with("bow", seeds=2, command="one")
    assert (first.command, find_provenances(first)) == ("one", (first.provenance,))
    later = run_with("bow", seeds=3, command="two")
    assert later.command == "one"
    for score in later.scores.values():
        provenances = [seed_score.provenance for seed_score in score.seeds]
        assert provenances == [None, None, Provenance("two", first.versions, "cpu")]
    assert [provenance.command for provenance in find_provenances(later)] == ["one", "two"]
    # Another encoder of this width takes over what is the same for both.
    other_result = run_with("other", seeds=3, command="three")
    commands = {c: [e.provenance and e.provenance.command for e in s.seeds] for c, s in other_result.scores.items()}
    assert commands[Condition.PROBE] == commands[Condition.RANDOM_PROBES] == [None] * 3
    assert commands[Condition.BAG_OF_WORDS] == commands[Condition.RANDOM_SENTENCES] == ["one", "one", "two"]


def test_changed_versions_are_kept_with_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run([DATASETS[0]], [make_counting_encoder()], preset=FAST, out=tmp_path, controls=False)
    monkeypatch.setattr(missing_jobs, "find_versions", lambda *packages: dict.fromkeys(packages, "9"))
    run([DATASETS[0]], [make_counting_encoder()], preset=FAST, out=tmp_path, seeds=2, controls=False)
    (result,) = read_results(tmp_path).records
    first, second = result.scores[Condition.PROBE].seeds
    assert (first.provenance, result.versions["numpy"] == "9") == (None, False)
    assert second.provenance is not None
    assert second.provenance.versions["numpy"] == "9"


def test_fewer_seeds_come_from_the_folder(tmp_path: Path, fits: list[dict[str, Any]]) -> None:
    run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path, seeds=3)
    before = read_files(tmp_path)
    fits.clear()
    result = run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path, seeds=1).records[0]
    assert (fits, len(result.scores[Condition.PROBE].seeds)) == ([], 1)
    assert read_files(tmp_path) == before


def test_missing_controls_are_added(tmp_path: Path, fits: list[dict[str, Any]]) -> None:
    run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path, controls=False)
    results = run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path)
    assert len(fits) == CONDITIONS
    assert drop_seconds(results) == drop_seconds(run(DATASETS[:1], [make_counting_encoder()], preset=FAST))


def test_shared_controls_are_not_trained_again(tmp_path: Path, fits: list[dict[str, Any]]) -> None:
    """The second encoder is as wide as the first: five of its sanity runs are there already."""
    run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path)
    fits.clear()
    results = run(DATASETS[:1], [make_counting_encoder("other")], preset=FAST, out=tmp_path, seeds=2)
    assert sorted(list_seeds(fits)) == [(0, 1), (0, 1), (1,), (1,), (1,), (1,), (1,)]
    alone = run(DATASETS[:1], [make_counting_encoder("other")], preset=FAST, seeds=2)
    shared_scores, separate_scores = results.records[0].scores, alone.records[0].scores
    assert {c: s.accuracy for c, s in shared_scores.items()} == pytest.approx(
        {c: s.accuracy for c, s in separate_scores.items()}, abs=0.1
    )


def test_force_does_all_again(tmp_path: Path, fits: list[dict[str, Any]]) -> None:
    first = run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path)
    second = run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path, force=True)
    assert len(fits) == 2 * CONDITIONS
    assert drop_seconds(first) == drop_seconds(second)


@cache
def run_at_once() -> Results:
    return run(DATASETS, [make_counting_encoder()], preset=FAST, seeds=2)


@examples(8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from([[0], [1], [0, 1]]), st.integers(1, 2), st.booleans()), max_size=3))
def test_earlier_runs_do_not_change_results(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[list[int], int, bool]]
) -> None:
    out = tmp_path_factory.mktemp("run") / "out"
    for places, seeds, controls in history:
        datasets = [DATASETS[place] for place in places]
        run(datasets, [make_counting_encoder()], preset=FAST, out=out, seeds=seeds, controls=controls)
    results = run(DATASETS, [make_counting_encoder()], preset=FAST, out=out, seeds=2)
    for resumed, uninterrupted in zip(results.records, run_at_once().records, strict=True):
        assert resumed.scores.keys() == uninterrupted.scores.keys()
        for condition, score in resumed.scores.items():
            assert score.accuracy == pytest.approx(uninterrupted.scores[condition].accuracy, abs=0.1)


@pytest.mark.parametrize("text", ["", "{", "\0\0"])
def test_damaged_file_is_named_and_replaced(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    first = run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path)
    path = tmp_path / make_file_name(first.records[0])
    path.write_text(text)
    with caplog.at_level(logging.WARNING):
        again = run(DATASETS[:1], [make_counting_encoder()], preset=FAST, out=tmp_path)
    assert str(path) in caplog.text
    assert drop_seconds(first) == drop_seconds(again)
    assert read_results(tmp_path) == again


def test_full_disk_loses_only_current_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced = Path.replace
    full = [False]

    def renames(self: Path, target: Any) -> Path:
        if full[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        full[0] = Path(target).name != MARKER
        return replaced(self, target)

    monkeypatch.setattr(Path, "replace", renames)
    with pytest.raises(ResultsError, match="cannot write it: No space left on device"):
        run(DATASETS, [make_counting_encoder()], preset=FAST, out=tmp_path)
    monkeypatch.setattr(Path, "replace", replaced)
    (result,) = read_results(tmp_path).records
    assert result.task == "one"
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2
    assert len(run(DATASETS, [make_counting_encoder()], preset=FAST, out=tmp_path).records) == 2


def test_no_room_for_what_processes_share(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sentprobe.probes.runs.job_vectors.np.save", full)
    with pytest.raises(SentprobeError, match="no room for the vectors that the processes share"):
        run(DATASETS, [make_counting_encoder()], preset=FAST, jobs=2)


OVERRIDES = ("enough=0", "patience=900", "max_epochs=40")
SAME = (
    "run", "compeval", "--encoder", "bow?dim=30", "--train", "56", "--test", "28", "--seeds", "2",
    "--no-cache", "--jobs", "2", *(part for text in OVERRIDES for part in ("--set", text)),
)  # fmt: skip


def run_here(out: Path | None) -> Results:
    """Run the same as SAME in this process."""
    targets = find_targets(["compeval"], items=ItemOptions(train=56, test=28))
    preset = override(find_preset("ettinger"), [parse_pair(text) for text in OVERRIDES])
    request = RunRequest(targets=targets, encoders=[parse_spec("bow?dim=30")], preset=preset, run=Run(seeds=2, out=out))
    return execute_request(request).results


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
@pytest.mark.slow  # three runs of all tasks
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """After kill -9: no process is left, finished tasks are not trained again, the end is equal."""
    out = tmp_path / "run"
    running = subprocess.Popen(
        [*PROBE, *SAME, "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    wait_for(lambda: out.exists() and len(list(out.glob("[!.]*.json"))) >= 3)
    children = descendants(running.pid)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=20)
    before = {name: stamp for name, stamp in read_files(out).items() if not name.startswith(".")}
    assert 2 <= len([name for name in before if not name.endswith(".parquet")]) < 5
    del before["run.toml"]  # a run from Python, which has none, makes the rest
    wait_for(lambda: not any(map(alive, children)))
    results = run_here(out)
    assert not (out / "run.toml").exists()
    assert {name: stamp for name, stamp in read_files(out).items() if name in before} == before
    complete = run_here(None)
    assert [record.scores for record in results.records] == [r.scores for r in complete.records]


def test_changed_data_is_probed_anew(tmp_path: Path) -> None:
    """The digest of texts and items identifies a result, not the names."""
    original, changed = (DATASETS[0], replace(DATASETS[1], name=DATASETS[0].name, card=DATASETS[0].card))
    (first,) = run([original], [make_counting_encoder()], preset=FAST, out=tmp_path).records
    again = make_counting_encoder()
    (second,) = run([changed], [again], preset=FAST, out=tmp_path).records
    assert set(again.encoded_texts) == set(changed.sentences)
    assert first.dataset_fingerprint != second.dataset_fingerprint
    assert first.data != second.data
    assert set(read_results(tmp_path).records) == {
        replace(first, source=str(tmp_path)),
        replace(second, source=str(tmp_path)),
    }


DATA = make_learnable_dataset(name="one", size=40)
ONE_PASS = replace(find_preset("ettinger"), max_epochs=1)


def run_in_folder(folder: Path, *, force: bool = False) -> Result:
    encoder = make_encoder("bow?dim=4", seed=1)
    (result,) = run([DATA], [encoder], preset=ONE_PASS, out=folder, seeds=2, force=force).records
    return replace(result, seconds={})


def stop_after(finished: int, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next run stop when it has trained the probes of *finished* conditions."""
    work, count = engines.call_work, iter(range(finished))

    def call_work(*arguments: Any) -> Any:
        if next(count, None) is None:
            raise error
        return work(*arguments)

    monkeypatch.setattr(engines, "call_work", call_work)


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


def test_stopped_replacement_keeps_old_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in_folder(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.json")}
    stop_after(2, KeyboardInterrupt(), monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        run_in_folder(tmp_path, force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.json")} == before


def test_interrupt_while_saving_keeps_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, stops = write_result, iter([KeyboardInterrupt()])

    def write_after_stop(result: Result, directory: Path) -> Path:
        for stop in stops:
            raise stop
        return write(result, directory)

    monkeypatch.setattr(store, "write_result", write_after_stop)
    with pytest.raises(KeyboardInterrupt):
        run_in_folder(tmp_path)
    assert len(list_stored_conditions(tmp_path)) == len(USUAL_CONDITIONS)


def test_stopped_run_waits_for_no_lock(
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
