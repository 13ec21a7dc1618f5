"""Drawing different numbers."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sentprobe.generator.spaces.counting import sample_distinct
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english

SIZES = (2**63 - 1, 2**63, 2**63 + 1, 2**64, 3 * 2**70, 10**40)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(data=st.data(), seed=st.integers(0, 2**32))
def test_numbers_are_distinct_and_in_range(data: st.DataObject, seed: int) -> None:
    size = data.draw(st.one_of(st.integers(1, 300), st.sampled_from(SIZES)))
    count = data.draw(st.integers(1, min(size, 300)))
    drawn = sample_distinct(count, size, rng(seed)).tolist()
    assert len(drawn) == len(set(drawn)) == count
    assert all(type(number) is int and 0 <= number < size for number in drawn)
    assert sample_distinct(count, size, rng(seed)).tolist() == drawn


@given(size=st.integers(1, 500), seed=st.integers(0, 2**32))
def test_whole_range_is_permutation(size: int, seed: int) -> None:
    assert sorted(sample_distinct(size, size, rng(seed)).tolist()) == list(range(size))


@pytest.mark.parametrize(("count", "size"), [(2, 5), (3, 4), (2, 4)])
def test_ordered_selections_are_equally_likely(count: int, size: int) -> None:
    """Whichever of the two ways of drawing is taken."""
    source = rng(7)
    seen = dict.fromkeys(permutations(range(size), count), 0)
    for _ in range(100 * len(seen)):
        seen[tuple(sample_distinct(count, size, source).tolist())] += 1
    assert chisquare(list(seen.values())).pvalue > 0.01


@pytest.mark.parametrize("size", SIZES)
def test_big_ranges_are_covered_evenly(size: int) -> None:
    drawn = sample_distinct(5000, size, rng(3)).tolist()
    tenths = np.bincount([10 * number // size for number in drawn], minlength=10)
    low = np.bincount([number % 7 for number in drawn], minlength=7)
    assert chisquare(tenths).pvalue > 0.01
    assert chisquare(low).pvalue > 0.01


def test_space_is_sampled_uniformly() -> None:
    """Also where templates differ in size: all sentences are alike, not all templates."""
    space = Space(english(), vocabulary="compeval", templates=["intransitive"])
    seen = np.zeros(space.count())
    for seed in range(300):
        seen[space.sample(40, seed=seed)] += 1
    assert seen.sum() == 300 * 40
    # Drawing without repetition makes the counts a little more even than independent draws.
    assert chisquare(seen).pvalue > 0.01
