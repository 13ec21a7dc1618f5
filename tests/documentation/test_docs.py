"""Statements of the documentation about modules, files, options and the layout are true."""

import doctest
import re
import shlex
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from urllib.parse import urlsplit

import pytest
from helpers.doc_pages import PAGES
from helpers.shared import ROOT

from sentprobe import cli

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
        assert not heading or heading in read_headings(path), f"{target}#{heading}"


@every_page
def test_links_to_other_sites_are_of_the_right_form(page: Path) -> None:
    """`make docs-links` checks over the network that they lead somewhere."""
    text = page.read_text("utf-8")
    for link in re.findall(r"\]\((https?:[^)]*)\)|<(https?:[^>]*)>", text):
        address = urlsplit("".join(link))
        assert (address.scheme, address.username, address.port) == ("https", None, None), link
        assert re.fullmatch(r"([a-z0-9-]+\.)+[a-z]{2,}", address.netloc), link
        assert re.fullmatch(r"[\w./~%+:@=-]*", address.path), link


@every_page
def test_options_of_commands_exist(page: Path) -> None:
    text = page.read_text("utf-8").replace("\\\n", " ")
    for line in re.findall(r"^ *(?:    |\$ )((?:gen|probe) [a-z]+ .*)$", text, re.MULTILINE):
        if "..." in line or "--config" in line:  # incomplete, or needs a file
            continue
        program, name, *arguments = shlex.split(line, comments=True)
        cli.load_command(program, name).make_context(name, arguments)


def test_python_in_the_page_on_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = str(ROOT / "docs" / "training.md")
    assert doctest.testfile(page, module_relative=False) == (0, 9)
    assert len(list((tmp_path / "curve" / "geometry").iterdir())) == 6


def read_headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub writes them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def count_words(*pages: Path) -> int:
    """Return the number of words of pages, as wc counts them."""
    return sum(len(page.read_text("utf-8").split()) for page in pages)


def test_the_documentation_is_short() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.partition("\n## Install\n")[0].split()) <= 250
    assert count_words(ROOT / "README.md") <= 1_200
    assert count_words(ROOT / "CHANGELOG.md") <= 400


@pytest.mark.parametrize("record", sorted((ROOT / "docs" / "decisions").glob("0*.md")), ids=lambda page: page.stem)
def test_a_decision_is_one_page(record: Path) -> None:
    text = record.read_text("utf-8")
    assert count_words(record) <= 300
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert text.startswith(f"# {int(record.name[:4])}. ")


def test_types_of_the_glossary_exist() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "sentprobe").rglob("*.py"))
    classes = {*re.findall(r"^class (\w+)", sources, re.MULTILINE)}
    glossary = (ROOT / "docs" / "design.md").read_text("utf-8").partition("## Glossary")[2]
    types = {*re.findall(r"`([A-Z]\w+)`", glossary)}
    assert len(types) >= 50
    assert types <= classes


def test_the_layout_is_drawn_in_the_order_of_the_packages() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    drawing = (ROOT / "docs" / "design.md").read_text("utf-8").partition("## Layout")[2]
    drawn = re.findall(r"\b(\w+)(?:/|\.py)(?=\s)", drawing.partition("tests/")[0])
    order = [name.rpartition(".")[2] for name in reversed(layers)]
    assert [name for name in drawn if name in order] == order
