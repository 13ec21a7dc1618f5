"""``probe compare`` for results of geometry: the same triplets, paired over units."""

import json
import re
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.in_process import Command
from helpers.runs.shown_geometry import add_nearness, make_geometry_result, write_geometry_folder
from helpers.runs.shown_runs import split_rows, write_run
from helpers.strategies.probe_strategies import make_sample_result
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.reports.distance_comparisons import compare_geometry
from sentprobe.probes.results.store import write_result
from sentprobe.probes.similarity.measures import NegativeKind
from sentprobe.probes.statistics import Correction, compute_sign_test, correct_p_values

TEN = tuple(range(10))


def records(command: Command, *arguments: object) -> list[dict[str, Any]]:
    code, stdout, _ = command("compare", *arguments, "-f", "json")
    assert code == 0
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
    found_records, _ = records(command, run, "--correction", "none")
    assert (found_records["first"], found_records["second"], found_records["contrast"]) == ("a", "b", "role")
    assert (found_records["kind"], found_records["nearness"], found_records["triplets"]) == ("form", "cosine", 20)
    assert (found_records["first_accuracy"], found_records["second_accuracy"]) == (0.85, 0.5)
    assert found_records["difference"] == pytest.approx(0.35)
    assert (found_records["wins"], found_records["losses"]) == (8, 1)
    assert found_records["sign_p"] == pytest.approx(2 * (comb(9, 0) + comb(9, 1)) / 2**9)
    gains = np.array([0.5] * 8 + [-0.5, 0.0])
    half = 2.262157 * gains.std(ddof=1) / np.sqrt(10)  # of t with nine degrees
    assert (found_records["low"], found_records["high"]) == pytest.approx((0.35 - half, 0.35 + half), abs=1e-6)


def test_the_table(command: Command, tmp_path: Path) -> None:
    run = write_geometry_folder(
        tmp_path / "run",
        make_geometry_result("a", form="2222222222" * 2, units=TEN),
        make_geometry_result("b", form="0000000000" * 2, units=TEN),
    )
    code, stdout, stderr = command("compare", run)
    assert (code, stderr) == (0, "")
    head, form, anchor = split_rows(stdout)
    assert head[1:3] == ["contrast", "negative in"]
    assert form == ["a - b", "role", "positive's form", "100.0", "0.0",
                    "* +100.0 [+100.0, +100.0]", "10/0", "0.004", "<0.001"]  # fmt: skip
    assert anchor[2:5] == ["anchor's form", "0.0", "0.0"]
    assert anchor[6:] == ["0/0", "1.000", "1.000"]
    assert "paired over units (triplets of the same nouns and verbs count as one)" in stdout
    assert "Corrected for 2 comparisons: Holm" in stdout
    assert "1 of 2 differences is significant (p (sign) < 0.05; bold, or with a *)." in stdout
    markdown, latex = (command("compare", run, "-f", style)[1] for style in ("markdown", "latex"))
    assert "| a - b | role | positive's form | 100.0 | 0.0 | **" in markdown
    assert r"a - b & role & positive's form & 100.0 & 0.0 & \textbf{" in latex
    assert command("compare", run, "-f", "csv")[1].startswith("first,second,contrast,kind,")


def test_a_tie_counts_half(command: Command, tmp_path: Path) -> None:
    """Ties against one right and one wrong in a unit: no unit is better."""
    run = write_geometry_folder(
        tmp_path / "run",
        make_geometry_result("ties", form="1" * 8, units=(0, 0, 1, 1)),
        make_geometry_result("mixed", form="20202020", units=(0, 0, 1, 1)),
    )
    actual = records(command, run)[0]
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
        assert records(command, run)[0]["wins"] == wins


