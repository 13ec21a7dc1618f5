"""Checkpoints are replaced as a whole, and damaged ones are refused."""

import json
from pathlib import Path

import faults
import pytest
from small_trainings import STEPS, SmallTraining, same, until

from sentprobe.errors import SentprobeError
from sentprobe.probes.pretraining import checkpoint

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")


def test_a_full_disk_in_the_middle_of_a_checkpoint_keeps_the_one_before(tmp_path: Path) -> None:
    full_training = SmallTraining(tmp_path / "whole", until(3))
    full_training.run()
    SmallTraining(tmp_path / "enc", until(2)).run()
    number = 0
    while True:
        number += 1
        part = SmallTraining(tmp_path / "enc", until(3))
        try:
            with faults.watched(tmp_path / "enc", faults.full(number)):
                part.run()
            break
        except SentprobeError as error:
            assert "No space left on device" in str(error)
            stored = checkpoint.read_state(tmp_path / "enc")
            assert stored is not None
            assert stored.state.step in (2, 3)
    assert number > 3
    assert same(part.weights, full_training.weights)


def stored_training(folder: Path) -> Path:
    SmallTraining(folder, until(2)).run()
    return folder / checkpoint.CHECKPOINT_FOLDER


@pytest.mark.parametrize("name", [checkpoint.WEIGHTS_FILE, checkpoint.OPTIMIZER_FILE, checkpoint.STATE_FILE])
@pytest.mark.parametrize("damage", [b"", b"{", b"\xff" * 40])
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, name: str, damage: bytes) -> None:
    path = stored_training(tmp_path / "enc") / name
    path.write_bytes(damage)
    with pytest.raises(checkpoint.CheckpointError) as caught:
        SmallTraining(tmp_path / "enc", until(4)).run()
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("field", "value"), [("state", {}), ("state", {"step": 1}), ("identity", 3), ("format", "x"), ("more", 1)]
)
def test_a_state_of_other_fields_is_refused(tmp_path: Path, field: str, value: object) -> None:
    path = stored_training(tmp_path / "enc") / checkpoint.STATE_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(checkpoint.CheckpointError):
        checkpoint.read_state(tmp_path / "enc")


def test_a_state_of_a_wrong_kind_is_refused(tmp_path: Path) -> None:
    path = stored_training(tmp_path / "enc") / checkpoint.STATE_FILE
    record = json.loads(path.read_text())
    record["state"]["step"] = "two"
    path.write_text(json.dumps(record))
    with pytest.raises(checkpoint.CheckpointError, match="step must be a whole number"):
        checkpoint.read_state(tmp_path / "enc")


@pytest.mark.parametrize("batch", [-1, STEPS, 99])
def test_a_state_beyond_the_end_of_an_epoch_is_refused(tmp_path: Path, batch: int) -> None:
    path = stored_training(tmp_path / "enc") / checkpoint.STATE_FILE
    record = json.loads(path.read_text())
    record["state"]["batch"] = batch
    path.write_text(json.dumps(record))
    message = f"{batch} completed batches, but an epoch has {STEPS}"
    with pytest.raises(checkpoint.CheckpointError, match=message):
        SmallTraining(tmp_path / "enc", until(4)).run()


def test_nothing_is_a_pickle(tmp_path: Path) -> None:
    names = {path.name for path in stored_training(tmp_path / "enc").iterdir()}
    assert names == {checkpoint.STATE_FILE, checkpoint.WEIGHTS_FILE, checkpoint.OPTIMIZER_FILE}
