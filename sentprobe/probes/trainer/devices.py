"""Where probes are trained: the processor, or a GPU."""

import torch

from sentprobe.errors import UsageError, first_line, suggest
from sentprobe.specs import DEVICES

_GPU = " (did you mean 'cuda'?)"


def find_device(name: str) -> str:
    """Return the device that *name* stands for here: itself or, for auto, the best that there is.

    >>> find_device("cpu")
    'cpu'

    Raises:
        UsageError: there is no such device, or none here.
    """
    return str(check_device(_best() if name == "auto" else name))


def check_device(name: str) -> torch.device:
    """Return PyTorch's device of that name.

    Raises:
        UsageError: there is none here.
    """
    device = _parse(name)
    try:
        torch.empty(0, device=device).cpu()
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {name!r} cannot be used: {first_line(error)}") from None
    return device


def _parse(name: str) -> torch.device:
    if name.partition(":")[0] in DEVICES[1:]:
        try:
            return torch.device(name)
        except RuntimeError:  # its message is a list of all that PyTorch can be built for
            pass
    near = _GPU if name.lower().startswith("gpu") else suggest(name.lower(), DEVICES)
    raise UsageError(f"unknown device {name!r}{near}; known: {', '.join(DEVICES)}")


def _best() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
