"""Accuracy by a column: parts that add up to the whole, a hand-checked table, the gap."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import results, sample_result, seed_score
from statsmodels.stats.proportion import confint_proportions_2indep
from thoroughness import examples

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import STRUCTURE, TRAINED, structure_part
from sentprobe.probes.report.figures import figure_of
from sentprobe.probes.report.part_tables import GAP, by_fingerprint, part_records, part_sections
from sentprobe.probes.report.parts import (
    BINS,
    MOST,
    accuracy_by,
    check_column,
    gap_of,
    partition,
    parts_of_draws,
)
from sentprobe.probes.report.tables import CellStyle
from sentprobe.probes.runs.data_facts import DataFacts
from sentprobe.probes.runs.item_table import ItemTable
from sentprobe.probes.runs.results import Condition, Result, Results, make_score
from sentprobe.probes.statistics import (
    Interval,
    accuracy_interval,
    compare_draws,
    difference_interval,
    wilson,
)

numbers = st.integers(-99, 99).map(str) | st.floats(-9, 9).map("{:.2f}".format)
texts = st.sampled_from(["active", "passive", "", "main", "3"])


def items_of(result: Result, **columns: tuple[str, ...]) -> ItemTable:
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
    table = items_of(result, part=values)
    parts = parts_of_draws([result], by_fingerprint([table]), "part")
    for condition, score in result.scores.items():
        here = [each.scores[condition] for (each,) in parts.values()]
        assert sum(each.total for each in here) == score.total
        for at, seed in enumerate(score.seeds):
            of_seed = [each.seeds[at] for each in here]
            assert {each.seed for each in of_seed} == {seed.seed}
            assert sum(each.correct for each in of_seed) == seed.correct
            assert sum(len(each.instead) for each in of_seed) == len(seed.instead)
        found = accuracy_by(result, "part", condition=condition, items=table)
        whole = sum(each.items * each.accuracy for each in found) / score.total
        assert whole == pytest.approx(score.accuracy)
        assert all(each.accuracy in each.interval for each in found)


@given(st.lists(numbers, min_size=1))
def test_numbers_are_in_order_and_every_value_is_in_one_part(values: list[str]) -> None:
    parts = partition("frequency", values)
    assert {*parts.part_of} == {*values}
    assert {*parts.part_of.values()} == {*parts.names}
    ends = [[float(v) for v in values if parts.part_of[v] == name] for name in parts.names]
    assert all(max(a) <= min(b) for a, b in pairwise(ends))
    several = len({*map(float, values)}) > MOST
    assert not several or len(parts.names) <= BINS


def test_parts_of_equal_size() -> None:
    values = [str(n) for n in range(60)]
    parts = partition("rank", values)
    assert parts.names == ("0 to 9", "10 to 19", "20 to 29", "30 to 39", "40 to 49", "50 to 59")
    assert Counter(parts.part_of.values()).most_common(1)[0][1] == 10


def test_the_order_of_parts() -> None:
    assert partition("length", ["12", "6", "7", "40"]).names == ("5-8", "9-12", "34-70")
    assert partition("label", ["no", "yes", ""], labels=("yes", "no")).names == (
        "yes", "no", "not known",
    )  # fmt: skip
    held = structure_part("passive")
    assert partition(STRUCTURE, [held, TRAINED]).names == (TRAINED, held)


def by_hand() -> tuple[Result, ItemTable]:
    """Six items in pairs, two probes: of the active ones 3 and 4 of 4 are right, else 1 and 0."""
    rights = [[1, 1, 1, 0, 1, 0], [1, 1, 1, 1, 0, 0]]
    units = (0, 0, 1, 1, 2, 2)
    score = make_score((seed_score([*map(bool, r)], seed=n) for n, r in enumerate(rights)), units)
    result = replace(
        sample_result("bow", "Order", 500), scores={Condition.PROBE: score}, units=units
    )
    voices = ("active",) * 4 + ("passive",) * 2
    return result, items_of(result, voice=voices, label=("FALSE", "TRUE") * 3)


def test_parts_by_hand() -> None:
    result, table = by_hand()
    active, passive = accuracy_by(result, "voice", items=table)
    assert (active.name, active.items, active.accuracy, active.majority) == (
        "active",
        4,
        0.875,
        0.5,
    )
    assert (passive.name, passive.items, passive.accuracy) == ("passive", 2, 0.25)
    assert active.spread == pytest.approx(0.1767767)
    assert active.interval == accuracy_interval([1, 1, 1, 0.5], (0, 0, 1, 1))
    ((title, grid, notes),) = part_sections(
        Results((result,)), by_fingerprint([table]), "voice", CellStyle()
    )
    low, high = 100 * active.interval.low, 100 * active.interval.high
    assert (title, grid.header) == ("", ("Order, voice", "test items", "bow"))
    assert [row.label for row in grid.rows] == ["active", "passive"]
    assert [cell.text for cell in grid.rows[0].cells] == [
        "4", f"87.5 ± 17.7 [{low:.1f}, {high:.1f}]",
    ]  # fmt: skip
    assert notes.startswith("By voice: of the clause that is asked about.")


def test_an_unknown_column_and_one_without_parts() -> None:
    result, table = by_hand()
    with pytest.raises(UsageError) as caught:
        accuracy_by(result, "vioce", items=table)
    assert str(caught.value) == (
        "no test items have a column 'vioce' (did you mean 'voice'?); the columns are voice, label"
    )
    sample = sample_result("bow", "Order", 500)
    names = tuple(f"item {n}" for n in range(1000))
    with pytest.raises(UsageError, match="the column 'id' of Order is different for each item"):
        check_column([items_of(sample, id=names)], "id")
    ranks = tuple(map(str, range(1000)))
    assert len(accuracy_by(sample, "id", items=items_of(sample, id=ranks))) == BINS


def held_out(seed: int, trained: int, others: int) -> tuple[Result, ItemTable]:
    """A draw of 20 items, of which so many of the trained and of the other ten are right."""
    right = [n % 10 < (trained if n < 10 else others) for n in range(20)]
    facts = DataFacts(train=9, test=20, word_types=9, seed=seed, origin="x", held_out="passive")
    result = replace(
        sample_result("bow", "Order", 500),
        scores={Condition.PROBE: make_score([seed_score(right, seed=seed)], ())},
        dataset_fingerprint=f"data {seed}",
        encoder_seed=seed,
        encoder_fingerprint=f"bow {seed}",
        seed=seed,
        data=facts,
    )
    return result, items_of(result, structure=(TRAINED,) * 10 + (structure_part("passive"),) * 10)


def test_the_gap_of_one_draw_by_hand() -> None:
    result, table = held_out(0, 9, 5)
    items = by_fingerprint([table])
    gap = gap_of(parts_of_draws([result], items, STRUCTURE), Condition.PROBE)
    assert gap is not None
    assert gap.difference == pytest.approx(0.4)
    assert gap.interval == difference_interval((0.9, wilson(9, 10)), (0.5, wilson(5, 10)))
    ((_, grid, notes),) = part_sections(Results((result,)), items, STRUCTURE, CellStyle())
    assert [row.label for row in grid.rows] == [TRAINED, "held out: passive", GAP]
    low, high = 100 * gap.interval.low, 100 * gap.interval.high
    assert grid.rows[2].cells[1].text == f"+40.0 [{low:.1f}, {high:.1f}]"
    assert "The gap is the accuracy on items like those of training less" in notes
    records = part_records(Results((result,)), items, STRUCTURE)
    assert [(r["part"], r["items"], r["accuracy"]) for r in records[:2]] == [
        (TRAINED, 10, 0.9), ("held out: passive", 10, 0.5),
    ]  # fmt: skip
    assert records[2]["part"] == GAP
    assert records[2]["accuracy"] == pytest.approx(0.4)
    assert len({tuple(each) for each in records}) == 1


def test_draws_are_one_table_and_their_gap_is_paired() -> None:
    draws = [held_out(0, 9, 5), held_out(10, 8, 6), held_out(20, 9, 4)]
    items = by_fingerprint(table for _, table in draws)
    found = Results(tuple(result for result, _ in draws))
    ((_, grid, _),) = part_sections(found, items, STRUCTURE, CellStyle())
    cells = [row.cells[1].text.split(" [")[0] for row in grid.rows]
    assert cells == ["86.7 ± 5.8", "50.0 ± 10.0", "+36.7"]
    assert fmean([0.4, 0.2, 0.5]) == pytest.approx(0.3667, abs=1e-4)


def test_the_gap_over_draws_is_student_s_t_or_of_the_items_if_these_are_the_same() -> None:
    draws = [held_out(0, 9, 5), held_out(10, 8, 6), held_out(20, 9, 4)]
    items = by_fingerprint(table for _, table in draws)
    apart = gap_of(parts_of_draws([each for each, _ in draws], items, STRUCTURE), Condition.PROBE)
    assert apart is not None
    assert apart.interval == compare_draws([0.9, 0.8, 0.9], [0.5, 0.6, 0.4], items=10).interval
    same = [replace(each, dataset_fingerprint="data 0") for each, _ in draws]
    parts = parts_of_draws(same, items, STRUCTURE)
    found = gap_of(parts, Condition.PROBE)
    assert found is not None
    assert found.difference == pytest.approx(apart.difference)
    figures = [figure_of(part, Condition.PROBE) for part in parts.values()]
    ends = [(each.accuracy, each.interval) for each in figures if each is not None]
    assert found.interval == difference_interval(*ends)


@given(st.integers(1, 99), st.integers(1, 99), st.data())
def test_the_interval_of_a_difference_is_newcombe_s(n: int, m: int, choice: st.DataObject) -> None:
    a, b = choice.draw(st.integers(0, n)), choice.draw(st.integers(0, m))
    found = difference_interval((a / n, wilson(a, n)), (b / m, wilson(b, m)))
    low, high = confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert isinstance(found, Interval)
