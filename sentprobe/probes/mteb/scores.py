"""Names of tasks in MTEB, and scores of results by name."""

import re
from typing import Any, TypeAlias

from sentprobe.probes.geometry.distance_results import ALL_TRIPLETS, GeometryResult
from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Result

MAIN_SCORE = "accuracy"
MtebScores: TypeAlias = dict[str, Any]


def make_probing_scores(result: Result) -> MtebScores:
    """Return the scores of an encoder on a task, as shares from 0 to 1.

    - accuracy, low, high: the mean over the seeds, and its 95% interval
    - chance: the share of the most frequent label
    - accuracy_random_sentences and so on: the accuracies under controls
    - scores_per_experiment: the scores of each seed
    """
    score = result.scores[Condition.PROBE]
    return {
        "accuracy": score.accuracy,
        "low": score.interval.low,
        "high": score.interval.high,
        "chance": result.majority,
        "classifier": result.preset.name,
        "items": score.total,
        **{
            f"accuracy_{condition.value.replace('-', '_')}": score.accuracy
            for condition, score in result.scores.items()
            if condition in USUAL_CONDITIONS and condition is not Condition.PROBE
        },
        "scores_per_experiment": [
            {"seed": seed_score.seed, "accuracy": seed_score.accuracy, "epochs": seed_score.epochs}
            for seed_score in score.seeds
        ],
    }


def make_geometry_scores(result: GeometryResult) -> MtebScores:
    """Return the scores of an encoder on a contrast.

    - accuracy, low, high: by cosine, for negatives in the positive's form; chance is 0.5
    - form_cosine_accuracy, anchor_dot_paired and so on: by kind of negative, nearness and measure
    """
    main = result.find_by_group(NegativeKind.FORM)[ALL_TRIPLETS]
    scores: MtebScores = {
        "accuracy": main.accuracy,
        "low": main.accuracy_interval.low,
        "high": main.accuracy_interval.high,
        "chance": 0.5,
        "items": main.triplets,
    }
    for kind in NegativeKind:
        for nearness in Nearness:
            if score := result.find_overall(kind, nearness):
                name = f"{kind.value}_{nearness.value}"
                scores |= {
                    f"{name}_accuracy": score.measured.accuracy,
                    f"{name}_paired": score.measured.paired,
                    f"{name}_margin": score.measured.margin,
                }
    return scores


def to_file_name(text: str) -> str:
    """Return the name of a task in a form that is also a file name.

    >>> to_file_name("SemRole"), to_file_name("my/own task")
    ('SemRole', 'my_own_task')
    """
    return re.sub(r"[^\w.+=-]+", "_", text).strip("._") or "task"


def make_geometry_name(contrast: str) -> str:
    """Return the task name of a contrast, distinct from probing tasks such as Tense.

    >>> make_geometry_name("tense")
    'GeometryTense'
    """
    return f"Geometry{to_file_name(contrast[:1].upper() + contrast[1:])}"
