"""All pairs of a table at once: the p-values of single comparisons, and work that grows with the encoders."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import pytest
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common import values
from sentprobe.common.errors import UsageError
from sentprobe.probes import statistics
from sentprobe.probes.reports.comparisons import compare_results
from sentprobe.probes.reports.table_findings import TableComparisons
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.results.store import format_result, parse_result
from sentprobe.probes.review.checks import review_results

ITEMS = 12


def make_result(encoder: str, answers: Sequence[Sequence[bool]], units: tuple[int, ...]) -> Result:
    seeds = [make_seed_score(right, seed=seed) for seed, right in enumerate(answers)]
    score = make_score(seeds, units)
    return replace(make_sample_result(encoder, "Order", 1), units=units, scores={Condition.PROBE: score})


answers = st.lists(st.lists(st.booleans(), min_size=ITEMS, max_size=ITEMS), min_size=1, max_size=3)


@examples(60)
@given(st.lists(answers, min_size=2, max_size=5), st.sampled_from([(), tuple(n // 2 for n in range(ITEMS))]))
def test_all_pairs_have_the_p_values_of_single_tests(table: list[list[list[bool]]], units: tuple[int, ...]) -> None:
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


def test_other_numbers_of_items_cannot_be_paired() -> None:
    first, second = make_result("a", [[True] * 3], ()), make_result("b", [[True] * 4], ())
    with pytest.raises(UsageError, match="3 and 4 items cannot be paired"):
        TableComparisons([((first, second),)])


def count_calls(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, work: Callable[[], object]) -> int:
    function = getattr(module, name)
    calls: list[str] = []

    def call(*arguments: Any) -> Any:
        calls.append(name)
        return function(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, name, call)
        work()
    return len(calls)


def test_a_review_compares_each_encoder_with_the_best_and_its_control(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the encoders need four times the paired t-tests; of all pairs it would be 17 times."""
    for encoders in (10, 40):
        records = (make_sample_result(f"e{n}", "Tense", 600 + n, 500, 500, 550) for n in range(encoders))
        results = Results(tuple(records))
        calls = count_calls(monkeypatch, statistics, "compare_items", partial(review_results, results))
        assert calls == 2 * encoders - 1


def test_a_list_of_numbers_is_checked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [format_result(make_result("a", [[True] * n], (0,) * n)) for n in (10, 1000)]
    counts = [count_calls(monkeypatch, values, "_check_type", partial(parse_result, text)) for text in texts]
    assert counts[0] == counts[1]
