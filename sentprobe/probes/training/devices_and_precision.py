"""Set up the devices and the floating-point format of a training, by lightning-fabric."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from sentprobe.common.errors import UsageError, first_line, format_count
from sentprobe.common.processes import check_count
from sentprobe.probes.classifier.devices import find_device, has_fast_bfloat16
from sentprobe.probes.classifier.probe import Precision
from sentprobe.probes.encoders.encoder import missing_extra


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMachine:
    """The devices on which an encoder is trained, and the floating-point format of matrix products."""

    device: str = "cpu"
    """The type of device: "auto", "cpu", "cuda" or "mps"."""
    devices: int = 1
    """Number of devices that train in parallel."""
    precision: Precision = Precision.AUTO
    """AUTO: bfloat16 if the processor or GPU has instructions for it, else float32."""


def is_first_process() -> bool:
    """Return whether this process trains on the first device; Fabric starts a process for each device."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def check_machine(machine: TrainingMachine) -> None:
    """Raise UsageError if the devices or the floating-point format are not available."""
    check_count("devices", machine.devices)
    if ":" in machine.device:
        raise UsageError(f"--device {machine.device}: leave out the number; --devices sets the number of devices")
    device = find_device(machine.device)
    available = {"cuda": torch.cuda.device_count(), "mps": 1}.get(device, machine.devices)
    if machine.devices > available:
        raise UsageError(f"--devices {machine.devices}: only {format_count(available, f'{device} device')} available")
    choose_precision(machine)


def make_fabric(machine: TrainingMachine, *, uses_all_weights: bool = True) -> Any:
    """Return a Fabric object for the devices of *machine*. Raises UsageError, or EncoderError if Fabric is missing.

    - uses_all_weights: whether the loss of each batch depends on all weights; several devices wait for each weight
    """
    try:
        import lightning_fabric as lightning
    except ModuleNotFoundError:
        raise missing_extra("a training", "train") from None
    uses_bfloat16 = choose_precision(machine) is Precision.BFLOAT16
    try:
        with suppress_fabric_messages():
            return lightning.Fabric(
                accelerator=machine.device,
                devices=machine.devices,
                strategy="auto" if uses_all_weights or machine.devices == 1 else "ddp_find_unused_parameters_true",
                precision="bf16-mixed" if uses_bfloat16 else "32-true",
            )
    except (RuntimeError, ValueError) as error:  # Fabric's exceptions are subclasses of these
        raise UsageError(f"--device {machine.device}: {first_line(error)}") from None


@contextmanager
def suppress_fabric_messages() -> Iterator[None]:
    """Suppress Fabric's messages in a ``with`` block, except warnings and errors."""
    log = logging.getLogger("lightning_fabric")
    previous_level = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(previous_level)


def has_accelerator() -> bool:
    return torch.cuda.is_available() or torch.backends.mps.is_available()


def choose_precision(machine: TrainingMachine) -> Precision:
    """Return the floating-point format of a training: FLOAT32 or BFLOAT16, never AUTO. Raises UsageError."""
    # Unlike for probes, AUTO means bfloat16 on an NVIDIA GPU too, whether or not it has instructions for it.
    uses_cpu = machine.device == "cpu" or not has_accelerator()
    is_fast = has_fast_bfloat16() if uses_cpu else torch.cuda.is_available()
    if machine.precision is Precision.BFLOAT16 and not is_fast:
        raise UsageError("precision bfloat16: there are no fast instructions for it here; use auto")
    if machine.precision is Precision.AUTO:
        return Precision.BFLOAT16 if is_fast else Precision.FLOAT32
    return machine.precision
