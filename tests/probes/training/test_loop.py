"""The training loop resumes with identical results and reports errors."""

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers.processes import ENVIRONMENT
from helpers.trainings import killed_trainings
from helpers.trainings.small_trainings import SETTINGS, STEPS, SmallTraining, no_better, prepare, same, until

from sentprobe.common.errors import UsageError
from sentprobe.probes.training import checkpoint, devices_and_precision, loop, schedule
from sentprobe.probes.training.objective import Batch
from sentprobe.probes.training.schedule import ADAGRAD, ADAM, SGD, Limits, OptimizerSettings, StepInterval

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")


@pytest.mark.parametrize("optimizer", [ADAM, SGD, ADAGRAD], ids=lambda settings: settings.kind.value)
def test_interrupted_training_resumes_exactly(tmp_path: Path, optimizer: OptimizerSettings) -> None:
    uninterrupted = SmallTraining(tmp_path / "whole", until(12, optimizer))
    uninterrupted.run()
    stops = {3, STEPS, 9}  # in the middle of an epoch, and where one ends
    settings = replace(until(12, optimizer), probe_every=StepInterval(1))
    while True:
        part = SmallTraining(tmp_path / "part", settings)
        try:
            state = part.run(lambda point: interrupt(point, stops))
            break
        except KeyboardInterrupt:
            continue
    assert not stops
    assert state.step == 12
    assert same(part.weights, uninterrupted.weights)
    assert state.best == uninterrupted.run().best


def interrupt(point: loop.ProbingPoint, stops: set[int]) -> None:
    if point.step in stops:
        stops.remove(point.step)
        raise KeyboardInterrupt


def test_limits_bound_the_steps(tmp_path: Path) -> None:
    training = SmallTraining(tmp_path / "enc", until(12))
    first = SmallTraining(tmp_path / "enc", until(3))
    assert first.run().step == 3
    assert training.run().step == 12
    epochs = SmallTraining(tmp_path / "epochs", replace(SETTINGS, limits=Limits(epochs=2)))
    assert epochs.run().step == 2 * STEPS
    minutes = replace(SETTINGS, limits=Limits(minutes=1e-9))
    assert SmallTraining(tmp_path / "minutes", minutes).run().step == 1


def test_ended_training_does_nothing(tmp_path: Path) -> None:
    first = SmallTraining(tmp_path / "enc")
    state = first.run()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = SmallTraining(tmp_path / "enc")
    assert again.run() == state
    assert again.best == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_training_ends_without_improvement(tmp_path: Path) -> None:
    limits = Limits(patience=2)
    training = SmallTraining(tmp_path / "enc", replace(SETTINGS, limits=limits), prepared=prepare(validate=no_better))
    state = training.run()
    assert (state.step, state.waited, training.best) == (12, 2, [4])
    assert state.find_end_reason(limits) == "no better accuracy in 2 validations"


def test_best_is_written_and_last_kept(tmp_path: Path) -> None:
    training = SmallTraining(tmp_path / "enc", until(16))
    state = training.run()
    assert state.best is not None
    assert training.best[-1] == state.best.step
    other_prepared = prepare()
    optimizer = schedule.make_optimizer(ADAM, other_prepared.learner)
    stored = checkpoint.read_state(tmp_path / "enc")
    assert stored is not None
    checkpoint.load_weights(tmp_path / "enc", stored, other_prepared.learner, optimizer)
    assert same(other_prepared.learner.state_dict(), training.weights)


def test_probing_changes_nothing(tmp_path: Path) -> None:
    def look(point: loop.ProbingPoint) -> None:
        torch.rand(random.randrange(9))
        point.model.eval()

    alone = SmallTraining(tmp_path / "alone")
    alone.run()
    seen = SmallTraining(tmp_path / "seen", replace(SETTINGS, probe_every=StepInterval(5)))
    seen.run(look)
    assert seen.points == [0, 5, 10, 12]
    assert same(seen.weights, alone.weights)
    epochs = SmallTraining(tmp_path / "epochs", replace(until(STEPS), probe_every=StepInterval()))
    epochs.run()
    assert epochs.points == [0, STEPS]


def test_interrupted_last_probing_is_repeated(tmp_path: Path) -> None:
    """The last step validates, before probing and saving."""
    for every, points in ((5, [0, 5, 10, 12]), (4, [0, 4, 8, 12])):
        stops = {12}
        settings = replace(SETTINGS, probe_every=StepInterval(every))
        training = SmallTraining(tmp_path / str(every), settings)
        with pytest.raises(KeyboardInterrupt):
            training.run(lambda point, stops=stops: interrupt(point, stops))  # type: ignore[misc]
        again = SmallTraining(tmp_path / str(every), settings)
        assert again.run().step == 12
        assert sorted({*training.points, *again.points}) == points
        assert again.points[-1] == 12


