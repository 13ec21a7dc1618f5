"""Training probes on sentence vectors and predicting the test items."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import mean

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import Indices, Items
from sentprobe.probes.encoders import Vectors
from sentprobe.probes.trainer.bank import Bank, Design, settle
from sentprobe.probes.trainer.batches import PreparedItems, prepare
from sentprobe.probes.trainer.classifier import Optimizer, Precision, Preset
from sentprobe.probes.trainer.logreg import solve
from sentprobe.probes.trainer.presets import BankShape, GridPoint, points_of
from sentprobe.probes.trainer.readings import Reading
from sentprobe.probes.trainer.scaling import scaled
from sentprobe.probes.trainer.training import predict, train_points
from sentprobe.processes import limit_threads

MOST_WEIGHTS = 2**25
"""First layers with more weights than this in all are trained in several passes.

A float32 takes 4 bytes, and four are kept for each weight. Probes that are so wide gain nothing
from being side by side.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What came of training one probe, or the one that was chosen of a grid.

    Where the preset averages several probes, they are one here.
    """

    predictions: Indices
    """(n,) int64, a label for each test item."""
    correct: int
    total: int
    epochs: int
    """Passes over the items (L-BFGS: iterations); of several probes, the longest's."""
    loss: float
    """Mean training cross-entropy of the last epoch."""
    converged: bool
    """False when the limit of epochs ended it, or one of several."""
    seconds: float
    """This fit's share of the time that all of them took together."""
    chosen: Mapping[str, float] = field(default_factory=dict)
    """The values chosen on validation, by field of the preset; empty when there was no choice."""
    validation: float | None = None
    """Accuracy on validation, where there is one."""
    precision: Precision = Precision.FLOAT32
    """What the first layer's matrix products were made of."""
    gradient: float | None = None
    """The largest component of the gradient of the mean loss in the end (L-BFGS only)."""
    right: NDArray[np.bool_]
    """(n,) bool, whether each prediction is right."""
    readings: tuple[Reading, ...] = ()
    """Where a method trains several probes: each of them; what is said above is of the last."""
    information: tuple[float, ...] = ()
    """The pointwise V-information of each test item, where it was asked for."""

    @property
    def accuracy(self) -> float:
        """Share of the test items that are predicted right."""
        return self.correct / self.total


def fit(
    vectors: Vectors,
    *,
    train: Items,
    test: Items,
    validation: Items | None = None,
    words: int,
    labels: int,
    preset: Preset,
    seeds: Sequence[int],
    device: str = "cpu",
    threads: int | None = 1,
    word_vectors: Vectors | None = None,
) -> tuple[Fit, ...]:
    """Train a probe for each seed on *train* and predict *test*; return a Fit for each, in order.

    - vectors: (sentences, dim) float32, a row per distinct sentence
    - word_vectors: (words, word_dim) float32, a row per probe word, which stands beside the
      sentence vector (Adi et al. 2017, section 3) and is scaled like it, as learned from the words
      of training; without them, probe words are one-hot
    - validation: needed where ``preset.needs_validation``
    - words, labels: how many probe words and labels there are
    - device: one that :func:`sentprobe.probes.trainer.devices.check_device` takes
    - threads: PyTorch's threads while this runs; None leaves them as they are

    All seeds and points of the preset's grid are trained side by side, in batches of the same
    items; a seed decides the weights at the start and dropout. The same seed gives the same
    numbers, and but for rounding whatever seeds are beside it. With ``preset.average`` so many
    probes are one Fit: those of :func:`member_seeds`. All randomness is drawn on the CPU, so
    another device differs by rounding only.

    Raises:
        UsageError: no validation items where they are needed; no bfloat16 here.
        SentprobeError: training diverged.
    """
    start = time.perf_counter()
    with limit_threads(threads), torch.inference_mode():
        problem = make_problem(
            vectors,
            train=train,
            test=test,
            validation=validation,
            words=words,
            labels=labels,
            preset=preset,
            device=device,
            word_vectors=word_vectors,
        )
        fits = [each.fit(problem) for each in problem.probes(seeds)]
    return shared_time(fits, time.perf_counter() - start)


