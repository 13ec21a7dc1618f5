"""Effect of bfloat16 in the first layer's products on accuracy: fits in both precisions.

    python benchmarks/precision.py [ENCODER ...] > benchmarks/precision.md

A fit of each task, encoder and seed is made twice, with the same weights at the start and the same batches; the table
has the mean difference in accuracy and its standard error over the fits.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from statistics import mean, stdev

import torch
from measure import describe_machine, format_table

from sentprobe.probes.compeval.assemble import build_task
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.encoders import Vectors, make_encoder
from sentprobe.probes.encoders.cache.embedding import embed
from sentprobe.probes.encoders.protocol import Encoder
from sentprobe.probes.trainer.fit import fit
from sentprobe.probes.trainer.presets import find_preset, override

TASKS = ("Content2Probe", "Order", "SemRole", "Negation")
ENCODERS = ("bilstm-last", "bilstm-max", "gated-conv")


@dataclass(frozen=True, slots=True)
class PairedAccuracies:
    """Accuracies in percent in both precisions, by seed."""

    bfloat16: tuple[float, ...]
    float32: tuple[float, ...]

    @property
    def differences(self) -> list[float]:
        """bfloat16 minus float32."""
        return [low - high for low, high in zip(self.bfloat16, self.float32, strict=True)]


def list_accuracies(
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
    return tuple(100 * result.accuracy for result in fits)


def measure_precision(data: ProbeDataset, encoder: Encoder, *, preset: str, seeds: int) -> PairedAccuracies:
    vectors = embed(encoder, data.sentences)
    results = (
        list_accuracies(data, vectors, preset=preset, precision=precision, seeds=seeds)
        for precision in ("bfloat16", "float32")
    )
    return PairedAccuracies(*results)


def format_row(name: str, differences: Sequence[float], pairs: PairedAccuracies | None = None) -> tuple[str, ...]:
    error = f"{stdev(differences) / sqrt(len(differences)):.2f}"
    both = (f"{mean(pairs.bfloat16):.2f}", f"{mean(pairs.float32):.2f}") if pairs else ("", "")
    return (name, *both, f"{mean(differences):+.2f}", error)


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="*", default=ENCODERS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--test", type=int, default=4000, help="test items")
    parser.add_argument("--preset", default="ettinger")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows, results = [], []
    for task in TASKS:
        data = build_task(task, train=4000, test=arguments.test, validation=400)
        for spec in arguments.encoders:
            encoder = make_encoder(spec, seed=0)
            pairs = measure_precision(data, encoder, preset=arguments.preset, seeds=arguments.seeds)
            results.append(pairs.differences)
            rows.append(format_row(f"{task}, {encoder.name}", pairs.differences, pairs))
            print(rows[-1], file=sys.stderr, flush=True)
    rows.append(format_row("all", list(chain.from_iterable(results))))
    print("# bfloat16 against float32\n")
    print(describe_machine(["torch"]), f"Preset `{arguments.preset}`, 4,000 training and {arguments.test:,} test")
    print(f"items, {arguments.seeds} seeds. Made by `python benchmarks/precision.py`.\n")
    header = ("task, encoder", "bfloat16 %", "float32 %", "difference", "standard error")
    print(format_table(header, rows))


if __name__ == "__main__":
    main()
