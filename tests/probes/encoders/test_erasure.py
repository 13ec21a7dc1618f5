"""What is erased is gone, and nothing else: by hand, by the theorem, and on planted vectors."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import Planted, answers, linear, noise, numbered, parity
from probe_strategies import Counting, learnable
from thoroughness import examples

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import Indices
from sentprobe.probes.encoders import Vectors, make_encoder, make_encoders
from sentprobe.probes.encoders.erasure import erased, find_eraser
from sentprobe.probes.formats import write_dataset
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
    targets = answers(300)
    vectors = noise(300) @ np.diag([3, 1, 1, 1, 1, 1]).astype(np.float32)
    vectors[:, :2] += targets[:, None]
    vectors[:, 2] += vectors[:, 0]
    change = ((find_eraser(vectors, targets).apply(vectors) - vectors) ** 2).sum()
    apart = vectors[targets == 1].mean(axis=0) - vectors[targets == 0].mean(axis=0)
    along = (vectors - vectors.mean(axis=0)) @ np.outer(apart, apart) / (apart @ apart)
    draw = np.random.default_rng(0)
    for _ in range(20):  # oblique projections that take the same direction away
        other = draw.standard_normal(6)
        oblique = (vectors - vectors.mean(axis=0)) @ np.outer(other, apart) / (other @ apart)
        assert change <= (oblique**2).sum() * 1.0001
    assert change <= (along**2).sum() * 1.0001


@pytest.mark.parametrize(
    ("plant", "before", "after"), [(linear, 1.0, 0.5), (parity, 0.5, 0.5), (None, 0.5, 0.5)]
)
def test_what_is_planted(
    plant: Callable[[Indices], Vectors] | None, before: float, after: float, tmp_path: Path
) -> None:
    targets, others = answers(600), answers(600, seed=9)
    vectors = noise(600) if plant is None else plant(targets)
    vectors[:, 5] = (1 + np.abs(vectors[:, 5])) * (2 * others - 1)
    mine = numbered(targets, train=400, name="mine")
    write_dataset(mine, tmp_path / "mine")
    made = run(
        [mine, numbered(others, train=400, name="other")], Planted(vectors), preset="logreg",
        controls=False, erase=[tmp_path / "mine"],
    )  # fmt: skip
    found = {(each.encoder, each.task): each.accuracy for each in made.records}
    assert abs(found["planted", "mine"] - before) < 0.1
    assert abs(found["planted, without mine", "mine"] - after) < 0.1
    assert found["planted", "other"] == 1.0
    assert found["planted, without mine", "other"] > 0.95


def test_what_is_learned_from_is_training_alone() -> None:
    targets = answers(60)
    vectors = linear(targets)
    known = erased(Planted(vectors), numbered(targets, train=40), name="less")
    first = known.encode(["50 ."])
    vectors[40:50] = 99
    assert np.array_equal(known.encode(["50 ."]), first)


def test_sentences_are_encoded_once(tmp_path: Path) -> None:
    targets = answers(60)
    data = numbered(targets, train=40)
    write_dataset(data, tmp_path / "planted")
    encoder = Counting(Planted(noise(60)))
    run(data, encoder, preset="logreg", controls=False, erase=[tmp_path / "planted"])
    assert len(encoder.seen) == 60


def test_names_and_refusals(tmp_path: Path) -> None:
    path = tmp_path / "planted"
    write_dataset(numbered(answers(60), train=40), path)
    write_dataset(learnable(size=20), tmp_path / "toy")
    asked = f"bow?dim=4&erase=none&erase={path}"
    assert [each.name for each in make_encoders(asked)] == ["bow?dim=4", f"bow?dim=4&erase={path}"]
    (labelled,) = make_encoders(f"bow?name=mine&erase={path}")
    assert labelled.name == "mine, without planted"
    refused = {
        f"bow?erase={tmp_path / 'toy'}": r"^toy cannot be erased: its answers depend on probe word",
        f"bow?erase={tmp_path / 'none'}": r"none: there is no such file or directory",
        f"bow?dims=2&erase={path}": r"erase= is of whole vectors; leave dims= and quantize= out$",
        f"majority?erase={path}": r"^majority is a baseline, which has no vectors to erase from",
    }
    for spec, message in refused.items():
        with pytest.raises(UsageError, match=message):
            make_encoders(spec)
    assert make_encoder(f"bow?dim=4&erase={path}").encode(["a b"]).shape == (1, 4)
