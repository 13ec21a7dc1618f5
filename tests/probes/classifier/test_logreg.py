"""Logistic regression and whitening, against scikit-learn."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from helpers.thoroughness import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from sentprobe.common.errors import UsageError
from sentprobe.probes.classifier.fit import Fit, fit, fit_portions
from sentprobe.probes.classifier.logreg import add_word_contributions, compute_word_gradients
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.classifier.probe import Penalty, Preset, Scaling, StopCriterion, compute_compression
from sentprobe.probes.classifier.probe_bank import scale_to_tensor
from sentprobe.probes.classifier.training import ProbeWords
from sentprobe.probes.datasets.dataset import Items
from sentprobe.probes.encoders.encoder import Vectors

CHOSEN = find_preset("logreg")
LOGREG = replace(CHOSEN, l2=(1.0,), scaling=Scaling.WHITEN)
EXACT = replace(LOGREG, tolerance=1e-5)


def make_data(*, slots: int, labels: int, size: int = 400) -> tuple[Vectors, Items]:
    generator = np.random.default_rng(slots)
    vectors = generator.standard_normal((150, 8), dtype=np.float32)
    rows, probes = generator.integers(150, size=size), generator.integers(4, size=(size, slots))
    score = vectors[rows] @ generator.standard_normal((8, labels))
    score += np.eye(4)[probes].sum(axis=1)[:, :labels] + generator.gumbel(size=(size, labels))
    return vectors, Items(rows, probes, score.argmax(axis=1))


def fit_logreg(vectors: Vectors, items: Items, *, labels: int, preset: Preset) -> Fit:
    (result,) = fit(vectors, train=items, test=items, words=4, labels=labels, preset=preset, seeds=[0])
    return result


@pytest.mark.parametrize("slots", [0, 1, 2])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("strength", [0.1, 10.0])
def test_logreg_is_that_of_scikit_learn(slots: int, labels: int, strength: float) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    metrics = pytest.importorskip("sklearn.metrics")
    vectors, items = make_data(slots=slots, labels=labels)
    result = fit_logreg(vectors, items, labels=labels, preset=replace(EXACT, l2=(strength,)))
    white = scale_to_tensor(vectors, items.rows, scaling=Scaling.WHITEN).numpy()
    inputs = np.hstack([white[items.rows], *(np.eye(4)[column] for column in items.probes.T)])
    theirs = linear_model.LogisticRegression(C=1 / strength, tol=1e-6, max_iter=1000)
    theirs.fit(inputs, items.targets)
    loss = metrics.log_loss(items.targets, theirs.predict_proba(inputs))
    assert result.converged
    assert result.loss == pytest.approx(loss, rel=1e-4)
    assert (result.predictions == theirs.predict(inputs)).mean() > 0.99


def test_logreg_reports_missing_convergence() -> None:
    vectors, items = make_data(slots=1, labels=2)
    cut = fit_logreg(vectors, items, labels=2, preset=replace(EXACT, max_epochs=1))
    assert not cut.converged
    assert cut.epochs == 1
    assert cut.gradient is not None
    assert cut.gradient > 1e-6


def test_logreg_ignores_seed() -> None:
    vectors, items = make_data(slots=1, labels=3)
    first, second = fit(vectors, train=items, test=items, words=4, labels=3, preset=LOGREG, seeds=[0, 7])
    assert (first.predictions == second.predictions).all()
    assert first.loss == second.loss


def test_logreg_may_choose_strength() -> None:
    vectors, items = make_data(slots=1, labels=2)
    preset = replace(LOGREG, l2=(1e4, 1.0), penalty=Penalty.DECAY)
    (result,) = fit(vectors, train=items, test=items, validation=items, words=4, labels=2, preset=preset, seeds=[0])
    assert result.grid_values == {"l2": 1.0}
    assert result.validation == result.accuracy


@given(st.integers(2, 6), st.floats(0, 4), st.floats(-50, 50), st.integers(0, 99))
@examples(30)
def test_whitened_columns_are_uncorrelated(dim: int, exponent: float, shift: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    plain = generator.standard_normal((300, dim))
    turn = np.linalg.qr(generator.standard_normal((dim, dim)))[0]
    vectors = (plain @ (turn * np.geomspace(1, 10**-exponent, dim) @ turn.T)).astype(np.float32)
    rows = np.arange(250)
    white = scale_to_tensor(vectors + np.float32(shift / 50), rows, scaling=Scaling.WHITEN).numpy()[rows]
    assert white.dtype == np.float32
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=0.02)
    np.testing.assert_allclose(np.cov(white.T, bias=True), np.eye(dim), atol=0.02)


def test_whitening_drops_constant_dimensions() -> None:
    generator = np.random.default_rng(0)
    plain = generator.standard_normal((100, 2), dtype=np.float32)
    vectors = np.hstack([plain, plain[:, :1] * 3 + 1, np.full((100, 1), 7, np.float32)])
    white = scale_to_tensor(vectors, np.arange(100), scaling=Scaling.WHITEN).numpy()
    values = np.linalg.eigvalsh(np.cov(white.T, bias=True))
    np.testing.assert_allclose(values, [0, 0, 1, 1], atol=1e-3)
    still = scale_to_tensor(np.ones((3, 2), np.float32), np.arange(3), scaling=Scaling.WHITEN).numpy()
    assert (still == 0).all()


def test_ill_conditioned_input_converges_fast() -> None:
    """Few iterations suffice on whitened vectors, where 100 do not on raw ones."""
    generator = np.random.default_rng(0)
    plain = generator.standard_normal((4000, 30))
    targets = (plain @ generator.standard_normal(30) > 0).astype(np.int64)
    turn = np.linalg.qr(generator.standard_normal((30, 30)))[0]
    vectors = (plain * np.geomspace(1, 1e-4, 30) @ turn).astype(np.float32)
    parts = np.split(np.arange(4000), [3000])
    learn, test = (Items(rows, [], targets[rows]) for rows in parts)  # type: ignore[arg-type]
    (result,) = fit(vectors, train=learn, test=test, words=0, labels=2, preset=LOGREG, seeds=[0])
    assert result.converged
    assert result.epochs < 40
    assert result.accuracy > 0.97


def make_chosen_data(*, labels: int, seed: int, flat: bool) -> tuple[Vectors, dict[str, Items]]:
    """Return vectors and items: with *flat*, few long dimensions hold the answer, else short ones."""
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((400, 60), dtype=np.float32)
    long = np.arange(60) < 6
    score = vectors[:, long if flat else ~long][:, :labels] * 3 + generator.gumbel(size=(400, labels))
    vectors[:, long] *= 1e3
    targets, rows = score.argmax(axis=1), np.arange(400)
    ends = {"train": (0, 120), "validation": (120, 260), "test": (260, 400)}
    return vectors, {
        split: Items(rows[a:b], np.zeros((b - a, 0), dtype=np.int64), targets[a:b]) for split, (a, b) in ends.items()
    }


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("stop", [StopCriterion.VALIDATION_ACCURACY, StopCriterion.VALIDATION_LOSS])
def test_scaling_and_penalty_are_chosen_on_validation(stop: StopCriterion, *, flat: bool) -> None:
    vectors, splits = make_chosen_data(labels=3, seed=0, flat=flat)
    data: dict[str, Any] = {"words": 0, "labels": 3, "seeds": [0], **splits}
    (chosen,) = fit(vectors, preset=replace(CHOSEN, stop=stop), **data)
    (same,) = fit(
        vectors,
        preset=replace(
            CHOSEN,
            l2=(chosen.grid_values["l2"],),
            scaling=Scaling.WHITEN if chosen.grid_values["whitened"] else Scaling.UNIT,
        ),
        **data,
    )
    assert (chosen.predictions == same.predictions).mean() > 0.98
    assert chosen.loss == pytest.approx(same.loss, rel=1e-3)
    assert chosen.grid_values["whitened"] == (not flat)
    assert chosen.accuracy >= fit(vectors, preset=LOGREG, **data)[0].accuracy - 0.02


@pytest.mark.parametrize("seed", range(3))
def test_many_classes_are_compressed(seed: int) -> None:
    vectors, splits = make_chosen_data(labels=6, seed=seed, flat=True)
    codes = {
        preset.scaling: fit_portions(vectors, preset=preset, threads=1, words=0, labels=6, seeds=[0], device="cpu",
                                     word_vectors=None, **splits)[0].readings
        for preset in (CHOSEN, LOGREG)
    }  # fmt: skip
    compression = {scaling: compute_compression(readings, labels=6) for scaling, readings in codes.items()}
    assert compression[Scaling.CHOSEN] > 1.02
    assert compression[Scaling.WHITEN] < 1


def test_chosen_scaling_needs_lbfgs() -> None:
    with pytest.raises(UsageError, match=r"^preset ettinger: scaling=chosen needs optimizer=lbfgs$"):
        override(find_preset("ettinger"), [("scaling", "chosen")])


layer_sizes = st.integers(1, 5)


@st.composite
def layers(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return words (b, slots), a lexicon (words, dim), weights and a gradient of the sums."""
    items, slots, words, dim, units = (draw(layer_sizes) for _ in range(5))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    numbers = torch.randint(words, (items, slots), generator=generator)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return numbers, normal(words, dim), normal(slots * dim, units), normal(items, units)


