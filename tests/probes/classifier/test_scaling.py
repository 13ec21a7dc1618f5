"""Scaling of sentence vectors: the textbook formulas, and memory near that of the result."""

import tracemalloc

import numpy as np
import pytest
import torch
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.probe import Scaling
from sentprobe.probes.classifier.probe_bank import ROWS_PER_PART, SCALINGS, scale_to_tensor
from sentprobe.probes.encoders.encoder import Vectors


def sample_vectors(count: int, dim: int, seed: int = 0) -> Vectors:
    generator = np.random.default_rng(seed)
    scale, shift = 10 ** generator.uniform(-3, 3, size=(2, dim))
    vectors: Vectors = (generator.standard_normal((count, dim)) * scale + shift).astype(np.float32)
    return vectors


@given(st.integers(1, 3 * ROWS_PER_PART), st.integers(2, 40), st.sampled_from([Scaling.UNIT, Scaling.VARIANCE]))
@examples(40)
def test_parts_give_the_same_bits_as_all_rows_at_once(count: int, dim: int, scaling: Scaling) -> None:
    vectors = sample_vectors(count + 7, dim, seed=count)
    rows = np.arange(3, 3 + count)
    training_vectors = vectors[rows].astype(np.float64)
    centred = training_vectors - training_vectors.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=1)
    scale = lengths.mean() if scaling is Scaling.UNIT else training_vectors.std(axis=0)
    expected = (vectors - training_vectors.mean(axis=0)) / (scale if count > 1 else 1.0)
    repeated_rows = np.concatenate([rows, rows[:5]])
    assert (scale_to_tensor(vectors, repeated_rows, scaling=scaling).numpy() == expected.astype(np.float32)).all()


@pytest.mark.parametrize("scaling", SCALINGS)
def test_table_is_rounded_from_float32(scaling: Scaling) -> None:
    vectors, rows = sample_vectors(300, 20), np.arange(200)
    rounded = scale_to_tensor(vectors, rows, scaling=scaling, dtype=torch.bfloat16)
    assert torch.equal(rounded, scale_to_tensor(vectors, rows, scaling=scaling).bfloat16())


@pytest.mark.parametrize("scaling", SCALINGS)
def test_copies_are_small(scaling: Scaling) -> None:
    """Beside the result, which PyTorch allocates, memory is a quarter of the vectors."""
    vectors, rows = sample_vectors(20_000, 64), np.arange(16_000)
    tracemalloc.start()
    try:
        scale_to_tensor(vectors, rows, scaling=scaling)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < vectors.nbytes / 4


@pytest.mark.parametrize("scaling", SCALINGS)
def test_vectors_are_left_as_they_are(scaling: Scaling) -> None:
    vectors = sample_vectors(50, 4)
    vectors.flags.writeable = False
    copied = vectors.copy()
    scaled = scale_to_tensor(vectors, np.arange(40), scaling=scaling).numpy()
    scaled += 1
    assert (vectors == copied).all()