def shared_time(fits: Sequence[Fit], seconds: float) -> tuple[Fit, ...]:
    """Return fits with their shares of the time that all took together."""
    return tuple(replace(each, seconds=seconds / len(fits)) for each in fits)


def make_problem(
    vectors: Vectors,
    *,
    train: Items,
    test: Items,
    validation: Items | None,
    words: int,
    labels: int,
    preset: Preset,
    device: str,
    word_vectors: Vectors | None,
) -> "TrainingProblem":
    """Put what a fit is given on its device; see :func:`fit`."""
    if preset.needs_validation and validation is None:
        raise UsageError(f"preset {preset.name} needs validation items, and there are none")
    place = torch.device(device)
    shape = _shape(vectors, train, word_vectors, words=words, labels=labels)
    table = _table(vectors, train.rows, preset, place)
    lexicon = None
    if word_vectors is not None and shape.word_dim:
        lexicon = _table(word_vectors, train.probes.ravel(), preset, place)
    put = partial(prepare, table, shape=shape, lexicon=lexicon)
    return TrainingProblem(
        shape=shape,
        preset=preset,
        train=put(train),
        validation=None if validation is None else put(validation),
        test=put(test),
    )


def _shape(
    vectors: Vectors, train: Items, word_vectors: Vectors | None, *, words: int, labels: int
) -> BankShape:
    """Return the sizes; word vectors are not looked at where there are no probe words."""
    if word_vectors is not None and len(word_vectors) != words:
        raise UsageError(f"{len(word_vectors)} word vectors for {words} probe words")
    word_dim = 0 if word_vectors is None or not train.slots else word_vectors.shape[1]
    dim = vectors.shape[1]
    return BankShape(dim=dim, slots=train.slots, words=words, labels=labels, word_dim=word_dim)


def _table(vectors: Vectors, rows: Indices, preset: Preset, place: torch.device) -> torch.Tensor:
    return torch.from_numpy(scaled(vectors, rows, scaling=preset.scaling)).to(place)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingProblem:
    """What a probe is trained and tested on, on its device, and how."""

    shape: BankShape
    preset: Preset
    train: PreparedItems
    validation: PreparedItems | None
    test: PreparedItems

    @property
    def design(self) -> Design:
        """What all of its probes share."""
        preset, device = self.preset, self.train.table.device
        return Design(
            shape=self.shape,
            activation=preset.activation,
            masking=preset.masking,
            precision=settle(preset.precision, device=device),
        )

    def probes(self, seeds: Sequence[int]) -> "list[TrainedProbe]":
        """Train a probe for each seed, side by side."""
        return [choose(found) for found in self.all_probes(seeds)]

    def all_probes(self, seeds: Sequence[int]) -> "list[list[TrainedProbe]]":
        """Train the whole grid, and return a list for each seed."""
        return _search(self, seeds)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedProbe:
    """A trained probe, as a bank of one; or several, that are averaged."""

    banks: tuple[Bank, ...]
    epochs: int
    loss: float
    converged: bool
    validation: float | None = None
    gradient: float | None = None

    def fit(self, problem: TrainingProblem) -> Fit:
        """Predict the test items."""
        predicted = predict(self.banks, problem.test)
        right = predicted == problem.test.targets.cpu().numpy()
        return Fit(
            predictions=predicted,
            correct=int(right.sum()),
            total=len(right),
            epochs=self.epochs,
            loss=self.loss,
            converged=self.converged,
            seconds=0.0,
            chosen=self.banks[0].points[0].chosen(problem.preset),
            validation=self.validation,
            precision=self.banks[0].design.precision,
            gradient=self.gradient,
            right=right,
        )


