"""The path of the cache, and the removal of empty folders after a failure."""

import os
from pathlib import Path

import pytest

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.files import atomic_folder, atomic_new_folder, atomic_path, find_cache_directory, making_folder


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SENTPROBE_CACHE": "/a/b", "XDG_CACHE_HOME": "/c"}, "/a/b"),
        ({"SENTPROBE_CACHE": "", "XDG_CACHE_HOME": "/c"}, "/c/sentprobe"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/home/me"}, "/home/me/.cache/sentprobe"),
        ({"HOME": "/home/me"}, "/home/me/.cache/sentprobe"),
    ],
)
def test_cache_directory_follows_environment(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SENTPROBE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert find_cache_directory() == Path(expected)


def test_cache_directory_without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("SENTPROBE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", fail)
    assert find_cache_directory() == Path("/.cache/sentprobe")


@pytest.mark.parametrize("existing_folder", [".", "above", "above/work"])
def test_failure_removes_new_empty_folders(tmp_path: Path, existing_folder: str) -> None:
    (tmp_path / existing_folder).mkdir(parents=True, exist_ok=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(KeyboardInterrupt), making_folder(tmp_path / "above" / "work"):
        assert (tmp_path / "above" / "work").is_dir()
        raise KeyboardInterrupt
    assert sorted(tmp_path.rglob("*")) == before


def test_failure_leaves_written_files(tmp_path: Path) -> None:
    file = tmp_path / "above" / "work" / "file"
    with pytest.raises(KeyboardInterrupt), making_folder(file.parent):
        file.touch()
        raise KeyboardInterrupt
    assert file.exists()


@pytest.fixture
def operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record renames, and flushes of the folder."""
    recorded: list[str] = []
    rename, flush, place = Path.replace, os.fsync, tmp_path.stat()

    def record_rename(path: Path, target: Path) -> Path:
        recorded.append("rename")
        return rename(path, target)

    def record_flush(file: int) -> None:
        if os.path.samestat(os.fstat(file), place):
            recorded.append("flush")
        flush(file)

    monkeypatch.setattr(Path, "replace", record_rename)
    monkeypatch.setattr(Path, "rename", record_rename)
    monkeypatch.setattr(os, "fsync", record_flush)
    return recorded


def test_folder_is_flushed_after_rename(tmp_path: Path, operations: list[str]) -> None:
    with atomic_path(tmp_path / "a") as path:
        path.write_text("new")
    assert operations == ["rename", "flush"]
    operations.clear()
    with atomic_folder(tmp_path / "b") as folder:
        (folder / "c").write_text("new")
    assert operations == ["rename", "flush"]


def test_unreadable_folder_is_not_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_file = os.open

    def refuse_folders(path: Path, flags: int, *rest: int, **named: int) -> int:
        if Path(path) == tmp_path:
            raise PermissionError(13, "Permission denied", str(path))
        return open_file(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refuse_folders)
    with atomic_path(tmp_path / "a") as path:
        path.write_text("new")
    assert (tmp_path / "a").read_text() == "new"


NEW_FILES = ("a.jsonl", "qrels/test.tsv")


def write_new_folder(folder: Path, text: str = "text") -> None:
    with atomic_new_folder(folder, NEW_FILES) as new_folder:
        (new_folder / "qrels").mkdir()
        for name in NEW_FILES:
            (new_folder / name).write_text(text)


def test_failed_flush_allows_another_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, flush = tmp_path.stat(), os.fsync

    def fail(file: int) -> None:
        if os.path.samestat(os.fstat(file), place):
            raise OSError(5, "Input/output error")
        flush(file)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(SentprobeError, match="Input/output error"):
        write_new_folder(tmp_path / "out")
    monkeypatch.setattr(os, "fsync", flush)
    write_new_folder(tmp_path / "out")
    assert [(tmp_path / "out" / name).read_text() for name in NEW_FILES] == ["text", "text"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_folder_with_other_contents_stays(tmp_path: Path) -> None:
    write_new_folder(tmp_path / "out")
    with pytest.raises(UsageError, match="not a new or empty folder"):
        write_new_folder(tmp_path / "out", "other text")
    for name in ("b", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "b" / "empty").mkdir()
    for name in ("b", "file"):
        (tmp_path / "file").touch()
        with (
            pytest.raises(UsageError, match="not a new or empty folder"),
            atomic_new_folder(tmp_path / name, NEW_FILES),
        ):
            raise AssertionError("refused before the work")
    write_new_folder(tmp_path / "empty")
    assert [(tmp_path / "out" / name).read_text() for name in NEW_FILES] == ["text", "text"]
