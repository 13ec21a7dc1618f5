"""Which encoders are one, by their names; which pairs are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import sample_result
from thoroughness import examples

from sentprobe.probes.report.comparisons import all_pairs, compare_encoders, explain, sides
from sentprobe.probes.report.variants import NOT_COMPARED, are_one, pairs_to_compare, whole_name
from sentprobe.probes.runs.results import Results
from sentprobe.probes.statistics import Correction

SPECS = ("bow?dim=8", "st:m?layer=2", "hf:org/m", "bow:v.txt?seed=3", "mine")
CUTS = ("dims=4", "quantize=int8", "dims=4&quantize=binary", "erase=a.jsonl")


def cut(name: str, how: str) -> str:
    """Return a name as the option of a spec makes it or, of a name of one's own, the table."""
    if name == "mine":
        return {
            CUTS[0]: "mine, 4 dims",
            CUTS[1]: "mine, int8",
            CUTS[2]: "mine, 4 dims, binary",
        }.get(how, "mine, without a")
    return f"{name}{'&' if '?' in name else '?'}{how}"


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("how", CUTS)
def test_what_is_cut_is_of_the_whole(name: str, how: str) -> None:
    assert whole_name(cut(name, how)) == name
    assert are_one(cut(name, how), name)
    assert [*filter(lambda other: are_one(cut(name, how), other), SPECS)] == [name]


def test_dim_cuts_where_it_is_no_width_of_drawn_vectors() -> None:
    assert are_one("st:m?dim=64", "st:m")
    assert not are_one("bow?dim=64", "bow")


@examples(40)
@given(
    st.lists(
        st.tuples(st.sampled_from(SPECS), st.sampled_from(["", *CUTS])), unique=True, min_size=2
    )
)
def test_each_pair_is_of_different_encoders_unless_all_are_one(made: list[tuple[str, str]]) -> None:
    names = [cut(name, how) if how else name for name, how in made]
    pairs = pairs_to_compare(names)
    apart = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :] if not are_one(a, b)]
    assert pairs == apart if len({name for name, _ in made}) > 1 else len(pairs) > 0


RUN = Results(
    tuple(
        sample_result(name, "Order", right)
        for name, right in [("a", 90), ("a, int8", 70), ("b", 60)]
    )
)


def test_compare_leaves_them_out_and_says_so() -> None:
    pairs = [(one.encoder, two.encoder) for one, two in all_pairs(sides(RUN, "x"), source="x")]
    assert pairs == [("a", "b"), ("a, int8", "b")]
    found = compare_encoders(RUN)
    assert NOT_COMPARED in explain(found, correction=Correction.HOLM)
    assert found[0].sign_p == pytest.approx(min(1, 2 * found[0].paired.sign_p))


def test_what_is_asked_for_is_compared() -> None:
    found = compare_encoders(RUN, against="a")
    assert [each.first.encoder for each in found] == ["a, int8", "b"]
    of_one = compare_encoders(Results(RUN.records[:2]))
    assert [each.second.encoder for each in of_one] == ["a, int8"]
    assert NOT_COMPARED not in explain(of_one, correction=Correction.HOLM)
