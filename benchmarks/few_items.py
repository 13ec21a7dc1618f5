"""V-information and description length on few items, beside their true values.

    python benchmarks/few_items.py [PRESET]

Two Gaussian classes, 2.5 standard deviations apart in one dimension of several: the best probe, and so the information,
is known by formula. A tenth of the items validates.
"""

import sys

import numpy as np

from sentprobe.probes.classifier.fit import fit_portions
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.classifier.probe import compute_codelength
from sentprobe.probes.datasets.dataset import Items
from sentprobe.probes.runs.controls import split_validation

DISTANCE = 2.5
TEST_ITEMS = 4000
SEEDS = range(3)


def measure(preset: str, items: int, dim: int, seed: int) -> tuple[float, float, float, float]:
    """Return the true and the measured information per item, then the true and the measured bits of training labels."""
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, 2, items + TEST_ITEMS)
    vectors = generator.standard_normal((len(targets), dim)).astype(np.float32)
    vectors[:, 0] += DISTANCE * (targets - 0.5)
    rows, probes = np.arange(len(targets)), np.zeros((len(targets), 0), np.int64)
    first, test = (Items(rows[part], probes[part], targets[part]) for part in (slice(items), slice(items, None)))
    train, validation = split_validation(first, rows[:items])
    margins = DISTANCE * vectors[items:, 0].astype(float) * (2 * targets[items:] - 1)
    truth = 1 - float(np.log2(1 + np.exp(-margins)).mean())
    (result,) = fit_portions(
        vectors, train=train, validation=validation, test=test, words=0, labels=2, preset=find_preset(preset), seeds=[0]
    )
    bits = compute_codelength(result.readings, labels=2)
    return truth, float(np.mean(result.information)), (1 - truth) * len(train), bits


def main() -> None:
    """Print the means over seeds."""
    preset = sys.argv[1] if len(sys.argv) > 1 else "ettinger"
    for dim in (10, 50):
        for items in (100, 200, 500, 1000, 2000):
            means = np.mean([measure(preset, items, dim, seed) for seed in SEEDS], axis=0)
            print(f"{dim:3} dimensions, {items:5} items: ", end="")
            print("information {1:.2f} of {0:.2f}, description length {3:.0f}, truth {2:.0f}".format(*means))


if __name__ == "__main__":
    main()
