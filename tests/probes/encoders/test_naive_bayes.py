"""Our Naive Bayes in little memory against scikit-learn's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import MultinomialNB

from sentprobe.probes.encoders.baselines import SparseNaiveBayes


@given(seed=st.integers(0, 10_000), classes=st.integers(2, 6), width=st.integers(1, 30))
def test_it_is_scikit_learns(seed: int, classes: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.random((60, width)) * (rng.random((60, width)) < 0.3)
    targets = rng.integers(0, classes, 60)
    train, test = csr_matrix(dense[:40]), csr_matrix(dense[40:])
    ours = SparseNaiveBayes().fit(train, targets[:40]).predict(test)
    reference = MultinomialNB().fit(train, targets[:40])
    scores = reference.predict_joint_log_proba(test)
    of_ours = scores[np.arange(20), np.searchsorted(reference.classes_, ours)]
    np.testing.assert_allclose(of_ours, scores.max(axis=1), rtol=1e-9)
