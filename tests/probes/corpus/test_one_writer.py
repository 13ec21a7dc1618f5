"""Two processes write a table into a folder: the second is refused, whenever it starts."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.faults import watched
from helpers.in_process import Command
from helpers.processes import ENVIRONMENT
from helpers.strategies.corpus_strategies import make_table, read_contents, write_trees

from sentprobe.common.errors import UsageError
from sentprobe.common.scratch import LOCK, hold_lock
from sentprobe.probes.corpus.sources import ChunkSize

FIRST = [(noun, "ran") for noun in "abcdefgh"]
SECOND = [(noun, "slept") for noun in "uvwxyz"]
BUSY = "out: another probe analyze is writing a table there; wait until it is done"


def analyze_pairs(folder: Path, pairs: list[tuple[str, str]]) -> None:
    """Replace the table in the folder ``out``."""
    corpus = write_trees(folder / f"{len(pairs)}.mrg", pairs)
    make_table([corpus], folder / "out", size=ChunkSize(2, 1000), force=True)


def test_the_second_is_refused_at_any_offset(tmp_path: Path) -> None:
    """It starts at each file operation of the first: writing, renaming, removing."""
    analyze_pairs(tmp_path, FIRST)
    expected = read_contents(tmp_path / "out")
    refused: list[bool] = []

    def second() -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        with watched(tmp_path / "elsewhere", lambda: None):
            try:
                analyze_pairs(tmp_path, SECOND)
            except UsageError as error:
                assert BUSY in str(error)
                refused.append(True)
            else:
                refused.append(False)

    with watched(tmp_path / "out", second):
        analyze_pairs(tmp_path, FIRST)
    assert sum(refused) >= 20
    assert refused == sorted(refused)  # not until the first has the lock, and then always
    assert read_contents(tmp_path / "out") == expected


def test_it_is_said_in_a_sentence(tmp_path: Path, command: Command) -> None:
    corpus = write_trees(tmp_path / "a.mrg", FIRST)
    (tmp_path / "out").mkdir()
    with hold_lock(tmp_path / "out"):
        code, out, err = command("analyze", corpus, "--out", tmp_path / "out", "--jobs", 1)
    assert (code, out) == (2, "")
    assert err == f"probe: {tmp_path / BUSY}, or write to another folder\n"
    assert command("analyze", corpus, "--out", tmp_path / "out", "--jobs", 1)[0] == 0
    assert not (tmp_path / "out" / LOCK).exists()


HOLD = """
import sys, time
from pathlib import Path
from sentprobe.common.scratch import hold_lock
with hold_lock(Path(sys.argv[1])) as alone:
    print(alone, flush=True)
    time.sleep(60)
"""


def test_the_lock_of_a_killed_process_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    line = [sys.executable, "-c", HOLD, str(tmp_path / "out")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env=ENVIRONMENT) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        with pytest.raises(UsageError, match=BUSY):
            analyze_pairs(tmp_path, FIRST)
        holder.kill()
    analyze_pairs(tmp_path, FIRST)
    assert not (tmp_path / "out" / LOCK).exists()
