"""Train probes on sentence vectors: on all training items, on growing portions, or with several hidden widths."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.common.processes import limit_threads
from sentprobe.common.values import group_by
from sentprobe.probes.classifier.devices import choose_precision
from sentprobe.probes.classifier.logreg import solve_logreg
from sentprobe.probes.classifier.presets import (
    BankShape,
    GridPoint,
    calibrate_stopping,
    list_grid_points,
    reduce_batch,
    remove_hidden_layer,
    set_hidden_widths,
)
from sentprobe.probes.classifier.probe import (
    CurvePoint,
    Optimizer,
    Precision,
    Preset,
    Scaling,
    StopCriterion,
    compute_pointwise_information,
    compute_portion_sizes,
)
from sentprobe.probes.classifier.probe_bank import Bank, BankDesign, scale_to_tensor
from sentprobe.probes.classifier.training import (
    PreparedItems,
    compute_label_costs,
    predict,
    prepare_items,
    train_points,
)
from sentprobe.probes.datasets.dataset import Indices, Items
from sentprobe.probes.encoders.encoder import Vectors

MAX_WEIGHTS = 2**25
"""Maximum number of first-layer weights of probes that are trained together; more would save no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The test predictions and training statistics of a probe, of the best probe of a grid, or of averaged probes."""

    predictions: Indices
    correct: int
    total: int
    epochs: int
    """Number of passes over the training items (L-BFGS: iterations); for averaged probes, the maximum."""
    loss: float
    converged: bool
    """Whether training ended before the preset's maximum number of passes; for averaged probes, whether all did."""
    pass_limit: int | None = None
    """The seed's value in ``pass_limits`` of :func:`fit`, if this limit ended training; else None."""
    seconds: float
    grid_values: Mapping[str, float] = field(default_factory=dict)
    """The chosen value of each preset field that has several values, such as ``{"hidden": 50}``."""
    validation: float | None = None
    """Validation accuracy; None without validation items."""
    precision: Precision = Precision.FLOAT32
    gradient: float | None = None
    """Largest absolute component of the gradient at the end of training (L-BFGS only)."""
    right: NDArray[np.bool_]
    """Whether each test item was predicted correctly, (n,)."""
    readings: tuple[CurvePoint, ...] = ()
    """A curve with a point per probe, if a method trains several per seed; the other fields describe the last probe."""
    information: tuple[float, ...] = ()
    """Pointwise V-information of each test item in bits; empty if the method does not compute it."""

    @property
    def accuracy(self) -> float:
        """Share of test items that are predicted correctly, from 0 to 1."""
        return self.correct / self.total


def fit(
    vectors: Vectors,
    *,
    preset: Preset,
    seeds: Sequence[int],
    threads: int | None = 1,
    pass_limits: Mapping[int, int] | None = None,
    method: "Callable[[TrainingProblem, Sequence[int]], list[Fit]] | None" = None,
    further_tests: Iterable[tuple[Vectors, Items]] = (),
    **arguments: Any,
) -> tuple[Fit, ...]:
    """Train a probe for each seed and predict the test items; return a Fit for each seed, in order.

    - threads: number of threads that PyTorch uses in training; None: unchanged
    - pass_limits: by seed, a maximum number of passes, if it is to be lower than the preset's; L-BFGS ignores it
    - method: a function that trains several probes for each seed, such as one for each hidden width; None: one probe
    - further_tests: for each further test set, the pair (sentence vectors, test items). A test set adds one Fit for
      each seed. Its sentence vectors also include those of the training sentences, in the same rows as in *vectors*,
      because the scaling depends on them. Further test sets are ignored if *method* is given
    - arguments: further arguments of :func:`prepare_problem`

    The probes of all seeds and grid points are trained together, on the same batches. A seed decides initial weights
    and dropout. A probe's result depends on its own seed; the other seeds affect rounding only. If the preset averages
    several probes for each seed, :func:`derive_member_seeds` gives their seeds. Random numbers are drawn on the CPU, so
    that results on other devices differ by rounding only. Raises UsageError if validation items are needed but missing,
    or bfloat16 is not available, and SentprobeError if training diverged.
    """
    start = time.perf_counter()
    with limit_threads(threads), torch.inference_mode():
        problem = prepare_problem(vectors, preset=preset, **arguments)
        if method is None:
            probes = problem.train_probes(seeds, pass_limits or {})
            fits = [probe.predict_test(problem) for probe in probes]
            # The probes are trained once: only the test items and their vectors differ.
            for test_vectors, test in further_tests:
                tested = prepare_problem(test_vectors, preset=preset, **{**arguments, "test": test})
                fits += [probe.predict_test(tested) for probe in probes]
        else:
            fits = method(problem, seeds)
    seconds = time.perf_counter() - start
    return tuple(replace(result, seconds=seconds / len(fits)) for result in fits)


