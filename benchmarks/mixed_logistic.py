"""A mixed logistic model of the answers to one task, as a second opinion on comparisons over draws.

The logit of a right answer is the encoder's effect (fixed), plus random effects of the encoder in the draw and of the
item. The variances maximise the marginal likelihood in Laplace's approximation (Bates et al. 2015, section 3, as in
`glmer` of lme4). Draws and items are independent between tasks, so that each task has a model of its own.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, stdtr

Floats = NDArray[np.float64]
FIXED_PRECISION = 1e-6
"""The precision of an encoder's effect, which keeps it finite where all answers are right."""


@dataclass(frozen=True, slots=True)
class FittedEffects:
    """The effects of encoders and of encoders in draws, with their covariance; and the log likelihood."""

    effects: Floats
    """(encoders + draws x encoders,)"""
    covariance: Floats
    log_likelihood: float


def fit_effects(answers: Floats, log_deviations: Floats) -> FittedEffects:
    """Fit the effects by Newton's method, for given deviations of encoders in draws and of items.

    The effects of items are eliminated, as two items have no answer in common.

    - answers: (draws, encoders, items) of 0 and 1
    - log_deviations: (2,)
    """
    draws, encoders, items = answers.shape
    cell_precision, item_precision = np.exp(-2 * log_deviations)
    design = np.concatenate([np.tile(np.eye(encoders), (draws, 1)), np.eye(draws * encoders)], axis=1)
    design = design.reshape(draws, encoders, -1)
    prior = np.r_[np.full(encoders, FIXED_PRECISION), np.full(draws * encoders, cell_precision)]
    effects, item_effects = np.zeros(len(prior)), np.zeros((draws, items))
    for _ in range(50):
        probability = expit((design @ effects)[..., np.newaxis] + item_effects[:, np.newaxis])
        weights = probability * (1 - probability)
        residuals = answers - probability
        gradient = np.einsum("de,dep->p", residuals.sum(axis=2), design) - prior * effects
        item_gradient = residuals.sum(axis=1) - item_precision * item_effects
        item_curvature = weights.sum(axis=1) + item_precision
        mixed = np.einsum("dei,dep->dip", weights, design)
        curvature = np.einsum("de,dep,deq->pq", weights.sum(axis=2), design, design) + np.diag(prior)
        scaled = mixed / item_curvature[..., np.newaxis]
        reduced = curvature - np.einsum("dip,diq->pq", scaled, mixed, optimize=True)
        step = np.linalg.solve(reduced, gradient - np.einsum("dip,di->p", scaled, item_gradient))
        item_step = (item_gradient - mixed @ step) / item_curvature
        effects, item_effects = effects + step, item_effects + item_step
        if np.abs(step).max() < 1e-6:
            break
    logits = (design @ effects)[..., np.newaxis] + item_effects[:, np.newaxis]
    log_likelihood = (
        float((answers * logits - np.logaddexp(0, logits)).sum())
        - 0.5 * float((prior * effects**2).sum() + item_precision * (item_effects**2).sum())
        + 0.5 * float(np.log(prior).sum() + item_effects.size * np.log(item_precision))
        - 0.5 * float(np.linalg.slogdet(reduced)[1] + np.log(item_curvature).sum())
    )
    return FittedEffects(effects, np.linalg.inv(reduced), log_likelihood)


def compare_with_mixed_model(answers: Floats) -> Floats:
    """Return the p-value of the difference of every two encoders, (pairs,).

    The t-test has the degrees of freedom of the interaction of encoders and draws.
    """
    draws, encoders, _ = answers.shape
    best = minimize(
        lambda values: -fit_effects(answers, np.clip(values, -5, 2)).log_likelihood,
        np.array([-2.0, 0.0]),
        method="Nelder-Mead",
        options={"xatol": 0.02, "fatol": 0.01},
    )
    fitted = fit_effects(answers, np.clip(best.x, -5, 2))
    first, second = np.array([*combinations(range(encoders), 2)]).T
    covariance = fitted.covariance
    variances = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    t = (fitted.effects[first] - fitted.effects[second]) / np.sqrt(variances)
    return np.asarray(2 * stdtr((encoders - 1) * (draws - 1), -np.abs(t)), np.float64)
