"""Results as flat dictionaries for data frames, and the computation of measures such as selectivity and codelength."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean
from typing import Any

from sentprobe.probes.results.result import Condition, Result, Results, SeedScore
from sentprobe.probes.trainer.codelength import compute_codelength, compute_compression, compute_curve_area


def compute_probe_accuracy(result: Result, seed: SeedScore) -> float:
    """Return the accuracy of the main probe with seed ``seed.seed`` or, if there is none, of the first main probe."""
    seeds = result.scores[Condition.PROBE].seeds
    return next((probe for probe in seeds if probe.seed == seed.seed), seeds[0]).accuracy


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFigure:
    """A figure of a method, such as selectivity: its computation, its key in records and its heading in tables."""

    key: str
    condition: Condition
    compute: Callable[[Result, SeedScore], float]
    """The function that computes the figure of one probe. Accuracies are between 0 and 1, lengths are in bits."""
    heading: str
    scale: float = 1.0
    """The factor by which tables multiply the figure, such as 100 for percent."""
    decimals: int = 2

    def compute_mean(self, result: Result, condition: Condition) -> float | None:
        """Return the mean of this figure over a result's probes; None if the figure belongs to another condition."""
        if condition is not self.condition:
            return None
        return mean(self.compute(result, seed) for seed in result.scores[condition].seeds)


def identify_result(result: Result) -> dict[str, Any]:
    """Return the first entries of a result's records: ``run`` (its results folder), ``encoder`` and ``task``."""
    return {"run": result.source, "encoder": result.encoder, "task": result.task}


SELECTIVITY = MethodFigure(
    key="selectivity",
    condition=Condition.CONTROL_TASK,
    compute=lambda result, control: compute_probe_accuracy(result, control) - control.accuracy,
    heading="selectivity",
    scale=100,
    decimals=1,
)

PORTION_FIGURES = (
    MethodFigure(
        key="description_length",
        condition=Condition.PORTIONS,
        compute=lambda result, seed: compute_codelength(seed.readings, labels=result.labels or 2),
        heading="kbit",
        scale=1 / 1000,
    ),
    MethodFigure(
        key="compression",
        condition=Condition.PORTIONS,
        compute=lambda result, seed: compute_compression(seed.readings, labels=result.labels or 2),
        heading="compression",
    ),
    MethodFigure(
        key="information",
        condition=Condition.PORTIONS,
        compute=lambda _, seed: mean(seed.information),
        heading="V-information",
    ),
    MethodFigure(
        key="area",
        condition=Condition.PORTIONS,
        compute=lambda _, seed: compute_curve_area(seed.readings, total=seed.total),
        heading="area",
        scale=100,
        decimals=1,
    ),
)

GAP = MethodFigure(
    key="gap",
    condition=Condition.WIDTHS,
    compute=lambda result, seed: compute_probe_accuracy(result, seed) - seed.readings[0].correct / seed.total,
    heading="gap",
    scale=100,
    decimals=1,
)

METHOD_FIGURES = (SELECTIVITY, *PORTION_FIGURES, GAP)


def make_records(results: Results) -> list[dict[str, Any]]:
    """Return a flat dictionary for each result and condition; all dictionaries have the same keys."""
    return [
        {
            **identify_result(result),
            "condition": condition.value,
            "accuracy": score.accuracy,
            "spread": score.spread,
            "low": score.interval.low,
            "high": score.interval.high,
            "seeds": len(score.seeds),
            "total": score.total,
            "majority": result.majority,
            "mirrored": result.mirrored,
            "dim": result.dim,
            "family": result.family,
            "layer": result.layer,
            "position": result.position,
            "step": result.step,
            "epoch": result.epoch,
            "probe_vectors": result.probe_vectors,
            "preset": result.preset.name,
            "seed": result.seed,
            "precision": "+".join(sorted({seed_score.precision for seed_score in score.seeds})),
            "epochs": mean(seed_score.epochs for seed_score in score.seeds),
            "converged": all(seed_score.converged for seed_score in score.seeds),
            "seconds": result.seconds.get(condition.value),
            "device": result.device,
            "dataset_fingerprint": result.dataset_fingerprint,
            "encoder_fingerprint": result.encoder_fingerprint,
            "encoder_seed": result.encoder_seed,
            **{figure.key: figure.compute_mean(result, condition) for figure in METHOD_FIGURES},
            **{f"data_{name}": getattr(result.data, name, None) for name in _DATA_FACTS},
        }
        for result in results.records
        for condition, score in result.scores.items()
    ]


_DATA_FACTS = ("train", "validation", "word_types", "vocabulary", "sampling", "seed", "train_language", "test_language")
