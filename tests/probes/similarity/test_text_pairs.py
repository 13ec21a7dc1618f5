"""Pairs of texts from files and from Python."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from helpers.thoroughness import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sentprobe
from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.similarity.pair_scores import PairModel, TextPair
from sentprobe.probes.similarity.text_pairs import load_pairs, read_paraphrases, score_own_pairs, score_pairs

TEXTS = st.text("abc ü,\"'", min_size=1).map(str.strip).filter(bool)
PAIRS = st.lists(
    st.builds(TextPair, TEXTS, TEXTS, st.booleans(), st.sampled_from(["", "date", "number"])), min_size=1, max_size=8
)


@given(PAIRS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_sources_give_the_same_pairs(tmp_path: Path, pairs: list[TextPair]) -> None:
    fields = ("a", "b", "same", "kind")
    table, lines = tmp_path / "pairs.csv", tmp_path / "pairs.jsonl"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([fields, *((a, b, int(same), kind) for a, b, same, kind in pairs)])
    records = [dict(zip(fields, pair, strict=True)) for pair in pairs]
    lines.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    assert load_pairs(table) == load_pairs(str(lines)) == load_pairs(pairs) == tuple(pairs)
    tsv = tmp_path / "pairs.tsv"
    tsv.write_text("\n".join("\t".join(map(str, row)) for row in (fields[:2], *(pair[:2] for pair in pairs))), "utf-8")
    assert read_paraphrases(tsv) == tuple(TextPair(pair.first, pair.second, same=True) for pair in pairs)


@given(PAIRS)
@examples(20)
def test_kinds_are_parts_of_all(pairs: list[TextPair]) -> None:
    scorer = PairModel(lambda texts: [len(first) - len(second) for first, second in texts], name="length")
    everything, *kinds = score_own_pairs(scorer, pairs)
    assert everything.same.scores.tolist() == [len(p.first) - len(p.second) for p in pairs if p.same]
    assert [cell.kind for cell in kinds] == sorted({pair.kind for pair in pairs if pair.kind and not pair.same})
    for cell in kinds:
        assert {pair.kind for pair in (*cell.same.pairs, *cell.different.pairs)} == {cell.kind}
        assert [*cell.different.pairs] == [pair for pair in everything.different.pairs if pair.kind == cell.kind]
    units = score_pairs(scorer, pairs).units
    assert [len({*units.tolist()})] == [len({pair.first for pair in pairs})]


def test_python_has_pairs_of_its_own() -> None:
    rows = [("x", "x", 1), ("x", "y", 0, "entity"), ("z", "z", True), ("z", "q", False)]
    results = sentprobe.gate("bow?dim=8", pairs=rows, threshold=0.9, contrasts=["role"])
    assert [rates.name for rates in results.draws[0].rates] == ["own pairs", "own pairs, entity"]
    assert str(results).startswith("Of your pairs: at a cosine of 0.9000")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.jsonl", '{"a": "x", "b": "y"}\n', "p.jsonl: line 1: the key same is missing"),
        ("p.jsonl", '{"a": "x", "b": 3, "same": 1}\n', "p.jsonl: line 1: b must be a text"),
        ("p.jsonl", '{"a": "x", "b": "y", "same": 2}\n', "line 1: same is '2'; 1 (the same meaning) or 0 is expected"),
        ("p.jsonl", '{"a": "x", "b": "y", "same": 1, "kind": "k", "contrast": "k"}\n', "two keys name the kind"),
        ("p.jsonl", "x\n", "p.jsonl: line 1: not JSON"),
        ("p.jsonl", '{"a": "x", "b": "y", "same": 1, "same": 0}', "line 1: not JSON (the key 'same' is stated twice"),
        ("p.csv", "a,b,same,note,note\n", "p.csv: the column note is given twice"),
        ("p.csv", "a,b,same,kind,contrast\n", "p.csv: the column kind is given twice"),
    ],
)
def test_wrong_file_is_refused(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(SentprobeError) as caught:
        load_pairs(tmp_path / name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("x", "y")], "pair 1: 2 values; a, b, same and at most a kind are expected"),
        ([("x", "y", 1), ("x", "", 1)], "pair 2: a text is empty"),
        ([("x", "y", "maybe")], "pair 1: same is 'maybe'"),
        ([("x", "y", 1)], "pairs: only pairs with same=1"),
    ],
)
def test_wrong_tuple_is_refused(rows: list[tuple[object, ...]], message: str) -> None:
    with pytest.raises(SentprobeError) as caught:
        sentprobe.gate("bow", pairs=rows)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_paraphrases_of_a_file_set_the_threshold(tmp_path: Path) -> None:
    """One half sets it; pairs with same=0 are no paraphrases, and generated pairs are all measured."""
    path = tmp_path / "mine.csv"
    rows = [f"the man{n} slept,the man{n} {'slept' if n % 3 else 'was there'},1" for n in range(40)]
    path.write_text("\n".join(["a,b,same", *rows, "x y,y z,0"]), encoding="utf-8")
    result = sentprobe.gate("bow?dim=8", contrasts="noun", n=30, paraphrases=path, keep=0.5).draws[0]
    assert {rates.pairs for rates in result.rates} == {30}
    own = [pair for pair in result.pairs if pair.source == "paraphrases"]
    assert len(own) == 40
    chosen = sorted(pair.score or 0.0 for pair in own if pair.half == "choice")
    assert result.threshold == chosen[len(chosen) // 2]
    assert result.kept == np.mean([pair.passes for pair in own if pair.half == "measured"])
    halved = sentprobe.gate("bow?dim=8", contrasts=["noun"], n=300, paraphrases=path, budget={"noun": 0.9}).draws[0]
    assert halved.threshold in chosen
    assert all(rates.pairs < 300 for rates in halved.rates)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,c\nx,y\n", "mine.csv: the column b is missing; the first line must name the columns a, b"),
        ("a,b\n", "mine.csv: no paraphrases"),
        ("a,b,same\nx,y,0\n", "mine.csv: no paraphrases"),
        ("a,b\nx,y\n", "too few paraphrases to choose a threshold on one half of them"),
        (None, "mine.csv: cannot read it"),
    ],
)
def test_wrong_paraphrases_are_refused(text: str | None, message: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "mine.csv").write_text(text, encoding="utf-8")
    with pytest.raises(SentprobeError) as caught:
        sentprobe.gate("bow?dim=8", contrasts=["noun"], n=20, paraphrases=tmp_path / "mine.csv")
    assert message in str(caught.value)


def test_stated_threshold_needs_no_paraphrases(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,b\nx,y\n", encoding="utf-8")
    with pytest.raises(UsageError, match="--threshold and --paraphrases: give one of them"):
        sentprobe.gate("bow", threshold=0.5, paraphrases=tmp_path / "mine.csv")
