"""Each objective that says a text learns a little, and (slow) fifty items by heart."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pretraining_pieces import TINY, larger, model_of, said_right, sentences, teach

from sentprobe.probes.pretraining.objective import Prepared
from sentprobe.probes.pretraining.objectives import OBJECTIVES, ObjectiveOptions, prepare
from sentprobe.probes.pretraining.texts import corpora
from sentprobe.probes.pretraining.texts.meanings import draw_meanings

pytest.importorskip("tokenizers")
pytest.importorskip("sacrebleu")

ITEMS = 56
"""Fifty are trained on."""


def text(count: int) -> corpora.Sentences:
    return corpora.Sentences(sentences(count), (0,))


def translated(count: int) -> corpora.SentencePairs:
    """Return sentences and, as another language, their words turned round, in capital letters."""
    sources = sentences(count)
    return corpora.SentencePairs(sources, tuple(" ".join(s.upper().split()[::-1]) for s in sources))


def parsed(count: int) -> corpora.Trees:
    """Return sentences and flat trees, with the first letter of each word as its part of speech."""
    sources = sentences(count)
    tags = (" ".join(word[0].upper() for word in source.split()) for source in sources)
    return corpora.Trees(sources, tuple(f"(S {each} )S" for each in tags))


TEXTS: dict[str, Callable[[int], Any]] = {
    "autoencoder": text,
    "denoising": text,
    "skipthought": text,
    "nmt": translated,
    "seq2tree": parsed,
    "meaning": lambda count: draw_meanings(count, seed=1),
}
METRICS = {"seq2tree": "accuracy", "meaning": "accuracy", "skipthought": "perplexity"}


def read(texts: Any) -> Sequence[str]:
    """Return what the encoder reads."""
    names = ("texts", "sources", "sentences")
    found: Sequence[str] = next(getattr(texts, name) for name in names if hasattr(texts, name))
    return found


def prepared(name: str, count: int, options: ObjectiveOptions, *, hidden: int) -> Prepared:
    texts = TEXTS[name](count)
    return prepare(OBJECTIVES[name], texts, model_of(read(texts), hidden=hidden), options)


@pytest.mark.parametrize("name", TEXTS)
def test_a_little_is_learned(name: str) -> None:
    made = prepared(name, 30, TINY, hidden=8)
    before = made.validate(made.learner)
    assert before.metric == METRICS.get(name, "BLEU")
    loss = teach(made, epochs=2)
    assert loss < before.loss
    assert made.validate(made.learner).betters(before)


@pytest.mark.slow  # half a minute of learning
@pytest.mark.parametrize("name", TEXTS)
def test_fifty_items_are_learned_by_heart(name: str) -> None:
    made = prepared(name, ITEMS, larger(), hidden=64)
    teach(made, epochs=60, rate=0.005)
    assert said_right(made) >= 0.99
