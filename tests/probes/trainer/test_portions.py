"""Codes, curves and information: against closed forms, by hand, and on planted vectors."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import answers, linear, noise, parity
from probe_strategies import to_items
from thoroughness import examples

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import Indices, Items
from sentprobe.probes.encoders import Vectors
from sentprobe.probes.trainer import readings as said
from sentprobe.probes.trainer.fit import Fit, fit
from sentprobe.probes.trainer.portions import fit_portions
from sentprobe.probes.trainer.presets import careful, find_preset, override
from sentprobe.probes.trainer.widths import fit_widths

Plant = Callable[[Indices], Vectors]

LOGREG = find_preset("logreg")
QUICK = override(
    find_preset("ettinger"), [("hidden", "16"), ("learning_rate", "0.02"), ("max_epochs", "40")]
)


def items_of(targets: Indices, first: int, last: int) -> Items:
    """Items that ask about each sentence once."""
    return to_items([(row, [], int(targets[row])) for row in range(first, last)])


def halves(targets: Indices) -> dict[str, Items]:
    """Training, validation and test items: a half, a quarter and a quarter."""
    ends = [0, len(targets) // 2, 3 * len(targets) // 4, len(targets)]
    names = ("train", "validation", "test")
    return {n: items_of(targets, *ends[at : at + 2]) for at, n in enumerate(names)}


def portions(vectors: Vectors, targets: Indices, *, logreg: bool = False) -> Fit:
    """What comes of the portions of such items."""
    (made,) = fit_portions(
        vectors, **halves(targets), words=0, labels=2, preset=LOGREG if logreg else QUICK,
        seeds=[0], threads=1, device="cpu", word_vectors=None,
    )  # fmt: skip
    return made


def test_a_probe_that_sees_nothing_sends_by_the_frequencies_of_the_labels() -> None:
    # L-BFGS on vectors that are all equal learns the shares of the labels, and nothing else.
    targets = np.array([0, 1, 1, *[0, 1, 1, 1] * 7, 0])
    made = fit_portions(
        np.ones((32, 2), np.float32), train=items_of(targets, 0, 32),
        test=items_of(targets, 0, 4), validation=None, words=0, labels=2, preset=LOGREG,
        seeds=[3], threads=1, device="cpu", word_vectors=None,
    )[0]  # fmt: skip
    sizes = [2, 4, 8, 16, 32]
    assert [each.at for each in made.readings] == sizes
    bits = [
        sum(-math.log2((targets[:size] == label).mean()) for label in targets[size : 2 * size])
        for size in sizes[:-1]
    ]
    assert [each.bits for each in made.readings] == pytest.approx([*bits, 0.0], abs=1e-2)
    assert said.code_length(made.readings, labels=2) == pytest.approx(2 + sum(bits), abs=2e-2)


def test_information_is_the_entropy_less_the_loss_of_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    targets = answers(200)
    vectors = noise(200, dim=3)
    vectors[:, 0] += targets
    made = portions(vectors, targets, logreg=True)
    train, test = halves(targets)["train"], halves(targets)["test"]
    centred = vectors - vectors[train.rows].mean(axis=0)
    white = centred @ np.linalg.inv(np.linalg.cholesky(np.cov(vectors[train.rows].T, bias=True))).T
    model = linear_model.LogisticRegression().fit(white[train.rows], train.targets)
    given = model.predict_proba(white[test.rows])[np.arange(len(test)), test.targets]
    counts = np.bincount(train.targets)
    alone = -np.log2((counts[test.targets] + 1) / (counts.sum() + 2))
    assert np.allclose(made.information, alone + np.log2(given), atol=2e-3)


def test_what_is_there_linearly_is_short_and_early() -> None:
    made = portions(linear(answers(400)), answers(400), logreg=True)
    assert said.compression(made.readings, labels=2) > 2
    assert np.mean(made.information) > 0.8
    assert made.accuracy == 1.0
    assert said.area(made.readings, total=made.total) > 0.8


@pytest.mark.parametrize("plant", [noise, parity])
def test_what_no_linear_probe_can_know_saves_nothing(plant: Plant) -> None:
    targets = answers(400)
    vectors = parity(targets) if plant is parity else noise(400)
    made = portions(vectors, targets, logreg=True)
    assert 0.6 < said.compression(made.readings, labels=2) < 1.05
    assert -0.3 < np.mean(made.information) < 0.1
    assert abs(said.area(made.readings, total=made.total) - 0.5) < 0.1


@pytest.mark.slow
def test_parity_is_learned_late() -> None:
    targets = answers(800)
    made = portions(parity(targets), targets)
    assert made.accuracy > 0.9
    by_sign = portions(linear(targets), targets)
    assert said.code_length(made.readings, labels=2) > said.code_length(by_sign.readings, labels=2)
    alone = portions(noise(800), targets)
    assert 0.9 < said.compression(alone.readings, labels=2) < 1.05
    assert abs(np.mean(alone.information)) < 0.1


@pytest.mark.parametrize("plant", [linear, parity])
def test_a_gap_says_that_it_is_not_there_linearly(plant: Plant) -> None:
    targets = answers(400)
    (made,) = fit_widths(
        plant(targets), **halves(targets), words=0, labels=2, preset=QUICK, seeds=[0], threads=1,
        device="cpu", word_vectors=None,
    )  # fmt: skip
    assert [each.at for each in made.readings] == [0, 8, 32, 128]
    flat, *_, wide = (each.correct / made.total for each in made.readings)
    assert (wide - flat > 0.3) == (plant is parity)
    assert wide == made.accuracy


def test_a_width_is_the_probe_of_that_width_alone() -> None:
    targets = answers(300)
    vectors = parity(targets)
    parts = halves(targets)
    (made,) = fit_widths(
        vectors, train=parts["train"], test=parts["test"], validation=None, words=0, labels=2,
        preset=QUICK, seeds=[4], threads=1, device="cpu", word_vectors=None,
    )  # fmt: skip
    alone = fit(
        vectors, train=parts["train"], test=parts["test"], words=0, labels=2,
        preset=replace(QUICK, hidden=(32,)), seeds=[4],
    )[0]  # fmt: skip
    assert abs(alone.correct - made.readings[2].correct) <= 1


def test_widths_need_a_hidden_layer() -> None:
    targets = answers(40)
    with pytest.raises(UsageError, match=r"^preset logreg has no hidden layer that could be wider"):
        fit_widths(
            noise(40), **halves(targets), words=0, labels=2, preset=LOGREG, seeds=[0], threads=1,
            device="cpu", word_vectors=None,
        )  # fmt: skip


@given(st.integers(2, 30), st.integers(1, 10**6))
@examples(40)
def test_portions_grow_to_all_items(labels: int, more: int) -> None:
    items = labels * 8 + more
    sizes = said.portions_of(items, labels=labels)
    assert sizes[-1] == items
    assert sorted(set(sizes)) == list(sizes)
    assert sizes[0] >= labels
    assert len(sizes) >= said.FEWEST


def test_too_few_items_for_portions() -> None:
    with pytest.raises(UsageError, match=r"^8 training items of 2 labels are too few for portion"):
        said.portions_of(8, labels=2)
    assert said.portions_of(9, labels=2) == (2, 3, 5, 9)


def test_area_is_that_of_numpy() -> None:
    made = [said.Reading(at=at, correct=right) for at, right in ((3, 1), (10, 5), (100, 8))]
    whole = np.trapezoid([0.1, 0.5, 0.8], np.log([3, 10, 100])) / np.log(100 / 3)
    assert said.area(made, total=10) == pytest.approx(whole)


def test_careful_training_goes_by_the_loss_on_validation() -> None:
    assert careful(LOGREG) is LOGREG
    assert careful(find_preset("ettinger")).needs_validation
