"""The command ``probe compare``, of probes and of geometry, and errors shared with ``probe show``."""

import json
import re
import shlex
from dataclasses import replace
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.shown_geometry import add_nearness, make_geometry_result, write_geometry_folder
from helpers.runs.shown_runs import LAYERS, split_rows, write_run
from helpers.strategies.probe_strategies import make_sample_result
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sentprobe.common.tables import escape_markdown
from sentprobe.probes.reports.distance_comparisons import compare_geometry
from sentprobe.probes.results.store import MARKER, write_result
from sentprobe.probes.similarity.measures import NegativeKind
from sentprobe.probes.statistics import Correction, compute_sign_test, correct_p_values


def test_comparison_of_a_run_is_shown(first: Path, command: Command, stored_text: SnapshotAssertion) -> None:
    stdout = check_success(command("compare", first))
    assert split_rows(stdout)[1][5] == "0/95"
    assert stdout == stored_text


def test_compare_two_runs(first: Path, tmp_path: Path, command: Command) -> None:
    other_run = write_run(tmp_path / "other", make_sample_result("lstm", "Order", 690, mirrored=True))
    stdout = check_success(command("compare", f"{first}#st<b>", other_run, "-f", "json"))
    (record,) = json.loads(stdout)
    assert (record["first"], record["second"], record["difference"]) == ("st<b>", "lstm", 0)
    assert (record["sign_p"], record["t_p"]) == (1, 1)


def test_one_of_several_tables(tmp_path: Path, command: Command) -> None:
    """A run with two seeds, as ``probe show`` numbers them."""
    results = [
        replace(make_sample_result(name, "Order", 600 + seed), seed=seed) for seed in (0, 1) for name in ("bow", "lstm")
    ]
    run = write_run(tmp_path / "run", *results)
    for table in (1, 2):
        out = command("compare", run, "--table", table, "-f", "json")[1]
        assert [record["first_accuracy"] for record in json.loads(out)] == [0.599 + table / 1000]
    both = command("compare", f"{run}#bow", f"{run}#lstm", "--table", 2, "-f", "json")
    assert json.loads(both[1])[0]["first_accuracy"] == 0.601


def test_many_pairs_are_printed_in_part(tmp_path: Path, command: Command) -> None:
    """Of 21 encoders: each against the best, enc7, and against the next better one."""
    correct = {f"enc{number}": 500 + 7 * number % 150 for number in range(21)}
    run = write_run(tmp_path / "run", *(make_sample_result(name, "Order", right) for name, right in correct.items()))
    pairs = command("compare", run, "-f", "csv")[1].splitlines()[1:]
    assert len(pairs) == 210
    ranking = sorted(correct, key=lambda name: -correct[name])
    expected = {frozenset((ranking[0], name)) for name in ranking[1:]} | {*map(frozenset, pairwise(ranking))}
    out = check_success(command("compare", run))
    assert {frozenset(re.findall(r"enc\d+", row)) for row in out.splitlines() if " - enc" in row} == expected
    assert "Corrected for 210 comparisons" in out
    assert "Shown: 39 of 210 differences, each encoder from the best on its task" in out
    assert check_success(command("compare", run, "--all-pairs")).count(" - enc") == 210
    others = [make_sample_result(f"other{number}", "Order", 600) for number in range(200)]
    many = write_run(tmp_path / "many", *others, make_sample_result("enc", "Order", 600))
    assert check_success(command("compare", many, "--against", "enc")).count(" - enc") == 200
    check_success(command("compare", run, "-o", tmp_path / "all.md"))
    assert (tmp_path / "all.md").read_text().count(" - enc") == 210


SIGNIFICANT = "1 of 1 differences is significant (p (sign) < 0.05; {})."


@pytest.mark.parametrize("style", ["text", "markdown", "latex", "csv", "json"])
@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_compare_formats(first: Path, command: Command, style: str, correction: str) -> None:
    stdout = check_success(command("compare", first, "-f", style, "--correction", correction))
    assert "Order" in stdout
    signs = {"text": "", "markdown": "- ", "latex": "% "}
    message = [line for line in stdout.splitlines() if "differences is significant" in line]
    line = SIGNIFICANT.format("bold, or with a *")
    assert message == (
        [signs[style] + (escape_markdown(line) if style == "markdown" else line)] if style in signs else []
    )
    assert bool(re.search(r"\* [+-]\d.*\]", stdout)) == (style == "text")


