"""Comparisons of two scorers on the same pairs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.common.errors import FormatError, SentprobeError, UsageError
from sentprobe.common.tables import TableFormat
from sentprobe.probes.similarity.gate_comparison import GateComparison, compare_gates, read_stored_gate
from sentprobe.probes.similarity.gate_rates import GateDraw, measure_gate
from sentprobe.probes.similarity.gate_thresholds import ThresholdRule
from sentprobe.probes.similarity.pair_scores import ScoredPairs, ScoredSide, TextPair
from sentprobe.probes.statistics import compute_sign_test


def make_gate(
    paraphrases: list[np.ndarray], negatives: list[np.ndarray], units: np.ndarray, *, threshold: float | None = None
) -> GateDraw:
    """Return the result of a scorer with the scores of each kind's pairs."""
    cells = []
    for kind, scores in enumerate(zip(paraphrases, negatives, strict=True)):
        same, different = (
            ScoredSide(
                pairs=[TextPair(f"{kind} {row}", str(is_same), is_same) for row in range(len(side))],
                scores=side,
                units=units,
            )
            for side, is_same in zip(scores, (True, False), strict=True)
        )
        cells.append(ScoredPairs(contrast=f"kind{kind}", form="form", same=same, different=different))
    rule = ThresholdRule(threshold=threshold)
    return measure_gate(cells, rule=rule, scorer="x", measure="score", seed=0)


def compare_noisy(
    draw: np.random.Generator, n: int, means: np.ndarray, *, noise: float = 0.5, loss: float = 0.0
) -> GateComparison:
    """Compare scorers that add independent noise to the same similarities; the second has negatives *loss* nearer."""
    units = draw.integers(0, 1 << 40, n)
    same, different = [draw.normal(0, 1, n) for _ in means], [draw.normal(mean, 1, n) for mean in means]
    gates = []
    for shift in (0.0, loss):
        paraphrases = [scores + draw.normal(0, noise, n) for scores in same]
        negatives = [scores + shift + draw.normal(0, noise, n) for scores in different]
        gates.append(make_gate(paraphrases, negatives, units))
    return compare_gates(*gates)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "means", "noise"),
    [(60, np.linspace(-2.5, 2.5, 3), 0.5), (100, np.linspace(-2.5, 2.5, 5), 0.5), (40, np.linspace(-4.5, 0.5, 5), 1.5)],
)
def test_equally_good_scorers_rarely_differ(n: int, means: np.ndarray, noise: float) -> None:
    """Each has its own threshold, which also errs: with any significant difference in at most 5% of draws."""
    draw = np.random.default_rng(0)
    alarms = [bool([row for row in compare_noisy(draw, n, means, noise=noise).differences if row.is_significant])
              for _ in range(500)]  # fmt: skip
    assert np.mean(alarms) <= 0.05


def test_nearer_negatives_are_named() -> None:
    comparison = compare_noisy(np.random.default_rng(0), 300, np.array([-2.0, -1.0]), noise=0.1, loss=0.7)
    worse = {(row.name, row.figure) for row in comparison.list_significant(worse=True)}
    assert {(f"kind{kind} (form)", figure) for kind in (0, 1) for figure in ("AUC", "false hits")} <= worse
    assert not comparison.list_significant(worse=False)
    assert str(comparison).startswith("From x to x, these meanings got lost: kind0 (form) (false hits ")


@given(st.integers(0, 1000))
@examples(8)
def test_intervals_and_tests_agree_with_arithmetic(seed: int) -> None:
    """With a stated threshold, errors are compared by the sign test over units."""
    draw = np.random.default_rng(seed)
    units = draw.integers(0, 12, 40)
    scores = draw.integers(0, 10, (2, 2, 40)) / 10
    first, second = (make_gate([same], [different], units, threshold=0.5) for same, different in scores)
    false_hits, area, misses = compare_gates(first, second).differences
    hits = scores[:, 1] >= 0.5
    assert false_hits.difference == pytest.approx(hits[1].mean() - hits[0].mean())
    gains = np.bincount(units, weights=hits[1].astype(float) - hits[0])
    assert false_hits.p >= compute_sign_test(int((gains > 0).sum()), int((gains < 0).sum()))
    assert misses.first_value == (scores[0, 0] < 0.5).mean()
    assert (area.first_value, area.second_value) == pytest.approx((first.rates[0].auc, second.rates[0].auc))
    for row in (false_hits, area, misses):
        assert row.low <= row.difference <= row.high
        assert row.p <= row.corrected_p <= 1
    back = compare_gates(second, first).differences
    assert [-row.difference for row in back] == pytest.approx([row.difference for row in (false_hits, area, misses)])
    assert [row.p for row in back] == pytest.approx([false_hits.p, area.p, misses.p])


