"""The README's examples are true: its commands print what it shows, its Python is run."""

import doctest
import re
import shlex

import pytest
from shared import ROOT

from sentprobe import cli

README = (ROOT / "README.md").read_text(encoding="utf-8")
_BLOCKS = re.findall(r"^```\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
EXAMPLES = [
    (command, shown)
    for block in _BLOCKS
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", block, flags=re.MULTILINE)
    if command.startswith("gen ")
]


PASTED = [
    line
    for block in _BLOCKS
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith(("gen ", "probe "))
]
"""The commands that a reader pastes; words in capitals stand for files of theirs."""


@pytest.mark.parametrize("line", PASTED)
def test_a_command_can_be_pasted(line: str) -> None:
    program, name, *rest = shlex.split(line)
    assert name in cli.COMMANDS[program]
    cli.load_command(program, name).make_context(name, rest)
    files = [word for word in rest if "." in word and not word.startswith(("st:", "--"))]
    assert all(word.partition(".")[0].rstrip("*/").isupper() for word in files if word not in MADE)
    assert "st:." not in line


MADE = ["report.html"]
"""The files that the commands themselves make."""


def test_there_are_examples() -> None:
    assert len(PASTED) >= 10

    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_command_prints_what_the_readme_shows(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", shlex.split(command))
    with pytest.raises(SystemExit):
        cli.gen()
    printed = capsys.readouterr()
    assert (printed.out + printed.err).strip() == shown.strip()


def test_python_in_the_readme() -> None:
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried >= 6
    assert failed == 0
