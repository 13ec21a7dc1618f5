"""Read and write config.json in the folder of a trained sentence model. This module does not import PyTorch."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from sentprobe.disk.inputs import record_input
from sentprobe.errors import FormatError, SentprobeError, UsageError, folder_part_error
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.values import check_record, parse_json

CONFIG_FILE = "config.json"
FORMAT = "sentprobe sentence model 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """The content of config.json: sizes and settings of a sentence model."""

    architecture: Architecture
    words: int
    """Number of words in the vocabulary."""
    lower: bool
    reverse: bool
    frozen: bool
    """Whether training left the word vectors unchanged."""
    record: Mapping[str, Any]
    """Facts about the training, such as ``step``, the number of its last step."""


def is_model_folder(path: Path) -> bool:
    """Return whether a folder has the config.json of a sentence model; the model may still be damaged."""
    try:
        with (path / CONFIG_FILE).open("rb") as file:
            return FORMAT[:-2].encode() in file.read(1000)
    except OSError:
        return False


def write_config(config: ModelConfig, folder: Path) -> None:
    """Write config.json to an existing folder."""
    head = {"format": FORMAT, **asdict(config), "record": dict(config.record)}
    (folder / CONFIG_FILE).write_text(json.dumps(head, indent=2) + "\n", "utf-8", newline="\n")


def read_config(folder: Path) -> ModelConfig:
    """Read config.json from the folder of a sentence model. Raises UsageError or EncoderError."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no folder of a trained encoder at this path")
    record_input(folder)
    return read_part(folder / CONFIG_FILE, _parse_config)


Value = TypeVar("Value")


def read_part(path: Path, parse: Callable[[bytes], Value]) -> Value:
    """Read a file in a sentence model's folder, and parse its content. Raises UsageError or EncoderError."""
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise folder_part_error(path, "cannot read it", error, damaged=EncoderError) from None
    except SentprobeError as error:
        raise EncoderError(f"{path}: {error}") from None


def _parse_config(text: bytes) -> ModelConfig:
    fields = parse_json(text)
    if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
        raise FormatError(f"the format is not {FORMAT!r}")
    try:
        config = ModelConfig(**{**fields, "architecture": Architecture(**fields["architecture"])})
    except (TypeError, KeyError):
        raise FormatError("its fields are not those of a sentence model") from None
    check_record(config)
    return config
