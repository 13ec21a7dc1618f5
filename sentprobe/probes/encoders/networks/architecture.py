"""The architecture of a network: its kind and its sizes. This module does not import PyTorch."""

from collections.abc import Mapping
from dataclasses import dataclass

from sentprobe.errors import UsageError, suggest
from sentprobe.values import check_record

DEFAULT_LAYERS: Mapping[str, int] = {
    "lstm": 1,
    "bilstm-last": 1,
    "bilstm-max": 1,
    "gated-conv": 8,
    "gru-uni": 1,
    "gru-bi": 1,
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
