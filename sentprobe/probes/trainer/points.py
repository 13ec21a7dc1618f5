"""Which probes are trained: a point of the preset's grid for each seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from sentprobe.probes.trainer.choices import Activation
from sentprobe.probes.trainer.presets import GRID, Preset


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The sizes that all probes over the same vectors share."""

    dim: int
    slots: int
    words: int
    labels: int
    word_dim: int = 0
    """Width of the probe words' vectors; 0: they are one-hot."""

    @property
    def word_rows(self) -> int:
        """How many numbers stand for an item's probe words, and so the rows of their weights."""
        return self.slots * (self.word_dim or self.words)

    @property
    def inputs(self) -> int:
        """Width of the input if the probe words were written out, one-hot or as word vectors."""
        return self.dim + self.word_rows

    def linear(self, preset: Preset) -> bool:
        """Whether the preset has no hidden layer here."""
        many = 0 < preset.linear_from <= self.labels
        return many or preset.activation is Activation.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One probe: a seed and a value of each field that may be a grid."""

    seed: int
    hidden: int
    """Width of the hidden layer, as it is; 0: there is none."""
    dropout: float
    l2: float

    def chosen(self, preset: Preset) -> dict[str, float]:
        """Return the values of those fields that have several in the preset."""
        return {name: getattr(self, name) for name in GRID if len(getattr(preset, name)) > 1}


def points_of(preset: Preset, shape: Shape, *, seed: int) -> tuple[Point, ...]:
    """Return the grid of *preset* in order; without a hidden layer only ``l2`` counts."""
    axes: Mapping[str, tuple[float, ...]] = {name: getattr(preset, name) for name in GRID}
    if shape.linear(preset):
        return tuple(Point(seed=seed, hidden=0, dropout=0.0, l2=l2) for l2 in preset.l2)
    return tuple(
        Point(seed=seed, hidden=int(hidden) or shape.inputs, dropout=dropout, l2=l2)
        for hidden, dropout, l2 in product(*axes.values())
    )
