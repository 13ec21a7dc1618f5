"""The figures of a model before and after a repair, on held-out texts, with intervals and paired tests."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from sentprobe.common.screen import SilentReporter
from sentprobe.common.tables import Grid, GridCell, GridRow, ShownTable
from sentprobe.common.values import group_by
from sentprobe.probes.encoders.encoder import Encoder
from sentprobe.probes.repair.repair_data import RepairData
from sentprobe.probes.repair.text_groups import normalize
from sentprobe.probes.similarity.gate_comparison import AUC, FALSE_HITS, LEVEL, MISSES, GateDifference, compare_gates
from sentprobe.probes.similarity.gate_comparison import describe_difference as describe_values
from sentprobe.probes.similarity.gate_rates import GateDraw, measure_gate
from sentprobe.probes.similarity.gate_thresholds import ThresholdRule
from sentprobe.probes.similarity.pair_scores import OWN_PAIRS, VectorScorer, score_triplets
from sentprobe.probes.similarity.text_pairs import score_own_pairs, score_pairs
from sentprobe.probes.statistics import Correction, Floats, Interval, compute_sign_test, correct_p_values

NOT_FOUND = "not found first"
"""The figure of paraphrases whose nearest vector is another text's."""
PARAPHRASES = "paraphrases"
GENERATED_PREFIX = "generated "
NEUTRAL = 300
"""The greatest number of neutral texts, whose pairs are ranked by cosine."""
RESAMPLES = 200
"""The number of bootstrap samples of neutral texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFigures:
    """The figures of one model on the held-out texts."""

    own: GateDraw
    generated: GateDraw
    is_found: Floats
    """Whether each held-out paraphrase has its own text's vector as its nearest one, (n,); 1 or 0."""
    cosines: Floats
    """The cosines of neutral texts, (texts, texts)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairResult:
    """The figures before and after a repair. ``str(result)`` names the kinds that are worse, or says that none is."""

    model: str
    seed: int
    differences: tuple[GateDifference, ...]
    """By kind: false hits and AUC; misses; paraphrases not found first. Their p-values are corrected together."""
    spearman: float
    """The rank correlation of old and new cosines of unrelated neutral texts."""
    spearman_interval: Interval
    neutral_texts: int
    has_paraphrases: bool
    """Whether the threshold and the AUC are of the user's paraphrases; if not, of variants."""
    max_loss: float
    notes: tuple[str, ...] = ()

    def list_losses(self) -> list[GateDifference]:
        """Return the figures that are significantly worse, by more than ``max_loss``."""
        return [
            row
            for row in self.differences
            if row.is_significant and row.is_worse and abs(row.difference) > self.max_loss and row.name != OWN_PAIRS
        ]

    def __str__(self) -> str:
        limit = f"{100 * self.max_loss:g} points"
        tests = f"{len(self.differences)} paired tests, Holm-corrected, p < {LEVEL:g}"
        if losses := self.list_losses():
            listed = ", ".join(f"{_strip_source(row.name)} ({row.format_values()})" for row in losses)
            return f"Worse by more than {limit} on held-out texts: {listed} ({tests})."
        better = [row.name for row in self.differences if row.is_significant and not row.is_worse]
        names = ", ".join(_strip_source(name) for name in dict.fromkeys(better) if name != OWN_PAIRS) or "nothing"
        lower = [row for row in self.differences if row.is_worse and abs(row.difference) > self.max_loss]
        listed = ", ".join(f"{_strip_source(row.name)} ({row.format_values()})" for row in lower)
        rest = f"; not significantly: {listed}" if lower else ""
        return (
            f"Significantly better on held-out texts: {names}; no kind is significantly worse by more than {limit} "
            f"({tests}){rest}."
        )

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary of scalar values for each figure."""
        facts = {"model": self.model, "seed": self.seed}
        spearman = {
            "name": "neutral texts",
            "figure": "Spearman",
            "pairs": self.neutral_texts,
            "first_value": 1.0,
            "second_value": self.spearman,
            "low": self.spearman_interval.low,
            "high": self.spearman_interval.high,
        }
        return [facts | row for row in (*map(asdict, self.differences), spearman)]


def _strip_source(name: str) -> str:
    return name.removeprefix(f"{OWN_PAIRS}, ")


def measure_model(encoder: Encoder, data: RepairData, generated: Sequence[Any], *, seed: int) -> ModelFigures:
    """Measure a model on the held-out side of *data*, and on generated triplets of each contrast.

    The threshold that keeps 95% of the paraphrases is chosen on one half of them.

    - generated: sets of triplets
    """
    scorer = VectorScorer(encoder)
    side = data.held_out
    same = [pair._replace(kind="") for pair in side.same]
    rule = ThresholdRule(keep=0.95)
    own = measure_gate(
        score_own_pairs(scorer, [*side.opposites, *same]),
        rule=rule,
        scorer=scorer.name,
        measure=scorer.measure,
        seed=seed,
        paraphrases=score_pairs(scorer, same),
    )
    # Of both negatives, the one in the paraphrase's form: only its content tells it from the paraphrase.
    cells = [score_triplets(scorer, triplets, SilentReporter())[1] for triplets in generated]
    return ModelFigures(
        own=own,
        generated=measure_gate(cells, rule=rule, scorer=scorer.name, measure=scorer.measure, seed=seed),
        is_found=find_first(encoder, data),
        cosines=compute_cosines(encoder, sample_neutral(data, seed=seed)),
    )


def find_first(encoder: Encoder, data: RepairData) -> Floats:
    """Return 1 for each held-out paraphrase that is nearest to its own text among all the user's texts, else 0, (n,).

    A text that is the paraphrase itself is no candidate.
    """
    pairs = data.held_out.same
    own = {normalize(pair.second) for pair in pairs}
    candidates = [text for text in (*data.training.texts, *data.held_out.texts) if normalize(text) not in own]
    candidates = [*dict.fromkeys([*candidates, *(pair.first for pair in pairs)])]
    places = {text: place for place, text in enumerate(candidates)}
    queries, texts = (_normalize_rows(encoder.encode(part)) for part in ([pair.second for pair in pairs], candidates))
    cosines = queries @ texts.T
    own_cosines = cosines[np.arange(len(pairs)), [places[pair.first] for pair in pairs]]
    # 1e-6: by rounding, the cosine of the best candidate may differ from the same cosine in the matrix.
    return np.asarray(own_cosines >= cosines.max(axis=1) - 1e-6, np.float64)


def _normalize_rows(vectors: Any) -> Floats:
    rows = np.asarray(vectors, np.float64)
    normalized: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return normalized


def sample_neutral(data: RepairData, *, seed: int) -> list[str]:
    """Return at most NEUTRAL held-out texts."""
    texts = [*data.held_out.neutral]
    if len(texts) <= NEUTRAL:
        return texts
    return [texts[i] for i in np.random.default_rng(seed).choice(len(texts), NEUTRAL, replace=False)]


def compute_cosines(encoder: Encoder, texts: Sequence[str]) -> Floats:
    """Return the cosines of all pairs of texts, (n, n)."""
    vectors = _normalize_rows(encoder.encode(texts))
    return vectors @ vectors.T


def correlate_cosines(old: Floats, new: Floats, *, seed: int) -> tuple[float, Interval]:
    """Return Spearman's correlation of the cosines of n texts, and its 95% interval by a bootstrap of texts.

    - old, new: (n, n)
    """
    above = np.triu_indices(len(old), 1)
    draw = np.random.default_rng(seed)
    values = []
    for _ in range(RESAMPLES):
        rows = draw.integers(0, len(old), len(old))
        places = rows[above[0]], rows[above[1]]
        is_pair = places[0] != places[1]  # a text drawn twice has the cosine 1 with itself
        values.append(_correlate_ranks(*(cosines[places][is_pair] for cosines in (old, new))))
    low, high = np.quantile(values, (0.025, 0.975))
    return _correlate_ranks(old[above], new[above]), Interval(float(low), float(high))


def _correlate_ranks(first: Floats, second: Floats) -> float:
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def compare_figures(
    before: ModelFigures, after: ModelFigures, data: RepairData, *, model: str, max_loss: float, seed: int
) -> RepairResult:
    """Return the differences of a repaired model from the old one, with paired tests that are corrected together."""
    own = compare_gates(before.own, after.own, seed=seed).differences
    generated = compare_gates(before.generated, after.generated, seed=seed).differences
    generated = tuple(replace(row, name=GENERATED_PREFIX + row.name.removesuffix(" (form)")) for row in generated)
    rows = [*own, _compare_found(before.is_found, after.is_found), *generated]
    corrected = correct_p_values([row.p for row in rows], Correction.HOLM)
    spearman, interval = correlate_cosines(before.cosines, after.cosines, seed=seed)
    return RepairResult(
        model=model,
        seed=seed,
        differences=tuple(replace(row, corrected_p=p) for row, p in zip(rows, corrected, strict=True)),
        spearman=spearman,
        spearman_interval=interval,
        neutral_texts=len(before.cosines),
        has_paraphrases=data.held_out.has_paraphrases,
        max_loss=max_loss,
    )


def _compare_found(before: Floats, after: Floats) -> GateDifference:
    changes = before - after  # of the share that is not found
    sign_p = compute_sign_test(int((changes > 0).sum()), int((changes < 0).sum()))
    fields = describe_values(
        PARAPHRASES,
        NOT_FOUND,
        np.array([1 - before.mean(), 1 - after.mean()]),
        float(changes.var(ddof=1)) / len(changes),
        len(changes),
        flat_p=sign_p,
    )
    fields["p"] = sign_p
    return GateDifference(**fields, pairs=len(changes), corrected_p=sign_p)


HEADER = (
    "kind",
    "pairs",
    *(f"{figure}{part}" for figure in (FALSE_HITS, AUC) for part in (": before", ": after", ": difference")),
)


def build_repair_grid(result: RepairResult) -> Grid:
    """Return the table of kinds: false hits and AUC before and after. A difference has a star if it is significant."""
    by_name = group_by((row for row in result.differences if row.name != OWN_PAIRS), lambda row: row.name)
    rows = []
    for name, group in by_name.items():
        figures = {row.figure: row for row in group}
        if AUC not in figures:
            continue
        texts = [text for figure in (FALSE_HITS, AUC) for text in _format_difference(figures.get(figure))]
        rows.append(GridRow(_strip_source(name), "", (GridCell(str(figures[AUC].pairs)), *map(GridCell, texts))))
    return Grid(HEADER, tuple(rows))


def build_whole_grid(result: RepairResult) -> Grid:
    """Return the table of figures that have no kind: misses, paraphrases found first, and Spearman's correlation."""
    rows = []
    for row in result.differences:
        if row.figure in (MISSES, NOT_FOUND):
            texts = (f"{row.name}, {row.figure}", str(row.pairs), *_format_difference(row))
            rows.append(GridRow(texts[0], "", tuple(map(GridCell, texts[1:]))))
    low, high = result.spearman_interval.low, result.spearman_interval.high
    spearman = (str(result.neutral_texts), "1", f"{result.spearman:.3f}", f"[{low:.3f}, {high:.3f}]")
    rows.append(GridRow("neutral texts, Spearman with the old cosines", "", tuple(map(GridCell, spearman))))
    return Grid(("figure", "pairs or texts", "before", "after", "difference"), tuple(rows))