def test_identical_models_differ_in_nothing() -> None:
    results = sentprobe.gate("bow?dim=8", against="bow?dim=8", contrasts=["role", "noun"], n=60)
    assert results.comparison is not None
    assert len(results.comparison.differences) == 9
    assert {(row.difference, row.low, row.high, row.p) for row in results.comparison.differences} == {(0, 0, 0, 1)}
    assert "no meaning got lost or was gained (9 paired tests, Holm-corrected, p < 0.05)" in str(results)


def test_loss_of_dimensions_is_named() -> None:
    """A bag of words with two dimensions hardly tells nouns apart."""
    results = sentprobe.gate("bow?dim=64", against="bow?dim=64&dims=2", contrasts=["noun", "role"], n=150)
    assert results.comparison is not None
    assert {row.name for row in results.comparison.list_significant(worse=True)} >= {"noun (form)"}
    assert "role (form)" not in {row.name for row in results.comparison.list_significant(worse=True)}
    assert results.other is not None
    assert {record["scorer"] for record in results.to_records()} == {"bow?dim=64", results.other.scorer}


def test_stored_result_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    options = {"contrasts": ["noun"], "n": 150}
    first = sentprobe.gate("bow?dim=64", **options)  # type: ignore[arg-type]
    path.write_text(first.format_records(TableFormat.JSON), encoding="utf-8")
    stored = read_stored_gate(path, seed=0)
    assert stored.pairs == first.draws[0].pairs
    assert (stored.measure, stored.keep, stored.scorer) == ("cosine", 0.95, f"bow?dim=64 in {path}")
    worse = sentprobe.gate("bow?dim=64&dims=2", baseline=path, **options).comparison  # type: ignore[arg-type]
    against = sentprobe.gate("bow?dim=64", against="bow?dim=64&dims=2", **options).comparison  # type: ignore[arg-type]
    assert worse is not None
    assert against is not None
    assert worse.differences == against.differences
    more = sentprobe.gate("bow?dim=64", baseline=path, contrasts=["noun", "role"], n=150).comparison
    assert more is not None
    assert more.unmatched == 450
    with pytest.raises(UsageError, match="no measured pair in common"):
        sentprobe.gate("bow?dim=64", baseline=path, contrasts=["role"], n=20)
    with pytest.raises(UsageError, match="it has no pairs with the seed 7; its seeds: 0"):
        sentprobe.gate("bow", baseline=path, contrasts=["role"], n=20, seed=7)


def double_pairs(document: dict[str, Any]) -> None:
    document["pairs"] *= 2


def double_paraphrase(document: dict[str, Any]) -> None:
    document["pairs"].append(next(pair for pair in document["pairs"] if pair["same"]))


def drop_pair(document: dict[str, Any]) -> None:
    document["pairs"].remove(
        next(pair for pair in document["pairs"] if not pair["same"] and pair["half"] == "measured")
    )


def change_verdicts(document: dict[str, Any]) -> None:
    for pair in document["pairs"]:
        pair["verdict"] = {"rejection": "false hit", "false hit": "rejection"}.get(pair["verdict"], pair["verdict"])


