"""Results folders: foreign folders stay unchanged, each file is written atomically."""

import errno
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.strategies.probe_strategies import make_sample_result, results
from hypothesis import given

from sentprobe.common.errors import ResultsError, UsageError
from sentprobe.common.files import write_atomically
from sentprobe.probes.classifier.presets import override
from sentprobe.probes.results.result import Result
from sentprobe.probes.results.store import (
    MARKER,
    check_directory,
    find_result,
    make_file_name,
    prepare_directory,
    read_results,
    read_results_by_recipe,
    write_result,
    write_run_file,
)

SAMPLE = make_sample_result("bow", "content1", 900, 500, 510)


@given(results())
def test_file_name_is_plain(result: Result) -> None:
    name = make_file_name(result)
    assert name.endswith(".json")
    assert "/" not in name


def test_long_names_in_any_script_fit_into_a_file_name(tmp_path: Path) -> None:
    result = replace(SAMPLE, encoder="st:" + "文" * 90, task="題" * 90)
    write_result(result, tmp_path)
    assert find_result(result, tmp_path) == result


def test_what_was_made_otherwise_has_a_file_of_its_own() -> None:
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


def test_directory_that_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="not empty, and not a directory of sentprobe's"):
        prepare_directory(tmp_path)
    with pytest.raises(UsageError, match="not a directory of sentprobe's results"):
        read_results(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_directory_that_holds_one_of_ours(tmp_path: Path) -> None:
    prepare_directory(tmp_path / "probes")
    with pytest.raises(UsageError) as caught:
        read_results(tmp_path)
    assert str(caught.value).endswith(f"sentprobe's results; {tmp_path / 'probes'} is one")


def test_foreign_marker(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text("{}")
    with pytest.raises(UsageError, match="not written by sentprobe"):
        prepare_directory(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "\0"])
def test_a_damaged_marker_can_be_removed_and_the_results_stay(tmp_path: Path, text: str) -> None:
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


def test_a_broken_file_among_others_is_not_called_ours(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text("{")
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="not written by sentprobe"):
        prepare_directory(tmp_path)


def test_a_run_that_was_killed_while_it_made_the_directory(tmp_path: Path) -> None:
    (tmp_path / f".{MARKER}.abc.part").write_text("{")
    prepare_directory(tmp_path)
    assert read_results(tmp_path).records == ()


def test_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UsageError, match="cannot write results here: "):
            prepare_directory(out)


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


def test_the_directory_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    prepare_directory(tmp_path / "out")
    write_result(SAMPLE, tmp_path / "out")
    assert len(read_results(tmp_path / "disk").records) == 1


def test_whether_a_directory_can_be_made_is_seen_without_making_it(tmp_path: Path) -> None:
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


def test_below_a_folder_that_may_not_be_written_none_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(UsageError, match="run: cannot write results here: Permission denied"):
        check_directory(tmp_path / "run")


def test_a_directory_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_earlier_result_is_found(tmp_path: Path) -> None:
    assert find_result(SAMPLE, tmp_path) is None
    write_result(SAMPLE, tmp_path)
    assert find_result(replace(SAMPLE, scores={}, dim=0), tmp_path) == SAMPLE
    assert find_result(replace(SAMPLE, seed=1), tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", '{"format": "sentprobe-result 1"}', "\0"])
def test_a_damaged_result_is_named_and_not_used(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    prepare_directory(tmp_path)
    path = write_result(SAMPLE, tmp_path)
    path.write_text(text)
    with caplog.at_level(logging.WARNING):
        assert find_result(SAMPLE, tmp_path) is None
    assert str(path) in caplog.text
    assert "the result is recomputed" in caplog.text
    with pytest.raises(ResultsError, match=path.name.replace("+", r"\+")):
        read_results(tmp_path)


def test_a_result_of_something_else_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_result(SAMPLE, tmp_path)
    write_result(replace(SAMPLE, seed=1), tmp_path).rename(path)
    assert find_result(SAMPLE, tmp_path) is None
    assert "has another encoder, dataset or classifier" in caplog.text
