"""Checkpoints are replaced as a whole, and damaged ones are refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import safetensors.torch
import torch
from helpers import faults
from helpers.thoroughness import examples
from helpers.trainings.small_trainings import STEPS, SmallTraining, same, until
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.probes.training import checkpoint
from sentprobe.probes.training.schedule import ADAGRAD, ADAM, SGD, OptimizerSettings

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")


def test_full_disk_keeps_former_checkpoint(tmp_path: Path) -> None:
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
def test_damaged_checkpoint_is_refused(tmp_path: Path, name: str, damage: bytes) -> None:
    path = stored_training(tmp_path / "enc") / name
    path.write_bytes(damage)
    with pytest.raises(checkpoint.CheckpointError) as caught:
        SmallTraining(tmp_path / "enc", until(4)).run()
    assert str(caught.value).startswith(f"{path}: ")


def change_state(folder: Path, place: str, value: object) -> None:
    """Train for two steps, and change a value of the checkpoint's state and its digest."""
    path = stored_training(folder) / checkpoint.STATE_FILE
    record = inner = json.loads(path.read_text())
    *outer, name = place.split(".")
    for key in outer:
        inner = inner[key]
    inner[name] = value
    del record["digest"]
    path.write_text(json.dumps({**record, "digest": checkpoint._digest_record(record)}))


NOT_TEXTS: list[object] = [3, [], {"torch": None}, {"torch": ["2"]}]
PART: dict[str, object] = {"metric": "accuracy", "value": 1.0, "higher_is_better": True, "loss": 0.0}
BAD_STATES: list[tuple[str, object, str]] = [
    ("state", {}, "not a valid state"),
    ("state", {"step": 1}, "not a valid state"),
    ("format", "x", "the format is not"),
    ("more", 1, "not a valid state"),
    ("state.step", "two", "step must be a whole number"),
    *((f"state.{name}", -1, f"{name} is -1; a number from 0") for name in ("step", "epoch", "batch", "waited")),
    ("state.seconds", -1.0, "seconds is -1.0; a number from 0"),
    ("state.seconds", float("nan"), "seconds must be a number"),
    ("state.step", 1, "a validation at step 2, after step 1"),
    ("state.waited", 3, "3 validations without improvement in 2 steps"),
    ("state.best", None, "best and last must both be"),
    ("state.last.step", 3, "a validation at step 3, after step 2"),
    ("state.last.step", -1, "last.step is -1; a number from 0"),
    ("state.best.epoch", -0.5, "best.epoch is -0.5; a number from 0"),
    ("state.best.metric", "frobs", "there is no metric 'frobs'; known: BLEU, accuracy, perplexity"),
    ("state.best.parts", 3, "not a valid state"),
    ("state.best.parts", {"nli": {"metric": "accuracy"}}, "not a valid state"),
    ("state.best.parts", {"nli": PART | {"parts": {}, "more": 1}}, "not a valid state"),
    ("state.best.parts", {"nli": PART | {"value": "one"}}, r"best.parts\['nli'\].value must be a number"),
    ("state.best.parts", {"nli": PART | {"parts": {"x": PART}}}, r"best.parts\['nli'\].parts\['x'\] must be a"),
    ("state.best.parts", {"nli": PART | {"metric": "frobs"}}, "there is no metric 'frobs'"),
    ("state.best.higher_is_better", 1, "best.higher_is_better must be true or false"),
    *(
        (name, values, f"{name} must be an object of texts")
        for name in ("versions", "identity", "digests")
        for values in NOT_TEXTS
    ),
    ("versions", {"torch": 2}, "versions must be an object of texts"),
]


@pytest.mark.parametrize(("place", "value", "message"), BAD_STATES)
def test_bad_state_is_refused(tmp_path: Path, place: str, value: object, message: str) -> None:
    change_state(tmp_path, place, value)
    with pytest.raises(checkpoint.CheckpointError, match=message):
        checkpoint.read_state(tmp_path)


@pytest.mark.parametrize("place", ["step", "best.value", "seconds", "waited"])
def test_changed_digit_of_state_is_refused(tmp_path: Path, place: str) -> None:
    path = stored_training(tmp_path) / checkpoint.STATE_FILE
    text = path.read_text()
    name = place.rpartition(".")[2]
    changed = re.sub(rf'("{name}": -?)(\d)', lambda found: found[1] + str((int(found[2]) + 1) % 10), text, count=1)
    assert changed != text
    path.write_text(changed)
    with pytest.raises(checkpoint.CheckpointError, match="is damaged: its digest is of another state"):
        checkpoint.read_state(tmp_path)