def change_pair(**values: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["pairs"][0].update(values)


def change_rates(**values: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["rates"][0].update(values)


@pytest.mark.parametrize(
    "change",
    [
        double_pairs,
        double_paraphrase,
        drop_pair,
        change_verdicts,
        *(change_rates(**{name: 3}) for name in ("pairs", "false_hits", "misses", "auc", "threshold", "ties")),
        change_pair(score=0.25),
        change_pair(unit=7),
        lambda document: document.update(rates=document["rates"][:1]),
        lambda document: document.pop("digest"),
    ],
)
def test_an_edited_file_is_refused(change: Callable[[dict[str, Any]], object], tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    document = json.loads(sentprobe.gate("bow?dim=8", contrasts=["noun"], n=40).format_records(TableFormat.JSON))
    path.write_text(json.dumps(document), encoding="utf-8")
    read_stored_gate(path, seed=0)
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(FormatError, match=r"its digest is missing or wrong: it was edited, .* a file of probe gate"):
        read_stored_gate(path, seed=0)


OWN_ROWS = [
    *((f"a dog {i} runs", f"a hound {i} runs", 1) for i in range(12)),
    *(
        (f"a dog {i} runs", f"no dog {i} runs", 0, kind)
        for i in range(12)
        for kind in ("negation", "other")[: i % 2 + 1]
    ),
]


@pytest.mark.parametrize("options", [{}, {"threshold": 0.5}, {"contrasts": ["noun"], "n": 40}])
def test_stored_result_of_own_pairs_is_read(options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    result = sentprobe.gate("bow?dim=8", pairs=OWN_ROWS, **options)
    path.write_text(result.format_records(TableFormat.JSON), encoding="utf-8")
    assert read_stored_gate(path, seed=0).pairs == result.draws[0].pairs


PAIR = {
    "scorer": "x", "seed": 0, "source": "pairs", "contrast": "", "form": "", "kind": "", "a": "x", "b": "y",
    "same": True, "unit": 3, "half": "measured", "score": 0.5, "verdict": "hit",
}  # fmt: skip
RATES = [{"scorer": "x", "measure": "cosine", "keep": None}]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, "cannot read it"),
        ("[]", "a JSON object is expected"),
        ("{", "line 1 column 2"),
        ({"rates": RATES}, "'pairs' must be a list of objects"),
        ({"rates": [], "pairs": [PAIR]}, "'rates' must be a list of objects"),
        ({"rates": [{**RATES[0], "keep": "x"}], "pairs": [PAIR]}, "keep must be a number"),
        ({"rates": RATES, "pairs": [{**PAIR, "verdict": "maybe"}]}, "pairs[0].verdict must be one of"),
        ({"rates": RATES, "pairs": [{**PAIR, "unit": "x"}]}, "pairs[0].unit must be a whole number"),
        ({"rates": RATES, "pairs": [{name: PAIR[name] for name in PAIR if name != "a"}]}, "pairs[0]: 'a' is missing"),
    ],
)
def test_stored_result_is_checked(document: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    if document is not None:
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    with pytest.raises(SentprobeError) as caught:
        read_stored_gate(path, seed=0)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert isinstance(caught.value, UsageError if document is None else FormatError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"against": "bow", "baseline": "x.json"}, "--against and --baseline: give one of them"),
        ({"against": "bow", "then": "bow"}, "--against compares single models; leave out --then"),
        ({"baseline": "x.json", "draws": 2}, "--baseline compares the pairs of one draw; leave out --draws"),
        ({"against": "bow", "budget": 0.1}, "--against compares false hits, which --budget fixes"),
    ],
)
def test_comparison_refuses_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sentprobe.gate("bow", **options)  # type: ignore[arg-type]


def test_rounding_and_one_pair_are_not_significant() -> None:
    first, second = (sentprobe.gate(f"bow?dim={dim}", contrasts=["role"], n=60).draws[0] for dim in (32, 64))
    rows = compare_gates(first, second).differences
    assert all(row.p == 1 for row in rows if abs(row.difference) < 1e-12)
    gates = []
    for score in (-1.0, 1.0):  # of the only negative: below all paraphrases, then above
        same = [TextPair(str(row), "a", same=True) for row in range(30)]
        sides = (
            ScoredSide(pairs=same, scores=np.linspace(0, 0.5, 30), units=np.arange(30)),
            ScoredSide(pairs=[TextPair("b", "c", same=False)], scores=np.array([score]), units=np.array([99])),
        )
        pairs = ScoredPairs(contrast="kind0", form="form", same=sides[0], different=sides[1])
        gates.append(measure_gate([pairs], rule=ThresholdRule(threshold=0.2), scorer="x", measure="score", seed=0))
    (area,) = [row for row in compare_gates(*gates).differences if row.figure == "AUC"]
    assert (area.first_value, area.second_value, area.p) == (1, 0, 1)
