"""Triplets written by ``gen pairs`` give the same measures as sampled ones."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sentprobe.common.errors import FormatError, SentprobeError
from sentprobe.generator.pairs.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.results.result import renumber_units
from sentprobe.probes.similarity.triplet_sentences import (
    SampledTriplets,
    TripletSampling,
    check_annotation,
    is_pairs_file,
    is_triplet_file,
    read_triplets,
)

SPACE = TripletSpace(english(), "role", vocabulary="compeval", templates=["transitive"])
DRAWING = TripletSampling(n=60, distractors=0, seed=3)


@pytest.fixture(params=["t.jsonl", "t.parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file: Path = tmp_path / request.param
    write_triplets(SPACE.sample(60, seed=3), file, TripletFormat(file.suffix[1:]))
    return file


def test_drawn_triplets_are_read(path: Path) -> None:
    sampled, read = SampledTriplets(SPACE, DRAWING), read_triplets(path)
    assert is_triplet_file(path)
    assert [*map(tuple, read.columns)] == [*map(tuple, sampled.columns)]
    assert read.contrast == "role"
    assert renumber_units(read.units) == renumber_units(sampled.units)  # the same belong together
    assert read.fingerprint == sampled.fingerprint


def make_line(**changed: Any) -> dict[str, Any]:
    anchor = {"lemma": ["man", "sleep"], "upos": ["NOUN", "VERB"]}
    sides = {side.value: f"a {side.value}" for side in SIDES}
    annotation = {"anchor": {"tokens": anchor}}
    return {"contrast": "role", **sides, "annotation": annotation, **changed}


WRONG: list[tuple[list[Any], str]] = [
    ([make_line(), make_line(contrast="tense")], "of one contrast; these are of role and tense"),
    ([make_line(contrast="roll")], "there is no contrast 'roll' (did you mean 'role'?)"),
    ([make_line(), make_line(anchor="")], "line 2: not a triplet as gen pairs writes it, with the texts contr"),
    ([make_line(), 3], "line 2: not a triplet"),
    ([make_line(), make_line(annotation={"anchor": {"tokens": {"lemma": ["a"], "upos": []}}})], "line 2: no"),
    ([make_line(), make_line(annotation={"anchor": []})], "line 2: not a triplet"),
    ([make_line(), make_line(negative=3)], "line 2: not a triplet"),
]


@pytest.mark.parametrize(("lines", "message"), WRONG)
def test_lines_that_are_no_triplets(lines: list[Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f"{json.dumps(value)}\n" for value in lines), "utf-8")
    assert is_triplet_file(path)
    with pytest.raises(SentprobeError) as caught:
        read_triplets(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.jsonl", json.dumps(make_line()).encode() + b"\n{", r"t\.jsonl: line 2: "),
        ("t.jsonl", json.dumps(make_line()).encode() + b"\n\xff", r"t\.jsonl: line 2: not UTF-8"),
        ("t.jsonl", b"", "it has none"),
        ("t.parquet", b"PAR1", r"t\.parquet: not a Parquet file that can be read"),
        ("t.parquet", None, r"t\.parquet: "),  # as JSONL has it, with "tokens"
    ],
)
def test_damaged_file_is_refused(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is None:
        pq.write_table(pa.Table.from_pylist([make_line()]), path)
    else:
        path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_triplets(path)


def test_missing_columns_are_named(tmp_path: Path) -> None:
    lines = tmp_path / "t.jsonl"
    lines.write_text(json.dumps({"anchor": "a", "positive": "b", "negative": "c"}), "utf-8")
    columns = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pylist([{**make_line(), "annotation": "x"}]).drop(["anchor"]), columns)
    for path, missing in ((lines, "contrast, hard_negative, annotation are missing"), (columns, "anchor is missing")):
        assert is_pairs_file(path)
        with pytest.raises(FormatError) as caught:
            check_annotation(path)
        assert f"{path}: not triplets that can be measured: {missing}; " in str(caught.value)
    assert not is_pairs_file(tmp_path / "none.parquet")


def test_other_files_are_no_triplets(tmp_path: Path) -> None:
    for name, text in (
        ("a.jsonl", '{"split": "train"}\n'),
        ("b.jsonl", "{"),
        ("c.jsonl", ""),
        ("d.txt", json.dumps(make_line())),
        ("e.parquet", "PAR1"),
    ):
        (tmp_path / name).write_text(text, "utf-8")
        assert not is_triplet_file(tmp_path / name), name
    assert not is_triplet_file(tmp_path / "none.jsonl")
    assert not is_triplet_file(tmp_path)
