"""CPU time of each method, compared with a plain run of one encoder on one task.

    python benchmarks/methods.py [--train 4000] [ENCODER ...] > benchmarks/methods.md

A plain run (encoding, probe and controls) comes first. Each method is then added to the same results folder, with
vectors from the cache, and measured separately.
"""

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import describe_machine, format_table

from sentprobe.common.specs import parse_spec
from sentprobe.probes.datasets.dataset import ProbeDataset
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.runs.run import run

TASK = "SemRole"
ENCODERS = ("bilstm-max",)
VARIANT_OPTIONS = {"dims": [64, 128, 256], "quantize": ["int8", "binary"]}
OPTIONS_BY_METHOD: Mapping[str, Mapping[str, Any]] = {
    "plain run": {},
    "control task": {"control_task": True},
    "portions": {"methods": ["mdl"]},
    "complexity": {"methods": ["complexity"]},
    "cut and rounded": VARIANT_OPTIONS,
}
"""Options of each row."""


def measure_methods(data: ProbeDataset, encoder: str, folder: Path) -> dict[str, float]:
    """Return the CPU seconds of each row for an encoder."""
    seconds_by_method = {}
    for name, options in OPTIONS_BY_METHOD.items():
        start = time.process_time()
        run(data, encoder, out=folder / "results", cache=Cache(folder / "cache"), **options)
        seconds_by_method[name] = time.process_time() - start
    return seconds_by_method


def format_rows(encoder: str, seconds_by_method: Mapping[str, float]) -> list[list[str]]:
    """Return the rows of an encoder, the last of which is the sum."""
    plain_seconds, total = seconds_by_method["plain run"], sum(seconds_by_method.values())
    name = parse_spec(encoder).name
    all_seconds = {**seconds_by_method, "everything": total}
    return [[f"{name}, {method}", f"{s:.0f}", f"{s / plain_seconds:.2f}"] for method, s in all_seconds.items()]


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="*", default=ENCODERS)
    parser.add_argument("--train", type=int, default=4000)
    arguments = parser.parse_args()
    data = build_task(TASK, train=arguments.train, test=1000)
    run(data, "bow?dim=4", preset="logreg", controls=False)  # load libraries before timing
    table_rows = []
    for encoder in arguments.encoders:
        with TemporaryDirectory() as folder:
            table_rows += format_rows(encoder, measure_methods(data, encoder, Path(folder)))
    print(f"# What methods cost\n\n{describe_machine(['torch', 'numpy'])} {TASK}, ", end="")
    print(f"{arguments.train:,} training and 1,000 test items, preset `ettinger`, one seed.")
    print(f"Made by `python benchmarks/methods.py --train {arguments.train} ...`.\n")
    print(format_table(["encoder, method", "CPU s", "times the plain run"], table_rows))


if __name__ == "__main__":
    main()
