"""Averages of several probes, against the single probes."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, stdev

import numpy as np
import pytest
import torch
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.devices import ProbeWords
from sentprobe.probes.classifier.fit import Fit, derive_member_seeds, fit
from sentprobe.probes.classifier.presets import BankShape, GridPoint, find_preset
from sentprobe.probes.classifier.probe import Activation, Masking, Precision, Preset, WeightInitialization
from sentprobe.probes.classifier.probe_bank import Bank, BankDesign, BatchInputs, compute_logits, make_bank
from sentprobe.probes.classifier.training import predict, prepare_items
from sentprobe.probes.datasets.dataset import Indices, Items
from sentprobe.probes.encoders.encoder import Vectors

SHORT = replace(find_preset("ettinger"), max_epochs=12, batch=20, precision=Precision.FLOAT32)

SHAPE = BankShape(dim=4, slots=0, words=0, labels=3)
DESIGN = BankDesign(shape=SHAPE, activation=Activation.NONE, masking=Masking.AFTER, precision=Precision.FLOAT32)


def items_of(targets: Sequence[int] | Indices) -> Items:
    count = len(targets)
    return Items(np.arange(count), np.zeros((count, 0), dtype=np.int64), np.array(targets))


def noisy(*, size: int, dim: int, seed: int) -> tuple[Vectors, Items]:
    """Few items with noisy labels in many dimensions, which probes memorise."""
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((size, dim), dtype=np.float32)
    score = 2 * vectors[:, 0] + generator.standard_normal(size)
    return vectors, items_of((score > 0).astype(np.int64))


def fits(preset: Preset, seeds: Sequence[int], *, validate: bool = False) -> tuple[Fit, ...]:
    vectors, items = noisy(size=660, dim=30, seed=1)
    learn, validation, test = (
        Items(items.rows[part], items.probes[part], items.targets[part])
        for part in (slice(0, 60), slice(60, 160), slice(160, None))
    )
    return fit(
        vectors,
        train=learn,
        validation=validation if validate else None,
        test=test,
        words=0,
        labels=2,
        preset=preset,
        seeds=seeds,
    )


def bank_that_says(shares: Sequence[float]) -> Bank:
    """A linear probe that gives these probabilities for all vectors."""
    point = GridPoint(seed=0, hidden=0, dropout=0.0, l2=0.0)
    bank = make_bank([point], DESIGN, start=WeightInitialization.GLOROT, device=torch.device("cpu"))
    bank.sentence.zero_()
    bank.small[bank.bias_row] = torch.log(torch.tensor(shares))
    return bank


def test_probabilities_are_averaged_and_not_votes() -> None:
    banks = [bank_that_says(shares) for shares in ([0.4, 0.35, 0.25],) * 2 + ([0.05, 0.9, 0.05],)]
    items = prepare_items(torch.ones(2, 4), items_of([0, 0]), SHAPE)
    assert predict(banks[:1], items).tolist() == predict(banks[:2], items).tolist() == [0, 0]
    assert predict(banks, items).tolist() == [1, 1]


@given(st.lists(st.integers(0, 2**63), min_size=1, max_size=4, unique=True))
@examples(20)
def test_prediction_is_that_of_the_mean(seeds: list[int]) -> None:
    points = [GridPoint(seed=seed, hidden=5, dropout=0.0, l2=0.0) for seed in seeds]
    design = replace(DESIGN, activation=Activation.RELU)
    cpu = torch.device("cpu")
    table = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
    items = prepare_items(table, items_of([0] * 40), SHAPE)
    banks = [make_bank([point], design, start=WeightInitialization.GLOROT, device=cpu) for point in points]
    inputs = BatchInputs(table, ProbeWords(torch.zeros((40, 0), dtype=torch.int64), None))
    exact = [np.exp(compute_logits(bank, inputs)[0].double().numpy()) for bank in banks]
    shares = sum(exponentials / exponentials.sum(axis=1, keepdims=True) for exponentials in exact)
    assert predict(banks, items).tolist() == np.argmax(shares, axis=1).tolist()


def test_an_average_of_one_is_the_plain_probe() -> None:
    (plain,), (one,) = fits(SHORT, [3]), fits(replace(SHORT, average=1), [3])
    assert (plain.predictions == one.predictions).all()
    assert (plain.loss, plain.epochs) == (one.loss, one.epochs)


def test_the_members_are_the_probes_of_their_seeds() -> None:
    alone = fits(SHORT, derive_member_seeds(3, 4))
    (together,) = fits(replace(SHORT, average=4), [3])
    assert together.loss == pytest.approx(mean(probe.loss for probe in alone), rel=1e-4)
    assert together.epochs == max(probe.epochs for probe in alone)
    assert together.total == alone[0].total
    everyone = np.all([probe.predictions == 1 for probe in alone], axis=0)
    assert (together.predictions[everyone] == 1).all()


def test_it_is_steadier_and_no_worse_where_probes_learn_by_heart() -> None:
    long = replace(SHORT, max_epochs=60)
    plain = [result.accuracy for result in fits(long, range(8))]
    averaged = [result.accuracy for result in fits(replace(long, average=8), range(8))]
    assert stdev(averaged) < stdev(plain)
    assert mean(averaged) > mean(plain) - 0.01


def test_the_members_choose_one_point_of_a_grid_together() -> None:
    preset = replace(SHORT, average=3, hidden=(2, 7))
    (result,) = fits(preset, [0], validate=True)
    widths = [fits(replace(preset, hidden=(width,)), [0], validate=True)[0] for width in (2, 7)]
    best = max(widths, key=lambda probe: probe.validation or 0)
    assert result.validation == pytest.approx(best.validation)
    assert result.grid_values == {"hidden": 2 if best is widths[0] else 7}
    assert result.accuracy == pytest.approx(best.accuracy, abs=0.01)


@given(st.integers(0, 2**40), st.integers(0, 2**40), st.integers(1, 20))
def test_no_two_seeds_share_a_member(one: int, other: int, count: int) -> None:
    members = derive_member_seeds(one, count)
    assert members[0] == one
    assert len({*members}) == count
    assert derive_member_seeds(one, count + 1)[:count] == members
    if one != other:
        assert not {*members} & {*derive_member_seeds(other, count)}
