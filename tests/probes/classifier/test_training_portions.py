"""Codelength, curves and V-information, against closed forms and on constructed vectors."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from helpers.runs.planted import (
    make_faint_vectors,
    make_linear_vectors,
    make_parity_vectors,
    sample_answers,
    sample_noise,
)
from helpers.strategies.probe_strategies import to_items
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.classifier import probe as said
from sentprobe.probes.classifier.fit import Fit, fit, fit_portions, fit_widths
from sentprobe.probes.classifier.presets import MIN_UPDATES, calibrate_stopping, find_preset, override, reduce_batch
from sentprobe.probes.classifier.probe import Preset, Scaling, StopCriterion
from sentprobe.probes.datasets.dataset import Indices, Items
from sentprobe.probes.encoders.encoder import Vectors

Plant = Callable[[Indices], Vectors]

LOGREG = find_preset("logreg")
FIXED = replace(LOGREG, l2=(1.0,), scaling=Scaling.WHITEN)
QUICK = override(find_preset("ettinger"), [("hidden", "16"), ("learning_rate", "0.02"), ("max_epochs", "40")])


def items_of(targets: Indices, first: int, last: int) -> Items:
    """Return items with each sentence once."""
    return to_items([(row, [], int(targets[row])) for row in range(first, last)])


def halves(targets: Indices) -> dict[str, Items]:
    """Return training, validation and test items: a half, a quarter and a quarter."""
    ends = [0, len(targets) // 2, 3 * len(targets) // 4, len(targets)]
    names = ("train", "validation", "test")
    return {n: items_of(targets, *ends[at : at + 2]) for at, n in enumerate(names)}


def fit_logistic_portions(vectors: Vectors, targets: Indices, *, preset: Preset = QUICK) -> Fit:
    """Return the fit on portions of these items."""
    (result,) = fit_portions(
        vectors, **halves(targets), words=0, labels=2, preset=preset,
        seeds=[0], threads=1, device="cpu", word_vectors=None,
    )  # fmt: skip
    return result


def test_a_probe_that_sees_nothing_sends_by_the_frequencies_of_the_labels() -> None:
    # L-BFGS on vectors that are all equal learns the shares of the labels, and nothing else.
    targets = np.array([0, 1, 1, *[0, 1, 1, 1] * 7, 0])
    results = fit_portions(
        np.ones((32, 2), np.float32), train=items_of(targets, 0, 32),
        test=items_of(targets, 0, 4), validation=None, words=0, labels=2, preset=FIXED,
        seeds=[3], threads=1, device="cpu", word_vectors=None,
    )[0]  # fmt: skip
    sizes = [2, 4, 8, 16, 32]
    assert [reading.at for reading in results.readings] == sizes
    bits = [
        sum(-math.log2((targets[:size] == label).mean()) for label in targets[size : 2 * size]) for size in sizes[:-1]
    ]
    assert [reading.bits for reading in results.readings] == pytest.approx([*bits, 0.0], abs=1e-2)
    assert said.compute_codelength(results.readings, labels=2) == pytest.approx(2 + sum(bits), abs=2e-2)


def test_information_is_the_entropy_less_the_loss_of_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    targets = sample_answers(200)
    vectors = sample_noise(200, dim=3)
    vectors[:, 0] += targets
    result = fit_logistic_portions(vectors, targets, preset=FIXED)
    train, test = halves(targets)["train"], halves(targets)["test"]
    centred = vectors - vectors[train.rows].mean(axis=0)
    white = centred @ np.linalg.inv(np.linalg.cholesky(np.cov(vectors[train.rows].T, bias=True))).T
    model = linear_model.LogisticRegression().fit(white[train.rows], train.targets)
    probabilities = model.predict_proba(white[test.rows])[np.arange(len(test)), test.targets]
    counts = np.bincount(train.targets)
    alone = -np.log2((counts[test.targets] + 1) / (counts.sum() + 2))
    assert np.allclose(result.information, alone + np.log2(probabilities), atol=2e-3)


def test_what_is_there_linearly_is_short_and_early() -> None:
    result = fit_logistic_portions(make_linear_vectors(sample_answers(400)), sample_answers(400), preset=LOGREG)
    assert said.compute_compression(result.readings, labels=2) > 2
    assert np.mean(result.information) > 0.8
    assert result.accuracy == 1.0
    assert said.compute_curve_area(result.readings, total=result.total) > 0.8


@pytest.mark.parametrize("plant", [sample_noise, make_parity_vectors])
def test_what_no_linear_probe_can_know_saves_nothing(plant: Plant) -> None:
    targets = sample_answers(400)
    vectors = make_parity_vectors(targets) if plant is make_parity_vectors else sample_noise(400)
    result = fit_logistic_portions(vectors, targets, preset=LOGREG)
    assert 0.9 < said.compute_compression(result.readings, labels=2) < 1.05
    assert -0.3 < np.mean(result.information) < 0.1
    assert abs(said.compute_curve_area(result.readings, total=result.total) - 0.5) < 0.1


@pytest.mark.slow
def test_parity_is_learned_late() -> None:
    targets = sample_answers(800)
    result = fit_logistic_portions(make_parity_vectors(targets), targets)
    assert result.accuracy > 0.9
    by_sign = fit_logistic_portions(make_linear_vectors(targets), targets)
    assert said.compute_codelength(result.readings, labels=2) > said.compute_codelength(by_sign.readings, labels=2)
    alone = fit_logistic_portions(sample_noise(800), targets)
    assert 0.9 < said.compute_compression(alone.readings, labels=2) < 1.05
    assert abs(np.mean(alone.information)) < 0.1


@pytest.mark.parametrize("plant", [make_linear_vectors, make_parity_vectors])
def test_a_gap_says_that_it_is_not_there_linearly(plant: Plant) -> None:
    targets = sample_answers(400)
    (result,) = fit_widths(
        plant(targets), **halves(targets), words=0, labels=2, preset=QUICK, seeds=[0], threads=1,
        device="cpu", word_vectors=None,
    )  # fmt: skip
    assert [reading.at for reading in result.readings] == [0, 8, 32, 128]
    flat, *_, wide = (reading.correct / result.total for reading in result.readings)
    assert (wide - flat > 0.3) == (plant is make_parity_vectors)
    assert wide == result.accuracy


def test_a_width_is_the_probe_of_that_width_alone() -> None:
    targets = sample_answers(300)
    vectors = make_parity_vectors(targets)
    parts = halves(targets)
    (result,) = fit_widths(
        vectors, train=parts["train"], test=parts["test"], validation=None, words=0, labels=2,
        preset=QUICK, seeds=[4], threads=1, device="cpu", word_vectors=None,
    )  # fmt: skip
    alone = fit(
        vectors, train=parts["train"], test=parts["test"], words=0, labels=2,
        preset=replace(QUICK, hidden=(32,)), seeds=[4],
    )[0]  # fmt: skip
    assert abs(alone.correct - result.readings[2].correct) <= 1


def test_widths_need_a_hidden_layer() -> None:
    targets = sample_answers(40)
    with pytest.raises(UsageError, match=r"^preset logreg has no hidden layer that could be wider"):
        fit_widths(
            sample_noise(40),
            **halves(targets),
            words=0,
            labels=2,
            preset=LOGREG,
            seeds=[0],
            threads=1,
            device="cpu",
            word_vectors=None,
        )


@pytest.mark.parametrize(("dim", "scale", "least"), [(10, 0.4, 0.74), (50, 1.0, 0.72)])
def test_few_items_are_enough_for_a_faint_answer(dim: int, scale: float, least: float) -> None:
    """113 items, slow progress at first, at most 84%; scikit-learn's LogisticRegression has 75 to 80%."""
    targets = sample_answers(113 + 400 + 1000)
    (result,) = fit_portions(
        make_faint_vectors(targets, dim=dim, scale=scale),
        train=items_of(targets, 0, 113),
        validation=items_of(targets, 113, 513),
        test=items_of(targets, 513, 1513),
        words=0,
        labels=2,
        preset=find_preset("ettinger"),
        seeds=[0],
        threads=1,
        device="cpu",
        word_vectors=None,
    )
    assert least < result.accuracy < 0.88
    assert result.readings[0].correct < result.readings[-1].correct
    assert np.mean(result.information) > 0.1


