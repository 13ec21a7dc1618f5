"""Tests of erased vectors."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.runs.planted import (
    PlantedEncoder,
    make_linear_vectors,
    make_numbered_dataset,
    make_parity_vectors,
    sample_answers,
    sample_noise,
)
from helpers.strategies.probe_strategies import CountingEncoder, make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder, make_encoders
from sentprobe.probes.encoders.variants import find_eraser, make_erased_encoder
from sentprobe.probes.runs.run import run


def test_by_hand() -> None:
    # The first number is the label and the second has nothing to do with it.
    vectors = np.array([[0, 5], [0, 7], [1, 5], [1, 7]], np.float32)
    eraser = find_eraser(vectors, np.array([0, 0, 1, 1]))
    assert np.allclose(eraser.apply(vectors), [[0.5, 5], [0.5, 7], [0.5, 5], [0.5, 7]])
    assert np.allclose(eraser.apply(np.array([[9, 1]], np.float32)), [[0.5, 1]])


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 8))
@examples(40)
def test_labels_have_no_covariance_with_what_is_left(seed: int, labels: int, dim: int) -> None:
    draw = np.random.default_rng(seed)
    targets = draw.integers(labels, size=40)
    vectors = draw.standard_normal((40, dim)) @ draw.standard_normal((dim, dim))
    vectors[:, 0] += targets
    left = find_eraser(vectors.astype(np.float32), targets).apply(vectors.astype(np.float32))
    hots = np.eye(labels)[targets]
    covariance = (left - left.mean(axis=0)).T @ (hots - hots.mean(axis=0)) / 40
    assert abs(covariance).max() < 1e-4 * (1 + abs(vectors).max())


def test_no_projection_along_the_means_changes_less() -> None:
    targets = sample_answers(300)
    vectors = sample_noise(300) @ np.diag([3, 1, 1, 1, 1, 1]).astype(np.float32)
    vectors[:, :2] += targets[:, None]
    vectors[:, 2] += vectors[:, 0]
    change = ((find_eraser(vectors, targets).apply(vectors) - vectors) ** 2).sum()
    apart = vectors[targets == 1].mean(axis=0) - vectors[targets == 0].mean(axis=0)
    along = (vectors - vectors.mean(axis=0)) @ np.outer(apart, apart) / (apart @ apart)
    draw = np.random.default_rng(0)
    for _ in range(20):  # oblique projections that take the same direction away
        second = draw.standard_normal(6)
        oblique = (vectors - vectors.mean(axis=0)) @ np.outer(second, apart) / (second @ apart)
        assert change <= (oblique**2).sum() * 1.0001
    assert change <= (along**2).sum() * 1.0001


@pytest.mark.parametrize(
    ("plant", "before", "after"), [(make_linear_vectors, 1.0, 0.5), (make_parity_vectors, 0.5, 0.5), (None, 0.5, 0.5)]
)
def test_what_is_planted(
    plant: Callable[[Indices], Vectors] | None, before: float, after: float, tmp_path: Path
) -> None:
    targets, other_targets = sample_answers(600), sample_answers(600, seed=9)
    vectors = sample_noise(600) if plant is None else plant(targets)
    vectors[:, 5] = (1 + np.abs(vectors[:, 5])) * (2 * other_targets - 1)
    mine = make_numbered_dataset(targets, train=400, name="mine")
    write_dataset(mine, tmp_path / "mine")
    result = run(
        [mine, make_numbered_dataset(other_targets, train=400, name="other")],
        PlantedEncoder(vectors),
        preset="logreg",
        controls=False,
        erase=[tmp_path / "mine"],
    )
    actual = {(record.encoder, record.task): record.accuracy for record in result.records}
    assert abs(actual["planted", "mine"] - before) < 0.1
    assert abs(actual["planted, without mine", "mine"] - after) < 0.1
    assert actual["planted", "other"] == 1.0
    assert actual["planted, without mine", "other"] > 0.95


def test_what_is_learned_from_is_training_alone() -> None:
    targets = sample_answers(60)
    vectors = make_linear_vectors(targets)
    known_vector = make_erased_encoder(PlantedEncoder(vectors), make_numbered_dataset(targets, train=40), name="less")
    first = known_vector.encode(["50 ."])
    vectors[40:50] = 99
    assert np.array_equal(known_vector.encode(["50 ."]), first)


def test_sentences_are_encoded_once(tmp_path: Path) -> None:
    targets = sample_answers(60)
    data = make_numbered_dataset(targets, train=40)
    write_dataset(data, tmp_path / "planted")
    encoder = CountingEncoder(PlantedEncoder(sample_noise(60)))
    run(data, encoder, preset="logreg", controls=False, erase=[tmp_path / "planted"])
    assert len(encoder.encoded_texts) == 60


def test_names_and_refusals(tmp_path: Path) -> None:
    path = tmp_path / "planted"
    write_dataset(make_numbered_dataset(sample_answers(60), train=40), path)
    write_dataset(make_learnable_dataset(size=20), tmp_path / "toy")
    erase_spec = f"bow?dim=4&erase=none&erase={path}"
    assert [encoder.name for encoder in make_encoders(erase_spec)] == ["bow?dim=4", f"bow?dim=4&erase={path}"]
    (labelled,) = make_encoders(f"bow?name=mine&erase={path}")
    assert labelled.name == "mine, without planted"
    refused = {
        f"bow?erase={tmp_path / 'toy'}": r"^toy cannot be erased: its labels depend on probe word",
        f"bow?erase={tmp_path / 'none'}": r"none: there is no such file or directory",
        f"bow?dims=2&erase={path}": r"erase= needs unchanged vectors; leave out dims= and quantize=$",
        f"majority?erase={path}": r"^majority is a baseline, which has no vectors to erase from",
    }
    for spec, message in refused.items():
        with pytest.raises(UsageError, match=message):
            make_encoders(spec)
    assert make_encoder(f"bow?dim=4&erase={path}").encode(["a b"]).shape == (1, 4)
