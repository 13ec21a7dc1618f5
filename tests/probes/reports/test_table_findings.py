"""The decisions about a table: marks, differences, standings and comparisons."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score
from helpers.strategies.probe_strategies import make_sample_result as sample
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common import values
from sentprobe.common.errors import UsageError
from sentprobe.probes import statistics
from sentprobe.probes.reports.comparisons import Comparison, compare_encoders, compare_results
from sentprobe.probes.reports.table_findings import (
    TableComparisons,
    compute_standings,
    describe_groups,
    find_marked_cells,
    find_table,
    rank_groups,
)
from sentprobe.probes.reports.tables.main_table import build_grid
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.results.store import format_result, parse_result
from sentprobe.probes.review.checks import review_results
from sentprobe.probes.statistics import Interval

CONTROLS = (500, 500)


def make_table(*results: Result) -> Results:
    return Results(tuple(results))


def order(encoder: str, right: int) -> Result:
    return sample(encoder, "Order", right, *CONTROLS, 500, mirrored=True)


def tense(encoder: str, right: int, bag: int, *, dim: int = 3) -> Result:
    return replace(sample(encoder, "Tense", right, *CONTROLS, bag), dim=dim)


def baseline(right: int) -> Result:
    return replace(sample("length", "Tense", right), dim=0)


@pytest.mark.parametrize(
    ("records", "marked"),
    [
        ((order("a", 700), order("b", 600)), "a"),
        *(((order("a", 700), order("b", second), order("c", 550)), "") for second in (700, 699, 697)),
        ((order("a", 520), order("b", 450)), ""),  # at chance
        *(((tense("a", 900, bag), tense("b", 700, 600)), "") for bag in (900, 899)),
        *(((tense("a", 900, bag), tense("b", 700, 600)), "a") for bag in (800, 500)),
        ((tense("wide", 900, 890, dim=9), tense("narrow", 950, 600)), "narrow"),
        ((tense("narrow", 950, 950), tense("wide", 900, 890, dim=9)), ""),
        ((tense("a", 600, 800), baseline(801)), ""),
        ((tense("a", 600, 800), baseline(950)), "length"),
        ((sample("a", "Tense", 900), sample("b", "Tense", 600)), ""),  # no controls, where words might tell it
        ((sample("a", "Order", 900, mirrored=True), sample("b", "Order", 600, mirrored=True)), "a"),
    ],
)
def test_best_is_marked_if_significant(records: tuple[Result, ...], marked: str) -> None:
    """Better than the others and than chance or, where words may tell it, than the bag of words of its width."""
    assert {encoder for encoder, _ in find_marked_cells(Results(records))} == ({marked} if marked else set())


def test_mark_is_bold_with_a_note() -> None:
    results = make_table(order("a", 700), order("b", 600))
    assert [row.cells[0].best for row in build_grid(results).rows][:2] == [True, False]
    assert "Bold, or with a *: significantly better than chance" in describe_all(results)
    assert "Bold" not in describe_all(make_table(order("a", 700), order("b", 700)))


@examples(20)
@given(st.lists(st.integers(480, 700), min_size=2, max_size=4, unique=True))
def test_marked_cells_are_significant_in_compare(rights: list[int]) -> None:
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
def test_more_draws_keep_differences_significant(records: list[Result]) -> None:
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
def test_figure_equal_to_control_is_unmarked(records: list[Result]) -> None:
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


def test_bag_on_mirror_pairs_is_constant() -> None:
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
def test_repeated_items_are_no_new_items(draws: int) -> None:
    """Of eight items that differ, p is 1/128 in one draw, and in three draws of the same items."""
    first, second = sample("a", "Order", 508, 500, 500, 500), sample("b", "Order", 500, 500, 500, 500)
    records = [replace(record, seed=seed) for seed in range(draws) for record in (first, second)]
    (comparison,) = find_table(Results(tuple(records))).comparisons
    assert comparison.p == pytest.approx(max(1 / 128, comparison.paired.t_p))
    assert comparison.paired.interval.low > 0


def test_better_control_is_significantly_better() -> None:
    findings = find_table(make_table(sample("a", "Tense", 600, *CONTROLS, 700)))
    (comparison,) = findings.compare_with_control(Condition.BAG_OF_WORDS)
    assert (comparison.is_worse, comparison.is_better) == (True, False)
    assert comparison.accuracies == (0.6, 0.7)


def test_chance_has_binomial_test() -> None:
    """Two of six right, where chance is a sixth, is no evidence; six of six is."""
    for right, p in ((2, 2 * 0.26322), (6, 2 / 6**6)):
        answers = make_seed_score([item < right for item in range(6)])
        record = replace(sample("a", "ObjNum", 1), majority=1 / 6, scores={Condition.PROBE: make_score([answers], ())})
        (test,) = find_table(make_table(record)).cells.values()
        assert test.p == pytest.approx(p, rel=1e-4)


@examples(40)
@given(st.integers(330, 420), st.integers(-3, 3))
def test_star_excludes_note_of_chance(right: int, more: int) -> None:
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
def test_plus_minus_stays_in_range(counts: list[int]) -> None:
    scores = [make_score([make_seed_score([item < count for item in range(6)])], ()) for count in counts]
    records = [
        replace(sample("a", "ObjNum", 1), seed=seed, dataset_fingerprint=str(seed), scores={Condition.PROBE: score})
        for seed, score in enumerate(scores)
    ]
    figure = find_table(Results(tuple(records))).cells["a", "ObjNum"].figure
    assert figure.half_width is not None
    assert figure.half_width <= max(figure.accuracy, 1 - figure.accuracy)
    assert 0 <= figure.interval.low <= figure.accuracy <= figure.interval.high <= 1


counts = st.lists(st.integers(300, 1000), min_size=1, max_size=5)
ALL_CONTROLS = [(900, 700, 700), (700, 900, 700), (700, 700, 900)]


def make_counted_table(right: list[int], bag: int = 500, positions: int = 500, order: int = 500) -> Results:
    """Make encoders with these numbers of 1000 items right, and the controls with theirs."""
    records = (
        make_sample_result(f"e{place}", "Order", count, 500, 500, bag, 500, positions, order)
        for place, count in enumerate(right)
    )
    return Results(tuple(records))


@examples(40)
@given(right=counts)
def test_group_holds_ties_with_its_best(right: list[int]) -> None:
    results = make_counted_table(right)
    groups, significant = rank_groups(results), find_table(results).significant_pairs
    assert {cell for cell, _ in groups.items()} == {record.cell for record in results.records}
    assert {*groups.values()} == {*range(1, max(groups.values()) + 1)}
    for number in {*groups.values()}:
        remaining = [record for record in results.records if groups[record.cell] >= number]
        best = max(remaining, key=lambda record: record.accuracy)
        tied = {record.cell for record in remaining if frozenset((best.cell, record.cell)) not in significant}
        assert tied == {cell for cell, group in groups.items() if group == number}


@examples(40)
@given(right=counts)
def test_marked_cell_is_alone_in_group(right: list[int]) -> None:
    results = make_counted_table(right)
    groups = rank_groups(results)
    first = [cell for cell, group in groups.items() if group == 1]
    assert {*find_marked_cells(results)} <= {*(first if len(first) == 1 else [])}


def make_named_table(**right: int) -> Results:
    records = (make_sample_result(n, "Order", count, 500, 500, 500) for n, count in right.items())
    return Results(tuple(records))


def test_encoder_is_not_tied_with_variant() -> None:
    results = make_named_table(**{"a": 900, "a, int8": 899, "b": 700})
    assert [*rank_groups(results).values()] == [1, 1, 2]
    assert find_marked_cells(results) == {("a", "Order")}
    assert find_marked_cells(make_named_table(**{"a": 900, "x, int8": 899, "b": 700})) == set()


def test_variants_need_no_correction() -> None:
    """Of a difference in seven items p is 1/64: three times that is below 0.05, not six times."""
    pair = frozenset([("a", "Order"), ("b", "Order")])
    assert (
        pair
        in find_table(make_named_table(**{"a": 507, "a, 1 dims": 507, "a, 2 dims": 507, "b": 500})).significant_pairs
    )
    assert pair not in find_table(make_named_table(a=507, x=507, y=507, b=500)).significant_pairs


def test_groups_are_described() -> None:
    results = make_counted_table([900, 895, 700, 500])
    assert [*rank_groups(results).values()] == [1, 1, 2, 3]
    assert [standing.groups for standing in compute_standings(results).values()] == [3] * 4
    tied = [replace(record, task="SemRole") for record in make_counted_table([600, 601]).records]
    for table, lines in (
        (results, ["A circled 1: not significantly worse than the best"]),
        (make_counted_table([900, 899]), ["On every task, no encoder is significantly worse than the best"]),
        (make_counted_table([900]), []),
        (
            Results((*make_counted_table([900, 600]).records, *tied)),
            ["A circled 1: ", "On SemRole, no encoder is significantly worse"],
        ),
    ):
        described = [*describe_groups(compute_standings(table))]
        assert [line[: len(start)] for line, start in zip(described, lines, strict=True)] == lines


@pytest.mark.parametrize(
    ("controls", "name", "shade"),
    [
        ((500, 500, 500), "chance 50.0", 0.8),
        ((700, 500, 500), "bag of words 70.0", 0.4),
        ((500, 700, 500), "fixed positions 70.0", 0.4),
        ((700, 800, 600), "fixed positions 80.0", 0.2),
        ((800, 700, 500), "bag of words 80.0", 0.2),
        ((700, 600, 800), "words and positions 80.0", 0.2),
    ],
)
def test_control_that_counts(controls: tuple[int, int, int], name: str, shade: float) -> None:
    (standing,) = compute_standings(make_counted_table([900], *controls)).values()
    assert standing.control_name == name
    assert standing.margin == pytest.approx(0.9 - standing.control)
    assert standing.shade == pytest.approx(shade)


@pytest.mark.parametrize(
    ("right", "controls", "is_marked"),
    [
        *((900, (500, positions, 500), positions < 800) for positions in (500, 700, 898, 950)),
        *((right, controls, right == 990) for right in (905, 990) for controls in ALL_CONTROLS),
    ],
)
def test_marked_cell_exceeds_all_controls(right: int, controls: tuple[int, int, int], *, is_marked: bool) -> None:
    assert bool(find_marked_cells(make_counted_table([right], *controls))) == is_marked


def test_variant_uses_control_of_its_width() -> None:
    (wide, narrow) = make_counted_table([900], order=650).records[0], make_counted_table([880], order=600).records[0]
    wide, narrow = replace(wide, encoder="wide", dim=4096), replace(narrow, encoder="narrow")
    variant = replace(narrow, encoder="narrow, int8", scores={Condition.PROBE: narrow.scores[Condition.PROBE]})
    standings = compute_standings(Results((wide, narrow, variant)))
    assert {name: standing.control_name for (name, _), standing in standings.items()} == {
        "wide": "words and positions 65.0",
        "narrow": "words and positions 60.0",
        "narrow, int8": "words and positions 60.0",
    }


def test_below_its_control_nothing_is_shaded() -> None:
    (standing,) = compute_standings(make_counted_table([690], 700)).values()
    assert standing.margin < 0
    assert standing.shade == 0


ITEMS = 12


def make_result(encoder: str, answers: Sequence[Sequence[bool]], units: tuple[int, ...]) -> Result:
    seeds = [make_seed_score(right, seed=seed) for seed, right in enumerate(answers)]
    score = make_score(seeds, units)
    return replace(make_sample_result(encoder, "Order", 1), units=units, scores={Condition.PROBE: score})


answers = st.lists(st.lists(st.booleans(), min_size=ITEMS, max_size=ITEMS), min_size=1, max_size=3)


@examples(60)
@given(st.lists(answers, min_size=2, max_size=5), st.sampled_from([(), tuple(n // 2 for n in range(ITEMS))]))
def test_pairs_have_single_p_values(table: list[list[list[bool]]], units: tuple[int, ...]) -> None:
    records = [make_result(f"e{place}", seeds, units) for place, seeds in enumerate(table)]
    matches = [((first, second),) for first, second in combinations(records, 2)]
    expected, comparisons = compare_results(matches), TableComparisons(matches)
    assert [comparison.p for comparison in comparisons] == [comparison.p for comparison in expected]
    assert [comparison.paired for comparison in comparisons] == [comparison.paired for comparison in expected]
    assert comparisons.count_significant("Order") == (sum(c.is_significant for c in expected), len(matches))
    assert {*comparisons.list_significant_pairs()} == {
        frozenset((c.first.cell, c.second.cell)) for c in expected if c.is_significant
    }
    assert [c.second.encoder for c in comparisons.compare_best("Order")] == [r.encoder for r in records[1:]]


def test_unequal_numbers_of_items_are_refused() -> None:
    first, second = make_result("a", [[True] * 3], ()), make_result("b", [[True] * 4], ())
    with pytest.raises(UsageError, match="3 and 4 items cannot be paired"):
        TableComparisons([((first, second),)])


def count_calls(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, work: Callable[[], object]) -> int:
    function = getattr(module, name)
    calls: list[str] = []

    def call(*arguments: Any, **named: Any) -> Any:
        calls.append(name)
        return function(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(module, name, call)
        work()
    return len(calls)


def test_review_work_grows_with_encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the encoders need four times the paired t-tests; of all pairs it would be 17 times."""
    for encoders in (10, 40):
        records = (make_sample_result(f"e{n}", "Tense", 600 + n, 500, 500, 550) for n in range(encoders))
        results = Results(tuple(records))
        tests = count_calls(monkeypatch, statistics, "PairedComparison", partial(review_results, results))
        assert tests == 2 * encoders - 1


def test_numbers_are_checked_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [format_result(make_result("a", [[True] * n], (0,) * n)) for n in (10, 1000)]
    counts = [count_calls(monkeypatch, values, "_check_type", partial(parse_result, text)) for text in texts]
    assert counts[0] == counts[1]
