"""MTEB missing or too old is one line; what needs no MTEB is tried without it."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import sentprobe
from sentprobe import mteb
from sentprobe.common.errors import MissingError, UnusableError, UsageError, format_install
from sentprobe.probes.mteb import read_papers
from sentprobe.probes.runs.suites import list_known_tasks


def patch_installed_version(monkeypatch: pytest.MonkeyPatch, version: str | None) -> None:
    def read_version(package: str) -> str:
        if version is None:
            raise metadata.PackageNotFoundError(package)
        return version

    monkeypatch.setattr(mteb, "version", read_version)


def test_missing_mteb_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_installed_version(monkeypatch, None)
    with pytest.raises(MissingError) as caught:
        sentprobe.mteb.tasks("none")
    assert str(caught.value) == (
        f"tasks for MTEB need mteb 2.26 or later, which is not installed: {format_install('mteb')}"
    )


@pytest.mark.parametrize("version", ["1.39.7", "2.9.0", "2.25", "2.25.9", "2"])
def test_older_mteb_is_refused(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    patch_installed_version(monkeypatch, version)
    with pytest.raises(UnusableError, match=f"need mteb 2.26 or later, and {version} is installed"):
        sentprobe.mteb.tasks("none")


@pytest.mark.parametrize("version", ["2.26", "2.26.24", "2.100.1", "3.0"])
def test_later_mteb_is_taken(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    patch_installed_version(monkeypatch, version)
    mteb.need_mteb()


def test_folder_without_tasks_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    patch_installed_version(monkeypatch, "2.26.24")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.md").write_text("mine")
    nothing = r"there are no datasets \(probe build\) and no triplets \(gen pairs\) in it"
    for place, message in (
        (tmp_path / "none", "there is no such file or directory"),
        (tmp_path / "empty", nothing),
        (tmp_path / "empty" / "notes.md", nothing),
    ):
        with pytest.raises(UsageError, match=message):
            sentprobe.mteb.tasks(place)
    with pytest.raises(UsageError, match="unknown preset 'etinger'"):
        sentprobe.mteb.tasks(tmp_path, preset="etinger")


def test_every_paper_is_described() -> None:
    assert {task.preset for task in list_known_tasks()} == {*read_papers()}
    for paper in read_papers().values():
        assert paper["reference"].startswith("https://")
        assert paper["bibtex_citation"].startswith("@inproceedings{")
        assert paper["bibtex_citation"].count("{") == paper["bibtex_citation"].count("}")


def test_naming_mteb_imports_no_library() -> None:
    code = (
        "import sys, sentprobe; sentprobe.mteb.tasks; "
        "print({'mteb', 'torch', 'datasets', 'transformers'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
