"""Measure what exchanging a direction between mirror sentences does to the model's behaviour, layer by layer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

import numpy as np

from sentprobe.common.errors import UsageError
from sentprobe.common.screen import Reporter
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.interventions.exchange import (
    DirectionKind,
    StateModel,
    exchange,
    find_direction,
    sample_directions,
)
from sentprobe.probes.interventions.mirror_units import MirrorUnits
from sentprobe.probes.interventions.readouts import Readout
from sentprobe.probes.statistics import Floats, Interval, student_quantile

LEARNED = (DirectionKind.PROBE, DirectionKind.MEAN_DIFFERENCE)
MAX_EXPONENT = 700.0
"""Log odds are cut here before they become odds, which floats cannot hold beyond."""


@dataclass(frozen=True, slots=True)
class PairMean:
    """The mean of a value over mirror pairs, with its 95% interval by Student's t."""

    mean: float
    interval: Interval

    def format_odds(self) -> str:
        """Return odds and their interval, such as "2.1 [1.9, 2.4]"; the value is their logarithm."""
        odds, low, high = (f"{convert_to_odds(x):.3g}" for x in (self.mean, self.interval.low, self.interval.high))
        return f"{odds} [{low}, {high}]"

    def format_log(self) -> str:
        return f"{self.mean:+.2f} [{self.interval.low:+.2f}, {self.interval.high:+.2f}]"


def convert_to_odds(log_odds: float) -> float:
    return exp(max(-MAX_EXPONENT, min(MAX_EXPONENT, log_odds)))


def average_pairs(values: Floats) -> PairMean:
    """Return the mean of a value per mirror pair, (n,), with its interval.

    >>> average_pairs(np.array([1.0, 3.0])).interval.low < 0
    True
    """
    mean = float(values.mean())
    if len(values) < 2:
        return PairMean(mean, Interval(-np.inf, np.inf))
    half = student_quantile(0.95, len(values) - 1) * float(values.std(ddof=1)) / sqrt(len(values))
    return PairMean(mean, Interval(mean - half, mean + half))


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEffect:
    """The effect of exchanging one kind of direction in one layer."""

    layer: int
    kind: DirectionKind
    log_odds: PairMean
    """The log odds ratio (Arora et al. 2024): by how much the exchange turns the answer to the source's."""
    completeness: float | None
    """The share of the mirror's own log odds ratio; None if the mirrors' answers do not surely differ."""
    selectivity: PairMean | None = None
    """The log odds ratio, less that of a direction learned from control labels; None if nothing is learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionResult:
    """The effects of interventions in the layers of a model on the mirror pairs of a task."""

    model: str
    task: str
    readout: str
    pairs: int
    training_pairs: int
    accuracy: float
    """Share of right answers before any intervention."""
    mirror: PairMean
    """The log odds ratio if the source sentence itself takes the base's place."""
    effects: tuple[LayerEffect, ...]

    def to_records(self) -> list[Mapping[str, Any]]:
        """Return a record for each layer and kind of direction."""
        return [
            {
                "model": self.model,
                "task": self.task,
                "readout": self.readout,
                "pairs": self.pairs,
                "accuracy": self.accuracy,
                "mirror_log_odds": self.mirror.mean,
                "layer": effect.layer,
                "direction": str(effect.kind),
                "odds_ratio": convert_to_odds(effect.log_odds.mean),
                "log_odds": effect.log_odds.mean,
                "log_odds_low": effect.log_odds.interval.low,
                "log_odds_high": effect.log_odds.interval.high,
                "completeness": effect.completeness,
                "selectivity": effect.selectivity and effect.selectivity.mean,
                "selectivity_low": effect.selectivity and effect.selectivity.interval.low,
                "selectivity_high": effect.selectivity and effect.selectivity.interval.high,
            }
            for effect in self.effects
        ]

    def build_grid(self) -> Grid:
        """Return the table: a section for each kind of direction, a row for each layer."""
        rows = []
        for kind in DirectionKind:
            effects = [effect for effect in self.effects if effect.kind is kind]
            rows.append(GridRow(kind, kind, tuple(GridCell("") for _ in range(3)), heading=True))
            for effect in effects:
                complete = "-" if effect.completeness is None else f"{100 * effect.completeness:.1f}"
                selective = "-" if effect.selectivity is None else effect.selectivity.format_log()
                cells = (effect.log_odds.format_odds(), complete, selective)
                rows.append(GridRow(f"  layer {effect.layer}", kind, tuple(map(GridCell, cells))))
        return Grid(("exchanged", "odds ratio", "complete, %", "selectivity"), tuple(rows))

    def format_notes(self) -> str:
        """Return the notes below the table."""
        lines = [
            f"{self.task}: {self.readout} on {self.pairs} mirror pairs, each sentence in turn as base and source; "
            f"right before: {100 * self.accuracy:.1f}%. Directions are learned from {self.training_pairs} other pairs.",
            "odds ratio: how many times the odds turn from the base's to the source's answer; 1: no effect. Brackets: "
            f"95% intervals. With the source sentence itself: {self.mirror.format_odds()}, which is 100% complete.",
            "selectivity: log odds ratio, less that of a direction learned from labels drawn at random for each pair.",
        ]
        if self.mirror.interval.low <= 0:
            lines.append("The answers to mirrors do not surely differ: there is nothing to exchange.")
        return "".join(f"{line}\n" for line in lines)


