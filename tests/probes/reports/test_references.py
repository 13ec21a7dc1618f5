"""References agree in CITATION.cff, the papers' tables and the list of tasks."""

import re

import pytest
import yaml
from helpers.shared import ROOT

from sentprobe.commands.lists import PAPERS, list_tasks
from sentprobe.probes.classifier.presets import PRESETS
from sentprobe.probes.reports.pages.methods_paragraph import PRESET_PAPERS as OF_PRESETS
from sentprobe.probes.reports.references import find_reference, read_references, write_bibliography
from sentprobe.probes.reports.tables.main_table import read_published_tables

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


@pytest.mark.parametrize(("key", "place"), [("ettinger2018", 0), ("conneau2018", 1), ("adi2017", 2)])
def test_citation_cff_says_the_same(key: str, place: int) -> None:
    reference, cited = find_reference(key), CITATION["references"][place]
    authors = [f"{author['family-names']}, {author['given-names']}" for author in cited["authors"]]
    assert (list(reference.authors), reference.title) == (authors, cited["title"])
    assert reference.year == cited["year"]
    assert reference.where == cited.get("collection-title")
    assert reference.pages == "-".join(filter(None, (cited.get("start"), cited.get("end"))))
    assert (reference.doi, reference.url) == (cited.get("doi", ""), cited.get("url", ""))


def test_paper_has_one_label() -> None:
    tasks = [task for task in list_tasks() if task.suite != "universal"]  # its rules are no paper's
    labels = {find_reference(OF_PRESETS[task.classifier]).label for task in tasks}
    assert labels == {paper.removeprefix("after ") for suite, paper in PAPERS.items() if suite != "universal"}
    for task in tasks:
        assert find_reference(OF_PRESETS[task.classifier]).label == task.paper.removeprefix("after ")
    for table in read_published_tables():
        assert {row.source for row in table.rows} == {table.reference.label}
        assert OF_PRESETS[table.classifier] == table.reference.key


def test_each_preset_has_a_paper() -> None:
    assert {preset.name for preset in PRESETS} == {*OF_PRESETS, "logreg"}


def parse_entries(text: str) -> dict[str, dict[str, str]]:
    """Read BibTeX back: the fields of each entry, by key."""
    entries_by_key = {}
    for key, body in re.findall(r"^@\w+\{(\w+),\n(.*?)^\}$", text, re.MULTILINE | re.DOTALL):
        entries_by_key[key] = dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, re.MULTILINE))
    return entries_by_key


def test_bibtex_is_complete_and_escaped() -> None:
    entries_by_key = parse_entries(write_bibliography(read_references(), version=""))
    assert list(entries_by_key) == list(read_references())
    for key, fields in entries_by_key.items():
        reference = read_references()[key]
        assert fields["author"] == " and ".join(reference.authors)
        assert fields["year"] == str(reference.year)
        assert {"doi", "url", "volume"} & fields.keys()
        for value in (fields["title"], fields["author"]):
            assert not re.search(r"(?<!\\)[&%$#_~^]", value)
            assert value.count("{") == value.count("}")
    assert r"\$\&!\#*" in entries_by_key["conneau2018"]["title"]
    assert entries_by_key["ettinger2018"]["pages"] == "1790--1801"


def test_software_is_cited_with_version() -> None:
    assert parse_entries(write_bibliography(["sentprobe"], version="0.1.0")) == {
        "sentprobe": {"title": "sentprobe", "author": "{The sentprobe developers}", "note": "Version 0.1.0"}
    }
    assert CITATION["authors"] == [{"name": "The sentprobe developers"}]
    assert CITATION["title"] == "sentprobe"
