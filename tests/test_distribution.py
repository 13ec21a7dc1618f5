"""What the distribution says of itself: one version, the papers, and what is in it."""

import tomllib

import yaml
from plain_install import PROJECT
from shared import ROOT

import sentprobe

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


def test_the_version_is_said_once() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    path = settings["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{sentprobe.__version__}"' in (ROOT / path).read_text("utf-8")
    assert CITATION["version"] == sentprobe.__version__


def test_the_three_papers_are_cited() -> None:
    papers = [(each["authors"][0]["family-names"], each["year"]) for each in CITATION["references"]]
    assert papers == [("Ettinger", 2018), ("Conneau", 2018), ("Adi", 2017)]
    assert [f"{author} et al. {year}" for author, year in papers] == list(PROJECT["urls"])


def test_what_is_said_twice_is_the_same() -> None:
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["keywords"] == PROJECT["keywords"]


def test_what_goes_into_the_source_distribution_is_there() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for path in settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / path.removeprefix("/")).exists(), path
