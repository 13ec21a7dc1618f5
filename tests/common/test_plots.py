"""Plots as files and in a notebook."""

import base64
import re
from pathlib import Path

import pytest

from sentprobe.common.errors import UsageError
from sentprobe.common.plots import Plot, Plots

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="4" height="4"/></svg>'
HOSTILE = '"><script>alert(1)</script>'


def test_notebook_shows_images() -> None:
    shown = Plots([Plot("one", HOSTILE, SVG), Plot(HOSTILE, "b", SVG)])._repr_html_()
    images = re.findall('src="data:image/svg\\+xml;base64,([^"]*)"', shown)
    assert [base64.b64decode(image).decode() for image in images] == [SVG, SVG]
    assert "<script" not in shown


@pytest.mark.parametrize(("name", "start"), [("a.svg", SVG.encode()), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_plot_is_saved(name: str, start: bytes, tmp_path: Path) -> None:
    if not name.endswith("svg"):
        pytest.importorskip("vl_convert")
    Plot("one", "", SVG).save(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_other_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the suffix of a plot must be one of \.svg, \.png, \.pdf"):
        Plot("one", "", SVG).save(tmp_path / "a.jpg")
