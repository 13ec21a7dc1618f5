"""CPU seconds of ``probe show``, ``check``, ``report`` and ``compare`` for 500 and 2,000 results, and their ratio.

``python benchmarks/results.py`` prints a line for each command. Goals: under 10 CPU seconds, and a ratio below 4.5; but
``compare`` tests every pair, so its ratio may be 16.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.results.result import Condition, Result, SeedScore, make_score, pack_bits
from sentprobe.probes.results.store import prepare_directory, write_result

ITEMS, TASKS, SIZES = 1000, 5, (500, 2000)


def make_result(encoder: int, task: int) -> Result:
    """Make a result with random answers; neighbouring items are mirror pairs."""
    generator = np.random.default_rng([encoder, task])
    units = tuple(item // 2 for item in range(ITEMS))
    scores = {}
    for condition in (Condition.PROBE, Condition.RANDOM_SENTENCES, Condition.BAG_OF_WORDS):
        seeds = []
        for seed in range(2):
            right = generator.random(ITEMS) < (0.5 + encoder % 40 / 100 if condition is Condition.PROBE else 0.5)
            correct = int(right.sum())
            seeds.append(
                SeedScore(
                    seed=seed,
                    accuracy=correct / ITEMS,
                    correct=correct,
                    total=ITEMS,
                    right=pack_bits(right),
                    epochs=9,
                    loss=0.5,
                    converged=True,
                )
            )
        scores[condition] = make_score(seeds, units)
    return Result(
        task=f"task{task}",
        encoder=f"bow?seed={encoder}",
        encoder_fingerprint=str(encoder),
        dim=300,
        dataset_fingerprint=str(task),
        majority=0.5,
        mirrored=True,
        units=units,
        lengths=tuple(3 + item % 20 for item in range(ITEMS)),
        scores=scores,
        seed=0,
        preset=find_preset("ettinger"),
        command="probe run compeval",
        versions={"numpy": np.__version__},
    )


def measure_command(*arguments: str) -> float:
    """Return the CPU seconds of a command; ``check`` exits with 1 where a finding is severe."""
    before = os.times()
    line = [sys.executable, "-m", "sentprobe", *arguments]
    subprocess.run(line, stdout=subprocess.DEVNULL, check=arguments[0] != "check")
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def main() -> None:
    """Make two results folders, and measure each command on both."""
    with tempfile.TemporaryDirectory() as parent:
        folders = [Path(parent, str(size)) for size in SIZES]
        for size, folder in zip(SIZES, folders, strict=True):
            prepare_directory(folder)
            for place in range(size):
                write_result(make_result(*divmod(place, TASKS)), folder)
        for command, *options in (["show"], ["check"], ["report", "--out", f"{parent}/page.html"], ["compare"]):
            few, many = (measure_command(command, str(folder), *options) for folder in folders)
            print(f"{command}: {few:.1f} and {many:.1f} CPU s, ratio {many / few:.1f}", flush=True)


if __name__ == "__main__":
    main()
