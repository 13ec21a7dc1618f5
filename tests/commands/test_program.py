"""The program ``sentprobe`` runs the commands of ``gen`` and ``probe``."""

import subprocess
import sys
from pathlib import Path

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


FORGED = "a\nprobe: all is well\tx\r"
"""A name that would make a line of its own in a message."""


@pytest.mark.parametrize(
    "words",
    [
        ("show", FORGED), ("show", "run", "--by", FORGED), ("compare", FORGED), ("check", FORGED), ("report", FORGED),
        ("audit", FORGED), ("audit", "file"), ("correlate", FORGED), ("correlate", "run", "--with", FORGED),
        ("run", FORGED, "-e", "bow"), ("run", "natural", FORGED, "-e", "bow"), ("run", "compeval", "-e", FORGED),
        ("run", "compeval", "-e", f"bow?{FORGED}=1"), ("run", "compeval", "-e", f"hf:{FORGED}"),
        ("run", "compeval", "-e", f"file:{FORGED}.npy"), ("run", "compeval", "-e", "bow", "--task", FORGED),
        ("run", "compeval", "-e", "bow", "--set", f"{FORGED}=1"), ("run", "compeval", "-e", "bow", "--device", FORGED),
        ("build", "natural", FORGED), ("build", "compeval", "--task", FORGED), ("geometry", "-e", FORGED),
        ("embed", FORGED, "-e", "bow", "-o", "x.npz"), ("embed", "texts", "-e", f"bow:{FORGED}", "-o", "x.npz"),
        ("analyze", FORGED), ("analyze", "file", "--parser", "none", "--format", "conllu"),
        ("analyze", "texts", "--parser", FORGED), ("agree", FORGED, FORGED),
        ("lm", f"scores:{FORGED}"), ("lm", "hf:m", "--pairs", FORGED), ("gate", FORGED), ("train", FORGED),
        ("gen", "--lexicon", FORGED), ("gen", "--lexicon", "file"), ("gen", "--config", FORGED),
        ("gen", "--template", FORGED), ("gen", "--profile", FORGED), ("gen", "parse", "--input", "file"),
        ("gen", "parse", FORGED), ("gen", "--exclude", f"x{FORGED}"), ("gen", "pairs", "--contrast", FORGED),
        (FORGED,), ("show", f"--{FORGED}"),
    ],
)  # fmt: skip
def test_a_name_makes_no_line_of_a_message(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / FORGED).write_text("wrong\t(\n[")
    (tmp_path / "texts").write_text("a man slept\n")
    (tmp_path / "run").mkdir()
    words = tuple(FORGED if word == "file" else word for word in words)
    code, _, err = run_command("sentprobe", *words, monkeypatch=monkeypatch, capture=capsys)
    assert code in (1, 2)
    assert not [line for line in err.split("\n") if line.startswith("probe: all is well")]
    assert "\t" not in err
    assert "\r" not in err


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
