"""At 80 columns: no word of a table is broken, nothing is cut, and no line is longer."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from in_process import run_command
from probe_strategies import learnable, sample_result
from shown_runs import a_run

from sentprobe.generator.templates import template_names
from sentprobe.probes.encoders import ENCODERS
from sentprobe.probes.formats import write_dataset
from sentprobe.probes.report.tables import show_score
from sentprobe.probes.runs.results import Condition, Result
from sentprobe.probes.suites import known_tasks

TASKS = tuple(task.name for task in known_tasks())[:15]
NAMES = ("bow", "st:./all-MiniLM-L6-v2", "hf:bert-base-uncased?layer=10&pooling=mean")


def results() -> list[Result]:
    """Three encoders, one with a long name, on fifteen tasks, with three seeds."""
    return [
        replace(sample_result(name, task, 600 + 9 * n, 500, 499, 590, seeds=3), dim=3 + n)
        for n, name in enumerate(NAMES)
        for task in TASKS
    ]


def shown(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run_command(*line.split(), monkeypatch=monkeypatch, capture=capsys)
    assert code == 0
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    return out


SCORE = results()[0].scores[Condition.PROBE]

COMMANDS = {
    "gen templates": template_names(deep=True),
    "probe encoders": [word for kind in ENCODERS for word in (kind.name, kind.example)],
    "probe show run": (*TASKS, *NAMES, "61.0 ± 0.1"),
    "probe show run --all-rows": (*TASKS, *NAMES, "random sentences"),
    "probe show run --intervals": (*TASKS, *NAMES, show_score(SCORE, intervals=True)),
    "probe compare run": (*TASKS, *NAMES),
    "probe audit data.jsonl --jobs 1": ("majority", "accuracy", "verdict"),
    "probe build compeval --out data --train 40 --test 20": TASKS[:5],
}


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_readable(
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    a_run(tmp_path / "run", *results())
    write_dataset(learnable(name="one", size=40), tmp_path / "data.jsonl")
    out = shown(line, monkeypatch, capsys)
    for text in COMMANDS[line]:
        assert re.search(rf"(?<![^\s│┃]){re.escape(text)}(?![^\s│┃.,:;])", out), text
