"""The decisions about a table: marks, significant differences, and tests against chance and controls."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies.probe_strategies import make_sample_result as sample
from helpers.strategies.probe_strategies import make_seed_score
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.reports.comparisons import Comparison, compare_encoders
from sentprobe.probes.reports.table_findings import find_marked_cells, find_table
from sentprobe.probes.reports.tables.main_table import build_grid
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import Condition, Result, Results, Score, make_score
from sentprobe.probes.statistics import Interval

CONTROLS = (500, 500)


def make_table(*results: Result) -> Results:
    return Results(tuple(results))


def test_the_best_is_marked() -> None:
    results = make_table(
        sample("a", "Order", 700, *CONTROLS, 500, mirrored=True),
        sample("b", "Order", 600, *CONTROLS, 500, mirrored=True),
    )
    assert find_marked_cells(results) == {("a", "Order")}
    assert [row.cells[0].best for row in build_grid(results).rows][:2] == [True, False]
    assert "Bold, or with a *: significantly better than chance" in describe_all(results)


@pytest.mark.parametrize("second", [700, 699, 697])
def test_a_tie_marks_nothing(second: int) -> None:
    results = make_table(
        sample("a", "Order", 700, *CONTROLS, 500, mirrored=True),
        sample("b", "Order", second, *CONTROLS, 500, mirrored=True),
        sample("c", "Order", 550, *CONTROLS, 500, mirrored=True),
    )
    assert not find_marked_cells(results)
    assert "Bold" not in describe_all(results)


def test_what_is_at_chance_is_not_marked() -> None:
    first = sample("a", "Order", 520, *CONTROLS, 500, mirrored=True)
    assert not find_marked_cells(make_table(first, sample("b", "Order", 450, *CONTROLS, 500, mirrored=True)))


@pytest.mark.parametrize(("bag", "is_marked"), [(900, False), (899, False), (800, True), (500, True)])
def test_where_words_tell_it_the_control_is_the_bag_of_words(bag: int, *, is_marked: bool) -> None:
    first = sample("a", "Tense", 900, *CONTROLS, bag)
    results = make_table(first, sample("b", "Tense", 700, *CONTROLS, 600))
    assert find_marked_cells(results) == ({("a", "Tense")} if is_marked else set())


def test_the_bag_of_the_same_width_counts() -> None:
    wide = replace(sample("wide", "Tense", 900, *CONTROLS, 890), dim=9)
    narrow = sample("narrow", "Tense", 950, *CONTROLS, 600)
    assert find_marked_cells(make_table(wide, narrow)) == {("narrow", "Tense")}
    assert not find_marked_cells(make_table(replace(narrow, scores={**narrow.scores, **make_bag_score(950)}), wide))


def make_bag_score(right: int) -> dict[Condition, Score]:
    sample_scores = sample("x", "Tense", 1, 1, 1, right)
    return {Condition.BAG_OF_WORDS: sample_scores.scores[Condition.BAG_OF_WORDS]}


def test_a_baseline_is_held_against_the_best_bag_of_words() -> None:
    encoder = sample("a", "SentLen", 600, *CONTROLS, 800)
    for right, is_marked in ((801, False), (950, True)):
        baseline = replace(sample("length", "SentLen", right), dim=0)
        assert find_marked_cells(make_table(encoder, baseline)) == ({("length", "SentLen")} if is_marked else set())


def test_without_controls_nothing_is_marked_where_words_might_tell_it() -> None:
    assert not find_marked_cells(make_table(sample("a", "Tense", 900), sample("b", "Tense", 600)))
    first = sample("a", "Order", 900, mirrored=True)
    assert find_marked_cells(make_table(first, sample("b", "Order", 600, mirrored=True))) == {("a", "Order")}


@examples(20)
@given(st.lists(st.integers(480, 700), min_size=2, max_size=4, unique=True))
def test_what_is_marked_is_what_compare_tells_apart(rights: list[int]) -> None:
    results = make_table(*(sample(f"e{n}", "Order", right, 500, mirrored=True) for n, right in enumerate(rights)))
    for encoder, _ in find_marked_cells(results):
        comparisons = [comparison for comparison in compare_encoders(results) if encoder in list_encoders(comparison)]
        assert all(comparison.is_significant for comparison in comparisons)
        assert encoder == f"e{int(np.argmax(rights))}"


def list_encoders(comparison: Comparison) -> tuple[str, str]:
    return comparison.first.encoder, comparison.second.encoder


def make_cell(
    encoder: str, task: str, seed: int, right: int, *, control: int = 500, units: tuple[int, ...] = ()
) -> Result:
    """Make the result of one draw on its own 400 test items: the items that are right are random."""
    generator = np.random.default_rng([seed, right, len(encoder + task), *map(ord, encoder + task)])
    answers = [generator.permutation(400) < count for count in (right, control * 2 // 5)]
    scores = {
        condition: make_score([make_seed_score(list(answer), seed=seed)], units)
        for condition, answer in zip((Condition.PROBE, Condition.BAG_OF_WORDS), answers, strict=True)
    }
    return replace(
        sample(encoder, task, 500),
        seed=seed,
        data=DataFacts(train=400, test=400, word_types=9, seed=seed, origin="its words"),
        dataset_fingerprint=f"{task} {seed}",
        encoder_fingerprint=f"{encoder} {seed}",
        encoder_seed=seed,
        scores=scores,
        units=units,
    )


@st.composite
def steady_tables(draw: st.DrawFn) -> list[Result]:
    """Return results in two or three draws, in which the first encoder is 30 points better than the others."""
    encoders, tasks, draws = draw(st.integers(2, 4)), draw(st.integers(1, 3)), draw(st.integers(2, 3))
    wobble = st.integers(-8, 8)
    return [
        make_cell(f"e{encoder}", f"t{task}", seed, (200 if encoder else 320) + draw(wobble))
        for encoder in range(encoders)
        for task in range(tasks)
        for seed in range(draws)
    ]


def repeat_draws(records: Sequence[Result]) -> Results:
    """Return each draw three times, as if each were new data."""
    copies = [
        replace(record, seed=record.seed + 100 * n, dataset_fingerprint=f"{record.dataset_fingerprint}, {n}")
        for n in range(3)
        for record in records
    ]
    return Results(tuple(copies))


@examples(40)
@given(steady_tables())
def test_more_draws_of_the_same_effect_keep_a_difference_significant(records: list[Result]) -> None:
    """With three times the draws, no significant difference of some 30 points is a tie; nor is any to chance."""
    before, after = find_table(Results(tuple(records))), find_table(repeat_draws(records))
    large = {
        frozenset((comparison.first.cell, comparison.second.cell))
        for comparison in before.comparisons
        if abs(comparison.paired.difference) > 0.25
    }
    assert before.significant_pairs & large <= after.significant_pairs
    for cell, test in before.cells.items():
        assert after.cells[cell].is_above or not test.is_above or test.figure.accuracy < 0.7


@examples(30)
@given(steady_tables())
def test_intervals_agree_with_the_tests(records: list[Result]) -> None:
    """A figure whose 95% interval contains chance is not above chance, nor is a difference whose interval has 0."""
    findings = find_table(Results(tuple(records)))
    for test in findings.cells.values():
        assert not (test.is_above and test.figure.chance in test.figure.interval)
        assert test.figure.half_width is not None
        assert test.figure.interval.high - test.figure.interval.low <= 2 * test.figure.half_width + 1e-9
    for comparison in findings.comparisons:
        assert not (comparison.is_significant and 0 in comparison.paired.interval)


@examples(30)
@given(steady_tables())
def test_no_figure_is_above_its_control_here_and_at_chance_there(records: list[Result]) -> None:
    """An encoder that answers as its bag of words is never marked; figures and controls have one level."""
    same = [
        replace(record, scores={**record.scores, Condition.BAG_OF_WORDS: record.scores[Condition.PROBE]})
        for record in records
    ]
    results = Results(tuple(same))
    findings = find_table(results)
    assert not find_marked_cells(results)
    assert not findings.control_comparisons
    verdicts = {(test.draws[0].cell, test.figure, test.is_above) for test in findings.free_controls}
    assert verdicts <= {(cell, test.figure, test.is_above) for cell, test in findings.cells.items()}


def test_three_draws_tell_large_differences() -> None:
    """The README's figures: with three draws, Order 97.6 and 73.4, and SemRole 65.2 and 50.0, were ties."""
    rows = {
        ("best", "Order"): (391, 389, 391),
        ("other", "Order"): (284, 293, 304),
        ("best", "SemRole"): (259, 263, 260),
        ("other", "SemRole"): (200, 200, 200),
        ("more", "Order"): (270, 279, 268),
        ("more", "SemRole"): (210, 203, 214),
    }
    records = [make_cell(*cell, seed, right) for cell, counts in rows.items() for seed, right in enumerate(counts)]
    findings = find_table(Results(tuple(records)))
    for task in ("Order", "SemRole"):
        assert frozenset((("best", task), ("other", task))) in findings.significant_pairs
    assert {cell[1] for cell in find_marked_cells(Results(tuple(records)))} == {"Order", "SemRole"}


