"""Results as flat dictionaries for data frames, and the computation of measures such as selectivity and codelength.

Training curves: the validation scores of an encoder's training, stored in the folder of its probe results.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Any

from sentprobe.common.errors import ResultsError, SentprobeError, describe_damage, path_error
from sentprobe.common.files import make_parent_folder, write_atomically
from sentprobe.common.values import check_record, parse_json_object
from sentprobe.probes.classifier.probe import compute_codelength, compute_compression, compute_curve_area
from sentprobe.probes.results.result import Condition, Result, Results, SeedScore


def compute_probe_accuracy(result: Result, seed: SeedScore) -> float:
    """Return the accuracy of the main probe with seed ``seed.seed`` or, if there is none, of the first main probe."""
    seeds = result.scores[Condition.PROBE].seeds
    return next((probe for probe in seeds if probe.seed == seed.seed), seeds[0]).accuracy


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFigure:
    """A figure of a method, such as selectivity: its computation, its key in records and its heading in tables."""

    key: str
    condition: Condition
    compute: Callable[[Result, SeedScore], float]
    """The function that computes the figure of one probe. Accuracies are between 0 and 1, lengths are in bits."""
    heading: str
    scale: float = 1.0
    """The factor by which tables multiply the figure, such as 100 for percent."""
    decimals: int = 2

    def compute_mean(self, result: Result, condition: Condition) -> float | None:
        """Return the mean of this figure over a result's probes; None if the figure belongs to another condition."""
        if condition is not self.condition:
            return None
        return mean(self.compute(result, seed) for seed in result.scores[condition].seeds)


def identify_result(result: Result) -> dict[str, Any]:
    """Return the first entries of a result's records: ``run`` (its results folder), ``encoder`` and ``task``."""
    return {"run": result.source, "encoder": result.encoder, "task": result.task}


SELECTIVITY = MethodFigure(
    key="selectivity",
    condition=Condition.CONTROL_TASK,
    compute=lambda result, control: compute_probe_accuracy(result, control) - control.accuracy,
    heading="selectivity",
    scale=100,
    decimals=1,
)

PORTION_FIGURES = (
    MethodFigure(
        key="description_length",
        condition=Condition.PORTIONS,
        compute=lambda result, seed: compute_codelength(seed.readings, labels=result.labels or 2),
        heading="kbit",
        scale=1 / 1000,
    ),
    MethodFigure(
        key="compression",
        condition=Condition.PORTIONS,
        compute=lambda result, seed: compute_compression(seed.readings, labels=result.labels or 2),
        heading="compression",
    ),
    MethodFigure(
        key="information",
        condition=Condition.PORTIONS,
        compute=lambda _, seed: mean(seed.information),
        heading="V-information",
    ),
    MethodFigure(
        key="area",
        condition=Condition.PORTIONS,
        compute=lambda _, seed: compute_curve_area(seed.readings, total=seed.total),
        heading="area",
        scale=100,
        decimals=1,
    ),
)

GAP = MethodFigure(
    key="gap",
    condition=Condition.WIDTHS,
    compute=lambda result, seed: compute_probe_accuracy(result, seed) - seed.readings[0].correct / seed.total,
    heading="gap",
    scale=100,
    decimals=1,
)

METHOD_FIGURES = (SELECTIVITY, *PORTION_FIGURES, GAP)


def make_records(results: Results) -> list[dict[str, Any]]:
    """Return a flat dictionary for each result and condition; all dictionaries have the same keys."""
    return [
        {
            **identify_result(result),
            "condition": condition.value,
            "accuracy": score.accuracy,
            "spread": score.spread,
            "low": score.interval.low,
            "high": score.interval.high,
            "seeds": len(score.seeds),
            "total": score.total,
            "majority": result.majority,
            "mirrored": result.mirrored,
            "dim": result.dim,
            "family": result.family,
            "layer": result.layer,
            "position": result.position,
            "step": result.step,
            "epoch": result.epoch,
            "probe_vectors": result.probe_vectors,
            "preset": result.preset.name,
            "seed": result.seed,
            "precision": "+".join(sorted({seed_score.precision for seed_score in score.seeds})),
            "epochs": mean(seed_score.epochs for seed_score in score.seeds),
            "converged": all(seed_score.converged for seed_score in score.seeds),
            "seconds": result.seconds.get(condition.value),
            "device": result.device,
            "dataset_fingerprint": result.dataset_fingerprint,
            "encoder_fingerprint": result.encoder_fingerprint,
            "encoder_seed": result.encoder_seed,
            **{figure.key: figure.compute_mean(result, condition) for figure in METHOD_FIGURES},
            **{f"data_{name}": getattr(result.data, name, None) for name in _DATA_FACTS},
        }
        for result in results.records
        for condition, score in result.scores.items()
    ]


