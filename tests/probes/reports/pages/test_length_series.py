"""Accuracy and norm by sentence length: as numbers, as tables, as records, as pictures."""

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pstdev, stdev

import numpy as np
import pytest
from helpers.in_process import Command
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result, make_seed_score
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.specs import ADI_BINS, BINS, Lengths, count_tokens, find_bins
from sentprobe.common.tables import TableFormat, format_grid
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.natural.datasets import TASKS
from sentprobe.probes.reports.pages.html import build_report_page
from sentprobe.probes.reports.pages.length_series import (
    accuracy_by_length,
    build_series_grids,
    norm_by_length,
    series_records,
)
from sentprobe.probes.reports.tables.main_table import CellStyle
from sentprobe.probes.results.result import Condition, Norm, Result, Results, make_score, summarize_norms
from sentprobe.probes.results.store import prepare_directory, write_result
from sentprobe.probes.runs.run import run
from sentprobe.probes.statistics import accuracy_interval

FAST = replace(find_preset("ettinger"), max_epochs=2)


def make_result(rights: Sequence[Sequence[bool]], lengths: Sequence[int]) -> Result:
    """Make a result of several seeds on items of these lengths."""
    score = make_score((make_seed_score(right, seed=seed) for seed, right in enumerate(rights)), ())
    sample = make_sample_result("bow", "order", 500)
    return replace(sample, scores={Condition.PROBE: score}, lengths=tuple(lengths))


@st.composite
def results(draw: st.DrawFn) -> Result:
    lengths = draw(st.lists(st.integers(1, 90), min_size=1, max_size=30))
    right = st.lists(st.booleans(), min_size=len(lengths), max_size=len(lengths))
    return make_result(draw(st.lists(right, min_size=1, max_size=3)), lengths)


@given(st.integers(1, 500))
def test_every_length_is_in_one_bin(length: int) -> None:
    assert sum(length in length_bin for length_bin in BINS) == 1


def test_bins_are_those_of_length_task() -> None:
    assert "AdiLength" in TASKS
    assert [(length_bin.shortest, length_bin.longest) for length_bin in BINS[1:-1]] == list(ADI_BINS)
    assert [str(length_bin) for length_bin in BINS] == [
        "1-4", "5-8", "9-12", "13-16", "17-20", "21-25", "26-29", "30-33", "34-70", "71+",
    ]  # fmt: skip


@given(results(), st.sampled_from(Lengths))
def test_lengths_add_up_to_accuracy(result: Result, by: Lengths) -> None:
    points = accuracy_by_length(result, by=by)
    assert [point.bin for point in points] == list(find_bins(result.lengths, by))
    assert sum(point.count for point in points) == len(result.lengths)
    total = sum(point.count * point.mean for point in points)
    assert total / len(result.lengths) == pytest.approx(result.accuracy)


@given(results())
def test_accuracy_of_length_by_hand(result: Result) -> None:
    seeds = result.scores[Condition.PROBE].seeds
    for point in accuracy_by_length(result, by=Lengths.TOKENS):
        right_answers = [
            [bool(r) for r, n in zip(probe.items(), result.lengths, strict=True) if n in point.bin] for probe in seeds
        ]
        assert point.mean == pytest.approx(fmean(map(fmean, right_answers)))
        expected = stdev(map(fmean, right_answers)) if len(seeds) > 1 else None
        assert point.deviation == pytest.approx(expected)
        assert point.interval == accuracy_interval(np.mean(right_answers, axis=0), ())


def test_units_widen_the_interval() -> None:
    alone = make_result([[True, True, False, False, True, True]], [5] * 6)
    pairs = replace(alone, units=(0, 0, 1, 1, 2, 2))
    (wide,), (narrow,) = accuracy_by_length(pairs), accuracy_by_length(alone)
    assert wide.interval is not None
    assert narrow.interval is not None
    assert wide.interval.low < narrow.interval.low


values = st.lists(st.tuples(st.integers(1, 80), st.floats(0, 100)), min_size=1, max_size=30)


@given(values, st.sampled_from(Lengths))
def test_norms_are_merged_over_sentences(pairs: list[tuple[int, float]], by: Lengths) -> None:
    lengths, norms = zip(*pairs, strict=True)
    norms_by_bin = summarize_norms(lengths, np.array(norms))
    result = replace(make_sample_result("bow", "order", 500), norms=norms_by_bin)
    points = norm_by_length(result, by=by)
    assert [point.bin for point in points] == list(find_bins(lengths, by))
    for point in points:
        here = [norm for length, norm in pairs if length in point.bin]
        assert point.count == len(here)
        assert point.mean == pytest.approx(fmean(here))
        assert point.deviation == pytest.approx(pstdev(here), abs=1e-4)


