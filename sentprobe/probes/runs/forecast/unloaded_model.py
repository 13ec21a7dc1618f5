"""The size of a sentence-transformers model, read without loading it: loading takes longer than a forecast."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from sentprobe.probes.encoders.kinds import find_kind, has_unchanged_vectors
from sentprobe.probes.encoders.models.model_loading import find_default_device, find_model
from sentprobe.probes.encoders.models.sentence_transformer import MODEL_OWNERS, SentenceTransformerOptions
from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.encoders.resolve import EncoderSource
from sentprobe.specs import Spec, read_options
from sentprobe.values import BadSyntaxError, parse_json

LOADING_SECONDS = 8.0
"""Assumed seconds for loading sentence-transformers and a model (measured: 7 to 9 CPU seconds)."""
TOKENS_PER_WORD = 1.1
WIDTH_KEYS = ("out_features", "word_embedding_dimension", "embedding_dimension")


@dataclass(frozen=True, slots=True)
class UnloadedModel:
    """A sentence-transformers model that is not loaded: an encoder that knows its size but cannot encode."""

    name: str
    dim: int
    weights: int
    fingerprint: str = ""

    def count_multiplications(self, words: float) -> float:
        """Return the number of multiplications for a sentence of *words* words."""
        return self.weights * (words * TOKENS_PER_WORD + 2)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Raise NotImplementedError, since the model is not loaded."""
        raise NotImplementedError(f"{self.name} is not loaded, so it cannot encode {len(sentences)} sentences")


def read_unloaded_model(source: EncoderSource) -> UnloadedModel | None:
    """Return the model of a spec ``st:MODEL``, with its size; None if only loading the model tells its size."""
    if not isinstance(source, Spec) or source.kind != "st" or not has_unchanged_vectors(source):
        return None
    options = read_options(source, SentenceTransformerOptions())
    if not find_kind(source).installed or options.device or find_default_device() != "cpu":
        return None
    files = find_model(source.argument, revision=options.revision, required_file="modules.json", owners=MODEL_OWNERS)
    width = _read_width(files.directory)
    weights = sum(map(_count_weights, files.directory.glob("*.safetensors")))
    if not width or not weights or options.dim > width:
        return None
    return UnloadedModel(source.name, options.dim or width, weights)


def _read_width(directory: Path) -> int:
    """Return the width of a model's vectors, or 0 if no module states it. The last module that states it decides."""
    width = 0
    modules = _read_json(directory / "modules.json")
    for module in modules if isinstance(modules, list) else ():
        path = module.get("path") if isinstance(module, dict) else None
        config = _read_json(directory / path / "config.json") if isinstance(path, str) and path else None
        if isinstance(config, dict):
            width = next((config[key] for key in WIDTH_KEYS if isinstance(config.get(key), int)), width)
    return width


def _read_json(path: Path) -> Any:
    try:
        return parse_json(path.read_bytes())
    except (OSError, BadSyntaxError):
        return None


def _count_weights(path: Path) -> int:
    """Return the number of weights in a safetensors file's matrices, without embeddings; 0 for a damaged file."""
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = parse_json(file.read(min(size, 2**24)))
        shapes = [entry["shape"] for name, entry in header.items() if "embedding" not in name and "shape" in entry]
        return sum(prod(map(int, shape)) for shape in shapes if len(shape) == 2)
    except (struct.error, BadSyntaxError, AttributeError, TypeError, ValueError):
        return 0
