"""What the pages say of modules, files and the layout is so."""

import doctest
import re
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from urllib.parse import urlsplit

import pytest
from shared import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
    ROOT / "examples" / "README.md",
]
FILES = [
    f"/{path.relative_to(ROOT).as_posix()}"
    for folder in ("sentprobe", "tests", "benchmarks", "examples")
    for path in (ROOT / folder).rglob("*.py")
]
NOT_OURS = {"xy_classify.py"}
"""Files of the published code."""

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@every_page
def test_names_of_modules_and_what_is_in_them(page: Path) -> None:
    text = page.read_text("utf-8")
    for name in re.findall(r"\bsentprobe(?:\.[A-Za-z_]\w*)+", text):
        resolve_name(name)
    for module, names in re.findall(r"^ *from (sentprobe\S*) import (.*)$", text, re.MULTILINE):
        for name in names.split(","):
            resolve_name(f"{module}:{name.strip()}")


@every_page
def test_paths(page: Path) -> None:
    text = page.read_text("utf-8")
    for path in re.findall(r"(?<![\w./-])(?:sentprobe|tests|docs|benchmarks)/[\w./-]*\w", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"(?<![\w./-])\w[\w/]*\.py\b", text):
        assert name in NOT_OURS or any(path.endswith(f"/{name}") for path in FILES), name


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", page.read_text("utf-8"))
    for target, heading in links:
        path = page.parent / target if target else page
        assert path.exists(), target
        assert not heading or heading in headings(path), f"{target}#{heading}"


@every_page
def test_links_to_other_sites_are_of_the_right_form(page: Path) -> None:
    """Whether they lead somewhere only the network knows: make docs-links."""
    text = page.read_text("utf-8")
    for link in re.findall(r"\]\((https?:[^)]*)\)|<(https?:[^>]*)>", text):
        address = urlsplit("".join(link))
        assert (address.scheme, address.username, address.port) == ("https", None, None), link
        assert re.fullmatch(r"([a-z0-9-]+\.)+[a-z]{2,}", address.netloc), link
        assert re.fullmatch(r"[\w./~%+:@=-]*", address.path), link


def test_python_in_the_page_on_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = str(ROOT / "docs" / "training.md")
    assert doctest.testfile(page, module_relative=False) == (0, 9)
    assert len(list((tmp_path / "curve" / "geometry").iterdir())) == 6


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub writes them."""
    found = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_the_layout_is_drawn_in_the_order_of_the_packages() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    drawing = (ROOT / "docs" / "design.md").read_text("utf-8").partition("## Layout")[2]
    drawn = re.findall(r"\b(\w+)(?:/|\.py)(?=\s)", drawing.partition("tests/")[0])
    order = [name.rpartition(".")[2] for name in reversed(layers)]
    assert [name for name in drawn if name in order] == order
