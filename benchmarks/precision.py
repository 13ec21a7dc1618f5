"""What bfloat16 in the first layer's products does to accuracy: the same fits in both precisions.

    python benchmarks/precision.py [ENCODER ...] > benchmarks/precision.md

A fit of each task, encoder and seed is made twice, with the same weights at the start and the same
batches; the table has the mean difference in accuracy and its standard error over the fits.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from statistics import mean, stdev

import torch
from measure import machine, table

from sentprobe.probes.compeval.assemble import build_task
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.encoders import Vectors, make_encoder
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.protocol import Encoder
from sentprobe.probes.trainer.fit import fit
from sentprobe.probes.trainer.presets import find_preset, override

TASKS = ("Content2Probe", "Order", "SemRole", "Negation")
ENCODERS = ("bilstm-last", "bilstm-max", "gated-conv")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Accuracies in percent, in both precisions, seed by seed."""

    bfloat16: tuple[float, ...]
    float32: tuple[float, ...]

    @property
    def differences(self) -> list[float]:
        """bfloat16 minus float32."""
        return [low - high for low, high in zip(self.bfloat16, self.float32, strict=True)]


def accuracies(
    data: ProbeDataset, vectors: Vectors, *, preset: str, precision: str, seeds: int
) -> tuple[float, ...]:
    fits = fit(
        vectors,
        train=data.splits[Split.TRAIN],
        validation=data.splits.get(Split.VALIDATION),
        test=data.splits[Split.TEST],
        words=len(data.probe_words),
        labels=len(data.labels),
        preset=override(find_preset(preset), [("precision", precision)]),
        seeds=range(seeds),
    )
    return tuple(100 * each.accuracy for each in fits)


def measured(data: ProbeDataset, encoder: Encoder, *, preset: str, seeds: int) -> Pairs:
    vectors = embed(encoder, data.sentences)
    found = (
        accuracies(data, vectors, preset=preset, precision=precision, seeds=seeds)
        for precision in ("bfloat16", "float32")
    )
    return Pairs(*found)


def row(name: str, differences: Sequence[float], pairs: Pairs | None = None) -> tuple[str, ...]:
    error = f"{stdev(differences) / sqrt(len(differences)):.2f}"
    both = (f"{mean(pairs.bfloat16):.2f}", f"{mean(pairs.float32):.2f}") if pairs else ("", "")
    return (name, *both, f"{mean(differences):+.2f}", error, str(len(differences)))


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="*", default=ENCODERS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--test", type=int, default=4000, help="test items")
    parser.add_argument("--preset", default="ettinger")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    rows, found = [], []
    for task in TASKS:
        data = build_task(task, train=4000, test=asked.test, validation=400)
        for spec in asked.encoders:
            encoder = make_encoder(spec, seed=0)
            pairs = measured(data, encoder, preset=asked.preset, seeds=asked.seeds)
            found.append(pairs.differences)
            rows.append(row(f"{task}, {spec}", pairs.differences, pairs))
            print(rows[-1], file=sys.stderr, flush=True)
    rows.append(row("all", list(chain.from_iterable(found))))
    print("# bfloat16 against float32\n")
    print(machine(["torch"]), f"Preset `{asked.preset}`, 4,000 training and {asked.test:,} test")
    print("items. The same fits in both precisions; differences in points of accuracy.\n")
    header = ("task, encoder", "bfloat16 %", "float32 %", "difference", "standard error", "fits")
    print(table(header, rows))


if __name__ == "__main__":
    main()
