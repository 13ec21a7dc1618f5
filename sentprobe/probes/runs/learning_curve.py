"""How well an encoder in training does what it is trained to do: a file beside its results.

Conneau et al. 2018 (figure 1) draw it beside what probes read: BLEU or perplexity by epoch.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sentprobe.errors import ResultsError, SentprobeError, path_error
from sentprobe.files import make_folder_of, write_atomically
from sentprobe.values import check_record, parse_json

LEARNING_FORMAT = "sentprobe-learned 1"
"""The first value in the file."""

ACCURACY = "accuracy"
"""The metric that is a share."""

PLACE = Path("learned", "held_out.json")
"""The file in a folder of results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPoint:
    """A validation, on what the training held out."""

    step: int
    epoch: float
    value: float
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurve:
    """The validations of a training, in order of their steps."""

    family: str
    """What results call the encoder in training."""
    seed: int
    metric: str
    """BLEU, perplexity or ACCURACY."""
    points: tuple[LearningPoint, ...] = ()
    command: str = field(default="", compare=False)
    """By which it is trained; that of the last validation."""
    source: str = field(default="", compare=False)
    """The folder of results; it is not stored."""

    @property
    def told(self) -> str:
        """What is measured, and in what if that is no plain number."""
        return f"{self.metric} (%)" if self.metric == ACCURACY else self.metric

    def shown(self, point: LearningPoint) -> float:
        """Return the figure as it is shown: shares in percent."""
        return 100 * point.value if self.metric == ACCURACY else point.value

    def at(self, step: int | None) -> LearningPoint | None:
        """Return the validation after a step."""
        return next((point for point in self.points if point.step == step), None)

    def with_point(self, point: LearningPoint) -> "LearningCurve":
        """Return these and one more; what is of the same step or a later one was undone."""
        kept = (each for each in self.points if each.step < point.step)
        return replace(self, points=(*kept, point))


def write_learning_curve(learned: LearningCurve, folder: Path) -> None:
    """Write validations into a folder of results.

    Raises:
        UsageError: the folder cannot be written to.
    """
    path = folder / PLACE
    stored = {"format": LEARNING_FORMAT, **asdict(learned)}
    del stored["source"]
    make_folder_of(path)
    write_atomically(path, json.dumps(stored, indent=1) + "\n")


def add_point(learned: LearningCurve, point: LearningPoint, folder: Path) -> None:
    """Add a validation to those of its training in a folder of results; others are dropped."""
    before = read_learning_curve(folder)
    points = before.points if before and replace(before, points=()) == learned else ()
    write_learning_curve(replace(learned, points=points).with_point(point), folder)


def read_learning_curve(folder: Path) -> LearningCurve | None:
    """Return the validations in a folder of results; None: there are none.

    Raises:
        ResultsError: the file is damaged.
    """
    path = folder / PLACE
    try:
        return _parse(path.read_bytes(), source=str(folder))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise path_error(path, "cannot read results", error) from error
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"{path}: not validations of a training ({error})") from None


def read_learning_curves(folders: Iterable[Path]) -> tuple[LearningCurve, ...]:
    """Return the validations in folders of results, of those that have any."""
    return tuple(found for each in folders if (found := read_learning_curve(each)) is not None)


def _parse(text: bytes, *, source: str) -> LearningCurve:
    stored: dict[str, Any] = parse_json(text)
    if stored.pop("format") != LEARNING_FORMAT:
        raise ValueError(f"its format is not {LEARNING_FORMAT!r}")
    points = tuple(LearningPoint(**each) for each in stored.pop("points"))
    found = LearningCurve(**stored, points=points, source=source)
    check_record(found)
    if not points or [p.step for p in points] != sorted({p.step for p in points}):
        raise ValueError("there are no points, or their steps are not in order")
    return found