@given(st.integers(1, 10_000), st.sampled_from(["ettinger", "adi", "conneau", "senteval"]))
@examples(40)
def test_a_pass_over_few_items_has_many_updates(items: int, name: str) -> None:
    preset = find_preset(name)
    batch = reduce_batch(preset, items=items).batch
    assert 1 <= batch <= preset.batch
    assert batch == preset.batch or math.ceil(items / batch) >= min(items, MIN_UPDATES)
    assert reduce_batch(LOGREG, items=items) is LOGREG


@given(st.integers(2, 30), st.integers(1, 10**6))
@examples(40)
def test_portions_grow_to_all_items(labels: int, more: int) -> None:
    items = labels * 8 + more
    sizes = said.compute_portion_sizes(items, labels=labels)
    assert sizes[-1] == items
    assert sorted(set(sizes)) == list(sizes)
    assert sizes[0] >= labels
    assert len(sizes) >= said.MIN_PORTIONS


def test_too_few_items_for_portions() -> None:
    with pytest.raises(UsageError, match=r"^8 training items of 2 labels are too few for portion"):
        said.compute_portion_sizes(8, labels=2)
    assert said.compute_portion_sizes(9, labels=2) == (2, 3, 5, 9)


def test_area_is_that_of_numpy() -> None:
    readings = [said.CurvePoint(at=at, correct=right) for at, right in ((3, 1), (10, 5), (100, 8))]
    expected = np.trapezoid([0.1, 0.5, 0.8], np.log([3, 10, 100])) / np.log(100 / 3)
    assert said.compute_curve_area(readings, total=10) == pytest.approx(expected)


def test_careful_training_goes_by_the_loss_on_validation() -> None:
    assert calibrate_stopping(FIXED) is FIXED
    assert calibrate_stopping(LOGREG) == replace(LOGREG, stop=StopCriterion.VALIDATION_LOSS)
    assert calibrate_stopping(find_preset("ettinger")).needs_validation
