"""The figures of a cell of a table, over all draws: mean, spread and interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.probes.runs.results import Condition, Result, Score
from sentprobe.probes.statistics import Interval, accuracy_interval, take_apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What a cell of a table shows, over all draws."""

    accuracy: float
    """The mean."""
    spread: float | None
    """The standard deviation over all probes; None for one."""
    interval: Interval
    """95%, of the mean; see :func:`figure_of`."""
    between_draws: float | None = None
    """The part of the spread that is due to draws; None for one draw."""
    between_probes: float | None = None
    """That which is due to the probes of one draw; None for one draw, and for one probe in each."""


def figure_of(draws: Sequence[Result], condition: Condition) -> Figure | None:
    """Return the figure of a cell, given its result in each draw; None where there is no score.

    Of one draw, the interval is that of the score. Of several it is Student's t over the draws;
    but where all have the same test items, it still speaks of the choice of these, as for one draw.
    """
    there = [each for each in draws if condition in each.scores]
    scores = [each.scores[condition] for each in there]
    if len(scores) < 2:
        return _figure(scores[0]) if scores else None
    spread = take_apart([[each.accuracy for each in score.seeds] for score in scores])
    same = len({each.dataset_fingerprint for each in there}) == 1
    return Figure(
        accuracy=spread.mean,
        spread=spread.total,
        interval=_of_items(scores, there[0].units) if same else spread.interval,
        between_draws=spread.draws,
        between_probes=spread.probes,
    )


def _figure(score: Score) -> Figure:
    return Figure(accuracy=score.accuracy, spread=score.spread, interval=score.interval)


def _of_items(scores: Sequence[Score], units: Sequence[int]) -> Interval:
    return accuracy_interval(np.mean([score.items() for score in scores], axis=0), units)
