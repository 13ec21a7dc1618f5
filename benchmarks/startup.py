"""Wall-clock time of ``gen`` from the shell, and CPU seconds of each command's ``--help``.

``python benchmarks/startup.py`` prints the minimum of several runs, with the goal.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from sentprobe.cli import COMMANDS

GOALS = {
    ("--help",): 0.5,
    ("--template", "transitive-rc", "--n", "5000"): 1.5,
    ("--template", "transitive-rc", "--n", "5000", "--out", "sentences.jsonl"): 1.5,
    ("--template", "transitive-rc", "--n", "5000", "--out", "sentences.parquet"): 1.5,
}
"""Goal in seconds, by the arguments of ``gen``."""


def time_command(arguments: tuple[str, ...], folder: str) -> float:
    """Run ``gen`` once; return its wall-clock seconds."""
    code = "from sentprobe.cli import gen; gen()"
    start = time.perf_counter()
    command = [sys.executable, "-c", code, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    return time.perf_counter() - start


HELP_GOAL = 0.4
"""Goal for each ``--help`` in CPU seconds."""


def measure_help(program: str, command: str) -> float:
    """Return the CPU seconds of a command's ``--help``."""
    line = [sys.executable, "-m", "sentprobe", *program.split(), *command.split(), "--help"]
    before = os.times()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def print_help_times(runs: int) -> None:
    """Measure the ``--help`` of each command; print a line for each."""
    commands = [("", name) for name in ("", *COMMANDS["sentprobe"])]
    commands += [("gen", name) for name in COMMANDS["gen"]]
    for program, command in commands:
        best = min(measure_help(program, command) for _ in range(runs))
        words = " ".join(filter(None, ("sentprobe", program, command, "--help")))
        print(f"{words}: {best:.2f} CPU seconds (goal: {HELP_GOAL})")


def main() -> None:
    """Measure each command and print a line about it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for arguments, goal in GOALS.items():
            times = sorted(time_command(arguments, folder) for _ in range(options.runs))
            print(
                f"gen {' '.join(arguments)}: {times[0]:.2f} s (minimum), "
                f"{times[len(times) // 2]:.2f} s (median; goal: {goal} s)"
            )
    print_help_times(min(options.runs, 3))


if __name__ == "__main__":
    main()
