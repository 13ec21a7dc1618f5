"""The figures of a cell of a table, over all draws: mean, spread and interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.probes.results.result import Condition, Result
from sentprobe.probes.statistics import Interval, accuracy_interval, decompose_spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The figure of a cell of a table, over all draws."""

    accuracy: float
    spread: float | None
    """The standard deviation over all probes; None for one."""
    interval: Interval
    """95% interval of the mean."""
    between_draws: float | None = None
    """The standard deviation between draws; None for one draw."""
    between_probes: float | None = None
    """The standard deviation between the probes of one draw; None if it cannot be estimated."""


def compute_figure(draws: Sequence[Result], condition: Condition) -> Figure | None:
    """Return the figure of a cell from its result in each draw; None if there is no score.

    One draw has the interval of its score. Several draws have Student's t interval over the draws; if all have the same
    test items, the interval is for the choice of items, as for one draw.
    """
    scored = [result for result in draws if condition in result.scores]
    scores = [result.scores[condition] for result in scored]
    if not scores:
        return None
    if len(scores) == 1:
        return Figure(accuracy=scores[0].accuracy, spread=scores[0].spread, interval=scores[0].interval)
    spread = decompose_spread([[seed.accuracy for seed in score.seeds] for score in scores])
    interval = spread.interval
    if len({result.dataset_fingerprint for result in scored}) == 1:
        interval = accuracy_interval(np.mean([score.items() for score in scores], axis=0), scored[0].units)
    return Figure(
        accuracy=spread.mean,
        spread=spread.total,
        interval=interval,
        between_draws=spread.draws,
        between_probes=spread.probes,
    )
