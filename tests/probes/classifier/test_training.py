"""Training on a device: reads and transfers by the host per pass."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.probes.classifier.fit import fit
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.classifier.probe import Optimizer, Precision, Preset
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.encoders.kinds import make_encoder

READS = ("tolist", "item", "cpu", "numpy", "__bool__", "__float__", "__int__")
"""Methods that make the host wait for the device."""


def count_calls(names: Sequence[str], patch: pytest.MonkeyPatch, seen: list[str]) -> None:
    def counted(name: str) -> Callable[..., Any]:
        plain = getattr(torch.Tensor, name)

        def call(*arguments: Any, **named: Any) -> Any:
            seen.append(name)
            return plain(*arguments, **named)

        return call

    for name in names:
        patch.setattr(torch.Tensor, name, counted(name))


def count_reads_and_moves(preset: Preset, patch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return the numbers of reads by the host and of transfers to the device in a fit."""
    data = make_learnable_dataset(size=240)
    vectors = make_encoder("bow?dim=6", seed=0).encode(data.sentences)
    reads: list[str] = []
    moves: list[str] = []
    with patch.context() as inner:
        count_calls(READS, inner, reads)
        count_calls(["to"], inner, moves)
        fit(
            vectors,
            train=data.splits[Split.TRAIN],
            test=data.splits[Split.TEST],
            validation=data.splits[Split.TEST],
            words=10,
            labels=2,
            preset=preset,
            seeds=[0, 1],
        )
    return len(reads), len(moves)


@pytest.mark.parametrize("name", ["ettinger", "senteval"])
@pytest.mark.parametrize("optimizer", [Optimizer.ADAM, Optimizer.ADAGRAD])
def test_what_the_host_reads_does_not_grow_with_the_steps(
    name: str, optimizer: Optimizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU steps are launched without waiting; losses are read once per pass."""
    few = replace(find_preset(name), optimizer=optimizer, batch=120, max_epochs=3)
    many = replace(few, batch=4)
    count_reads_and_moves(few, monkeypatch)  # PyTorch reads more when it is used for the first time
    reads, _ = count_reads_and_moves(few, monkeypatch)
    assert reads > 0
    assert count_reads_and_moves(many, monkeypatch)[0] == reads


def test_items_go_to_the_device_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the one-hot targets are converted in a step, without leaving the device."""
    preset = replace(find_preset("ettinger"), batch=120, max_epochs=3, precision=Precision.FLOAT32)
    moves = count_reads_and_moves(preset, monkeypatch)[1]
    more = count_reads_and_moves(replace(preset, batch=4), monkeypatch)[1]
    items = len(make_learnable_dataset(size=240).splits[Split.TRAIN])
    steps = [3 * int(np.ceil(items / size)) for size in (120, 4)]
    assert more - moves == steps[1] - steps[0]
