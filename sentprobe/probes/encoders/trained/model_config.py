"""Read and write config.json in the folder of a sentence model, without PyTorch."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from sentprobe.errors import FormatError, SentprobeError, UsageError, folder_part_error
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.values import parse_json

CONFIG_FILE = "config.json"
FORMAT = "sentprobe sentence model 1"
MAX_SIZE = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """The content of config.json."""

    architecture: Architecture
    words: int
    lower: bool
    reverse: bool
    frozen: bool
    record: Mapping[str, Any]
    """Facts about the training, such as its step."""


def is_model_folder(path: Path) -> bool:
    """Say whether config.json in a folder is that of a sentence model, damaged or not."""
    try:
        with (path / CONFIG_FILE).open("rb") as file:
            return FORMAT[:-2].encode() in file.read(1000)
    except OSError:
        return False


def write_config(config: ModelConfig, folder: Path) -> None:
    """Write config.json into an existing folder."""
    head = {"format": FORMAT, **asdict(config), "record": dict(config.record)}
    (folder / CONFIG_FILE).write_text(json.dumps(head, indent=2) + "\n", "utf-8", newline="\n")


def read_config(folder: Path) -> ModelConfig:
    """Read config.json. Raises UsageError or EncoderError."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of a trained encoder")
    return read_part(folder / CONFIG_FILE, _parse_config)


Value = TypeVar("Value")


def read_part(path: Path, parse: Callable[[bytes], Value]) -> Value:
    """Read and parse a file of the folder. Raises UsageError or EncoderError."""
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise folder_part_error(path, "cannot read it", error, damaged=EncoderError) from None
    except SentprobeError as error:
        raise EncoderError(f"{path}: {error}") from None


def _parse_config(text: bytes) -> ModelConfig:
    fields = parse_json(text)
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise FormatError(f"the format is not {FORMAT!r}")
    return ModelConfig(
        architecture=_parse_architecture(_get_field(fields, "architecture", dict)),
        words=_get_size(fields, "words", minimum=0),
        lower=_get_field(fields, "lower", bool),
        reverse=_get_field(fields, "reverse", bool),
        frozen=_get_field(fields, "frozen", bool),
        record=_get_field(fields, "record", dict),
    )


def _parse_architecture(fields: Mapping[str, Any]) -> Architecture:
    sizes = {name: _get_size(fields, name, minimum=1) for name in ("hidden", "layers", "inputs")}
    return Architecture(kind=_get_field(fields, "kind", str), **sizes)


def _get_field(fields: Mapping[str, Any], name: str, kind: type[Value]) -> Value:
    value = fields.get(name)
    if type(value) is not kind:
        raise FormatError(f"{name!r} must be {_TYPE_NAMES[kind]}")
    return value


_TYPE_NAMES: Mapping[type, str] = {dict: "an object", bool: "true or false", int: "a whole number", str: "a text"}


def _get_size(fields: Mapping[str, Any], name: str, *, minimum: int) -> int:
    size = _get_field(fields, name, int)
    if not minimum <= size <= MAX_SIZE:
        raise FormatError(f"{name!r} must be from {minimum} to {MAX_SIZE:,}")
    return size
