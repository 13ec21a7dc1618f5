"""``autoencoder``: sentences are learned by heart, and validation leaves the learner as it is."""

from dataclasses import replace

import pytest
import torch
from pretraining_pieces import TINY, larger, model_of, said_right, sentences, teach

from sentprobe.probes.pretraining.objective import Prepared
from sentprobe.probes.pretraining.objectives import OBJECTIVES, ObjectiveOptions, prepare
from sentprobe.probes.pretraining.texts.corpora import Sentences

pytest.importorskip("tokenizers")
pytest.importorskip("sacrebleu")

KIND = OBJECTIVES["autoencoder"]


def prepared(count: int, options: ObjectiveOptions = TINY, *, hidden: int = 8) -> Prepared:
    texts = sentences(count)
    model = model_of(texts, hidden=hidden)
    return prepare(KIND, Sentences(texts, (0,)), model, options)


def test_validation_sentences_are_not_trained_on_and_the_loss_falls() -> None:
    made = prepared(50)
    before = made.validate(made.learner)
    assert teach(made, epochs=3) < before.loss
    after = made.validate(made.learner)
    assert (after.metric, after.higher_is_better) == ("BLEU", True)
    assert after.loss < before.loss


def test_validation_leaves_the_learner_and_the_generators() -> None:
    made = prepared(50)
    weights = {name: each.clone() for name, each in made.learner.state_dict().items()}
    state = torch.get_rng_state()
    once, again = made.validate(made.learner), made.validate(made.learner)
    assert once == again
    assert made.learner.training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(weights[name], each) for name, each in made.learner.state_dict().items())
    assert all(each.grad is None for each in made.learner.parameters())


def test_the_loss_is_the_mean_over_codes_whatever_stands_together() -> None:
    made = prepared(50)
    whole = prepared(50, replace(TINY, batch=100)).validate(made.learner).loss
    alone = prepared(50, replace(TINY, batch=1)).validate(made.learner).loss
    assert whole == pytest.approx(alone, rel=1e-5)


@pytest.mark.slow  # ten seconds of learning
def test_fifty_sentences_are_learned_by_heart() -> None:
    made = prepared(56, larger(), hidden=64)
    teach(made, epochs=60, rate=0.005)
    assert said_right(made) >= 0.99
