"""Plots as files, and the pictures of methods."""

import re
from dataclasses import replace
from math import log2
from xml.etree import ElementTree

import pytest
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.probes.classifier.probe import CurvePoint
from sentprobe.probes.reports.pages import plot_files
from sentprobe.probes.reports.pages.html import build_report_page
from sentprobe.probes.reports.pages.page_pictures import MAX_LINES
from sentprobe.probes.reports.pages.panels import Dot, DotPanel, DotRow, Line, LinePanel, LinePoint, ResultPicture
from sentprobe.probes.reports.pages.plot_files import DIMS, ITEMS, SIZES, draw_method_pictures, strip_width
from sentprobe.probes.reports.tables.view import divide_by_setting, load_template
from sentprobe.probes.results.result import Condition, Result, Results

HOSTILE = "hf:a$b^$c <script>&amp;'\""


def dot_panel(*names: str) -> DotPanel:
    dot = Dot(value=60, low=55, high=65)
    return DotPanel(title=HOSTILE, rows=tuple(DotRow(n, (dot,), 50) for n in names), low=40)


def line_panel(*names: str) -> LinePanel:
    points = (LinePoint(x=0, y=60, low=55, high=65), LinePoint(x=1, y=70, low=65, high=75))
    lines = tuple(Line(name=name, mark=n, points=points) for n, name in enumerate(names))
    return LinePanel(title="t", x_label="layer", y_label="%", lines=lines, low=50, high=100, named=True)


def find_texts(picture: ResultPicture) -> list[str]:
    """The texts of a plot, which is well-formed."""
    root = ElementTree.fromstring(plot_files.render_svg(picture))
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_hostile_name_is_text() -> None:
    picture = ResultPicture(title=HOSTILE, caption=HOSTILE, panels=(dot_panel(HOSTILE),))
    assert find_texts(picture).count(HOSTILE) == 3


def test_colours_are_those_of_the_page() -> None:
    page = load_template("page.css").render()
    light = dict(re.findall(r"--(\w+): ([^;]+);", page.partition("}")[0]))
    assert {name: light[name] for name in plot_files.COLOURS} == plot_files.COLOURS
    assert "var(" in page
    assert "var(" not in plot_files.render_svg(
        ResultPicture(title="", caption="", panels=(line_panel("a"), dot_panel("a")))
    )


def test_long_names_are_whole() -> None:
    long = "st:sentence-transformers/all-MiniLM-L6-v2"
    assert long in find_texts(ResultPicture(title="", caption="", panels=(dot_panel(long),)))
    texts = find_texts(ResultPicture(title="", caption="", panels=(line_panel("short", long),)))
    assert texts[:2] == ["short", long]  # a legend above the panel
    assert find_texts(ResultPicture(title="", caption="", panels=(line_panel("short"),)))[-1] == "shortshort"


@pytest.mark.parametrize(("number", "columns"), [(1, [1]), (3, [3]), (4, [2, 2]), (5, [3, 2]), (7, [3, 3, 1])])
def test_panels_are_in_rows(number: int, columns: list[int]) -> None:
    panels = tuple(replace(dot_panel("a"), title=f"t{n}") for n in range(number))
    svg = plot_files.render_svg(ResultPicture(title="", caption="", panels=panels))
    heights = re.findall(r'<g transform="translate\(\S+ (\S+)\)">\n<text class="panel', svg)
    assert [heights.count(height) for height in dict.fromkeys(heights)] == columns


def test_plots_are_those_of_the_page() -> None:
    results = Results((make_sample_result("bow", "Order", 500), make_sample_result(HOSTILE, "Order", 600)))
    (plot,) = results.plot()
    page = build_report_page(results)
    assert (plot.title, page.count("<figure>")) == ("Accuracy by task", 1)
    assert ">Accuracy by task<" in page
    assert HOSTILE in ["".join(node.itertext()) for node in ElementTree.fromstring(plot.svg).iter()]
    both = Results((*results.records, replace(make_sample_result("bow", "SemRole", 600), seed=1)))
    titles = [plot.title.partition(":")[0] for plot in both.plot()]
    assert titles == ["Accuracy by task"] * len([*divide_by_setting(both)])
    assert Results(()).plot() == ()


def add_readings(result: Result, condition: Condition, *curves: dict[int, int]) -> Result:
    """Add a probe of a method for each seed, with the number of right items at each size."""
    score = result.scores[Condition.PROBE]
    seeds = tuple(
        replace(seed, readings=tuple(CurvePoint(at=at, correct=n) for at, n in curve.items()))
        for seed, curve in zip(score.seeds, curves, strict=True)
    )
    return replace(result, scores={**result.scores, condition: replace(score, seeds=seeds)})


