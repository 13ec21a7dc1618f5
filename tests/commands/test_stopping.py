"""Ctrl-C: each command says in one line what is kept, and whether the same command goes on."""

from pathlib import Path

import pytest
from in_process import Command

from sentprobe.commands import build, embed
from sentprobe.probes.runs import run as runs

GOES_ON = "and the same command goes on from there"


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--out", "r"], f"what is done is kept in r, {GOES_ON}"),
        ([], "only the vectors of sentences are kept, in the cache: results are kept, and a run "
             "goes on, with --out"),
        (["--no-cache"], "all is lost: results are kept, and a run goes on, with --out"),
    ],
)  # fmt: skip
def test_a_run(
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    kept: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runs, "run_targets", interrupt)
    assert command("run", "compeval", *options) == (130, "", f"probe: stopped; {kept}\n")


def test_a_build(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "build_into", interrupt)
    kept = f"the datasets that were finished are in {tmp_path}; the same command builds all of them"
    stopped = (130, "", f"probe: stopped; {kept} anew\n")
    assert command("build", "compeval", "--out", tmp_path) == stopped


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ([], f"the vectors so far are in the cache, {GOES_ON}"),
        (["--no-cache"], "nothing is kept with --no-cache"),
    ],
)
def test_embedding(
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    kept: str,
) -> None:
    monkeypatch.setattr(embed, "encode", interrupt)
    (tmp_path / "in.txt").write_text("the man slept\n")
    arguments = ("embed", tmp_path / "in.txt", "--encoder", "bow", "--out", tmp_path / "v.npz")
    code, out, err = command(*arguments, *options)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == f"probe: stopped; {kept}"
