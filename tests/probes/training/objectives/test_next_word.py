"""The objective next-word: its loss is that of the slow path, and a cycle of words is learned by heart."""

import math

import pytest
import torch
from helpers.trainings.pretraining_pieces import TINY, sentences, teach

from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models import trained as models
from sentprobe.probes.training import learners
from sentprobe.probes.training.corpora import Sentences
from sentprobe.probes.training.objectives import OBJECTIVES, prepare

TEXTS = sentences(30)


def make_model(*, hidden: int = 8) -> models.SentenceModel:
    words = sorted({word for text in TEXTS for word in text.split()} - {"Ann"})
    architecture = Architecture(kind="lstm", hidden=hidden, inputs=hidden)
    return models.make_sentence_model(architecture, models.ModelVocabulary(tuple(words)), seed=1)


@pytest.mark.parametrize("limit", [1, 40, 2**21])
def test_the_loss_is_the_mean_over_words_and_ends(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "MAX_LOGITS", limit)
    model = make_model()
    prepared = prepare(OBJECTIVES["next-word"], Sentences(TEXTS, (0,)), model, TINY)
    weight, batch = model.words.weight, next(prepared.train.batches(0))
    rows = zip(batch.tensors["sources"].tolist(), batch.tensors["lengths"].tolist(), strict=True)
    losses = []
    for row, length in rows:
        ids = [0, *row[:length], 0]
        for end in range(1, len(ids)):
            state = model.network(weight[ids[:end]][None], torch.tensor([end]))[0]
            losses.append(-float(torch.log_softmax(weight @ state, dim=0)[ids[end]].detach()))
    assert len(losses) == batch.targets
    assert float(prepared.learner(batch).detach()) == pytest.approx(sum(losses) / len(losses), abs=1e-5)


def test_it_learns() -> None:
    prepared = prepare(OBJECTIVES["next-word"], Sentences(TEXTS, (0,)), make_model(hidden=16), TINY)
    before = prepared.validate(prepared.learner)
    teach(prepared, epochs=40)
    after = prepared.validate(prepared.learner)
    assert before.metric == "perplexity"
    assert after.value == pytest.approx(math.exp(after.loss))
    assert after.value < 4 < before.value
