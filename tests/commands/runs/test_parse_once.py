"""The command line is parsed once; no part of a run parses it again."""

import importlib
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.in_process import Command
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.runs import suites

COUNTED = (
    ("sentprobe.lexicon.read", "load_lexicon"),
    ("sentprobe.probes.classifier.devices", "check_device"),
    ("sentprobe.probes.results.store", "prepare_directory"),
    ("sentprobe.probes.classifier.presets", "find_preset"),
    ("sentprobe.common.specs", "parse_spec"),
    ("sentprobe.common.inputs", "is_table"),
    ("sentprobe.probes.corpus.table", "open_table"),
)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each function of COUNTED is called, wherever it was imported to."""
    counts: Counter[str] = Counter()

    def counting(name: str, function: Any) -> Any:
        def counted(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return function(*args, **kwargs)

        return counted

    importlib.import_module("sentprobe.commands.run")
    importlib.import_module("sentprobe.probes.runs.run")
    suites._make_preset.cache_clear()
    for home, name in COUNTED:
        function = getattr(importlib.import_module(home), name)
        spy = counting(name, function)
        for module in [m for n, m in sys.modules.items() if n.startswith("sentprobe")]:
            if getattr(module, name, None) is function:
                monkeypatch.setattr(module, name, spy)
    return counts


QUICK = ("--set", "max_epochs=2", "--jobs", "1", "--no-cache", "--no-controls", "--device", "cpu:0")
"""The device has a number, since a plain cpu is there without a look."""
BOTH = ("-e", "bow?dim=8", "-e", "bilstm-max?dim=8&hidden=8")


def test_two_encoders_on_two_tasks_of_compeval(tmp_path: Path, command: Command, calls: Counter[str]) -> None:
    tasks = ("--task", "Order", "--task", "Content1Probe", "--train", "56", "--test", "28")
    code, _, err = command("run", "compeval", *BOTH, *tasks, *QUICK, "--out", tmp_path / "run")
    assert code == 0, err
    once = ("load_lexicon", "check_device", "prepare_directory", "find_preset")
    assert {name: calls[name] for name in once} == dict.fromkeys(once, 1)
    assert calls["parse_spec"] == 2


def test_each_target_is_looked_at_once(tmp_path: Path, command: Command, calls: Counter[str]) -> None:
    for name in ("one", "two"):
        write_dataset(make_learnable_dataset(name=name, size=40), tmp_path / name)
    targets = [tmp_path / "one", tmp_path / "two"]
    code, _, err = command("run", *targets, *BOTH, *QUICK)
    assert code == 0, err
    assert calls["is_table"] == 2
    assert (calls["check_device"], calls["find_preset"], calls["parse_spec"]) == (1, 1, 2)
    assert calls["load_lexicon"] == 0


def test_a_table_is_looked_at_once(tmp_path: Path, command: Command, calls: Counter[str]) -> None:
    table = write_table(sample_rows()[:1200], tmp_path / "table").path
    calls.clear()
    task = ("--task", "BShift", "--train", "60", "--validation", "0", "--test", "20")
    code, _, err = command("run", "natural", table, *BOTH, *QUICK, *task, "--preset", "ettinger")
    assert code == 0, err
    assert (calls["is_table"], calls["open_table"], calls["find_preset"]) == (1, 1, 1)
