"""Several processes with one results folder: each adds its seeds, and none is lost."""

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import ENVIRONMENT, PROBE
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result

from sentprobe.common.scratch import LOCK, hold_lock
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Provenance, Result
from sentprobe.probes.results.store import (
    make_file_name,
    merge_seeds,
    prepare_directory,
    read_results,
    save_result,
    write_result,
)
from sentprobe.probes.runs import runner
from sentprobe.probes.runs.job_vectors import arrange_vectors
from sentprobe.probes.runs.run import run

SAMPLE = make_sample_result("bow", "content1", 900, 500, 510)
DATA = make_learnable_dataset(name="one", size=40)
FAST = replace(find_preset("ettinger"), max_epochs=1)


def read_seeds(folder: Path) -> list[list[int]]:
    (result,) = read_results(folder).records
    return [[seed_score.seed for seed_score in score.seeds] for score in result.scores.values()]


def make_result_with_seeds(*seeds: int) -> Result:
    """The sample, with the score of its first seed under concurrent_seeds."""
    score = SAMPLE.scores[Condition.PROBE]
    chosen = tuple(replace(score.seeds[0], seed=seed) for seed in seeds)
    return replace(SAMPLE, scores={Condition.PROBE: replace(score, seeds=chosen)})


def run_in_folder(folder: Path, *, seeds: int, command: str = "", force: bool = False) -> None:
    encoder = make_encoder("bow?dim=4", seed=0)
    run([DATA], [encoder], preset=FAST, out=folder, seeds=seeds, command=command, force=force)


def patch_concurrent_action(monkeypatch: pytest.MonkeyPatch, action: Callable[[], None]) -> None:
    """Execute *action* in the middle of the next run: after it has read, before it writes."""
    name = arrange_vectors.__name__

    def run_action_first(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(runner, name, arrange_vectors)
        action()
        return arrange_vectors(*args, **kwargs)

    monkeypatch.setattr(runner, name, run_action_first)


@pytest.mark.parametrize(("seeds", "concurrent_seeds"), [(1, 3), (3, 1)])
def test_runs_of_other_seeds_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: int, concurrent_seeds: int
) -> None:
    patch_concurrent_action(monkeypatch, lambda: run_in_folder(tmp_path, seeds=concurrent_seeds))
    run_in_folder(tmp_path, seeds=seeds)
    assert read_seeds(tmp_path) == [[0, 1, 2]] * len(USUAL_CONDITIONS)
    assert not (tmp_path / LOCK).exists()


def test_what_is_done_anew_replaces_what_was_there_and_not_what_came_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in_folder(tmp_path, seeds=3)
    run_in_folder(tmp_path, seeds=1, force=True)
    assert read_seeds(tmp_path) == [[0]] * len(USUAL_CONDITIONS)
    patch_concurrent_action(monkeypatch, lambda: run_in_folder(tmp_path, seeds=2))
    run_in_folder(tmp_path, seeds=1, force=True, command="anew")
    assert read_seeds(tmp_path) == [[0, 1]] * len(USUAL_CONDITIONS)
    (result,) = read_results(tmp_path).records
    first, second = result.scores[Condition.PROBE].seeds
    assert (result.command, first.provenance) == ("anew", None)
    assert second.provenance is not None
    assert second.provenance.command == ""


def test_many_writers_at_one_file(tmp_path: Path) -> None:
    prepare_directory(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(lambda seed: save_result(make_result_with_seeds(seed), tmp_path), range(40))] == [None] * 40
    assert read_seeds(tmp_path) == [[*range(40)]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [make_file_name(SAMPLE), "run.json"]


def test_ones_own_seeds_count() -> None:
    own_result = replace(make_result_with_seeds(0, 1), command="mine")
    stored_result = replace(make_result_with_seeds(1, 2), command="theirs")
    provenances = {
        seed_score.seed: seed_score.provenance
        for seed_score in merge_seeds(own_result, stored_result).scores[Condition.PROBE].seeds
    }
    assert provenances == {0: None, 1: None, 2: Provenance("theirs", stored_result.versions, stored_result.device)}


def test_a_damaged_file_is_written_over(tmp_path: Path) -> None:
    prepare_directory(tmp_path)
    write_result(SAMPLE, tmp_path).write_text("{")
    save_result(make_result_with_seeds(7), tmp_path)
    assert read_seeds(tmp_path) == [[7]]


def test_seeds_of_another_encoder_in_that_file_are_not_taken(tmp_path: Path) -> None:
    """As when somebody copied it there, or two digests are equal."""
    prepare_directory(tmp_path)
    other_result = replace(make_result_with_seeds(5), encoder_fingerprint="another")
    write_result(other_result, tmp_path).replace(tmp_path / make_file_name(SAMPLE))
    save_result(make_result_with_seeds(7), tmp_path)
    assert read_seeds(tmp_path) == [[7]]


def test_a_lock_that_is_a_link_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError), hold_lock(tmp_path, wait=1):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_lock_that_a_killed_process_left_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    prepare_directory(tmp_path)
    save_result(SAMPLE, tmp_path)
    assert not (tmp_path / LOCK).exists()


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    with hold_lock(tmp_path) as first, hold_lock(tmp_path) as second:
        assert (first, second) == (True, False)
    with hold_lock(tmp_path) as third:
        assert third


@pytest.mark.slow
def test_processes_with_one_folder(tmp_path: Path) -> None:
    """As an array job of a cluster starts them: other seeds, other encoders, all at once."""
    line = (*PROBE, "run", "compeval", "--task", "Order", "--train", "40", "--test", "20")
    options = ("--set", "max_epochs=1", "--no-cache", "--jobs", "1", "--out", str(tmp_path / "out"))
    lines = [
        (*line, "-e", encoder, "--seeds", seeds, *options)
        for encoder in ("bow?dim=4", "bow?dim=8")
        for seeds in ("1", "3")
    ]
    running = [subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL) for command in lines]
    assert [process.wait(timeout=300) for process in running] == [0] * 4
    records = read_results(tmp_path / "out").records
    seeds = [[seed_score.seed for seed_score in score.seeds] for record in records for score in record.scores.values()]
    assert (len(records), {*map(tuple, seeds)}) == (2, {(0, 1, 2)})
