"""``probe geometry`` with files of ``gen pairs`` instead of sampled triplets."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.in_process import Command

from sentprobe.generator.pairs.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.lexicon import english

BOW = ("-e", "bow?dim=8", "--no-cache")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Triplets of two contrasts."""
    out = tmp_path_factory.mktemp("pairs")
    for name in ("role", "tense"):
        space = TripletSpace(english(), name, vocabulary="compeval", templates=["all"])
        drawn = space.sample(30, seed=0)
        for fmt in (TripletFormat.PARQUET, TripletFormat.JSONL):
            write_triplets(drawn, out / f"{name}.{fmt}", fmt)
    return out


def figures(shown: str) -> dict[str, Any]:
    """Return each figure but those by group, by what it is of."""
    keys = ("accuracy", "paired", "margin", "low", "high")
    return {
        f"{record['contrast']} {record['kind']} {record['nearness']} {key}": record[key]
        for record in json.loads(shown)
        for key in keys
        if not record["by"]
    }


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_figures_are_those_of_the_same_triplets_drawn(suffix: str, files: Path, command: Command) -> None:
    arguments = [files / f"{name}.{suffix}" for name in ("role", "tense")]
    code, read, _ = command("geometry", *arguments, *BOW, "--format", "json")
    assert code == 0
    options = ("-c", "role", "-c", "tense", "-n", 30, "--distractors", 0)
    code, drawn, _ = command("geometry", *options, *BOW, "--format", "json")
    assert code == 0
    assert figures(read) == pytest.approx(figures(drawn))


def test_the_lines_below_say_what_they_are(files: Path, command: Command) -> None:
    code, shown, _ = command("geometry", files / "role.parquet", *BOW)
    assert code == 0
    assert "30 triplets from each file, and their mirrors" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("role.jsonl role.parquet", "role.parquet are both of the contrast role: use two"),
        ("role.jsonl --by place", "--by is for sampled triplets, not for those of "),
        ("role.jsonl --held-out 0.3", "--held-out is for sampled triplets, not for those"),
        ("role.jsonl --task Order", "--task is for compeval or datasets: name"),
        ("role.jsonl -n 3", "--n is for sampled triplets, not for the sentences of "),
    ],
)
def test_what_is_refused(options: str, message: str, files: Path, command: Command) -> None:
    words = [files / word if "." in word and "0" not in word else word for word in options.split()]
    code, out, err = command("geometry", *words, *BOW)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_files_without_annotation(suffix: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / f"training.{suffix}"
    line = {"anchor": "a man slept", "positive": "b", "negative": "c"}
    if suffix == "jsonl":
        path.write_text(json.dumps(line), "utf-8")
    else:
        pq.write_table(pa.Table.from_pylist([line]), path)
    code, out, err = command("geometry", path, *BOW)
    assert (code, out) == (1, "")
    assert err == (
        f"probe: {path}: not triplets that can be measured: contrast, hard_negative, annotation "
        "are "
        "missing; gen pairs writes them with their annotation, as JSONL or Parquet, without --for "
        "training\n"
    )


def test_a_damaged_file(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "role.parquet"
    path.write_bytes(b"PAR1")
    code, out, err = command("geometry", path, *BOW)
    assert (code, out) == (1, "")
    assert err.startswith(f"probe: {path}: not a Parquet file that can be read (")