@given(layers())
@settings(deadline=None)
def test_word_sums_equal_autograd(layer: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    words, lexicon, weights, delta = layer
    weights.requires_grad_()
    expected = lexicon[words].flatten(1) @ weights
    (expected * delta).sum().backward()  # type: ignore[no-untyped-call]
    sums = torch.zeros_like(delta)
    gradients = torch.full_like(weights, 7.0)
    with torch.no_grad():
        add_word_contributions(ProbeWords(words, lexicon), weights, into=sums)
        compute_word_gradients(ProbeWords(words, lexicon), delta, into=gradients)
    torch.testing.assert_close(sums, expected.detach())
    torch.testing.assert_close(gradients, weights.grad)


@given(layers())
@settings(deadline=None)
def test_one_hot_is_identity_as_vectors(layer: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    words, lexicon, _, delta = layer
    count, slots = len(lexicon), words.shape[1]
    weights = torch.randn(slots * count, delta.shape[1], dtype=torch.float64)
    rows = words + count * torch.arange(slots)
    results = []
    for numbers, vectors in ((rows, None), (words, torch.eye(count, dtype=torch.float64))):
        sums, gradient = torch.zeros_like(delta), torch.empty_like(weights)
        add_word_contributions(ProbeWords(numbers, vectors), weights, into=sums)
        compute_word_gradients(ProbeWords(numbers, vectors), delta, into=gradient)
        results.append((sums, gradient))
    torch.testing.assert_close(results[0], results[1])
