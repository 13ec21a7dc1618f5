"""The checkpoint of a training: all that it goes on from, bit by bit, and nothing that is pickled.

A folder of three files: ``state.json``, and the weights and the optimizer's numbers in safetensors.
It is replaced as a whole, so a process that is killed or a disk that is full leaves the one before.
No random generator is in it: each step has a seed of its own.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors import torch as tensor_files
from torch import nn

from sentprobe import files
from sentprobe.errors import FormatError, SentprobeError, UsageError, first_line, part_error
from sentprobe.probes.pretraining.schedule import ScoredMoment, TrainingState
from sentprobe.values import check_record, parse_json

FOLDER = "checkpoint"
"""Where it is in the folder of the encoder."""

STATE, WEIGHTS, OPTIMIZER = "state.json", "weights.safetensors", "optimizer.safetensors"

FORMAT = "sentprobe checkpoint 1"

Identity = Mapping[str, str | int | float | bool]
"""What a training is of: whatever decides its weights, by name."""


class CheckpointError(SentprobeError):
    """A checkpoint cannot be read, or is not one."""


class OtherTrainingError(UsageError):
    """The checkpoint in a folder is of another training."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """What ``state.json`` says."""

    state: TrainingState
    identity: Identity
    versions: Mapping[str, str]
    """Of what the checkpoint was made with."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What learns: a model and its optimizer."""

    model: nn.Module
    optimizer: torch.optim.Optimizer


def write_checkpoint(folder: Path, learned: Learned, stored: StoredState) -> None:
    """Write the checkpoint of an encoder's folder, in place of the one before.

    Raises:
        SentprobeError: it cannot be written (a full disk); the one before stays.
    """
    head = {"format": FORMAT, **asdict(stored)}
    with files.atomic_folder(folder / FOLDER) as fresh:
        (fresh / STATE).write_text(json.dumps(head, indent=2) + "\n", "utf-8", newline="\n")
        (fresh / WEIGHTS).write_bytes(tensor_files.save(_own(learned.model.state_dict())))
        (fresh / OPTIMIZER).write_bytes(tensor_files.save(_numbers(learned.optimizer)))


def _own(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return tensors that share no memory, on the processor; safetensors has no others."""
    return {name: each.detach().cpu().clone() for name, each in tensors.items()}


def _numbers(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Return what the optimizer knows of each weight, by the weight's number and its own name."""
    return _own(
        {
            f"{number}.{name}": value
            for number, each in optimizer.state_dict()["state"].items()
            for name, value in each.items()
            if isinstance(value, torch.Tensor)
        }
    )


def read_state(folder: Path) -> StoredState | None:
    """Return what the checkpoint of an encoder's folder says; None: there is none.

    Raises:
        CheckpointError: it is damaged.
    """
    path = folder / FOLDER / STATE
    if not path.exists():
        return None
    try:
        return _parsed(parse_json(path.read_bytes()))
    except OSError as error:
        raise part_error(path, "cannot read it", error, damaged=CheckpointError) from None
    except FormatError as error:
        raise CheckpointError(f"{path}: {error}") from None


def _parsed(found: Any) -> StoredState:
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
        raise FormatError(f"the format is not {FORMAT!r}")
    try:
        state = dict(found.pop("state"))
        for name in ("best", "last"):
            state[name] = None if state[name] is None else ScoredMoment(**state[name])
        stored = StoredState(state=TrainingState(**state), **found)
    except (TypeError, KeyError, ValueError) as error:
        raise FormatError(f"not what a training writes: {first_line(error)}") from None
    check_record(stored.state)
    if not isinstance(stored.identity, dict):
        raise FormatError("identity must be an object")
    return stored


def check_same(folder: Path, found: Identity, wanted: Identity) -> None:
    """Refuse to go on with another training.

    Raises:
        OtherTrainingError: the one in the folder differs; says in what.
    """
    for name in (*wanted, *found):
        old, new = found.get(name), wanted.get(name)
        if old != new:
            raise OtherTrainingError(
                f"{folder}: what is trained there has {_differs(name, old, new)}; "
                "choose another folder, or remove that one"
            )


def _differs(name: str, old: object, new: object) -> str:
    """Return in what trainings differ; digests tell nobody anything."""
    if name in DIGESTS and old and new:
        return DIGESTS[name]
    was, is_wanted = ("none" if value in ("", None) else repr(value) for value in (old, new))
    return f"{name} {was}, not {is_wanted}"


DIGESTS: Mapping[str, str] = {
    "corpus": "other texts in --corpus or --parallel",
    "vectors": "other word vectors (--vectors)",
    "punkt": "other parameters of Punkt (--punkt)",
}
"""What differs where these do, of which a digest is kept."""


def load_weights(folder: Path, learned: Learned) -> None:
    """Put the weights and the optimizer's numbers of a checkpoint into what learns.

    Raises:
        CheckpointError: a file is missing or damaged, or of another model.
    """
    _load_model(folder / FOLDER / WEIGHTS, learned.model)
    _load_optimizer(folder / FOLDER / OPTIMIZER, learned.optimizer)


def _load_model(path: Path, model: nn.Module) -> None:
    found = _tensors(path)
    for name, own in model.state_dict().items():
        if name not in found or found[name].shape != own.shape:
            raise CheckpointError(f"{path}: its weights {name!r} are not those of this model")
    if more := found.keys() - model.state_dict().keys():
        raise CheckpointError(f"{path}: has weights {min(more)!r}, which this model has not")
    model.load_state_dict(found)


def _load_optimizer(path: Path, optimizer: torch.optim.Optimizer) -> None:
    weights = [each for group in optimizer.param_groups for each in group["params"]]
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in _tensors(path).items():
        number, _, name = key.partition(".")
        if not number.isdecimal() or int(number) >= len(weights):
            raise CheckpointError(f"{path}: {key!r} is of no weight of this model")
        if value.dim() and value.shape != weights[int(number)].shape:
            raise CheckpointError(f"{path}: {key!r} is of another width")
        state.setdefault(int(number), {})[name] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    try:
        return _own(tensor_files.load(path.read_bytes()))
    except OSError as error:
        raise part_error(path, "cannot read it", error, damaged=CheckpointError) from None
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path}: {first_line(error)}") from None
