"""How long the command ``gen`` takes from the shell, wall clock; the quickest of several runs.

``python benchmarks/startup.py`` prints the times, with what is wanted of them.
"""

import argparse
import subprocess
import sys
import tempfile
import time

WANTED = {
    ("--help",): 0.5,
    ("--template", "transitive-rc", "--n", "5000"): 1.5,
    ("--template", "transitive-rc", "--n", "5000", "--out", "sentences.jsonl"): 1.5,
    ("--template", "transitive-rc", "--n", "5000", "--out", "sentences.parquet"): 1.5,
}
"""The seconds wanted by arguments."""


def seconds(arguments: tuple[str, ...], folder: str) -> float:
    """Run the command once."""
    code = "from sentprobe.cli import gen; gen()"
    start = time.perf_counter()
    command = [sys.executable, "-c", code, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    return time.perf_counter() - start


def main() -> None:
    """Measure each command and print a line about it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for arguments, wanted in WANTED.items():
            times = sorted(seconds(arguments, folder) for _ in range(asked.runs))
            print(
                f"gen {' '.join(arguments)}: {times[0]:.2f} s at best, "
                f"{times[len(times) // 2]:.2f} s in the middle (wanted: {wanted} s)"
            )


if __name__ == "__main__":
    main()
