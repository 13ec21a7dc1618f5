"""Probes on growing portions of the training items: a code, a learning curve, information."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from sentprobe.probes.encoders import Vectors
from sentprobe.probes.trainer import fit as fitting
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.presets import careful
from sentprobe.probes.trainer.readings import Reading, pointwise, portions_of
from sentprobe.probes.trainer.training import costs
from sentprobe.processes import limit_threads

DECIMALS = 4
"""Of the bits of an item that are kept."""


def fit_portions(
    vectors: Vectors, *, preset: Preset, seeds: Sequence[int], threads: int | None, **given: Any
) -> tuple[fitting.Fit, ...]:
    """Train a probe on each portion for each seed; return the Fits of the last, which has all.

    It is given what :func:`.fit.fit` is. Portions take the training items in their order.

    Raises:
        UsageError: there are too few items.
    """
    start = time.perf_counter()
    with limit_threads(threads), torch.inference_mode():
        problem = fitting.make_problem(vectors, preset=careful(preset), **given)
        fits = _fits(problem, seeds)
    return fitting.shared_time(fits, time.perf_counter() - start)


def _fits(problem: fitting.TrainingProblem, seeds: Sequence[int]) -> list[fitting.Fit]:
    readings: list[list[Reading]] = [[] for _ in seeds]
    probes: list[fitting.TrainedProbe] = []
    fits: list[fitting.Fit] = []
    for size, end in _portions(problem):
        probes = replace(problem, train=problem.train.part(0, size)).probes(seeds)
        fits = [each.fit(problem) for each in probes]
        for mine, probe, fit in zip(readings, probes, fits, strict=True):
            bits = _bits(probe, problem, size, end)
            mine.append(Reading(at=size, correct=fit.correct, bits=bits))
    return [
        replace(fit, readings=tuple(mine), information=_information(probe, problem))
        for fit, mine, probe in zip(fits, readings, probes, strict=True)
    ]


def _portions(problem: fitting.TrainingProblem) -> Iterator[tuple[int, int]]:
    """Yield the size of each portion, and that of the next; after the last nothing comes."""
    sizes = portions_of(len(problem.train), labels=problem.shape.labels)
    return pairwise((*sizes, sizes[-1]))


def _bits(
    probe: fitting.TrainedProbe, problem: fitting.TrainingProblem, first: int, last: int
) -> float:
    """Return what the labels from *first* to before *last* cost."""
    return sum(costs(probe.banks, problem.train.part(first, last))) if first < last else 0.0


def _information(
    probe: fitting.TrainedProbe, problem: fitting.TrainingProblem
) -> tuple[float, ...]:
    targets = problem.test.targets.tolist()
    counts = np.bincount(problem.train.targets.cpu().numpy(), minlength=problem.shape.labels)
    found = pointwise(targets, costs(probe.banks, problem.test), counts.tolist())
    return tuple(round(each, DECIMALS) for each in found)
