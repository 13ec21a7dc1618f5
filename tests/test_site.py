"""The site of the documentation has every page and every public name; `make docs` builds it."""

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from subprocess import run
from sys import executable

import pytest
from shared import ROOT
from test_docs import PAGES

import sentprobe

DOCS = ROOT / "docs"


def in_toctrees(page: Path) -> list[Path]:
    """Return the pages that a page has below it."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.M)
    lines = [line for block in blocks for line in block.splitlines() if line and line[0] != ":"]
    names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
    return [(page.parent / f"{name}.md").resolve() for name in names]


def test_each_page_stands_once_in_the_site() -> None:
    below = [under for page in DOCS.glob("*.md") for under in in_toctrees(page)]
    assert sorted(below) == sorted(page for page in PAGES if page != DOCS / "index.md")


@pytest.mark.parametrize("name", ["index", "howto", "reference", "explanation"])
def test_what_is_below_a_page_is_linked_on_it(name: str) -> None:
    page = DOCS / f"{name}.md"
    links = re.findall(r"\]\(([^)#\s]*)", page.read_text("utf-8"))
    assert {*in_toctrees(page)} <= {(DOCS / link).resolve() for link in links}


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
