"""``seq2tree``: sentences are held out; trees, of which many are alike, are not."""

import pytest
from pretraining_pieces import TINY, model_of, sentences

from sentprobe.probes.pretraining.batches import SequencePairs
from sentprobe.probes.pretraining.objectives import OBJECTIVES, prepare
from sentprobe.probes.pretraining.texts.corpora import Trees

pytest.importorskip("tokenizers")


def test_a_tree_may_be_in_both_parts_but_a_sentence_not() -> None:
    texts = sentences(40)
    trees = Trees((*texts, *texts), ("(S (NP NN )NP )S",) * 80)
    made = prepare(OBJECTIVES["seq2tree"], trees, model_of(texts), TINY)
    assert isinstance(made.train, SequencePairs)
    assert len(made.train.items) == 80 - 2 * TINY.validation


def test_a_frequent_symbol_is_one_code() -> None:
    texts = sentences(40)
    trees = Trees(texts, ("(S (NP NN )NP )S",) * 40)
    made = prepare(OBJECTIVES["seq2tree"], trees, model_of(texts), TINY)
    assert isinstance(made.train, SequencePairs)
    assert set(made.train.targets[0].lengths) == {5}
