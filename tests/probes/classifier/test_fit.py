"""Training of probes against scikit-learn: one, several together, averages, and portions of the items."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
import torch
from helpers.runs.planted import (
    make_faint_vectors,
    make_linear_vectors,
    make_parity_vectors,
    sample_answers,
    sample_noise,
)
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.classifier import probe as said
from sentprobe.probes.classifier.fit import Fit, derive_member_seeds, fit, fit_portions, fit_widths
from sentprobe.probes.classifier.presets import (
    MIN_UPDATES,
    BankShape,
    GridPoint,
    calibrate_stopping,
    find_preset,
    override,
    reduce_batch,
)
from sentprobe.probes.classifier.probe import (
    GRID_FIELDS,
    Activation,
    Masking,
    Precision,
    Preset,
    Scaling,
    StopCriterion,
    WeightInitialization,
)
from sentprobe.probes.classifier.probe_bank import Bank, BankDesign, compute_logits, make_bank
from sentprobe.probes.classifier.training import predict, prepare_items
from sentprobe.probes.datasets.dataset import Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder

ETTINGER = find_preset("ettinger")
SHORT = replace(ETTINGER, max_epochs=3, batch=50)


def make_bow_data(size: int, *, dim: int = 8) -> tuple[ProbeDataset, Vectors]:
    data = make_learnable_dataset(size=size)
    return data, make_encoder(f"bow?dim={dim}", seed=0).encode(data.sentences)


def train(data: ProbeDataset, vectors: Vectors, *, preset: Preset) -> Fit:
    return fit_one(vectors, data.splits[Split.TRAIN], data.splits[Split.TEST], words=10, preset=preset)


def fit_one(
    vectors: Vectors,
    learn: Items,
    test: Items,
    *,
    words: int,
    labels: int = 2,
    preset: Preset,
    seed: int = 0,
    device: str = "cpu",
) -> Fit:
    (result,) = fit(
        vectors, train=learn, test=test, words=words, labels=labels, preset=preset, seeds=[seed], device=device
    )
    return result


def build_one_hot_inputs(vectors: Vectors, items: Items, words: int) -> Vectors:
    """Return vectors beside a one-hot block per slot, (n, dim + slots * words) float32."""
    blocks = [np.eye(words, dtype=np.float32)[column] for column in items.probes.T]
    return np.hstack([vectors[items.rows], *blocks])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_accuracy_is_that_of_scikit_learn() -> None:
    neural_network = pytest.importorskip("sklearn.neural_network")
    data, vectors = make_bow_data(800, dim=40)
    preset = replace(ETTINGER, max_epochs=80, batch=50, scaling=Scaling.AS_IS)
    ours = train(data, vectors, preset=preset)
    learn, test = (data.splits[split] for split in (Split.TRAIN, Split.TEST))
    x, y = (build_one_hot_inputs(vectors, items, len(data.probe_words)) for items in (learn, test))
    theirs = neural_network.MLPClassifier((x.shape[1],), max_iter=80, batch_size=50, random_state=0)
    theirs.fit(x, learn.targets)
    accuracy = theirs.score(y, test.targets)
    assert accuracy > 0.85
    assert ours.accuracy == pytest.approx(accuracy, abs=0.04)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_loss_falls_as_that_of_scikit_learn() -> None:
    """With three labels both architectures are equal (with two, scikit-learn has one output)."""
    neural_network = pytest.importorskip("sklearn.neural_network")
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((300, 20), dtype=np.float32)
    probes = generator.integers(5, size=(900, 2))
    rows = generator.integers(300, size=900)
    items = Items(rows, probes, (vectors[rows, :3] + np.eye(5)[probes[:, 0], :3]).argmax(axis=1))
    preset = replace(ETTINGER, max_epochs=30, scaling=Scaling.AS_IS)
    fits = fit(vectors, train=items, test=items, words=5, labels=3, preset=preset, seeds=range(12))
    ours = [result.loss for result in fits]
    model = neural_network.MLPClassifier((30,), max_iter=30)
    inputs = build_one_hot_inputs(vectors, items, 5)
    theirs = [model.set_params(random_state=seed).fit(inputs, items.targets).loss_ for seed in range(12)]
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.1)


@pytest.mark.parametrize("slots", [0, 1, 2])
def test_seed_decides_numbers(slots: int) -> None:
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((30, 5), dtype=np.float32)
    items = Items(
        generator.integers(30, size=120), generator.integers(4, size=(120, slots)), generator.integers(3, size=120)
    )

    def once(seed: int) -> Fit:
        return fit_one(vectors, items, items, words=4, labels=3, preset=SHORT, seed=seed)

    first, again, other_seed = once(0), once(0), once(1)
    assert first.loss == again.loss != other_seed.loss
    assert (first.predictions == again.predictions).all()
    assert first.total == 120
    assert first.correct == (first.predictions == items.targets).sum()


def test_global_state_is_left_alone() -> None:
    data, vectors = make_bow_data(40)
    state, threads, before = torch.get_rng_state(), torch.get_num_threads(), vectors.copy()
    train(data, vectors, preset=SHORT)
    assert torch.equal(state, torch.get_rng_state())
    assert torch.get_num_threads() == threads
    assert (vectors == before).all()


def test_fit_stops_at_flat_loss() -> None:
    data, vectors = make_bow_data(60)
    patient = replace(ETTINGER, tolerance=100.0, patience=4)
    stopped = train(data, vectors, preset=patient)
    assert (stopped.epochs, stopped.converged) == (6, True)
    cut = train(data, vectors, preset=SHORT)
    assert (cut.epochs, cut.converged) == (3, False)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_stops_with_scikit_learn() -> None:
    neural_network = pytest.importorskip("sklearn.neural_network")
    data, vectors = make_bow_data(60)
    learn = data.splits[Split.TRAIN]
    theirs = neural_network.MLPClassifier((5,), tol=100.0, max_iter=50, random_state=0)
    theirs.fit(build_one_hot_inputs(vectors, learn, len(data.probe_words)), learn.targets)
    ours = train(data, vectors, preset=replace(ETTINGER, tolerance=100.0, hidden=(5,)))
    assert ours.epochs == theirs.n_iter_


CENTRING = [Scaling.UNIT, Scaling.VARIANCE]


@given(st.floats(0.1, 1000), st.floats(-50, 50), st.sampled_from(CENTRING))
@examples(20)
def test_scaled_fit_ignores_scale_and_shift(scale: float, shift: float, scaling: Scaling) -> None:
    data, vectors = make_bow_data(40)
    preset = replace(SHORT, scaling=scaling)
    plain = train(data, vectors, preset=preset)
    moved = train(data, (vectors * scale + shift).astype(np.float32), preset=preset)
    assert moved.loss == pytest.approx(plain.loss, rel=1e-2)


@pytest.mark.parametrize("scaling", CENTRING)
def test_constant_dimensions_are_harmless(scaling: Scaling) -> None:
    data, vectors = make_bow_data(40)
    vectors[:, 3] = 1e6
    preset = replace(SHORT, scaling=scaling)
    assert np.isfinite(train(data, vectors, preset=preset).loss)
    vectors[:] = 0.1
    assert np.isfinite(train(data, vectors, preset=preset).loss)


def test_divergence_is_reported() -> None:
    data, vectors = make_bow_data(40)
    with pytest.raises(SentprobeError, match=r"training diverged .* lower learning_rate"):
        train(data, vectors * np.float32(1e30), preset=replace(SHORT, learning_rate=1e30, scaling=Scaling.AS_IS))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_gpu_agrees_with_cpu() -> None:
    data, vectors = make_bow_data(300, dim=40)
    learn, test = (data.splits[split] for split in (Split.TRAIN, Split.TEST))
    cpu, gpu = (fit_one(vectors, learn, test, words=10, preset=SHORT, device=device) for device in ("cpu", "cuda"))
    assert gpu.loss == pytest.approx(cpu.loss, rel=1e-3)


@pytest.mark.parametrize("name", ["adi", pytest.param("conneau", marks=pytest.mark.slow), "senteval"])
def test_presets_choose_on_validation(name: str) -> None:
    data, vectors = make_bow_data(400, dim=20)
    learn, test = (data.splits[split] for split in (Split.TRAIN, Split.TEST))
    preset = replace(find_preset(name), batch=32, max_epochs=16, learning_rate=0.03, scaling=Scaling.VARIANCE)
    fits = fit(vectors, train=learn, test=test, validation=test, words=10, labels=2, preset=preset, seeds=[3, 1])
    for result in fits:
        assert result.validation == result.accuracy > 0.55
        assert set(result.grid_values) == {n for n in GRID_FIELDS if len(getattr(preset, n)) > 1}
        assert all(value in getattr(preset, n) for n, value in result.grid_values.items())


def test_missing_validation_is_refused() -> None:
    data, vectors = make_bow_data(40)
    with pytest.raises(UsageError, match="preset conneau needs validation items"):
        train(data, vectors, preset=find_preset("conneau"))


def test_wide_probes_train_in_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    data, vectors = make_bow_data(100)
    learn, test = (data.splits[split] for split in (Split.TRAIN, Split.TEST))
    arguments = {"train": learn, "test": test, "words": 10, "labels": 2, "preset": SHORT}
    together = fit(vectors, **arguments, seeds=[0, 1, 2])  # type: ignore[arg-type]
    monkeypatch.setattr("sentprobe.probes.classifier.fit.MAX_WEIGHTS", 1)
    apart = fit(vectors, **arguments, seeds=[0, 1, 2])  # type: ignore[arg-type]
    for together_result, apart_result in zip(together, apart, strict=True):
        assert together_result.loss == pytest.approx(apart_result.loss, rel=1e-3)


def test_result_states_precision() -> None:
    data, vectors = make_bow_data(300, dim=40)
    exact = train(data, vectors, preset=replace(SHORT, precision=Precision.FLOAT32))
    either = train(data, vectors, preset=SHORT)
    assert exact.precision is Precision.FLOAT32
    assert either.precision in (Precision.FLOAT32, Precision.BFLOAT16)
    assert either.loss == pytest.approx(exact.loss, rel=1e-2)


AVERAGED = replace(ETTINGER, max_epochs=12, batch=20, precision=Precision.FLOAT32)

SHAPE = BankShape(dim=4, slots=0, words=0, labels=3)
DESIGN = BankDesign(shape=SHAPE, activation=Activation.NONE, masking=Masking.AFTER, precision=Precision.FLOAT32)


def make_items(targets: Sequence[int] | Indices, first: int = 0, last: int | None = None) -> Items:
    """Return items with each sentence once."""
    rows = np.arange(len(targets))[first:last]
    return Items(rows, np.zeros((len(rows), 0), dtype=np.int64), np.array(targets)[first:last])


def fit_noisy(preset: Preset, seeds: Sequence[int], *, validate: bool = False) -> tuple[Fit, ...]:
    """Fit few items with noisy labels in many dimensions, which probes memorise."""
    generator = np.random.default_rng(1)
    vectors = generator.standard_normal((660, 30), dtype=np.float32)
    targets = (2 * vectors[:, 0] + generator.standard_normal(660) > 0).astype(np.int64)
    learn, validation, test = (make_items(targets, *part) for part in ((0, 60), (60, 160), (160, None)))
    parts = {"train": learn, "validation": validation if validate else None, "test": test}
    return fit(vectors, **parts, words=0, labels=2, preset=preset, seeds=seeds)  # type: ignore[arg-type]


def make_constant_bank(shares: Sequence[float]) -> Bank:
    """A linear probe that gives these probabilities for all vectors."""
    point = GridPoint(seed=0, hidden=0, dropout=0.0, l2=0.0)
    bank = make_bank([point], DESIGN, start=WeightInitialization.GLOROT, device=torch.device("cpu"))
    bank.hidden.zero_()
    bank.hidden_biases[:] = torch.log(torch.tensor(shares))
    return bank


def test_average_is_of_probabilities() -> None:
    banks = [make_constant_bank(shares) for shares in ([0.4, 0.35, 0.25],) * 2 + ([0.05, 0.9, 0.05],)]
    items = prepare_items(torch.ones(2, 4), make_items([0, 0]), SHAPE)
    assert predict(banks[:1], items).tolist() == predict(banks[:2], items).tolist() == [0, 0]
    assert predict(banks, items).tolist() == [1, 1]


@given(st.lists(st.integers(0, 2**63), min_size=1, max_size=4, unique=True))
@examples(20)
def test_average_predicts_by_mean(seeds: list[int]) -> None:
    points = [GridPoint(seed=seed, hidden=5, dropout=0.0, l2=0.0) for seed in seeds]
    design = replace(DESIGN, activation=Activation.RELU)
    cpu = torch.device("cpu")
    table = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
    items = prepare_items(table, make_items([0] * 40), SHAPE)
    banks = [make_bank([point], design, start=WeightInitialization.GLOROT, device=cpu) for point in points]
    inputs, _ = items.make_batch(torch.arange(40))
    exact = [np.exp(compute_logits(bank, inputs)[0].T.double().numpy()) for bank in banks]
    shares = sum(exponentials / exponentials.sum(axis=1, keepdims=True) for exponentials in exact)
    assert predict(banks, items).tolist() == np.argmax(shares, axis=1).tolist()


def test_average_of_one_is_plain() -> None:
    (plain,), (one,) = fit_noisy(AVERAGED, [3]), fit_noisy(replace(AVERAGED, average=1), [3])
    assert (plain.predictions == one.predictions).all()
    assert (plain.loss, plain.epochs) == (one.loss, one.epochs)


def test_average_members_have_own_seeds() -> None:
    alone = fit_noisy(AVERAGED, derive_member_seeds(3, 4))
    (together,) = fit_noisy(replace(AVERAGED, average=4), [3])
    assert together.loss == pytest.approx(mean(probe.loss for probe in alone), rel=1e-4)
    assert together.epochs == max(probe.epochs for probe in alone)
    assert together.total == alone[0].total
    everyone = np.all([probe.predictions == 1 for probe in alone], axis=0)
    assert (together.predictions[everyone] == 1).all()


def test_average_is_steadier() -> None:
    long = replace(AVERAGED, max_epochs=60)
    plain = [result.accuracy for result in fit_noisy(long, range(8))]
    averaged = [result.accuracy for result in fit_noisy(replace(long, average=8), range(8))]
    assert stdev(averaged) < stdev(plain)
    assert mean(averaged) > mean(plain) - 0.01


def test_average_members_share_grid_point() -> None:
    preset = replace(AVERAGED, average=3, hidden=(2, 7))
    (result,) = fit_noisy(preset, [0], validate=True)
    widths = [fit_noisy(replace(preset, hidden=(width,)), [0], validate=True)[0] for width in (2, 7)]
    best = max(widths, key=lambda probe: probe.validation or 0)
    assert result.validation == pytest.approx(best.validation)
    assert result.grid_values == {"hidden": 2 if best is widths[0] else 7}
    assert result.accuracy == pytest.approx(best.accuracy, abs=0.01)


@given(st.integers(0, 2**40), st.integers(0, 2**40), st.integers(1, 20))
def test_seeds_share_no_member(one: int, other: int, count: int) -> None:
    members = derive_member_seeds(one, count)
    assert members[0] == one
    assert len({*members}) == count
    assert derive_member_seeds(one, count + 1)[:count] == members
    if one != other:
        assert not {*members} & {*derive_member_seeds(other, count)}


Plant = Callable[[Indices], Vectors]

LOGREG = find_preset("logreg")
FIXED = replace(LOGREG, l2=(1.0,), scaling=Scaling.WHITEN)
QUICK = override(ETTINGER, [("hidden", "16"), ("learning_rate", "0.02"), ("max_epochs", "40")])
PLAIN: dict[str, Any] = {"words": 0, "labels": 2, "threads": 1, "device": "cpu", "word_vectors": None}


def split_items(targets: Indices) -> dict[str, Items]:
    """Return training, validation and test items: a half, a quarter and a quarter."""
    ends = [0, len(targets) // 2, 3 * len(targets) // 4, len(targets)]
    names = ("train", "validation", "test")
    return {n: make_items(targets, *ends[at : at + 2]) for at, n in enumerate(names)}


def fit_logistic_portions(vectors: Vectors, targets: Indices, *, preset: Preset = QUICK) -> Fit:
    """Return the fit on portions of these items."""
    (result,) = fit_portions(vectors, **split_items(targets), preset=preset, seeds=[0], **PLAIN)
    return result


def test_blind_codelength_follows_label_frequencies() -> None:
    # L-BFGS on vectors that are all equal learns the shares of the labels, and nothing else.
    targets = np.array([0, 1, 1, *[0, 1, 1, 1] * 7, 0])
    parts = {"train": make_items(targets, 0, 32), "validation": None, "test": make_items(targets, 0, 4)}
    (results,) = fit_portions(np.ones((32, 2), np.float32), **parts, preset=FIXED, seeds=[3], **PLAIN)
    sizes = [2, 4, 8, 16, 32]
    assert [reading.at for reading in results.readings] == sizes
    bits = [
        sum(-math.log2((targets[:size] == label).mean()) for label in targets[size : 2 * size]) for size in sizes[:-1]
    ]
    assert [reading.bits for reading in results.readings] == pytest.approx([*bits, 0.0], abs=1e-2)
    assert said.compute_codelength(results.readings, labels=2) == pytest.approx(2 + sum(bits), abs=2e-2)


def test_information_is_that_of_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    targets = sample_answers(200)
    vectors = sample_noise(200, dim=3)
    vectors[:, 0] += targets
    result = fit_logistic_portions(vectors, targets, preset=FIXED)
    train, test = split_items(targets)["train"], split_items(targets)["test"]
    centred = vectors - vectors[train.rows].mean(axis=0)
    white = centred @ np.linalg.inv(np.linalg.cholesky(np.cov(vectors[train.rows].T, bias=True))).T
    model = linear_model.LogisticRegression().fit(white[train.rows], train.targets)
    probabilities = model.predict_proba(white[test.rows])[np.arange(len(test)), test.targets]
    counts = np.bincount(train.targets)
    alone = -np.log2((counts[test.targets] + 1) / (counts.sum() + 2))
    assert np.allclose(result.information, alone + np.log2(probabilities), atol=2e-3)


def test_linear_answer_is_short_and_early() -> None:
    result = fit_logistic_portions(make_linear_vectors(sample_answers(400)), sample_answers(400), preset=LOGREG)
    assert said.compute_compression(result.readings, labels=2) > 2
    assert np.mean(result.information) > 0.8
    assert result.accuracy == 1.0
    assert said.compute_curve_area(result.readings, total=result.total) > 0.8


@pytest.mark.parametrize("plant", [sample_noise, make_parity_vectors])
def test_nonlinear_answer_saves_nothing(plant: Plant) -> None:
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
def test_width_gap_shows_nonlinear_answer(plant: Plant) -> None:
    targets = sample_answers(400)
    (result,) = fit_widths(plant(targets), **split_items(targets), preset=QUICK, seeds=[0], **PLAIN)
    assert [reading.at for reading in result.readings] == [0, 8, 32, 128]
    flat, *_, wide = (reading.correct / result.total for reading in result.readings)
    assert (wide - flat > 0.3) == (plant is make_parity_vectors)
    assert wide == result.accuracy


def test_width_equals_probe_alone() -> None:
    targets = sample_answers(300)
    vectors = make_parity_vectors(targets)
    parts = split_items(targets)
    learn, test = parts["train"], parts["test"]
    (result,) = fit_widths(vectors, train=learn, test=test, validation=None, preset=QUICK, seeds=[4], **PLAIN)
    alone = fit_one(vectors, learn, test, words=0, preset=replace(QUICK, hidden=(32,)), seed=4)
    assert abs(alone.correct - result.readings[2].correct) <= 1


def test_widths_need_hidden_layer() -> None:
    targets = sample_answers(40)
    with pytest.raises(UsageError, match=r"^preset logreg has no hidden layer that could be wider"):
        fit_widths(sample_noise(40), **split_items(targets), preset=LOGREG, seeds=[0], **PLAIN)


@pytest.mark.parametrize(("dim", "scale", "least"), [(10, 0.4, 0.74), (50, 1.0, 0.72)])
def test_faint_answer_needs_few_items(dim: int, scale: float, least: float) -> None:
    """113 items, slow progress at first, at most 84%; scikit-learn's LogisticRegression has 75 to 80%."""
    targets = sample_answers(113 + 400 + 1000)
    learn, validation, test = (make_items(targets, *part) for part in ((0, 113), (113, 513), (513, 1513)))
    vectors, parts = make_faint_vectors(targets, dim=dim, scale=scale), {"train": learn, "validation": validation}
    (result,) = fit_portions(vectors, **parts, test=test, preset=ETTINGER, seeds=[0], **PLAIN)
    assert least < result.accuracy < 0.88
    assert result.readings[0].correct < result.readings[-1].correct
    assert np.mean(result.information) > 0.1


@given(st.integers(1, 10_000), st.sampled_from(["ettinger", "adi", "conneau", "senteval"]))
@examples(40)
def test_few_items_have_many_updates(items: int, name: str) -> None:
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


def test_too_few_items_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^8 training items of 2 labels are too few for portion"):
        said.compute_portion_sizes(8, labels=2)
    assert said.compute_portion_sizes(9, labels=2) == (2, 3, 5, 9)


def test_curve_area_is_that_of_numpy() -> None:
    readings = [said.CurvePoint(at=at, correct=right) for at, right in ((3, 1), (10, 5), (100, 8))]
    expected = np.trapezoid([0.1, 0.5, 0.8], np.log([3, 10, 100])) / np.log(100 / 3)
    assert said.compute_curve_area(readings, total=10) == pytest.approx(expected)


def test_calibration_stops_on_validation_loss() -> None:
    assert calibrate_stopping(FIXED) is FIXED
    assert calibrate_stopping(LOGREG) == replace(LOGREG, stop=StopCriterion.VALIDATION_LOSS)
    assert calibrate_stopping(find_preset("ettinger")).needs_validation
