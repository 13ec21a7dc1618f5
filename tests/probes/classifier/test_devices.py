"""Devices, precision and products: names, the choice of auto, rounding, and probe words as vectors."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import DEVICES
from sentprobe.probes.classifier import devices
from sentprobe.probes.classifier.devices import (
    check_device,
    choose_precision,
    find_device,
    has_fast_bfloat16,
    multiply,
    uses_bfloat16_instructions,
)
from sentprobe.probes.classifier.fit import Fit, fit
from sentprobe.probes.classifier.presets import BankShape, find_preset, list_grid_points
from sentprobe.probes.classifier.probe import Precision, Scaling
from sentprobe.probes.datasets.dataset import Items, Split
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.runs.run import run
from sentprobe.probes.training.devices_and_precision import TrainingMachine
from sentprobe.probes.training.devices_and_precision import choose_precision as choose_training_precision


@pytest.mark.parametrize(
    ("device", "near"),
    [
        *[("gpu", "cuda"), ("GPU:1", "cuda"), ("coda", "cuda"), ("CPU", "cpu"), ("autp", "auto")],
        *[(device, None) for device in ("", "meta", "cuda:x", "xyz", "auto:1")],
    ],
)
def test_unknown_device_is_refused(device: str, near: str | None) -> None:
    hint = re.escape(f" (did you mean '{near}'?)") if near else ".*"
    with pytest.raises(UsageError, match=f"^unknown device '{device}'{hint}; known: auto, cpu, cuda, mps$"):
        find_device(device)


@given(st.text(max_size=8))
def test_any_device_text_gives_one_line(text: str) -> None:
    try:
        assert find_device(text).partition(":")[0] in DEVICES[1:]
    except UsageError as error:
        assert len(str(error).splitlines()) == 1
        assert error.exit_code == 2


@pytest.mark.parametrize("device", ["cuda:99", "mps:99"])
def test_missing_device_is_refused(device: str) -> None:
    with pytest.raises(UsageError, match=f"^device '{device}' cannot be used: .*$"):
        check_device(device)


@pytest.mark.parametrize(
    ("available", "best"), [((), "cpu"), (("cuda",), "cuda"), (("mps",), "mps"), (DEVICES, "cuda")]
)
def test_auto_is_the_best_device(available: tuple[str, ...], best: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in available)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in available)
    monkeypatch.setattr("sentprobe.probes.classifier.devices.check_device", torch.device)
    assert find_device("auto") == best


def test_result_states_chosen_device() -> None:
    results = run(make_learnable_dataset(size=60), "bow?dim=4", controls=False, device="auto")
    assert [record.device for record in results.records] == [find_device("auto")]


matrix_sizes = st.integers(1, 40)

ROUNDING = 2.0**-8
"""Largest relative error of a number in bfloat16, which has 8 significant bits."""


@given(matrix_sizes, matrix_sizes, matrix_sizes, st.integers(0, 99))
@settings(deadline=None)
def test_product_rounds_factors_and_result(rows: int, inner: int, columns: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    left = torch.randn(rows, inner, generator=generator)
    right = torch.randn(inner, columns, generator=generator)
    product = multiply(left, right, precision=Precision.BFLOAT16)
    rounded = left.bfloat16().double() @ right.bfloat16().double()
    assert product.dtype == torch.float32
    assert bool(((product - rounded).abs() <= ROUNDING * rounded.abs() + 1e-4).all())
    out = torch.empty_like(product)
    assert multiply(left, right, precision=Precision.BFLOAT16, out=out) is out
    assert torch.equal(out, product)


@pytest.mark.parametrize("precision", [Precision.FLOAT32, Precision.BFLOAT16])
def test_long_sums_keep_small_terms(precision: Precision) -> None:
    """A sum of 4,096 ones is exact, though 256 + 1 is 256 in bfloat16."""
    ones = torch.ones(32, 4096)
    assert bool((multiply(ones, ones.T, precision=precision) == 4096).all())


def test_float32_product_is_not_rounded() -> None:
    nearly_one = torch.full((64, 64), 1 + 2.0**-12)
    assert bool((multiply(nearly_one, torch.eye(64), precision=Precision.FLOAT32) == nearly_one).all())


@pytest.mark.parametrize(
    ("flags", "precision"),
    [
        ("avx512f avx512_bf16", Precision.BFLOAT16),
        ("avx512f amx_bf16", Precision.BFLOAT16),
        ("avx512f", Precision.FLOAT32),
    ],
)
def test_precision_follows_instruction_set(
    flags: str, precision: Precision, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text(f"flags : fpu {flags}\n")
    monkeypatch.setattr(devices, "Path", lambda _: info)
    monkeypatch.setattr(devices, "uses_bfloat16_instructions", lambda: True)
    devices.has_fast_bfloat16.cache_clear()
    try:
        assert choose_training_precision(TrainingMachine(device="cpu")) is precision
        assert devices.choose_precision(Precision.AUTO, device=torch.device("cpu")).value == precision.value
    finally:
        devices.has_fast_bfloat16.cache_clear()


DATA = make_learnable_dataset(size=120)


def train_probe(name: str, word_vectors: Vectors | None, *, scaling: str = "as-is") -> Fit:
    preset = replace(find_preset(name), scaling=Scaling(scaling), precision=Precision.FLOAT32, max_epochs=12)
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((len(DATA.sentences), 8), dtype=np.float32)
    train, test = DATA.splits[Split.TRAIN], DATA.splits[Split.TEST]
    splits: dict[str, Any] = {"train": train, "validation": test if preset.needs_validation else None, "test": test}
    sizes: dict[str, Any] = {"words": len(DATA.probe_words), "labels": 2}
    (result,) = fit(vectors, **splits, **sizes, preset=preset, seeds=[0], word_vectors=word_vectors)
    return result


@pytest.mark.parametrize("name", ["ettinger", "adi", "logreg"])
def test_one_hot_vectors_train_same_probe(name: str) -> None:
    one_hot, identity = train_probe(name, None), train_probe(name, np.eye(10, dtype=np.float32))
    assert identity.epochs == one_hot.epochs
    assert identity.loss == pytest.approx(one_hot.loss, rel=1e-4)
    assert (identity.predictions == one_hot.predictions).mean() > 0.97


def test_word_vectors_are_scaled() -> None:
    """Vectors are centred and scaled, so that a factor of ten changes nothing."""
    vectors = np.random.default_rng(1).standard_normal((10, 4), dtype=np.float32)
    once = train_probe("ettinger", vectors, scaling="unit")
    more = train_probe("ettinger", 10 * vectors + 1, scaling="unit")
    assert once.loss == pytest.approx(more.loss, rel=1e-4)
    bare = train_probe("ettinger", 10 * vectors + 1)
    assert abs(bare.loss - once.loss) > 0.05


def test_word_vector_logreg_is_that_of_scikit_learn() -> None:
    generator = np.random.default_rng(3)
    vectors = generator.standard_normal((50, 5), dtype=np.float32)
    lexicon = generator.standard_normal((6, 3), dtype=np.float32)
    rows, probes = generator.integers(50, size=200), generator.integers(6, size=(200, 2))
    score = vectors[rows, 0] + lexicon[probes[:, 0], 1] - lexicon[probes[:, 1], 2]
    labels = (score + generator.standard_normal(200) > 0).astype(np.int64)
    items = Items(rows, probes, labels)
    preset = replace(find_preset("logreg"), l2=(1.0,), scaling=Scaling.AS_IS, tolerance=1e-5)
    sizes: dict[str, Any] = {"words": 6, "labels": 2}
    (result,) = fit(vectors, train=items, test=items, **sizes, preset=preset, seeds=[0], word_vectors=lexicon)
    written = np.hstack([vectors[rows], lexicon[probes].reshape(200, -1)])
    theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(written, labels)
    assert (result.predictions == theirs.predict(written)).all()


def test_shape_counts_word_vectors() -> None:
    shape = BankShape(dim=300, slots=2, words=14, labels=2, word_dim=100)
    assert (shape.word_rows, shape.inputs) == (200, 500)
    (point,) = list_grid_points(find_preset("adi"), shape, seed=0)
    assert point.hidden == 500


def test_each_word_needs_a_vector() -> None:
    with pytest.raises(UsageError, match="9 word vectors for 10 probe words"):
        train_probe("ettinger", np.ones((9, 2), dtype=np.float32))


def test_bfloat16_needs_fast_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_gpu_uses_bfloat16_if_it_has_instructions(has_instructions: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = torch.device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: has_instructions)
    assert (choose_precision(Precision.AUTO, device=gpu) is Precision.BFLOAT16) == has_instructions
    assert choose_precision(Precision.FLOAT32, device=gpu) is Precision.FLOAT32
    if has_instructions:
        assert choose_precision(Precision.BFLOAT16, device=gpu) is Precision.BFLOAT16
        return
    with pytest.raises(UsageError, match="precision=bfloat16: no fast instructions for it on this device"):
        choose_precision(Precision.BFLOAT16, device=gpu)


def test_bfloat16_follows_allowed_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    """bfloat16 is not used if the environment forbids its instructions."""
    assert not has_fast_bfloat16() or uses_bfloat16_instructions()
    monkeypatch.setattr("sentprobe.probes.classifier.devices.uses_bfloat16_instructions", lambda: False)
    assert has_fast_bfloat16.__wrapped__() is False


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"])
def test_forbidden_instructions_give_float32(variable: str) -> None:
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
