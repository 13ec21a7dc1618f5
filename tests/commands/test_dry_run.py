"""``--dry-run``: what would be done and how long it would take; nothing is written."""

from pathlib import Path

import pytest
from in_process import Command
from probe_strategies import learnable

from sentprobe.commands.options import SizeOptions
from sentprobe.commands.targets import parse_targets
from sentprobe.probes.formats import write_dataset
from sentprobe.probes.runs import forecast
from sentprobe.probes.runs.results import Condition
from sentprobe.probes.runs.settings import make_run
from sentprobe.probes.trainer.presets import find_preset, override
from sentprobe.progress import Silent
from sentprobe.specs import parse_spec

TINY = ("--task", "Order", "--train", "56", "--test", "28", "--set", "max_epochs=2", "--jobs", "1")


def test_what_is_there_and_what_is_not(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    out = tmp_path / "run"
    arguments = ("run", "compeval", *TINY, "--out", out)
    bow = ("-e", "bow?dim=8")
    code, stdout, _ = command(*arguments, *bow, "--dry-run")
    assert code == 0
    assert "5 probes: probe, random-sentences, random-probes, bag-of-words, no-sentence" in stdout
    assert "0 results found, 1 to be made. Nothing was written.\nAbout " in stdout
    assert not out.exists()
    assert command(*arguments, *bow)[0] == 0
    before = sorted(out.iterdir())
    _, stdout, _ = command(*arguments, *bow, "-e", "majority", "--dry-run")
    assert "nothing: it is there" in stdout
    assert "1 result found, 1 to be made." in stdout
    _, stdout, _ = command(*arguments, *bow, "--dry-run")
    assert stdout.endswith("1 result found, 0 to be made. Nothing was written.\n")
    assert sorted(out.iterdir()) == before


def test_datasets_that_are_read(tmp_path: Path, command: Command) -> None:
    write_dataset(learnable(name="one", size=40), tmp_path / "one")
    options = ("-e", "bow?dim=8", "--set", "max_epochs=2", "--jobs", "1", "--dry-run")
    code, stdout, _ = command("run", tmp_path / "one", *options)
    assert code == 0
    assert "0 results found, 1 to be made." in stdout


def test_more_items_and_seeds_take_longer() -> None:
    preset = override(find_preset("ettinger"), [("max_epochs", "2")])
    found = [
        forecast.forecast(
            parse_targets(["compeval"], ["Order"], size=SizeOptions(train=train, test=100)),
            [parse_spec("bow?dim=8")],
            run=make_run(seeds=seeds),
            preset=preset,
            reporter=Silent(),
        )
        for train, seeds in ((400, 1), (40_000, 10))
    ]
    few, many = found
    assert many.train > 10 * few.train > 0
    assert many.encode > few.encode > 0
    assert many.build > few.build > 0
    assert many.planned[0].missing == dict.fromkeys(Condition, tuple(range(10)))
