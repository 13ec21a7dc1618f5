"""The notes below a table: their summary, and the lines about its data."""

import json
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path

from helpers.in_process import Command
from helpers.runs.shown_runs import write_run
from helpers.strategies.probe_strategies import facts, make_learnable_dataset, make_sample_result
from helpers.strategies.probe_strategies import make_sample_result as sample
from hypothesis import example, given
from hypothesis import strategies as st

from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.reports.tables.main_table import CellStyle
from sentprobe.probes.reports.tables.table_notes import describe_all, describe_datasets, summarize
from sentprobe.probes.results.data_facts import DataFacts, collect_data_facts, count_by_length
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.results.store import format_result, parse_result


def summarize_results(*results: Result) -> list[str]:
    return [*summarize(Results(results), CellStyle())]


def test_three_lines_say_figures_certainty_and_controls() -> None:
    figures, certainty, controls = summarize_results(
        sample("bow", "Order", 690, 490, 505, 500, mirrored=True),
        sample("st", "Order", 500, 490, 505, 500, mirrored=True),
    )
    assert figures == (
        "Accuracy in % on 1000 test items; chance is 50.0. Bold or *: significantly better than chance and than "
        "every other model. Where a bag of words, words and positions or fixed positions are above chance, they take "
        "the place of chance."
    )
    assert certainty.startswith("Each figure is from one probe on one draw of the data. 95% intervals: ±")
    assert controls == "Controls: 4 of 4 that must be at chance are at chance."


def test_one_encoder_is_compared_with_its_control_only() -> None:
    figures = summarize_results(sample("bow", "Order", 690, 490, 505, 500, mirrored=True))[0]
    assert figures.endswith(
        "Bold or *: significantly better than chance. Where a bag of words, words and positions or fixed positions are "
        "above chance, they take the place of chance."
    )


def test_controls_that_may_know_the_answer_are_told_in_one_breath() -> None:
    controls = summarize_results(sample("st", "Order", 900, 500, 500, 500, 500, 600, 700, mirrored=True))[-1]
    assert "(without the other words) reach 60.0 on Order. The words and their positions" in controls
    assert controls.count("compare encoders with these figures, not with chance.") == 1


def test_a_failed_control_is_named_with_its_columns() -> None:
    controls = summarize_results(sample("bow", "Order", 900, 800, 505, 500))[2]
    assert controls == (
        "Controls: 1 of 2 that must be at chance is at chance; random sentences (dim 3) on Order is above chance "
        "(80.0). Do not believe Order before a repetition with another --seed."
    )


def test_a_table_without_controls_says_so() -> None:
    assert summarize_results(sample("bow", "Order", 900))[2] == (
        "Controls: none (--no-controls), so nothing tests these figures."
    )


def test_words_that_solve_a_task_are_named() -> None:
    controls = summarize_results(sample("bow", "Content1Probe", 900, 500, 501, 880))[2]
    assert controls == (
        "Controls: 2 of 2 that must be at chance are at chance. The words alone (bags of random word vectors, as "
        "wide as each encoder's vectors) reach 88.0 on Content1Probe: compare encoders with these "
        "figures, not with chance."
    )


def test_probes_and_sentences_cut_short_are_warned_of() -> None:
    result = replace(sample("bow", "Order", 600, 500), truncated=12)
    probes = [replace(probe, converged=False) for probe in result.scores[Condition.PROBE].seeds]
    scores = {**result.scores, Condition.PROBE: make_score(probes, ())}
    certainty = summarize_results(replace(result, scores=scores))[1]
    assert "1 of 1 probes reached max_epochs before converging." in certainty
    assert "bow read only the beginning of long sentences (up to 12 sentences on one task)." in certainty


def test_sizes_and_chance_that_differ_are_ranges() -> None:
    skewed = replace(sample("bow", "length", 600), majority=0.6)
    figures = summarize_results(skewed, sample("bow", "Order", 600))[0]
    assert "on 1000 test items; chance is 50.0 to 60.0 (by task)." in figures


def test_the_command_prints_all_notes_when_asked(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", sample("bow", "Order", 690, 490, 505, 500, mirrored=True))
    short, complete = command("show", run)[1], command("show", run, "--notes")[1]
    assert short.endswith(f"\nAll notes: probe show {run} --notes\n")
    assert len(short.split("┘\n")[1].splitlines()) == 4
    assert "classifier: ettinger (hidden layer as wide as the input" in complete
    assert "All notes:" not in complete


def test_notes_are_refused_where_there_are_none(tmp_path: Path, command: Command) -> None:
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
