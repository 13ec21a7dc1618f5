"""Ctrl-C: each command prints which work is kept, and how to resume."""

from pathlib import Path

import pytest
from in_process import Command

from sentprobe.commands.data import build
from sentprobe.probes.runs import run as runs

GOES_ON = "the same command resumes from there"


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--out", "r"], f"finished work is kept in r; {GOES_ON}"),
        ([], "only sentence vectors are kept, in the cache; use --out to keep results and resume "
             "a run"),
        (["--no-cache"], "nothing is kept; use --out to keep results and resume a run"),
    ],
)  # fmt: skip
def test_a_run(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, options: list[str], kept: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runs, "execute_request", interrupt)
    assert command("run", "compeval", *options) == (130, "", f"probe: stopped; {kept}\n")


def test_a_build(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "build_into", interrupt)
    message = f"finished datasets are in {tmp_path}; the same command rebuilds all"
    stopped = (130, "", f"probe: stopped; {message} datasets\n")
    assert command("build", "compeval", "--out", tmp_path) == stopped


@pytest.mark.parametrize(
    ("options", "kept"),
    [([], f"finished vectors are in the cache; {GOES_ON}"), (["--no-cache"], "nothing is kept with --no-cache")],
)
def test_embedding(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, options: list[str], kept: str
) -> None:
    monkeypatch.setattr("sentprobe.probes.encoders.cache.embedding.embed", interrupt)
    (tmp_path / "in.txt").write_text("the man slept\n")
    arguments = ("embed", tmp_path / "in.txt", "--encoder", "bow", "--out", tmp_path / "v.npz")
    code, out, err = command(*arguments, *options)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == f"probe: stopped; {kept}"
