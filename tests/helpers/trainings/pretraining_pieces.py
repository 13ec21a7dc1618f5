"""Small models and texts for tests of pretraining."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models import trained as models
from sentprobe.probes.training.decoder import GenerationValidator, Seq2Seq, SequencePairs
from sentprobe.probes.training.objective import PreparedObjective
from sentprobe.probes.training.objective_options import ObjectiveOptions

TINY = ObjectiveOptions(batch=8, codes=300, decoder_hidden=16, decoder_layers=1, decoder_inputs=8, validation=4, seed=1)
"""Sizes of a model that learns a little within a second."""


def sentences(count: int) -> tuple[str, ...]:
    """Return different sentences, of three to seven words."""
    names = ["the dog", "a cat", "two old men", "Ann", "nobody here"]
    verbs = ["saw", "did not see", "heard"]
    return tuple(
        f"{names[n % 5]} {verbs[n // 5 % 3]} {names[n // 15 % 5]}" + " again" * (n // 75) for n in range(count)
    )


def model_of(texts: Sequence[str], *, hidden: int = 8, seed: int = 1) -> models.SentenceModel:
    """Return a small bilstm-max that knows the words of *texts*."""
    words = sorted({word for text in texts for word in text.split()})
    architecture = Architecture(kind="bilstm-max", hidden=hidden, inputs=hidden)
    return models.make_sentence_model(architecture, models.ModelVocabulary(tuple(words)), seed=seed)


def teach(prepared: PreparedObjective, *, epochs: int, rate: float = 0.01) -> float:
    """Train for *epochs*; return the last epoch's mean loss."""
    optimizer = torch.optim.Adam(prepared.learner.parameters(), lr=rate)
    losses: list[float] = []
    for epoch in range(epochs):
        losses = []
        for batch in prepared.train.batches(epoch):
            loss = prepared.learner(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return sum(losses) / len(losses)


def said_right(prepared: PreparedObjective) -> float:
    """Return the share of training texts that are generated exactly, from sources without noise."""
    learner, trained, measure = prepared.learner, prepared.train, prepared.validate
    assert isinstance(learner, Seq2Seq)
    assert isinstance(trained, SequencePairs)
    assert isinstance(measure, GenerationValidator)
    texts = replace(measure, pairs=replace(trained, noise=None)).generate_texts(learner)
    return sum(text.reference == text.generated for text in texts) / len(texts)


def larger(options: ObjectiveOptions = TINY) -> ObjectiveOptions:
    """Return sizes that memorise fifty items."""
    return replace(options, decoder_hidden=128, decoder_inputs=64, batch=10, codes=1000)
