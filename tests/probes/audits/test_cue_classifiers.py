"""Predictions with LightGBM: accuracy, edge cases, and silence on stdout and stderr."""

import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sentprobe.probes.audits.cue_classifiers import BOOSTED_COLUMNS, predict_with_boosting
from sentprobe.probes.datasets.dataset import Indices

pytest.importorskip("lightgbm")
sparse = pytest.importorskip("scipy.sparse")

Table = NDArray[np.float32]
LEAF_SIZE = 20
"""Items that a leaf has at least."""


def make_table(items: int, *, seed: int, columns: int = 8) -> Table:
    """Return features like those of cues: mostly 0, otherwise small numbers, some negative."""
    generator = np.random.default_rng(seed)
    values = generator.choice([-2, 1, 1, 1, 2, 3], (items, columns))
    is_present = generator.random((items, columns)) < generator.uniform(0.05, 0.6, columns)
    return np.where(is_present, values, 0).astype(np.float32)


def predict(train: Table, targets: Indices, table: Table) -> Indices:
    (predicted,) = predict_with_boosting(sparse.csr_matrix(train), [sparse.csr_matrix(table)], targets)
    return predicted


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(0, 3), st.integers(1, 20))
@examples(25)
def test_boosting_answers_any_table(seed: int, items: int, columns: int, labels: int) -> None:
    table = make_table(items, seed=seed, columns=columns)
    targets = 3 * np.random.default_rng(seed).integers(0, labels, items)
    predicted = predict(table, targets, table)
    assert predicted.dtype == np.int64
    assert len(predicted) == items
    assert set(predicted.tolist()) <= set(targets.tolist())
    if items < 2 * LEAF_SIZE or not columns:  # nothing can be divided
        label_counts = np.bincount(targets)
        assert len(set(predicted.tolist())) == 1
        assert label_counts[predicted[0]] == label_counts.max()


@given(st.integers(0, 2**32 - 1), st.integers(1, LEAF_SIZE + 10))
@examples(10)
def test_column_below_leaf_size_is_ignored(seed: int, count: int) -> None:
    generator = np.random.default_rng(seed)
    targets = np.zeros(100, np.int64)
    targets[generator.permutation(100)[:count]] = 1
    predicted = predict(targets[:, None].astype(np.float32), targets, np.array([[0], [1]], np.float32))
    assert predicted.tolist() == [0, int(count >= LEAF_SIZE)]


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@examples(4)
def test_order_of_items_does_not_matter(seed: int, labels: int) -> None:
    table = make_table(150, seed=seed)
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, labels, 150)
    order = generator.permutation(150)
    first = predict(table, targets, table)
    second = predict(table[order], targets[order], table)
    assert np.mean(first == second) > 0.98  # sums in another order: equal gains may fall otherwise


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@examples(4)
def test_storage_order_does_not_matter(seed: int, labels: int) -> None:
    table = make_table(150, seed=seed)
    targets = np.random.default_rng(seed).integers(0, labels, 150)
    sorted_rows = sparse.csr_matrix(table)
    reversed_rows = sparse.csr_matrix(table[:, ::-1])[:, ::-1]
    assert not reversed_rows.has_sorted_indices
    first, again = predict_with_boosting(sorted_rows, [sorted_rows, reversed_rows], targets)
    assert np.array_equal(first, again)
    assert np.array_equal(first, predict_with_boosting(reversed_rows, [reversed_rows], targets)[0])


def test_boosting_combines_two_features() -> None:
    train, test = make_table(600, seed=1) > 0, make_table(300, seed=2) > 0
    targets = [(part[:, 0] ^ part[:, 1]).astype(np.int64) for part in (train, test)]
    predicted = predict(train.astype(np.float32), targets[0], test.astype(np.float32))
    assert np.mean(predicted == targets[1]) > 0.97


def test_commonest_label_is_the_fallback() -> None:
    table = np.ones((50, 2), np.float32)
    targets = np.array([7] * 30 + [3] * 15 + [5] * 5)
    assert predict(table, targets, table).tolist() == [7] * 50
    assert predict(table[:, :0], targets, table[:, :0]).tolist() == [7] * 50


def test_rare_columns_are_ignored() -> None:
    targets = np.arange(100) % 2
    table = np.zeros((100, BOOSTED_COLUMNS + 1), np.float32)
    table[:, -1] = targets
    assert len(set(predict(table, targets, table).tolist())) == 1
    assert predict(table[:, 1:], targets, table[:, 1:]).tolist() == targets.tolist()


@pytest.mark.parametrize("labels", [2, 5])
def test_boosting_equals_scikit_learn(labels: int) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    train, test = make_table(800, seed=3), make_table(1000, seed=4)
    weights = np.random.default_rng(5).normal(size=(8, labels))
    noise = np.random.default_rng(6).normal(size=(1800, labels))
    targets = (np.vstack([train, test]) @ weights + noise).argmax(axis=1)
    model = ensemble.HistGradientBoostingClassifier(early_stopping=False, max_iter=50)
    accuracy = model.fit(train, targets[:800]).score(test, targets[800:])
    predicted = predict(train, targets[:800], test)
    assert np.mean(predicted == targets[800:]) == pytest.approx(accuracy, abs=0.03)


@pytest.mark.parametrize(("items", "labels"), [(1, 1), (30, 2), (100, 1), (100, 3)])
def test_library_prints_nothing(items: int, labels: int, capfd: pytest.CaptureFixture[str]) -> None:
    for table in (make_table(items, seed=0), np.ones((items, 2), np.float32)):
        predict(table, np.arange(items) % labels, table)
    assert tuple(capfd.readouterr()) == ("", "")


def test_unloadable_library_has_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = "libgomp.so.1: cannot open shared object file: No such file or directory"
    (tmp_path / "lightgbm.py").write_text(f"raise OSError({lacking!r})")
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="LightGBM is installed, but cannot be loaded; it needs"):
        predict(make_table(50, seed=0), np.arange(50) % 2, make_table(1, seed=0))
