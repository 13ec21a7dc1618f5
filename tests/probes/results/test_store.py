"""Results folders: foreign folders stay unchanged, files are written atomically, several processes share one."""

import errno
import logging
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import ENVIRONMENT, PROBE
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result, results
from hypothesis import given

from sentprobe.common.errors import ResultsError, UsageError
from sentprobe.common.files import write_atomically
from sentprobe.common.scratch import LOCK, hold_lock
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Provenance, Result
from sentprobe.probes.results.store import (
    MARKER,
    check_directory,
    find_result,
    make_file_name,
    merge_seeds,
    prepare_directory,
    read_results,
    read_results_by_recipe,
    save_result,
    write_result,
    write_run_file,
)
from sentprobe.probes.runs import runner
from sentprobe.probes.runs.job_vectors import arrange_vectors
from sentprobe.probes.runs.run import run

SAMPLE = make_sample_result("bow", "content1", 900, 500, 510)


@given(results())
def test_file_name_is_plain(result: Result) -> None:
    name = make_file_name(result)
    assert name.endswith(".json")
    assert "/" not in name


def test_long_names_fit_into_file_names(tmp_path: Path) -> None:
    result = replace(SAMPLE, encoder="st:" + "文" * 90, task="題" * 90)
    write_result(result, tmp_path)
    assert find_result(result, tmp_path) == result


def test_different_results_have_different_files() -> None:
    changed = [
        replace(SAMPLE, task="content_1"),
        replace(SAMPLE, encoder="b/w"),
        replace(SAMPLE, encoder="b w"),
        replace(SAMPLE, encoder_fingerprint="1"),
        replace(SAMPLE, dataset_fingerprint="1"),
        replace(SAMPLE, seed=1),
        replace(SAMPLE, preset=override(SAMPLE.preset, [("l2", "0.00010000000001")])),
    ]
    assert len({make_file_name(result) for result in [SAMPLE, *changed]}) == 8
    assert make_file_name(replace(SAMPLE, command="x", versions={"y": "1"})) == make_file_name(SAMPLE)


def test_results_are_read_by_file_name(tmp_path: Path) -> None:
    prepare_directory(tmp_path)
    results_written = [replace(SAMPLE, task=task) for task in ("b", "a", "c")]
    for result in results_written:
        write_result(result, tmp_path)
    (tmp_path / ".half.json.x.part").write_text("{")
    assert read_results(tmp_path).records == tuple(sorted(results_written, key=make_file_name))


@pytest.mark.parametrize(
    ("files", "out", "message"),
    [
        ({"thesis.tex": ""}, "", "not empty, and not a directory of sentprobe's"),
        ({MARKER: "{}"}, "", "not written by sentprobe"),
        ({MARKER: "{", "thesis.tex": ""}, "", "not written by sentprobe"),
        ({"file": ""}, "file", "cannot write results here: "),
        ({"file": ""}, "file/below", "cannot write results here: "),
    ],
)
def test_directory_of_others_is_refused(tmp_path: Path, files: dict[str, str], out: str, message: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=message):
        prepare_directory(tmp_path / out)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


def test_directory_without_results_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="not a directory of sentprobe's results"):
        read_results(tmp_path)
    prepare_directory(tmp_path / "probes")
    with pytest.raises(UsageError) as caught:
        read_results(tmp_path)
    assert str(caught.value).endswith(f"sentprobe's results; {tmp_path / 'probes'} is one")


@pytest.mark.parametrize("text", ["", "{", "\0"])
def test_damaged_marker_can_be_removed(tmp_path: Path, text: str) -> None:
    prepare_directory(tmp_path)
    (tmp_path / MARKER).write_text(text)
    with pytest.raises(ResultsError, match=r"run\.json: damaged; remove it and run again"):
        prepare_directory(tmp_path)
    write_result(SAMPLE, tmp_path)
    with pytest.raises(ResultsError, match="existing results are kept"):
        prepare_directory(tmp_path)
    (tmp_path / MARKER).unlink()
    prepare_directory(tmp_path)
    assert read_results(tmp_path).records == (replace(SAMPLE, source=str(tmp_path)),)


def test_directory_of_killed_run_is_usable(tmp_path: Path) -> None:
    (tmp_path / f".{MARKER}.abc.part").write_text("{")
    prepare_directory(tmp_path)
    assert read_results(tmp_path).records == ()


