"""Objectives that generate text: their texts, items and held-out parts."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest
import torch
from helpers.thoroughness import examples
from helpers.trainings.pretraining_pieces import TINY, larger, model_of, said_right, sentences, teach
from hypothesis import assume, given
from hypothesis import strategies as st
from safetensors.torch import load, save

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.training import corpora, decoder
from sentprobe.probes.training.corpora import Sentences, Trees, sample_meanings
from sentprobe.probes.training.decoder import LENGTHS, SOURCES, GenerationValidator, Seq2Seq, SequencePairs
from sentprobe.probes.training.objective import PreparedObjective
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objectives import OBJECTIVES, prepare

pytest.importorskip("tokenizers")
pytest.importorskip("sacrebleu")


ITEMS = 56
"""Fifty of them are training items."""


def make_text(count: int) -> corpora.Sentences:
    return corpora.Sentences(sentences(count), (0,))


def make_translations(count: int) -> corpora.SentencePairs:
    """Return sentences and, as translations, their words reversed in capital letters."""
    sources = sentences(count)
    return corpora.SentencePairs(sources, tuple(" ".join(s.upper().split()[::-1]) for s in sources))


def make_trees(count: int) -> corpora.Trees:
    """Return sentences and flat trees, with the first letter of each word as its part of speech."""
    sources = sentences(count)
    tags = (" ".join(word[0].upper() for word in source.split()) for source in sources)
    return corpora.Trees(sources, tuple(f"(S {tag} )S" for tag in tags))


TEXTS: dict[str, Callable[[int], Any]] = {
    "autoencoder": make_text,
    "denoising": make_text,
    "skipthought": make_text,
    "nmt": make_translations,
    "seq2tree": make_trees,
    "meaning": lambda count: sample_meanings(count, seed=1),
}
METRICS = {"seq2tree": "accuracy", "meaning": "accuracy", "skipthought": "perplexity"}


def list_sources(texts: Any) -> Sequence[str]:
    """Return the encoder's source texts."""
    names = ("texts", "sources", "sentences")
    texts_found: Sequence[str] = next(getattr(texts, name) for name in names if hasattr(texts, name))
    return texts_found


def prepare_objective(name: str, count: int, options: ObjectiveOptions, *, hidden: int) -> PreparedObjective:
    texts = TEXTS[name](count)
    return prepare(OBJECTIVES[name], texts, model_of(list_sources(texts), hidden=hidden), options)


@pytest.mark.parametrize("name", TEXTS)
def test_objective_learns_a_little(name: str) -> None:
    prepared = prepare_objective(name, 30, TINY, hidden=8)
    before = prepared.validate(prepared.learner)
    assert before.metric == METRICS.get(name, "BLEU")
    loss = teach(prepared, epochs=2)
    assert loss < before.loss
    assert prepared.validate(prepared.learner).is_better_than(before)


@pytest.mark.slow  # half a minute of learning
@pytest.mark.parametrize("name", TEXTS)
def test_objective_learns_fifty_items(name: str) -> None:
    prepared = prepare_objective(name, ITEMS, larger(), hidden=64)
    teach(prepared, epochs=80, rate=0.005)
    assert said_right(prepared) >= 0.99


def prepare_autoencoder(count: int = 50, options: ObjectiveOptions = TINY) -> PreparedObjective:
    texts = sentences(count)
    return prepare(OBJECTIVES["autoencoder"], Sentences(texts, (0,)), model_of(texts), options)


def test_held_out_items_improve() -> None:
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


def test_generated_texts_spread_over_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare_autoencoder(120, replace(TINY, validation=12))
    assert isinstance(prepared.validate, decoder.GenerationValidator)
    held = [sentences(120)[item] for item in prepared.validate.pairs.items]
    assert isinstance(prepared.learner, Seq2Seq)
    assert {text.reference for text in prepared.validate.generate_texts(prepared.learner)} == set(held)
    monkeypatch.setattr(decoder, "MAX_GENERATED_TEXTS", 4)
    chosen = sorted(held.index(text.reference) for text in prepared.validate.generate_texts(prepared.learner))
    assert chosen == [0, 4, 7, 11]


