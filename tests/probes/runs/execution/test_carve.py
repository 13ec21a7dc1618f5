"""Validation items carved out of training."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.datasets.dataset import Indices, Items
from sentprobe.probes.runs.controls import split_validation


@st.composite
def items_with_groups(draw: st.DrawFn) -> tuple[Items, Indices]:
    """Training items with repeated words, in groups of a few items."""
    size = draw(st.integers(4, 60))
    slots = draw(st.integers(0, 2))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    items = Items(np.arange(size), generator.integers(3, size=(size, slots)), generator.integers(2, size=size))
    return items, generator.integers(max(1, size // draw(st.integers(1, 4))), size=size)


@given(items_with_groups(), st.floats(0.05, 0.95), st.integers(0, 9))
def test_nothing_is_lost_and_groups_and_words_stay(training: tuple[Items, Indices], share: float, seed: int) -> None:
    items, groups = training
    try:
        training_items, validation = split_validation(items, groups, share=share, seed=seed)
    except SentprobeError:
        return
    assert len(validation) > 0
    assert sorted([*training_items.rows, *validation.rows]) == list(range(len(items)))
    assert not set(groups[training_items.rows]) & set(groups[validation.rows])
    assert set(training_items.targets) == set(items.targets)
    for slot in range(items.slots):
        assert set(training_items.probes[:, slot]) == set(items.probes[:, slot])
    for part in (training_items, validation):
        assert (items.probes[part.rows] == part.probes).all()
        assert (items.targets[part.rows] == part.targets).all()
    if len(np.unique(groups[validation.rows])) > 1:
        allowed = Counter(items.targets.tolist())
        for label, count in Counter(validation.targets.tolist()).items():
            assert count <= round(share * allowed[label])


def test_share_is_met_where_items_stand_alone() -> None:
    generator = np.random.default_rng(0)
    items = Items(np.arange(1000), generator.integers(5, size=(1000, 2)), np.arange(1000) % 2)
    training_items, validation = split_validation(items, np.arange(1000), share=0.1, seed=3)
    assert (len(training_items), len(validation)) == (900, 100)
    assert validation.targets.sum() == 50
    again = split_validation(items, np.arange(1000), share=0.1, seed=3)
    assert (training_items, validation) == again
    assert split_validation(items, np.arange(1000), share=0.1, seed=4)[1] != validation


def test_mirror_pairs_stay_together() -> None:
    items = Items(np.arange(100), [], np.arange(100) % 2)  # type: ignore[arg-type]
    _, validation = split_validation(items, np.arange(100) // 2, share=0.2, seed=0)
    assert len(validation) == 20
    assert sorted(validation.rows // 2) == sorted(np.unique(validation.rows // 2).repeat(2))


def test_nothing_to_spare() -> None:
    items = Items([0, 1], [[0], [1]], [0, 1])  # type: ignore[arg-type]
    with pytest.raises(SentprobeError, match="no validation items can be taken"):
        split_validation(items, np.arange(2))


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_share_out_of_range(share: float) -> None:
    items = Items([0, 1], [], [0, 1])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is not between 0 and 1"):
        split_validation(items, np.arange(2), share=share)
    with pytest.raises(UsageError, match=r"groups of shape \(3,\) for 2 training items"):
        split_validation(items, np.arange(3))
