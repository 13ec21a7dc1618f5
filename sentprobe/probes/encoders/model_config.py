"""What config.json says in the folder of a sentence model; nothing here needs PyTorch."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from sentprobe.errors import FormatError, SentprobeError, UsageError, part_error
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.values import parse_json

CONFIG = "config.json"

FORMAT = "sentprobe sentence model 1"
"""What it says that the folder is."""

LARGEST = 10**9
"""No size is larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """What config.json says."""

    architecture: Architecture
    words: int
    """How many there are in words.txt."""
    lower: bool
    reverse: bool
    frozen: bool
    record: Mapping[str, Any]
    """What its maker wants to be known of it, such as the step of its training."""


def is_model_folder(path: Path) -> bool:
    """Say whether a folder is one of a sentence model, as far as config.json tells.

    One with a damaged config.json is; one of a model of another library is not.
    """
    try:
        with (path / CONFIG).open("rb") as file:
            return FORMAT[:-2].encode() in file.read(1000)
    except OSError:
        return False


def write_config(config: ModelConfig, folder: Path) -> None:
    """Write config.json into a folder, which is there.

    Raises:
        OSError: it cannot be written.
    """
    head = {"format": FORMAT, **asdict(config), "record": dict(config.record)}
    (folder / CONFIG).write_text(json.dumps(head, indent=2) + "\n", "utf-8", newline="\n")


def read_config(folder: Path) -> ModelConfig:
    """Return what config.json says.

    Raises:
        UsageError: there is no such folder, or it may not be read.
        EncoderError: it is missing or damaged.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of a trained encoder")
    return read_part(folder / CONFIG, _config)


Found = TypeVar("Found")


def read_part(path: Path, read: Callable[[bytes], Found]) -> Found:
    """Return what is read from a file of the folder.

    Raises:
        UsageError: it may not be read.
        EncoderError: it is missing, or *read* refuses what is in it.
    """
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
        reverse=_field(found, "reverse", bool),
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
    if not least <= size <= LARGEST:
        raise FormatError(f"{name!r} must be from {least} to {LARGEST:,}")
    return size
