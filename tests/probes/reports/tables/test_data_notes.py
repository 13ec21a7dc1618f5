"""The lines under a table that say what its data was made of."""

import json
from dataclasses import fields, replace
from hashlib import sha256

from helpers.strategies.probe_strategies import facts, make_learnable_dataset, make_sample_result
from hypothesis import example, given
from hypothesis import strategies as st

from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.reports.tables.table_notes import describe_all, describe_datasets
from sentprobe.probes.results.data_facts import DataFacts, collect_data_facts, count_by_length
from sentprobe.probes.results.result import Result, Results
from sentprobe.probes.results.store import format_result, parse_result

FACTS = DataFacts(train=4000, test=1000, word_types=318, vocabulary="compeval", sampling="mirror", seed=0)
TASKS = ("Order", "SemRole")
digests = st.binary(max_size=2).map(lambda data: sha256(data).hexdigest())
facts_and_digests = st.tuples(st.none() | facts.map(lambda stored_facts: replace(stored_facts, source="")), digests)


def make_table(*parts: tuple[DataFacts | None, str]) -> Results:
    return Results(tuple(map(make_result, TASKS, parts)))


def make_result(task: str, part: tuple[DataFacts | None, str]) -> Result:
    return replace(make_sample_result("bow", task, 600), data=part[0], dataset_fingerprint=part[1])


def test_one_line_where_datasets_are_alike() -> None:
    lines = list(describe_datasets(make_table((FACTS, "a" * 64), (replace(FACTS, word_types=9), "b" * 64))))
    assert lines == [
        "Data: 4000 training, 1000 test items; vocabulary compeval, sampling mirror, seed 0. "
        "Order: 318 word types, dataset digest aaaaaaaaaaaa; SemRole: 9 word types, dataset digest bbbbbbbbbbbb."
    ]


def test_a_line_for_each_where_they_are_not() -> None:
    changed_facts = DataFacts(train=9, validation=2, test=1, word_types=3)
    assert list(describe_datasets(make_table((FACTS, "a" * 64), (changed_facts, "b" * 64))))[1] == (
        "Data: 9 training, 2 validation, 1 test items; vocabulary, sampling and seed not stated. "
        "SemRole: 3 word types, dataset digest bbbbbbbbbbbb."
    )


tables = st.tuples(facts_and_digests, facts_and_digests)
ODD = replace(FACTS, vocabulary="x, sampling y", sampling="")


@given(tables, tables)
@example(((FACTS, "a"), (FACTS, "b")), ((replace(FACTS, seed=1), "a"), (FACTS, "b")))
@example(((FACTS, "a"), (FACTS, "b")), ((None, "a"), (FACTS, "b")))
@example(
    ((ODD, "a"), (FACTS, "b")), ((replace(ODD, vocabulary="x", sampling="y, sampling not stated"), "a"), (FACTS, "b"))
)
def test_no_two_tables_of_different_data_have_the_same_lines(
    first: tuple[tuple[DataFacts | None, str], ...], second: tuple[tuple[DataFacts | None, str], ...]
) -> None:
    assert (first == second) == (describe_all(make_table(*first)) == describe_all(make_table(*second)))


@given(tables, facts_and_digests, st.sampled_from([each.name for each in fields(DataFacts)]))
def test_a_single_thing_that_differs_shows(
    one: tuple[tuple[DataFacts | None, str], ...], replacement: tuple[DataFacts | None, str], name: str
) -> None:
    (mine, digest), second = one
    if mine is not None and replacement[0] is not None:
        changed_facts = replace(mine, **{name: getattr(replacement[0], name)})
        assert (mine == changed_facts) == (
            describe_all(make_table(*one)) == describe_all(make_table((changed_facts, digest), second))
        )
    assert (digest == replacement[1]) == (
        describe_all(make_table(*one)) == describe_all(make_table((mine, replacement[1]), second))
    )


def test_what_is_not_known_is_not_recorded() -> None:
    value = json.loads(format_result(make_result("Order", (FACTS, "a" * 64))))
    assert value["data"]["train"] == 4000
    assert value["data"]["sampling"] == "mirror"
    value["data"] = None
    old = parse_result(json.dumps(value))
    assert old.data is None
    line = "Data: items, words, sampling and seed not recorded. Order: dataset digest aaaaaaaaaaaa."
    assert line in describe_all(Results((old,))).splitlines()


def test_facts_are_those_of_the_dataset() -> None:
    data = make_learnable_dataset(size=40)
    assert collect_data_facts(data) == DataFacts(
        train=len(data.splits[Split.TRAIN]),
        test=len(data.splits[Split.TEST]),
        word_types=10,
        by_length=count_by_length(data),
    )
    assert collect_data_facts(set_drawing(data, seed=3)) == replace(collect_data_facts(data), sampling="mirror", seed=3)


def set_drawing(data: ProbeDataset, *, seed: int) -> ProbeDataset:
    return replace(data, card=replace(data.card, sampling="mirror", seed=seed))
