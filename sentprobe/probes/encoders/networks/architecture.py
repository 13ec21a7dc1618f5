"""What a network is made of, as a user chooses it; nothing here needs PyTorch."""

from collections.abc import Mapping
from dataclasses import dataclass

from sentprobe.errors import UsageError, suggest

USUAL_LAYERS: Mapping[str, int] = {
    "lstm": 1,
    "bilstm-last": 1,
    "bilstm-max": 1,
    "gated-conv": 8,
    "gru-uni": 1,
    "gru-bi": 1,
    "cbow": 1,
}
"""The architectures, and how many layers each has where nothing else is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A kind of network and its sizes.

    >>> Architecture(kind="gated-conv").layers
    8
    """

    kind: str
    """A name of USUAL_LAYERS."""
    hidden: int = 512
    """Units: of each direction, or of each convolution; ``cbow`` has none."""
    layers: int = 0
    """Each over the states of the one before; 0: as many as are usual."""
    inputs: int = 300
    """Width of the word vectors."""

    def __post_init__(self) -> None:
        if self.kind not in USUAL_LAYERS:
            near, known = suggest(self.kind, USUAL_LAYERS), ", ".join(USUAL_LAYERS)
            raise UsageError(f"there is no architecture {self.kind!r}{near}; known: {known}")
        if self.layers == 0:
            object.__setattr__(self, "layers", USUAL_LAYERS[self.kind])
        for name in ("hidden", "layers", "inputs"):
            if getattr(self, name) < 1:
                raise UsageError(f"{self.kind}: {name}={getattr(self, name)}: at least 1 is wanted")
