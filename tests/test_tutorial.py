"""The tutorial's commands print what it shows; ``...`` there stands for lines left out."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from in_process import run_command
from model_files import packaged_model
from shared import ROOT

from sentprobe import cli

PAGE = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
STEPS = [
    (shlex.split(command), shown)
    for block in BLOCKS
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", block, flags=re.MULTILINE)
]
matches = doctest.OutputChecker().check_output


def test_each_step_is_a_command() -> None:
    assert [words[0] for words, _ in STEPS] == ["gen"] + ["probe"] * 7
    for (program, name, *rest), _ in STEPS[1:]:
        cli.load_command(program, name).make_context(name, rest)


def check(
    words: list[str],
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
    capture: pytest.CaptureFixture[str],
) -> None:
    program, *rest = words
    code, out, _ = run_command(program, *rest, monkeypatch=monkeypatch, capture=capture)
    assert code == 0
    assert matches(shown, out, doctest.ELLIPSIS), out


def test_the_first_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check(*STEPS[0], monkeypatch, capsys)


@pytest.mark.slow
def test_all_that_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("all-MiniLM-L6-v2").symlink_to(packaged_model())
    for words, shown in STEPS[1:]:
        here = [word.replace("st:", "st:./") for word in words]
        check(here, shown, monkeypatch, capsys)
