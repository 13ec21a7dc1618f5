"""Accuracy by a column of the items, and items that are answered wrong."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

import numpy as np
import pytest
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score, results
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from sentprobe.common.errors import UsageError
from sentprobe.probes.datasets.dataset import STRUCTURE, TRAINED, name_structure_part
from sentprobe.probes.reports import item_parts
from sentprobe.probes.reports.figures import compute_figure
from sentprobe.probes.reports.item_parts import (
    BIN_COUNT,
    MAX_PARTS,
    accuracy_by,
    check_column,
    compute_gap,
    partition_values,
    split_by_part,
)
from sentprobe.probes.reports.tables.main_table import CellStyle
from sentprobe.probes.reports.tables.part_tables import GAP, build_part_tables, index_by_fingerprint, to_part_records
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.item_table import ItemTable
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.statistics import Interval, accuracy_interval, compare_draws, difference_interval, wilson

numbers = st.integers(-99, 99).map(str) | st.floats(-9, 9).map("{:.2f}".format)
texts = st.sampled_from(["active", "passive", "", "main", "3"])


def make_items(result: Result, **columns: tuple[str, ...]) -> ItemTable:
    total = result.scores[Condition.PROBE].total
    return ItemTable(
        task=result.task,
        fingerprint=result.dataset_fingerprint,
        labels=("FALSE", "TRUE"),
        targets=np.arange(total) % 2,
        sentences=("the man slept",) * total,
        probes=((),) * total,
        marks=((),) * total,
        events=("",) * total,
        columns=columns,
    )


@examples(32)
@given(results(), st.data())
def test_parts_add_up_to_the_whole(result: Result, choice: st.DataObject) -> None:
    total = result.scores[Condition.PROBE].total
    kind = choice.draw(st.sampled_from([numbers, texts]))
    values = tuple(choice.draw(st.lists(kind, min_size=total, max_size=total)))
    table = make_items(result, part=values)
    parts = split_by_part([result], index_by_fingerprint([table]), "part")
    for condition, score in result.scores.items():
        part_scores = [part.scores[condition] for (part,) in parts.values()]
        assert sum(part.total for part in part_scores) == score.total
        for index, seed in enumerate(score.seeds):
            seed_parts = [part.seeds[index] for part in part_scores]
            assert {part.seed for part in seed_parts} == {seed.seed}
            assert sum(part.correct for part in seed_parts) == seed.correct
            assert sum(len(part.wrong_answers) for part in seed_parts) == len(seed.wrong_answers)
        accuracies = accuracy_by(result, "part", condition=condition, items=table)
        total_accuracy = sum(part.items * part.accuracy for part in accuracies) / score.total
        assert total_accuracy == pytest.approx(score.accuracy)
        assert all(part.accuracy in part.interval for part in accuracies)


@given(st.lists(numbers, min_size=1))
def test_numbers_are_ordered_into_parts(values: list[str]) -> None:
    part_of = partition_values("frequency", values)
    assert {*part_of} == {*values}
    names = dict.fromkeys(part_of.values())
    ends = [[float(v) for v in values if part_of[v] == name] for name in names]
    assert all(max(a) <= min(b) for a, b in pairwise(ends))
    several = len({*map(float, values)}) > MAX_PARTS
    assert not several or len(names) <= BIN_COUNT


def test_parts_of_equal_size() -> None:
    values = [str(n) for n in range(60)]
    sizes = Counter(partition_values("rank", values).values())
    assert sizes == dict.fromkeys(("0 to 9", "10 to 19", "20 to 29", "30 to 39", "40 to 49", "50 to 59"), 10)


def test_order_of_parts() -> None:
    lengths = partition_values("length", ["12", "6", "7", "40"])
    assert [*lengths.items()] == [("6", "5-8"), ("7", "5-8"), ("12", "9-12"), ("40", "34-70")]
    labels = partition_values("label", ["no", "yes", ""], labels=("yes", "no"))
    assert [*labels.values()] == ["yes", "no", "not known"]
    held = name_structure_part("passive")
    assert [*partition_values(STRUCTURE, [held, TRAINED])] == [TRAINED, held]


def make_small_result() -> tuple[Result, ItemTable]:
    """Make six items in pairs and two probes: 3 and 4 of 4 active items are right, else 1 and 0."""
    rights = [[1, 1, 1, 0, 1, 0], [1, 1, 1, 1, 0, 0]]
    units = (0, 0, 1, 1, 2, 2)
    score = make_score((make_seed_score([*map(bool, r)], seed=n) for n, r in enumerate(rights)), units)
    result = replace(make_sample_result("bow", "Order", 500), scores={Condition.PROBE: score}, units=units)
    voices = ("active",) * 4 + ("passive",) * 2
    return result, make_items(result, voice=voices, label=("FALSE", "TRUE") * 3)


def test_parts_by_hand() -> None:
    result, table = make_small_result()
    active, passive = accuracy_by(result, "voice", items=table)
    assert (active.name, active.items, active.accuracy, active.majority) == ("active", 4, 0.875, 0.5)
    assert (passive.name, passive.items, passive.accuracy) == ("passive", 2, 0.25)
    assert active.spread == pytest.approx(0.1767767)
    assert active.interval == accuracy_interval([1, 1, 1, 0.5], (0, 0, 1, 1))
    ((title, grid, notes),) = build_part_tables(Results((result,)), index_by_fingerprint([table]), "voice", CellStyle())
    low, high = 100 * active.interval.low, 100 * active.interval.high
    assert (title, grid.header) == ("", ("Order, voice", "test items", "bow"))
    assert [row.label for row in grid.rows] == ["active", "passive"]
    assert [cell.text for cell in grid.rows[0].cells] == [
        "4", f"87.5 ± 29.6 [{low:.1f}, {high:.1f}]",
    ]  # fmt: skip
    assert notes.startswith("By voice: the voice of the clause that the item asks about.")


def test_unknown_or_unique_column_is_refused() -> None:
    result, table = make_small_result()
    with pytest.raises(UsageError) as caught:
        accuracy_by(result, "vioce", items=table)
    assert str(caught.value) == (
        "no test items have a column 'vioce' (did you mean 'voice'?); the columns are voice, label"
    )
    sample = make_sample_result("bow", "Order", 500)
    names = tuple(f"item {n}" for n in range(1000))
    with pytest.raises(UsageError, match="the column 'id' of Order has a different value for each item"):
        check_column([make_items(sample, id=names)], "id")
    ranks = tuple(map(str, range(1000)))
    assert len(accuracy_by(sample, "id", items=make_items(sample, id=ranks))) == BIN_COUNT


def make_held_out_draw(seed: int, trained: int, unseen: int) -> tuple[Result, ItemTable]:
    """Make a draw of ten trained and ten held-out items, with these numbers of right answers."""
    right = [n % 10 < (trained if n < 10 else unseen) for n in range(20)]
    facts = DataFacts(train=9, test=20, word_types=9, seed=seed, origin="x", held_out="passive")
    result = replace(
        make_sample_result("bow", "Order", 500),
        scores={Condition.PROBE: make_score([make_seed_score(right, seed=seed)], ())},
        dataset_fingerprint=f"data {seed}",
        encoder_seed=seed,
        encoder_fingerprint=f"bow {seed}",
        seed=seed,
        data=facts,
    )
    return result, make_items(result, structure=(TRAINED,) * 10 + (name_structure_part("passive"),) * 10)


def test_gap_of_one_draw_by_hand() -> None:
    result, table = make_held_out_draw(0, 9, 5)
    items = index_by_fingerprint([table])
    gap = compute_gap(split_by_part([result], items, STRUCTURE), Condition.PROBE)
    assert gap is not None
    difference, interval = gap
    assert difference == pytest.approx(0.4)
    assert interval == difference_interval((0.9, wilson(9, 10)), (0.5, wilson(5, 10)))
    ((_, grid, notes),) = build_part_tables(Results((result,)), items, STRUCTURE, CellStyle())
    assert [row.label for row in grid.rows] == [TRAINED, "held out: passive", GAP]
    low, high = 100 * interval.low, 100 * interval.high
    assert grid.rows[2].cells[1].text == f"+40.0 [{low:.1f}, {high:.1f}]"
    assert "The gap is the accuracy on items whose structure occurs in training minus" in notes
    records = to_part_records(Results((result,)), items, STRUCTURE)
    assert [(r["part"], r["items"], r["accuracy"]) for r in records[:2]] == [
        (TRAINED, 10, 0.9), ("held out: passive", 10, 0.5),
    ]  # fmt: skip
    assert records[2]["part"] == GAP
    assert records[2]["accuracy"] == pytest.approx(0.4)
    assert len({tuple(record) for record in records}) == 1


def test_gap_over_draws_is_paired() -> None:
    draws = [make_held_out_draw(0, 9, 5), make_held_out_draw(10, 8, 6), make_held_out_draw(20, 9, 4)]
    items = index_by_fingerprint(table for _, table in draws)
    draw_results = Results(tuple(result for result, _ in draws))
    ((_, grid, _),) = build_part_tables(draw_results, items, STRUCTURE, CellStyle())
    cells = [row.cells[1].text.split(" [")[0] for row in grid.rows]
    assert cells == ["86.7 ± 27.9", "50.0 ± 40.8", "+36.7"]
    assert fmean([0.4, 0.2, 0.5]) == pytest.approx(0.3667, abs=1e-4)


def test_gap_interval_depends_on_items() -> None:
    draws = [make_held_out_draw(0, 9, 5), make_held_out_draw(10, 8, 6), make_held_out_draw(20, 9, 4)]
    items = index_by_fingerprint(table for _, table in draws)
    draw_gap = compute_gap(split_by_part([result for result, _ in draws], items, STRUCTURE), Condition.PROBE)
    assert draw_gap is not None
    assert draw_gap[1] == compare_draws([0.9, 0.8, 0.9], [0.5, 0.6, 0.4], items=10).interval
    same = [replace(result, dataset_fingerprint="data 0") for result, _ in draws]
    parts = split_by_part(same, items, STRUCTURE)
    item_gap = compute_gap(parts, Condition.PROBE)
    assert item_gap is not None
    assert item_gap[0] == pytest.approx(draw_gap[0])
    figures = [compute_figure(part, Condition.PROBE) for part in parts.values()]
    ends = [(figure.accuracy, figure.interval) for figure in figures if figure is not None]
    assert item_gap[1] == difference_interval(*ends)


@given(st.integers(1, 99), st.integers(1, 99), st.data())
def test_difference_interval_is_newcombes(n: int, m: int, choice: st.DataObject) -> None:
    a, b = choice.draw(st.integers(0, n)), choice.draw(st.integers(0, m))
    interval = difference_interval((a / n, wilson(a, n)), (b / m, wilson(b, m)))
    low, high = confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff")
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)
    assert isinstance(interval, Interval)


def make_table(result: Result, labels: tuple[str, ...] = ("no", "yes")) -> ItemTable:
    total = result.scores[Condition.PROBE].total
    return ItemTable(
        task=result.task,
        fingerprint=result.dataset_fingerprint,
        labels=labels,
        targets=np.arange(total) % len(labels),
        sentences=tuple(f"the man {n} slept" for n in range(total)),
        probes=(("man", "sleep"),) * total,
        marks=((1, 3),) * total,
        events=("sleep(agent: man)",) * total,
        columns={"voice": tuple("active" if n % 3 else "passive" for n in range(total))},
    )


@examples(60)
@given(results(), st.integers(1, 9), st.sampled_from([None, "voice"]))
def test_mistakes_are_sorted_by_wrong_probes(result: Result, count: int, column: str | None) -> None:
    table = make_table(result)
    parts = item_parts.find_mistakes(result, table, count, column=column)
    rights = np.array([probe.items() for probe in result.scores[Condition.PROBE].seeds])
    missed = (~rights).sum(axis=0)
    assert sum(part.items for part in parts) == len(table)
    assert sum(part.wrong for part in parts) == (missed > 0).sum()
    for part in parts:
        assert len(part.shown) == min(count, part.wrong)
        keys = [(-item.wrong, item.place) for item in part.shown]
        assert keys == sorted(keys)
        for item in part.shown:
            assert item.wrong == missed[item.place] > 0
            assert item.sentence == f"the man {item.place} slept"
            assert {item.answer, item.prediction} == {"no", "yes"}
    assert parts == item_parts.find_mistakes(result, table, count, column=column)


def make_three_label_result() -> tuple[Result, ItemTable]:
    """Make six items and three probes: the last item is wrong in all, the first in one."""
    predictions = [(1, 1, 2, 0, 1, 0), (0, 1, 2, 0, 1, 1), (0, 1, 2, 0, 1, 1)]
    targets = np.arange(6) % 3
    seeds = []
    for number, answers in enumerate(predictions):
        sample = make_seed_score((np.array(answers) == targets).tolist(), seed=number)
        wrong = tuple(a for a, t in zip(answers, targets, strict=True) if a != t)
        seeds.append(replace(sample, wrong_answers=wrong))
    score = make_score(seeds, ())
    result = replace(make_sample_result("bow", "Tense", 5), scores={Condition.PROBE: score})
    return result, make_table(result, ("past", "present", "none"))


def test_predictions_of_several_labels() -> None:
    result, table = make_three_label_result()
    (mistakes_found,) = item_parts.find_mistakes(result, table, 5)
    assert [(one.place, one.wrong, one.prediction) for one in mistakes_found.shown] == [
        (5, 3, "present"), (0, 1, "present"),
    ]  # fmt: skip
    assert mistakes_found.title == "bow on Tense: 2 of 6 test items are answered wrong; all of them"
    assert [*item_parts.render_mistakes(mistakes_found)][:5] == [
        mistakes_found.title,
        "1. the [man] 5 [slept]",
        "   probe words: man, sleep",
        "   answer: none, predicted present (3 of 3 probes wrong)",
        "   event: sleep(agent: man)",
    ]
    assert "1. the **man** 5 **slept**\n   - probe words: man, sleep\n" in (
        item_parts.render_mistakes_markdown(mistakes_found)
    )
    grid = item_parts.build_mistake_grid(mistakes_found)
    assert grid.header == ("sentence", "probe words", "answer")
    assert grid.rows[0].label == "the [man] 5 [slept]"


def test_answers_that_were_not_kept() -> None:
    result, table = make_three_label_result()
    seeds = (replace(e, wrong_answers=()) for e in result.scores[Condition.PROBE].seeds)
    older = replace(result, scores={Condition.PROBE: make_score(seeds, ())})
    (mistakes_found,) = item_parts.find_mistakes(older, table, 1)
    assert mistakes_found.shown[0].prediction is None
    assert "predicted not stored" in "\n".join(item_parts.render_mistakes(mistakes_found))
    (record,) = item_parts.to_mistake_records([mistakes_found])
    assert (record["item"], record["prediction"], record["column_voice"]) == (5, None, "active")


def test_mistakes_are_selected_by_encoder() -> None:
    every = Results((make_sample_result("bow", "SemRole", 5), make_sample_result("tfidf", "Order", 5)))
    assert item_parts.select_results(every, encoder="bow", task="sr").tasks == ("SemRole",)
    assert item_parts.select_results(every, encoder=None, task=None) == every
    for encoder, task, message in (
        ("bwo", "SemRole", "no encoder 'bwo' in these results (did you mean 'bow'?)"),
        ("bow", "SemRol", "no task 'SemRol' in these results (did you mean 'SemRole'?)"),
        ("bow", "Order", "there is no result of bow on Order"),
    ):
        with pytest.raises(UsageError) as caught:
            item_parts.select_results(every, encoder=encoder, task=task)
        assert message in str(caught.value)


def test_plain_text_has_no_control_characters() -> None:
    result, table = make_three_label_result()
    hostile = "\x1b[31m\u202e\u200f"
    table = replace(table, sentences=tuple(f"the {hostile} {n} slept" for n in range(6)), events=(hostile,) * 6)
    (found,) = item_parts.find_mistakes(replace(result, encoder=f"bow{hostile}"), table, 5)
    text = "".join(item_parts.render_mistakes(found))
    assert not set(hostile[:1] + hostile[-2:]) & set(text)
    assert text.count(r"\x1b[31m\u202e\u200f") == 5
