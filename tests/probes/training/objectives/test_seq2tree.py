"""``seq2tree``: held-out sentences are new, but trees may repeat."""

import pytest
from helpers.trainings.pretraining_pieces import TINY, model_of, sentences

from sentprobe.probes.training.corpora import Trees
from sentprobe.probes.training.decoder import SequencePairs
from sentprobe.probes.training.objectives import OBJECTIVES, prepare

pytest.importorskip("tokenizers")


def test_a_tree_may_be_in_both_parts_but_a_sentence_not() -> None:
    texts = sentences(40)
    trees = Trees((*texts, *texts), ("(S (NP NN )NP )S",) * 80)
    prepared = prepare(OBJECTIVES["seq2tree"], trees, model_of(texts), TINY)
    assert isinstance(prepared.train, SequencePairs)
    assert len(prepared.train.items) == 80 - 2 * TINY.validation


def test_a_frequent_symbol_is_one_code() -> None:
    texts = sentences(40)
    trees = Trees(texts, ("(S (NP NN )NP )S",) * 40)
    prepared = prepare(OBJECTIVES["seq2tree"], trees, model_of(texts), TINY)
    assert isinstance(prepared.train, SequencePairs)
    assert set(prepared.train.targets[0].lengths) == {5}
