"""Several objectives on one encoder: order of batches, losses, validation, checkpoints and resuming."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from helpers.thoroughness import examples
from helpers.trainings.small_trainings import LengthLearner, SmallTraining, make_batch, prepare, same, until, validate
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.training import checkpoint, loop
from sentprobe.probes.training.multi_task import MixedBatches, MultiTaskLearner, combine_objectives
from sentprobe.probes.training.objective import Batch, PreparedObjective, Validation
from sentprobe.probes.training.schedule import (
    ADAGRAD,
    ADAM,
    SGD,
    OptimizerSettings,
    StepInterval,
    TrainingState,
    ValidationPoint,
)

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")


@dataclass(frozen=True)
class PlacedBatches:
    """Batches that state their epoch and place."""

    steps: int

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        for place in range(start, self.steps):
            yield Batch({"place": torch.tensor([epoch, place])}, 1, 1)


weights = st.floats(1e-3, 1e3)
mixtures = st.dictionaries(st.sampled_from("abcd"), st.tuples(st.integers(1, 6), weights), min_size=1).map(
    lambda parts: (
        {name: PlacedBatches(steps) for name, (steps, _) in parts.items()},
        {name: weight for name, (_, weight) in parts.items()},
    )
)
Mixture = tuple[Mapping[str, PlacedBatches], Mapping[str, float]]
Place = tuple[str, int, int]


def list_places(mixed: MixedBatches, epoch: int, start: int = 0) -> list[Place]:
    batches = mixed.batches(epoch, start=start)
    return [(batch.objective, *batch.tensors["place"].tolist()) for batch in batches]


@examples(200)
@given(mixtures, st.integers(0, 2**40), st.integers(0, 6), st.data())
def test_each_objective_goes_through_its_own_epochs(
    mixture: Mixture, seed: int, epochs: int, data: st.DataObject
) -> None:
    """Begun at any batch, an epoch goes on as if from the first; objectives see their batches as if they were alone."""
    parts, shares = mixture
    mixed = MixedBatches(parts, shares, seed)
    places: list[Place] = []
    for epoch in range(epochs + 1):
        epoch_places = list_places(mixed, epoch)
        assert len(epoch_places) == mixed.steps == sum(part.steps for part in parts.values())
        start = data.draw(st.integers(0, mixed.steps))
        assert list_places(mixed, epoch, start) == epoch_places[start:]
        places += epoch_places
    for name, part in parts.items():
        seen = [place[1:] for place in places if place[0] == name]
        assert len(seen) >= epochs + 1
        assert seen == [divmod(number, part.steps) for number in range(len(seen))]


@examples(200)
@given(mixtures)
def test_batches_are_in_proportion_to_weights(mixture: Mixture) -> None:
    parts, shares = mixture
    mixed = MixedBatches(parts, shares, seed=0)
    counts = dict(zip(parts, mixed.count_batches(), strict=True))
    assert sum(counts.values()) == mixed.steps
    places = list_places(mixed, 3)
    assert counts == {name: sum(place[0] == name for place in places) for name in parts}
    exact = {name: mixed.steps * shares[name] / sum(shares.values()) for name in parts}
    small = sum(value < 1 for value in exact.values())  # each takes a batch that it has no share of
    for name, count in counts.items():
        assert max(1.0, exact[name] - 1 - small) <= count <= max(1.0, exact[name] + 1)


def test_seed_and_epoch_decide_the_order() -> None:
    parts, shares = {"a": PlacedBatches(20), "b": PlacedBatches(20)}, {"a": 1.0, "b": 1.0}
    orders = [
        [place[0] for place in list_places(MixedBatches(parts, shares, seed), epoch)]
        for seed, epoch in ((0, 0), (0, 1), (1, 0))
    ]
    assert orders[0] != orders[1]
    assert orders[0] != orders[2]
    assert {*orders[0][:10]} == {"a", "b"}


def prepare_several(shares: Mapping[str, float]) -> PreparedObjective:
    """Return an objective for each share, which learn multiples of the lengths of sentences."""
    encoder = prepare().learner.encoder
    prepared = {
        name: replace(prepare(), learner=LengthLearner(encoder), validate=validate, train=ScaledExamples(scale))
        for scale, name in enumerate(shares, 1)
    }
    return combine_objectives(prepared, shares, seed=5)


@dataclass(frozen=True)
class ScaledExamples:
    """Batches whose lengths are to be multiplied by a number."""

    scale: float
    steps: int = 3

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        for place in range(start, self.steps):
            yield make_batch(100 * epoch + place, self.scale)


SHARES = {"a": 1.0, "b": 2.5, "c": 0.1}


def test_one_objective_is_unchanged() -> None:
    prepared = prepare()
    assert combine_objectives({"a": prepared}, {"a": 3.0}, seed=0) is prepared


def test_batch_changes_encoder_and_its_own_learner_only() -> None:
    prepared = prepare_several(SHARES)
    learner = prepared.learner
    assert isinstance(learner, MultiTaskLearner)
    for batch in islice(prepared.train.batches(0), 6):
        learner.zero_grad(set_to_none=True)
        torch.manual_seed(1)
        loss = learner(batch)
        loss.backward()
        torch.manual_seed(1)
        assert torch.equal(loss, learner.find_learner(batch.objective)(batch))
        changed = {name for name, weight in learner.named_parameters() if weight.grad is not None}
        others = {name for name in changed if not name.startswith("encoder.")}
        assert others == {f"learners.{batch.objective}.out.{part}" for part in ("weight", "bias")}
        assert any(name.startswith("encoder.") for name in changed)


def test_weights_are_stored_once() -> None:
    learner = prepare_several(SHARES).learner
    names = {name for name in learner.state_dict() if not name.startswith("encoder.")}
    assert names == {f"learners.{name}.out.{part}" for name in SHARES for part in ("weight", "bias")}
    assert len([*learner.parameters()]) == len(learner.state_dict())


def test_validation_is_the_mean_by_weights() -> None:
    prepared = prepare_several(SHARES)
    learner = prepared.learner.eval()
    assert isinstance(learner, MultiTaskLearner)
    validation = prepared.validate(learner)
    assert validation.parts == {name: validate(learner.find_learner(name)) for name in SHARES}
    expected = sum(share * validation.parts[name].loss for name, share in SHARES.items()) / sum(SHARES.values())
    assert validation.loss == validation.value == pytest.approx(expected)
    assert (validation.metric, validation.higher_is_better) == ("loss", False)


@pytest.mark.parametrize("optimizer", [ADAM, SGD, ADAGRAD], ids=lambda settings: settings.kind.value)
@examples(20)
@given(seed=st.integers(0, 5), stops=st.sets(st.integers(1, 10)))
def test_stopped_training_resumes_exactly(optimizer: OptimizerSettings, seed: int, stops: set[int]) -> None:
    """Also before the first batch of an objective, whose weights the optimizer has not changed yet."""
    settings = replace(until(11, optimizer), seed=seed, probe_every=StepInterval(1))
    with TemporaryDirectory() as folder:
        whole = SmallTraining(Path(folder, "whole"), settings, prepared=prepare_several(SHARES))
        state = whole.run()
        remaining = {*stops}

        def stop(point: loop.ProbingPoint) -> None:
            if point.step in remaining:
                remaining.remove(point.step)
                raise KeyboardInterrupt

        part, part_state = stop_and_resume(Path(folder, "part"), settings, stop)
        assert not remaining
        assert same(part.weights, whole.weights)
        assert (part_state.step, part_state.best, part_state.last) == (11, state.best, state.last)
        optimizers = [
            (Path(folder, name) / checkpoint.CHECKPOINT_FOLDER / checkpoint.OPTIMIZER_FILE).read_bytes()
            for name in ("whole", "part")
        ]
        assert optimizers[0] == optimizers[1]


def stop_and_resume(
    folder: Path, settings: loop.TrainingSettings, stop: Callable[[loop.ProbingPoint], None]
) -> tuple[SmallTraining, TrainingState]:
    while True:
        training = SmallTraining(folder, settings, prepared=prepare_several(SHARES))
        try:
            return training, training.run(stop)
        except KeyboardInterrupt:
            continue


numbers = st.floats(allow_nan=False, allow_infinity=False)
validations = st.builds(
    Validation,
    st.sampled_from(["BLEU", "accuracy", "perplexity"]),
    numbers,
    higher_is_better=st.booleans(),
    loss=numbers,
    permuted_bleu=st.none() | numbers,
)


@given(validations, st.dictionaries(st.sampled_from(["nli", "nmt"]), validations))
def test_validations_are_stored_and_read(validation: Validation, parts: dict[str, Validation]) -> None:
    """Without parts, the record is that of a single objective: a training from before several could be goes on."""
    state = TrainingState(step=3).record_validation(replace(validation, parts=parts), steps_per_epoch=2)
    assert state.best is not None
    record = state.best.to_record()
    assert ("parts" in record) is bool(parts)
    assert all("parts" not in part for part in record.get("parts", {}).values())
    assert ValidationPoint.from_record(record) == state.best
    assert state.best.validation == replace(validation, parts=parts)