@pytest.mark.parametrize("correction", Correction)
def test_the_correction_is_over_all_of_the_table(correction: Correction, command: Command, tmp_path: Path) -> None:
    forms = {"a": "2222222220", "b": "2222200000", "c": "0000000000"}
    run = write_geometry_folder(
        tmp_path / "run",
        *(
            make_geometry_result(name, contrast, form=2 * form, units=TEN)
            for name, form in forms.items()
            for contrast in ("role", "tense")
        ),
    )
    found_records = records(command, run, "--correction", correction.value)
    assert len(found_records) == 3 * 2 * 2
    raw = [record["sign_p"] for record in found_records]
    assert [record["sign_p_corrected"] for record in found_records] == pytest.approx(correct_p_values(raw, correction))
    against = records(command, run, "--against", "b", "--correction", "none")
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
    actual = records(command, run)[0]
    assert (actual["draws"], actual["wins"], actual["losses"]) == (3, 3, 0)
    assert actual["first_accuracy"] == pytest.approx((1 + 7 / 8 + 1) / 3)
    stdout = command("compare", run)[1]
    assert "paired over 3 draws" in stdout
    assert "A better / B better (draws)" in stdout
    # A draw that one of them lacks leaves two tables, with one comparison of the draw of both.
    fewer = write_geometry_folder(tmp_path / "fewer", results[0], *results[3:])
    assert [record["draws"] for record in records(command, fewer)] == [1, 1]


def test_two_runs(command: Command, tmp_path: Path) -> None:
    one = write_geometry_folder(tmp_path / "one", make_geometry_result("a", form="2" * 8), make_geometry_result("b"))
    other_folder = write_geometry_folder(
        tmp_path / "other", make_geometry_result("b", form="0" * 8), make_geometry_result("a", "tense")
    )
    found_records = records(command, f"{one}#a", f"{other_folder}#b")
    assert [(record["first"], record["second"]) for record in found_records] == [("a", "b")] * 2
    assert found_records[0]["difference"] == 1.0
    alone = write_geometry_folder(tmp_path / "alone", make_geometry_result("b", form="0" * 8))
    assert records(command, f"{one}#a", alone)[0]["difference"] == 1.0


def test_a_deterministic_encoder_whatever_the_seed(command: Command, tmp_path: Path) -> None:
    """Of sentences that were read, the seed is of weights alone: one draw each can be compared."""
    one = write_geometry_folder(tmp_path / "one", make_geometry_result("a", material="m", dataset="d"))
    other_folder = write_geometry_folder(
        tmp_path / "other", make_geometry_result("b", material="m", dataset="d", seed=10)
    )
    assert [record["draws"] for record in records(command, one, other_folder)] == [1, 1]


def test_draws_of_weights_that_name_their_seed(command: Command, tmp_path: Path) -> None:
    results = [
        make_geometry_result(name, seed=seed, encoder_seed=seed, encoder_fingerprint=f"{name} {seed}")
        for name, seed in (("bow", 0), ("bow?seed=10", 10), ("lstm", 0), ("lstm", 10))
    ]
    run = write_geometry_folder(tmp_path / "run", *results)
    assert [record["draws"] for record in records(command, f"{run}#bow", f"{run}#lstm")] == [2, 2]


def test_several_sizes_are_told_apart(command: Command, tmp_path: Path) -> None:
    run = write_geometry_folder(
        tmp_path / "run", *(make_geometry_result(name, n=n, material=f"{n}") for name in "ab" for n in (4, 30))
    )
    shown = [row[1] for row in split_rows(command("compare", run)[1])[1:]]
    assert sorted({*shown}) == ["role (30 of all, seed 0)", "role (4 of all, seed 0)"]


