"""``skipthought``: targets are neighbours of the sources in one document."""

from dataclasses import replace
from itertools import accumulate

import pytest
from helpers.thoroughness import examples
from helpers.trainings.pretraining_pieces import TINY, model_of
from hypothesis import assume, given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.training.corpora import Sentences
from sentprobe.probes.training.decoder import GenerationValidator, Seq2Seq, SequencePairs
from sentprobe.probes.training.objective import PreparedObjective
from sentprobe.probes.training.objectives import OBJECTIVES, prepare

pytest.importorskip("tokenizers")


def corpus(sizes: list[int]) -> Sentences:
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
    texts = corpus(sizes)
    assume(sum(max(size - 1 - neighbours, 0) for size in sizes) > 6)
    pairs = list_sources_and_targets(prepare_skipthought(texts, neighbours=neighbours))
    expected = [
        [place, place + 1, place - 1][: 2 + neighbours]
        for start, end in texts.list_spans()
        for place in range(start, end)
        if place + 1 < end and (place > start or not neighbours)
    ]
    assert pairs == expected


def test_no_sentence_held_out_is_read_or_said_in_training() -> None:
    texts = corpus([30, 20])
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


def test_documents_of_one_sentence_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^3 sentences in 3 documents have too few neighbours: "):
        prepare_skipthought(corpus([1, 1, 1]), neighbours=False)
    with pytest.raises(UsageError, match="too few neighbours"):
        prepare_skipthought(corpus([2, 2]), neighbours=True)
