"""Objectives that generate text learn a little, and (slow) memorise fifty items."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from helpers.trainings.pretraining_pieces import TINY, larger, model_of, said_right, sentences, teach

from sentprobe.probes.training import corpora
from sentprobe.probes.training.corpora import sample_meanings
from sentprobe.probes.training.objective import PreparedObjective
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objectives import OBJECTIVES, prepare

pytest.importorskip("tokenizers")
pytest.importorskip("sacrebleu")

ITEMS = 56
"""Fifty of them are training items."""


def text(count: int) -> corpora.Sentences:
    return corpora.Sentences(sentences(count), (0,))


def translated(count: int) -> corpora.SentencePairs:
    """Return sentences and, as translations, their words reversed in capital letters."""
    sources = sentences(count)
    return corpora.SentencePairs(sources, tuple(" ".join(s.upper().split()[::-1]) for s in sources))


def make_trees(count: int) -> corpora.Trees:
    """Return sentences and flat trees, with the first letter of each word as its part of speech."""
    sources = sentences(count)
    tags = (" ".join(word[0].upper() for word in source.split()) for source in sources)
    return corpora.Trees(sources, tuple(f"(S {tag} )S" for tag in tags))


TEXTS: dict[str, Callable[[int], Any]] = {
    "autoencoder": text,
    "denoising": text,
    "skipthought": text,
    "nmt": translated,
    "seq2tree": make_trees,
    "meaning": lambda count: sample_meanings(count, seed=1),
}
METRICS = {"seq2tree": "accuracy", "meaning": "accuracy", "skipthought": "perplexity"}


def read_attribute(texts: Any) -> Sequence[str]:
    """Return the encoder's source texts."""
    names = ("texts", "sources", "sentences")
    texts_found: Sequence[str] = next(getattr(texts, name) for name in names if hasattr(texts, name))
    return texts_found


def prepare_objective(name: str, count: int, options: ObjectiveOptions, *, hidden: int) -> PreparedObjective:
    texts = TEXTS[name](count)
    return prepare(OBJECTIVES[name], texts, model_of(read_attribute(texts), hidden=hidden), options)


@pytest.mark.parametrize("name", TEXTS)
def test_a_little_is_learned(name: str) -> None:
    prepared = prepare_objective(name, 30, TINY, hidden=8)
    before = prepared.validate(prepared.learner)
    assert before.metric == METRICS.get(name, "BLEU")
    loss = teach(prepared, epochs=2)
    assert loss < before.loss
    assert prepared.validate(prepared.learner).is_better_than(before)


@pytest.mark.slow  # half a minute of learning
@pytest.mark.parametrize("name", TEXTS)
def test_fifty_items_are_learned_by_heart(name: str) -> None:
    prepared = prepare_objective(name, ITEMS, larger(), hidden=64)
    teach(prepared, epochs=80, rate=0.005)
    assert said_right(prepared) >= 0.99
