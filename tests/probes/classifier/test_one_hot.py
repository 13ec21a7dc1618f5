"""Probe words as word vectors: equal to autograd, with one-hot as a special case."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from sentprobe.common.errors import UsageError
from sentprobe.probes.classifier.devices import ProbeWords, add_word_contributions, compute_word_gradients
from sentprobe.probes.classifier.fit import Fit, fit
from sentprobe.probes.classifier.presets import BankShape, find_preset, list_grid_points
from sentprobe.probes.classifier.probe import Precision, Scaling
from sentprobe.probes.datasets.dataset import Items, Split
from sentprobe.probes.encoders.encoder import Vectors

sizes = st.integers(1, 5)


@st.composite
def layers(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return words (b, slots), a lexicon (words, dim), weights and a gradient of the sums."""
    items, slots, words, dim, units = (draw(sizes) for _ in range(5))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    numbers = torch.randint(words, (items, slots), generator=generator)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return numbers, normal(words, dim), normal(slots * dim, units), normal(items, units)


@given(layers())
@settings(deadline=None)
def test_sums_and_gradients_are_those_of_vectors_written_out(layer: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    words, lexicon, weights, delta = layer
    weights.requires_grad_()
    expected = lexicon[words].flatten(1) @ weights
    (expected * delta).sum().backward()  # type: ignore[no-untyped-call]
    sums = torch.zeros_like(delta)
    gradients = torch.full_like(weights, 7.0)
    with torch.no_grad():
        add_word_contributions(ProbeWords(words, lexicon), weights, precision=Precision.FLOAT32, into=sums)
        compute_word_gradients(ProbeWords(words, lexicon), delta, precision=Precision.FLOAT32, into=gradients)
    torch.testing.assert_close(sums, expected.detach())
    torch.testing.assert_close(gradients, weights.grad)


@given(layers())
@settings(deadline=None)
def test_one_hot_is_the_identity_as_word_vectors(layer: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    words, lexicon, _, delta = layer
    count, slots = len(lexicon), words.shape[1]
    weights = torch.randn(slots * count, delta.shape[1], dtype=torch.float64)
    rows = words + count * torch.arange(slots)
    results = []
    for numbers, vectors in ((rows, None), (words, torch.eye(count, dtype=torch.float64))):
        sums, gradient = torch.zeros_like(delta), torch.empty_like(weights)
        add_word_contributions(ProbeWords(numbers, vectors), weights, precision=Precision.FLOAT32, into=sums)
        compute_word_gradients(ProbeWords(numbers, vectors), delta, precision=Precision.FLOAT32, into=gradient)
        results.append((sums, gradient))
    torch.testing.assert_close(results[0], results[1])


DATA = make_learnable_dataset(size=120)


def train_probe(name: str, word_vectors: Vectors | None, *, scaling: str = "as-is") -> Fit:
    preset = replace(find_preset(name), scaling=Scaling(scaling), precision=Precision.FLOAT32, max_epochs=12)
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((len(DATA.sentences), 8), dtype=np.float32)
    train, test = DATA.splits[Split.TRAIN], DATA.splits[Split.TEST]
    (result,) = fit(
        vectors,
        train=train,
        validation=test if preset.needs_validation else None,
        test=test,
        words=len(DATA.probe_words),
        labels=2,
        preset=preset,
        seeds=[0],
        word_vectors=word_vectors,
    )
    return result


@pytest.mark.parametrize("name", ["ettinger", "adi", "logreg"])
def test_one_hot_vectors_train_the_same_probe(name: str) -> None:
    one_hot, identity = train_probe(name, None), train_probe(name, np.eye(10, dtype=np.float32))
    assert identity.epochs == one_hot.epochs
    assert identity.loss == pytest.approx(one_hot.loss, rel=1e-4)
    assert (identity.predictions == one_hot.predictions).mean() > 0.97


def test_word_vectors_are_scaled_like_sentence_vectors() -> None:
    """Vectors are centred and scaled, so that a factor of ten changes nothing."""
    vectors = np.random.default_rng(1).standard_normal((10, 4), dtype=np.float32)
    once = train_probe("ettinger", vectors, scaling="unit")
    more = train_probe("ettinger", 10 * vectors + 1, scaling="unit")
    assert once.loss == pytest.approx(more.loss, rel=1e-4)
    bare = train_probe("ettinger", 10 * vectors + 1)
    assert abs(bare.loss - once.loss) > 0.05


def test_logreg_is_that_of_scikit_learn_on_vectors_written_out() -> None:
    generator = np.random.default_rng(3)
    vectors = generator.standard_normal((50, 5), dtype=np.float32)
    lexicon = generator.standard_normal((6, 3), dtype=np.float32)
    rows, probes = generator.integers(50, size=200), generator.integers(6, size=(200, 2))
    score = vectors[rows, 0] + lexicon[probes[:, 0], 1] - lexicon[probes[:, 1], 2]
    labels = (score + generator.standard_normal(200) > 0).astype(np.int64)
    items = Items(rows, probes, labels)
    preset = replace(find_preset("logreg"), l2=(1.0,), scaling=Scaling.AS_IS, tolerance=1e-5)
    (result,) = fit(
        vectors, train=items, test=items, words=6, labels=2, preset=preset, seeds=[0],
        word_vectors=lexicon,
    )  # fmt: skip
    written = np.hstack([vectors[rows], lexicon[probes].reshape(200, -1)])
    theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(written, labels)
    assert (result.predictions == theirs.predict(written)).all()


def test_shape_with_word_vectors() -> None:
    shape = BankShape(dim=300, slots=2, words=14, labels=2, word_dim=100)
    assert (shape.word_rows, shape.inputs) == (200, 500)
    (point,) = list_grid_points(find_preset("adi"), shape, seed=0)
    assert point.hidden == 500


def test_a_vector_for_each_word_is_wanted() -> None:
    with pytest.raises(UsageError, match="9 word vectors for 10 probe words"):
        train_probe("ettinger", np.ones((9, 2), dtype=np.float32))
