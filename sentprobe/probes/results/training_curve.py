"""Training curves: the validation scores of an encoder's training, stored in the folder of its probe results."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sentprobe.disk.files import make_parent_folder, write_atomically
from sentprobe.errors import ResultsError, SentprobeError, path_error
from sentprobe.values import check_record, parse_json

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
        stored: dict[str, Any] = parse_json(path.read_bytes())
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
        raise ResultsError(f"{path}: not a training curve of sentprobe ({error})") from None


def read_learning_curves(folders: Iterable[Path]) -> tuple[TrainingCurve, ...]:
    """Return the training curves in results folders. Folders without a curve are skipped."""
    return tuple(curve for folder in folders if (curve := read_learning_curve(folder)) is not None)
