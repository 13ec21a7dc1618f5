"""What all objectives that say a text share, shown by the autoencoder."""

import sys
from dataclasses import replace

import pytest
import torch
from pretraining_pieces import TINY, model_of, sentences, teach
from safetensors.torch import load, save

from sentprobe.errors import FormatError, UsageError
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.probes.pretraining import said
from sentprobe.probes.pretraining.batches import LENGTHS, SOURCES, SequencePairs
from sentprobe.probes.pretraining.objective import Prepared
from sentprobe.probes.pretraining.objectives import OBJECTIVES, ObjectiveOptions, prepare
from sentprobe.probes.pretraining.seq2seq import Seq2Seq
from sentprobe.probes.pretraining.texts.corpora import Sentences

pytest.importorskip("tokenizers")
pytest.importorskip("sacrebleu")


def prepared(count: int = 50, options: ObjectiveOptions = TINY) -> Prepared:
    texts = sentences(count)
    return prepare(OBJECTIVES["autoencoder"], Sentences(texts, (0,)), model_of(texts), options)


def test_what_is_held_out_improves_though_it_is_not_trained_on() -> None:
    made = prepared()
    assert isinstance(made.train, SequencePairs)
    assert isinstance(made.validate, said.SaidTexts)
    assert set(made.train.items).isdisjoint(made.validate.pairs.items)
    before = made.validate(made.learner)
    teach(made, epochs=3)
    after = made.validate(made.learner)
    assert (after.metric, after.higher_is_better) == ("BLEU", True)
    assert after.loss < before.loss
    assert after.betters(before)


def test_what_is_said_is_spread_over_all_that_is_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = prepared(120, replace(TINY, validation=12))
    assert isinstance(made.validate, said.SaidTexts)
    held = [sentences(120)[item] for item in made.validate.pairs.items]
    assert isinstance(made.learner, Seq2Seq)
    assert {each.wanted for each in made.validate.texts(made.learner)} == set(held)
    monkeypatch.setattr(said, "DECODED", 4)
    chosen = sorted(held.index(each.wanted) for each in made.validate.texts(made.learner))
    assert chosen == [0, 4, 7, 11]


def test_validation_leaves_the_learner_and_the_generators() -> None:
    made = prepared()
    weights = {name: each.clone() for name, each in made.learner.state_dict().items()}
    state = torch.get_rng_state()
    once, again = made.validate(made.learner), made.validate(made.learner)
    assert once == again
    assert made.learner.training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(weights[name], each) for name, each in made.learner.state_dict().items())
    assert all(each.grad is None for each in made.learner.parameters())


def test_the_loss_is_the_mean_over_codes_whatever_stands_together() -> None:
    made = prepared()
    losses = [
        prepared(options=replace(TINY, batch=size)).validate(made.learner).loss for size in (100, 1)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_gradients_reach_every_parameter() -> None:
    made = prepared(options=replace(TINY, batch=50))
    (batch,) = made.train.batches(0)
    made.learner(batch).backward()
    grads = {name: each.grad for name, each in made.learner.named_parameters()}
    assert [name for name, grad in grads.items() if grad is None or not grad.any()] == []


def test_the_seed_decides_first_weights_and_batches() -> None:
    once, again, other = (prepared(options=replace(TINY, seed=seed)) for seed in (1, 1, 2))
    first = [next(each.train.batches(0)).tensors for each in (once, again, other)]
    assert torch.equal(first[0][SOURCES], first[1][SOURCES])
    assert first[0][SOURCES].tolist() != first[2][SOURCES].tolist()
    weights = [each.learner.state_dict()["decoders.0.out.weight"] for each in (once, again, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_codes_are_saved_with_the_weights_and_others_are_refused() -> None:
    once, again = prepared(), prepared()
    teach(once, epochs=1)
    again.learner.load_state_dict(load(save(dict(once.learner.state_dict()))))
    assert again.validate(again.learner) == once.validate(once.learner)
    texts = tuple(text.upper() for text in sentences(50))
    other = prepare(OBJECTIVES["autoencoder"], Sentences(texts, (0,)), model_of(texts), TINY)
    with pytest.raises(FormatError, match=r"decoder are of other codes than its texts have$"):
        other.learner.load_state_dict(once.learner.state_dict())


def test_sources_are_reversed_where_the_model_reads_backwards() -> None:
    texts = sentences(50)
    forth, back = model_of(texts), model_of(texts)
    back.vocabulary = replace(back.vocabulary, reverse=True)
    kind, corpus = OBJECTIVES["autoencoder"], Sentences(texts, (0,))
    one, other = (next(prepare(kind, corpus, m, TINY).train.batches(0)) for m in (forth, back))
    for ids, turned, length in zip(
        one.tensors[SOURCES], other.tensors[SOURCES], one.tensors[LENGTHS], strict=True
    ):
        assert turned[:length].tolist() == ids[:length].flip(0).tolist()


def test_an_empty_text_is_an_unknown_word() -> None:
    texts = ("", *sentences(20))
    made = prepare(OBJECTIVES["denoising"], Sentences(texts, (0,)), model_of(texts), TINY)
    assert torch.isfinite(
        torch.stack([made.learner(batch) for batch in made.train.batches(0)])
    ).all()


def test_too_little_text_is_refused() -> None:
    with pytest.raises(UsageError, match="1 item to learn from: at least 2 are needed"):
        prepared(1)


def test_without_sacrebleu_the_extra_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setattr(said, "find_spec", {}.get)
    with pytest.raises(EncoderError, match=r"^BLEU needs the extra: pip install 'sentprobe\[train"):
        prepared()


def test_bleu_counts_words_between_spaces() -> None:
    assert said.bleu([said.SaidText("a b c d e", "a b c d e")]) == 100
    assert said.bleu([said.SaidText("a b c d e", "v w x y z")]) == 0
    near = said.bleu([said.SaidText("a b c d e .", "a b c d f .")])
    by_hand = 100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25  # words, pairs, and so on
    assert near == pytest.approx(by_hand, rel=1e-5)
