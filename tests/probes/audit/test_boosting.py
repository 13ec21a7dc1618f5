"""LightGBM behind its door: that it finds what others find, says nothing, and takes any data."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from thoroughness import examples

from sentprobe.probes.audit.classify import BOOSTED_COLUMNS, boosting
from sentprobe.probes.dataset import Indices

pytest.importorskip("lightgbm")
sparse = pytest.importorskip("scipy.sparse")

Table = NDArray[np.float32]
LEAF = 20
"""Items that a leaf has at least."""


def counts(items: int, *, seed: int, columns: int = 8) -> Table:
    """Features as cues have them: mostly 0, else small numbers, some of them below 0."""
    generator = np.random.default_rng(seed)
    values = generator.choice([-2, 1, 1, 1, 2, 3], (items, columns))
    there = generator.random((items, columns)) < generator.uniform(0.05, 0.6, columns)
    return np.where(there, values, 0).astype(np.float32)


def answers(train: Table, targets: Indices, asked: Table) -> Indices:
    (found,) = boosting(sparse.csr_matrix(train), [sparse.csr_matrix(asked)], targets)
    return found


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(0, 3), st.integers(1, 20))
@examples(25)
def test_any_number_of_items_columns_and_labels_is_answered(
    seed: int, items: int, columns: int, labels: int
) -> None:
    table = counts(items, seed=seed, columns=columns)
    targets = 3 * np.random.default_rng(seed).integers(0, labels, items)
    found = answers(table, targets, table)
    assert found.dtype == np.int64
    assert len(found) == items
    assert set(found.tolist()) <= set(targets.tolist())
    if items < 2 * LEAF or not columns:  # nothing can be divided
        often = np.bincount(targets)
        assert len(set(found.tolist())) == 1
        assert often[found[0]] == often.max()


@given(st.integers(0, 2**32 - 1), st.integers(1, LEAF + 10))
@examples(10)
def test_a_column_of_fewer_items_than_a_leaf_has_is_not_asked(seed: int, have: int) -> None:
    generator = np.random.default_rng(seed)
    told = np.zeros(100, np.int64)
    told[generator.permutation(100)[:have]] = 1
    found = answers(told[:, None].astype(np.float32), told, np.array([[0], [1]], np.float32))
    assert found.tolist() == [0, int(have >= LEAF)]


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@examples(4)
def test_the_order_of_items_does_not_matter(seed: int, labels: int) -> None:
    table = counts(150, seed=seed)
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, labels, 150)
    order = generator.permutation(150)
    first = answers(table, targets, table)
    second = answers(table[order], targets[order], table)
    assert np.mean(first == second) > 0.98  # sums in another order: equal gains may fall otherwise


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@examples(4)
def test_equal_data_are_answered_equally_however_they_are_stored(seed: int, labels: int) -> None:
    table = counts(150, seed=seed)
    targets = np.random.default_rng(seed).integers(0, labels, 150)
    sorted_rows = sparse.csr_matrix(table)
    others = sparse.csr_matrix(table[:, ::-1])[:, ::-1]
    assert not others.has_sorted_indices
    first, again = boosting(sorted_rows, [sorted_rows, others], targets)
    assert np.array_equal(first, again)
    assert np.array_equal(first, boosting(others, [others], targets)[0])


def test_two_features_together_tell_what_neither_does() -> None:
    train, test = counts(600, seed=1) > 0, counts(300, seed=2) > 0
    told = [(part[:, 0] ^ part[:, 1]).astype(np.int64) for part in (train, test)]
    found = answers(train.astype(np.float32), told[0], test.astype(np.float32))
    assert np.mean(found == told[1]) > 0.97


def test_where_nothing_can_be_asked_the_commonest_label_is_the_answer() -> None:
    shown = np.ones((50, 2), np.float32)
    targets = np.array([7] * 30 + [3] * 15 + [5] * 5)
    assert answers(shown, targets, shown).tolist() == [7] * 50
    assert answers(shown[:, :0], targets, shown[:, :0]).tolist() == [7] * 50


def test_columns_beyond_the_commonest_are_not_seen() -> None:
    told = np.arange(100) % 2
    shown = np.zeros((100, BOOSTED_COLUMNS + 1), np.float32)
    shown[:, -1] = told
    assert len(set(answers(shown, told, shown).tolist())) == 1
    assert answers(shown[:, 1:], told, shown[:, 1:]).tolist() == told.tolist()


@pytest.mark.parametrize("labels", [2, 5])
def test_as_much_is_found_as_by_scikit_learns(labels: int) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    train, test = counts(800, seed=3), counts(1000, seed=4)
    weights = np.random.default_rng(5).normal(size=(8, labels))
    noise = np.random.default_rng(6).normal(size=(1800, labels))
    told = (np.vstack([train, test]) @ weights + noise).argmax(axis=1)
    model = ensemble.HistGradientBoostingClassifier(early_stopping=False, max_iter=50)
    known = model.fit(train, told[:800]).score(test, told[800:])
    found = answers(train, told[:800], test)
    assert np.mean(found == told[800:]) == pytest.approx(known, abs=0.03)


@pytest.mark.parametrize(("items", "labels"), [(1, 1), (30, 2), (100, 1), (100, 3)])
def test_the_library_prints_nothing(
    items: int, labels: int, capfd: pytest.CaptureFixture[str]
) -> None:
    for table in (counts(items, seed=0), np.ones((items, 2), np.float32)):
        answers(table, np.arange(items) % labels, table)
    assert tuple(capfd.readouterr()) == ("", "")


def test_a_library_that_the_system_cannot_load_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = "libgomp.so.1: cannot open shared object file: No such file or directory"
    (tmp_path / "lightgbm.py").write_text(f"raise OSError({lacking!r})")
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="LightGBM is installed, but cannot be loaded; it needs"):
        answers(counts(50, seed=0), np.arange(50) % 2, counts(1, seed=0))
