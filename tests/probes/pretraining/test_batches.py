"""Batches: each item once an epoch, the same at each call, little padding."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from thoroughness import examples

from sentprobe.probes.pretraining import batches as bt
from sentprobe.probes.pretraining.objective import Batch
from sentprobe.probes.pretraining.subwords import END, START
from sentprobe.probes.pretraining.token_rows import collect_rows

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
    return [
        (batch.items, batch.targets, {name: t.tolist() for name, t in batch.tensors.items()})
        for batch in batches
    ]


@examples(30)
@given(st.integers(1, 60), st.integers(1, 50), st.integers(0, 3))
def test_an_epoch_has_each_item_once(size: int, items: int, epoch: int) -> None:
    made = pairs(size=size, items=items)
    found = list(made.batches(epoch))
    assert len(found) == made.steps
    firsts = [first for batch in found for first in batch.tensors[bt.SOURCES][:, 0].tolist()]
    assert sorted(firsts) == [2 + row for row in range(items)]


@examples(30)
@given(st.integers(0, 3), st.integers(0, 7), st.booleans())
def test_batches_go_on_where_they_stopped(epoch: int, start: int, noisy: bool) -> None:
    made = pairs(noise=shuffled if noisy else None)
    whole = plain(list(made.batches(epoch)))
    rest = pairs(noise=shuffled if noisy else None).batches(epoch, start=start)
    assert plain(list(rest)) == whole[start:]
    assert plain(list(made.batches(epoch + 1))) != whole


def test_a_batch_holds_its_items_with_start_and_end() -> None:
    (batch,) = [pairs().make(np.array([3, 0]), epoch=0)]
    width = max(len(ROWS[3]), len(ROWS[0]))
    assert batch.tensors[bt.SOURCES].shape == (2, width)
    assert batch.tensors[bt.LENGTHS].tolist() == [len(ROWS[3]), len(ROWS[0])]
    said = batch.tensors[bt.target_name(0)]
    for row, wanted in zip(said, (SAID[3], SAID[0]), strict=True):
        assert row[: len(wanted) + 2].tolist() == [START, *wanted, END]
        assert not row[len(wanted) + 2 :].any()
    asked = [len(each[row]) + 1 for row in (3, 0) for each in (SAID, ROWS)]
    assert (batch.items, batch.targets) == (2, sum(asked))


def test_few_tokens_are_padding() -> None:
    random = np.random.default_rng(2)
    lengths = random.integers(5, 29, 2000)
    rows = collect_rows([9] * length for length in lengths)
    made = bt.SequencePairs(sources=rows, targets=(rows,), items=np.arange(2000), size=50, seed=1)
    found = list(made.batches(0))
    shape = sum(batch.tensors[bt.SOURCES].numel() for batch in found)
    assert 1 - lengths.sum() / shape < 0.03
    widths = torch.tensor([batch.tensors[bt.SOURCES].shape[1] for batch in found])
    assert (widths.diff() < 0).any()  # and yet the long ones do not come last
