"""Training of one probe, against scikit-learn; its requirements and side effects."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.classifier.devices import choose_precision, has_fast_bfloat16, uses_bfloat16_instructions
from sentprobe.probes.classifier.fit import Fit, fit
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.classifier.probe import GRID_FIELDS, Precision, Preset, Scaling
from sentprobe.probes.classifier.training import TrainingProgress, ValidationCheck
from sentprobe.probes.datasets.dataset import Items, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder

ETTINGER = find_preset("ettinger")
SHORT = replace(ETTINGER, max_epochs=3, batch=50)


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
    data = make_learnable_dataset(size=800)
    vectors = make_encoder("bow?dim=40", seed=0).encode(data.sentences)
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
    fits = fit(
        vectors, train=items, test=items, words=5, labels=3, preset=preset, seeds=range(12)
    )  # fmt: skip
    ours = [result.loss for result in fits]
    model = neural_network.MLPClassifier((30,), max_iter=30)
    inputs = build_one_hot_inputs(vectors, items, 5)
    theirs = [model.set_params(random_state=seed).fit(inputs, items.targets).loss_ for seed in range(12)]
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.1)


@pytest.mark.parametrize("slots", [0, 1, 2])
def test_same_seed_same_numbers(slots: int) -> None:
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
    data = make_learnable_dataset(size=40)
    vectors = make_encoder("bow?dim=8", seed=0).encode(data.sentences)
    state, threads, before = torch.get_rng_state(), torch.get_num_threads(), vectors.copy()
    train(data, vectors, preset=SHORT)
    assert torch.equal(state, torch.get_rng_state())
    assert torch.get_num_threads() == threads
    assert (vectors == before).all()


def test_stops_when_the_loss_no_longer_falls() -> None:
    data = make_learnable_dataset(size=60)
    vectors = make_encoder("bow?dim=8", seed=0).encode(data.sentences)
    patient = replace(ETTINGER, tolerance=100.0, patience=4)
    stopped = train(data, vectors, preset=patient)
    assert (stopped.epochs, stopped.converged) == (6, True)
    cut = train(data, vectors, preset=SHORT)
    assert (cut.epochs, cut.converged) == (3, False)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_stops_in_the_epoch_in_which_scikit_learn_does() -> None:
    neural_network = pytest.importorskip("sklearn.neural_network")
    data = make_learnable_dataset(size=60)
    vectors = make_encoder("bow?dim=8", seed=0).encode(data.sentences)
    learn = data.splits[Split.TRAIN]
    theirs = neural_network.MLPClassifier((5,), tol=100.0, max_iter=50, random_state=0)
    theirs.fit(build_one_hot_inputs(vectors, learn, len(data.probe_words)), learn.targets)
    ours = train(data, vectors, preset=replace(ETTINGER, tolerance=100.0, hidden=(5,)))
    assert ours.epochs == theirs.n_iter_


CENTRING = [Scaling.UNIT, Scaling.VARIANCE]


@given(st.floats(0.1, 1000), st.floats(-50, 50), st.sampled_from(CENTRING))
@examples(20)
def test_scaled_fit_does_not_see_scale_and_shift(scale: float, shift: float, scaling: Scaling) -> None:
    data = make_learnable_dataset(size=40)
    vectors = make_encoder("bow?dim=8", seed=0).encode(data.sentences)
    preset = replace(SHORT, scaling=scaling)
    plain = train(data, vectors, preset=preset)
    moved = train(data, (vectors * scale + shift).astype(np.float32), preset=preset)
    assert moved.loss == pytest.approx(plain.loss, rel=1e-2)


@pytest.mark.parametrize("scaling", CENTRING)
def test_dimensions_that_do_not_vary_are_harmless(scaling: Scaling) -> None:
    data = make_learnable_dataset(size=40)
    vectors = make_encoder("bow?dim=8", seed=0).encode(data.sentences)
    vectors[:, 3] = 1e6
    preset = replace(SHORT, scaling=scaling)
    assert np.isfinite(train(data, vectors, preset=preset).loss)
    vectors[:] = 0.1
    assert np.isfinite(train(data, vectors, preset=preset).loss)


def test_divergence_is_said() -> None:
    data = make_learnable_dataset(size=40)
    vectors = make_encoder("bow?dim=8", seed=0).encode(data.sentences) * np.float32(1e30)
    with pytest.raises(SentprobeError, match=r"training diverged .* lower learning_rate"):
        train(data, vectors, preset=replace(SHORT, learning_rate=1e30, scaling=Scaling.AS_IS))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_gpu_agrees_with_cpu() -> None:
    data = make_learnable_dataset(size=300)
    vectors = make_encoder("bow?dim=40", seed=0).encode(data.sentences)
    learn, test = (data.splits[split] for split in (Split.TRAIN, Split.TEST))
    cpu, gpu = (fit_one(vectors, learn, test, words=10, preset=SHORT, device=device) for device in ("cpu", "cuda"))
    assert gpu.loss == pytest.approx(cpu.loss, rel=1e-3)


def count_checks(preset: Preset, values: list[float]) -> int:
    """Return the number of validation checks after which training stops."""
    progress = TrainingProgress(preset)
    for count, value in enumerate(values, 1):
        progress.add_pass(1.0)
        progress.add_check(ValidationCheck(accuracy=value, loss=1 - value))
        if progress.is_over:
            return count
    raise AssertionError("does not stop")


def test_senteval_counts_all_checks_that_do_not_improve() -> None:
    up_and_down = [0.1, 0.0, 0.2, 0.0, 0.3, 0.0, 0.4, 0.0, 0.5, 0.0, 0.6, 0.0, 0.7, 0.8]
    assert count_checks(find_preset("senteval"), up_and_down) == 12


def test_adi_stops_at_the_fifth_in_a_row() -> None:
    course = [0.1, 0.0, 0.0, 0.0, 0.0, 0.2, 0.1, 0.1, 0.1, 0.2, 0.1]
    assert count_checks(find_preset("adi"), course) == 11


@pytest.mark.parametrize("name", ["adi", pytest.param("conneau", marks=pytest.mark.slow), "senteval"])
def test_presets_that_use_validation(name: str) -> None:
    data = make_learnable_dataset(size=400)
    vectors = make_encoder("bow?dim=20", seed=0).encode(data.sentences)
    learn, test = (data.splits[split] for split in (Split.TRAIN, Split.TEST))
    preset = replace(find_preset(name), batch=32, max_epochs=16, learning_rate=0.03, scaling=Scaling.VARIANCE)
    fits = fit(vectors, train=learn, test=test, validation=test, words=10, labels=2, preset=preset, seeds=[3, 1])
    for result in fits:
        assert result.validation == result.accuracy > 0.55
        assert set(result.grid_values) == {n for n in GRID_FIELDS if len(getattr(preset, n)) > 1}
        assert all(value in getattr(preset, n) for n, value in result.grid_values.items())


def test_validation_that_is_missing() -> None:
    data = make_learnable_dataset(size=40)
    vectors = make_encoder("bow?dim=8", seed=0).encode(data.sentences)
    with pytest.raises(UsageError, match="preset conneau needs validation items"):
        train(data, vectors, preset=find_preset("conneau"))


def test_probes_that_are_too_wide_are_trained_in_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_learnable_dataset(size=100)
    vectors = make_encoder("bow?dim=8", seed=0).encode(data.sentences)
    learn, test = (data.splits[split] for split in (Split.TRAIN, Split.TEST))
    arguments = {"train": learn, "test": test, "words": 10, "labels": 2, "preset": SHORT}
    together = fit(vectors, **arguments, seeds=[0, 1, 2])  # type: ignore[arg-type]
    monkeypatch.setattr("sentprobe.probes.classifier.fit.MAX_WEIGHTS", 1)
    apart = fit(vectors, **arguments, seeds=[0, 1, 2])  # type: ignore[arg-type]
    for together_result, apart_result in zip(together, apart, strict=True):
        assert together_result.loss == pytest.approx(apart_result.loss, rel=1e-3)


def test_bfloat16_only_where_it_is_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = torch.device("cpu")
    monkeypatch.setattr("sentprobe.probes.classifier.devices.has_fast_bfloat16", lambda: False)
    assert choose_precision(Precision.AUTO, device=cpu) is Precision.FLOAT32
    with pytest.raises(UsageError, match="precision=bfloat16: no fast instructions for it on this processor"):
        choose_precision(Precision.BFLOAT16, device=cpu)
    monkeypatch.setattr("sentprobe.probes.classifier.devices.has_fast_bfloat16", lambda: True)
    assert choose_precision(Precision.AUTO, device=cpu) is Precision.BFLOAT16
    assert choose_precision(Precision.FLOAT32, device=cpu) is Precision.FLOAT32
    assert choose_precision(Precision.AUTO, device=torch.device("meta")) is Precision.FLOAT32


@pytest.mark.parametrize("has_instructions", [False, True])
def test_gpu_uses_bfloat16_only_on_request(has_instructions: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = torch.device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: has_instructions)
    assert choose_precision(Precision.AUTO, device=gpu) is Precision.FLOAT32
    if has_instructions:
        assert choose_precision(Precision.BFLOAT16, device=gpu) is Precision.BFLOAT16
        return
    with pytest.raises(UsageError, match="precision=bfloat16: no fast instructions for it on this device"):
        choose_precision(Precision.BFLOAT16, device=gpu)


def test_bfloat16_is_what_the_products_are_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """bfloat16 is not used if the environment forbids its instructions."""
    assert not has_fast_bfloat16() or uses_bfloat16_instructions()
    monkeypatch.setattr("sentprobe.probes.classifier.devices.uses_bfloat16_instructions", lambda: False)
    assert has_fast_bfloat16.__wrapped__() is False


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"])
def test_a_result_without_bfloat16_says_so(variable: str) -> None:
    """PyTorch reads the environment when it is loaded, so the test runs another process."""
    code = (
        "import torch; from sentprobe.probes.classifier.devices import Precision, choose_precision; "
        "print(choose_precision(Precision.AUTO, device=torch.device('cpu')))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, variable: "AVX2"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert process.stdout == "float32\n"


def test_precision_is_said() -> None:
    data = make_learnable_dataset(size=300)
    vectors = make_encoder("bow?dim=40", seed=0).encode(data.sentences)
    exact = train(data, vectors, preset=replace(SHORT, precision=Precision.FLOAT32))
    either = train(data, vectors, preset=SHORT)
    assert exact.precision is Precision.FLOAT32
    assert either.precision in (Precision.FLOAT32, Precision.BFLOAT16)
    assert either.loss == pytest.approx(exact.loss, rel=1e-2)
