"""Several processes with one folder of results: each adds its own, and none is lost."""

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from probe_strategies import learnable, sample_result
from processes import ENVIRONMENT, PROBE

from sentprobe.locks import LOCK, locked
from sentprobe.probes.encoders import make_encoder
from sentprobe.probes.runs.keeping import joined, keep
from sentprobe.probes.runs.results import Condition, Made, Result
from sentprobe.probes.runs.run import run
from sentprobe.probes.runs.store import file_name, prepare_directory, read_results, write_result
from sentprobe.probes.runs.vectors import laid_out
from sentprobe.probes.trainer.presets import find_preset

SAMPLE = sample_result("bow", "content1", 900, 500, 510)
DATA = learnable(name="one", size=40)
FAST = replace(find_preset("ettinger"), max_epochs=1)


def seeds_in(folder: Path) -> list[list[int]]:
    (kept,) = read_results(folder).records
    return [[each.seed for each in score.seeds] for score in kept.scores.values()]


def of_seeds(*seeds: int) -> Result:
    """The sample, with the score of its first seed under others."""
    score = SAMPLE.scores[Condition.PROBE]
    chosen = tuple(replace(score.seeds[0], seed=seed) for seed in seeds)
    return replace(SAMPLE, scores={Condition.PROBE: replace(score, seeds=chosen)})


def train(folder: Path, *, seeds: int, command: str = "", force: bool = False) -> None:
    encoder = make_encoder("bow?dim=4", seed=0)
    run([DATA], [encoder], preset=FAST, out=folder, seeds=seeds, command=command, force=force)


def beside(monkeypatch: pytest.MonkeyPatch, other: Callable[[], None]) -> None:
    """Have *other* done in the middle of the next run: after it has read, before it writes."""
    place = "sentprobe.probes.runs.runner.laid_out"

    def first(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(place, laid_out)
        other()
        return laid_out(*given, **named)

    monkeypatch.setattr(place, first)


@pytest.mark.parametrize(("seeds", "others"), [(1, 3), (3, 1)])
def test_runs_of_other_seeds_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: int, others: int
) -> None:
    beside(monkeypatch, lambda: train(tmp_path, seeds=others))
    train(tmp_path, seeds=seeds)
    assert seeds_in(tmp_path) == [[0, 1, 2]] * 5
    assert not (tmp_path / LOCK).exists()


def test_what_is_done_anew_replaces_what_was_there_and_not_what_came_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(tmp_path, seeds=3)
    train(tmp_path, seeds=1, force=True)
    assert seeds_in(tmp_path) == [[0]] * 5
    beside(monkeypatch, lambda: train(tmp_path, seeds=2))
    train(tmp_path, seeds=1, force=True, command="anew")
    assert seeds_in(tmp_path) == [[0, 1]] * 5
    (kept,) = read_results(tmp_path).records
    first, second = kept.scores[Condition.PROBE].seeds
    assert (kept.command, first.made) == ("anew", None)
    assert second.made is not None
    assert second.made.command == ""


def test_many_writers_at_one_file(tmp_path: Path) -> None:
    prepare_directory(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(lambda seed: keep(of_seeds(seed), tmp_path), range(40))] == [None] * 40
    assert seeds_in(tmp_path) == [[*range(40)]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [file_name(SAMPLE), "run.json"]


def test_ones_own_seeds_count() -> None:
    mine = replace(of_seeds(0, 1), command="mine")
    theirs = replace(of_seeds(1, 2), command="theirs")
    made = {each.seed: each.made for each in joined(mine, theirs).scores[Condition.PROBE].seeds}
    assert made == {0: None, 1: None, 2: Made("theirs", theirs.versions, theirs.device)}


def test_a_damaged_file_is_written_over(tmp_path: Path) -> None:
    prepare_directory(tmp_path)
    write_result(SAMPLE, tmp_path).write_text("{")
    keep(of_seeds(7), tmp_path)
    assert seeds_in(tmp_path) == [[7]]


def test_seeds_of_another_encoder_in_that_file_are_not_taken(tmp_path: Path) -> None:
    """As when somebody copied it there, or two digests are equal."""
    prepare_directory(tmp_path)
    other = replace(of_seeds(5), encoder_fingerprint="another")
    write_result(other, tmp_path).replace(tmp_path / file_name(SAMPLE))
    keep(of_seeds(7), tmp_path)
    assert seeds_in(tmp_path) == [[7]]


def test_a_lock_that_is_a_link_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError), locked(tmp_path, wait=True):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_lock_that_a_killed_process_left_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    prepare_directory(tmp_path)
    keep(SAMPLE, tmp_path)
    assert not (tmp_path / LOCK).exists()


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    with locked(tmp_path, wait=False) as first, locked(tmp_path, wait=False) as second:
        assert (first, second) == (True, False)
    with locked(tmp_path, wait=False) as third:
        assert third


@pytest.mark.slow
def test_processes_with_one_folder(tmp_path: Path) -> None:
    """As an array job of a cluster starts them: other seeds, other encoders, all at once."""
    line = (*PROBE, "run", "compeval", "--task", "Order", "--train", "40", "--test", "20")
    rest = ("--set", "max_epochs=1", "--no-cache", "--jobs", "1", "--out", str(tmp_path / "out"))
    lines = [
        (*line, "-e", encoder, "--seeds", seeds, *rest)
        for encoder in ("bow?dim=4", "bow?dim=8")
        for seeds in ("1", "3")
    ]
    running = [subprocess.Popen(each, env=ENVIRONMENT, stdout=subprocess.DEVNULL) for each in lines]
    assert [each.wait(timeout=300) for each in running] == [0] * 4
    found = read_results(tmp_path / "out").records
    seeds = [[each.seed for each in score.seeds] for one in found for score in one.scores.values()]
    assert (len(found), {*map(tuple, seeds)}) == (2, {(0, 1, 2)})
