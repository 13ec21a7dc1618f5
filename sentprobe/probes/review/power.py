"""How many test items, or draws, it takes to tell a difference of a given size."""

from math import ceil, floor, log10, sqrt
from statistics import NormalDist

import numpy as np

from sentprobe.probes.statistics import quantile, student_quantile

POWER = 0.8
"""The share of repetitions in which a difference that is there should be found."""

SHOWN = 0.0005
"""The least difference that a table, in percent with one digit, shows."""

MOST_UNITS, MOST_DRAWS = 10**7, 1000
"""More than anybody has: larger numbers are not worth telling apart."""


def units_needed(better: float, worse: float, *, level: float, power: float = POWER) -> int | None:
    """Return of how many units the sign test tells a difference, with that power; None: of none.

    - better, worse: the shares of units in which the first and the second has more right
    - level: below which p-value a difference is called significant

    Connor (1987), for McNemar's test: with s = better + worse and d = better - worse, it is
    (z(1 - level / 2) sqrt(s) + z(power) sqrt(s - d^2))^2 / d^2. The exact test needs a few more.

    >>> units_needed(0.12, 0.08, level=0.05)
    979
    """
    both, difference = better + worse, better - worse
    if not difference:
        return None
    level_part = quantile(1 - level) * sqrt(both)
    power_part = NormalDist().inv_cdf(power) * sqrt(max(0.0, both - difference**2))
    return min(MOST_UNITS, ceil(((level_part + power_part) / difference) ** 2))


def items_needed(share: float, chance: float, *, level: float, power: float = POWER) -> int | None:
    """Return of how many independent items a share is told from chance, with that power.

    (z(1 - level / 2) sqrt(c (1 - c)) + z(power) sqrt(p (1 - p)))^2 / (p - c)^2 for the share p and
    chance c (Fleiss, Levin and Paik 2003, section 2.5). None: of no number; they are equal.

    >>> items_needed(0.55, 0.5, level=0.05)
    783
    """
    if share == chance:
        return None
    level_part = quantile(1 - level) * sqrt(chance * (1 - chance))
    power_part = NormalDist().inv_cdf(power) * sqrt(share * (1 - share))
    return min(MOST_UNITS, ceil(((level_part + power_part) / (share - chance)) ** 2))


def draws_needed(
    difference: float, deviation: float, *, level: float, power: float = POWER
) -> int | None:
    """Return of how many draws the paired t-test tells a difference, with that power.

    None: of no number; there is no difference, or no deviation is known.

    - deviation: the standard deviation of the difference between draws

    >>> draws_needed(0.02, 0.01, level=0.05)
    5
    """
    if not difference or not deviation:
        return None
    low, high = 1, MOST_DRAWS
    while high - low > 1:
        middle = (low + high) // 2
        enough = t_test_power(abs(difference) / deviation, middle, level=level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def t_test_power(effect: float, draws: int, *, level: float) -> float:
    """Return how often the paired t-test over so many draws finds a difference.

    - effect: the difference in standard deviations of the differences

    The share of the noncentral t distribution outside the critical values: the mean, over the
    estimated spread w (draws - 1 times its square is chi-squared), of the share of a normal
    variable that is outside.

    >>> round(t_test_power(2.0, 5, level=0.05), 2)
    0.91
    """
    freedom = draws - 1
    critical, shift = student_quantile(1 - level, freedom), effect * sqrt(draws)
    steps = (np.arange(2000) + 0.5) / 2000
    w = steps * (1 + 8 / sqrt(freedom))
    logs = (freedom - 1) * np.log(w) - freedom * w**2 / 2
    weights = np.exp(logs - logs.max())
    normal = NormalDist()
    outside = [normal.cdf(shift - critical * at) + normal.cdf(-shift - critical * at) for at in w]
    return float(np.average(outside, weights=weights))


def items_would_tell(number: float, here: int) -> str:
    """Say how many test items would tell, with two digits, and how many there are.

    >>> items_would_tell(978.2, 500)
    'some 980 test items would tell (here 500)'
    """
    unit = 10 ** max(0, floor(log10(max(1.0, number))) - 1)
    most = "more than" if number >= MOST_UNITS else "some"
    return f"{most} {int(-(-number // unit) * unit):,} test items would tell (here {here:,})"
