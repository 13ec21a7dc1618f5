"""Boosted trees over sparse features: what they ask, and that they find what others find."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from thoroughness import examples

from sentprobe.probes.audit.boosting import LEAF, answers, boosted_trees, questions

sparse = pytest.importorskip("scipy.sparse")

Table = NDArray[np.float32]


def counts(items: int, *, seed: int, columns: int = 8) -> Table:
    """Features as cues have them: mostly 0, else small numbers, some of them below 0."""
    generator = np.random.default_rng(seed)
    values = generator.choice([-2, 1, 1, 1, 2, 3], (items, columns))
    there = generator.random((items, columns)) < generator.uniform(0.05, 0.6, columns)
    return np.where(there, values, 0).astype(np.float32)


@given(st.integers(0, 2**32 - 1), st.integers(1, 200))
@examples(25)
def test_a_question_divides_the_items_and_is_answered_right(seed: int, items: int) -> None:
    table = counts(items, seed=seed)
    asked = questions(sparse.csr_matrix(table))
    said = answers(sparse.csr_matrix(table), asked).toarray().astype(bool)
    assert len(set(asked)) == len(asked)
    for place, question in enumerate(asked):
        column = table[:, question.column]
        right = column >= question.bound if question.bound > 0 else column <= question.bound
        assert np.array_equal(said[:, place], right)
        assert LEAF <= right.sum() <= items - LEAF


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@examples(4)
def test_the_order_of_items_does_not_matter(seed: int, labels: int) -> None:
    table = counts(150, seed=seed)
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, labels, 150)
    order = generator.permutation(150)
    tested = [sparse.csr_matrix(table)]
    (first,) = boosted_trees(sparse.csr_matrix(table), targets, tested)
    (second,) = boosted_trees(sparse.csr_matrix(table[order]), targets[order], tested)
    assert np.mean(first == second) > 0.98  # sums in another order: equal gains may fall otherwise


def test_two_features_together_tell_what_neither_does() -> None:
    train, test = counts(600, seed=1) > 0, counts(300, seed=2) > 0
    told = [(part[:, 0] ^ part[:, 1]).astype(np.int64) for part in (train, test)]
    shown, asked = (sparse.csr_matrix(part.astype(np.float32)) for part in (train, test))
    (found,) = boosted_trees(shown, told[0], [asked])
    assert np.mean(found == told[1]) > 0.97


def test_where_nothing_can_be_asked_the_commonest_label_is_the_answer() -> None:
    shown = sparse.csr_matrix(np.ones((50, 2), np.float32))
    targets = np.array([7] * 30 + [3] * 15 + [5] * 5)
    assert not questions(shown)
    assert boosted_trees(shown, targets, [shown])[0].tolist() == [7] * 50


@pytest.mark.parametrize("labels", [2, 5])
def test_as_much_is_found_as_by_scikit_learns(labels: int) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    train, test = counts(800, seed=3), counts(1000, seed=4)
    weights = np.random.default_rng(5).normal(size=(8, labels))
    noise = np.random.default_rng(6).normal(size=(1800, labels))
    told = (np.vstack([train, test]) @ weights + noise).argmax(axis=1)
    model = ensemble.HistGradientBoostingClassifier(early_stopping=False, max_iter=50)
    known = model.fit(train, told[:800]).score(test, told[800:])
    (found,) = boosted_trees(sparse.csr_matrix(train), told[:800], [sparse.csr_matrix(test)])
    assert np.mean(found == told[800:]) == pytest.approx(known, abs=0.03)
