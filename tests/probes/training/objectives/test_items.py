"""``nli`` and ``contrastive``: pairs and triplets of the generator are learned."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.oracles.pairs_at_once import build_training_columns, sample_pairs
from helpers.trainings.pretraining_pieces import TINY, model_of, teach

from sentprobe.generator.pairs.inference_pairs import NliSpace
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.training import learners
from sentprobe.probes.training.corpora import NliPairs, Triplets
from sentprobe.probes.training.learners import ContrastiveLearner, NliLearner
from sentprobe.probes.training.objective import Batch, PreparedObjective
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objectives import OBJECTIVES, prepare


def pairs(groups: int) -> NliPairs:
    """Return generated pairs, eight per group."""
    inference_pairs = sample_pairs(NliSpace(english(), "role", templates=["transitive"]), groups, seed=1)
    return NliPairs(tuple(inference_pairs.premise), tuple(inference_pairs.hypothesis), np.array(inference_pairs.label))


def triplets(count: int) -> Triplets:
    space = TripletSpace(english(), "role", templates=["transitive"])
    columns = build_training_columns(space.sample(count, seed=1))
    return Triplets(tuple(columns["anchor"]), tuple(columns["positive"]), tuple(columns["negative"]))


def prepare_pairs(texts: NliPairs, options: ObjectiveOptions = TINY, hidden: int = 8) -> PreparedObjective:
    model = model_of((*texts.premises, *texts.hypotheses), hidden=hidden)
    return prepare(OBJECTIVES["nli"], texts, model, options)


def prepare_triplets(texts: Triplets, options: ObjectiveOptions = TINY, hidden: int = 8) -> PreparedObjective:
    model = model_of((*texts.anchors, *texts.positives, *texts.negatives), hidden=hidden)
    return prepare(OBJECTIVES["contrastive"], texts, model, options)


def test_the_classes_are_those_of_snli() -> None:
    assert learners.CLASSES == ("entailment", "neutral", "contradiction")


@pytest.fixture(params=["nli", "contrastive"])
def prepared(request: pytest.FixtureRequest) -> PreparedObjective:
    return prepare_pairs(pairs(8)) if request.param == "nli" else prepare_triplets(triplets(40))


def test_gradients_reach_every_weight(prepared: PreparedObjective) -> None:
    teach(prepared, epochs=1)
    for name, weight in prepared.learner.named_parameters():
        assert weight.grad is not None, name
        assert bool(weight.grad.any()), name


def test_a_little_is_learned_and_measuring_leaves_all_as_it_is(prepared: PreparedObjective) -> None:
    before = prepared.validate(prepared.learner)
    state, random = prepared.learner.state_dict(), torch.get_rng_state()
    assert (before.metric, before.higher_is_better) == ("accuracy", True)
    assert prepared.validate(prepared.learner) == before
    assert all(torch.equal(prepared.learner.state_dict()[name], tensor) for name, tensor in state.items())
    assert torch.equal(torch.get_rng_state(), random)
    first = teach(prepared, epochs=1)
    assert teach(prepared, epochs=4) < first


def test_batches_are_decided_by_seed_and_epoch() -> None:
    batches = prepare_pairs(pairs(8)).train
    all_batches = [batch.tensors for batch in batches.batches(3)]
    assert len(all_batches) == batches.steps
    resumed_batches = [batch.tensors for batch in batches.batches(3, start=2)]
    assert all(
        torch.equal(one["ids"], other_epoch["ids"])
        for one, other_epoch in zip(all_batches[2:], resumed_batches, strict=True)
    )
    other_epoch = next(iter(batches.batches(4))).tensors
    assert not torch.equal(other_epoch["labels"], all_batches[0]["labels"])


def test_a_positive_is_told_from_what_else_is_in_the_batch() -> None:
    prepared = prepare_triplets(triplets(40))
    assert isinstance(prepared.learner, ContrastiveLearner)
    batch = next(iter(prepared.train.batches(0)))
    anchors, candidates = prepared.learner.encode_batch(batch)
    assert anchors.shape == (8, 16)
    assert candidates.shape == (16, 16)
    assert torch.allclose(candidates.norm(dim=1), torch.ones(16))


def measure_accuracy(prepared: PreparedObjective) -> float:
    """Return the training accuracy."""
    correct_count, count = 0, 0
    for batch in prepared.train.batches(0):
        correct_count += int(_count_correct(prepared, batch).sum())
        count += batch.items
    return correct_count / count


def _count_correct(prepared: PreparedObjective, batch: Batch) -> torch.Tensor:
    learner = prepared.learner
    with torch.no_grad():
        if isinstance(learner, NliLearner):
            chosen: torch.Tensor = learner.compute_logits(batch).argmax(dim=1)
            return chosen == batch.tensors["labels"]
        assert isinstance(learner, ContrastiveLearner)
        anchors, candidates = learner.encode_batch(batch)
        return (anchors @ candidates.T).argmax(dim=1) == torch.arange(len(anchors))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nli", "contrastive"])
def test_fifty_items_are_learned_by_heart(kind: str) -> None:
    options = replace(TINY, batch=10, temperature=0.1)
    if kind == "nli":
        prepared = prepare_pairs(pairs(7), options, hidden=32)
    else:
        prepared = prepare_triplets(triplets(56), options, hidden=32)
    teach(prepared, epochs=80, rate=0.005)
    assert measure_accuracy(prepared) >= 0.99