_DATA_FACTS = ("train", "validation", "word_types", "vocabulary", "sampling", "seed", "train_language", "test_language")


LEARNING_FORMAT = "sentprobe-learned 1"

ACCURACY = "accuracy"
"""The name of the metric that is stored as a share from 0 to 1 and displayed in percent."""
CURVE_FILE = Path("learned", "held_out.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPoint:
    """The scores of one validation during training, on held-out text."""

    step: int
    epoch: float
    value: float
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCurve:
    """The scores of all validations during the training of an encoder, in order of training step."""

    family: str
    """The common name of the encoders that are checkpoints of this training."""
    seed: int
    metric: str
    points: tuple[LearningPoint, ...] = ()
    command: str = field(default="", compare=False)
    source: str = field(default="", compare=False)

    @property
    def label(self) -> str:
        """The name of the metric, with "(%)" for accuracy."""
        return f"{self.metric} (%)" if self.metric == ACCURACY else self.metric

    def to_display_value(self, point: LearningPoint) -> float:
        """Return the value of a point as displayed: accuracies in percent, other metrics unchanged."""
        return 100 * point.value if self.metric == ACCURACY else point.value

    def find_point(self, step: int | None) -> LearningPoint | None:
        """Return the scores of the validation at a training step, or None if there was no validation at this step."""
        return next((point for point in self.points if point.step == step), None)

    def append_point(self, point: LearningPoint) -> "TrainingCurve":
        """Return the curve with *point* as its last point; points of the same or a later step are removed."""
        earlier = (earlier_point for earlier_point in self.points if earlier_point.step < point.step)
        return replace(self, points=(*earlier, point))


def write_learning_curve(curve: TrainingCurve, folder: Path) -> None:
    """Write a training curve into a results folder; raise UsageError if the folder is not writable."""
    path = folder / CURVE_FILE
    stored = {"format": LEARNING_FORMAT, **asdict(curve)}
    del stored["source"]
    make_parent_folder(path)
    write_atomically(path, json.dumps(stored, indent=1) + "\n")


def add_point(curve: TrainingCurve, point: LearningPoint, folder: Path) -> None:
    """Append *point* to the training curve stored in *folder*. A stored curve of another training is overwritten."""
    stored = read_learning_curve(folder)
    points = stored.points if stored and replace(stored, points=()) == curve else ()
    write_learning_curve(replace(curve, points=points).append_point(point), folder)


def read_learning_curve(folder: Path) -> TrainingCurve | None:
    """Return the training curve in a results folder, or None; raise ResultsError if the file is damaged."""
    path = folder / CURVE_FILE
    try:
        stored: dict[str, Any] = parse_json_object(path.read_bytes())
        if stored.pop("format") != LEARNING_FORMAT:
            raise ValueError(f"its format is not {LEARNING_FORMAT!r}")
        points = tuple(LearningPoint(**point) for point in stored.pop("points"))
        curve = TrainingCurve(**stored, points=points, source=str(folder))
        check_record(curve)
        if not points or [p.step for p in points] != sorted({p.step for p in points}):
            raise ValueError("there are no points, or the points are not in order of steps")
        return curve
    except FileNotFoundError:
        return None
    except OSError as error:
        raise path_error(path, "cannot read results", error) from error
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"{path}: not a training curve of sentprobe ({describe_damage(error)})") from None


def read_learning_curves(folders: Iterable[Path]) -> tuple[TrainingCurve, ...]:
    """Return the training curves in results folders. Folders without a curve are skipped."""
    return tuple(curve for folder in folders if (curve := read_learning_curve(folder)) is not None)
