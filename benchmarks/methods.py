"""What methods cost beside a plain run of one encoder on one task, in CPU time.

    python benchmarks/methods.py [--train 4000] [ENCODER ...] > benchmarks/methods.md

A plain run (encoding, the probe and the sanity runs) comes first; each method then adds what it
needs to the same folder of results, with the vectors from the cache, and is measured by itself.
"""

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import machine, table

from sentprobe.probes.compeval.assemble import build_task
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.runs.run import run
from sentprobe.specs import parse_spec

TASK = "SemRole"
ENCODERS = ("bilstm-max",)
STORED = {"dims": [64, 128, 256], "quantize": ["int8", "binary"]}
ADDED: Mapping[str, Mapping[str, Any]] = {
    "plain run": {},
    "control task": {"control_task": True},
    "portions (code, sample efficiency, V-information)": {"methods": ["mdl"]},
    "complexity": {"methods": ["complexity"]},
    "cut and rounded": STORED,
}
"""What each row asks for."""

MOST = 4
"""Everything together may cost so many times the plain run."""


def seconds(data: ProbeDataset, encoder: str, folder: Path) -> dict[str, float]:
    """Return the CPU seconds of each row for an encoder."""
    found = {}
    for name, asked in ADDED.items():
        start = time.process_time()
        run(data, encoder, out=folder / "results", cache=Cache(folder / "cache"), **asked)
        found[name] = time.process_time() - start
    return found


def rows(encoder: str, found: Mapping[str, float]) -> list[list[str]]:
    """Return the rows of an encoder, with the sum."""
    plain, total = found["plain run"], sum(found.values())
    name = parse_spec(encoder).name
    every = {**found, "everything": total}
    return [[f"{name}, {what}", f"{s:.0f}", f"{s / plain:.2f}"] for what, s in every.items()]


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="*", default=ENCODERS)
    parser.add_argument("--train", type=int, default=4000)
    asked = parser.parse_args()
    data = build_task(TASK, train=asked.train, test=1000)
    run(data, "bow?dim=4", preset="logreg", controls=False)  # what is loaded once counts for none
    found = []
    for encoder in asked.encoders:
        with TemporaryDirectory() as folder:
            found += rows(encoder, seconds(data, encoder, Path(folder)))
    print(f"# What methods cost\n\n{machine(['torch', 'numpy'])} One encoder on {TASK}, ", end="")
    print(f"{asked.train:,} training and 1,000 test items, preset `ettinger`, one seed. CPU time,")
    print(f"and as a multiple of the plain run; wanted is at most {MOST} for everything.\n")
    print(table(["encoder, what is added", "CPU s", "times the plain run"], found))


if __name__ == "__main__":
    main()