def test_run_keeps_lengths_and_norms() -> None:
    data = make_learnable_dataset(size=40)
    encoder = make_encoder("bow?dim=8")
    (record,) = run([data], [encoder], preset=FAST, controls=False).records
    rows = data.splits[Split.TEST].rows
    assert record.lengths == count_tokens([data.sentences[row] for row in rows]) == (4,) * len(rows)
    norms = np.linalg.norm(encoder.encode(data.sentences).astype(np.float64), axis=1)
    (norm,) = record.norms
    assert (norm.tokens, norm.sentences) == (4, len(data.sentences))
    assert (norm.mean, norm.deviation) == pytest.approx((norms.mean(), norms.std()))


def make_results() -> Results:
    """Make two encoders on one task: one is always right on short sentences, one on long ones."""
    lengths = [6] * 4 + [10] * 4
    short = make_result([[True] * 4 + [False] * 4], lengths)
    short = replace(short, norms=(Norm(6, 5, 2.0, 0.25), Norm(10, 7, 1.0, 0.5)))
    long = replace(make_result([[False] * 4 + [True] * 4], lengths), encoder="long")
    return Results((short, long))


def test_table_of_lengths() -> None:
    (grid,) = build_series_grids(make_results())
    assert format_grid(grid, TableFormat.TEXT).splitlines() == [
        "order, tokens  test items    bow   long  sentences   norm of bow",
        "5-8                     4  100.0    0.0          5  2.000 ± 0.25",
        "9-12                    4    0.0  100.0          7  1.000 ± 0.50",
    ]
    (grid,) = build_series_grids(make_results(), by=Lengths.TOKENS, style=CellStyle(intervals=True))
    assert [row.label for row in grid.rows] == ["6", "10"]
    assert grid.rows[0].cells[1].text == "100.0 [51.0, 100.0]"


def test_records_of_lengths() -> None:
    records = series_records(make_results())
    assert len({tuple(record) for record in records}) == 1
    assert [(r["encoder"], r["series"], r["shortest"], r["count"], r["mean"]) for r in records] == [
        ("bow", "accuracy", 5, 4, 1.0),
        ("bow", "accuracy", 9, 4, 0.0),
        ("bow", "norm", 5, 5, 2.0),
        ("bow", "norm", 9, 7, 1.0),
        ("long", "accuracy", 5, 4, 0.0),
        ("long", "accuracy", 9, 4, 1.0),
    ]


def test_report_has_captioned_plot() -> None:
    page = build_report_page(make_results())
    title = "<h2>Accuracy and norm by sentence length</h2>"
    assert title in page
    assert "<figcaption>Accuracy of the probe on the test items of each length" in page
    assert page.partition(title)[2].count("<svg") == 2
    assert title not in build_report_page(Results((make_sample_result("bow", "order", 500),)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prepare_directory(tmp_path / "run")
    for record in make_results().records:
        write_result(record, tmp_path / "run")
    return tmp_path / "run"


def test_show_by_length(command: Command, folder: Path) -> None:
    code, out, _ = command("show", folder, "--by-length", "bins")
    assert code == 0
    assert "order, tokens" in out
    assert "norms are those of all distinct sentences of the dataset." in out
    code, out, _ = command("show", folder, "--by-length", "tokens", "-f", "csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert [row["shortest"] for row in rows] == [row["longest"] for row in rows]
    code, out, _ = command("show", folder, "--by-length", "bins", "-f", "json")
    assert len(json.loads(out)) == 6
    code, out, _ = command("show", folder, "--by-length", "bins", "-f", "markdown")
    assert "| 5-8 | 4 | 100.0 | 0.0 | 5 | 2.000 ± 0.25 |" in out
    assert "\n- Accuracy in %" in out


def test_plot_on_the_command_line(command: Command, folder: Path, tmp_path: Path) -> None:
    code, _, _ = command("show", folder, "--by-length", "bins", "--plot", tmp_path / "a.svg")
    assert code == 0
    assert (tmp_path / "a.svg").read_text("utf-8").count("<svg") == 1 + 2  # two panels
    code, _, err = command("show", folder, "--by-length", "bins", "--plot", tmp_path / "a.gif")
    assert (code, "the suffix of a plot must be one of .svg, .png, .pdf" in err) == (2, True)
    seeded = replace(make_results().records[0], seed=5)
    write_result(seeded, folder)
    code, _, err = command("show", folder, "--by-length", "bins", "--plot", tmp_path / "b.svg")
    assert code == 2
    assert "there are 2 settings (classifier, data, probe words or seed), and a plot shows one" in err
    code, out, _ = command("show", folder, "--by-length", "bins")
    assert "table 1 of 2, seed 0" in out
    assert "table 2 of 2, seed 5" in out


def test_show_refuses_bad_lengths(command: Command, folder: Path, tmp_path: Path) -> None:
    code, _, err = command("show", folder, "--by-length", "bin")
    assert (code, "'bin' (did you mean 'bins'?); known: bins, tokens" in err) == (2, True)
    prepare_directory(tmp_path / "old")
    write_result(make_sample_result("bow", "order", 500), tmp_path / "old")
    code, _, err = command("show", tmp_path / "old", "--by-length", "bins")
    assert code == 2
    assert "these results have no sentence lengths" in err
