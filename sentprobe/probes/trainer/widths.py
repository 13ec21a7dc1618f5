"""Probes of increasing complexity: no hidden layer, then increasing hidden widths."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from sentprobe.probes.encoders import Vectors
from sentprobe.probes.trainer import fit as fitting
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.codelength import CurvePoint
from sentprobe.probes.trainer.presets import remove_hidden_layer, set_hidden_widths
from sentprobe.processes import limit_threads


def fit_widths(
    vectors: Vectors, *, preset: Preset, seeds: Sequence[int], threads: int | None, **arguments: Any
) -> tuple[fitting.Fit, ...]:
    """Train a probe of each width for each seed; return the Fits of the widest.

    Other arguments are those of :func:`.fit.fit`. The rest of the preset's grid is searched for each width.
    """
    start = time.perf_counter()
    with limit_threads(threads), torch.inference_mode():
        problem = fitting.prepare_problem(vectors, preset=preset, **arguments)
        variants = (remove_hidden_layer(preset), set_hidden_widths(preset))
        fits_by_variant = [_fit_each_width(problem, variant, seeds) for variant in variants]
        fits = [_join_fits(linear | hidden) for linear, hidden in zip(*fits_by_variant, strict=True)]
    return fitting.share_time(fits, time.perf_counter() - start)


def _fit_each_width(
    problem: fitting.TrainingProblem, preset: Preset, seeds: Sequence[int]
) -> list[dict[int, fitting.Fit]]:
    """Return for each seed the best probe of each width; all are trained side by side."""
    problem = replace(problem, preset=preset)
    fits: list[dict[int, fitting.Fit]] = []
    for candidates in problem.train_grids(seeds):
        groups: dict[int, list[fitting.TrainedProbe]] = {}
        for probe in candidates:
            groups.setdefault(probe.banks[0].points[0].hidden, []).append(probe)
        fits.append({width: fitting.choose_best(group).predict_test(problem) for width, group in groups.items()})
    return fits


def _join_fits(fits: Mapping[int, fitting.Fit]) -> fitting.Fit:
    readings = (CurvePoint(at=width, correct=fit.correct) for width, fit in fits.items())
    return replace([*fits.values()][-1], readings=tuple(readings))
