"""Probes of growing complexity: without a hidden layer, and with ever wider ones."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from sentprobe.probes.encoders import Vectors
from sentprobe.probes.trainer import fit as fitting
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.presets import linear, of_widths
from sentprobe.probes.trainer.readings import Reading
from sentprobe.processes import limit_threads


def fit_widths(
    vectors: Vectors, *, preset: Preset, seeds: Sequence[int], threads: int | None, **given: Any
) -> tuple[fitting.Fit, ...]:
    """Train a probe of each width for each seed, and return the Fits of the widest.

    It is given what :func:`.fit.fit` is. What else the preset leaves open is chosen for each width.
    """
    start = time.perf_counter()
    with limit_threads(threads), torch.inference_mode():
        problem = fitting.make_problem(vectors, preset=preset, **given)
        found = [
            {**first, **more}
            for first, more in zip(
                *(_by_width(problem, each, seeds) for each in (linear(preset), of_widths(preset))),
                strict=True,
            )
        ]
    return fitting.shared_time([_joined(each) for each in found], time.perf_counter() - start)


def _by_width(
    problem: fitting.TrainingProblem, preset: Preset, seeds: Sequence[int]
) -> list[dict[int, fitting.Fit]]:
    """Return for each seed the best probe of each width; all are trained side by side."""
    problem = replace(problem, preset=preset)
    return [
        {width: fitting.choose(each).fit(problem) for width, each in _grouped(found).items()}
        for found in problem.all_probes(seeds)
    ]


def _grouped(found: Sequence[fitting.TrainedProbe]) -> dict[int, list[fitting.TrainedProbe]]:
    groups: dict[int, list[fitting.TrainedProbe]] = {}
    for each in found:
        groups.setdefault(each.banks[0].points[0].hidden, []).append(each)
    return groups


def _joined(fits: Mapping[int, fitting.Fit]) -> fitting.Fit:
    readings = (Reading(at=width, correct=each.correct) for width, each in fits.items())
    return replace([*fits.values()][-1], readings=tuple(readings))
