"""The command ``probe correlate``."""

import csv
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.shown_runs import split_rows, write_run
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.commands.shared.shown_results import build_sides
from sentprobe.probes.reports.correlations import correlate_tasks, read_scores
from sentprobe.probes.reports.pages.panels import HeatPanel
from sentprobe.probes.reports.pages.plot_files import draw_heat_map
from sentprobe.probes.results.store import read_results

ENCODERS = ("bow", "st:models/mini?batch=8", "lstm", "conv")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Order by encoder: 60, 70, 80, 90; SemRole: 90, 50, 60, 55."""
    results = [
        make_sample_result(encoder, task, correct)
        for task, counts in (("Order", (600, 700, 800, 900)), ("SemRole", (900, 500, 600, 550)))
        for encoder, correct in zip(ENCODERS, counts, strict=True)
    ]
    return write_run(tmp_path / "run", *results)


def scores_file(tmp_path: Path, *lines: str, name: str = "scores.csv") -> Path:
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return scores_file(tmp_path, "encoder,STS,MR", "conv,4.5,", "lstm,3,7", "org/mini,2,1", "bow,1,9", "other,5,5")


def test_the_table(run: Path, scores: Path, command: Command) -> None:
    code, out, err = command("correlate", run, "--with", scores)
    assert (code, err) == (0, "")
    table = split_rows(out)
    assert [row[0] for row in table[:3]] == ["task", "Order", "SemRole"]
    assert table[0] == ["task", "STS", "MR"]
    assert table[1][1].startswith("1.00 [")
    assert table[1][2].startswith("-0.50 [")  # of 9, 1, 7 by 60, 70, 80
    assert table[2][1].startswith("-0.40 [")
    assert table[2][2].startswith("1.00 [")
    text = " ".join(out.split())
    assert "over 4 encoders: bow, conv, lstm, st:models/mini?batch=8." in text
    assert "corrected (holm) for 4 pairs" in text
    assert "3 encoders are few" in text


def test_records(run: Path, scores: Path, command: Command) -> None:
    code, out, err = command("correlate", run, "--with", scores, "-f", "json")
    assert code == 0
    assert err.startswith("probe: warning: 3 encoders are few")
    first, *_ = records = json.loads(out)
    assert (first["task"], first["score"], first["encoders"]) == ("Order", "STS", 4)
    assert first["rho"] == pytest.approx(1)
    assert first["uncorrected_p"] == pytest.approx(2 / 24)
    assert first["p"] == pytest.approx(4 * 2 / 24)
    plain = command("correlate", run, "--with", scores, "-f", "csv", "--correction", "none")[1]
    read = list(csv.DictReader(io.StringIO(plain)))
    assert [record["p"] for record in read] == [str(record["uncorrected_p"]) for record in records]


def test_the_same_seed_gives_the_same_bytes(run: Path, scores: Path, command: Command) -> None:
    arguments = ("correlate", run, "--with", scores, "-f", "markdown")
    assert command(*arguments)[1] == command(*arguments)[1]
    assert command(*arguments, "--seed", 1)[0] == 0


def test_a_folder_of_mteb(run: Path, tmp_path: Path, command: Command) -> None:
    root = tmp_path / "mteb" / "results"
    for model, score in (("bow", 0.1), ("models__mini", 0.2), ("lstm", 0.3), ("conv", 0.4)):
        folder = root / model / "rev"
        folder.mkdir(parents=True)
        (folder / "model_meta.json").write_text("{}")
        parts = [{"main_score": score - 0.05}, {"main_score": score + 0.05}]
        message = {"task_name": "STSX", "scores": {"test": parts, "dev": []}}
        (folder / "STSX.json").write_text(json.dumps(message))
    code, out, _ = command("correlate", run, "--with", tmp_path / "mteb")
    assert code == 0
    assert split_rows(out)[:2] == [["task", "STSX"], ["Order", "1.00 [1.00, 1.00]"]]
    again = root / "bow" / "rev2"
    again.mkdir()
    (again / "STSX.json").write_bytes((root / "bow" / "rev" / "STSX.json").read_bytes())
    code, _, err = command("correlate", run, "--with", root)
    assert (code, err.count("\n")) == (1, 1)
    assert "bow has two scores on STSX; keep the folder of one revision" in err
    (again / "STSX.json").write_text('{"task_name": "x"}')
    err = command("correlate", run, "--with", root)[2]
    assert "STSX.json: not a result of MTEB: it needs 'task_name' and 'scores' with" in err


@pytest.mark.parametrize(
    ("lines", "code", "message"),
    [
        (["encoder,A", "bow,1"], 2, "scores of 1 of the 4 encoders of"),
        (["encoder,A"], 2, "that must match those of encoders: none"),
        (["encoder,A", "bow,x"], 1, "line 2, A: 'x' is not a score; a number is expected"),
        (["encoder,A", "bow,1_0"], 1, "line 2, A: '1_0' is not a score; a number is expected"),
        (["encoder,A", "bow,inf"], 1, "line 2, A: 'inf' is not a score"),
        (["encoder,A", "bow,1", "bow,2"], 1, "line 3: the encoder 'bow' occurs twice"),
        (["encoder,A", ",1"], 1, "line 2: the encoder has no name"),
        (["encoder,A", "bow"], 1, "line 2: 1 fields; the first line has 2"),
        (["encoder,A,A", "bow,1,2"], 1, "names 'A' twice"),
        (["encoder,,B", "bow,1,2"], 1, "has a column without a name"),
        (["encoder", "bow"], 1, "the first line names no task"),
        ([], 1, "the first line names no task"),
    ],
)
def test_scores_that_are_none(lines: list[str], code: int, message: str, tmp_path: Path, command: Command) -> None:
    results = [make_sample_result(encoder, "Order", 600) for encoder in ENCODERS]
    run = write_run(tmp_path / "run", *results)
    exit_code, out, err = command("correlate", run, "--with", scores_file(tmp_path, *lines))
    assert (exit_code, out, err.count("\n")) == (code, "", 1)
    assert message in err


def test_other_mistakes(run: Path, scores: Path, tmp_path: Path, command: Command) -> None:
    nothing = tmp_path / "nothing"
    for arguments, message in (
        ((run, "--with", nothing), "there is no such file or folder of scores"),
        ((run, "--with", run), "no results of MTEB"),
        ((run, "--with", scores, "-f", "html"), "a table of correlations has no format 'html'"),
        ((run, "--with", scores, "--correction", "hol"), "did you mean 'holm'?"),
        ((run, "--with", scores, "--plot", tmp_path / "x.gif"), "the suffix of a plot must be one of .svg"),
        ((run,), "--with"),
    ):
        code, out, err = command("correlate", *arguments)
        assert (code, out) == (2, "")
        assert message in err


def test_two_results_of_an_encoder_are_refused(run: Path, scores: Path, tmp_path: Path, command: Command) -> None:
    other_result = replace(make_sample_result("bow", "Order", 500), dataset_fingerprint="1")
    more = write_run(tmp_path / "more", other_result)
    code, _, err = command("correlate", run, more, "--with", scores)
    assert code == 2
    assert "two results of bow on Order" in err


def test_the_heat_map(run: Path, scores: Path, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "heat.svg"
    assert command("correlate", run, "--with", scores, "--plot", path)[0] == 0
    first = path.read_bytes()
    assert b"<svg" in first
    assert command("correlate", run, "--with", scores, "--plot", path)[0] == 0
    assert path.read_bytes() == first


def test_the_figures_are_in_the_cells_of_the_heat_map(run: Path, scores: Path) -> None:
    actual = correlate_tasks(
        build_sides(read_results(run), "run", None), read_scores(scores), source="run", scores_source="scores"
    )
    (panel,) = draw_heat_map(actual).panels
    assert isinstance(panel, HeatPanel)
    texts = [[cell.text for cell in row] for row in panel.cells]
    assert texts == [["1.00", "-0.50"], ["-0.40", "1.00"]]
    assert (panel.rows, panel.columns) == (("Order", "SemRole"), ("STS", "MR"))
    assert panel.cells[0][0].fill == panel.colours[0][1]


def test_what_overlaps_counts_once(run: Path, scores: Path, tmp_path: Path, command: Command) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    alone = command("correlate", run, "--with", scores, "-f", "csv")[1]
    assert command("correlate", run, copy, "--with", scores, "-f", "csv")[1] == alone


def test_one_of_several_tables(run: Path, scores: Path, tmp_path: Path, command: Command) -> None:
    changed = [replace(result, preset=replace(result.preset, patience=3)) for result in read_results(run).records]
    both = (run, write_run(tmp_path / "other", *changed))
    code, _, err = command("correlate", *both, "--with", scores)
    assert code == 2
    assert "choose one of its 2 tables, as probe show numbers them, with --table" in err
    assert command("correlate", *both, "--with", scores, "--table", 2)[0] == 0
    assert "has the tables 1 to 2, and no table 3" in command("correlate", *both, "--with", scores, "--table", 3)[2]


def test_a_score_of_few_encoders_is_named(tmp_path: Path, command: Command) -> None:
    names = [f"e{n}" for n in range(12)]
    run = write_run(tmp_path / "run", *(make_sample_result(e, "Order", 500 + n) for n, e in enumerate(names)))
    lines = [f"{name},{n},{n if n < 3 else ''}" for n, name in enumerate(names)]
    path = scores_file(tmp_path, "encoder,MANY,FEW", *lines)
    out = " ".join(command("correlate", run, "--with", path)[1].split())
    assert "3 encoders are few (in FEW): with fewer than 10" in out
