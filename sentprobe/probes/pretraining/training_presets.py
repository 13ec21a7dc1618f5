"""Settings of published trainings, in one table."""

from collections.abc import Mapping
from dataclasses import dataclass

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.pretraining import objective_options as objective
from sentprobe.probes.pretraining.optimizers import ADAGRAD, OptimizerSettings, find_default_optimizer


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPreset:
    """Settings of a training; options of ``probe train`` replace single settings."""

    batch: int
    dropout: float
    decoder_layers: int
    decoder_hidden: int | None
    """Units per decoder layer; None: as many as the encoder."""
    inputs: int | None
    """Width of word vectors; None: the number of the encoder's hidden units."""
    reverse: bool
    """Whether the encoder reads sentences from the last word to the first."""
    optimizer: OptimizerSettings | None
    """None: the architecture's default optimizer."""

    def choose_optimizer(self, architecture: str) -> OptimizerSettings:
        """Return the preset's optimizer; if it has none, that of the architecture."""
        return self.optimizer or find_default_optimizer(architecture)


DEFAULT_PRESET = TrainingPreset(
    # Conneau et al. 2018, except the batch size, which is ours.
    batch=objective.BATCH.default,
    dropout=objective.DROPOUT.default,
    decoder_layers=objective.DECODER_LAYERS.default,
    decoder_hidden=objective.DECODER_HIDDEN.default,
    inputs=300,
    reverse=False,
    optimizer=None,
)

PRESETS: Mapping[str, TrainingPreset] = {
    # Adi et al. 2017, appendix II.
    "adi": TrainingPreset(
        batch=32, dropout=0.1, decoder_layers=1, decoder_hidden=None, inputs=None, reverse=True, optimizer=ADAGRAD
    )
}


def find_training_preset(name: str | None) -> TrainingPreset:
    """Return the preset of that name; without a name, the default settings.

    >>> find_training_preset("adi").batch, find_training_preset(None).batch
    (32, 256)
    """
    if name is None:
        return DEFAULT_PRESET
    if name not in PRESETS:
        raise UsageError(
            f"there is no preset {name!r} of a training{suggest(name, PRESETS)}; known: {', '.join(PRESETS)}"
        )
    return PRESETS[name]
