"""Optimizers of encoders, with the settings of the papers."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import nn

from sentprobe.errors import UsageError


class OptimizerKind(StrEnum):
    """PyTorch's optimizers."""

    ADAM = "adam"
    SGD = "sgd"
    """With Nesterov's momentum."""
    ADAGRAD = "adagrad"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerSettings:
    """An optimizer and its settings."""

    kind: OptimizerKind
    rate: float
    """Learning rate."""
    momentum: float = 0.0
    clip: float
    """Maximum norm of the gradient."""

    def __post_init__(self) -> None:
        for name in ("rate", "clip"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UsageError(f"{name}={getattr(self, name)}: a number above 0 is wanted")


ADAM = OptimizerSettings(kind=OptimizerKind.ADAM, rate=1e-3, clip=5.0)
"""For recurrent encoders (Conneau et al. 2018, appendix: Adam for BiLSTMs).

The paper gives no learning rate: 0.001 is Adam's default (Kingma & Ba 2015, section 2). Clipping at 5 follows Sutskever
et al. 2014, section 3.4.
"""

SGD = OptimizerSettings(kind=OptimizerKind.SGD, rate=0.25, momentum=0.99, clip=0.1)
"""For convolutional encoders (Conneau et al. 2018, appendix: SGD with momentum).

The values are from Gehring et al. 2017, section 4.2, whose encoder Conneau et al. cite.
"""

ADAGRAD = OptimizerSettings(kind=OptimizerKind.ADAGRAD, rate=1e-2, clip=5.0)
"""From Adi et al. 2017, appendix II; gradients are clipped as in Sutskever et al. 2014."""

DEFAULT_SETTINGS: Mapping[OptimizerKind, OptimizerSettings] = {
    settings.kind: settings for settings in (ADAM, SGD, ADAGRAD)
}


def find_default_optimizer(architecture: str) -> OptimizerSettings:
    """Return the optimizer that the papers use for an architecture.

    >>> find_default_optimizer("gated-conv").kind.value, find_default_optimizer("lstm").kind.value
    ('sgd', 'adam')
    """
    return SGD if architecture == "gated-conv" else ADAM


def make_optimizer(settings: OptimizerSettings, model: nn.Module) -> torch.optim.Optimizer:
    """Return the optimizer of a model's trainable weights."""
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    rate, momentum = settings.rate, settings.momentum
    if settings.kind is OptimizerKind.SGD:
        return torch.optim.SGD(weights, lr=rate, momentum=momentum, nesterov=momentum > 0)
    optimizer = torch.optim.Adam if settings.kind is OptimizerKind.ADAM else torch.optim.Adagrad
    return optimizer(weights, lr=rate)