def test_a_bag_of_words_on_mirror_pairs_is_a_constant() -> None:
    units = tuple(item // 2 for item in range(1000))
    answers = make_seed_score([item % 2 == 0 for item in range(1000)])
    bow = replace(sample("bow", "Order", 500, mirrored=True), scores={Condition.PROBE: make_score([answers], units)})
    records = [
        replace(record, seed=seed, dataset_fingerprint=str(seed))
        for seed in range(3)
        for record in (bow, sample("a", "Order", 550 + seed, mirrored=True))
    ]
    findings = find_table(Results(tuple(records)))
    figure = findings.cells["bow", "Order"].figure
    assert (figure.accuracy, figure.half_width, figure.interval) == (0.5, 0.0, Interval(0.5, 0.5))
    assert findings.cells["bow", "Order"].p == 1
    ((comparison,), chance) = findings.comparisons, findings.cells["a", "Order"]
    assert comparison.first.encoder == "a"
    assert (comparison.p < 0.05) is chance.is_above


@pytest.mark.parametrize("draws", [1, 3])
def test_draws_of_the_same_items_are_no_new_items(draws: int) -> None:
    """Of eight items that differ, p is 1/128 in one draw, and in three draws of the same items."""
    first, second = sample("a", "Order", 508, 500, 500, 500), sample("b", "Order", 500, 500, 500, 500)
    records = [replace(record, seed=seed) for seed in range(draws) for record in (first, second)]
    (comparison,) = find_table(Results(tuple(records))).comparisons
    assert comparison.p == pytest.approx(max(1 / 128, comparison.paired.t_p))
    assert comparison.paired.interval.low > 0


def test_a_control_that_is_better_is_significantly_better() -> None:
    findings = find_table(make_table(sample("a", "Tense", 600, *CONTROLS, 700)))
    (comparison,) = findings.compare_with_control(Condition.BAG_OF_WORDS)
    assert (comparison.is_worse, comparison.is_better) == (True, False)
    assert comparison.accuracies == (0.6, 0.7)


def test_chance_has_a_binomial_test_on_few_items() -> None:
    """Two of six right, where chance is a sixth, is no evidence; six of six is."""
    for right, p in ((2, 2 * 0.26322), (6, 2 / 6**6)):
        answers = make_seed_score([item < right for item in range(6)])
        record = replace(sample("a", "ObjNum", 1), majority=1 / 6, scores={Condition.PROBE: make_score([answers], ())})
        (test,) = find_table(make_table(record)).cells.values()
        assert test.p == pytest.approx(p, rel=1e-4)


@examples(40)
@given(st.integers(330, 420), st.integers(-3, 3))
def test_no_star_stands_above_a_note_that_the_same_figure_is_not_above_chance(right: int, more: int) -> None:
    """`probe run natural` printed "* 36.7", and below it "not above chance (36.7)": two levels for one question."""
    results = make_table(replace(sample("bow", "SubjNum", right, 333, 333, right + more), majority=1 / 3))
    (cell,) = build_grid(results).rows[0].cells
    text = describe_all(results)
    assert not (cell.best and f"not above chance ({cell.text})" in text)
    assert ("(bags of random word vectors, as wide as each encoder's vectors) reach" in text) == bool(
        find_table(results).find_solvable_tasks()
    )


@examples(20)
@given(steady_tables())
def test_compare_decides_as_the_table(records: list[Result]) -> None:
    results = Results(tuple(records))
    compared = {
        frozenset((comparison.first.cell, comparison.second.cell)): comparison.p
        for comparison in compare_encoders(results)
    }
    for comparison in find_table(results).comparisons:
        pair = frozenset((comparison.first.cell, comparison.second.cell))
        assert compared[pair] == pytest.approx(comparison.p)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=4))
def test_plus_minus_does_not_leave_0_to_100(counts: list[int]) -> None:
    scores = [make_score([make_seed_score([item < count for item in range(6)])], ()) for count in counts]
    records = [
        replace(sample("a", "ObjNum", 1), seed=seed, dataset_fingerprint=str(seed), scores={Condition.PROBE: score})
        for seed, score in enumerate(scores)
    ]
    figure = find_table(Results(tuple(records))).cells["a", "ObjNum"].figure
    assert figure.half_width is not None
    assert figure.half_width <= max(figure.accuracy, 1 - figure.accuracy)
    assert 0 <= figure.interval.low <= figure.accuracy <= figure.interval.high <= 1