def _format_difference(row: GateDifference | None) -> tuple[str, str, str]:
    if row is None:
        return "", "", ""
    before, after = (f"{100 * value:.1f}" for value in (row.first_value, row.second_value))
    return before, after, f"{row.format_difference()}{'*' if row.is_significant else ''}"


def build_repair_tables(result: RepairResult) -> list[ShownTable]:
    """Return both tables; the notes stand below the second."""
    return [("", build_repair_grid(result), ""), ("", build_whole_grid(result), format_repair_notes(result))]


def format_repair_notes(result: RepairResult) -> str:
    """Return the notes below the table."""
    source = (
        "Paraphrases are yours (same=1)."
        if result.has_paraphrases
        else "Without enough paraphrases of yours, variants (edits of the same meaning) stand for them. Variants are "
        "far easier than real paraphrases: do not use a threshold or a recall that they give; add --pairs."
    )
    notes = (
        "Held-out texts: no text, edit or near-copy of them was trained on. Figures in percent, differences in "
        "percentage points with 95% intervals; * significant (paired tests, Holm-corrected together, p < 0.05).",
        "False hits: pairs of another meaning that pass the threshold that keeps 95% of paraphrases, chosen on one "
        "half of them for each model. AUC: paraphrases against the kind's pairs. Not found first: paraphrases whose "
        "nearest text is not their own. Spearman: its interval is a bootstrap of texts; it has no test, since the old "
        "model's is 1.",
        f"{GENERATED_PREFIX}...: sentences of gen pairs, on which nothing was trained; they show whether a meaning got "
        "lost.",
        source,
        *result.notes,
    )
    return "".join(f"{note}\n" for note in notes)
