"""Optimizers with the settings of published papers, and presets of published trainings of encoders."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import nn

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.pretraining.objective_options import DEFAULTS


class OptimizerKind(StrEnum):
    """The optimizers, all from PyTorch."""

    ADAM = "adam"
    SGD = "sgd"
    """Stochastic gradient descent with Nesterov momentum."""
    ADAGRAD = "adagrad"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerSettings:
    """An optimizer and its settings."""

    kind: OptimizerKind
    rate: float
    """The learning rate."""
    momentum: float = 0.0
    clip: float
    """Maximum norm of the gradient; larger gradients are scaled down to it."""

    def __post_init__(self) -> None:
        for name in ("rate", "clip"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UsageError(f"{name}={getattr(self, name)}: a number above 0 is expected")


ADAM = OptimizerSettings(kind=OptimizerKind.ADAM, rate=1e-3, clip=5.0)
"""The optimizer of recurrent encoders (Conneau et al. 2018, appendix), with PyTorch's default learning rate."""
SGD = OptimizerSettings(kind=OptimizerKind.SGD, rate=0.25, momentum=0.99, clip=0.1)
"""The optimizer of convolutional encoders (Conneau et al. 2018; values: Gehring et al. 2017, section 4.2)."""
ADAGRAD = OptimizerSettings(kind=OptimizerKind.ADAGRAD, rate=1e-2, clip=5.0)
"""The optimizer of Adi et al. 2017, appendix II; gradients are clipped as in Sutskever et al. 2014."""

DEFAULT_SETTINGS: Mapping[OptimizerKind, OptimizerSettings] = {
    settings.kind: settings for settings in (ADAM, SGD, ADAGRAD)
}


def make_optimizer(settings: OptimizerSettings, model: nn.Module) -> torch.optim.Optimizer:
    """Return a PyTorch optimizer for the weights of a model that are not frozen."""
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    rate, momentum = settings.rate, settings.momentum
    if settings.kind is OptimizerKind.SGD:
        return torch.optim.SGD(weights, lr=rate, momentum=momentum, nesterov=momentum > 0)
    optimizer = torch.optim.Adam if settings.kind is OptimizerKind.ADAM else torch.optim.Adagrad
    return optimizer(weights, lr=rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPreset:
    """The settings of a published training; each can be changed by an option of ``probe train``.

    The defaults are those of Conneau et al. 2018, except the batch size, which is our choice.
    """

    batch: int = DEFAULTS.batch
    dropout: float = DEFAULTS.dropout
    decoder_layers: int = DEFAULTS.decoder_layers
    decoder_hidden: int | None = DEFAULTS.decoder_hidden
    """Number of hidden units of each decoder layer; None: as many as the encoder has."""
    inputs: int | None = 300
    """Dimension of the encoder's word vectors; None: the number of the encoder's hidden units."""
    reverse: bool = False
    """Whether the encoder reads sentences from the last word to the first."""
    optimizer: OptimizerSettings | None = None

    def choose_optimizer(self, architecture: str) -> OptimizerSettings:
        """Return the preset's optimizer or, if it has none, SGD for ``gated-conv`` and ADAM for other architectures."""
        return self.optimizer or (SGD if architecture == "gated-conv" else ADAM)


PRESETS: Mapping[str, TrainingPreset] = {
    # Adi et al. 2017, appendix II.
    "adi": TrainingPreset(
        batch=32, dropout=0.1, decoder_layers=1, decoder_hidden=None, inputs=None, reverse=True, optimizer=ADAGRAD
    )
}


def find_training_preset(name: str | None) -> TrainingPreset:
    """Return the preset of this name, such as "adi"; None: the default settings. Raises UsageError."""
    if name is None:
        return TrainingPreset()
    if name not in PRESETS:
        raise UsageError(f"there is no training preset {name!r}{suggest(name, PRESETS)}; known: {', '.join(PRESETS)}")
    return PRESETS[name]
