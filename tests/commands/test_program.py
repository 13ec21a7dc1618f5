"""The program ``sentprobe`` runs the commands of ``gen`` and ``probe``."""

import subprocess
import sys

import pytest
from helpers.in_process import run_command
from helpers.processes import ENVIRONMENT

from sentprobe import __version__
from sentprobe.cli import COMMANDS


def test_it_has_gen_and_every_command_of_probe() -> None:
    assert list(COMMANDS["sentprobe"]) == ["gen", *COMMANDS["probe"]]


@pytest.mark.parametrize("line", ["gen --n 3 --seed 1", "gen templates", "probe encoders --format json", "probe tasks"])
def test_its_commands_print_the_same(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program, *words = line.split()
    expected = run_command(program, *words, monkeypatch=monkeypatch, capture=capsys)
    prefix = ["gen"] if program == "gen" else []
    code, out, err = run_command("sentprobe", *prefix, *words, monkeypatch=monkeypatch, capture=capsys)
    assert (code, out) == expected[:2]
    assert err == expected[2].replace(f"{program}:", "sentprobe:")


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("shwo", 2, "No such command 'shwo'. Did you mean 'show'? See sentprobe --help."),
        ("gen prase", 2, "No such command 'prase'. Did you mean 'parse', 'pairs'? See sentprobe gen "),
        ("show", 2, "Missing argument 'RUN...'. See sentprobe show --help."),
        ("show none", 2, "none: no such folder of results"),
        ("gen --lexicon none.toml", 2, "none.toml: "),
        ("gen --n 1 templates", 2, "--n stands before 'templates' and has no effect"),
        ("gen parse --format none x", 2, ""),
    ],
)
def test_an_error_is_one_line_with_its_name(
    line: str, code: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left, out, err = run_command("sentprobe", *line.split(), monkeypatch=monkeypatch, capture=capsys)
    assert (left, out) == (code, "")
    assert err.startswith(f"sentprobe: {message}")
    assert err.count("\n") == 1


def test_no_arguments_show_the_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run_command("sentprobe", monkeypatch=monkeypatch, capture=capsys)
    assert (code, err) == (2, "")
    assert "Usage: sentprobe [OPTIONS] COMMAND" in out


def test_python_runs_the_package() -> None:
    for words, code, printed in (
        (["--version"], 0, f"sentprobe {__version__}\n"),
        (["gen", "--count", "--template", "intransitive"], 0, None),
        (["none"], 2, ""),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "sentprobe", *words],
            capture_output=True, text=True, check=False, env=ENVIRONMENT,
        )  # fmt: skip
        assert done.returncode == code
        assert printed in (None, done.stdout)
        assert done.stderr.startswith("sentprobe: ") == bool(code)
