"""Training data: what its rows promise, its negatives, and its files."""

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from helpers.oracles.pairs_at_once import build_contrast_space, build_training_columns
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.meaning import Property, find_differences, has_same_meaning
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.inference_pairs import TrainingColumns, format_training_lines, write_training_data
from sentprobe.generator.pairs.triplet_files import TripletFormat
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import english

ROLE = TripletSpace(english(), "role", templates=["transitive"])
seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 40))
@examples(20)
def test_the_negative_is_of_either_kind_in_half_of_the_rows(seed: int, count: int) -> None:
    drawn = ROLE.sample(count, seed=seed)
    columns = build_training_columns(drawn)
    assert [*columns] == ["anchor", "positive", "negative"]
    anchor, positive, negative, hard = (drawn.render_texts(side) for side in SIDES)
    assert (columns["anchor"], columns["positive"]) == (anchor, positive)
    kinds = [
        (text == negative_text, text == hard_text)
        for text, negative_text, hard_text in zip(columns["negative"], negative, hard, strict=True)
    ]
    assert {*kinds} <= {(True, False), (False, True)}
    assert sum(has_positive_form for has_positive_form, _ in kinds) in (count // 2, (count + 1) // 2)


@pytest.mark.parametrize("contrast", CONTRASTS)
def test_what_a_row_says_by_its_sentences_alone(contrast: str) -> None:
    columns = build_training_columns(build_contrast_space(contrast).sample(4, seed=2))
    for row in zip(*columns.values(), strict=True):
        anchor, positive, negative = (parse(text, english())[0] for text in row)
        assert has_same_meaning(anchor, positive)
        assert find_differences(anchor, negative) == (Property(contrast),)


def test_no_row_is_written_twice() -> None:
    columns = build_training_columns(ROLE.sample(ROLE.count(), seed=0))
    assert Counter(zip(*columns.values(), strict=True)).most_common(1)[0][1] == 1


def test_both_files_say_the_same(tmp_path: Path) -> None:
    columns: TrainingColumns = {"premise": ['a "b"', "ü"], "label": [2, 0]}
    write_training_data([columns], tmp_path / "a.parquet", TripletFormat.PARQUET)
    write_training_data([columns], tmp_path / "a.jsonl", TripletFormat.JSONL)
    rows = [{"premise": 'a "b"', "label": 2}, {"premise": "ü", "label": 0}]
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == rows
    assert [json.loads(line) for line in format_training_lines([columns])] == rows
    assert (tmp_path / "a.jsonl").read_text("utf-8") == "".join(format_training_lines([columns]))
