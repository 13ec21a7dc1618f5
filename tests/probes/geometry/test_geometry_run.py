"""Geometry of encoders, kept in a folder of results."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sentprobe.errors import ResultsError
from sentprobe.generator.triplets import TripletSpace
from sentprobe.lexicon import english, read_lexicon_text
from sentprobe.probes.encoders import Vectors
from sentprobe.probes.geometry import results as rs
from sentprobe.probes.geometry.material import Drawing, GeometryMaterial, background
from sentprobe.probes.geometry.measures import NegativeKind
from sentprobe.probes.geometry.run import GeometryOutcome, GeometryRun, measure_all

DRAWING = Drawing(n=20, variants=2)
BEHIND = background(english(), DRAWING)[:50]


class Counting:
    """An encoder that counts what it is asked for."""

    def __init__(self, fingerprint: str = "one") -> None:
        self.name = "counting"
        self.fingerprint = fingerprint
        self.asked: list[str] = []

    def encode(self, sentences: Sequence[str]) -> Vectors:
        self.asked += sentences
        lengths = [[len(text), text.count("e"), text.count("by"), 1.0] for text in sentences]
        return np.array(lengths, dtype=np.float32)


@pytest.fixture(scope="module")
def materials() -> list[GeometryMaterial]:
    return [GeometryMaterial(TripletSpace(english(), name), DRAWING) for name in ("role", "tense")]


def measure(
    encoder: Counting, materials: Sequence[GeometryMaterial], run: GeometryRun
) -> GeometryOutcome:
    return measure_all([encoder], materials, run)


def test_each_sentence_is_encoded_once(materials: list[GeometryMaterial]) -> None:
    encoder = Counting()
    outcome = measure(encoder, materials, GeometryRun(background=BEHIND))
    assert sorted(encoder.asked) == sorted({t for m in materials for t in m.sentences} | {*BEHIND})
    assert [each.contrast for each in outcome.results] == ["role", "tense"]
    assert outcome.found == 0


def test_what_is_there_is_not_made_again(tmp_path: Path, materials: list[GeometryMaterial]) -> None:
    first = measure(
        Counting(), materials[:1], GeometryRun(background=BEHIND, out=tmp_path, command="first")
    )
    encoder = Counting()
    second = measure(
        encoder, materials, GeometryRun(background=BEHIND, out=tmp_path, command="second")
    )
    assert set(encoder.asked) == {*materials[1].sentences, *BEHIND}
    assert second.found == 1
    assert second.results[0] == first.results[0]
    assert [each.command for each in second.results] == ["first", "second"]
    third = measure(idle := Counting(), materials, GeometryRun(background=BEHIND, out=tmp_path))
    assert (idle.asked, third.found, third.results) == ([], 2, second.results)


def test_what_is_forced_or_of_another_encoder_is(
    tmp_path: Path, materials: list[GeometryMaterial]
) -> None:
    measure(Counting(), materials, GeometryRun(background=BEHIND, out=tmp_path))
    for encoder, force in ((Counting(), True), (Counting("two"), False), (Counting(""), False)):
        again = measure(
            encoder, materials, GeometryRun(background=BEHIND, out=tmp_path, force=force)
        )
        assert encoder.asked
        assert again.found == 0


def test_a_damaged_file_is_made_anew(tmp_path: Path, materials: list[GeometryMaterial]) -> None:
    made = measure(Counting(), materials[:1], GeometryRun(background=BEHIND, out=tmp_path)).results[
        0
    ]
    path = tmp_path / rs.FOLDER / made.name
    path.write_text("{}", "utf-8")
    with pytest.raises(ResultsError, match="not a result of sentprobe"):
        rs.parse_geometry(path.read_bytes(), source=path.name)
    assert measure(
        Counting(), materials[:1], GeometryRun(background=BEHIND, out=tmp_path)
    ).results == (made,)
    assert rs.parse_geometry(path.read_bytes(), source=path.name) == made


@pytest.mark.parametrize("field", ["encoder", "encoder_fingerprint", "contrast", "material"])
def test_a_file_under_the_name_of_another_is_not_taken_for_it(
    tmp_path: Path, materials: list[GeometryMaterial], field: str
) -> None:
    run = GeometryRun(background=BEHIND, out=tmp_path)
    made = measure(Counting(), materials[:1], run).results[0]
    changed: dict[str, Any] = {field: "noun"}
    other = rs.format_geometry(replace(made, **changed))
    (tmp_path / rs.FOLDER / made.name).write_text(other, "utf-8")
    again = measure(Counting(), materials[:1], run)
    assert (again.found, again.results) == (0, (made,))


def test_a_file_says_how_it_came_about(tmp_path: Path, materials: list[GeometryMaterial]) -> None:
    run = GeometryRun(background=BEHIND, out=tmp_path, command="probe geometry -e counting")
    made = measure(Counting(), materials[:1], run).results[0]
    value = json.loads((tmp_path / rs.FOLDER / made.name).read_text("utf-8"))
    assert value["format"] == "sentprobe-geometry 2"
    assert value["command"] == "probe geometry -e counting"
    assert value["drawing"]["seed"] == 0
    assert {"sentprobe", "numpy", "python"} <= set(value["versions"])


def test_a_file_of_another_format_is_refused() -> None:
    with pytest.raises(ResultsError, match=r"a\.json: not in the format"):
        rs.parse_geometry('{"format": "sentprobe-result 2"}', source="a.json")


def test_records(materials: list[GeometryMaterial]) -> None:
    outcome = measure(Counting(), materials, GeometryRun(background=BEHIND))
    records = rs.to_records(outcome.results)
    assert len(records) == sum(len(each.scores) for each in outcome.results)
    assert {each["contrast"] for each in records} == {"role", "tense"}
    whole = [each for each in records if not each["by"]]
    assert {each["triplets"] for each in whole} == {40}


def test_groups_are_all_triplets(materials: list[GeometryMaterial]) -> None:
    for result in measure(Counting(), materials, GeometryRun(background=BEHIND)).results:
        for by in ("structure", "place", "distance"):
            groups = result.find(NegativeKind.FORM, by=by)
            assert sum(each.triplets for each in groups.values()) == 40


SMALL = "[noun]\nman = {}\nlawyer = {}\n[transitive]\nhelp = {}\n[intransitive]\nsleep = {}\n"


@pytest.mark.parametrize(
    ("template", "known"),
    [
        (
            "transitive",
            {
                "the man helped the lawyer": "1 to 3 tokens",  # 2 of the lawyer, 1 of the man
                "the man was helped by the lawyer": "1 to 3 tokens",  # 3 of the lawyer
                "the man was not being helped by the lawyer": "4 to 6 tokens",  # 4 of the man
            },
        ),
        (
            "transitive-rc",
            {
                "the man helped the lawyer that slept": "1 to 3 tokens",
                "the man that slept was helped by the lawyer": "4 to 6 tokens",  # 4 of the man
                "the man that was sleeping did not help the lawyer": "4 to 6 tokens",  # 6
                "the man that did not sleep did not help the lawyer": "7 tokens or more",  # 7
            },
        ),
        (
            "intransitive-rc",  # the clause that is changed is the relative one
            {
                "the man that helped the lawyer slept": "1 to 3 tokens",  # 2 of both
                "the man that the lawyer was not helping slept": "4 to 6 tokens",  # 6 of the man
                "the man that was not being helped by the lawyer slept": "4 to 6 tokens",  # 5
            },
        ),
    ],
)
def test_distances(template: str, known: dict[str, str]) -> None:
    """Of the participant that is farther from its verb, counted by hand."""
    words = read_lexicon_text(SMALL, source="small.toml")
    space = TripletSpace(words, "role", vocabulary="all", templates=[template])
    whole = Drawing(vocabulary="all", templates=(template,), n=space.count(), variants=0)
    material = GeometryMaterial(space, whole)
    found = dict(zip(material.columns[0], material.groups["distance"], strict=True))
    assert {text: found[text] for text in known} == known
