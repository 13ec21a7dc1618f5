"""Commands that are killed while writing: each file is the old or the new one."""

import shutil
from collections.abc import Callable
from itertools import count as numbers
from pathlib import Path

import pytest
from helpers.faults import Watch, failing, interrupting, killing, terminating, watched
from helpers.in_process import Command
from helpers.strategies.corpus_strategies import read_contents

from sentprobe.common import scratch

SIZES = ("--task", "Order", "--train", 40, "--test", 4)
CSV = ("--format", "csv")

COMMANDS: dict[str, tuple[object, ...]] = {
    "gen": ("gen", "--n", 3, "--out", "out/a.txt", "--seed"),
    "gen parquet": ("gen", "--n", 3, "--out", "out/a.parquet", "--seed"),
    "build": ("probe", "build", "compeval", *SIZES, "--out", "out", "--seed"),
    "build csv": ("probe", "build", "compeval", *SIZES, *CSV, "--out", "out", "--seed"),
    "sentences": ("probe", "sentences", "compeval", *SIZES, "--out", "out/a.txt", "--seed"),
}
"""By name: commands of which each seed writes something else."""


def group_files(folder: Path) -> dict[str, dict[str, bytes]]:
    """Return the visible files of a folder, grouped by dataset."""
    actual: dict[str, dict[str, bytes]] = {}
    for name, value in read_contents(folder).items():
        parts = Path(name).parts
        if not any(part.startswith(".") for part in parts):
            actual.setdefault("/".join(parts[:2] if parts[0] == "parquet" else parts[:1]), {})[name] = value
    return actual


@pytest.mark.slow
@pytest.mark.parametrize("fault", [failing, interrupting, terminating, killing])
@pytest.mark.parametrize("name", COMMANDS)
def test_entry_is_old_or_new(
    name: str, fault: Callable[[int], Watch], working_folder: Path, run_program: Command
) -> None:
    out = working_folder / "out"

    def do(seed: int) -> int:
        scratch.remove_left_parts.cache_clear()  # as for another process
        program, *line = COMMANDS[name]
        return run_program(str(program), *line, seed)[0]

    assert do(0) == 0
    old = group_files(out)
    shutil.copytree(out, working_folder / "old")
    assert do(1) == 0
    new = group_files(out)
    assert old != new
    for number in numbers(1):
        shutil.rmtree(out)
        shutil.copytree(working_folder / "old", out)
        seen: list[BaseException] = []
        with watched(out, record_exceptions(fault(number), seen)):
            try:
                do(1)
            except BaseException as error:
                assert seen, error
        if not seen:
            break
        actual = group_files(out)
        missing = {"README.md"} - actual.keys()  # it is removed before the datasets that it lists change
        assert all(actual[key] in (old[key], new[key]) for key in old.keys() - missing), number
        assert do(1) == 0
        assert group_files(out) == new
        assert [path for path in out.rglob(".*")] == []
    assert number > 2


def record_exceptions(watch: Watch, seen: list[BaseException]) -> Watch:
    """Return a watch that also records the exceptions of *watch*."""

    def noted() -> None:
        try:
            watch()
        except BaseException as error:
            seen.append(error)
            raise

    return noted
