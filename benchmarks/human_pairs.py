"""Measure how many pairs that people judged pass a cosine.

``python benchmarks/human_pairs.py st:MODEL 0.9157`` prints, for each kind of pair in ``../shared/data/human_pairs``
(SICK and the GLUE diagnostic set), the share whose cosine is at least the threshold, with its 95% interval.
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.statistics import wilson

PAIRS = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "human_pairs" / "pairs.tsv"


def main(spec: str, threshold: float) -> None:
    """Print the share of pairs of each kind that pass *threshold*."""
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    encoder = make_encoder(spec, seed=0)
    texts = list(dict.fromkeys(row[side] for row in rows for side in "ab"))
    vectors = np.asarray(encoder.encode(texts), np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    at = {text: number for number, text in enumerate(texts)}
    passed = defaultdict(list)
    for row in rows:
        kind = "same words, another meaning" if row["kind"].startswith("same words, N") else row["kind"]
        passed[row["set"], kind].append(vectors[at[row["a"]]] @ vectors[at[row["b"]]] >= threshold)
    print("set | kind | pairs | pass, %\n---|---|---:|---:")
    for (name, kind), verdicts in sorted(passed.items()):
        interval = wilson(sum(verdicts), len(verdicts))
        share = f"{100 * np.mean(verdicts):.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
        print(f"{name} | {kind} | {len(verdicts)} | {share}")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
