"""The notes below a table: their summary, and the lines about its data."""

import json
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.reviewed_runs import change_probes
from helpers.runs.shown_runs import write_run
from helpers.strategies.probe_strategies import facts, make_learnable_dataset, make_sample_result
from helpers.strategies.probe_strategies import make_sample_result as sample
from hypothesis import example, given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.reports.tables.main_table import CellStyle
from sentprobe.probes.reports.tables.table_notes import describe_all, describe_datasets, summarize
from sentprobe.probes.results.data_facts import DataFacts, collect_data_facts, count_by_length
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.results.store import format_result, parse_result


def list_summarized_tables() -> dict[str, tuple[Result, ...]]:
    """Return tables whose summaries are stored, by what they have."""
    marked = sample("bow", "Order", 690, 490, 505, 500, mirrored=True)
    stopped = change_probes(sample("bow", "Order", 600, 500), lambda e: replace(e, converged=False), Condition.PROBE)
    skewed = replace(sample("bow", "length", 600), majority=0.6)
    return {
        "two encoders": (marked, sample("st", "Order", 500, 490, 505, 500, mirrored=True)),
        "one encoder": (marked,),
        "controls that may know": (sample("st", "Order", 900, 500, 500, 500, 500, 600, 700, mirrored=True),),
        "control that fails": (sample("bow", "Order", 900, 800, 505, 500),),
        "no controls": (sample("bow", "Order", 900),),
        "words that solve the task": (sample("bow", "Content1Probe", 900, 500, 501, 880),),
        "stopped probes and cut sentences": (replace(stopped, truncated=12),),
        "several chances": (skewed, sample("bow", "Order", 600)),
    }


def test_summaries_of_notes(stored_text: SnapshotAssertion) -> None:
    lines: list[str] = []
    for name, records in list_summarized_tables().items():
        lines += [f"{name}:", *summarize(Results(records), CellStyle()), ""]
    assert "\n".join(lines) == stored_text


def test_command_prints_all_notes(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", sample("bow", "Order", 690, 490, 505, 500, mirrored=True))
    short, complete = command("show", run)[1], command("show", run, "--notes")[1]
    assert short.endswith(f"\nAll notes: probe show {run} --notes\n")
    assert len(short.split("┘\n")[1].splitlines()) == 4
    assert "classifier: ettinger (hidden layer as wide as the input" in complete
    assert "All notes:" not in complete


def test_notes_without_table_are_refused(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", sample("bow", "Order", 690))
    for more in (("-f", "csv"), ("--by-length", "bins")):
        code, out, err = command("show", run, "--notes", *more)
        assert (code, out) == (2, "")
        assert "--notes is for tables of encoders by task" in err


FACTS = DataFacts(train=4000, test=1000, word_types=318, vocabulary="compeval", sampling="mirror", seed=0)
TASKS = ("Order", "SemRole")
digests = st.binary(max_size=2).map(lambda data: sha256(data).hexdigest())
facts_and_digests = st.tuples(st.none() | facts.map(lambda stored_facts: replace(stored_facts, source="")), digests)


def make_table(*parts: tuple[DataFacts | None, str]) -> Results:
    return Results(tuple(map(make_result, TASKS, parts)))


def make_result(task: str, part: tuple[DataFacts | None, str]) -> Result:
    return replace(make_sample_result("bow", task, 600), data=part[0], dataset_fingerprint=part[1])


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        (
            replace(FACTS, word_types=9),
            ["Data: 4000 training, 1000 test items; vocabulary compeval, sampling mirror, seed 0. "
             "Order: 318 word types, dataset digest aaaaaaaaaaaa; SemRole: 9 word types, dataset digest bbbbbbbbbbbb."],
        ),
        (
            DataFacts(train=9, validation=2, test=1, word_types=3),
            ["Data: 4000 training, 1000 test items; vocabulary compeval, sampling mirror, seed 0. "
             "Order: 318 word types, dataset digest aaaaaaaaaaaa.",
             "Data: 9 training, 2 validation, 1 test items; vocabulary, sampling and seed not stated. "
             "SemRole: 3 word types, dataset digest bbbbbbbbbbbb."],
        ),
    ],
    ids=["alike", "not-alike"],
)  # fmt: skip
def test_datasets_alike_share_a_line(changed: DataFacts, lines: list[str]) -> None:
    assert list(describe_datasets(make_table((FACTS, "a" * 64), (changed, "b" * 64)))) == lines


tables = st.tuples(facts_and_digests, facts_and_digests)
ODD = replace(FACTS, vocabulary="x, sampling y", sampling="")


@given(tables, tables)
@example(((FACTS, "a"), (FACTS, "b")), ((replace(FACTS, seed=1), "a"), (FACTS, "b")))
@example(((FACTS, "a"), (FACTS, "b")), ((None, "a"), (FACTS, "b")))
@example(
    ((ODD, "a"), (FACTS, "b")), ((replace(ODD, vocabulary="x", sampling="y, sampling not stated"), "a"), (FACTS, "b"))
)
def test_different_data_have_different_lines(
    first: tuple[tuple[DataFacts | None, str], ...], second: tuple[tuple[DataFacts | None, str], ...]
) -> None:
    assert (first == second) == (describe_all(make_table(*first)) == describe_all(make_table(*second)))


@given(tables, facts_and_digests, st.sampled_from([each.name for each in fields(DataFacts)]))
def test_each_changed_fact_shows(
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


def test_unknown_facts_are_not_recorded() -> None:
    value = json.loads(format_result(make_result("Order", (FACTS, "a" * 64))))
    assert value["data"]["train"] == 4000
    assert value["data"]["sampling"] == "mirror"
    value["data"] = None
    old = parse_result(json.dumps(value))
    assert old.data is None
    line = "Data: items, words, sampling and seed not recorded. Order: dataset digest aaaaaaaaaaaa."
    assert line in describe_all(Results((old,))).splitlines()


def test_facts_are_those_of_dataset() -> None:
    data = make_learnable_dataset(size=40)
    assert collect_data_facts(data) == DataFacts(
        train=len(data.splits[Split.TRAIN]),
        test=len(data.splits[Split.TEST]),
        word_types=10,
        by_length=count_by_length(data),
    )
    drawn = replace(data, card=replace(data.card, sampling="mirror", seed=3))
    assert collect_data_facts(drawn) == replace(collect_data_facts(data), sampling="mirror", seed=3)
