"""Training: the stopping rules, and reads and transfers by the host per pass."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.fit import fit
from sentprobe.probes.classifier.presets import calibrate_stopping, find_preset
from sentprobe.probes.classifier.probe import Optimizer, Precision, Preset, StopCriterion
from sentprobe.probes.classifier.training import TrainingProgress, ValidationCheck
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.encoders.kinds import make_encoder

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
def test_training_loss_rule_is_that_of_scikit_learn(values: list[float], patience: int) -> None:
    tolerance = 0.105  # not a difference of two losses, so that rounding decides nothing
    progress, _ = run_checks(replace(ETTINGER, patience=patience, tolerance=tolerance), values)
    assert progress.epochs == count_passes_of_scikit_learn(values, tolerance=tolerance, patience=patience)


@given(losses)
@examples(100)
def test_kept_weights_are_within_tolerance(values: list[float]) -> None:
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


def test_small_training_gains_do_not_add_up() -> None:
    steady = [10 - number * ETTINGER.tolerance / 2 for number in range(40)]
    assert run_checks(ETTINGER, steady)[0].epochs == 1 + ETTINGER.patience + 1


@pytest.mark.parametrize("name", ["ettinger", "adi", "conneau", "senteval"])
def test_calibrated_stopping_adds_small_gains(name: str) -> None:
    calibrated = calibrate_stopping(find_preset(name))
    steady = [1 - number * calibrated.tolerance / 10 for number in range(150)]
    assert not run_checks(calibrated, steady)[0].is_over


@given(losses, st.integers(1, 60))
@examples(60)
def test_pass_limit_only_cuts_the_end(values: list[float], limit: int) -> None:
    free, _ = run_checks(ETTINGER, values)
    limited, _ = run_checks(ETTINGER, values, limit)
    assert limited.epochs == min(free.epochs, limit)
    ended_alone = free.converged and free.epochs <= limit
    assert limited.pass_limit == (None if ended_alone or len(values) < limit else limit)


READS = ("tolist", "item", "cpu", "numpy", "__bool__", "__float__", "__int__")
"""Methods that make the host wait for the device."""


def count_calls(names: Sequence[str], patch: pytest.MonkeyPatch, seen: list[str]) -> None:
    def counted(name: str) -> Callable[..., Any]:
        plain = getattr(torch.Tensor, name)

        def call(*arguments: Any, **named: Any) -> Any:
            seen.append(name)
            return plain(*arguments, **named)

        return call

    for name in names:
        patch.setattr(torch.Tensor, name, counted(name))


def count_reads_and_moves(preset: Preset, patch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return the numbers of reads by the host and of transfers to the device in a fit."""
    data = make_learnable_dataset(size=240)
    vectors = make_encoder("bow?dim=6", seed=0).encode(data.sentences)
    reads: list[str] = []
    moves: list[str] = []
    with patch.context() as inner:
        count_calls(READS, inner, reads)
        count_calls(["to"], inner, moves)
        test = data.splits[Split.TEST]
        splits: dict[str, Any] = {"train": data.splits[Split.TRAIN], "test": test, "validation": test}
        fit(vectors, **splits, words=10, labels=2, preset=preset, seeds=[0, 1])
    return len(reads), len(moves)


@pytest.mark.parametrize("name", ["ettinger", "senteval"])
@pytest.mark.parametrize("optimizer", [Optimizer.ADAM, Optimizer.ADAGRAD])
def test_host_reads_do_not_grow_with_steps(name: str, optimizer: Optimizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU steps are launched without waiting; losses are read once per pass."""
    few = replace(find_preset(name), optimizer=optimizer, batch=120, max_epochs=3)
    many = replace(few, batch=4)
    count_reads_and_moves(few, monkeypatch)  # PyTorch reads more when it is used for the first time
    reads, _ = count_reads_and_moves(few, monkeypatch)
    assert reads > 0
    assert count_reads_and_moves(many, monkeypatch)[0] == reads


def test_items_go_to_device_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is converted or sent in a step."""
    preset = replace(find_preset("ettinger"), batch=120, max_epochs=3, precision=Precision.FLOAT32)
    moves = count_reads_and_moves(preset, monkeypatch)[1]
    more = count_reads_and_moves(replace(preset, batch=4), monkeypatch)[1]
    assert more == moves


def count_checks(preset: Preset, values: list[float]) -> int:
    """Return the number of validation checks after which training stops."""
    progress = TrainingProgress(preset)
    for count, value in enumerate(values, 1):
        progress.add_pass(1.0)
        progress.add_check(ValidationCheck(accuracy=value, loss=1 - value))
        if progress.is_over:
            return count
    raise AssertionError("does not stop")


@pytest.mark.parametrize(
    ("name", "accuracies", "checks"),
    [
        ("senteval", [0.1, 0.0, 0.2, 0.0, 0.3, 0.0, 0.4, 0.0, 0.5, 0.0, 0.6, 0.0, 0.7, 0.8], 12),  # all that are idle
        ("adi", [0.1, 0.0, 0.0, 0.0, 0.0, 0.2, 0.1, 0.1, 0.1, 0.2, 0.1], 11),  # five in a row
    ],
)
def test_preset_stops_after_idle_checks(name: str, accuracies: list[float], checks: int) -> None:
    assert count_checks(find_preset(name), accuracies) == checks
