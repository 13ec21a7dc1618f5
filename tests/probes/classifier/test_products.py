"""Matrix products of the first layer: rounding, and the sums within a product."""

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.probes.classifier import devices
from sentprobe.probes.classifier.devices import multiply
from sentprobe.probes.classifier.probe import Precision
from sentprobe.probes.training.devices_and_precision import TrainingMachine
from sentprobe.probes.training.devices_and_precision import choose_precision as choose_training_precision

sizes = st.integers(1, 40)

ROUNDING = 2.0**-8
"""Largest relative error of a number in bfloat16, which has 8 significant bits."""


@given(sizes, sizes, sizes, st.integers(0, 99))
@settings(deadline=None)
def test_only_factors_and_result_are_rounded(rows: int, inner: int, columns: int, seed: int) -> None:
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


def test_a_float32_product_is_not_rounded() -> None:
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
def test_probes_and_encoders_follow_the_instruction_set(
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