def choose(found: Sequence[TrainedProbe]) -> TrainedProbe:
    """Return the probe with the best accuracy on validation, the first of equals."""
    return max(found, key=lambda each: each.validation or 0.0)


def member_seeds(seed: int, count: int) -> tuple[int, ...]:
    """Return the seeds of the probes that are averaged: *seed*, and others that follow from it.

    >>> member_seeds(3, 1), len({*member_seeds(3, 5), *member_seeds(4, 5)})
    ((3,), 10)
    """
    drawn = np.random.SeedSequence(seed).generate_state(count - 1, np.uint64)
    return (seed, *(int(number) >> 1 for number in drawn))


def _search(problem: TrainingProblem, seeds: Sequence[int]) -> list[list[TrainedProbe]]:
    """Train all points of the grid; return a list for each seed."""
    grids = [_grid(problem, seed) for seed in seeds]
    if problem.preset.optimizer is Optimizer.LBFGS:
        # Nothing is drawn, so that all seeds give the same.
        return [[_solve(problem, point) for (point,) in grids[0]]] * len(grids) if grids else []
    found: dict[GridPoint, TrainedProbe] = {}
    for part in _parts({p for grid in grids for members in grid for p in members}, problem):
        found |= _train(problem, part)
    return [
        [_together(problem, [found[point] for point in members]) for members in grid]
        for grid in grids
    ]


def _grid(problem: TrainingProblem, seed: int) -> list[tuple[GridPoint, ...]]:
    """Return the points of the grid, each as the probes that are averaged there."""
    preset, shape = problem.preset, problem.design.shape
    members = member_seeds(seed, preset.average)
    return list(zip(*(points_of(preset, shape, seed=each) for each in members), strict=True))


def _together(problem: TrainingProblem, members: Sequence[TrainedProbe]) -> TrainedProbe:
    """Return several probes as one, with its accuracy on validation."""
    banks = tuple(bank for each in members for bank in each.banks)
    return TrainedProbe(
        banks=banks,
        epochs=max(each.epochs for each in members),
        loss=mean(each.loss for each in members),
        converged=all(each.converged for each in members),
        validation=_accuracy(problem, banks),
    )


def _parts(points: Iterable[GridPoint], problem: TrainingProblem) -> Iterator[list[GridPoint]]:
    """Cut the points into passes of at most MOST_WEIGHTS, equal penalties side by side."""
    shape = problem.design.shape
    part: list[GridPoint] = []
    weights = 0
    for point in sorted(points, key=lambda each: (each.l2, each.dropout, each.hidden, each.seed)):
        more = (point.hidden or shape.labels) * shape.inputs
        if part and weights + more > MOST_WEIGHTS:
            yield part
            part, weights = [], 0
        part.append(point)
        weights += more
    if part:
        yield part


def _train(problem: TrainingProblem, points: Sequence[GridPoint]) -> dict[GridPoint, TrainedProbe]:
    done = train_points(
        points,
        problem.design,
        problem.preset,
        items=problem.train,
        validation=problem.validation,
    )
    return {
        point: TrainedProbe(
            banks=(each.bank,),
            epochs=each.course.epochs,
            loss=each.course.loss,
            converged=each.course.converged,
        )
        for point, each in zip(points, done, strict=True)
    }


def _solve(problem: TrainingProblem, point: GridPoint) -> TrainedProbe:
    solution = solve(point, problem.design, problem.preset, items=problem.train)
    return TrainedProbe(
        banks=(solution.bank,),
        epochs=solution.iterations,
        loss=solution.loss,
        converged=solution.gradient <= problem.preset.tolerance,
        validation=_accuracy(problem, (solution.bank,)),
        gradient=solution.gradient,
    )


def _accuracy(problem: TrainingProblem, banks: Sequence[Bank]) -> float | None:
    """Return the accuracy on validation, where there is one."""
    if (items := problem.validation) is None:
        return None
    right = predict(banks, items) == items.targets.cpu().numpy()
    return int(right.sum()) / len(items)