def test_held_out_sentences_are_permuted_and_regenerated() -> None:
    prepared = prepare_autoencoder(120, replace(TINY, validation=12))
    assert isinstance(prepared.validate, decoder.GenerationValidator)
    assert isinstance(prepared.learner, Seq2Seq)
    permuted = prepared.validate.permuted
    assert permuted is not None
    held = [sentences(120)[item] for item in prepared.validate.pairs.items]
    shuffled = prepared.learner.subwords.decode(permuted.targets[0][row] for row in range(len(held)))
    assert [sorted(text.split()) for text in shuffled] == [sorted(text.split()) for text in held]
    assert shuffled != held
    for row, text in enumerate(shuffled):
        assert permuted.sources[row].tolist() == prepared.learner.encoder.vocabulary.find_ids(text)
    validation = prepared.validate(prepared.learner)
    expected = decoder.compute_bleu(replace(prepared.validate, pairs=permuted).generate_texts(prepared.learner))
    assert validation.permuted_bleu == expected
    assert str(validation).endswith(f" (permuted: {expected:.1f})")


def test_only_auto_encoders_regenerate_permuted_sentences() -> None:
    validators = {name: prepare_objective(name, 20, TINY, hidden=8).validate for name in TEXTS}
    assert [name for name, validate in validators.items() if getattr(validate, "permuted", None)] == ["autoencoder"]


def test_validation_changes_no_state() -> None:
    prepared = prepare_autoencoder()
    weights = {name: parameter.clone() for name, parameter in prepared.learner.state_dict().items()}
    state = torch.get_rng_state()
    once, again = prepared.validate(prepared.learner), prepared.validate(prepared.learner)
    assert once == again
    assert prepared.learner.training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(weights[name], parameter) for name, parameter in prepared.learner.state_dict().items())
    assert all(parameter.grad is None for parameter in prepared.learner.parameters())


def test_loss_is_mean_over_codes() -> None:
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


