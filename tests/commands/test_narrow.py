"""Output at 80 columns: no word is broken, no text cut, no line longer."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.shown_runs import write_run
from helpers.strategies.corpus_strategies import make_table
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result

from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.kinds import ENCODERS
from sentprobe.probes.results.result import Result
from sentprobe.probes.runs.suites import list_known_tasks

TASKS = tuple(task.name for task in list_known_tasks())[:15]
NAMES = ("bow", "st:./all-MiniLM-L6-v2", "hf:bert-base-uncased?layer=10&pool=mean")


def make_results() -> list[Result]:
    """Three encoders, one with a long name, on fifteen tasks, with three seeds."""
    return [
        replace(make_sample_result(name, task, 600 + 9 * n, 500, 499, 590, seeds=3), dim=3 + n)
        for n, name in enumerate(NAMES)
        for task in TASKS
    ]


def run_readably(line: str, run_program: Command) -> str:
    """Run a command at 80 columns; return its output, in which no text is cut and no line longer."""
    code, out, _ = run_program(*shlex.split(line))
    assert code == 0
    assert "…" not in out
    short = out.replace(str(Path.cwd()), ".")  # how long a path is depends on the machine
    assert max(map(len, short.splitlines())) <= 80
    return out


COMMANDS = {
    "gen templates": [name for name in list_template_names(deep=True) if "." not in name or "ditrans" not in name],
    "probe tasks": (*TASKS, "AdiContent"),
    "probe encoders": [word for kind in ENCODERS for word in (kind.name, kind.example)],
    "probe show run": (*TASKS, *NAMES, "60.1 ± 3.0"),
    "probe show run --all-rows": (*TASKS, *NAMES, "random sentences"),
    "probe show run --intervals": (*TASKS, *NAMES, "60.1 ± 3.0 [57.0, 63.1]"),
    "probe compare run": (*TASKS, *NAMES),
    "probe audit data.jsonl --jobs 1": ("majority", "accuracy", "verdict"),
    "probe build compeval --out data --train 40 --test 20": TASKS[:5],
}


@pytest.fixture(autouse=True)
def _narrow_place(monkeypatch: pytest.MonkeyPatch, working_folder: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    write_dataset(make_learnable_dataset(name="one", size=40), working_folder / "data.jsonl")


@pytest.mark.parametrize("line", COMMANDS)
def test_tables_are_readable(line: str, run_program: Command) -> None:
    write_run(Path("run"), *make_results())
    out = run_readably(line, run_program)
    for text in COMMANDS[line]:
        assert re.search(rf"(?<![^\s│┃]){re.escape(text)}(?![^\s│┃.,:;])", out), text


GOLD = """\
(S (NP (DT The) (NNS men)) (VP (VBD saw) (NP (NNS dogs))) (. .))
(S (NP (DT A) (NN man)) (VP (VBZ sees) (NP (DT the) (NN dog))) (. .))
"""
PARSED = GOLD.replace("VBZ", "VBD")
BUILD = "--train 40 --test 20"
OTHERS = {
    "gen parse --format text 'The man sleeps.' 'the men did not sleep'": "the man sleeps\n",
    "gen show 'help[past, neg](agent: professor[pl], patient: student)'": "professor  plural",
    "gen --n 3 -t intransitive --exclude old.txt": "",
    "gen --n 3 -t intransitive --require-any sleep --require-any shout": "",
    "probe cache": "cache",
    "probe tasks": "does n come before v?",
    f"probe sentences compeval --task Order {BUILD} --out sentences.txt": "sentences.txt: ",
    "probe embed data.jsonl -e bow?dim=4 -o vectors.npz": "vectors.npz",
    "probe analyze gold.mrg -o made --jobs 1": "2 different sentences of 2",
    "probe agree gold parsed": "Tags are the same for 90.9 [62.3, 98.4]% of 11 tokens",
}


@pytest.mark.parametrize("line", OTHERS)
def test_other_output_is_readable(line: str, monkeypatch: pytest.MonkeyPatch, run_program: Command) -> None:
    monkeypatch.setenv("SENTPROBE_CACHE", "cache")
    Path("old.txt").write_text("the man sleeps\n", "utf-8")
    for name, trees in (("gold", GOLD), ("parsed", PARSED)):
        Path(f"{name}.mrg").write_text(trees, "utf-8")
        make_table([Path(f"{name}.mrg")], Path(name))
    out = run_readably(line, run_program)
    assert " ".join(OTHERS[line].split()) in " ".join(out.split())
    words = {word for row in out.splitlines() for word in re.split(r"[\s│┃]+", row)}
    assert not {word for word in words if word.endswith("-") and len(word) > 1}
