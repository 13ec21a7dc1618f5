"""The folder of a sentence model: config.json, words.txt and model.safetensors.

No file is a pickle. What config.json says decides how large the others may be, so that a damaged
folder is refused before memory is asked for.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import safetensors
import torch
from safetensors import torch as tensor_files

from sentprobe import files
from sentprobe.errors import FormatError, SentprobeError, UsageError, first_line, part_error
from sentprobe.probes.encoders import sentence_model as models
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.networks.network import MOST_WEIGHTS
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.values import parse_json

CONFIG, WORDS, WEIGHTS = "config.json", "words.txt", "model.safetensors"

FORMAT = "sentprobe sentence model 1"
"""What config.json says that it is."""

MOST_HEADER = 2**20
"""Bytes that model.safetensors may have besides its numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """What config.json says."""

    architecture: Architecture
    words: int
    """How many there are in words.txt."""
    lower: bool
    frozen: bool
    record: Mapping[str, Any]
    """What its maker wants to be known of it, such as the step of its training."""

    def __post_init__(self) -> None:
        models.check_size(self.architecture, words=self.words)


def is_model_folder(path: Path) -> bool:
    """Say whether a folder is one of a sentence model, as far as config.json tells.

    One with a damaged config.json is; one of a model of another library is not.
    """
    try:
        return FORMAT[:-2] in (path / CONFIG).read_text("utf-8")[:1000]
    except (OSError, ValueError):
        return False


def save_sentence_model(
    model: models.SentenceModel, folder: Path, record: Mapping[str, Any]
) -> None:
    """Write the folder of a model whole or not at all; one that is there is replaced.

    - record: JSON; of the keys ``family``, ``step`` and ``epoch`` an encoder is made that stands in
      a curve

    Raises:
        UsageError: the folder holds something else, or cannot be written.
        SentprobeError: a file cannot be written (a full disk).
    """
    with files.atomic_folder(folder, check=lambda: _check_ours(folder)) as fresh:
        write_sentence_model(model, fresh, record)


def _check_ours(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file; a folder is wanted")
    others = {path.name for path in folder.glob("*")} - {CONFIG, WORDS, WEIGHTS}
    if others:
        raise UsageError(f"{folder}: holds something else ({min(others)}); choose another folder")


def write_sentence_model(
    model: models.SentenceModel, folder: Path, record: Mapping[str, Any]
) -> None:
    """Write the three files into a folder, which is there.

    Raises:
        OSError: one cannot be written.
    """
    vocabulary = model.vocabulary
    head = {
        "format": FORMAT,
        "architecture": asdict(model.architecture),
        "words": len(vocabulary.words),
        "lower": vocabulary.lower,
        "frozen": model.frozen,
        "record": dict(record),
    }
    text = "".join(f"{word}\n" for word in vocabulary.words)
    (folder / CONFIG).write_text(json.dumps(head, indent=2) + "\n", "utf-8", newline="\n")
    (folder / WORDS).write_text(text, "utf-8", newline="\n")
    weights = {name: each.float().cpu() for name, each in model.state_dict().items()}
    (folder / WEIGHTS).write_bytes(tensor_files.save(weights))


def load_sentence_model(folder: Path) -> models.SentenceModel:
    """Return the model of a folder, on the processor.

    Raises:
        UsageError: there is no such folder, or it may not be read.
        EncoderError: a file is missing or damaged, or they do not fit together.
    """
    config = read_config(folder)
    _check_bytes(folder / WEIGHTS, config)
    vocabulary = _read(folder / WORDS, lambda text: _vocabulary(text, config))
    with torch.device("meta"):
        model = models.SentenceModel(vocabulary, config.architecture, frozen=config.frozen)
    weights = _read(folder / WEIGHTS, lambda content: _weights(content, model))
    model.load_state_dict(weights, assign=True)
    model.words.weight.requires_grad_(not config.frozen)
    return model.eval()


def read_config(folder: Path) -> ModelConfig:
    """Return what config.json says.

    Raises:
        UsageError: there is no such folder, or it may not be read.
        EncoderError: it is missing or damaged.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of a trained encoder")
    return _read(folder / CONFIG, _config)


Found = TypeVar("Found")


def _read(path: Path, read: Callable[[bytes], Found]) -> Found:
    try:
        return read(path.read_bytes())
    except OSError as error:
        raise part_error(path, "cannot read it", error, damaged=EncoderError) from None
    except SentprobeError as error:
        raise EncoderError(f"{path}: {error}") from None


def _config(text: bytes) -> ModelConfig:
    found = parse_json(text)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise FormatError(f"the format is not {FORMAT!r}")
    return ModelConfig(
        architecture=_architecture(_field(found, "architecture", dict)),
        words=_size(found, "words", least=0),
        lower=_field(found, "lower", bool),
        frozen=_field(found, "frozen", bool),
        record=_field(found, "record", dict),
    )


def _architecture(found: Mapping[str, Any]) -> Architecture:
    sizes = {name: _size(found, name, least=1) for name in ("hidden", "layers", "inputs")}
    return Architecture(kind=_field(found, "kind", str), **sizes)


def _field(found: Mapping[str, Any], name: str, kind: type[Found]) -> Found:
    value = found.get(name)
    if type(value) is not kind:
        raise FormatError(f"{name!r} must be {_WANTED[kind]}")
    return value


_WANTED: Mapping[type, str] = {
    dict: "an object",
    bool: "true or false",
    int: "a whole number",
    str: "a text",
}


def _size(found: Mapping[str, Any], name: str, *, least: int) -> int:
    size = _field(found, name, int)
    if not least <= size <= MOST_WEIGHTS:
        raise FormatError(f"{name!r} must be from {least} to {MOST_WEIGHTS:,}")
    return size


def _vocabulary(content: bytes, config: ModelConfig) -> models.KnownWords:
    lines = tuple(files.decode_lines(content.split(b"\n")))
    if len(lines) - 1 != config.words or lines[-1]:
        raise FormatError(f"{len(lines) - 1} lines; {CONFIG} says {config.words} words")
    return models.KnownWords(lines[:-1], lower=config.lower)


def _check_bytes(path: Path, config: ModelConfig) -> None:
    """Refuse weights that are more or fewer than the configuration says, by their file's size."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise part_error(path, "cannot read it", error, damaged=EncoderError) from None
    wanted = 4 * models.count_weights(config.architecture, words=config.words)
    if not wanted < size <= wanted + MOST_HEADER:
        raise EncoderError(
            f"{path}: {size:,} bytes; what {CONFIG} says takes {wanted:,} and a head"
        )


def _weights(content: bytes, model: models.SentenceModel) -> dict[str, torch.Tensor]:
    try:
        found = tensor_files.load(content)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise FormatError(first_line(error)) from None
    for name, empty in model.state_dict().items():
        each = found.get(name)
        if each is None or each.shape != empty.shape or each.dtype != empty.dtype:
            what = "missing" if each is None else f"{each.dtype} of shape {tuple(each.shape)}"
            wanted = f"{empty.dtype} of shape {tuple(empty.shape)}"
            raise FormatError(f"the weights {name!r} are {what}; wanted: {wanted}")
    if more := found.keys() - model.state_dict().keys():
        raise FormatError(f"weights {min(more)!r}, which {CONFIG} does not know")
    return found
