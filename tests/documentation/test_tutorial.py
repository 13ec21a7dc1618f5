"""The tutorial and the page on layers show true output; ``...`` stands for omitted lines."""

import re
import shlex
from pathlib import Path

import pytest
from helpers.encoders.model_files import packaged_model
from helpers.in_process import run_command
from helpers.runs.shown_output import is_same_output
from helpers.shared import ROOT

from sentprobe import cli


def read_steps(page: str) -> list[tuple[list[str], str]]:
    """Return the commands of a page, each as its words with the output that the page shows."""
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    pattern = r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)"
    examples = [pair for block in blocks for pair in re.findall(pattern, block, flags=re.MULTILINE)]
    return [(shlex.split(command), shown) for command, shown in examples]


GENERATE, *TUTORIAL = read_steps("tutorial")
LAYERS = read_steps("layers")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("bow  81.2 | 36/52\n...\n0 of 1", "bow 80.0 | 35/51\n1\n2\n0 of 1", True),
        ("bow 81.2", "bow 77.0", False),
        ("0 of 1 are", "1 of 1 are", False),
        ("...\nbow -1.0\n...", "tfidf\nbow +1.4\nlength", True),
    ],
)
def test_what_agrees(shown: str, printed: str, same: bool) -> None:
    assert is_same_output(shown, printed) == same


def test_each_step_is_a_command() -> None:
    assert (len(TUTORIAL), len(LAYERS)) == (7, 3)
    for (program, name, *options), _ in (*TUTORIAL, *LAYERS):
        cli.load_command(program, name).make_context(name, options)


def use_local_model(word: str) -> str:
    """Replace the online model in a word of the command line by the model in a local folder."""
    return word.replace("st:", "st:./").replace("hf:sentence-transformers/", "hf:./")


def check_output(
    words: list[str], shown: str, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
) -> None:
    program, *arguments = words
    code, out, _ = run_command(program, *arguments, monkeypatch=monkeypatch, capture=capture)
    assert code == 0
    assert is_same_output(shown, out), out


def test_the_first_step(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    check_output(*GENERATE, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("commands", [TUTORIAL, LAYERS], ids=["tutorial", "layers"])
def test_all_steps(
    commands: list[tuple[list[str], str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("all-MiniLM-L6-v2").symlink_to(packaged_model())
    for words, shown in commands:
        check_output([use_local_model(word) for word in words], shown, monkeypatch, capsys)
