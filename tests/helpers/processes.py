"""Commands as processes, and their remaining children."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PROBE = (sys.executable, "-c", "from sentprobe.cli import probe; probe()")
ENVIRONMENT = {**os.environ, "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}


def wait_for(done: Callable[[], bool], *, seconds: float = 60) -> None:
    """Wait until it is so; fail when it takes too long."""
    limit = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < limit
        time.sleep(0.05)


def descendants(process: int) -> list[int]:
    """Return the children of a process, and theirs."""
    try:
        tasks = list(Path(f"/proc/{process}/task").glob("*/children"))
        children = [int(pid) for task in tasks for pid in task.read_text().split()]
    except OSError:
        return []
    return children + [pid for child in children for pid in descendants(child)]


def end(running: subprocess.Popen[str]) -> None:
    """End a process that leads its own group, and all in it, if any is left."""
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def alive(process: int) -> bool:
    """Say whether a process is there and is not only waiting to be counted."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
