"""Triplets that ``gen pairs`` wrote are measured as those that are drawn."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sentprobe.errors import FormatError, SentprobeError
from sentprobe.generator.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.triplets import SIDES, TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.geometry.material import Drawing, GeometryMaterial
from sentprobe.probes.geometry.triplet_reader import (
    check_annotated,
    is_of_pairs,
    is_triplets,
    read_triplets,
)
from sentprobe.probes.runs.results import renumber

SPACE = TripletSpace(english(), "role", vocabulary="compeval", templates=["transitive"])
DRAWING = Drawing(n=60, variants=0, seed=3)


@pytest.fixture(params=["t.jsonl", "t.parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    found: Path = tmp_path / request.param
    write_triplets(SPACE.sample(60, seed=3), found, TripletFormat(found.suffix[1:]))
    return found


def test_what_was_drawn_is_read(path: Path) -> None:
    drawn, found = GeometryMaterial(SPACE, DRAWING), read_triplets(path)
    assert is_triplets(path)
    assert [*map(tuple, found.columns)] == [*map(tuple, drawn.columns)]
    assert found.contrast == "role"
    assert renumber(found.units) == renumber(drawn.units)  # the same belong together
    assert found.fingerprint == drawn.fingerprint


def line(**changed: Any) -> dict[str, Any]:
    anchor = {"lemma": ["man", "sleep"], "upos": ["NOUN", "VERB"]}
    sides = {side.value: f"a {side.value}" for side in SIDES}
    annotation = {"anchor": {"tokens": anchor}}
    return {"contrast": "role", **sides, "annotation": annotation, **changed}


WRONG: list[tuple[list[Any], str]] = [
    ([line(), line(contrast="tense")], "of one contrast; these are of role and tense"),
    ([line(contrast="roll")], "there is no contrast 'roll' (did you mean 'role'?)"),
    (
        [line(), line(anchor="")],
        "line 2: no triplet as gen pairs writes them, with the texts contr",
    ),
    ([line(), 3], "line 2: no triplet"),
    ([line(), line(annotation={"anchor": {"tokens": {"lemma": ["a"], "upos": []}}})], "line 2: no"),
    ([line(), line(annotation={"anchor": []})], "line 2: no triplet"),
    ([line(), line(negative=3)], "line 2: no triplet"),
]


@pytest.mark.parametrize(("lines", "message"), WRONG)
def test_lines_that_are_no_triplets(lines: list[Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines), "utf-8")
    assert is_triplets(path)
    with pytest.raises(SentprobeError) as caught:
        read_triplets(path)
    assert message in str(caught.value)


def test_files_that_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(line()) + "\n{", "utf-8")
    with pytest.raises(FormatError, match=r"t\.jsonl: line 2: "):
        read_triplets(path)
    path.write_text("", "utf-8")
    with pytest.raises(FormatError, match="these are none"):
        read_triplets(path)
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(FormatError, match=r"t\.parquet: not a Parquet file that can be read"):
        read_triplets(path)
    pq.write_table(pa.Table.from_pylist([line()]), path)  # as JSONL has it, with "tokens"
    with pytest.raises(FormatError, match=r"t\.parquet: "):
        read_triplets(path)


def test_what_is_needed_is_named(tmp_path: Path) -> None:
    lines = tmp_path / "t.jsonl"
    lines.write_text(json.dumps({"anchor": "a", "positive": "b", "negative": "c"}), "utf-8")
    columns = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pylist([{**line(), "annotation": "x"}]).drop(["anchor"]), columns)
    for path, missing in (
        (lines, "contrast, hard_negative, annotation are missing"),
        (columns, "anchor is missing"),
    ):
        assert is_of_pairs(path)
        with pytest.raises(FormatError) as caught:
            check_annotated(path)
        assert f"{path}: no triplets that can be measured: {missing}; " in str(caught.value)
    assert not is_of_pairs(tmp_path / "none.parquet")


def test_other_files_are_no_triplets(tmp_path: Path) -> None:
    for name, text in (
        ("a.jsonl", '{"split": "train"}\n'),
        ("b.jsonl", "{"),
        ("c.jsonl", ""),
        ("d.txt", json.dumps(line())),
        ("e.parquet", "PAR1"),
    ):
        (tmp_path / name).write_text(text, "utf-8")
        assert not is_triplets(tmp_path / name), name
    assert not is_triplets(tmp_path / "none.jsonl")
    assert not is_triplets(tmp_path)
