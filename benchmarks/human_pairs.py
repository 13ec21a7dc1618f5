"""Measure how many pairs that people judged, and how many generated pairs, pass a cosine.

``python benchmarks/human_pairs.py st:MODEL 0.9157`` prints, for each kind of pair in ``../shared/data/human_pairs``
(SICK and the GLUE diagnostic set), the share whose cosine is at least the threshold, with its 95% interval, beside that
of the generated pairs of the most similar contrast, in the anchor's form and in the positive's.
"""

import csv
import sys
from pathlib import Path

import sentprobe
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.similarity.pair_scores import TextPair, VectorScorer
from sentprobe.probes.similarity.text_pairs import score_pairs
from sentprobe.probes.statistics import accuracy_interval

PAIRS = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "human_pairs" / "pairs.tsv"
CONTRASTS = {"negat": "polarity", "same words": "role", "core args": "role"}
"""For a part of the name of people's kinds, the contrast that is most similar; paraphrases are compared with all."""


def main(spec: str, threshold: float) -> None:
    """Print the share of pairs of each kind that pass *threshold*."""
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    generated = sentprobe.gate(spec, threshold=threshold).draws[0]
    forms = {(rates.contrast, rates.form): f"{100 * rates.false_hits:.1f}" for rates in generated.rates}
    pairs = [TextPair(row["a"], row["b"], same=False, kind=_name_kind(row)) for row in rows]
    side = score_pairs(VectorScorer(make_encoder(spec, seed=0)), pairs)
    print("pairs | people's, % | generated, anchor's form, % | positive's form, %\n---|---:|---:|---:")
    for kind in sorted({pair.kind for pair in pairs}):
        of_kind = [pair.kind == kind for pair in pairs]
        passed, units = side.scores[of_kind] >= threshold, side.units[of_kind].tolist()
        interval = accuracy_interval(passed, units)
        share = f"{100 * passed.mean():.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
        contrast = next((CONTRASTS[part] for part in CONTRASTS if part in kind and "no negat" not in kind), "")
        cells = [f"{contrast} {forms[contrast, form]}" if contrast else "-" for form in ("anchor", "form")]
        if "paraphrase" in kind or "ENTAILMENT" in kind.replace("passive, e", "passive, E").upper():
            cells = ["-", f"paraphrases {100 * generated.kept:.1f}"]
        print(f"{kind} ({len(units)}) | {share} | {' | '.join(cells)}")


def _name_kind(row: dict[str, str]) -> str:
    """Return the set and the kind of a pair; the few pairs of SICK with the same words are one kind."""
    kind = "same words, another meaning" if row["kind"].startswith(("same words, N", "same words, C")) else row["kind"]
    return f"{row['set']}: {kind}"


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