def test_seed_decides_weights_and_batches() -> None:
    once, again, other_seed = (prepare_autoencoder(options=replace(TINY, seed=seed)) for seed in (1, 1, 2))
    first = [next(prepared.train.batches(0)).tensors for prepared in (once, again, other_seed)]
    assert torch.equal(first[0][SOURCES], first[1][SOURCES])
    assert first[0][SOURCES].tolist() != first[2][SOURCES].tolist()
    weights = [prepared.learner.state_dict()["decoders.0.out.weight"] for prepared in (once, again, other_seed)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_weights_of_other_codes_are_refused() -> None:
    once, again = prepare_autoencoder(), prepare_autoencoder()
    teach(once, epochs=1)
    again.learner.load_state_dict(load(save(dict(once.learner.state_dict()))))
    assert again.validate(again.learner) == once.validate(once.learner)
    texts = tuple(text.upper() for text in sentences(50))
    other_prepared = prepare(OBJECTIVES["autoencoder"], Sentences(texts, (0,)), model_of(texts), TINY)
    with pytest.raises(FormatError, match=r"decoder's weights were learned with other codes$"):
        other_prepared.learner.load_state_dict(once.learner.state_dict())


def test_backward_model_reverses_sources() -> None:
    texts = sentences(50)
    forth, back = model_of(texts), model_of(texts)
    back.vocabulary = replace(back.vocabulary, reverse=True)
    kind, corpus = OBJECTIVES["autoencoder"], Sentences(texts, (0,))
    forward_batch, reversed_batch = (next(prepare(kind, corpus, m, TINY).train.batches(0)) for m in (forth, back))
    for ids, turned, length in zip(
        forward_batch.tensors[SOURCES], reversed_batch.tensors[SOURCES], forward_batch.tensors[LENGTHS], strict=True
    ):
        assert turned[:length].tolist() == ids[:length].flip(0).tolist()


def test_empty_text_is_unknown_word() -> None:
    texts = ("", *sentences(20))
    prepared = prepare(OBJECTIVES["denoising"], Sentences(texts, (0,)), model_of(texts), TINY)
    assert torch.isfinite(torch.stack([prepared.learner(batch) for batch in prepared.train.batches(0)])).all()


def test_too_little_text_is_refused() -> None:
    with pytest.raises(UsageError, match="1 item to learn from: at least 2 are needed"):
        prepare_autoencoder(1)


def test_missing_sacrebleu_names_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setattr("sentprobe.probes.training.learners.find_spec", {}.get)
    with pytest.raises(EncoderError, match=r"^BLEU needs the extra: pip install .*\[train"):
        prepare_autoencoder()


def test_bleu_by_hand() -> None:
    assert decoder.compute_bleu([decoder.GeneratedText("a b c d e", "a b c d e")]) == 100
    assert decoder.compute_bleu([decoder.GeneratedText("a b c d e", "v w x y z")]) == 0
    near = decoder.compute_bleu([decoder.GeneratedText("a b c d e .", "a b c d f .")])
    by_hand = 100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25  # words, pairs, and so on
    assert near == pytest.approx(by_hand, rel=1e-5)


def make_documents(sizes: list[int]) -> Sentences:
    """Return documents of the given sizes; a sentence is its number in words and letters."""
    starts = [0, *accumulate(sizes)]
    return Sentences(tuple(f"n{number}" for number in range(starts[-1])), tuple(starts[:-1]))


def prepare_skipthought(texts: Sentences, *, neighbours: bool) -> PreparedObjective:
    options = replace(TINY, neighbours=neighbours)
    return prepare(OBJECTIVES["skipthought"], texts, model_of(texts.texts), options)


def list_sources_and_targets(prepared: PreparedObjective) -> list[list[int]]:
    """Return the sentence numbers of each item: source, then targets."""
    assert isinstance(prepared.learner, Seq2Seq)
    assert isinstance(prepared.train, SequencePairs)
    words = prepared.learner.encoder.vocabulary.words
    subwords = prepared.learner.subwords
    return [
        [
            int(words[prepared.train.sources[item][0] - 2][1:]),
            *(int(subwords.decode([rows[item]])[0][1:]) for rows in prepared.train.targets),
        ]
        for item in range(len(prepared.train.sources))
    ]


@examples(20)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.booleans())
def test_neighbours_never_cross_documents(sizes: list[int], neighbours: bool) -> None:
    texts = make_documents(sizes)
    assume(sum(max(size - 1 - neighbours, 0) for size in sizes) > 6)
    pairs = list_sources_and_targets(prepare_skipthought(texts, neighbours=neighbours))
    expected = [
        [place, place + 1, place - 1][: 2 + neighbours]
        for start, end in texts.list_spans()
        for place in range(start, end)
        if place + 1 < end and (place > start or not neighbours)
    ]
    assert pairs == expected


def test_skipthought_holds_out_sentences() -> None:
    texts = make_documents([30, 20])
    prepared = prepare_skipthought(texts, neighbours=True)
    assert isinstance(prepared.validate, GenerationValidator)
    assert isinstance(prepared.train, SequencePairs)
    every = list_sources_and_targets(prepared)
    trained, held = (
        {number for item in items for number in every[item]}
        for items in (prepared.train.items, prepared.validate.pairs.items)
    )
    assert held
    assert trained.isdisjoint(held)
    assert prepared.validate(prepared.learner).metric == "perplexity"


def test_too_few_neighbours_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^3 sentences in 3 documents have too few neighbours: "):
        prepare_skipthought(make_documents([1, 1, 1]), neighbours=False)
    with pytest.raises(UsageError, match="too few neighbours"):
        prepare_skipthought(make_documents([2, 2]), neighbours=True)


def test_trees_may_repeat_in_held_out() -> None:
    texts = sentences(40)
    trees = Trees((*texts, *texts), ("(S (NP NN )NP )S",) * 80)
    prepared = prepare(OBJECTIVES["seq2tree"], trees, model_of(texts), TINY)
    assert isinstance(prepared.train, SequencePairs)
    assert len(prepared.train.items) == 80 - 2 * TINY.validation


def test_frequent_symbol_is_one_code() -> None:
    texts = sentences(40)
    trees = Trees(texts, ("(S (NP NN )NP )S",) * 40)
    prepared = prepare(OBJECTIVES["seq2tree"], trees, model_of(texts), TINY)
    assert isinstance(prepared.train, SequencePairs)
    assert set(prepared.train.targets[0].lengths) == {5}
