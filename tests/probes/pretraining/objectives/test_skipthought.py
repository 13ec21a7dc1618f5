"""``skipthought``: what is said follows what is read, in one document."""

from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pretraining_pieces import TINY, model_of
from thoroughness import examples

from sentprobe.errors import UsageError
from sentprobe.probes.pretraining.batches import SequencePairs
from sentprobe.probes.pretraining.objective import Prepared
from sentprobe.probes.pretraining.objectives import OBJECTIVES, prepare
from sentprobe.probes.pretraining.said import SaidTexts
from sentprobe.probes.pretraining.seq2seq import Seq2Seq
from sentprobe.probes.pretraining.texts.corpora import Sentences

pytest.importorskip("tokenizers")


def corpus(sizes: list[int]) -> Sentences:
    """Return documents of so many sentences; a sentence is its number in words and letters."""
    starts = [0, *accumulate(sizes)]
    return Sentences(tuple(f"n{number}" for number in range(starts[-1])), tuple(starts[:-1]))


def prepared(texts: Sentences, *, neighbours: bool) -> Prepared:
    options = replace(TINY, neighbours=neighbours)
    return prepare(OBJECTIVES["skipthought"], texts, model_of(texts.texts), options)


def read_and_said(made: Prepared) -> list[list[int]]:
    """Return the numbers of the sentences of each item: what is read, and what is said of it."""
    assert isinstance(made.learner, Seq2Seq)
    assert isinstance(made.train, SequencePairs)
    words = made.learner.encoder.vocabulary.words
    said = made.learner.subwords
    return [
        [
            int(words[made.train.sources[item][0] - 2][1:]),
            *(int(said.decode([rows[item]])[0][1:]) for rows in made.train.targets),
        ]
        for item in range(len(made.train.sources))
    ]


@examples(20)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.booleans())
def test_neighbours_never_cross_documents(sizes: list[int], neighbours: bool) -> None:
    texts = corpus(sizes)
    assume(sum(max(size - 1 - neighbours, 0) for size in sizes) > 6)
    found = read_and_said(prepared(texts, neighbours=neighbours))
    wanted = [
        [place, place + 1, place - 1][: 2 + neighbours]
        for start, end in texts.spans()
        for place in range(start, end)
        if place + 1 < end and (place > start or not neighbours)
    ]
    assert found == wanted


def test_no_sentence_held_out_is_read_or_said_in_training() -> None:
    texts = corpus([30, 20])
    made = prepared(texts, neighbours=True)
    assert isinstance(made.validate, SaidTexts)
    assert isinstance(made.train, SequencePairs)
    every = read_and_said(made)
    trained, held = (
        {number for item in items for number in every[item]}
        for items in (made.train.items, made.validate.pairs.items)
    )
    assert held
    assert trained.isdisjoint(held)
    assert made.validate(made.learner).metric == "perplexity"


def test_documents_of_one_sentence_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^3 sentences in 3 documents have too few neighbours: "):
        prepared(corpus([1, 1, 1]), neighbours=False)
    with pytest.raises(UsageError, match="too few neighbours"):
        prepared(corpus([2, 2]), neighbours=True)
