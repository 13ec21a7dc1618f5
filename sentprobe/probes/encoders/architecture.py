"""The architecture of a network: its kind and its sizes. This module imports neither NumPy nor PyTorch.

Read and write config.json in the folder of a trained sentence model.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from sentprobe.common.errors import FormatError, SentprobeError, UsageError, folder_part_error, suggest
from sentprobe.common.inputs import record_input
from sentprobe.common.values import EDITED, check_record, digest_value, parse_json, pop_digest

DEFAULT_LAYERS: Mapping[str, int] = {
    "lstm": 1,
    "bilstm-last": 1,
    "bilstm-max": 1,
    "bilstm-att": 1,
    "gated-conv": 8,
    "gru-uni": 1,
    "gru-bi": 1,
    "tree-lstm": 1,
    "cbow": 1,
}
"""Kinds of networks, such as ``lstm``, with their default numbers of layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The architecture of a network, such as an ``lstm`` of 512 hidden units."""

    kind: str
    """A key of DEFAULT_LAYERS."""
    hidden: int = 512
    """Number of hidden units of a recurrent layer (per direction) or of a convolution; ``cbow`` ignores it."""
    layers: int = 0
    """Number of stacked layers; 0 is replaced by the number in DEFAULT_LAYERS."""
    inputs: int = 300
    """Width of the word vectors."""

    def __post_init__(self) -> None:
        check_record(self)
        if self.kind not in DEFAULT_LAYERS:
            suggestion, known_kinds = suggest(self.kind, DEFAULT_LAYERS), ", ".join(DEFAULT_LAYERS)
            raise UsageError(f"there is no architecture {self.kind!r}{suggestion}; known: {known_kinds}")
        if self.layers == 0:
            object.__setattr__(self, "layers", DEFAULT_LAYERS[self.kind])
        for name in ("hidden", "layers", "inputs"):
            if getattr(self, name) < 1:
                raise UsageError(f"{self.kind}: {name}={getattr(self, name)}: at least 1 is expected")


CONFIG_FILE = "config.json"
FORMAT = "sentprobe sentence model 2"


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
    digests: Mapping[str, str]
    """The SHA-256 of each other file, by its name: without them, a changed bit of the weights would be believed."""


def is_model_folder(path: Path) -> bool:
    """Return whether a folder has the config.json of a sentence model; the model may still be damaged."""
    try:
        with (path / CONFIG_FILE).open("rb") as file:
            return FORMAT[:-2].encode() in file.read(1000)
    except OSError:
        return False


def write_config(config: ModelConfig, folder: Path) -> None:
    """Write config.json to an existing folder."""
    head = {"format": FORMAT, **asdict(config), "record": dict(config.record), "digests": dict(config.digests)}
    head["digest"] = digest_value(head)
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
    from sentprobe.probes.encoders.encoder import EncoderError

    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise folder_part_error(path, error, damaged=EncoderError) from None
    except SentprobeError as error:
        raise EncoderError(f"{path}: {error}") from None


def _parse_config(text: bytes) -> ModelConfig:
    fields = parse_json(text)
    edited = isinstance(fields, dict) and pop_digest(fields)
    if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
        raise FormatError(f"the format is not {FORMAT!r}")
    try:
        config = ModelConfig(**{**fields, "architecture": Architecture(**fields["architecture"])})
    except (TypeError, KeyError):
        raise FormatError("its fields are not those of a sentence model") from None
    check_record(config)
    if edited:
        raise FormatError(EDITED)
    return config