def test_beside_probes_each_table_is_corrected_by_itself(command: Command, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", make_sample_result("a", "Order", 600), make_sample_result("b", "Order", 500))
    probes = command("compare", run)[1]
    geometry = write_geometry_folder(
        tmp_path / "geometry", make_geometry_result("a"), make_geometry_result("b", form="0" * 8)
    )
    alone = command("compare", geometry)[1]
    for item in (make_geometry_result("a"), make_geometry_result("b", form="0" * 8)):
        write_geometry_folder(run, item)
    assert command("compare", run) == (0, probes + alone, "")
    found_records = records(command, run)
    assert [(record["task"], record["contrast"]) for record in found_records] == [
        ("Order", None), (None, "role"), (None, "role"),
    ]  # fmt: skip
    assert len({tuple(record) for record in found_records}) == 1
    assert "Order" in command("compare", run, "--table", "1")[1]
    assert "role" not in command("compare", run, "--table", "1")[1]


def test_if_one_of_the_two_cannot_be_compared_it_is_said(command: Command, tmp_path: Path) -> None:
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


def test_a_table_is_of_probes(command: Command, tmp_path: Path) -> None:
    alone = write_geometry_folder(
        tmp_path / "alone", make_geometry_result("bow"), make_geometry_result("lstm", form="22222222")
    )
    code, _, stderr = command("compare", alone, "--table", 2)
    assert code == 2
    assert "--table is for probes, and the run has results of geometry alone" in stderr


def test_refused(command: Command, tmp_path: Path) -> None:
    two = write_geometry_folder(tmp_path / "two", make_geometry_result("a"), make_geometry_result("b"))
    one = write_geometry_folder(tmp_path / "one", make_geometry_result("a"))
    other_folder = write_geometry_folder(tmp_path / "other", make_geometry_result("a", n=7, material="other"))
    apart = write_geometry_folder(tmp_path / "apart", make_geometry_result("a"), make_geometry_result("b", "tense"))
    probes = write_run(tmp_path / "probes", make_sample_result("a", "Order", 600))
    cases: list[tuple[tuple[object, ...], int, str]] = [
        ((one,), 2, "one has 1 encoder; a comparison needs two"),
        ((two, "--against", "c"), 2, "two has no encoder 'c'"),
        ((two, one), 2, f"two has 2 encoders; name one, as in '{two}#a'"),
        ((one, other_folder), 1, "no two encoders were measured on the same triplets"),
        ((apart,), 1, "apart: no two encoders were measured on the same triplets"),
        ((f"{two}#c", one), 2, "two has no encoder 'c'; it has: a, b"),
        ((one, probes), 1, f"{one} has results of geometry alone, and {probes} has no geometry"),
        ((probes, one), 1, f"{one} has results of geometry alone, and {probes} has no geometry"),
        ((two, "--against", "a", "-f", "html"), 2, "a comparison has no format 'html'"),
        ((two, one, "--against", "a"), 2, "--against is for the encoders of one run"),
        ((two, one, one), 2, "give one or two runs, not 3"),
        ((f"{two}#a",), 2, "name a second run to compare it with"),
    ]
    for arguments, code, message in cases:
        got = command("compare", *arguments)
        assert got[:2] == (code, ""), arguments
        assert message in got[2]
        assert len(got[2].splitlines()) == 1


def test_hostile_names(command: Command, tmp_path: Path) -> None:
    run = write_geometry_folder(tmp_path / "run", make_geometry_result("x\x1b[31m|*"), make_geometry_result("b"))
    for style in ("text", "markdown", "latex", "csv"):
        assert "\x1b" not in command("compare", run, "-f", style)[1]


digits = st.lists(st.sampled_from("012"), min_size=20, max_size=20).map("".join)


@given(digits, digits, st.lists(st.integers(0, 4), min_size=10, max_size=10).map(tuple))
@examples(60)
def test_differences_are_those_of_the_accuracies(one: str, other: str, units: tuple[int, ...]) -> None:
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


def test_the_figures_are_those_of_show(command: Command, tmp_path: Path) -> None:
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
    found_records = records(command, run, "--nearness", "dot")
    assert [(record["first"], record["second"], record["kind"]) for record in found_records] == [
        ("a", "b", "form"),
        ("a", "b", "anchor"),
    ]
    assert {record["nearness"] for record in found_records} == {"dot"}
    assert (found_records[0]["first_accuracy"], found_records[0]["second_accuracy"]) == (1, 0)
    assert found_records[0]["sign_p_corrected"] == pytest.approx(2 * found_records[0]["sign_p"])
    assert "by dot; ties count half" in command("compare", run, "--nearness", "dot")[1]
    code, stdout, stderr = command("compare", run, "--nearness", "whitened")
    assert (code, stdout) == (2, "")
    assert "no result has whitened" in stderr