@pytest.mark.parametrize("name", [MARKER, "run.toml", "x.json", "items", "items/Order.1.parquet", "geometry/x.json"])
@pytest.mark.parametrize("target", ["file", "folder", "nothing"])
def test_no_link_is_written_through(tmp_path: Path, name: str, target: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).symlink_to(tmp_path / target)
    actions: list[Callable[[Path], None]] = [
        prepare_directory,
        check_directory,
        lambda path: write_run_file(path, "a = 1"),
    ]
    for action in actions:
        with pytest.raises(UsageError, match=f"{name}: is a link, and results are not written through links"):
            action(out)
    assert (tmp_path / "file").read_text() == "mine"
    assert [*(tmp_path / "folder").iterdir()] == []
    assert not (tmp_path / "nothing").exists()


def test_directory_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    prepare_directory(tmp_path / "out")
    write_result(SAMPLE, tmp_path / "out")
    assert len(read_results(tmp_path / "disk").records) == 1


def test_check_makes_no_directory(tmp_path: Path) -> None:
    check_directory(tmp_path)
    check_directory(tmp_path / "a" / "b")
    assert [*tmp_path.iterdir()] == []
    (tmp_path / "file").touch()
    refused = (tmp_path, tmp_path / "file", tmp_path / "file" / "below" / "it")
    for out in refused:
        with pytest.raises(UsageError, match=r"not empty, and not|results here: Not a"):
            check_directory(out)
    prepare_directory(tmp_path / "ours")
    check_directory(tmp_path / "ours")
    (tmp_path / "ours" / MARKER).write_text("{}")
    with pytest.raises(UsageError, match="not written by sentprobe"):
        check_directory(tmp_path / "ours")


def test_unwritable_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(UsageError, match="run: cannot write results here: Permission denied"):
        check_directory(tmp_path / "run")


def test_unreadable_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(UsageError, match="cannot read results: Permission denied"):
        read_results_by_recipe(tmp_path)


def test_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_directory(tmp_path)
    path = write_result(SAMPLE, tmp_path)
    before = path.read_bytes()

    def full(*_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ResultsError, match="cannot write it: No space left on device"):
        write_atomically(path, "half")
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([path.name, MARKER])


def test_earlier_result_is_found(tmp_path: Path) -> None:
    assert find_result(SAMPLE, tmp_path) is None
    write_result(SAMPLE, tmp_path)
    assert find_result(replace(SAMPLE, scores={}, dim=0), tmp_path) == SAMPLE
    assert find_result(replace(SAMPLE, seed=1), tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", '{"format": "sentprobe-result 1"}', "\0"])
def test_damaged_result_is_named_and_unused(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    prepare_directory(tmp_path)
    path = write_result(SAMPLE, tmp_path)
    path.write_text(text)
    with caplog.at_level(logging.WARNING):
        assert find_result(SAMPLE, tmp_path) is None
    assert str(path) in caplog.text
    assert "the result is recomputed" in caplog.text
    with pytest.raises(ResultsError, match=path.name.replace("+", r"\+")):
        read_results(tmp_path)


def test_result_under_wrong_name_is_unused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_result(SAMPLE, tmp_path)
    write_result(replace(SAMPLE, seed=1), tmp_path).rename(path)
    assert find_result(SAMPLE, tmp_path) is None
    assert "has another encoder, dataset or classifier" in caplog.text


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
def test_concurrent_runs_merge_their_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: int, concurrent_seeds: int
) -> None:
    patch_concurrent_action(monkeypatch, lambda: run_in_folder(tmp_path, seeds=concurrent_seeds))
    run_in_folder(tmp_path, seeds=seeds)
    assert read_seeds(tmp_path) == [[0, 1, 2]] * len(USUAL_CONDITIONS)
    assert not (tmp_path / LOCK).exists()


def test_forced_run_replaces_only_older_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("content", ["damaged", "another encoder"])
def test_foreign_file_is_written_over(tmp_path: Path, content: str) -> None:
    """Another encoder's result is there when somebody copied it, or two digests are equal."""
    prepare_directory(tmp_path)
    if content == "damaged":
        write_result(SAMPLE, tmp_path).write_text("{")
    else:
        other_result = replace(make_result_with_seeds(5), encoder_fingerprint="another")
        write_result(other_result, tmp_path).replace(tmp_path / make_file_name(SAMPLE))
    save_result(make_result_with_seeds(7), tmp_path)
    assert read_seeds(tmp_path) == [[7]]


def test_linked_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError), hold_lock(tmp_path, wait=1):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_lock_is_held_by_one(tmp_path: Path) -> None:
    with hold_lock(tmp_path) as first, hold_lock(tmp_path) as second:
        assert (first, second) == (True, False)
    with hold_lock(tmp_path) as third:
        assert third
    (tmp_path / LOCK).touch()  # as a killed process leaves it
    prepare_directory(tmp_path)
    save_result(SAMPLE, tmp_path)
    assert not (tmp_path / LOCK).exists()


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
