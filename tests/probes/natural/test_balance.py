"""Numbers of items by class and split, and the division of words among splits."""

from random import Random

import numpy as np
import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.specs import Size
from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.natural.parsed_tasks import (
    apportion_items,
    compute_correlation,
    describe_target,
    find_best_target,
)
from sentprobe.probes.natural.selection import compute_class_share, deal_forms, describe_rarest_class, scale_share


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12).filter(lambda s: sum(s) > 0.01), st.integers(0, 500))
def test_apportioned_numbers_are_near_shares(shares: list[float], number: int) -> None:
    counts = apportion_items(np.array(shares), number)
    assert counts.sum() == number
    assert np.all(np.abs(counts - np.array(shares) / sum(shares) * number) < 1 + 1e-6)


@given(st.integers(0, 3000), st.integers(1, 900), st.integers(1, 90), st.integers(0, 90))
def test_shares_fit_the_capacity(capacity: int, train: int, test: int, validation: int) -> None:
    share = compute_class_share(Size(train, test, validation), classes=3)
    got = scale_share(capacity, share)
    if got is None:
        assert capacity < len(share)
    else:
        assert sum(got.values()) <= capacity or got == share
        assert all(got[split] >= 1 for split in share)
        assert got == share or sum(got.values()) == capacity


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 1)), min_size=1, max_size=300))
def test_form_is_dealt_to_one_split(pairs: list[tuple[int, int]]) -> None:
    forms, labels = np.array(pairs, np.int64).T
    pool = SentencePool(np.arange(len(forms), dtype=np.uint64), labels, forms)
    quotas = {Split.TRAIN: 10, Split.VALIDATION: 1, Split.TEST: 1}
    dealt = deal_forms(pool, classes=2, requested=quotas)
    assert all(len(set(dealt[forms == form].tolist())) == 1 for form in set(forms.tolist()))


def test_forms_are_dealt_in_proportion() -> None:
    rng = np.random.default_rng(0)
    forms = np.minimum(rng.zipf(1.4, 4000), 400).astype(np.int64)
    pool = SentencePool(np.arange(4000, dtype=np.uint64), forms % 2, forms)
    quotas = {Split.TRAIN: 8, Split.VALIDATION: 1, Split.TEST: 1}
    counts = np.bincount(deal_forms(pool, classes=2, requested=quotas), minlength=3)
    assert counts.tolist() == pytest.approx([3200, 400, 400], abs=60)


@examples(40)
@given(st.lists(st.integers(1, 9), min_size=40, max_size=80), st.randoms(use_true_random=False))
def test_common_forms_leave_splits_large(sizes: list[int], rng: Random) -> None:
    """Where rare forms can fill each split, fewer items are lost than the rarest form has."""
    sizes = [60, 45, 30, *sizes, *[1] * 30]
    forms = np.repeat(np.arange(len(sizes)), sizes)
    order = np.array(rng.sample(range(len(forms)), len(forms)))
    pool = SentencePool(np.arange(len(forms), dtype=np.uint64), np.zeros_like(forms), forms[order])
    quotas = {Split.TRAIN: 10, Split.VALIDATION: 1, Split.TEST: 1}
    counts = np.bincount(deal_forms(pool, classes=1, requested=quotas), minlength=3)
    assert np.all(counts >= len(forms) * np.array([10, 1, 1]) / 12 - 1)


def test_too_common_form_goes_to_training() -> None:
    sizes = [60, 13, 13, 8, 6, 5, 5, 4, 3, 1, 1, 1]
    forms = np.repeat(np.arange(12), sizes)
    pool = SentencePool(np.arange(120, dtype=np.uint64), np.zeros_like(forms), forms)
    quotas = {Split.TRAIN: 10, Split.VALIDATION: 1, Split.TEST: 1}
    dealt = deal_forms(pool, classes=1, requested=quotas)
    assert np.bincount(dealt).tolist() == [100, 10, 10]
    assert set(dealt[forms < 3].tolist()) == {0}


def test_few_common_forms_fill_all_splits() -> None:
    forms = np.repeat(np.arange(8), [10] * 7 + [1])
    pool = SentencePool(np.arange(71, dtype=np.uint64), np.zeros_like(forms), forms)
    quotas = {Split.TRAIN: 10, Split.VALIDATION: 1, Split.TEST: 1}
    assert np.all(np.bincount(deal_forms(pool, classes=1, requested=quotas), minlength=3) > 0)


def test_rarest_class_is_named_with_count() -> None:
    labels = np.array([0, 1, 1, 0, 1])
    pool = SentencePool(np.arange(5, dtype=np.uint64), labels, np.zeros_like(labels))
    assert describe_rarest_class(pool, ["NN", "NNS"]) == "the rarest class, NN, has 2 sentences"
    assert describe_rarest_class(pool, ["a", "b", "c"]) == "the rarest class, c, has 0 sentences"


SHAPE = 8, 17
"""Depths 5 to 12, and lengths 6 to 22."""


@examples(25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(20, 400))
def test_depth_target_is_uncorrelated_with_length(seed: int, plenty: int, items: int) -> None:
    """The deeper, the longer, as in text; corners that nobody writes are empty."""
    rng = np.random.default_rng(seed)
    depth, length = np.indices(SHAPE)
    cells = rng.poisson(plenty * np.exp(-(((length - 8) / 2 - depth + 4) ** 2) / 12))
    size = {Split.TRAIN: items, Split.TEST: 10}
    result = find_best_target(cells, size)
    if result is None:
        return
    _, quotas = result
    total = np.sum(list(quotas.values()), axis=0)
    assert np.all(total <= cells)
    assert all(quota.sum(axis=1).all() for quota in quotas.values())
    if total.sum() >= 200:
        assert abs(compute_correlation(total)) < 0.1
        lengths = np.repeat(np.arange(17), total.sum(axis=0))
        assert lengths.std() >= 3


def test_long_shallow_sentences_are_taken() -> None:
    """As the example of the paper: 22 tokens, 5 deep."""
    result = find_best_target(np.full(SHAPE, 60), {Split.TRAIN: 1000, Split.TEST: 100})
    assert result is not None
    target, quotas = result
    assert np.isinf(target.depth_spread)
    assert quotas[Split.TRAIN][0, -1] > 0
    assert quotas[Split.TRAIN].sum() == 1000
    assert compute_correlation(quotas[Split.TRAIN]) == compute_correlation(quotas[Split.TEST]) == 0


@given(st.integers(0, 2**32 - 1))
def test_correlation_is_numpys(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 9, SHAPE)
    depth, length = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(SHAPE))
    assert compute_correlation(counts) == pytest.approx(np.corrcoef(depth, length)[0, 1], abs=1e-6)


def test_middle_depth_is_noted() -> None:
    """Few sentences are as shallow or as deep as the corpus allows."""
    cells = np.outer([8, 20, 40, 50, 40, 20, 8], np.ones(17, np.int64))
    result = find_best_target(cells, {Split.TRAIN: 600, Split.TEST: 60})
    assert result is not None
    assert "around 8;" in describe_target(*result, range(5, 12))
