"""Gain of training an encoder over the same untrained encoder under the same trained head."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from sentprobe.probes.runs.encoder_training import TrainingPlan, make_model, prepare_objectives
from sentprobe.probes.training import loop
from sentprobe.probes.training.objective import PreparedObjective, Validation
from sentprobe.probes.training.schedule import Limits

ENDLESS = 10**9
"""Patience ends no training: all have the same steps, or minutes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Best validation, and the last step of a training."""

    best: Validation
    steps: int = 0
    minutes: float = 0.0
    """CPU minutes, including validations."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Validation without training, with a trained head alone, and with all weights trained."""

    untrained: Validation
    frozen: Outcome
    trained: Outcome


def compare(plan: TrainingPlan, texts: Any, *, minutes: float | None = None) -> Comparison:
    """Train an encoder and its head, and as a control a head over the same untrained encoder.

    Both use the loop of ``probe train`` and write below the plan's folder. They end after *minutes* CPU minutes,
    checked at each validation, or else after the plan's steps.
    """
    control, full_training = prepare_control(plan, texts), prepare(plan, texts)
    return Comparison(
        validated(control),
        train(control, plan, plan.out / "frozen", minutes),
        train(full_training, plan, plan.out / "trained", minutes),
    )


def prepare(plan: TrainingPlan, texts: Any) -> PreparedObjective:
    """Return the prepared objective, which is the same at each call."""
    texts_by_objective = {plan.objective: texts}
    return prepare_objectives(plan, texts_by_objective, make_model(plan, texts_by_objective))


def prepare_control(plan: TrainingPlan, texts: Any) -> PreparedObjective:
    """Return the prepared objective with a frozen encoder."""
    prepared = prepare(plan, texts)
    prepared.learner.encoder.requires_grad_(False)
    return prepared


def validated(prepared: PreparedObjective) -> Validation:
    """Return the current validation."""
    return prepared.validate(prepared.learner.eval())


def train(prepared: PreparedObjective, plan: TrainingPlan, folder: Path, minutes: float | None) -> Outcome:
    """Return the outcome of training; a learner without trainable weights is unchanged.

    ``contrastive`` over a frozen encoder is such a case, since it has no head.
    """
    if not any(weight.requires_grad for weight in prepared.learner.parameters()):
        return Outcome(validated(prepared))
    folder.mkdir(parents=True)
    store = loop.TrainingStore(folder, {}, lambda *_: None)
    start = time.process_time()
    for limits in _stages(plan.settings, minutes):
        state = loop.train(prepared, replace(plan.settings, limits=limits), store)
        used = (time.process_time() - start) / 60
        if minutes is None or used >= minutes:
            break
    assert state.best is not None
    return Outcome(state.best.validation, state.step, used)


def _stages(settings: loop.TrainingSettings, minutes: float | None) -> Iterator[Limits]:
    """Yield step limits at which the elapsed time is checked."""
    if minutes is None:
        yield replace(settings.limits, patience=ENDLESS)
        return
    every = settings.validate_every.steps
    yield from (Limits(steps=steps, patience=ENDLESS) for steps in count(every, every))
