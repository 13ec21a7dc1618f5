"""``nli`` and ``contrastive``: pairs and triplets of the generator are learned."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from pretraining_pieces import TINY, model_of, teach

from sentprobe.generator.nli import NliSpace
from sentprobe.generator.training import training_columns
from sentprobe.generator.triplets import TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.pretraining.objective import Batch, Prepared
from sentprobe.probes.pretraining.objectives import OBJECTIVES, ObjectiveOptions, nli, prepare
from sentprobe.probes.pretraining.objectives.contrastive import ContrastiveLearner
from sentprobe.probes.pretraining.objectives.nli import NliLearner
from sentprobe.probes.pretraining.texts.corpora import NliPairs, Triplets


def pairs(groups: int) -> NliPairs:
    """Return pairs of the generator, eight of each group."""
    made = NliSpace(english(), "role", templates=["transitive"]).pairs(groups, seed=1)
    return NliPairs(tuple(made.premise), tuple(made.hypothesis), np.array(made.label))


def triplets(count: int) -> Triplets:
    space = TripletSpace(english(), "role", templates=["transitive"])
    made = training_columns(space.sample(count, seed=1))
    return Triplets(tuple(made["anchor"]), tuple(made["positive"]), tuple(made["negative"]))


def prepare_pairs(texts: NliPairs, options: ObjectiveOptions = TINY, hidden: int = 8) -> Prepared:
    model = model_of((*texts.premises, *texts.hypotheses), hidden=hidden)
    return prepare(OBJECTIVES["nli"], texts, model, options)


def prepare_triplets(
    texts: Triplets, options: ObjectiveOptions = TINY, hidden: int = 8
) -> Prepared:
    model = model_of((*texts.anchors, *texts.positives, *texts.negatives), hidden=hidden)
    return prepare(OBJECTIVES["contrastive"], texts, model, options)


def test_the_classes_are_those_of_snli() -> None:
    assert nli.CLASSES == ("entailment", "neutral", "contradiction")


@pytest.fixture(params=["nli", "contrastive"])
def made(request: pytest.FixtureRequest) -> Prepared:
    return prepare_pairs(pairs(8)) if request.param == "nli" else prepare_triplets(triplets(40))


def test_gradients_reach_every_weight(made: Prepared) -> None:
    teach(made, epochs=1)
    for name, weight in made.learner.named_parameters():
        assert weight.grad is not None, name
        assert bool(weight.grad.any()), name


def test_a_little_is_learned_and_measuring_leaves_all_as_it_is(made: Prepared) -> None:
    before = made.validate(made.learner)
    state, random = made.learner.state_dict(), torch.get_rng_state()
    assert (before.metric, before.higher_is_better) == ("accuracy", True)
    assert made.validate(made.learner) == before
    assert all(torch.equal(made.learner.state_dict()[name], each) for name, each in state.items())
    assert torch.equal(torch.get_rng_state(), random)
    first = teach(made, epochs=1)
    assert teach(made, epochs=4) < first


def test_batches_are_decided_by_seed_and_epoch() -> None:
    made = prepare_pairs(pairs(8)).train
    whole = [each.tensors for each in made.batches(3)]
    assert len(whole) == made.steps
    rest = [each.tensors for each in made.batches(3, start=2)]
    assert all(
        torch.equal(one["ids"], other["ids"]) for one, other in zip(whole[2:], rest, strict=True)
    )
    other = next(iter(made.batches(4))).tensors
    assert not torch.equal(other["labels"], whole[0]["labels"])


def test_a_positive_is_told_from_what_else_is_in_the_batch() -> None:
    made = prepare_triplets(triplets(40))
    assert isinstance(made.learner, ContrastiveLearner)
    batch = next(iter(made.train.batches(0)))
    anchors, others = made.learner.vectors(batch)
    assert anchors.shape == (8, 16)
    assert others.shape == (16, 16)
    assert torch.allclose(others.norm(dim=1), torch.ones(16))


def right(made: Prepared) -> float:
    """Return the share of training items that are right."""
    found, count = 0, 0
    for batch in made.train.batches(0):
        found += int(_right(made, batch).sum())
        count += batch.items
    return found / count


def _right(made: Prepared, batch: Batch) -> torch.Tensor:
    learner = made.learner
    with torch.no_grad():
        if isinstance(learner, NliLearner):
            chosen: torch.Tensor = learner.logits(batch).argmax(dim=1)
            return chosen == batch.tensors["labels"]
        assert isinstance(learner, ContrastiveLearner)
        anchors, others = learner.vectors(batch)
        return (anchors @ others.T).argmax(dim=1) == torch.arange(len(anchors))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nli", "contrastive"])
def test_fifty_items_are_learned_by_heart(kind: str) -> None:
    options = replace(TINY, batch=10, temperature=0.1)
    if kind == "nli":
        made = prepare_pairs(pairs(7), options, hidden=32)
    else:
        made = prepare_triplets(triplets(56), options, hidden=32)
    teach(made, epochs=80, rate=0.005)
    assert right(made) >= 0.99
