"""The pictures of the page: their panels, dots, lines and legends."""

from dataclasses import replace

import pytest
from helpers.runs.shown_runs import LAYERS
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.common.specs import Lengths
from sentprobe.probes.reports.pages.page_pictures import (
    MAX_LINES,
    draw_layer_pictures,
    draw_length_pictures,
    draw_position_picture,
    draw_task_picture,
)
from sentprobe.probes.reports.pages.panels import DotPanel, HeatPanel, LinePanel, ResultPicture
from sentprobe.probes.reports.pages.plot_files import render_svg
from sentprobe.probes.reports.table_findings import compute_standings
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import Norm, Result, Results


def line_panels(picture: ResultPicture) -> list[LinePanel]:
    assert all(isinstance(panel, LinePanel) for panel in picture.panels)
    return [panel for panel in picture.panels if isinstance(panel, LinePanel)]


def test_task_picture_has_dot_per_encoder() -> None:
    words = make_sample_result("a", "Content1Probe", 900, 500, 500, 880)
    results = Results((make_sample_result("a", "Order", 900), make_sample_result("b", "Order", 600), words))
    picture = draw_task_picture(results, compute_standings(results))
    assert [panel.title for panel in picture.panels] == ["Order", "Content1Probe"]
    order, content = (panel for panel in picture.panels if isinstance(panel, DotPanel))
    labels = [(row.encoder, row.dots[0].value, row.dots[0].hollow) for row in order.rows]
    assert labels == [("a", 90.0, False), ("b", 60.0, True)]
    assert [row.reference for row in (*order.rows, *content.rows)] == [50, 50, 88]
    assert order.low == content.low == 50
    assert order.rows[0].dots[0].tooltip.startswith("90.0 (")


def test_layers_are_in_order() -> None:
    (picture,) = draw_layer_pictures(Results(tuple(LAYERS)))
    (panel,) = line_panels(picture)
    (line,) = panel.lines
    assert [(point.x, round(point.y, 6)) for point in line.points] == [(0, 50), (2, 51.8), (10, 59)]
    assert (line.name, panel.named, picture.legend) == ("hf:m", True, ())
    assert list(panel.references) == [50]
    assert [*draw_layer_pictures(Results((make_sample_result("bow", "Order", 500),)))] == []


def make_result(name: str, right: int, *, seed: int = 0) -> Result:
    """Make a result with all its first items right, and the first half of its sentences short."""
    sample = make_sample_result(name, "Order", right)
    facts = DataFacts(train=9, test=1000, validation=0, word_types=9, vocabulary="v", sampling="s", seed=seed)
    norms = (Norm(6, 5, 2.0, 0.25), Norm(10, 7, 100.0, 0.5))
    return replace(sample, lengths=(6,) * 500 + (10,) * 500, norms=norms, seed=seed, data=facts)


def test_accuracies_and_norms_by_length() -> None:
    (picture,) = draw_length_pictures(Results((make_result("a", 600), make_result("b", 250))), Lengths.BINS)
    accuracy, norm = line_panels(picture)
    assert [[p.y for p in line.points] for line in accuracy.lines] == [[100, 20], [50, 0]]
    assert [text for _, text in accuracy.compute_x_ticks()] == ["5-8", "9-12"]
    assert [[p.y for p in line.points] for line in norm.lines] == [[2, 100]] * 2
    assert norm.logarithmic
    assert (accuracy.y_label, norm.y_label) == ("accuracy (%)", "norm")
    (tokens,) = draw_length_pictures(Results((make_result("a", 600),)), Lengths.TOKENS)
    assert [p.x for p in line_panels(tokens)[0].lines[0].points] == [6, 10]


def test_draws_are_one_line() -> None:
    draws = Results((make_result("a", 600), make_result("a", 700, seed=10)))
    accuracy, _ = line_panels(next(draw_length_pictures(draws, Lengths.BINS)))
    (line,) = accuracy.lines
    assert [point.y for point in line.points] == pytest.approx([100, 30])
    assert line.points[1].low < 20  # Student's t of two
    assert line.points[1].high > 40


def test_length_picture_shows_best_encoders() -> None:
    many = [make_result(f"e{n}", 500 + 10 * n) for n in range(MAX_LINES + 2)]
    (picture,) = draw_length_pictures(Results(tuple(many)), Lengths.BINS)
    assert [name for name, _ in picture.legend] == [f"e{n}" for n in range(2, MAX_LINES + 2)]
    assert {*(mark for _, mark in picture.legend)} == {*range(MAX_LINES)}


def make_placed(layer: int, position: str, right: int, *, family: str) -> Result:
    sample = make_sample_result(f"{family}, layer {layer}", "Order", right)
    return replace(sample, layer=layer, position=position, family=family)


@pytest.mark.parametrize(("names", "model"), [
    (["M at verb", "M at agent.rel"], "M"),
    (["M at verb, 64 dims", "M at agent.rel, 64 dims"], "M, 64 dims"),
    (["hf:m?pool=verb", "hf:m?pool=agent.rel"], "hf:m"),
    (["hf:m?part=mlp&pool=verb", "hf:m?part=mlp&pool=agent.rel"], "hf:m?part=mlp"),
    (["hf:m?pool=verb&part=mlp", "hf:m?pool=agent.rel&part=mlp"], "hf:m?part=mlp"),
])  # fmt: skip
def test_position_picture_has_cell_per_layer(names: list[str], model: str) -> None:
    verb, determiner = names
    records = [make_placed(0, "verb", 500, family=verb), make_placed(2, "verb", 700, family=verb),
               make_placed(2, "agent.rel", 1000, family=determiner)]  # fmt: skip
    (picture,) = draw_position_picture(Results((*records, make_sample_result("bow", "Order", 900))))
    (panel,) = picture.panels
    assert isinstance(panel, HeatPanel)
    assert (panel.title, panel.rows, panel.columns) == (
        f"Order, {model}",
        ("layer 2", "layer 0"),
        ("verb", "agent.rel"),
    )
    assert [[cell.text for cell in row] for row in panel.cells] == [["70.0", "100.0"], ["50.0", ""]]
    assert [[cell.bold for cell in row] for row in panel.cells] == [[True, True], [False, False]]
    assert [row[0].fill for row in panel.cells] == ["#0072b23d", "#0072b200"]
    assert (panel.colours[0], panel.colours[-1]) == (("100", "#0072b299"), ("50", "#0072b200"))
    assert panel.cells[1][0].tooltip.startswith("layer 0, verb: 50.0 (")
    assert 'fill="#0072b23d"><title>layer 2, verb: 70.0 (' in render_svg(picture)


def test_one_position_is_no_heat_map() -> None:
    records = [make_placed(layer, "mean", 500, family="M") for layer in (0, 1)]
    assert [*draw_position_picture(Results(tuple(records)))] == []
