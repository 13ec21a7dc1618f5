"""The options of ``probe run`` that ask for methods: what is printed, kept, and refused."""

from pathlib import Path

import pytest
from in_process import Command
from probe_strategies import learnable

from sentprobe.probes.formats import write_dataset

QUICK = ("--set", "max_epochs=1", "--jobs", "1", "--no-cache", "--no-controls")


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A small dataset."""
    write_dataset(learnable(size=40), tmp_path / "toy.jsonl")
    return tmp_path / "toy.jsonl"


def test_cut_and_rounded_vectors_are_rows(toy: Path, tmp_path: Path, command: Command) -> None:
    asked = ("run", str(toy), "-e", "bow?dim=6", "-e", "majority", "--out", str(tmp_path / "made"))
    code, shown, _ = command(*asked, *QUICK, "--dims", "2", "--quantize", "int8")
    assert code == 0
    rows = ["bow?dim=6", "bow?dim=6&quantize=int8", "bow?dim=6&dims=2"]
    for name in (*rows, "bow?dim=6&dims=2&quantize=int8", "majority"):
        assert f" {name} " in shown
    code, _, told = command(*asked, *QUICK, "--dims", "2,3", "--quantize", "int8")
    assert code == 0
    assert "5 results found, 2 made" in told


BAD = [
    (
        ("--dims", "64,x"),
        "probe run: option dims=64,x: whole numbers from 0 are wanted, with",
    ),
    (("--dims", "9,9"), "dims=9,9 has a value twice"),
    (("--dims", "9"), "bow?dim=6&dims=9: 9 dims of vectors that have 6; ask for fewer"),
    (
        ("--quantize", "int7"),
        "option quantize=int7: one of float32, int8, binary is wanted (did",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[text for _, text in BAD])
def test_refused(options: tuple[str, ...], message: str, toy: Path, command: Command) -> None:
    code, _, told = command("run", str(toy), "-e", "bow?dim=6", *QUICK, *options)
    assert (code, message in told) == (2, True), told
