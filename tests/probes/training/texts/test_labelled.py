"""Labelled pairs and triplets: published, or written by ``gen pairs``."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.thoroughness import examples
from helpers.trainings.text_corpora import sentences
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.generator.pairs.inference_pairs import NliLabel, write_training_data
from sentprobe.generator.pairs.triplet_files import TripletFormat
from sentprobe.probes.training.pair_texts import read_nli, read_triplets
from sentprobe.probes.training.text_filters import TextOptions

AS_IS = TextOptions(tokenised=True)


def json_lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def published(label: object, one: str = "A man.", two: str = "Men.") -> dict[str, object]:
    return {"annotator_labels": ["x"], "gold_label": label, "sentence1": one, "sentence2": two}


def test_pairs_as_snli_has_them(tmp_path: Path) -> None:
    rows = [published("neutral"), published("-"), published("entailment", two="x " * 60)]
    rows += [published("contradiction", "It isn't."), published("entailment", "")]
    pairs = read_nli(json_lines(tmp_path / "snli.jsonl", *rows))
    assert pairs.premises == ("A man .", "It is n't .")
    assert pairs.hypotheses == ("Men .", "Men .")
    assert pairs.labels.tolist() == [NliLabel.NEUTRAL, NliLabel.CONTRADICTION]
    assert str(pairs) == "2 pairs (0 entailment, 1 neutral, 1 contradiction)"
    assert str(pairs.omitted) == ("3 were left out: 1 without a token, 1 too long, 1 without a label")


@examples(20)
@given(st.lists(st.tuples(sentences, sentences, st.sampled_from(NliLabel)), min_size=2, max_size=5))
def test_pairs_are_read_as_gen_writes_them(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, NliLabel]]
) -> None:
    folder = tmp_path_factory.mktemp("nli")
    premises, hypotheses, labels = ([*column] for column in zip(*rows, strict=True))
    table = {"premise": premises, "hypothesis": hypotheses, "label": [*map(int, labels)]}
    for style in (TripletFormat.PARQUET, TripletFormat.JSONL):
        path = folder / f"t.{style}"
        write_training_data([table], path, style)
        pairs = read_nli(path, options=AS_IS)
        assert [*zip(pairs.premises, pairs.hypotheses, pairs.labels, strict=True)] == rows


@examples(20)
@given(st.lists(st.tuples(sentences, sentences, sentences), min_size=2, max_size=5))
def test_triplets_are_read_as_gen_writes_them(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("triplets")
    columns = zip(("anchor", "positive", "negative"), zip(*rows, strict=True), strict=True)
    table = {name: [*column] for name, column in columns}
    for style in (TripletFormat.PARQUET, TripletFormat.JSONL):
        path = folder / f"t.{style}"
        write_training_data([table], path, style)
        triplets = read_triplets(path, options=AS_IS)
        assert [*zip(triplets.anchors, triplets.positives, triplets.negatives, strict=True)] == rows


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_numbers_as_text_are_labels(tmp_path: Path, suffix: str) -> None:
    path, labels = tmp_path / f"n{suffix}", ["0", "1", "2", "-1"]
    rows: list[dict[str, object]] = [{"premise": "a", "hypothesis": "b", "label": label} for label in labels]
    json_lines(path, *rows)
    if suffix == ".tsv":
        path.write_text("premise\thypothesis\tlabel\n" + "".join(f"a\tb\t{label}\n" for label in labels))
    assert read_nli(path).labels.tolist() == [0, 1, 2]


def test_pairs_of_the_hub_without_a_label(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    columns = {"premise": ["a"] * 4, "hypothesis": ["b"] * 4, "label": [-1, 0, None, 2]}
    pq.write_table(pa.table(columns), path)
    pairs = read_nli(path)
    assert pairs.labels.tolist() == [0, 2]
    assert pairs.omitted.unlabelled == 2


@pytest.mark.parametrize(
    ("read", "row", "message"),
    [
        (read_nli, published("netural"), "row 1: there is no label 'netural' (did you mean 'neut"),
        (read_nli, published(True), "row 1: there is no label True"),
        (read_nli, published([]), "row 1: there is no label []"),
        (read_nli, {"gold_label": "-", "sentence1": "a"}, "line 1: there is no column 'sentence2'"),
        (read_nli, {"premise": "a", "hypotheses": "b"}, "(did you mean 'hypotheses'?)"),
        (read_nli, published("-"), "has no pair to learn from (1 was left out: 1 without a label)"),
        (read_triplets, {"anchor": "a", "positive": "b"}, "line 1: there is no column 'negative'"),
        (read_triplets, dict.fromkeys(("anchor", "positive", "negative"), "a"), "only one triplet"),
        (read_triplets, {"anchor": 1, "positive": "", "negative": ""}, "'anchor' holds int; text"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    tmp_path: Path, read: Callable[[Path], object], row: dict[str, object], message: str
) -> None:
    with pytest.raises(SentprobeError) as caught:
        read(json_lines(tmp_path / "t.jsonl", row))
    assert message in str(caught.value)