def prepare_problem(
    vectors: Vectors,
    *,
    train: Items,
    test: Items,
    validation: Items | None = None,
    words: int,
    labels: int,
    preset: Preset,
    device: str = "cpu",
    word_vectors: Vectors | None = None,
) -> "TrainingProblem":
    """Scale the vectors, and copy vectors and items to the device. Training items alone determine the scaling.

    - vectors: the vector of each distinct sentence, (sentences, dim) float32
    - word_vectors: the vector of each probe word, (words, word_dim) float32; None: one-hot vectors. A probe reads the
      sentence vector and the vectors of the item's probe words (Adi et al. 2017, section 3)
    - words, labels: how many probe words there are, and how many labels
    """
    if preset.needs_validation and validation is None:
        raise UsageError(f"preset {preset.name} needs validation items, and there are none")
    if word_vectors is not None and len(word_vectors) != words:
        raise UsageError(f"{len(word_vectors)} word vectors for {words} probe words")
    torch_device = torch.device(device)
    # With CHOSEN, both scalings stand side by side; each grid point reads its half (logreg._find_columns).
    width = vectors.shape[1] * (2 if preset.scaling is Scaling.CHOSEN else 1)
    shape = BankShape(
        dim=width,
        slots=train.slots,
        words=words,
        labels=labels,
        word_dim=0 if word_vectors is None or not train.slots else word_vectors.shape[1],
    )
    # Sentence vectors are used in matrix products only, so they are rounded to the products' precision once.
    is_lbfgs = preset.optimizer is Optimizer.LBFGS
    precision = Precision.FLOAT32 if is_lbfgs else choose_precision(preset.precision, device=torch_device)
    dtype = torch.bfloat16 if precision is Precision.BFLOAT16 else torch.float32
    scale = partial(scale_to_tensor, device=torch_device)
    scalings = (Scaling.UNIT, Scaling.WHITEN) if preset.scaling is Scaling.CHOSEN else (preset.scaling,)
    tables = [scale(vectors, train.rows, scaling=scaling, dtype=dtype) for scaling in scalings]
    table = torch.cat(tables, dim=1) if len(tables) > 1 else tables[0]
    lexicon = None
    if word_vectors is not None and shape.word_dim:
        lexicon = scale(word_vectors, train.probes.ravel(), scaling=scalings[0])
    prepare_part = partial(prepare_items, table, shape=shape, lexicon=lexicon)
    return TrainingProblem(
        shape=shape,
        preset=preset,
        train=prepare_part(train),
        validation=None if validation is None else prepare_part(validation),
        test=prepare_part(test),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingProblem:
    """A classifier preset, and the items on which probes are trained, validated and tested, on the device."""

    shape: BankShape
    preset: Preset
    train: PreparedItems
    validation: PreparedItems | None
    test: PreparedItems

    @property
    def design(self) -> BankDesign:
        """The settings that all probes share."""
        return BankDesign(
            shape=self.shape,
            activation=self.preset.activation,
            masking=self.preset.masking,
            precision=Precision.BFLOAT16 if self.train.table.dtype is torch.bfloat16 else Precision.FLOAT32,
        )

    def train_probes(self, seeds: Sequence[int], pass_limits: Mapping[int, int]) -> "list[TrainedProbe]":
        """Train the probes of all seeds together; return the best probe of each seed's grid."""
        return [choose_best(candidates) for candidates in self.train_grids(seeds, pass_limits)]

    def train_grids(self, seeds: Sequence[int], pass_limits: Mapping[int, int]) -> "list[list[TrainedProbe]]":
        """Train the probes of all seeds and grid points together; return, for each seed, the probes of its grid."""
        # A grid has a tuple for each combination of settings: the points, with different seeds, that are averaged.
        grids: list[list[tuple[GridPoint, ...]]] = []
        for seed in seeds:
            points_by_member = [
                list_grid_points(self.preset, self.shape, seed=member_seed, max_epochs=pass_limits.get(seed))
                for member_seed in derive_member_seeds(seed, self.preset.average)
            ]
            grids.append([*zip(*points_by_member, strict=True)])
        if self.preset.optimizer is Optimizer.LBFGS:
            # L-BFGS uses no random numbers, so all seeds have the same result.
            return [[_fit_logreg(self, point) for (point,) in grids[0]]] * len(grids) if grids else []
        trained: dict[GridPoint, TrainedProbe] = {}
        for point_group in _split_points({p for grid in grids for members in grid for p in members}, self):
            train, validation = self.train, self.validation
            trained_banks = train_points(point_group, self.design, self.preset, items=train, validation=validation)
            trained |= {
                point: TrainedProbe(
                    banks=(bank,),
                    epochs=progress.epochs,
                    loss=progress.loss,
                    converged=progress.converged or progress.pass_limit is not None,
                    pass_limit=progress.pass_limit,
                )
                for point, (bank, progress) in zip(point_group, trained_banks, strict=True)
            }
        return [[_average_probes(self, [trained[point] for point in members]) for members in grid] for grid in grids]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedProbe:
    """A trained probe, or several probes whose probabilities are averaged. Each bank has the weights of one probe."""

    banks: tuple[Bank, ...]
    epochs: int
    loss: float
    converged: bool
    pass_limit: int | None = None
    validation: float | None = None
    validation_bits: float | None = None
    """Mean cost of a validation label in bits, if this cost decides among the grid points of L-BFGS; else None."""
    gradient: float | None = None

    def predict_test(self, problem: TrainingProblem) -> Fit:
        predicted = predict(self.banks, problem.test)
        is_correct = predicted == problem.test.targets.cpu().numpy()
        return Fit(
            predictions=predicted,
            correct=int(is_correct.sum()),
            total=len(is_correct),
            epochs=self.epochs,
            loss=self.loss,
            converged=self.converged,
            pass_limit=self.pass_limit,
            seconds=0.0,
            grid_values=self.banks[0].points[0].select_grid_values(problem.preset),
            validation=self.validation,
            precision=self.banks[0].design.precision,
            gradient=self.gradient,
            right=is_correct,
        )


def choose_best(candidates: Sequence[TrainedProbe]) -> TrainedProbe:
    """Return the best probe: smallest ``validation_bits`` or, if any probe lacks these, highest validation accuracy."""
    if all(candidate.validation_bits is not None for candidate in candidates):
        return min(candidates, key=lambda candidate: candidate.validation_bits or 0.0)
    return max(candidates, key=lambda candidate: candidate.validation or 0.0)


def derive_member_seeds(seed: int, count: int) -> tuple[int, ...]:
    """Return the seeds of *count* probes that are averaged: *seed*, and further seeds derived from it."""
    random_numbers = np.random.SeedSequence(seed).generate_state(count - 1, np.uint64)
    return (seed, *(int(number) >> 1 for number in random_numbers))


def _average_probes(problem: TrainingProblem, members: Sequence[TrainedProbe]) -> TrainedProbe:
    banks = tuple(bank for probe in members for bank in probe.banks)
    return TrainedProbe(
        banks=banks,
        epochs=max(probe.epochs for probe in members),
        loss=mean(probe.loss for probe in members),
        converged=all(probe.converged for probe in members),
        pass_limit=next((probe.pass_limit for probe in members if probe.pass_limit), None),
        validation=_compute_validation_accuracy(problem, banks),
    )


def _split_points(points: Iterable[GridPoint], problem: TrainingProblem) -> Iterator[list[GridPoint]]:
    """Sort grid points by penalty, and yield groups to train together; MAX_WEIGHTS limits a group's size."""
    shape = problem.design.shape
    point_group: list[GridPoint] = []
    weights = 0
    # Adjacent probes of one penalty are updated in one block (BankUpdater).
    for point in sorted(points, key=lambda point: (point.l2, point.dropout, point.hidden, point.seed)):
        point_weights = (point.hidden or shape.labels) * shape.inputs
        if point_group and weights + point_weights > MAX_WEIGHTS:
            yield point_group
            point_group, weights = [], 0
        point_group.append(point)
        weights += point_weights
    if point_group:
        yield point_group


def _fit_logreg(problem: TrainingProblem, point: GridPoint) -> TrainedProbe:
    solution = solve_logreg(point, problem.design, problem.preset, items=problem.train)
    items = problem.validation if problem.preset.stop is StopCriterion.VALIDATION_LOSS else None
    return TrainedProbe(
        banks=(solution.bank,),
        epochs=solution.iterations,
        loss=solution.loss,
        converged=solution.gradient <= problem.preset.tolerance,
        validation=_compute_validation_accuracy(problem, (solution.bank,)),
        validation_bits=None if items is None else sum(compute_label_costs((solution.bank,), items)) / len(items),
        gradient=solution.gradient,
    )


def _compute_validation_accuracy(problem: TrainingProblem, banks: Sequence[Bank]) -> float | None:
    if (items := problem.validation) is None:
        return None
    is_correct = predict(banks, items) == items.targets.cpu().numpy()
    return int(is_correct.sum()) / len(items)


INFORMATION_DECIMALS = 4


def fit_portions(vectors: Vectors, *, preset: Preset, **arguments: Any) -> tuple[Fit, ...]:
    """Train a probe per seed and portion of the items, as by :func:`fit`; a seed's Fit has a reading per portion."""
    return fit(vectors, preset=calibrate_stopping(preset), method=_fit_portions, **arguments)


def _fit_portions(problem: TrainingProblem, seeds: Sequence[int]) -> list[Fit]:
    readings: list[list[CurvePoint]] = [[] for _ in seeds]
    probes: list[TrainedProbe] = []
    fits: list[Fit] = []
    sizes = compute_portion_sizes(len(problem.train), labels=problem.shape.labels)
    # The last pair is (n, n): no further labels are transmitted with the probe trained on all n items.
    for size, end in pairwise((*sizes, sizes[-1])):
        portion = replace(
            problem, preset=reduce_batch(problem.preset, items=size), train=problem.train.select_range(0, size)
        )
        probes = portion.train_probes(seeds, {})
        fits = [probe.predict_test(problem) for probe in probes]
        for seed_readings, probe, result in zip(readings, probes, fits, strict=True):
            next_portion = problem.train.select_range(size, end)
            # Online coding: the next portion's labels cost what this portion's probe expects (Voita & Titov 2020).
            bits = sum(compute_label_costs(probe.banks, next_portion)) if size < end else 0.0
            seed_readings.append(CurvePoint(at=size, correct=result.correct, bits=bits))
    label_counts = np.bincount(problem.train.targets.cpu().numpy(), minlength=problem.shape.labels).tolist()
    complete_fits = []
    for result, seed_readings, probe in zip(fits, readings, probes, strict=True):
        costs = compute_label_costs(probe.banks, problem.test)
        information = compute_pointwise_information(problem.test.targets.tolist(), costs, label_counts)
        rounded = tuple(round(bits, INFORMATION_DECIMALS) for bits in information)
        complete_fits.append(replace(result, readings=tuple(seed_readings), information=rounded))
    return complete_fits


def fit_widths(vectors: Vectors, **arguments: Any) -> tuple[Fit, ...]:
    """Train a probe per seed and hidden width (0: none), as by :func:`fit`; the widest Fit has a reading per width."""
    return fit(vectors, method=_fit_widths, **arguments)


def _fit_widths(problem: TrainingProblem, seeds: Sequence[int]) -> list[Fit]:
    fits_by_seed: list[dict[int, Fit]] = [{} for _ in seeds]  # for each seed: the fit of the best probe of each width
    for preset in (remove_hidden_layer(problem.preset), set_hidden_widths(problem.preset)):
        variant = replace(problem, preset=preset)
        for seed_fits, candidates in zip(fits_by_seed, variant.train_grids(seeds, {}), strict=True):
            for width, group in group_by(candidates, lambda probe: probe.banks[0].points[0].hidden).items():
                seed_fits[width] = choose_best(group).predict_test(variant)
    widest_fits = []
    for seed_fits in fits_by_seed:
        points = tuple(CurvePoint(at=width, correct=result.correct) for width, result in seed_fits.items())
        widest_fits.append(replace([*seed_fits.values()][-1], readings=points))
    return widest_fits
