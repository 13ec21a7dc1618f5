"""What training an encoder is worth: the same encoder as drawn, under the same head, beside it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from sentprobe.probes.pretraining import loop, objectives
from sentprobe.probes.pretraining.objective import Prepared, Validation
from sentprobe.probes.pretraining.schedule import Limits
from sentprobe.probes.runs.training import make_model
from sentprobe.probes.runs.training_plan import TrainingPlan

ENDLESS = 10**9
"""No training ends for want of patience: all have the same steps, or minutes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The best that was found on what was held out, and after how many steps training ended."""

    best: Validation
    steps: int = 0
    minutes: float = 0.0
    """Of the processor, those of validations counted."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """An objective's figure without training, with a trained head alone, and with all trained."""

    untrained: Validation
    frozen: Outcome
    trained: Outcome


def compare(plan: TrainingPlan, texts: Any, *, minutes: float | None = None) -> Comparison:
    """Train an encoder and its head, and beside it a head over the same encoder as it was drawn.

    Both go by the loop of ``probe train``: for so many minutes of the processor, counted as often
    as the plan validates, or else for the plan's steps. They write below its folder.
    """
    control, whole = prepare_control(plan, texts), prepare(plan, texts)
    return Comparison(
        validated(control),
        train(control, plan, plan.out / "frozen", minutes),
        train(whole, plan, plan.out / "trained", minutes),
    )


def prepare(plan: TrainingPlan, texts: Any) -> Prepared:
    """Return what learns: the same at each call."""
    return objectives.prepare(plan.kind, texts, make_model(plan, texts), plan.options)


def prepare_control(plan: TrainingPlan, texts: Any) -> Prepared:
    """Return the same, of which the encoder does not learn."""
    made = prepare(plan, texts)
    made.learner.encoder.requires_grad_(False)
    return made


def validated(made: Prepared) -> Validation:
    """Return the figure as things stand."""
    return made.validate(made.learner.eval())


def train(made: Prepared, plan: TrainingPlan, folder: Path, minutes: float | None) -> Outcome:
    """Return what training came to; a learner of which nothing learns stays as it is.

    So it is with ``contrastive`` over a frozen encoder: there is no head.
    """
    if not any(weight.requires_grad for weight in made.learner.parameters()):
        return Outcome(validated(made))
    folder.mkdir(parents=True)
    store = loop.TrainingStore(folder, {}, lambda *_: None)
    start = time.process_time()
    for limits in _stages(plan.settings, minutes):
        state = loop.train(made, replace(plan.settings, limits=limits), store)
        used = (time.process_time() - start) / 60
        if minutes is None or used >= minutes:
            break
    assert state.best is not None
    return Outcome(state.best.validation, state.step, used)


def _stages(settings: loop.TrainingSettings, minutes: float | None) -> Iterator[Limits]:
    """Yield how far training goes before the time is looked at, again and again."""
    if minutes is None:
        yield replace(settings.limits, patience=ENDLESS)
        return
    every = settings.validate_every.steps
    yield from (Limits(steps=steps, patience=ENDLESS) for steps in count(every, every))