def test_ended_training_is_probed_at_end(tmp_path: Path) -> None:
    first = SmallTraining(tmp_path / "enc")
    state = first.run()
    again = SmallTraining(tmp_path / "enc", replace(SETTINGS, probe_every=StepInterval()))
    seen: list[bool] = []
    assert again.run(lambda _: seen.append(same(again.weights, first.weights))) == state
    assert (again.points, seen, again.best) == ([12], [True], [])


def test_training_keeps_global_random_state(tmp_path: Path) -> None:
    training = SmallTraining(tmp_path / "enc", until(2))
    before = torch.get_rng_state()
    training.run()
    assert torch.equal(torch.get_rng_state(), before)


def test_frozen_word_vectors_stay(tmp_path: Path) -> None:
    training = SmallTraining(tmp_path / "enc")
    model = training.prepared.learner.encoder
    model.words.weight.requires_grad_(False)
    before = training.weights
    training.run()
    moved = {name for name, tensor in training.weights.items() if not torch.equal(tensor, before[name])}
    assert moved == before.keys() - {"encoder.words.weight"}


@pytest.mark.parametrize("bad", [0, 2])
def test_infinite_loss_keeps_best_model(tmp_path: Path, bad: int) -> None:
    settings = replace(SETTINGS, checkpoint_seconds=300, validate_every=StepInterval(2))
    training = SmallTraining(tmp_path / "enc", settings, prepared=prepare(bad=bad))
    with pytest.raises(loop.DivergedError) as caught:
        training.run()
    folder = tmp_path / "enc"
    good = "the best model, perplexity" if bad else "no model, since nothing was validated yet"
    assert f"the loss (nan) is not finite at step {bad + 1}: " in str(caught.value)
    assert good in str(caught.value)
    assert training.best == ([2] if bad else [])
    stored = checkpoint.read_state(folder)
    assert (stored and stored.state.step) == (2 if bad else None)


def test_other_training_is_not_resumed(tmp_path: Path) -> None:
    SmallTraining(tmp_path / "enc", until(2)).run()
    other_training = SmallTraining(tmp_path / "enc", until(4), identity={"seed": 8})
    with pytest.raises(checkpoint.OtherTrainingError, match="has seed 7, not 8; choose another"):
        other_training.run()


def test_missing_device_is_refused(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    machine = devices_and_precision.TrainingMachine(device="cuda")
    with pytest.raises(UsageError, match="--device cuda: "):
        SmallTraining(tmp_path / "enc", replace(SETTINGS, machine=machine)).run()


def test_optimizer_is_made_on_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    training = SmallTraining(tmp_path / "enc", until(1))
    move, make = training.prepared.learner.to, schedule.make_optimizer

    def record_move(*arguments: Any, **named: Any) -> Any:
        done.append("move")
        return move(*arguments, **named)

    def record_making(*arguments: Any) -> Any:
        done.append("make")
        return make(*arguments)

    monkeypatch.setattr(training.prepared.learner, "to", record_move)
    monkeypatch.setattr(loop, "make_optimizer", record_making)
    training.run()
    assert done[:2] == ["move", "make"]


def test_lengths_stay_on_processor() -> None:
    tensors = {name: torch.ones(2, device="meta") for name in ("ids", "lengths", "more_lengths")}
    batch = Batch(tensors, 2, 2)
    with pytest.raises(NotImplementedError, match="out of meta"):  # they are brought here
        batch.to(torch.device("meta"))
    del tensors["lengths"], tensors["more_lengths"]
    assert batch.to(torch.device("meta")).tensors["ids"].device.type == "meta"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_killed_training_resumes_exactly(tmp_path: Path) -> None:
    script = Path(killed_trainings.__file__)
    line = [sys.executable, str(script), str(tmp_path / "enc"), "20", "0"]
    environment = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    uninterrupted = SmallTraining(tmp_path / "whole", until(killed_trainings.STEPS))
    uninterrupted.run()
    resumed_tensors, expected_tensors = (
        (tmp_path / name / checkpoint.CHECKPOINT_FOLDER / file).read_bytes()
        for file in (checkpoint.WEIGHTS_FILE,)
        for name in ("enc", "whole")
    )
    assert resumed_tensors == expected_tensors
    assert len(set(done.stdout.split())) > 10  # it was at work when it was killed
