"""Geometry of encoders, and its results folder."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sentprobe.common.errors import ResultsError
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.lexicon import english, german, read_lexicon_text
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.similarity import distance_results as rs
from sentprobe.probes.similarity.distance_run import measure_encoders
from sentprobe.probes.similarity.measures import NegativeKind
from sentprobe.probes.similarity.triplet_sentences import SampledTriplets, TripletSampling, sample_background

DRAWING = TripletSampling(n=20, distractors=2)
BACKGROUND_SENTENCES = sample_background(english(), DRAWING)[:50]


class CountingEncoder:
    """An encoder that counts what it is asked for."""

    def __init__(self, fingerprint: str = "one") -> None:
        self.name = "counting"
        self.fingerprint = fingerprint
        self.encoded: list[str] = []

    def encode(self, sentences: Sequence[str]) -> Vectors:
        self.encoded += sentences
        lengths = [[len(text), text.count("e"), text.count("by"), 1.0] for text in sentences]
        return np.array(lengths, dtype=np.float32)


@pytest.fixture(scope="module")
def materials() -> list[SampledTriplets]:
    return [SampledTriplets(TripletSpace(english(), name), DRAWING) for name in ("role", "tense")]


def measure_one(
    encoder: CountingEncoder, materials: Sequence[SampledTriplets], **settings: Any
) -> tuple[list[rs.GeometryResult], int]:
    return measure_encoders([encoder], materials, background=BACKGROUND_SENTENCES, **settings)


def test_each_sentence_is_encoded_once(materials: list[SampledTriplets]) -> None:
    encoder = CountingEncoder()
    results, reused = measure_one(encoder, materials)
    assert sorted(encoder.encoded) == sorted(
        {text for material in materials for text in material.sentences} | {*BACKGROUND_SENTENCES}
    )
    assert [result.contrast for result in results] == ["role", "tense"]
    assert reused == 0


def test_existing_results_are_reused(tmp_path: Path, materials: list[SampledTriplets]) -> None:
    first, _ = measure_one(CountingEncoder(), materials[:1], out=tmp_path, command="first")
    encoder = CountingEncoder()
    second, reused = measure_one(encoder, materials, out=tmp_path, command="second")
    assert set(encoder.encoded) == {*materials[1].sentences, *BACKGROUND_SENTENCES}
    assert reused == 1
    assert second[0] == first[0]
    assert [result.command for result in second] == ["first", "second"]
    third, reused = measure_one(idle := CountingEncoder(), materials, out=tmp_path)
    assert (idle.encoded, reused, third) == ([], 2, second)


def test_forced_or_changed_results_are_new(tmp_path: Path, materials: list[SampledTriplets]) -> None:
    measure_one(CountingEncoder(), materials, out=tmp_path)
    for encoder, force in ((CountingEncoder(), True), (CountingEncoder("two"), False), (CountingEncoder(""), False)):
        _, reused = measure_one(encoder, materials, out=tmp_path, force=force)
        assert encoder.encoded
        assert reused == 0


def test_damaged_file_is_made_anew(tmp_path: Path, materials: list[SampledTriplets]) -> None:
    (result,), _ = measure_one(CountingEncoder(), materials[:1], out=tmp_path)
    path = tmp_path / rs.FOLDER / rs.build_file_name(*result.identity)
    path.write_text("{}", "utf-8")
    with pytest.raises(ResultsError, match="not a result of sentprobe"):
        rs.parse_geometry(path.read_bytes(), source=path.name)
    assert measure_one(CountingEncoder(), materials[:1], out=tmp_path)[0] == [result]
    assert rs.parse_geometry(path.read_bytes(), source=path.name) == result


@pytest.mark.parametrize("field", ["encoder", "encoder_fingerprint", "contrast", "material"])
def test_file_with_wrong_name_is_ignored(tmp_path: Path, materials: list[SampledTriplets], field: str) -> None:
    (result,), _ = measure_one(CountingEncoder(), materials[:1], out=tmp_path)
    changed: dict[str, Any] = {field: "noun"}
    changed_text = rs.format_geometry(replace(result, **changed))
    (tmp_path / rs.FOLDER / rs.build_file_name(*result.identity)).write_text(changed_text, "utf-8")
    assert measure_one(CountingEncoder(), materials[:1], out=tmp_path) == ([result], 0)


def test_file_states_command_and_versions(tmp_path: Path, materials: list[SampledTriplets]) -> None:
    (result,), _ = measure_one(CountingEncoder(), materials[:1], out=tmp_path, command="probe geometry -e counting")
    value = json.loads((tmp_path / rs.FOLDER / rs.build_file_name(*result.identity)).read_text("utf-8"))
    assert value["format"] == "sentprobe-geometry 3"
    assert value["command"] == "probe geometry -e counting"
    assert value["drawing"]["seed"] == 0
    assert {"sentprobe", "numpy", "python"} <= set(value["versions"])


Record = dict[str, Any]


def change_measures(**values: object) -> Callable[[Record], object]:
    return lambda record: record["scores"][0]["measured"].update(values)


def change_ranking(**values: object) -> Callable[[Record], object]:
    return lambda record: record["ranking"].update(values)


def change_last_measures(**values: object) -> Callable[[Record], object]:
    return lambda record: record["scores"][-1]["measured"].update(values)


CONTRADICTIONS: list[tuple[Callable[[Record], object], str]] = [
    (change_measures(accuracy=0.125, accuracy_interval={"low": 0, "high": 1}), "an accuracy of 0.125, and its answers"),
    (change_measures(paired=0.125, paired_interval={"low": 0, "high": 1}), "an accuracy of 0.125, and its answers"),
    (change_measures(accuracy_interval={"low": 1.5, "high": -3}), "not in its interval, 1.5 to -3"),
    (change_measures(accuracy_interval={"low": 0, "high": 1.5}), "not in its interval, 0 to 1.5"),
    (change_last_measures(paired_interval={"low": -1, "high": 1}), "not in its interval, -1 to 1"),
    (change_measures(accuracy=1.5), "an accuracy is not between 0 and 1"),
    (change_last_measures(paired=-1), "an accuracy is not between 0 and 1"),
    (change_measures(margin=1e308), "a margin of 1e+308 between two cosines"),
    (change_measures(ties=100_000), "100000 ties of"),
    (change_last_measures(ties=-1), "-1 ties of"),
    (change_measures(triplets=2), "triplets"),
    (change_last_measures(triplets=100_000), "ties of 100000 triplets"),
    (change_measures(units=100_000), "of 100000 units"),
    (change_ranking(first_interval={"low": 1.5, "high": 2}), "the share of first ranks of"),
    (change_ranking(mean=0), "a mean rank of 0 among"),
    (change_ranking(mean=99), "a mean rank of 99 among"),
    (change_measures(margin=0.125), "its digest is missing or wrong: it was edited"),
    (change_last_measures(paired_interval={"low": 0, "high": 1}), "its digest is missing or wrong"),
    (lambda record: record.update(encoder="better"), "its digest is missing or wrong"),
    (lambda record: record.pop("digest"), "its digest is missing or wrong"),
    (lambda record: record["scores"].append(record["scores"][0]), "two scores of the same triplets"),
    (lambda record: record["scores"][0].update(right="0" * len(record["scores"][0]["right"])), "and its answers have"),
]


@pytest.mark.parametrize(("change", "message"), CONTRADICTIONS)
def test_contradictory_record_is_refused(
    materials: list[SampledTriplets], change: Callable[[Record], object], message: str
) -> None:
    (result,), _ = measure_one(CountingEncoder(), materials[:1])
    text = rs.format_geometry(result)
    assert rs.parse_geometry(text, source="a.json") == result
    record = json.loads(text)
    change(record)
    with pytest.raises(ResultsError, match=r"^a\.json: not a result of sentprobe \(.*" + re.escape(message)):
        rs.parse_geometry(json.dumps(record), source="a.json")


def test_file_of_other_format_is_refused() -> None:
    with pytest.raises(ResultsError, match=r"a\.json: not in the format"):
        rs.parse_geometry('{"format": "sentprobe-result 3"}', source="a.json")


def test_records_of_geometry(materials: list[SampledTriplets]) -> None:
    results, _ = measure_one(CountingEncoder(), materials)
    records = rs.to_geometry_records(results)
    assert len(records) == sum(len(result.scores) for result in results)
    assert {record["contrast"] for record in records} == {"role", "tense"}
    overall = [record for record in records if not record["by"]]
    assert {record["triplets"] for record in overall} == {40}


def test_groups_are_all_triplets(materials: list[SampledTriplets]) -> None:
    for result in measure_one(CountingEncoder(), materials)[0]:
        for by in ("structure", "place", "distance", "voice"):
            groups = result.find_by_group(NegativeKind.FORM, by=by)
            assert sum(measures.triplets for measures in groups.values()) == 40


def test_german_paraphrases_change_word_order() -> None:
    space = TripletSpace(german(), "role", vocabulary="german")
    groups = SampledTriplets(space, replace(DRAWING, n=60, distractors=0, language="de")).groups["voice"]
    changed_clauses = {group.partition(" changed, ")[0] for group in groups} - {"no relative clause"}
    assert changed_clauses == {"main", "relative"}
    assert {group.partition(" changed, ")[2] for group in groups} == {"", "word order of main"}


SMALL = "[noun]\nman = {}\nlawyer = {}\n[transitive]\nhelp = {}\n[intransitive]\nsleep = {}\n"


@pytest.mark.parametrize(
    ("template", "expected"),
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
def test_distances_by_hand(template: str, expected: dict[str, str]) -> None:
    """Of the participant that is farther from its verb, counted by hand."""
    words = read_lexicon_text(SMALL, source="small.toml")
    space = TripletSpace(words, "role", vocabulary="all", templates=[template])
    sampling = TripletSampling(vocabulary="all", templates=(template,), n=space.count(), distractors=0)
    material = SampledTriplets(space, sampling)
    distances = dict(zip(material.columns[0], material.groups["distance"], strict=True))
    assert {text: distances[text] for text in expected} == expected


def test_result_without_groups_is_measured_again(materials: list[SampledTriplets], tmp_path: Path) -> None:
    """A result of before there were groups by voice."""
    for result in measure_one(CountingEncoder(), materials, out=tmp_path)[0]:
        scores = tuple(score for score in result.scores if score.by != "voice")
        rs.write_geometry(replace(result, scores=scores), tmp_path)
    outcomes = [measure_one(CountingEncoder(), materials, out=tmp_path) for _ in range(2)]
    assert [reused for _, reused in outcomes] == [0, 2]
    assert all(result.find_by_group(NegativeKind.FORM, by="voice") for result in outcomes[0][0])
