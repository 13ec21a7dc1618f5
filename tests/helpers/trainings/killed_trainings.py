"""Kill a training in a folder again and again; a process of its own, which forks.

Arguments: the folder, how often it is killed, and the seed of the steps at which it is.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import lightning_fabric  # noqa: F401 - once, and not in each fork
from helpers.trainings.small_trainings import SmallTraining, until

from sentprobe.probes.training import checkpoint

STEPS = 60


def main(folder: Path, kills: int, seed: int) -> None:
    draw = random.Random(seed)
    folder.mkdir(exist_ok=True)
    for step in sorted(draw.sample(range(1, STEPS), kills)):
        kill_at(folder, step, pause=draw.random() / 200)
    SmallTraining(folder, until(STEPS)).run()


def kill_at(folder: Path, step: int, *, pause: float) -> None:
    """Kill the process once it reached a step or ended."""
    child = os.fork()
    if child == 0:
        SmallTraining(folder, until(STEPS)).run()
        os._exit(0)
    while stored_step(folder) < step and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.001)
    time.sleep(pause)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(stored_step(folder))


def stored_step(folder: Path) -> int:
    stored = checkpoint.read_state(folder)
    return stored.state.step if stored else 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