def measure_interventions(
    model: StateModel,
    readout: Readout,
    train: MirrorUnits,
    test: MirrorUnits,
    *,
    layers: Sequence[int],
    seed: int,
    reporter: Reporter,
    name: str,
    task: str,
) -> InterventionResult:
    """Exchange directions between the mirror pairs of *test*, and measure how the behaviour changes.

    - train: the mirror pairs from whose states the directions are learned
    """
    if unknown := {*test.slots.tolist()} - {*train.slots.tolist()}:
        raise UsageError(f"no pair to learn from asks about another word {min(unknown) + 1}; more pairs are needed")
    if min(len(train), len(test)) < 2:
        raise UsageError(
            f"{len(train)} mirror pairs to learn from and {len(test)} to measure; at least 2 of each are needed"
        )
    reporter.begin("read states", 2 * len(test.sentences) + len(train.sentences))
    states, training_states = (
        values.reshape(model.layers, len(units), 2, *values.shape[2:])
        for units in (test, train)
        for values in [model.read_states(units, reporter)]
    )
    coins = np.random.default_rng((seed, 45)).integers(2, size=len(train))
    if coins.min() == coins.max():  # all labels turned, or none, would be learned as the labels are
        coins[0] ^= 1
    margins = readout.compute_margins(model.run_batches(test, readout.read, reporter))
    mirror = average_pairs(2 * margins.mean(axis=(1, 2)))

    def compute_effect(layer: int, directions: Vectors | None) -> Floats:
        replaced = exchange(states[layer], directions).reshape(-1, *states.shape[3:])
        values = model.run_batches(test, readout.read, reporter, layer=layer, states=replaced)
        return np.asarray((margins - readout.compute_margins(values)).mean(axis=(1, 2)), np.float64)

    effects: list[LayerEffect] = []
    for layer in layers:
        reporter.begin(f"exchange in layer {layer}", len(test.sentences) * 6)
        learned = {kind: _learn(kind, training_states[layer], train, train.labels) for kind in LEARNED}
        # a seed of its own: the figures of a layer do not depend on which others are asked for
        generator = np.random.default_rng((seed, 46, layer))
        random = {
            slot: sample_directions(len(test), [learned[kind][slot] for kind in LEARNED], generator=generator)
            for slot in learned[DirectionKind.PROBE]
        }
        for kind in DirectionKind:
            selectivity = None
            if kind in LEARNED:
                values = compute_effect(layer, np.stack([learned[kind][slot] for slot in test.slots.tolist()]))
                control = _learn(kind, training_states[layer], train, train.labels ^ coins[:, None, None])
                controls = compute_effect(layer, np.stack([control[slot] for slot in test.slots.tolist()]))
                selectivity = average_pairs(values - controls)
            elif kind is DirectionKind.RANDOM:
                values = compute_effect(layer, np.stack([random[s][i] for i, s in enumerate(test.slots.tolist())]))
            else:
                values = compute_effect(layer, None)
            effects.append(
                LayerEffect(
                    layer=layer,
                    kind=kind,
                    log_odds=average_pairs(values),
                    completeness=float(values.mean()) / mirror.mean if mirror.interval.low > 0 else None,
                    selectivity=selectivity,
                )
            )
    return InterventionResult(
        model=name,
        task=task,
        readout=readout.name,
        pairs=len(test),
        training_pairs=len(train),
        accuracy=float((margins > 0).mean()),
        mirror=mirror,
        effects=tuple(effects),
    )


def _learn(kind: DirectionKind, states: Vectors, units: MirrorUnits, labels: Indices) -> dict[int, Vectors]:
    """Return the direction for each slot in which questions differ, from states, (n, 2, 2, dim)."""
    directions = {}
    for slot in dict.fromkeys(units.slots.tolist()):
        chosen = units.slots == slot
        directions[slot] = find_direction(kind, states[chosen].reshape(-1, states.shape[-1]), labels[chosen].ravel())
    return directions
