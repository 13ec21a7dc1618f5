"""Batches of text: each item once per epoch, determinism, little padding."""

import numpy as np
import torch
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sentprobe.probes.training import decoder as bt
from sentprobe.probes.training.decoder import END, START
from sentprobe.probes.training.objective import Batch, collect_rows

RANDOM = np.random.default_rng(1)
ROWS = [[2 + row, *RANDOM.integers(2, 9, RANDOM.integers(0, 12)).tolist()] for row in range(50)]
SAID = [[3 + row, *RANDOM.integers(3, 9, RANDOM.integers(0, 12)).tolist()] for row in range(50)]


def shuffled(source: NDArray[np.int32], random: np.random.Generator) -> NDArray[np.int32]:
    return random.permutation(source)


def pairs(*, noise: bt.Noise | None = None, size: int = 8, items: int = 50) -> bt.SequencePairs:
    return bt.SequencePairs(
        sources=collect_rows(ROWS),
        targets=(collect_rows(SAID), collect_rows(ROWS)),
        items=np.arange(items),
        size=size,
        seed=7,
        noise=noise,
    )


def plain(batches: list[Batch]) -> list[object]:
    return [(batch.items, batch.targets, {name: t.tolist() for name, t in batch.tensors.items()}) for batch in batches]


@examples(30)
@given(st.integers(1, 60), st.integers(1, 50), st.integers(0, 3))
def test_an_epoch_has_each_item_once(size: int, items: int, epoch: int) -> None:
    sequence_pairs = pairs(size=size, items=items)
    batches = list(sequence_pairs.batches(epoch))
    assert len(batches) == sequence_pairs.steps
    firsts = [first for batch in batches for first in batch.tensors[bt.SOURCES][:, 0].tolist()]
    assert sorted(firsts) == [2 + row for row in range(items)]


@examples(30)
@given(st.integers(0, 3), st.integers(0, 7), st.booleans())
def test_batches_go_on_where_they_stopped(epoch: int, start: int, noisy: bool) -> None:
    sequence_pairs = pairs(noise=shuffled if noisy else None)
    all_batches = plain(list(sequence_pairs.batches(epoch)))
    resumed_batches = pairs(noise=shuffled if noisy else None).batches(epoch, start=start)
    assert plain(list(resumed_batches)) == all_batches[start:]
    assert plain(list(sequence_pairs.batches(epoch + 1))) != all_batches


def test_a_batch_holds_its_items_with_start_and_end() -> None:
    (batch,) = [pairs().make_batch(np.array([3, 0]), epoch=0)]
    width = max(len(ROWS[3]), len(ROWS[0]))
    assert batch.tensors[bt.SOURCES].shape == (2, width)
    assert batch.tensors[bt.LENGTHS].tolist() == [len(ROWS[3]), len(ROWS[0])]
    target_codes = batch.tensors[bt.format_target_name(0)]
    for row, expected in zip(target_codes, (SAID[3], SAID[0]), strict=True):
        assert row[: len(expected) + 2].tolist() == [START, *expected, END]
        assert not row[len(expected) + 2 :].any()
    target_counts = [len(token_rows[row]) + 1 for row in (3, 0) for token_rows in (SAID, ROWS)]
    assert (batch.items, batch.targets) == (2, sum(target_counts))


def test_few_tokens_are_padding() -> None:
    random = np.random.default_rng(2)
    lengths = random.integers(5, 29, 2000)
    rows = collect_rows([9] * length for length in lengths)
    sequence_pairs = bt.SequencePairs(sources=rows, targets=(rows,), items=np.arange(2000), size=50, seed=1)
    batches = list(sequence_pairs.batches(0))
    shape = sum(batch.tensors[bt.SOURCES].numel() for batch in batches)
    assert 1 - lengths.sum() / shape < 0.03
    widths = torch.tensor([batch.tensors[bt.SOURCES].shape[1] for batch in batches])
    assert (widths.diff() < 0).any()  # and yet the long ones do not come last
