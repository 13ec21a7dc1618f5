"""Plots: pictures as files of their own, that any program can show."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from sentprobe.probes.reports.pages import plot_files
from sentprobe.probes.reports.pages.panels import Dot, DotPanel, DotRow, Line, LinePanel, LinePoint, ResultPicture
from sentprobe.probes.reports.tables.view import load_template

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


def test_any_name_is_text() -> None:
    picture = ResultPicture(title=HOSTILE, caption=HOSTILE, panels=(dot_panel(HOSTILE),))
    assert find_texts(picture).count(HOSTILE) == 3


def test_colours_are_those_of_the_page_and_no_variables() -> None:
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


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_converted(suffix: str, start: bytes) -> None:
    pytest.importorskip("vl_convert")
    svg = plot_files.render_svg(ResultPicture(title=HOSTILE, caption="", panels=(line_panel("a", "b"),)))
    assert plot_files.convert_svg(svg, suffix).startswith(start)
