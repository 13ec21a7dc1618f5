"""Probing tasks, encoders and the classifiers trained on their vectors.

What is offered here imports no PyTorch; the trainer and the run do, and are imported by module:
``from sentprobe.probes.trainer.fit import fit`` and ``from sentprobe.probes.run import run``.
"""

from sentprobe.probes.dataset import Card, DatasetError, Items, ProbeDataset, Split
from sentprobe.probes.encoders import ENCODERS, Encoder, EncoderError, make_encoder
from sentprobe.probes.intervals import Interval, wilson
from sentprobe.probes.results import (
    Condition,
    Result,
    Results,
    ResultsError,
    Score,
    SeedScore,
)
from sentprobe.probes.rundir import read_results
from sentprobe.probes.series import accuracy_by_length, norm_by_length, series_records
from sentprobe.probes.trainer.choices import Scaling
from sentprobe.probes.trainer.presets import PRESETS, Preset, find_preset, override

__all__ = [
    "ENCODERS",
    "PRESETS",
    "Card",
    "Condition",
    "DatasetError",
    "Encoder",
    "EncoderError",
    "Interval",
    "Items",
    "Preset",
    "ProbeDataset",
    "Result",
    "Results",
    "ResultsError",
    "Scaling",
    "Score",
    "SeedScore",
    "Split",
    "accuracy_by_length",
    "find_preset",
    "make_encoder",
    "norm_by_length",
    "override",
    "read_results",
    "series_records",
    "wilson",
]
