"""What the tutorial and two pages show is printed; ``...`` stands for lines left out."""

import re
import shlex
from pathlib import Path

import pytest
from in_process import run_command
from model_files import packaged_model
from shared import ROOT
from shown_output import agrees

from sentprobe import cli


def steps(page: str) -> list[tuple[list[str], str]]:
    """Return the commands of a page, each as its words and what is shown of its output."""
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    pattern = r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)"
    found = [each for block in blocks for each in re.findall(pattern, block, flags=re.MULTILINE)]
    return [(shlex.split(command), shown) for command, shown in found]


GENERATE, *TUTORIAL = steps("tutorial")
LAYERS = steps("layers")
TRAIN = steps("train")


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
    assert agrees(shown, printed) == same


def test_each_step_is_a_command() -> None:
    assert (len(TUTORIAL), len(LAYERS), len(TRAIN)) == (7, 3, 3)
    for (program, name, *rest), _ in (*TUTORIAL, *LAYERS, *TRAIN):
        cli.load_command(program, name).make_context(name, rest)


def at_hand(word: str) -> str:
    """Return a word of the command line with the model in a folder, in place of the one online."""
    return word.replace("st:", "st:./").replace("hf:sentence-transformers/", "hf:./")


def check(
    words: list[str],
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
    capture: pytest.CaptureFixture[str],
) -> None:
    program, *rest = words
    code, out, _ = run_command(program, *rest, monkeypatch=monkeypatch, capture=capture)
    assert code == 0
    assert agrees(shown, out), out


def test_the_first_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check(*GENERATE, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("found", [TUTORIAL, LAYERS, TRAIN], ids=["tutorial", "layers", "train"])
def test_all_steps(
    found: list[tuple[list[str], str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("all-MiniLM-L6-v2").symlink_to(packaged_model())
    for words, shown in found:
        check([at_hand(word) for word in words], shown, monkeypatch, capsys)
