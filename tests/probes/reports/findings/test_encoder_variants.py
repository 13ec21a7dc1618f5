"""Which encoders are one, by their names; which pairs are compared."""

import pytest
from helpers.strategies.probe_strategies import make_sample_result
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.reports.comparisons import compare_encoders, describe_comparisons, group_by_encoder, list_pairs
from sentprobe.probes.reports.paired_tests import (
    EXCLUDED_PAIRS_NOTE,
    is_same_model,
    list_pairs_to_compare,
    strip_reductions,
)
from sentprobe.probes.results.result import Results
from sentprobe.probes.statistics import Correction

SPECS = ("bow?dim=8", "st:m?layer=2", "hf:org/m", "bow:v.txt?seed=3", "mine")
CUTS = ("dims=4", "quantize=int8", "dims=4&quantize=binary", "erase=a.jsonl")


def cut(name: str, how: str) -> str:
    """Return a name as the option of a spec makes it or, of a name of one's own, the table."""
    if name == "mine":
        return {CUTS[0]: "mine, 4 dims", CUTS[1]: "mine, int8", CUTS[2]: "mine, 4 dims, binary"}.get(
            how, "mine, without a"
        )
    return f"{name}{'&' if '?' in name else '?'}{how}"


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("how", CUTS)
def test_what_is_cut_is_of_the_whole(name: str, how: str) -> None:
    assert strip_reductions(cut(name, how)) == name
    assert is_same_model(cut(name, how), name)
    assert [*filter(lambda changed: is_same_model(cut(name, how), changed), SPECS)] == [name]


def test_dim_cuts_where_it_is_no_width_of_drawn_vectors() -> None:
    assert is_same_model("st:m?dim=64", "st:m")
    assert not is_same_model("bow?dim=64", "bow")


@examples(40)
@given(st.lists(st.tuples(st.sampled_from(SPECS), st.sampled_from(["", *CUTS])), unique=True, min_size=2))
def test_each_pair_is_of_different_encoders_unless_all_are_one(expected_pairs: list[tuple[str, str]]) -> None:
    names = [cut(name, how) if how else name for name, how in expected_pairs]
    pairs = list_pairs_to_compare(names)
    apart = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :] if not is_same_model(a, b)]
    assert pairs == apart if len({name for name, _ in expected_pairs}) > 1 else len(pairs) > 0


RUN = Results(
    tuple(make_sample_result(name, "Order", right) for name, right in [("a", 90), ("a, int8", 70), ("b", 60)])
)


def test_compare_leaves_them_out_and_says_so() -> None:
    pairs = [(one.encoder, two.encoder) for one, two in list_pairs(group_by_encoder(RUN, "x"), source="x")]
    assert pairs == [("a", "b"), ("a, int8", "b")]
    comparisons = compare_encoders(RUN)
    assert EXCLUDED_PAIRS_NOTE in describe_comparisons(comparisons, correction=Correction.HOLM)
    assert comparisons[0].sign_p == pytest.approx(min(1, 2 * comparisons[0].paired.sign_p))


def test_what_is_asked_for_is_compared() -> None:
    comparisons = compare_encoders(RUN, against="a")
    assert [comparison.first.encoder for comparison in comparisons] == ["a, int8", "b"]
    of_one = compare_encoders(Results(RUN.records[:2]))
    assert [comparison.second.encoder for comparison in of_one] == ["a, int8"]
    assert EXCLUDED_PAIRS_NOTE not in describe_comparisons(of_one, correction=Correction.HOLM)
