"""Commands in README and the pages that it links to print the output that is shown."""

import doctest
import re
import shlex

import pytest
from helpers.shared import ROOT

from sentprobe import cli

PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("install", "generate", "paper-table")),
    *(ROOT / "docs" / f"{name}.md" for name in ("own-structures", "own-tasks", "python")),
]
_BLOCKS = [
    re.sub(r"^  (?=\S)", "", block, flags=re.MULTILINE)
    for page in PAGES
    for block in re.findall(r"^ *```\n(.*?)^ *```$", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
]
EXAMPLES = [
    (command, shown)
    for block in _BLOCKS
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", block, flags=re.MULTILINE)
    if command.startswith("gen ")
]


COMMANDS = [
    line for block in _BLOCKS for line in block.replace("\\\n", " ").splitlines() if line.startswith(("gen ", "probe "))
]
"""Commands that a reader pastes; words in capitals stand for the reader's files."""


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_can_be_pasted(line: str) -> None:
    program, name, *arguments = shlex.split(line)
    assert name in cli.COMMANDS[program]
    cli.load_command(program, name).make_context(name, arguments)
    files = [word for word in arguments if "." in word and not word.startswith(("st:", "--"))]
    reader_files = [word for word in files if word not in PRODUCED_FILES]
    assert all(word.partition(".")[0].rstrip("*/").isupper() for word in reader_files)
    assert "st:." not in line


PRODUCED_FILES = ["report.html", "table.tex"]
"""Files that the commands themselves make."""


def test_there_are_examples() -> None:
    assert len(COMMANDS) >= 10

    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_command_prints_what_the_page_shows(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", shlex.split(command))
    with pytest.raises(SystemExit):
        cli.gen()
    printed = capsys.readouterr()
    assert (printed.out + printed.err).strip() == shown.strip()


def test_python_on_its_page() -> None:
    failed, tried = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert tried >= 6
    assert failed == 0


def test_python_in_the_readme_is_on_that_page() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8").replace(">>> import sentprobe\n", "")
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGES[0].read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    assert blocks[0].replace(">>> import sentprobe\n", "").strip() in page
