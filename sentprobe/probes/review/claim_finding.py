"""A finding of ``probe check``: a problem with a claim, the results concerned, and advice.

Power analysis: the number of test items or draws needed to make a difference significant.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor, log10, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from sentprobe.probes.reports.paired_tests import GainTest
from sentprobe.probes.statistics import normal_quantile, student_quantile


class Severity(StrEnum):
    """How strongly a finding weakens a claim."""

    SEVERE = "severe"
    """Claims that rest on these figures are not supported."""
    WARNING = "warning"
    """The claim may be true, but these results do not show it."""
    NOTE = "note"
    """The claim is sound if it mentions this limitation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFinding:
    """A problem that a check finds, with the task, encoders and table that it concerns."""

    severity: Severity
    problem: str
    advice: str
    figures: tuple[str, ...] = ()
    task: str = ""
    """The names of tasks, separated by commas; empty for all tasks."""
    encoder: str = ""
    """The names of encoders, separated by commas; empty for all encoders."""
    draw: str = ""
    table: str = ""
    """The title of the table of ``probe show``; empty if there is one table, or for all tables."""
    check: str = ""

    @property
    def where(self) -> str:
        """The finding's table, task, encoder and seed, separated by semicolons; empty if it concerns all results."""
        draw = f"seed {self.draw}" if self.draw else ""
        return "; ".join(part for part in (self.table, self.task, self.encoder, draw) if part)

    def to_record(self) -> dict[str, Any]:
        """Return the finding as a dictionary for :mod:`json`."""
        return {
            "severity": self.severity.value,
            "check": self.check,
            "table": self.table,
            "task": self.task,
            "encoder": self.encoder,
            "draw": self.draw,
            "says": self.problem,
            "figures": list(self.figures),
            "advice": self.advice,
        }


TARGET_POWER = 0.8
"""The probability with which the computed number of items or draws makes a true difference significant."""
SMALLEST_SHOWN = 0.0005
"""The smallest difference in accuracy (0 to 1) that is visible in tables, in percent with one decimal."""
MOST_UNITS, MOST_DRAWS = 10**7, 1000
"""The upper limits of the computed numbers of units and draws."""


def compute_units_needed(better: float, worse: float, *, level: float) -> int | None:
    """Return the number of units for which a sign test has the power ``TARGET_POWER``; None if the shares are equal.

    - better: the share of units in which the first encoder has more right answers
    - worse: the share of units in which the second encoder has more right answers
    - level: the significance level

    Formula of Connor (1987) for McNemar's test: with s = better + worse and d = better - worse, the number is
    (z(1 - level / 2) sqrt(s) + z(power) sqrt(s - d^2))^2 / d^2. The exact test needs a few more units.

    >>> compute_units_needed(0.12, 0.08, level=0.05)
    979
    """
    both, difference = better + worse, better - worse
    return _compute_sample_size(difference, both, max(0.0, both - difference**2), level=level)


def _compute_sample_size(difference: float, variance_if_none: float, variance: float, *, level: float) -> int | None:
    """Return the number of units or items needed to detect a true *difference*; None if *difference* is 0.

    - variance_if_none: the variance of an item's answer (0 or 1) or of a unit's gain, if the true difference is 0
    - variance: the variance of the answer or the gain, if the true difference is *difference*
    """
    if not difference:
        return None
    level_part = normal_quantile(1 - level) * sqrt(variance_if_none)
    power_part = NormalDist().inv_cdf(TARGET_POWER) * sqrt(variance)
    return min(MOST_UNITS, ceil(((level_part + power_part) / difference) ** 2))


def compute_items_needed(share: float, chance: float, *, level: float) -> int | None:
    """Return the number of independent test items needed to show that the accuracy *share* differs from *chance*.

    The significance level is *level*, and the power is ``TARGET_POWER``. With p = *share* and c = *chance*, the number
    is (z(1 - level / 2) sqrt(c (1 - c)) + z(power) sqrt(p (1 - p)))^2 / (p - c)^2, rounded up, and at most MOST_UNITS
    (Fleiss, Levin and Paik 2003, section 2.5). None if p = c.

    >>> compute_items_needed(0.55, 0.5, level=0.05)
    783
    """
    return _compute_sample_size(share - chance, chance * (1 - chance), share * (1 - share), level=level)


def compute_draws_needed(
    difference: float, deviation: float, *, level: float, prior_freedom: float = 0.0
) -> int | None:
    """Return the smallest number of draws with which a t-test reaches the power TARGET_POWER; at most MOST_DRAWS.

    - deviation: the standard deviation of the difference over draws
    - prior_freedom: the degrees of freedom that the variances of other differences in the table add to the t-test

    The result is None if the difference or the deviation is 0.
    """
    if not difference or not deviation:
        return None
    low, high = 1, MOST_DRAWS  # bisection, as the power grows with the number of draws
    while high - low > 1:
        middle = (low + high) // 2
        power = compute_t_test_power(abs(difference) / deviation, middle, level=level, prior_freedom=prior_freedom)
        low, high = (low, middle) if power >= TARGET_POWER else (middle, high)
    return high


def compute_t_test_power(effect: float, draws: int, *, level: float, prior_freedom: float = 0.0) -> float:
    """Return the power of the two-sided t-test over draws; *effect* is mean difference / standard deviation.

    The power is the probability that a noncentral t variable is outside the critical values. Let w be the estimated
    standard deviation divided by the true one. For a fixed w, a normal distribution gives this probability. The power
    is the mean of these probabilities over all w. With f degrees of freedom (draws - 1 + *prior_freedom*), f * w^2 is
    chi-squared distributed. ``scipy.special.nctdtr`` is not used because it returns NaN for large effects.

    >>> round(compute_t_test_power(2.0, 5, level=0.05), 2)
    0.91
    """
    from scipy.special import ndtr

    freedom = draws - 1 + prior_freedom
    critical, shift = student_quantile(1 - level, freedom), effect * sqrt(draws)
    width = 8 / sqrt(freedom)
    w = np.geomspace(max(1e-7, 1 - width), 1 + width, 2000)  # dense near 0, where w decides if freedom is small
    logs = freedom * np.log(w) - freedom * w**2 / 2
    weights = np.exp(logs - logs.max())
    outside = ndtr(shift - critical * w) + ndtr(-shift - critical * w)
    return float(np.average(outside, weights=weights))


def describe_draws_needed(test: GainTest, *, level: float) -> str:
    """Describe the number of draws that would make a difference significant, and the number in this run."""
    needed = compute_draws_needed(test.mean, test.deviation, level=level, prior_freedom=test.prior_freedom)
    count_text = f"more than {MOST_DRAWS:,}" if needed == MOST_DRAWS else f"about {needed}"
    return f"{count_text} draws give {TARGET_POWER:.0%} power (this run: {test.draws})"


def describe_items_needed(number: float, item_count: int) -> str:
    """Describe how many test items give 80% power (two significant digits, rounded up), and how many this run has.

    >>> describe_items_needed(978.2, 500)
    'about 980 test items give 80% power (this run: 500)'
    """
    unit = 10 ** max(0, floor(log10(max(1.0, number))) - 1)
    qualifier = "more than" if number >= MOST_UNITS else "about"
    needed = int(-(-number // unit) * unit)
    return f"{qualifier} {needed:,} test items give {TARGET_POWER:.0%} power (this run: {item_count:,})"
