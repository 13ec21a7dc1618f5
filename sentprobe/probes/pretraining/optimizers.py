"""How weights are moved: the optimizers, and which of them the papers used for what."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import nn

from sentprobe.errors import UsageError


class OptimizerKind(StrEnum):
    """The optimizers; all are PyTorch's."""

    ADAM = "adam"
    SGD = "sgd"
    """With Nesterov's momentum."""
    ADAGRAD = "adagrad"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerSettings:
    """An optimizer, and the numbers that it goes by."""

    kind: OptimizerKind
    rate: float
    """How far a step goes."""
    momentum: float = 0.0
    """The share of the step before that is gone again; of SGD only."""
    clip: float
    """The norm of the gradient is no more than this."""

    def __post_init__(self) -> None:
        for name in ("rate", "clip"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UsageError(f"{name}={getattr(self, name)}: a number above 0 is wanted")


ADAM = OptimizerSettings(kind=OptimizerKind.ADAM, rate=1e-3, clip=5.0)
"""For recurrent encoders (Conneau et al. 2018, appendix: Adam for BiLSTMs).

The paper gives no rate: 0.001 is Adam's own (Kingma & Ba 2015, section 2). Clipping at 5 is that of
Sutskever et al. 2014, section 3.4.
"""

SGD = OptimizerSettings(kind=OptimizerKind.SGD, rate=0.25, momentum=0.99, clip=0.1)
"""For convolutions (Conneau et al. 2018, appendix: SGD with momentum for Gated ConvNets).

The numbers are those of the encoder that they refer to, Gehring et al. 2017, section 4.2.
"""

ADAGRAD = OptimizerSettings(kind=OptimizerKind.ADAGRAD, rate=1e-2, clip=5.0)
"""That of Adi et al. 2017, appendix II; gradients are clipped as in Sutskever et al. 2014."""

USUAL: Mapping[OptimizerKind, OptimizerSettings] = {
    each.kind: each for each in (ADAM, SGD, ADAGRAD)
}
"""The numbers of each, where nothing else is asked for."""

CONVOLUTIONAL = "gated-conv"


def usual_optimizer(architecture: str) -> OptimizerSettings:
    """Return the optimizer of the papers for a kind of network.

    >>> usual_optimizer("gated-conv").kind.value, usual_optimizer("bilstm-max").kind.value
    ('sgd', 'adam')
    """
    return SGD if architecture == CONVOLUTIONAL else ADAM


def make_optimizer(settings: OptimizerSettings, model: nn.Module) -> torch.optim.Optimizer:
    """Return the optimizer of those weights of a model that learn."""
    return _MAKERS[settings.kind](
        [each for each in model.parameters() if each.requires_grad], settings
    )


_Weights = Iterable[nn.Parameter]


def _adam(weights: _Weights, settings: OptimizerSettings) -> torch.optim.Optimizer:
    return torch.optim.Adam(weights, lr=settings.rate)


def _sgd(weights: _Weights, settings: OptimizerSettings) -> torch.optim.Optimizer:
    momentum = settings.momentum
    return torch.optim.SGD(weights, lr=settings.rate, momentum=momentum, nesterov=momentum > 0)


def _adagrad(weights: _Weights, settings: OptimizerSettings) -> torch.optim.Optimizer:
    return torch.optim.Adagrad(weights, lr=settings.rate)


_MAKERS: Mapping[OptimizerKind, Callable[[_Weights, OptimizerSettings], torch.optim.Optimizer]] = {
    OptimizerKind.ADAM: _adam,
    OptimizerKind.SGD: _sgd,
    OptimizerKind.ADAGRAD: _adagrad,
}
