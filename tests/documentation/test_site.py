"""The documentation site has every page and every public name; `make docs` builds it."""

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from subprocess import run
from sys import executable

import pytest
from helpers.doc_pages import PAGES
from helpers.shared import ROOT

import sentprobe

DOCS = ROOT / "docs"
INDEXES = ["index", "howto", "reference", "explanation", "measurements", "decisions/index"]


def read_toctrees(page: Path) -> str:
    """Return the text of a page's toctrees."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.M)
    return "".join(blocks)


def list_children(page: Path) -> list[Path]:
    """Return the pages that a page has below it."""
    names = [line for line in read_toctrees(page).splitlines() if line and line[0] != ":"]
    return [(page.parent / f"{name}.md").resolve() for name in names]


def read_title(page: Path) -> str:
    """Return the first heading of a page."""
    return page.read_text("utf-8").partition("\n")[0].removeprefix("# ")


def test_each_page_stands_once_in_the_site() -> None:
    """Except the README: the home page of the site shows the same."""
    below = [child for page in DOCS.rglob("*.md") for child in list_children(page)]
    not_below = {DOCS / "index.md", ROOT / "README.md"}
    assert sorted(below) == sorted(page for page in PAGES if page not in not_below)


def test_each_page_has_a_title_of_its_own() -> None:
    """And no other in the navigation."""
    titles = Counter(read_title(page) for page in PAGES if page != ROOT / "README.md")
    assert [title for title, count in titles.items() if count > 1] == []
    assert [page for page in PAGES if re.search(r"^.* <.*>$", read_toctrees(page), re.M)] == []


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_page_links_each_page_below_it_by_its_title(name: str) -> None:
    page = DOCS / f"{name}.md"
    links = {
        (page.parent / target).resolve(): text
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("- ") or " | " in line
        for text, target in re.findall(r"\[([^\]]*)\]\(([^)#\s]*)\)", line)
    }
    assert {child: links.get(child) for child in list_children(page)} == {
        child: read_title(child).lstrip("0123456789. ") for child in list_children(page)
    }


def test_the_reference_has_each_public_name_once() -> None:
    directives = r"^\.\. auto\w+:: sentprobe\.(\w+)$"
    named = re.findall(directives, (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)
    assert Counter(named) == Counter(dir(sentprobe))


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("sphinx"), reason="Sphinx is not installed: make docs")
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs"]
    done = run([*command, "-d", tmp_path / "trees", ".", tmp_path / "site"], cwd=ROOT, check=False)
    assert done.returncode == 0
    assert (tmp_path / "site" / "index.html").exists()
    assert 'id="sentprobe.Space.sample"' in (tmp_path / "site/docs/api.html").read_text("utf-8")
