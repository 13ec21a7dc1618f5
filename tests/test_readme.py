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


def test_there_are_examples() -> None:
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
