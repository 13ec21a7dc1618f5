"""Devices on which probes are trained, and matrix products in bfloat16."""

from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from sentprobe.common.errors import UsageError, first_line, suggest
from sentprobe.common.specs import DEVICES
from sentprobe.probes.classifier.probe import Precision


def find_device(name: str) -> str:
    """Return the name of a device; ``auto`` stands for the best one. Raises UsageError if the device cannot be used."""
    return str(check_device(find_best_device() if name == "auto" else name))


def check_device(name: str) -> torch.device:
    """Return the PyTorch device of this name. Raises UsageError if it cannot be used."""
    device = None
    if name.partition(":")[0] in DEVICES[1:]:
        # PyTorch's message lists all its types of devices, most of which are not supported here.
        with suppress(RuntimeError):
            device = torch.device(name)
    if device is None:
        suggestion = " (did you mean 'cuda'?)" if name.lower().startswith("gpu") else suggest(name.lower(), DEVICES)
        raise UsageError(f"unknown device {name!r}{suggestion}; known: {', '.join(DEVICES)}")
    try:
        torch.empty(0, device=device).cpu()
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {name!r} cannot be used: {first_line(error)}") from None
    return device


def make_device_generator(seeds: np.random.Generator, device: torch.device) -> torch.Generator:
    """Return PyTorch's generator on a device, with a seed from *seeds*; on a GPU, it is counter-based (Philox)."""
    return torch.Generator(device=device).manual_seed(int(seeds.integers(2**63)))


def find_best_device() -> str:
    """Return the first available device of ``cuda``, ``mps`` and ``cpu``."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


FAST_INSTRUCTIONS = {"amx_bf16", "avx512_bf16"}
"""Processor instructions that make products in bfloat16 faster than in float32."""


@cache
def has_fast_bfloat16() -> bool:
    """Return whether the processor has instructions for bfloat16 and PyTorch uses them; always false outside Linux."""
    info = Path("/proc/cpuinfo")
    has_instructions = info.exists() and bool(FAST_INSTRUCTIONS & set(info.read_text(encoding="utf-8").split()))
    return has_instructions and uses_bfloat16_instructions()


def uses_bfloat16_instructions() -> bool:
    """Return whether PyTorch uses bfloat16 instructions: if so, a product with subnormal numbers is 0."""
    subnormal = torch.full((64, 64), 2.0**-130, dtype=torch.bfloat16)
    return bool((subnormal @ torch.full((64, 64), 2.0**10, dtype=torch.bfloat16) == 0).all())


def choose_precision(precision: Precision, *, device: torch.device) -> Precision:
    """Return the precision; AUTO becomes BFLOAT16 on a processor or GPU with instructions for it, and else FLOAT32.

    Raises UsageError if BFLOAT16 is requested and the device has no instructions for it.
    """
    uses_cpu = device.type == "cpu"
    has_gpu = device.type == "cuda" and torch.cuda.is_available()
    # PyTorch says yes to older GPUs, too, where it converts every value, which is slower than float32.
    is_fast = has_fast_bfloat16() if uses_cpu else has_gpu and torch.cuda.is_bf16_supported(including_emulation=False)
    if precision is Precision.BFLOAT16 and not is_fast:
        place = "processor" if uses_cpu else "device"
        raise UsageError(f"precision=bfloat16: no fast instructions for it on this {place}; use precision=auto")
    if precision is Precision.AUTO:
        return Precision.BFLOAT16 if is_fast else Precision.FLOAT32
    return precision


def multiply(left: Tensor, right: Tensor, *, precision: Precision, out: Tensor | None = None) -> Tensor:
    """Return the product of two matrices as float32; with BFLOAT16, it is computed in bfloat16 and then converted."""
    if precision is not Precision.BFLOAT16:
        return torch.mm(left, right, out=out)
    product = left.to(torch.bfloat16) @ right.to(torch.bfloat16)
    return product.to(torch.float32) if out is None else out.copy_(product)