@pytest.mark.parametrize(("suffix", "style"), [("md", "markdown"), ("tex", "latex"),
    ("csv", "csv"), ("JSON", "json")])  # fmt: skip
def test_file_equals_printed_text(first: Path, tmp_path: Path, command: Command, suffix: str, style: str) -> None:
    out = tmp_path / f"differences.{suffix}"
    printed = command("compare", first, "-f", style)[1]
    assert command("compare", first, "-o", out) == (0, "", "")
    assert out.read_text("utf-8") == printed
    assert command("compare", first, "-o", tmp_path / "other.txt", "-f", style)[0] == 0
    assert (tmp_path / "other.txt").read_text("utf-8") == printed


def test_text_file_has_stars_for_bold(first: Path, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "differences.txt"
    assert command("compare", first, "-o", out)[0] == 0
    text = out.read_text("utf-8")
    assert re.search(r"\* [+-]\d.*\]", text)
    assert SIGNIFICANT.format("bold, or with a *") in text


def test_latex_has_caption_and_label(first: Path, command: Command, stored_text: SnapshotAssertion) -> None:
    options = ("-f", "latex", "--caption", "50% of  a_b & more", "--label", "tab:a_b")
    assert command("compare", first, *options)[1] == stored_text


def test_several_tables_have_labels_of_their_own(tmp_path: Path, command: Command) -> None:
    results = [replace(make_sample_result("bow", "Order", 600), seed=seed) for seed in (0, 1)]
    run = write_run(tmp_path / "run", *results)
    text = command("show", run, "-f", "latex", "--caption", "All", "--label", "tab:all")[1]
    for number in (1, 2):
        assert f"\\caption{{All ({number} of 2)}}\n  \\label{{tab:all-{number}}}\n" in text


def test_against_one(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "r#n", *LAYERS)
    read = json.loads(command("compare", run, "--against", "hf:m?layer=2", "-f", "json")[1])
    assert [record["second"] for record in read] == ["hf:m?layer=2"] * 2
    assert len(json.loads(command("compare", run, "-f", "json")[1])) == 3
    message = command("compare", run)[1]
    assert "Corrected for 3 comparisons: Holm; the intervals are not corrected." in message
    both = command("compare", f"{run}#hf:m?layer=2", f"{run}#hf:m?layer=10", "-f", "json")
    assert len(json.loads(both[1])) == 1


REFUSED = [
    ("show mine", "mine: not a directory of sentprobe's results"),
    ("show none", "none: no such folder of results"),
    ("show empty", "empty: no results yet"),
    ("show first -f txt", "there is no format 'txt' (did you mean 'text'?)"),
    ("show first --plot p.svg", "there is nothing to plot"),
    ("show first --plot p.gif", "p.gif: the suffix of a plot must be one of .svg"),
    ("show first -o no/x.txt", "x.txt: cannot write there"),
    ("show first --caption A", "--caption is for --format latex, not for text"),
    ("show first -f latex --label a", "--label needs a --caption"),
    ("show first -f latex --caption ' '", "--caption is empty"),
    ("compare first data", "first has 2 encoders; name one, as in"),
    ("compare first#bwo data", "no encoder 'bwo' (did you mean 'bow'?); it has:"),
    ("compare data", "data has 1 encoder; a comparison needs two"),
    ("compare empty data", "empty has no results"),
    ("compare first#bow", "name a second run to compare it with"),
    ("compare first data data", "give one or two runs, not 3"),
    ("compare first data --against bow", "--against is for the encoders of one"),
    ("compare first --against bwo", "no encoder 'bwo'"),
    ("compare first -f html", "a comparison has no format 'html'"),
    ("compare first --correction hlm", "no correction 'hlm' (did you mean 'holm'?)"),
    ("compare twice", "two results of hf:m?layer=10 on Order that differ in classifier, data or"),
    ("compare twice", "choose one of its 2 tables, as probe show numbers them, with --t"),
    ("compare twice --table 3", "twice has the tables 1 to 2, and no table 3"),
    ("compare first --table 5", "first has one table, not a table 5"),
    ("compare first --table 0", "first has one table, not a table 0"),
    ("compare first#bow tasks --table 2", "has one table, not a table 2"),
    ("compare mine", "mine: not a directory of sentprobe's results"),
    ("compare first -o x.html", "a comparison has no format 'html'"),
    ("compare first -o no/x.md", "x.md: cannot write there"),
    ("compare first -o first", "first: is a directory, not a file to write"),
    ("compare first -f csv --label a", "--label is for --format latex"),
    ("compare first -f latex --caption A --label a{b", "--label 'a{b': use letters, digits and the signs : . + / - _"),
    # Geometry
    ("compare one", "one has 1 encoder; a comparison needs two"),
    ("compare two --against c", "two has no encoder 'c'"),
    ("compare two one", "two has 2 encoders; name one, as in 'two#a'"),
    ("compare two#c one", "two has no encoder 'c'; it has: a, b"),
    ("compare two --against a -f html", "a comparison has no format 'html'"),
    ("compare two one --against a", "--against is for the encoders of one run"),
    ("compare two one one", "give one or two runs, not 3"),
    ("compare two#a", "name a second run to compare it with"),
    ("compare two --table 2", "--table is for probes, and the run has results of geometry alone"),
    ("compare two --nearness whitened", "no result has whitened"),
]
INCOMPARABLE = [
    ("compare first#bow data", "Order: bow ("),
    ("compare first#bow data", "were tested on different data (fingerprints 0 and"),
    ("compare first#bow tasks", "have no task in common"),
    ("compare one other", "no two encoders were measured on the same triplets"),
    ("compare apart", "apart: no two encoders were measured on the same triplets"),
    ("compare one data", "one has results of geometry alone, and data has no geometry"),
    ("compare data one", "one has results of geometry alone, and data has no geometry"),
]
CASES = [*((line, 2, message) for line, message in REFUSED), *((line, 1, message) for line, message in INCOMPARABLE)]


@pytest.mark.usefixtures("working_folder", "first")
@pytest.mark.parametrize(("line", "code", "message"), CASES, ids=[line for line, _, _ in CASES])
def test_bad_request_is_refused(line: str, code: int, message: str, command: Command) -> None:
    lstm = make_sample_result("lstm", "Order", 690)
    write_run(Path("data"), replace(lstm, dataset_fingerprint="1" * 64))
    write_run(Path("tasks"), replace(lstm, task="Negation"))
    write_run(Path("twice"), *(replace(LAYERS[0], seed=seed) for seed in (0, 1)), LAYERS[1])
    write_run(Path("empty"))
    Path("mine").mkdir()
    a, b = make_geometry_result("a"), make_geometry_result("b")
    write_geometry_folder(Path("two"), a, b)
    write_geometry_folder(Path("one"), a)
    write_geometry_folder(Path("other"), make_geometry_result("a", n=7, material="other"))
    write_geometry_folder(Path("apart"), a, make_geometry_result("b", "tense"))
    check_refusal(command(*shlex.split(line)), message, code)


@pytest.mark.parametrize("name", ["show", "compare"])
def test_damaged_result_is_named(name: str, first: Path, command: Command) -> None:
    path = next(path for path in first.glob("[!.]*.json") if path.name != MARKER)
    path.write_text(path.read_text()[:-9])
    check_refusal(command(name, first), f"{path}: not a result of sentprobe", 1)


TEN = tuple(range(10))


def read_records(command: Command, *arguments: object) -> list[dict[str, Any]]:
    stdout = check_success(command("compare", *arguments, "-f", "json"))
    records: list[dict[str, Any]] = json.loads(stdout)
    return records


def test_by_hand(command: Command, tmp_path: Path) -> None:
    """Ten triplets of units of their own; the first is right on nine, the second on all mirrors.

    The first is better in eight units, the second in one, and one is a tie: two-sided exact 2 (1 + 9) / 2^9 = 0.0391.
    Gains a unit (of two answers): eight of 1/2, one of -1/2 and one 0.
    """
    first = make_geometry_result("a", form="2222222200" + "2222222202", units=TEN)
    second = make_geometry_result("b", form="0000000020" + "2222222202", units=TEN)
    run = write_geometry_folder(tmp_path / "run", first, second)
    record, _ = read_records(command, run, "--correction", "none")
    assert (record["first"], record["second"], record["contrast"]) == ("a", "b", "role")
    assert (record["kind"], record["nearness"], record["triplets"]) == ("form", "cosine", 20)
    assert (record["first_accuracy"], record["second_accuracy"]) == (0.85, 0.5)
    assert record["difference"] == pytest.approx(0.35)
    assert (record["wins"], record["losses"]) == (8, 1)
    assert record["sign_p"] == pytest.approx(2 * (comb(9, 0) + comb(9, 1)) / 2**9)
    gains = np.array([0.5] * 8 + [-0.5, 0.0])
    half = 2.262157 * gains.std(ddof=1) / np.sqrt(10)  # of t with nine degrees
    assert (record["low"], record["high"]) == pytest.approx((0.35 - half, 0.35 + half), abs=1e-6)


@pytest.mark.parametrize("style", ["text", "markdown", "latex"])
def test_geometry_comparison_is_shown(
    style: str, command: Command, tmp_path: Path, stored_text: SnapshotAssertion
) -> None:
    run = write_geometry_folder(
        tmp_path / "run",
        make_geometry_result("a", form="2222222222" * 2, units=TEN),
        make_geometry_result("b", form="0000000000" * 2, units=TEN),
    )
    code, stdout, stderr = command("compare", run, "-f", style)
    assert (code, stderr) == (0, "")
    assert stdout == stored_text
    assert command("compare", run, "-f", "csv")[1].startswith("first,second,contrast,kind,")


def test_tie_counts_half(command: Command, tmp_path: Path) -> None:
    """Ties against one right and one wrong in a unit: no unit is better."""
    run = write_geometry_folder(
        tmp_path / "run",
        make_geometry_result("ties", form="1" * 8, units=(0, 0, 1, 1)),
        make_geometry_result("mixed", form="20202020", units=(0, 0, 1, 1)),
    )
    actual = read_records(command, run)[0]
    assert (actual["difference"], actual["wins"], actual["losses"]) == (0, 0, 0)
    assert actual["sign_p_corrected"] == 1


def test_units_are_one_observation(command: Command, tmp_path: Path) -> None:
    """The same answers: eight triplets of one noun and verb, or of eight."""
    for name, units, wins in (("one", (0,) * 8, 1), ("eight", tuple(range(8)), 8)):
        run = write_geometry_folder(
            tmp_path / name,
            make_geometry_result("a", form="2" * 16, units=units),
            make_geometry_result("b", form="0" * 16, units=units),
        )
        assert read_records(command, run)[0]["wins"] == wins


@pytest.mark.parametrize("correction", Correction)
def test_correction_is_over_whole_table(correction: Correction, command: Command, tmp_path: Path) -> None:
    forms = {"a": "2222222220", "b": "2222200000", "c": "0000000000"}
    run = write_geometry_folder(
        tmp_path / "run",
        *(
            make_geometry_result(name, contrast, form=2 * form, units=TEN)
            for name, form in forms.items()
            for contrast in ("role", "tense")
        ),
    )
    records = read_records(command, run, "--correction", correction.value)
    assert len(records) == 3 * 2 * 2
    raw = [record["sign_p"] for record in records]
    assert [record["sign_p_corrected"] for record in records] == pytest.approx(correct_p_values(raw, correction))
    against = read_records(command, run, "--against", "b", "--correction", "none")
    assert [record["second"] for record in against] == ["b"] * 8


def test_over_draws(command: Command, tmp_path: Path) -> None:
    results = [
        make_geometry_result(name, form=forms[seed], seed=seed)
        for name, forms in {
            "a": {0: "22222222", 10: "22222220", 20: "22222222"},
            "b": {0: "22000000", 10: "22000000", 20: "22200000"},
        }.items()
        for seed in (0, 10, 20)
    ]
    run = write_geometry_folder(tmp_path / "run", *results)
    actual = read_records(command, run)[0]
    assert (actual["draws"], actual["wins"], actual["losses"]) == (3, 3, 0)
    assert actual["first_accuracy"] == pytest.approx((1 + 7 / 8 + 1) / 3)
    stdout = command("compare", run)[1]
    assert "paired over 3 draws" in stdout
    assert "A better / B better (draws)" in stdout
    # A draw that one of them lacks leaves two tables, with one comparison of the draw of both.
    fewer = write_geometry_folder(tmp_path / "fewer", results[0], *results[3:])
    assert [record["draws"] for record in read_records(command, fewer)] == [1, 1]


def test_two_runs(command: Command, tmp_path: Path) -> None:
    one = write_geometry_folder(tmp_path / "one", make_geometry_result("a", form="2" * 8), make_geometry_result("b"))
    other_folder = write_geometry_folder(
        tmp_path / "other", make_geometry_result("b", form="0" * 8), make_geometry_result("a", "tense")
    )
    records = read_records(command, f"{one}#a", f"{other_folder}#b")
    assert [(record["first"], record["second"]) for record in records] == [("a", "b")] * 2
    assert records[0]["difference"] == 1.0
    alone = write_geometry_folder(tmp_path / "alone", make_geometry_result("b", form="0" * 8))
    assert read_records(command, f"{one}#a", alone)[0]["difference"] == 1.0


def test_deterministic_encoder_whatever_the_seed(command: Command, tmp_path: Path) -> None:
    """Of sentences that were read, the seed is of weights alone: one draw each can be compared."""
    one = write_geometry_folder(tmp_path / "one", make_geometry_result("a", material="m", dataset="d"))
    other_folder = write_geometry_folder(
        tmp_path / "other", make_geometry_result("b", material="m", dataset="d", seed=10)
    )
    assert [record["draws"] for record in read_records(command, one, other_folder)] == [1, 1]


def test_draws_of_named_seeds_are_compared(command: Command, tmp_path: Path) -> None:
    results = [
        make_geometry_result(name, seed=seed, encoder_seed=seed, encoder_fingerprint=f"{name} {seed}")
        for name, seed in (("bow", 0), ("bow?seed=10", 10), ("lstm", 0), ("lstm", 10))
    ]
    run = write_geometry_folder(tmp_path / "run", *results)
    assert [record["draws"] for record in read_records(command, f"{run}#bow", f"{run}#lstm")] == [2, 2]


def test_several_sizes_are_told_apart(command: Command, tmp_path: Path) -> None:
    run = write_geometry_folder(
        tmp_path / "run", *(make_geometry_result(name, n=n, material=f"{n}") for name in "ab" for n in (4, 30))
    )
    shown = [row[1] for row in split_rows(command("compare", run)[1])[1:]]
    assert sorted({*shown}) == ["role (30 of all, seed 0)", "role (4 of all, seed 0)"]


def test_tables_are_corrected_separately(command: Command, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", make_sample_result("a", "Order", 600), make_sample_result("b", "Order", 500))
    probes = command("compare", run)[1]
    geometry = write_geometry_folder(
        tmp_path / "geometry", make_geometry_result("a"), make_geometry_result("b", form="0" * 8)
    )
    alone = command("compare", geometry)[1]
    for item in (make_geometry_result("a"), make_geometry_result("b", form="0" * 8)):
        write_geometry_folder(run, item)
    assert command("compare", run) == (0, probes + alone, "")
    records = read_records(command, run)
    assert [(record["task"], record["contrast"]) for record in records] == [
        ("Order", None), (None, "role"), (None, "role"),
    ]  # fmt: skip
    assert len({tuple(record) for record in records}) == 1
    assert "Order" in command("compare", run, "--table", "1")[1]
    assert "role" not in command("compare", run, "--table", "1")[1]


def test_omitted_comparison_is_named(command: Command, tmp_path: Path) -> None:
    run = write_geometry_folder(tmp_path / "run", make_geometry_result("a"), make_geometry_result("b"))
    write_result(make_sample_result("a", "Order", 600), run)
    code, stdout, stderr = command("compare", run)
    assert code == 0
    assert "role" in stdout
    assert stderr == f"left out: probes: {run} has 1 encoder; a comparison needs two\n"
    run = write_run(tmp_path / "other", *(make_sample_result(name, "Order", 600) for name in "ab"))
    write_geometry_folder(run, make_geometry_result("a"))
    code, stdout, stderr = command("compare", run)
    assert code == 0
    assert "Order" in stdout
    assert stderr == f"left out: geometry: {run} has 1 encoder; a comparison needs two\n"


def test_probes_of_one_run_alone_are_told(command: Command, tmp_path: Path) -> None:
    both = write_geometry_folder(tmp_path / "both", make_geometry_result("bow"))
    write_result(make_sample_result("bow", "Order", 600), both)
    alone = write_geometry_folder(tmp_path / "alone", make_geometry_result("lstm", form="22222222"))
    code, _, stderr = command("compare", both, alone)
    assert (code, stderr) == (0, f"left out: probes: {alone} has no results of probes\n")


def test_hostile_names(command: Command, tmp_path: Path) -> None:
    run = write_geometry_folder(tmp_path / "run", make_geometry_result("x\x1b[31m|*"), make_geometry_result("b"))
    for style in ("text", "markdown", "latex", "csv"):
        assert "\x1b" not in command("compare", run, "-f", style)[1]


digits = st.lists(st.sampled_from("012"), min_size=20, max_size=20).map("".join)


@given(digits, digits, st.lists(st.integers(0, 4), min_size=10, max_size=10).map(tuple))
@examples(60)
def test_differences_are_those_of_accuracies(one: str, other: str, units: tuple[int, ...]) -> None:
    first = make_geometry_result("a", form=one, anchor=one, units=units)
    second = make_geometry_result("b", form=other, anchor=other, units=units)
    actual = compare_geometry([((first,), (second,))])
    back = compare_geometry([((second,), (first,))])
    assert [record.kind for record in actual] == [*NegativeKind]
    item, mirror = actual[0].paired, back[0].paired
    accuracies = actual[0].accuracies
    assert item.difference == pytest.approx(accuracies[0] - accuracies[1])
    assert accuracies == (sum(map(int, one)) / 40, sum(map(int, other)) / 40)
    assert (item.wins, item.losses) == (mirror.losses, mirror.wins)
    assert item.sign_p == mirror.sign_p == compute_sign_test(item.wins, item.losses)
    assert item.interval.low <= item.difference <= item.interval.high
    same = compare_geometry([((first,), (replace(first, encoder="b"),))])[0].paired
    assert (same.difference, same.wins, same.losses, same.t_p) == (0, 0, 0, 1)


def test_compared_figures_are_those_of_show(command: Command, tmp_path: Path) -> None:
    run = write_geometry_folder(tmp_path / "run", make_geometry_result("a", form="22212220"), make_geometry_result("b"))
    shown = {row[0]: row[1] for row in reversed(split_rows(command("show", run)[1])[1:4])}
    compared = split_rows(command("compare", run)[1])[1]
    assert compared[3:5] == [shown["a"], shown["b"]]
    assert re.match(r"\* |[+-]", compared[5])


def test_by_another_nearness(command: Command, tmp_path: Path) -> None:
    """Those that lack it are not compared; p-values are corrected for those that are."""
    run = write_geometry_folder(
        tmp_path / "run",
        add_nearness(make_geometry_result("a", form="0" * 20, units=TEN), "dot", "2" * 20),
        add_nearness(make_geometry_result("b", form="0" * 20, units=TEN), "dot", "0" * 20),
        make_geometry_result("c", form="2" * 20, units=TEN),
    )
    records = read_records(command, run, "--nearness", "dot")
    assert [(record["first"], record["second"], record["kind"]) for record in records] == [
        ("a", "b", "form"),
        ("a", "b", "anchor"),
    ]
    assert {record["nearness"] for record in records} == {"dot"}
    assert (records[0]["first_accuracy"], records[0]["second_accuracy"]) == (1, 0)
    assert records[0]["sign_p_corrected"] == pytest.approx(2 * records[0]["sign_p"])
    assert "by dot; ties count half" in command("compare", run, "--nearness", "dot")[1]
