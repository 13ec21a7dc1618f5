"""The scripts and the notebook of examples/ run, and print the output that they show."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from helpers.runs.shown_output import is_same_output
from helpers.shared import ROOT

EXAMPLES = ROOT / "examples"
SLOW = {"own_encoder", "own_task", "paper_table", "training_curve"}
"""Scripts that train probes or classifiers, which takes seconds."""
SCRIPTS = [
    pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else [], id=path.stem)
    for path in sorted(EXAMPLES.glob("*.py"))
]


def read_promised_output(script: Path) -> str:
    """Return the output that a script's docstring shows."""
    text = script.read_text("utf-8").partition('"""')[2].partition('"""')[0]
    return text.partition("Prints:\n\n")[2]


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_prints_what_it_says(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert read_promised_output(script)
    assert is_same_output(read_promised_output(script), capsys.readouterr().out)


def read_code_cells() -> list[dict[str, Any]]:
    """Return the notebook's code cells."""
    book = json.loads((EXAMPLES / "word_order.ipynb").read_text("utf-8"))
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def test_the_cells_of_the_notebook_compile() -> None:
    for cell in read_code_cells():
        compile("".join(cell["source"]), cell["id"], "exec")


@pytest.mark.slow
def test_the_notebook_shows_what_its_cells_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in read_code_cells():
        exec("".join(cell["source"]), names)
        shown = "".join(line for output in cell["outputs"] for line in output["text"])
        assert is_same_output(shown, capsys.readouterr().out)
