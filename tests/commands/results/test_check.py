"""The command ``probe check``."""

import json
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.reviewed_runs import SOUND, change_encoder, round_probes
from helpers.runs.shown_runs import write_run
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.probes.results.result import Results

EVIL = "bow\x1b[2J*<b>|"
SEVERE = change_encoder(lambda _: make_sample_result("poor", "Order", 700, mirrored=True), encoder="poor")


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    return write_run(tmp_path / "sound", *SOUND.records)


def test_a_run_without_a_fault(sound: Path, command: Command) -> None:
    assert command("check", sound) == (0, "0 severe, 0 warnings, 0 notes, by 16 checks\n", "")
    assert command("check", sound, "-f", "json") == (0, "[]\n", "")


def test_warnings_are_no_failure(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *change_encoder(round_probes, encoder="poor").records)
    code, out, err = command("check", run)
    assert (code, err) == (0, "")
    assert out == (
        "warning: machines\n"
        "  Compared probes were trained in different precisions, which alone can change a "
        "figure by up to 2 points.\n"
        "    float32: good\n"
        "    bfloat16: poor\n"
        "  Do: Train all probes with --set precision=float32, in a new folder.\n"
        "\n"
        "0 severe, 1 warning, 0 notes, by 16 checks\n"
    )


def test_a_severe_finding_fails(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *SEVERE.records)
    code, out, err = command("check", run)
    assert (code, err) == (1, "")
    assert out.startswith("severe: controls: table 2 of 2, seed 0; Order; poor\n  There are no")
    assert "Do: Run the same command again without --no-controls" in out


@pytest.mark.parametrize("style", ["text", "markdown", "json"])
def test_what_is_printed_is_what_is_written(tmp_path: Path, command: Command, style: str) -> None:
    run = write_run(tmp_path / "run", *SEVERE.records)
    code, out, _ = command("check", run, "-f", style)
    assert code == 1
    path = tmp_path / {"text": "x.txt", "markdown": "x.md", "json": "x.json"}[style]
    assert command("check", run, "--out", path) == (1, "", "")
    assert path.read_text("utf-8") == out


def test_records_have_everything(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *SEVERE.records)
    text = command("check", run)[1]
    for record in json.loads(command("check", run, "-f", "json")[1]):
        assert [*record] == ["severity", "check", "table", "task", "encoder", "draw", "says",
                             "figures", "advice"]  # fmt: skip
        for stderr_line in (record["says"], *record["figures"], record["advice"]):
            assert stderr_line in text


def test_names_are_text(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", make_sample_result(EVIL, "Order", 520, mirrored=True))
    assert r"bow\x1b[2J*<b>|" in command("check", run)[1]
    assert r"bow\\x1b\[2J\*\<b>\|" in command("check", run, "-f", "markdown")[1]


def test_several_runs_are_one(sound: Path, tmp_path: Path, command: Command) -> None:
    first = write_run(tmp_path / "first", *SOUND.records[:3])
    second = write_run(tmp_path / "second", *SOUND.records[3:])
    assert command("check", first, second) == command("check", sound)


@pytest.mark.parametrize(
    ("style", "said"),
    [
        ("latex", "a review has no format 'latex'; known: text, markdown, json"),
        ("csv", "a review has no format 'csv'; known: text, markdown, json"),
        ("markdwon", "there is no format 'markdwon' (did you mean 'markdown'?)"),
    ],
)
def test_other_formats_are_refused(sound: Path, command: Command, style: str, said: str) -> None:
    code, out, err = command("check", sound, "-f", style)
    assert (code, out) == (2, "")
    assert err.startswith(f"probe: {said}")


def test_a_folder_without_results(tmp_path: Path, command: Command) -> None:
    empty = write_run(tmp_path / "empty", *Results(()).records)
    assert command("check", empty) == (2, "", f"probe: {empty}: no results of probes or language models yet\n")
