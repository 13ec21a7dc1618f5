"""The lines under a table that say what its data was made of."""

import json
from dataclasses import fields, replace
from hashlib import sha256

from hypothesis import example, given
from hypothesis import strategies as st
from probe_strategies import facts, learnable, sample_result

from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.report.data_lines import data_lines
from sentprobe.probes.report.tables import explain
from sentprobe.probes.runs.data_facts import DataFacts, facts_of
from sentprobe.probes.runs.results import Result, Results
from sentprobe.probes.runs.store import format_result, parse_result

FACTS = DataFacts(
    train=4000, test=1000, word_types=318, vocabulary="compeval", sampling="mirror", seed=0
)
TASKS = ("Order", "SemRole")
digests = st.binary(max_size=2).map(lambda data: sha256(data).hexdigest())
made = st.tuples(st.none() | facts.map(lambda each: replace(each, source="")), digests)


def table(*parts: tuple[DataFacts | None, str]) -> Results:
    return Results(tuple(map(a_result, TASKS, parts)))


def a_result(task: str, part: tuple[DataFacts | None, str]) -> Result:
    return replace(sample_result("bow", task, 600), data=part[0], dataset_fingerprint=part[1])


def test_one_line_where_datasets_are_alike() -> None:
    found = list(data_lines(table((FACTS, "a" * 64), (replace(FACTS, word_types=9), "b" * 64))))
    assert found == [
        "Data: 4000 training, 1000 test items; vocabulary compeval, sampling mirror, seed 0. "
        "Word types and digest: Order 318, aaaaaaaaaaaa; SemRole 9, bbbbbbbbbbbb."
    ]


def test_a_line_for_each_where_they_are_not() -> None:
    other = DataFacts(train=9, validation=2, test=1, word_types=3)
    assert list(data_lines(table((FACTS, "a" * 64), (other, "b" * 64))))[1] == (
        "Data: 9 training, 2 validation, 1 test items; vocabulary, sampling and seed not stated. "
        "Word types and digest: SemRole 3, bbbbbbbbbbbb."
    )


tables = st.tuples(made, made)
ODD = replace(FACTS, vocabulary="x, sampling y", sampling="")


@given(tables, tables)
@example(((FACTS, "a"), (FACTS, "b")), ((replace(FACTS, seed=1), "a"), (FACTS, "b")))
@example(((FACTS, "a"), (FACTS, "b")), ((None, "a"), (FACTS, "b")))
@example(
    ((ODD, "a"), (FACTS, "b")),
    ((replace(ODD, vocabulary="x", sampling="y, sampling not stated"), "a"), (FACTS, "b")),
)
def test_no_two_tables_of_different_data_have_the_same_lines(
    one: tuple[tuple[DataFacts | None, str], ...], other: tuple[tuple[DataFacts | None, str], ...]
) -> None:
    assert (one == other) == (explain(table(*one)) == explain(table(*other)))


@given(tables, made, st.sampled_from([each.name for each in fields(DataFacts)]))
def test_a_single_thing_that_differs_shows(
    one: tuple[tuple[DataFacts | None, str], ...], taken: tuple[DataFacts | None, str], name: str
) -> None:
    (mine, digest), second = one
    if mine is not None and taken[0] is not None:
        other = replace(mine, **{name: getattr(taken[0], name)})
        assert (mine == other) == (explain(table(*one)) == explain(table((other, digest), second)))
    assert (digest == taken[1]) == (
        explain(table(*one)) == explain(table((mine, taken[1]), second))
    )


def test_what_older_files_do_not_say_is_not_recorded() -> None:
    value = json.loads(format_result(a_result("Order", (FACTS, "a" * 64))))
    assert value["data"]["train"] == 4000
    assert value["data"]["sampling"] == "mirror"
    del value["data"]
    old = parse_result(json.dumps(value))
    assert old.data is None
    said = "Data: items, words, sampling and seed not recorded. Digest: Order aaaaaaaaaaaa."
    assert said in explain(Results((old,))).splitlines()


def test_facts_are_those_of_the_dataset() -> None:
    data = learnable(size=40)
    assert facts_of(data) == DataFacts(
        train=len(data.splits[Split.TRAIN]), test=len(data.splits[Split.TEST]), word_types=10
    )
    assert facts_of(drawn(data, seed=3)) == replace(facts_of(data), sampling="mirror", seed=3)


def drawn(data: ProbeDataset, *, seed: int) -> ProbeDataset:
    return replace(data, card=replace(data.card, sampling="mirror", seed=seed))
