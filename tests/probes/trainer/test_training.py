"""Training on a device: how often the host reads what is there, and what it sends, in a pass."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from probe_strategies import learnable

from sentprobe.probes.dataset import Split
from sentprobe.probes.encoders import make_encoder
from sentprobe.probes.trainer.classifier import Optimizer, Preset
from sentprobe.probes.trainer.fit import fit
from sentprobe.probes.trainer.presets import find_preset

READS = ("tolist", "item", "cpu", "numpy", "__bool__", "__float__", "__int__")
"""What makes the host wait until the device has done all that was launched."""


def counting(names: Sequence[str], patch: pytest.MonkeyPatch, seen: list[str]) -> None:
    def counted(name: str) -> Callable[..., Any]:
        plain = getattr(torch.Tensor, name)

        def call(*arguments: Any, **named: Any) -> Any:
            seen.append(name)
            return plain(*arguments, **named)

        return call

    for name in names:
        patch.setattr(torch.Tensor, name, counted(name))


def reads_and_moves(preset: Preset, patch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return how often the host reads, and how often something goes to the device, in a fit."""
    data = learnable(size=240)
    vectors = make_encoder("bow?dim=6", seed=0).encode(data.sentences)
    reads: list[str] = []
    moves: list[str] = []
    with patch.context() as inner:
        counting(READS, inner, reads)
        counting(["to"], inner, moves)
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
    """On a GPU a step is only launched: losses and stopping are looked at once a pass."""
    few = replace(find_preset(name), optimizer=optimizer, batch=120, max_epochs=3)
    many = replace(few, batch=4)
    reads_and_moves(few, monkeypatch)  # PyTorch reads more when it is used for the first time
    reads, _ = reads_and_moves(few, monkeypatch)
    assert reads > 0
    assert reads_and_moves(many, monkeypatch)[0] == reads


def test_items_go_to_the_device_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only targets become one-hot in a step, which is a change of type where they are."""
    preset = replace(find_preset("ettinger"), batch=120, max_epochs=3)
    moves = reads_and_moves(preset, monkeypatch)[1]
    more = reads_and_moves(replace(preset, batch=4), monkeypatch)[1]
    items = len(learnable(size=240).splits[Split.TRAIN])
    steps = [3 * int(np.ceil(items / size)) for size in (120, 4)]
    assert more - moves == steps[1] - steps[0]
