"""The programs ``gen``, ``probe`` and ``sentprobe``, run in this process."""

import sys
from collections.abc import Callable

import pytest

from sentprobe import cli

Command = Callable[..., tuple[int, str, str]]
"""Runs a command with these arguments; gives exit code, stdout and stderr."""

ENTRIES: dict[str, Callable[[], None]] = {"gen": cli.gen, "probe": cli.probe, "sentprobe": cli.sentprobe}


def run_command(
    name: str, *arguments: object, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Run the command and return its exit code, stdout and stderr; there is never a traceback."""
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        ENTRIES[name]()
    out, err = capture.readouterr()
    code = caught.value.code or 0
    assert isinstance(code, int)
    assert "Traceback" not in err
    return code, out, err


def probe(
    *arguments: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Run ``probe`` and return its exit code, stdout and stderr."""
    return run_command("probe", *arguments, monkeypatch=monkeypatch, capture=capsys)


def check_refusal(
    outcome: tuple[int, str, str], message: str, code: int = 2, *, program: str = "probe", progress: bool = False
) -> None:
    """Check that a command printed one error with *message* alone, or after lines of progress."""
    exit_code, out, err = outcome
    assert (exit_code, out) == (code, ""), outcome
    last = err.splitlines(keepends=True)[-1]
    assert progress or err.count("\n") == 1, err
    assert last.startswith(f"{program}: "), err
    assert message in last, err


def check_success(outcome: tuple[int, str, str]) -> str:
    """Check that a command succeeded; return what it printed."""
    code, out, err = outcome
    assert code == 0, err
    return out
