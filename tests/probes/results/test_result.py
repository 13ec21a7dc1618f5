"""Results as values and as JSON: they come back as they were."""

import json
from statistics import mean, stdev

import numpy as np
import pytest
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score, results
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import ResultsError
from sentprobe.probes.results.result import Condition, Result, make_score, pack_bits, renumber_units, unpack_bits
from sentprobe.probes.results.store import format_result, parse_result

SAMPLE = make_sample_result("bow", "content1", 900, 500, 510, mirrored=True, seeds=2)


@given(results())
def test_result_round_trips(result: Result) -> None:
    assert parse_result(format_result(result)) == result


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_answers_round_trip(right: list[bool]) -> None:
    assert unpack_bits(pack_bits(np.array(right)), len(right)).tolist() == right


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_units_are_numbered_as_they_come(units: list[int]) -> None:
    numbers = renumber_units(np.array(units))
    if not numbers:
        assert len(set(units)) == len(units)
        return
    assert len(set(zip(numbers, units, strict=True))) == len(set(units)) == max(numbers) + 1
    assert [number for place, number in enumerate(numbers) if number not in numbers[:place]] == list(
        range(max(numbers) + 1)
    )


def test_mean_and_spread_over_seeds() -> None:
    score = make_score((make_seed_score([item < count for item in range(10)], seed=count) for count in (9, 7, 8)), ())
    assert [seed_score.seed for seed_score in score.seeds] == [7, 8, 9]
    assert score.accuracy == pytest.approx(mean([0.7, 0.8, 0.9]))
    assert score.spread == pytest.approx(stdev([0.7, 0.8, 0.9]))
    assert score.total == 10
    assert score.items().tolist() == pytest.approx([1] * 7 + [2 / 3, 1 / 3, 0])
    assert score.accuracy in score.interval


def test_one_seed_has_no_spread() -> None:
    assert make_score([make_seed_score([True, False])], ()).spread is None


def test_some_seeds_of_a_result() -> None:
    part = SAMPLE.select_seeds([1])
    assert [seed_score.seed for seed_score in part.scores[Condition.PROBE].seeds] == [1]
    assert part.accuracy == 0.901
    assert SAMPLE.select_seeds([7]).scores == {}


def format_edited_result(**changes: object) -> str:
    return json.dumps(json.loads(format_result(SAMPLE)) | changes)


def format_edited_seed(**changes: object) -> str:
    value = json.loads(format_result(SAMPLE))
    value["scores"]["probe"]["seeds"][0] |= changes
    return json.dumps(value)


def format_portions(at: str, information: str, correct: str = "500 500") -> str:
    """A result with one probe a portion, each right on half of the test items."""
    value = json.loads(format_result(SAMPLE))
    probe = value["scores"]["probe"]
    columns = {"at": at, "correct": correct, "bits": "1.0 0.0"}
    seeds = [{**seed, "readings": columns, "information": information} for seed in probe["seeds"]]
    value["scores"]["portions"] = {**probe, "seeds": seeds}
    return json.dumps(value)


INFORMATION = " ".join(["0.5"] * 1000)

BAD_RESULTS = [
    ("", "not a result of sentprobe"),
    ("[]", "a JSON object is expected, not a list"),
    ("5", "a JSON object is expected, not a number"),
    ('"x"', "a JSON object is expected, not a text"),
    ("{}", "not a result of sentprobe (the key 'format' is missing)"),
    ('{"format": "another"}', "of another version of sentprobe, not 'sentprobe-result 3'"),
    ('{"format": "sentprobe-result 3"}', "not a result of sentprobe (the key 'data' is missing)"),
    (format_edited_result(scores=5), "a value has another type than expected: "),
    (format_edited_result(data={"x": 1}), "the key 'x' is not expected"),
    (format_result(SAMPLE)[:-100], "not a result of sentprobe"),
    (format_edited_result(scores={"guess": {}}), "'guess' is not a valid Condition"),
    (format_edited_result(scores={"probe": {"seeds": [], "interval": {}}}), "a score without a seed"),
    (format_edited_result(scores={}), "there is no score of the main probe"),
    (format_edited_result(units="0 0 1"), "scores, units and lengths differ in their number of items"),
    (format_edited_result(preset={}), "a preset has other fields than in this version"),
    (format_edited_result(units="1 x"), "invalid literal for int"),
    (format_edited_result(mood="good"), "the key 'mood' is not expected"),
    (format_edited_seed(right="ff"), "1 bytes of answers for 1000 items"),
    (format_edited_seed(right="wrong"), "non-hexadecimal number"),
    (format_portions("4 4", INFORMATION), "portions without its probes"),
    (format_portions("0 4", INFORMATION), "portions without the information of each item"),
    (format_portions("-1 4", INFORMATION), "portions with a probe of -1"),
    (format_portions("4 8", ""), "portions without the information of each item"),
    (format_portions("4 8", INFORMATION.replace("0.5", "nan")), "information[0] must be a number"),
    (format_portions("4 8", INFORMATION, "500 1001"), "portions with more correct answers than items"),
]


@pytest.mark.parametrize(("text", "message"), BAD_RESULTS, ids=[m for _, m in BAD_RESULTS])
def test_refused_result(text: str, message: str) -> None:
    with pytest.raises(ResultsError) as caught:
        parse_result(text, source="broken.json")
    assert message in str(caught.value)
    assert str(caught.value).startswith("broken.json: ")


def test_result_with_portions_is_read() -> None:
    seed_score = parse_result(format_portions("4 8", INFORMATION)).scores[Condition.PORTIONS].seeds[0]
    assert [reading.at for reading in seed_score.readings] == [4, 8]
    assert len(seed_score.information) == 1000


def test_keys_have_a_stable_order() -> None:
    keys = list(json.loads(format_result(SAMPLE)))
    assert keys[:4] == ["format", "task", "encoder", "encoder_fingerprint"]
    assert keys[-2:] == ["seconds", "digest"]
