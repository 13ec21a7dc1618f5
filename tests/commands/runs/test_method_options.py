"""The method options of ``probe run``: output, results and errors."""

import json
import re
from pathlib import Path

import pytest
from helpers.encoders.model_files import tiny_model
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.planted import make_numbered_dataset, sample_answers
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.probes.datasets.formats import write_dataset

QUICK = ("--set", "max_epochs=1", "--jobs", "1", "--no-cache", "--no-controls")


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A small dataset."""
    write_dataset(make_learnable_dataset(size=40), tmp_path / "toy.jsonl")
    return tmp_path / "toy.jsonl"


def test_cut_and_rounded_vectors_are_rows(toy: Path, tmp_path: Path, command: Command) -> None:
    arguments = ("run", str(toy), "-e", "bow?dim=6", "-e", "majority", "--out", str(tmp_path / "made"))
    shown = check_success(command(*arguments, *QUICK, "--dims", "2", "--quantize", "int8"))
    rows = ["bow?dim=6", "bow?dim=6&quantize=int8", "bow?dim=6&dims=2"]
    for name in (*rows, "bow?dim=6&dims=2&quantize=int8", "majority"):
        assert f" {name} " in shown
    code, _, stderr = command(*arguments, *QUICK, "--dims", "2,3", "--quantize", "int8")
    assert code == 0
    assert "5 results found, 2 made" in stderr


def test_methods_have_tables_below(toy: Path, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "made"
    arguments = ("run", str(toy), "-e", "bow?dim=6", "-e", "majority", "--out", str(out), *QUICK)
    shown = check_success(command(*arguments, "--control-task", "--method", "mdl", "--method", "complexity"))
    titles = [line for line in shown.splitlines() if line.endswith(", toy")]
    assert titles == [
        *("control task, toy", "description length, toy", "accuracy by training items, toy"),
        *("bits per label by training items, toy", "complexity, toy"),
    ]
    code, _, stderr = command(*arguments, "--method", "v-information", "--method", "sample-efficiency")
    assert (code, "2 results found\n" in stderr) == (0, True)
    for form in ("markdown", "latex", "csv", "json", "html"):
        code, text, _ = command("show", str(out), "--format", form)
        assert (code, "selectivity" in text or "portions" in text) == (0, True)
    records = json.loads(command("show", str(out), "--format", "json")[1])
    portions = [record for record in records if record["condition"] == "portions" and record["at"]]
    assert [record["at"] for record in portions] == [2, 4, 8, 15, 29, 58]
    assert portions[-1]["accuracy"] == next(
        record["accuracy"] for record in records if record["condition"] == "portions"
    )


def test_beside_whole_vectors_methods_are_of_these(toy: Path, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "made"
    shown = check_success(
        command("run", str(toy), "-e", "bow?dim=6", "--dims", "2", "--control-task", "-o", str(out), *QUICK)
    )
    assert "dims=2" not in shown.partition("control task, toy")[2]
    dry = command("run", str(toy), "-e", "bow?dim=6", "--control-task", "--dry-run", *QUICK)
    assert (dry[0], "2 probes" in dry[1]) == (0, True)


def test_erased_vectors_are_rows(tmp_path: Path, command: Command) -> None:
    mine, toy = tmp_path / "mine.jsonl", tmp_path / "toy.jsonl"
    write_dataset(make_numbered_dataset(sample_answers(40), train=30, name="mine"), mine)
    write_dataset(make_learnable_dataset(size=40), toy)
    arguments = ("run", str(toy), str(mine), "-e", "bow?dim=6&name=bow", *QUICK)
    code, shown, _ = command(*arguments, "--erase", str(mine), "--out", str(tmp_path / "made"))
    assert (code, " bow, without mine " in shown) == (0, True)
    check_refusal(
        command(*arguments, "--erase", str(toy)),
        "toy cannot be erased: its labels depend on probe words",
        progress=True,
    )
    check_refusal(
        command(*arguments, "--erase", str(tmp_path / "none")),
        "none: there is no such file or directory",
        progress=True,
    )


BAD = [
    ("toy -e bow?dim=6 --method mld", "there is no method 'mld' (did you mean 'mdl'?); known: mdl, sample-effi"),
    ("toy -e bow?dim=6 --method complexity --preset logreg", "preset logreg has no hidden layer that"),
    ("toy -e bow?dim=6 --dims 64,x", "probe run: option dims=64,x: whole numbers from 0 are expected, with"),
    ("toy -e bow?dim=6 --dims 0", "dims=0: a width must be at least 1; full vectors are always probed, too"),
    ("toy -e bow?dim=6 --dims 9,9", "dims=9,9 has a value twice"),
    ("toy -e bow?dim=6 --dims 9", "bow?dim=6&dims=9: the vectors have only 6 dims, fewer than 9"),
    ("toy -e bow?dim=6 --quantize int7", "option quantize=int7: one of float32, int8, binary is expected (did"),
    ("few -e bow?dim=6 --method mdl", "6 training items of 2 labels are too few for portions; at least 9 are needed"),
    ("toy -e bow --positions agent", "--positions is for hf: encoders, and there is none"),
    ("toy -e hf:m?pool=mean --positions agent", "hf:m?pool=mean: leave out pool=, or --positions"),
    ("toy -e hf:m --positions agnet", "hf: option pool=agnet: one of cls, mean"),
    ("toy -e hf:m --positions agent,agent", "pooling 'agent' is given twice"),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=[line for line, _ in BAD])
def test_bad_request_is_refused(line: str, message: str, toy: Path, command: Command) -> None:
    if "--positions" in line:
        pytest.importorskip("transformers")
    name, *words = line.split()
    data = toy.with_name(f"{name}.jsonl")
    if name == "few":
        write_dataset(make_learnable_dataset(size=5), data)
    check_refusal(command("run", data, *QUICK, *words), message, progress=True)


@pytest.mark.slow  # two runs of six probes
def test_positions_are_rows_and_a_heat_map(tmp_path: Path, command: Command) -> None:
    pytest.importorskip("transformers")
    model = tiny_model(tmp_path / "model", kind="GPT2")
    out = str(tmp_path / "made")
    arguments = ("run", "compeval", "--task", "Order", "--train", "56", "--test", "56", "--out", out, *QUICK)
    encoder = f"hf:{model}?name=M&absent=last"
    shown = check_success(command(*arguments, "-e", encoder, "-e", "majority", "--positions", "verb,agent"))
    rows = [line.strip("│ ").partition("│")[0].strip() for line in shown.splitlines() if line.startswith("│")]
    layers = ["layer 0", "layer 1", "layer 2"]
    assert [row for row in rows if row] == ["M at verb", *layers, "M at agent", *layers, "majority"]
    assert "sentences have 64 tokens or more" in shown
    assert re.search(r"\d+ sentences? without agent, pooled by last instead, such as ", shown)
    assert re.search(r"M at agent, layer 0 read only the beginning of \d+ of \d+", command("show", out, "--notes")[1])
    page = command("show", out, "--format", "html")[1]
    assert page.count("Accuracy by layer and position</h2>") == 1
    assert len(re.findall(r"<title>layer \d, (agent|verb): ", page)) == 6
    code, _, stderr = command(*arguments, "-e", encoder, "--positions", "agent,verb", "--set", "max_epochs=1")
    assert (code, "6 results found\n" in stderr) == (0, True)
