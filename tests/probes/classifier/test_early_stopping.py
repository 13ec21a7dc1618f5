"""The stopping rule: scikit-learn's on training loss, and one that adds small gains up on validation."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.presets import calibrate_stopping, find_preset
from sentprobe.probes.classifier.probe import Preset, StopCriterion
from sentprobe.probes.classifier.training import TrainingProgress, ValidationCheck

ETTINGER = replace(find_preset("ettinger"), patience=3, tolerance=0.1)
ON_VALIDATION = replace(ETTINGER, stop=StopCriterion.VALIDATION_LOSS)

losses = st.lists(st.integers(0, 100).map(lambda hundredths: hundredths / 100), min_size=1, max_size=60)


def run_checks(
    preset: Preset, values: Sequence[float], max_epochs: int | None = None
) -> tuple[TrainingProgress, list[int]]:
    """Return the progress over these losses, and the numbers of the checks that were better."""
    progress, better = TrainingProgress(preset, max_epochs), list[int]()
    for number, value in enumerate(values):
        progress.add_pass(value)
        if progress.add_check(ValidationCheck(accuracy=0.5, loss=value)):
            better.append(number)
        if progress.is_over:
            break
    return progress, better


def count_passes_of_scikit_learn(values: Sequence[float], *, tolerance: float, patience: int) -> int:
    """Return the passes by ``BaseMultilayerPerceptron._update_no_improvement_count``."""
    best, idle = float("inf"), 0
    for number, value in enumerate(values, 1):
        idle = idle + 1 if value > best - tolerance else 0
        best = min(best, value)
        if idle > patience:
            return number
    return len(values)


@given(losses, st.integers(0, 5))
@examples(100)
def test_on_training_loss_the_rule_is_that_of_scikit_learn(values: list[float], patience: int) -> None:
    tolerance = 0.105  # not a difference of two losses, so that rounding decides nothing
    progress, _ = run_checks(replace(ETTINGER, patience=patience, tolerance=tolerance), values)
    assert progress.epochs == count_passes_of_scikit_learn(values, tolerance=tolerance, patience=patience)


@given(losses)
@examples(100)
def test_kept_weights_are_within_the_tolerance_of_the_best(values: list[float]) -> None:
    progress, better = run_checks(replace(ON_VALIDATION, patience=100), values)
    assert better[0] == 0
    assert values[better[-1]] <= min(values[: progress.epochs]) + ON_VALIDATION.tolerance + 1e-9


@given(st.integers(1, 3), st.integers(5, 40))
@examples(30)
def test_small_gains_add_up_on_validation(parts: int, count: int) -> None:
    """Each gain is a part of the tolerance, and patience is longer than the number of parts."""
    steady = [10 - number * 1.01 * ON_VALIDATION.tolerance / parts for number in range(count)]
    assert not run_checks(ON_VALIDATION, steady)[0].is_over
    assert run_checks(ON_VALIDATION, steady)[1] == list(range(0, count, parts))


def test_small_gains_do_not_add_up_on_training_loss() -> None:
    steady = [10 - number * ETTINGER.tolerance / 2 for number in range(40)]
    assert run_checks(ETTINGER, steady)[0].epochs == 1 + ETTINGER.patience + 1


@pytest.mark.parametrize("name", ["ettinger", "adi", "conneau", "senteval"])
def test_calibrated_stopping_adds_small_gains_up(name: str) -> None:
    calibrated = calibrate_stopping(find_preset(name))
    steady = [1 - number * calibrated.tolerance / 10 for number in range(150)]
    assert not run_checks(calibrated, steady)[0].is_over


@given(losses, st.integers(1, 60))
@examples(60)
def test_a_limit_of_passes_only_cuts_the_end(values: list[float], limit: int) -> None:
    free, _ = run_checks(ETTINGER, values)
    limited, _ = run_checks(ETTINGER, values, limit)
    assert limited.epochs == min(free.epochs, limit)
    ended_alone = free.converged and free.epochs <= limit
    assert limited.pass_limit == (None if ended_alone or len(values) < limit else limit)
