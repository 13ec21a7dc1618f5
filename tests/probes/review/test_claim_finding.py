"""Numbers of items and draws agree with SciPy's distributions."""

import numpy as np
import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, nct
from scipy.stats import t as student

from sentprobe.probes.review.claim_finding import (
    MOST_DRAWS,
    TARGET_POWER,
    compute_draws_needed,
    compute_items_needed,
    compute_t_test_power,
    compute_units_needed,
)

shares = st.floats(0.01, 0.5)
levels = st.sampled_from([0.05, 0.01, 0.001])


def compute_sign_test_power(units: int, better: float, worse: float, level: float) -> float:
    """Compute the power of the exact sign test from all outcomes."""
    both, power = better + worse, 0.0
    for decided in range(units + 1):
        if (weight := binom.pmf(decided, units, both)) > 1e-7:
            wins = np.arange(decided + 1)
            p = 2 * np.minimum(binom.cdf(wins, decided, 0.5), binom.sf(wins - 1, decided, 0.5))
            power += weight * binom.pmf(wins, decided, better / both)[p < level].sum()
    return float(power)


@pytest.mark.parametrize(
    ("better", "worse", "level"),
    [(0.12, 0.08, 0.05), (0.3, 0.2, 0.05), (0.3, 0.2, 0.001), (0.1, 0.02, 0.05), (0.2, 0.35, 0.001)],
)
def test_units_needed_give_sign_test_power(better: float, worse: float, level: float) -> None:
    needed = compute_units_needed(better, worse, level=level)
    assert needed is not None
    assert compute_sign_test_power(needed, better, worse, level) == pytest.approx(TARGET_POWER, abs=0.03)


@pytest.mark.parametrize(("effect", "draws"), [(2.0, 5), (1.0, 3), (0.5, 20), (3.0, 10), (1.5, 2), (0.5, 2), (0.3, 30)])
@pytest.mark.parametrize(("level", "prior"), [(0.05, 0.0), (0.001, 0.0), (0.0001, 0.0), (0.05, 3.5)])
def test_t_test_power_is_scipys(effect: float, draws: int, level: float, prior: float) -> None:
    freedom, shift = draws - 1 + prior, effect * draws**0.5
    critical = student.isf(level / 2, freedom)
    below = np.nan_to_num(nct.cdf(-critical, freedom, shift))  # SciPy may return nan for large effects
    expected = nct.sf(critical, freedom, shift) + below
    power = compute_t_test_power(effect, draws, level=level, prior_freedom=prior)
    assert power == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_draws_needed_are_the_fewest() -> None:
    needed = compute_draws_needed(0.02, 0.012, level=0.01)
    assert needed is not None
    assert compute_t_test_power(0.02 / 0.012, needed, level=0.01) >= TARGET_POWER
    assert compute_t_test_power(0.02 / 0.012, needed - 1, level=0.01) < TARGET_POWER


def test_items_needed_tell_share_from_chance() -> None:
    needed = compute_items_needed(0.55, 0.5, level=0.05)
    assert needed is not None
    beyond = binom.isf(0.025, needed, 0.5)
    assert binom.sf(beyond, needed, 0.55) == pytest.approx(TARGET_POWER, abs=0.03)


@examples(100)
@given(shares, shares, levels)
def test_power_is_symmetric(better: float, worse: float, level: float) -> None:
    needed, swapped = (
        compute_units_needed(better, worse, level=level),
        compute_units_needed(worse, better, level=level),
    )
    assert needed == swapped
    assert (needed is None) == (better == worse)


@examples(40)
@given(st.floats(0.05, 4), st.integers(2, 30), levels)
def test_more_draws_have_more_power(effect: float, draws: int, level: float) -> None:
    fewer, more = (compute_t_test_power(effect, n, level=level) for n in (draws, draws + 1))
    assert level * 0.99 <= fewer <= more + 1e-9 <= 1 + 2e-9


def test_no_difference_is_never_told() -> None:
    assert compute_units_needed(0.1, 0.1, level=0.05) is None
    assert compute_items_needed(0.5, 0.5, level=0.05) is None
    assert compute_draws_needed(0.0, 0.1, level=0.05) is None
    assert compute_draws_needed(1e-9, 0.1, level=0.05) == MOST_DRAWS
