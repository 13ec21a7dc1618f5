"""The distribution: one version, the papers, the included files, and public names, each listed once."""

import ast
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from helpers.plain_install import PROJECT
from helpers.shared import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

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


def test_pinned_version_of_typer_is_the_last_allowed() -> None:
    """Internals of Typer are used, which the next minor version may change."""
    (allowed,) = (r.specifier for r in map(Requirement, PROJECT["dependencies"]) if r.name == "typer")
    (pinned,) = (Version(pin.partition("==")[2]) for pin in read_pins("constraints.txt") if pin.startswith("typer=="))
    assert pinned in allowed
    assert f"{pinned.major}.{pinned.minor + 1}" not in allowed


def test_no_extra_brings_gpl_packages_unasked() -> None:
    extras = PROJECT["optional-dependencies"]
    assert not re.search(r"\b(stanza|benepar|bllip)\b", " ".join(extras["all"]))
    assert "udtools and udapi" in (ROOT / "docs/install.md").read_text("utf-8")


PACKAGE = Path(sentprobe.__file__).parent
MODULES = sorted(
    ".".join(("sentprobe", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)


@pytest.mark.parametrize("name", MODULES)
def test_all_is_complete_and_sorted(name: str) -> None:
    module = import_module(name)
    names = getattr(module, "__all__", [])
    assert [missing for missing in names if not hasattr(module, missing)] == []
    assert len(set(names)) == len(names)
    # Ruff sorts constants, classes, others; lazy_loader sorts the list of the top package.
    by_kind = sorted(names, key=lambda n: (not n.isupper(), not n[:1].isupper(), n))
    assert list(names) == (sorted(names) if module is sentprobe else by_kind)


@pytest.mark.parametrize("name", ["sentprobe", "sentprobe.lexicon"])
def test_public_packages_state_what_they_offer(name: str) -> None:
    assert import_module(name).__all__


def test_public_names_are_listed_and_described() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    promised = [alias.asname for node in imports for alias in node.names]
    assert sorted(map(str, promised)) == dir(sentprobe) == import_module("sentprobe").__all__
    for name in dir(sentprobe):
        value = getattr(sentprobe, name)
        assert not callable(value) or value.__doc__, name
        methods = vars(value).items() if inspect.isclass(value) and value.__module__.startswith("sentprobe") else ()
        own = {key: method for key, method in methods if not key.startswith("_")}
        undescribed = [key for key, method in own.items() if not (inspect.getdoc(method) or not callable(method))]
        assert undescribed == [], name


def test_unknown_name_is_attribute_error() -> None:
    with pytest.raises(AttributeError, match="generat"):
        _ = import_module("sentprobe").generat


@pytest.mark.parametrize("name", MODULES)
def test_module_has_docstring(name: str) -> None:
    assert import_module(name).__doc__
