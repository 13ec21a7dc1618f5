"""Write and read checkpoints (JSON and safetensors), from which a training resumes with the same results."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors import torch as tensor_files
from torch import nn

from sentprobe.common import files
from sentprobe.common.errors import FormatError, SentprobeError, UsageError, first_line, folder_part_error
from sentprobe.common.values import check_record, parse_json
from sentprobe.probes.training.objective import Metric
from sentprobe.probes.training.schedule import TrainingState, ValidationPoint

CHECKPOINT_FOLDER = "checkpoint"
STATE_FILE, WEIGHTS_FILE, OPTIMIZER_FILE = ("state.json", "weights.safetensors", "optimizer.safetensors")
FORMAT = "sentprobe checkpoint 3"

Identity = Mapping[str, str | int | float | bool]
"""All values that determine the trained weights, by name, such as ``{"objective": "nli", "seed": 0}``."""


class CheckpointError(SentprobeError):
    """A checkpoint cannot be read or is invalid."""


class OtherTrainingError(UsageError):
    """The checkpoint in a folder was written by a training with other settings or texts."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """The content of ``state.json`` in a checkpoint."""

    state: TrainingState
    identity: Identity
    versions: Mapping[str, str]
    """The version of each package used for training, such as ``{"torch": "2.13.0"}``."""
    digests: Mapping[str, str]
    """The SHA-256 of each other file of the checkpoint by its name, as written: a damaged one is refused."""


def write_checkpoint(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, stored: StoredState) -> None:
    """Write a checkpoint into an encoder's folder, in place of the previous checkpoint."""
    contents = {
        WEIGHTS_FILE: tensor_files.save(_copy_tensors(model.state_dict())),
        OPTIMIZER_FILE: tensor_files.save(_collect_optimizer_tensors(optimizer)),
    }
    digests = {name: sha256(content).hexdigest() for name, content in contents.items()}
    record: dict[str, Any] = {"format": FORMAT, **asdict(replace(stored, digests=digests))}
    for name in ("best", "last"):
        point: ValidationPoint | None = getattr(stored.state, name)
        record["state"][name] = point and point.to_record()
    header = {**record, "digest": _digest_record(record)}
    with files.atomic_folder(folder / CHECKPOINT_FOLDER) as new_folder:
        (new_folder / STATE_FILE).write_text(json.dumps(header, indent=2) + "\n", "utf-8", newline="\n")
        for name, content in contents.items():
            (new_folder / name).write_bytes(content)