def test_identity_may_hold_numbers(tmp_path: Path) -> None:
    change_state(tmp_path, "identity", {"torch": 2})
    assert checkpoint.read_state(tmp_path) is not None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *((name, value, "steps in .* epochs and .* batches") for name in ("step", "epoch") for value in (7, 10**18)),
        *(("batch", value, f"{value} completed batches") for value in (STEPS, 99)),
    ],
)
def test_state_of_other_epochs_is_refused(tmp_path: Path, name: str, value: int, message: str) -> None:
    change_state(tmp_path, f"state.{name}", value)
    with pytest.raises(checkpoint.CheckpointError, match=f"{message}, but an epoch has {STEPS}"):
        SmallTraining(tmp_path, until(4)).run()


Change = Callable[[dict[str, torch.Tensor]], object]
OPTIMIZERS = [ADAM, SGD, ADAGRAD]
CHANGES: dict[str, Change] = {
    "empty": lambda tensors: tensors.clear(),
    "missing": lambda tensors: tensors.popitem(),
    "digits": lambda tensors: tensors.update({"9" * 5000 + ".exp_avg": torch.zeros(1)}),
    "unknown": lambda tensors: tensors.update({"0.evil": torch.zeros(1)}),
    "zeros": lambda tensors: tensors.update({"00.exp_avg": next(iter(tensors.values())).clone()}),
}
VALUE_CHANGES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "int": lambda tensor: tensor.int(),
    "half": lambda tensor: tensor.half(),
    "double": lambda tensor: tensor.double(),
    "shape": lambda tensor: tensor.reshape(1, *tensor.shape),
    "scalar": lambda tensor: tensor.sum() if tensor.dim() else tensor.reshape(1),
    "nan": lambda tensor: tensor * torch.nan,
    "infinite": lambda tensor: tensor.fill_(torch.inf),
}


def change_tensors(path: Path, change: Change) -> None:
    tensors = safetensors.torch.load(path.read_bytes())
    change(tensors)
    path.write_bytes(safetensors.torch.save(tensors))


def refuse(folder: Path, optimizer: OptimizerSettings, name: str, change: Change) -> None:
    SmallTraining(folder, until(2, optimizer)).run()
    path = folder / checkpoint.CHECKPOINT_FOLDER / name
    change_tensors(path, change)
    with pytest.raises(checkpoint.CheckpointError, match=f"^{re.escape(str(path))}: "):
        SmallTraining(folder, until(4, optimizer)).run()


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda optimizer: optimizer.kind)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_optimizer_has_exactly_its_tensors(tmp_path: Path, optimizer: OptimizerSettings, change: Change) -> None:
    refuse(tmp_path / "enc", optimizer, checkpoint.OPTIMIZER_FILE, change)


@given(optimizer=st.sampled_from(OPTIMIZERS), change=st.sampled_from([*VALUE_CHANGES.values()]), data=st.data())
@examples(20)
def test_tensors_of_other_kind_are_refused(
    optimizer: OptimizerSettings, change: Callable[[torch.Tensor], torch.Tensor], data: st.DataObject
) -> None:
    file = data.draw(st.sampled_from([checkpoint.OPTIMIZER_FILE, checkpoint.WEIGHTS_FILE]))

    def change_one(tensors: dict[str, torch.Tensor]) -> None:
        name = data.draw(st.sampled_from(sorted(tensors)))
        tensors[name] = change(tensors[name])

    with TemporaryDirectory() as folder:
        refuse(Path(folder, "enc"), optimizer, file, change_one)


@given(st.sampled_from([checkpoint.OPTIMIZER_FILE, checkpoint.WEIGHTS_FILE]), st.data())
@examples(20)
def test_one_changed_byte_is_refused(name: str, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = stored_training(Path(folder, "enc")) / name
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1), label="place")
        content[place] ^= 1 << data.draw(st.integers(0, 7), label="bit")
        path.write_bytes(content)
        with pytest.raises(checkpoint.CheckpointError, match=f"^{re.escape(str(path))}: "):
            SmallTraining(path.parents[1], until(4)).run()


def test_checkpoint_has_no_pickle(tmp_path: Path) -> None:
    names = {path.name for path in stored_training(tmp_path / "enc").iterdir()}
    assert names == {checkpoint.STATE_FILE, checkpoint.WEIGHTS_FILE, checkpoint.OPTIMIZER_FILE}
