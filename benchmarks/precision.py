"""Effect of bfloat16 in the first layer's products on accuracy and time: fits in both precisions.

    python benchmarks/precision.py [ENCODER ...] [--log FILE] > benchmarks/precision.md

A fit of each task, encoder and seed is made twice, with the same weights at the start and the same batches. The table
has the mean difference in accuracy, its standard error and the largest difference over the seeds.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, product
from math import sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch
from measure import describe_machine, format_table

from sentprobe.probes.classifier.fit import fit
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated.assemble import build_task

TASKS = ("Order", "SemRole", "Negation")
ENCODERS = ("bilstm-max",)
PRECISIONS = ("float32", "bfloat16")

Pair = dict[str, Any]
"""Task, encoder and seed; accuracy in percent and CPU seconds in both precisions."""


def measure_pair(data: ProbeDataset, vectors: Vectors, *, preset: str, seed: int) -> Pair:
    """Fit in both precisions, in alternating order."""
    pair: Pair = {}
    for precision in PRECISIONS[:: -1 if seed % 2 else 1]:
        start = time.process_time()
        (result,) = fit(
            vectors,
            train=data.splits[Split.TRAIN],
            validation=data.splits.get(Split.VALIDATION),
            test=data.splits[Split.TEST],
            words=len(data.probe_words),
            labels=len(data.labels),
            preset=override(find_preset(preset), [("precision", precision)]),
            seeds=[seed],
        )
        pair |= {precision: 100 * result.accuracy, f"{precision}_s": time.process_time() - start}
    return pair


def list_pairs(arguments: argparse.Namespace) -> Iterator[Pair]:
    """Yield the pairs of all cases, seed by seed; those in the log are not measured again."""
    log: Path | None = arguments.log
    logged = [json.loads(line) for line in log.read_text().splitlines()] if log and log.exists() else []
    known = {(pair["task"], pair["encoder"], pair["seed"]): pair for pair in logged}
    materials: dict[tuple[str, str], tuple[ProbeDataset, Vectors]] = {}
    for seed, spec, task in product(range(arguments.seeds), arguments.encoders, TASKS):
        if (task, spec, seed) in known:
            yield known[task, spec, seed]
            continue
        if (task, spec) not in materials:
            data = build_task(task, train=4000, test=arguments.test)
            materials[task, spec] = data, embed(make_encoder(spec, seed=0), data.sentences)
        names = {"task": task, "encoder": spec, "seed": seed}
        pair = names | measure_pair(*materials[task, spec], preset=arguments.preset, seed=seed)
        if log:
            with log.open("a") as out:
                out.write(json.dumps(pair) + "\n")
        print(pair, file=sys.stderr, flush=True)
        yield pair


def format_row(name: str, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Return the row of a case, or of all."""
    differences = [pair["bfloat16"] - pair["float32"] for pair in pairs]
    accuracies = [f"{mean(pair[precision] for pair in pairs):.2f}" for precision in PRECISIONS]
    error = stdev(differences) / sqrt(len(differences))
    changes = [f"{mean(differences):+.2f}", f"{error:.2f}", f"{max(differences, key=abs):+.2f}"]
    ratio = sum(pair["float32_s"] for pair in pairs) / sum(pair["bfloat16_s"] for pair in pairs)
    return (name, str(len(pairs)), *accuracies, *changes, f"{ratio:.2f}")


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="*", default=ENCODERS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--test", type=int, default=4000, help="test items")
    parser.add_argument("--preset", default="ettinger")
    parser.add_argument("--log", type=Path, help="file of finished pairs, which are not measured again")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    cases: dict[str, list[Pair]] = defaultdict(list)
    for pair in list_pairs(arguments):
        cases[f"{pair['task']}, {pair['encoder']}"].append(pair)
    rows = [format_row(name, pairs) for name, pairs in cases.items()]
    rows.append(format_row("all", list(chain.from_iterable(cases.values()))))
    print("# bfloat16 against float32\n")
    print(describe_machine(["torch"]), f"Preset `{arguments.preset}`, 4,000 training and {arguments.test:,} test")
    print("items, the same seeds in both precisions. Made by `python benchmarks/precision.py`.\n")
    header = ("task, encoder", "seeds", *(f"{name} %" for name in PRECISIONS), "difference", "standard error")
    print(format_table((*header, "largest", "times faster"), rows))


if __name__ == "__main__":
    main()