def _digest_record(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a state: one changed digit would resume a training with other results."""
    return sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _copy_tensors(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copy tensors to the CPU; the copies share no memory, as safetensors requires."""
    return {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}


def _collect_optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    # Parameter groups are left out: they hold the settings, which the resuming command states again.
    states = optimizer.state_dict()["state"].items()
    values = {f"{number}.{name}": value for number, state in states for name, value in state.items()}
    tensors = {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}
    # Weights of an objective that no batch was of yet have no state; optimizers begin with zeros.
    expected = _list_optimizer_tensors(optimizer).items()
    return _copy_tensors(tensors | {name: torch.zeros_like(like) for name, like in expected if name not in tensors})


def read_state(folder: Path) -> StoredState | None:
    """Return the state in the checkpoint of an encoder's folder; None without a checkpoint. Raises CheckpointError."""
    path = folder / CHECKPOINT_FOLDER / STATE_FILE
    if not path.exists():
        return None
    try:
        return _parse_state(parse_json(path.read_bytes()))
    except OSError as error:
        raise folder_part_error(path, error, damaged=CheckpointError) from None
    except FormatError as error:
        raise CheckpointError(f"{path}: {error}") from None


def _parse_state(record: Any) -> StoredState:
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise FormatError(f"the format is not {FORMAT!r}")
    if record.pop("digest", None) != _digest_record(record):
        raise FormatError("is damaged: its digest is of another state")
    record.pop("format")
    try:
        state = dict(record.pop("state"))
        for name in ("best", "last"):
            state[name] = None if state[name] is None else ValidationPoint.from_record(state[name])
        stored = StoredState(state=TrainingState(**state), **record)
    except (TypeError, KeyError, ValueError) as error:
        raise FormatError(f"not a valid state: {first_line(error)}") from None
    check_record(stored.state)
    _check_ranges(stored.state)
    for name, kinds in (("identity", (str, int, float)), ("versions", (str,)), ("digests", (str,))):
        values = getattr(stored, name)
        if not (isinstance(values, dict) and all(isinstance(value, kinds) for value in values.values())):
            raise FormatError(f"{name} must be an object of {'texts' if kinds == (str,) else 'texts and numbers'}")
    return stored


def _check_ranges(state: TrainingState) -> None:
    """Raise FormatError for numbers below 0, and for validations that cannot precede the state."""
    for place, record in (("", state), ("best.", state.best), ("last.", state.last)):
        for name in ("step", "epoch", "batch", "seconds", "waited"):
            if getattr(record, name, 0) < 0:
                raise FormatError(f"{place}{name} is {getattr(record, name)}; a number from 0 is expected")
    if state.waited > state.step:
        raise FormatError(f"{state.waited} validations without improvement in {state.step} steps")
    if (state.best is None) != (state.last is None):
        raise FormatError("best and last must both be validations or both be null")
    known_metrics = [metric.value for metric in Metric]
    for point in filter(None, (state.best, state.last)):
        if point.step > state.step:
            raise FormatError(f"a validation at step {point.step}, after step {state.step} of the training")
        for metric in (point.metric, *(part.metric for part in point.parts.values())):
            if metric not in known_metrics:
                raise FormatError(f"there is no metric {metric!r}; known: {', '.join(known_metrics)}")


def check_same_training(folder: Path, stored_identity: Identity, identity: Identity) -> None:
    """Raise OtherTrainingError if the identity in a checkpoint differs from that of the current training."""
    for name in (*identity, *stored_identity):
        stored_value, value = stored_identity.get(name), identity.get(name)
        if stored_value == value:
            continue
        stored_text, text = ("none" if either in ("", None) else repr(either) for either in (stored_value, value))
        difference = f"{name} {stored_text}, not {text}"
        if stored_value and value:
            difference = DIGEST_DIFFERENCES.get(name, difference)
        raise OtherTrainingError(f"{folder}: its training has {difference}; choose another folder, or remove that one")


DIGEST_DIFFERENCES: Mapping[str, str] = {
    "corpus": "other texts in --corpus or --parallel",
    "vectors": "other word vectors (--vectors)",
    "trees": "other trees (--trees)",
    "punkt": "other parameters of Punkt (--punkt)",
}
"""For each value that the identity stores as a digest, the text of the error message if the value differs."""


def load_weights(folder: Path, stored: StoredState, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Load the weights and the optimizer's state that belong to a checkpoint's state. Raises CheckpointError."""
    model.load_state_dict(_read_tensors(folder, WEIGHTS_FILE, stored, model.state_dict()))
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in _read_tensors(folder, OPTIMIZER_FILE, stored, _list_optimizer_tensors(optimizer)).items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _list_optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Return, by name, tensors of the shapes and number formats that an optimizer stores after a step."""
    match optimizer:
        case torch.optim.Adam():
            names = ["step", "exp_avg", "exp_avg_sq"]
        case torch.optim.Adagrad():
            names = ["step", "sum"]
        case _:
            names = ["momentum_buffer"] if optimizer.defaults["momentum"] else []
    weights = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return {
        f"{number}.{name}": torch.zeros(()) if name == "step" else weight
        for number, weight in enumerate(weights)
        for name in names
    }


def _read_tensors(
    folder: Path, file_name: str, stored: StoredState, expected: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Read tensors with the names, shapes and number formats of *expected*. Raises CheckpointError."""
    path = folder / CHECKPOINT_FOLDER / file_name
    try:
        content = path.read_bytes()
        tensors = _copy_tensors(tensor_files.load(content))
    except OSError as error:
        raise folder_part_error(path, error, damaged=CheckpointError) from None
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path}: {first_line(error)}") from None
    for name, model_tensor in expected.items():
        tensor = tensors.get(name)
        if tensor is None or tensor.shape != model_tensor.shape or tensor.dtype != model_tensor.dtype:
            problem = "missing" if tensor is None else f"{tensor.dtype} of shape {tuple(tensor.shape)}"
            shape = f"{model_tensor.dtype} of shape {tuple(model_tensor.shape)}"
            raise CheckpointError(f"{path}: {name!r} is {problem}; expected: {shape}")
    if unknown := tensors.keys() - expected.keys():
        raise CheckpointError(f"{path}: has {min(unknown)!r}, which this model or its optimizer lacks")
    if sha256(content).hexdigest() != stored.digests.get(file_name):
        raise CheckpointError(f"{path}: is damaged: it is not the file that {STATE_FILE} was written with")
    return tensors
