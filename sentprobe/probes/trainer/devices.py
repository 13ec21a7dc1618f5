"""Devices for training probes: the processor or a GPU."""

import torch
from torch import Tensor

from sentprobe.errors import UsageError, first_line, suggest
from sentprobe.specs import DEVICES


def find_device(name: str) -> str:
    """Return the name of the device; ``auto`` stands for the best available one.

    >>> find_device("cpu")
    'cpu'
    """
    return str(check_device(find_best_device() if name == "auto" else name))


def check_device(name: str) -> torch.device:
    """Return PyTorch's device of that name."""
    device = _parse_device(name)
    try:
        torch.empty(0, device=device).cpu()
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {name!r} cannot be used: {first_line(error)}") from None
    return device


def send_to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Return *tensor* on *device*; an NVIDIA GPU copies it from locked memory while the processor goes on."""
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def _parse_device(name: str) -> torch.device:
    if name.partition(":")[0] in DEVICES[1:]:
        try:
            return torch.device(name)
        except RuntimeError:  # its message lists all device types of PyTorch
            pass
    suggestion = " (did you mean 'cuda'?)" if name.lower().startswith("gpu") else suggest(name.lower(), DEVICES)
    raise UsageError(f"unknown device {name!r}{suggestion}; known: {', '.join(DEVICES)}")


def find_best_device() -> str:
    """Return cuda, mps or cpu."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