def make_cut_result(name: str, dim: int, right: int, task: str = "Order") -> Result:
    return replace(make_sample_result(name, task, right), dim=dim)


def list_line_panels(picture: ResultPicture) -> list[LinePanel]:
    return [panel for panel in picture.panels if isinstance(panel, LinePanel)]


def test_no_method_has_no_picture() -> None:
    assert [*draw_method_pictures(Results((make_sample_result("bow", "Order", 600),)))] == []


def test_accuracy_by_size_of_the_probe() -> None:
    one = add_readings(make_sample_result("a", "Order", 800), Condition.WIDTHS, {0: 500, 8: 700, 32: 800})
    (picture,) = draw_method_pictures(Results((one,)))
    assert picture.title == SIZES.title
    (panel,) = list_line_panels(picture)
    assert [text for _, text in panel.compute_x_ticks()] == ["linear", "8", "32"]
    assert [point.x for point in panel.lines[0].points] == [1, 3, 5]  # 0 is before the least
    assert [point.y for point in panel.lines[0].points] == [50, 70, 80]
    assert (panel.named, panel.references, picture.legend) == (True, (50,), ())


def test_seeds_are_mean_and_deviation() -> None:
    seeds = make_sample_result("a", "Order", 800, seeds=3)
    some = add_readings(seeds, Condition.PORTIONS, {4: 500, 40: 600}, {4: 510, 40: 700}, {4: 520, 40: 800})
    fewer = add_readings(make_sample_result("b", "Order", 800), Condition.PORTIONS, {2: 400, 4: 450, 40: 500})
    short = replace(fewer, encoder="a", seed=10)  # a draw with other portions than the first
    (picture,) = draw_method_pictures(Results((some, short, fewer)))
    assert picture.title == ITEMS.title
    first, second = list_line_panels(picture)[0].lines
    assert [(p.low, p.y, p.high) for p in first.points] == [(50, 51, 52), (60, 70, 80)]
    assert [(p.low, p.high) for p in second.points] == [(40, 40), (45, 45), (50, 50)]
    assert first.points[0].x == second.points[1].x == log2(4)


def test_panels_show_best_encoders_by_task() -> None:
    curve = {4: 500, 8: 900}
    many = [
        add_readings(make_sample_result(f"e{n}", task, 500 + 10 * n), Condition.PORTIONS, curve)
        for n in range(MAX_LINES + 1)
        for task in ("Order", "SemRole")
    ]
    (picture,) = draw_method_pictures(Results(tuple(many)))
    assert [panel.title for panel in picture.panels] == ["Order", "SemRole"]
    assert [len(panel.lines) for panel in list_line_panels(picture)] == [MAX_LINES, MAX_LINES]
    assert [name for name, _ in picture.legend] == [f"e{n}" for n in range(1, MAX_LINES + 1)]


def test_cut_vectors_are_a_line() -> None:
    wide, narrow = make_cut_result("st:m", 384, 900), make_cut_result("st:m?dims=64", 64, 700)
    rounded = [make_cut_result("st:m?quantize=int8", 384, 880), make_cut_result("st:m?dims=64&quantize=int8", 64, 650)]
    alone = make_cut_result("bow", 300, 600)
    (picture,) = draw_method_pictures(Results((wide, narrow, *rounded, alone)))
    assert picture.title == DIMS.title
    (panel,) = list_line_panels(picture)
    assert [line.name for line in panel.lines] == ["st:m", "st:m?quantize=int8"]
    assert [text for _, text in panel.compute_x_ticks()] == ["64", "384"]
    points = panel.lines[0].points
    assert [(point.x, point.y) for point in points] == [(log2(64), 70), (log2(384), 90)]
    assert all(point.low < point.y < point.high for point in points)


@pytest.mark.parametrize(
    ("name", "dim", "full_name"),
    [
        ("st:m?dims=64", 64, "st:m"),
        ("st:m?layer=2&dims=64&quantize=int8", 64, "st:m?layer=2&quantize=int8"),
        ("small, 64 dims", 64, "small"),
        ("small, 64 dims, int8", 64, "small, int8"),
        ("bow?dim=64", 64, "bow?dim=64"),
        ("my model, 64 dims", 384, "my model, 64 dims"),  # it only is called so
        ("x?dims=64", 384, "x?dims=64"),
        ("?&=%", 3, "?&=%"),
        ("a\n, 3 dims", 3, "a\n"),
    ],
)
def test_width_is_stripped_from_name(name: str, dim: int, full_name: str) -> None:
    assert strip_width(make_cut_result(name, dim, 500)) == full_name
