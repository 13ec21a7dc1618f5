"""The machine of a training: which devices, in what precision, by lightning-fabric."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import Any

import torch

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.protocol import missing_extra
from sentprobe.probes.trainer.bank import fast_bfloat16
from sentprobe.probes.trainer.devices import find_device
from sentprobe.processes import check_count


class TrainingPrecision(StrEnum):
    """In what products are made; weights are float32 always."""

    AUTO = "auto"
    """bfloat16 where the processor or the GPU has instructions for it."""
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMachine:
    """Where the loop runs; lightning-fabric does the rest."""

    device: str = "cpu"
    """auto, cpu, cuda or mps."""
    devices: int = 1
    """How many of them; each takes its share of the batches."""
    precision: TrainingPrecision = TrainingPrecision.AUTO


def is_first_process() -> bool:
    """Say whether this is no process that Fabric started for another device."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def check_machine(machine: TrainingMachine) -> None:
    """Refuse a machine that is not here, before anything is read for it.

    Raises:
        EncoderError: lightning-fabric is not installed.
        UsageError: there is no such device, or not so many, or no bfloat16 there.
    """
    if find_spec("lightning_fabric") is None:
        raise missing_extra("a training", extra="train")
    check_count("devices", machine.devices)
    if ":" in machine.device:
        raise UsageError(f"--device {machine.device}: without a number; --devices says how many")
    device = find_device(machine.device)
    there = {"cuda": torch.cuda.device_count(), "mps": 1}.get(device, machine.devices)
    if machine.devices > there:
        raise UsageError(f"--devices {machine.devices}: there is no more than {there} of {device}")
    settled_precision(machine)


def make_fabric(machine: TrainingMachine) -> Any:
    """Return what moves tensors, chooses the precision, and joins several devices.

    Raises:
        EncoderError: lightning-fabric is not installed.
        UsageError: there is no such device, or no bfloat16 there.
    """
    try:
        import lightning_fabric as lightning  # noqa: PLC0415 - it is an extra, and slow
    except ModuleNotFoundError:
        raise missing_extra("a training", extra="train") from None
    precision = _PRECISIONS[settled_precision(machine)]
    try:
        with without_remarks():
            return lightning.Fabric(
                accelerator=machine.device, devices=machine.devices, precision=precision
            )
    except (RuntimeError, ValueError) as error:  # what Fabric raises is made of these
        raise UsageError(f"--device {machine.device}: {error}") from None


@contextmanager
def without_remarks() -> Iterator[None]:
    """Keep from stderr what Fabric remarks on its precision."""
    log = logging.getLogger("lightning_fabric")
    before = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)


_PRECISIONS: Any = {
    TrainingPrecision.FLOAT32: "32-true",
    TrainingPrecision.BFLOAT16: "bf16-mixed",
}


def has_accelerator() -> bool:
    """Say whether there is a GPU of any kind."""
    return torch.cuda.is_available() or torch.backends.mps.is_available()


def settled_precision(machine: TrainingMachine) -> TrainingPrecision:
    """Return what a machine makes products in, which is never AUTO.

    Raises:
        UsageError: bfloat16 is asked for, and there are no instructions for it.
    """
    on_processor = machine.device == "cpu" or not has_accelerator()
    fast = fast_bfloat16() if on_processor else torch.cuda.is_available()
    if machine.precision is TrainingPrecision.BFLOAT16 and not fast:
        raise UsageError("precision bfloat16: there are no instructions for it here; use auto")
    if machine.precision is TrainingPrecision.AUTO:
        return TrainingPrecision.BFLOAT16 if fast else TrainingPrecision.FLOAT32
    return machine.precision
