"""Common behaviour of the objectives that generate text, tested with the autoencoder."""

import sys
from dataclasses import replace

import pytest
import torch
from helpers.trainings.pretraining_pieces import TINY, model_of, sentences, teach
from safetensors.torch import load, save

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.training import decoder
from sentprobe.probes.training.corpora import Sentences
from sentprobe.probes.training.decoder import LENGTHS, SOURCES, Seq2Seq, SequencePairs
from sentprobe.probes.training.objective import PreparedObjective
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objectives import OBJECTIVES, prepare

pytest.importorskip("tokenizers")
pytest.importorskip("sacrebleu")


def prepare_autoencoder(count: int = 50, options: ObjectiveOptions = TINY) -> PreparedObjective:
    texts = sentences(count)
    return prepare(OBJECTIVES["autoencoder"], Sentences(texts, (0,)), model_of(texts), options)


def test_what_is_held_out_improves_though_it_is_not_trained_on() -> None:
    prepared = prepare_autoencoder()
    assert isinstance(prepared.train, SequencePairs)
    assert isinstance(prepared.validate, decoder.GenerationValidator)
    assert set(prepared.train.items).isdisjoint(prepared.validate.pairs.items)
    before = prepared.validate(prepared.learner)
    teach(prepared, epochs=3)
    after = prepared.validate(prepared.learner)
    assert (after.metric, after.higher_is_better) == ("BLEU", True)
    assert after.loss < before.loss
    assert after.is_better_than(before)


def test_what_is_said_is_spread_over_all_that_is_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare_autoencoder(120, replace(TINY, validation=12))
    assert isinstance(prepared.validate, decoder.GenerationValidator)
    held = [sentences(120)[item] for item in prepared.validate.pairs.items]
    assert isinstance(prepared.learner, Seq2Seq)
    assert {text.reference for text in prepared.validate.generate_texts(prepared.learner)} == set(held)
    monkeypatch.setattr(decoder, "MAX_GENERATED_TEXTS", 4)
    chosen = sorted(held.index(text.reference) for text in prepared.validate.generate_texts(prepared.learner))
    assert chosen == [0, 4, 7, 11]


def test_validation_leaves_the_learner_and_the_generators() -> None:
    prepared = prepare_autoencoder()
    weights = {name: parameter.clone() for name, parameter in prepared.learner.state_dict().items()}
    state = torch.get_rng_state()
    once, again = prepared.validate(prepared.learner), prepared.validate(prepared.learner)
    assert once == again
    assert prepared.learner.training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(weights[name], parameter) for name, parameter in prepared.learner.state_dict().items())
    assert all(parameter.grad is None for parameter in prepared.learner.parameters())


def test_the_loss_is_the_mean_over_codes_whatever_stands_together() -> None:
    prepared = prepare_autoencoder()
    losses = [
        prepare_autoencoder(options=replace(TINY, batch=size)).validate(prepared.learner).loss for size in (100, 1)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_gradients_reach_every_parameter() -> None:
    prepared = prepare_autoencoder(options=replace(TINY, batch=50))
    (batch,) = prepared.train.batches(0)
    prepared.learner(batch).backward()
    grads = {name: parameter.grad for name, parameter in prepared.learner.named_parameters()}
    assert [name for name, grad in grads.items() if grad is None or not grad.any()] == []


def test_the_seed_decides_first_weights_and_batches() -> None:
    once, again, other_seed = (prepare_autoencoder(options=replace(TINY, seed=seed)) for seed in (1, 1, 2))
    first = [next(prepared.train.batches(0)).tensors for prepared in (once, again, other_seed)]
    assert torch.equal(first[0][SOURCES], first[1][SOURCES])
    assert first[0][SOURCES].tolist() != first[2][SOURCES].tolist()
    weights = [prepared.learner.state_dict()["decoders.0.out.weight"] for prepared in (once, again, other_seed)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_codes_are_saved_with_the_weights_and_others_are_refused() -> None:
    once, again = prepare_autoencoder(), prepare_autoencoder()
    teach(once, epochs=1)
    again.learner.load_state_dict(load(save(dict(once.learner.state_dict()))))
    assert again.validate(again.learner) == once.validate(once.learner)
    texts = tuple(text.upper() for text in sentences(50))
    other_prepared = prepare(OBJECTIVES["autoencoder"], Sentences(texts, (0,)), model_of(texts), TINY)
    with pytest.raises(FormatError, match=r"decoder's weights were learned with other codes$"):
        other_prepared.learner.load_state_dict(once.learner.state_dict())


def test_sources_are_reversed_where_the_model_reads_backwards() -> None:
    texts = sentences(50)
    forth, back = model_of(texts), model_of(texts)
    back.vocabulary = replace(back.vocabulary, reverse=True)
    kind, corpus = OBJECTIVES["autoencoder"], Sentences(texts, (0,))
    forward_batch, reversed_batch = (next(prepare(kind, corpus, m, TINY).train.batches(0)) for m in (forth, back))
    for ids, turned, length in zip(
        forward_batch.tensors[SOURCES], reversed_batch.tensors[SOURCES], forward_batch.tensors[LENGTHS], strict=True
    ):
        assert turned[:length].tolist() == ids[:length].flip(0).tolist()


def test_an_empty_text_is_an_unknown_word() -> None:
    texts = ("", *sentences(20))
    prepared = prepare(OBJECTIVES["denoising"], Sentences(texts, (0,)), model_of(texts), TINY)
    assert torch.isfinite(torch.stack([prepared.learner(batch) for batch in prepared.train.batches(0)])).all()


def test_too_little_text_is_refused() -> None:
    with pytest.raises(UsageError, match="1 item to learn from: at least 2 are needed"):
        prepare_autoencoder(1)


def test_without_sacrebleu_the_extra_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setattr("sentprobe.probes.training.learners.find_spec", {}.get)
    with pytest.raises(EncoderError, match=r"^BLEU needs the extra: pip install .*\[train"):
        prepare_autoencoder()


def test_bleu_counts_words_between_spaces() -> None:
    assert decoder.compute_bleu([decoder.GeneratedText("a b c d e", "a b c d e")]) == 100
    assert decoder.compute_bleu([decoder.GeneratedText("a b c d e", "v w x y z")]) == 0
    near = decoder.compute_bleu([decoder.GeneratedText("a b c d e .", "a b c d f .")])
    by_hand = 100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25  # words, pairs, and so on
    assert near == pytest.approx(by_hand, rel=1e-5)
