"""Results as scores by name, as MTEB's results have them."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.geometry.results import WHOLE, GeometryResult
from sentprobe.probes.runs.results import USUAL, Condition, Result, SeedScore

MAIN_SCORE = "accuracy"
"""By which models are compared."""

MtebScores: TypeAlias = dict[str, Any]
"""By name: numbers, and what JSON can hold besides."""


def probing_scores(result: Result) -> MtebScores:
    """Return what is known of an encoder on a task, with shares from 0 to 1.

    - accuracy, low, high: the mean over the seeds, and its 95% interval
    - chance: the share of the commonest label
    - accuracy_random_sentences and so on: those of the sanity runs that were made
    - scores_per_experiment: of each seed
    """
    score = result.scores[Condition.PROBE]
    return {
        "accuracy": score.accuracy,
        "low": score.interval.low,
        "high": score.interval.high,
        "chance": result.majority,
        "classifier": result.preset.name,
        "items": score.total,
        **_controls(result),
        "scores_per_experiment": [_experiment(each) for each in score.seeds],
    }


def _controls(result: Result) -> Mapping[str, float]:
    return {
        f"accuracy_{condition.value.replace('-', '_')}": score.accuracy
        for condition, score in result.scores.items()
        if condition in USUAL and condition is not Condition.PROBE
    }


def _experiment(score: SeedScore) -> MtebScores:
    return {"seed": score.seed, "accuracy": score.accuracy, "epochs": score.epochs}


def geometry_scores(result: GeometryResult) -> MtebScores:
    """Return what is known of an encoder on a contrast.

    - accuracy, low, high: by cosine, of negatives in the positive's form; chance is 0.5
    - form_cosine_accuracy, anchor_dot_paired and so on: by kind of negative, nearness and measure
    """
    main = result.find(NegativeKind.FORM)[WHOLE]
    found: MtebScores = {
        "accuracy": main.accuracy,
        "low": main.accuracy_interval.low,
        "high": main.accuracy_interval.high,
        "chance": 0.5,
        "items": main.triplets,
    }
    for kind in NegativeKind:
        for nearness in Nearness:
            if score := result.whole(kind, nearness):
                name = f"{kind.value}_{nearness.value}"
                found |= {
                    f"{name}_accuracy": score.measured.accuracy,
                    f"{name}_paired": score.measured.paired,
                    f"{name}_margin": score.measured.margin,
                }
    return found
