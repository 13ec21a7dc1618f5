"""The noise of SDAE: dropped words, then swapped pairs of neighbours."""

from collections import Counter

import numpy as np
import pytest
from helpers.thoroughness import examples
from helpers.trainings.pretraining_pieces import TINY, model_of, sentences
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.training.corpora import Sentences
from sentprobe.probes.training.decoder import SOURCES, format_target_name
from sentprobe.probes.training.learners import DropAndSwap
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objectives import OBJECTIVES, prepare

WORDS = st.lists(st.integers(2, 9), min_size=1, max_size=12)
SHARES = st.floats(0, 1)
SEEDS = st.integers(0, 99)


def apply_noise(words: list[int], drop: float, swap: float, seed: int) -> list[int]:
    noise = DropAndSwap(drop, swap)
    noisy_words = noise(np.array(words, dtype=np.int32), np.random.default_rng(seed))
    return [int(word) for word in noisy_words]


@examples(100)
@given(WORDS, SHARES, SHARES, SEEDS)
def test_no_word_is_new_and_one_stays(words: list[int], drop: float, swap: float, seed: int) -> None:
    left = apply_noise(words, drop, swap, seed)
    assert left
    assert Counter(left) <= Counter(words)


@examples(50)
@given(WORDS, SHARES, SEEDS)
def test_without_swaps_the_order_stays(words: list[int], drop: float, seed: int) -> None:
    remaining_words = iter(words)
    assert all(word in remaining_words for word in apply_noise(words, drop, 0, seed))


@examples(50)
@given(WORDS, SHARES, SEEDS)
def test_swaps_are_of_pairs_that_do_not_overlap(words: list[int], swap: float, seed: int) -> None:
    left = apply_noise(words, 0, swap, seed)
    for place in range(0, len(words), 2):
        pair = words[place : place + 2]
        assert left[place : place + 2] in (pair, pair[::-1])


@examples(50)
@given(WORDS, SEEDS)
def test_shares_of_0_and_1_leave_no_choice(words: list[int], seed: int) -> None:
    assert apply_noise(words, 0, 0, seed) == words
    assert len(apply_noise(words, 1, 1, seed)) == 1
    pairs = [words[place : place + 2] for place in range(0, len(words), 2)]
    turned = [word for pair in pairs for word in (pair[::-1] if len(pair) == 2 else pair)]
    assert apply_noise(words, 0, 1, seed) == turned


def test_shares_are_those_asked_for() -> None:
    words = list(range(20_000))
    left = apply_noise(words, 0.1, 0, 1)
    assert len(left) == pytest.approx(18_000, rel=0.01)
    swapped = np.array(apply_noise(words, 0, 0.3, 1)) != np.array(words)
    assert swapped.mean() == pytest.approx(0.3, abs=0.02)


def test_noise_is_new_each_epoch_and_only_on_what_is_read() -> None:
    texts = sentences(30)
    prepared = prepare(OBJECTIVES["denoising"], Sentences(texts, (0,)), model_of(texts), TINY)
    sources, targets = (
        [
            sorted(
                [token for token in row if token]
                for batch in prepared.train.batches(epoch)
                for row in batch.tensors[name].tolist()
            )
            for epoch in (0, 0, 1)
        ]
        for name in (SOURCES, format_target_name(0))
    )
    assert sources[0] == sources[1] != sources[2]
    assert targets[0] == targets[1] == targets[2]


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_what_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match=r"swap=.*: a share is from 0 to 1"):
        ObjectiveOptions(swap=share)
