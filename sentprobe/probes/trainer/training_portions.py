"""Several probes of a seed: on growing portions of the training items, or of increasing hidden width."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.trainer import fit as fitting
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.codelength import CurvePoint, compute_pointwise_information, compute_portion_sizes
from sentprobe.probes.trainer.presets import calibrate_stopping, reduce_batch, remove_hidden_layer, set_hidden_widths
from sentprobe.probes.trainer.training import compute_label_costs
from sentprobe.processes import limit_threads
from sentprobe.values import group_by

INFORMATION_DECIMALS = 4


def fit_portions(
    vectors: Vectors, *, preset: Preset, seeds: Sequence[int], threads: int | None, **arguments: Any
) -> tuple[fitting.Fit, ...]:
    """Train a probe on each portion for each seed; return the Fits of the last. See :func:`.fit.fit`."""
    start = time.perf_counter()
    with limit_threads(threads), torch.inference_mode():
        problem = fitting.prepare_problem(vectors, preset=calibrate_stopping(preset), **arguments)
        fits = _fit_portions(problem, seeds)
    return fitting.share_time(fits, time.perf_counter() - start)


def _fit_portions(problem: fitting.TrainingProblem, seeds: Sequence[int]) -> list[fitting.Fit]:
    readings: list[list[CurvePoint]] = [[] for _ in seeds]
    probes: list[fitting.TrainedProbe] = []
    fits: list[fitting.Fit] = []
    sizes = compute_portion_sizes(len(problem.train), labels=problem.shape.labels)
    for size, end in pairwise((*sizes, sizes[-1])):
        portion = replace(
            problem, preset=reduce_batch(problem.preset, items=size), train=problem.train.select_range(0, size)
        )
        probes = portion.train_probes(seeds)
        fits = [probe.predict_test(problem) for probe in probes]
        for seed_readings, probe, fit in zip(readings, probes, fits, strict=True):
            next_portion = problem.train.select_range(size, end)
            bits = sum(compute_label_costs(probe.banks, next_portion)) if size < end else 0.0
            seed_readings.append(CurvePoint(at=size, correct=fit.correct, bits=bits))
    return [
        replace(fit, readings=tuple(seed_readings), information=_compute_information(probe, problem))
        for fit, seed_readings, probe in zip(fits, readings, probes, strict=True)
    ]


def _compute_information(probe: fitting.TrainedProbe, problem: fitting.TrainingProblem) -> tuple[float, ...]:
    counts = np.bincount(problem.train.targets.cpu().numpy(), minlength=problem.shape.labels)
    costs = compute_label_costs(probe.banks, problem.test)
    information = compute_pointwise_information(problem.test.targets.tolist(), costs, counts.tolist())
    return tuple(round(bits, INFORMATION_DECIMALS) for bits in information)


def fit_widths(
    vectors: Vectors, *, preset: Preset, seeds: Sequence[int], threads: int | None, **arguments: Any
) -> tuple[fitting.Fit, ...]:
    """Train a probe of each width for each seed; return the Fits of the widest. See :func:`.fit.fit`."""
    start = time.perf_counter()
    with limit_threads(threads), torch.inference_mode():
        problem = fitting.prepare_problem(vectors, preset=preset, **arguments)
        variants = (remove_hidden_layer(preset), set_hidden_widths(preset))
        fits_by_variant = [_fit_each_width(problem, variant, seeds) for variant in variants]
        fits = []
        for linear, hidden in zip(*fits_by_variant, strict=True):
            points = (CurvePoint(at=width, correct=fit.correct) for width, fit in (linear | hidden).items())
            fits.append(replace([*hidden.values()][-1], readings=tuple(points)))
    return fitting.share_time(fits, time.perf_counter() - start)


def _fit_each_width(
    problem: fitting.TrainingProblem, preset: Preset, seeds: Sequence[int]
) -> list[dict[int, fitting.Fit]]:
    """Return for each seed the best probe of each width; all are trained side by side."""
    problem = replace(problem, preset=preset)
    fits: list[dict[int, fitting.Fit]] = []
    for candidates in problem.train_grids(seeds):
        groups = group_by(candidates, lambda probe: probe.banks[0].points[0].hidden)
        fits.append({width: fitting.choose_best(group).predict_test(problem) for width, group in groups.items()})
    return fits
