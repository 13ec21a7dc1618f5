"""``denoising``: restore a sentence from a noisy version (SDAE, Hill et al. 2016)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.pretraining.objective_options import DROP, SWAP
from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.corpora import Sentences


@dataclass(frozen=True, slots=True)
class DropAndSwap:
    """The noise of Hill et al. 2016, who drop and swap with probability 0.1 each.

    Each word is dropped independently. The remaining words form disjoint adjacent pairs, and each pair is swapped
    independently. If all words would be dropped, one stays; the paper does not treat this case.
    """

    drop: float
    swap: float

    def __post_init__(self) -> None:
        DROP.check(self.drop)
        SWAP.check(self.swap)

    def __call__(self, source: NDArray[np.int32], random: np.random.Generator) -> NDArray[np.int32]:
        """Return the noisy words; the same random numbers are drawn for all rates."""
        is_kept = random.random(len(source)) >= self.drop
        is_swapped = random.random(len(source) // 2) < self.swap
        fallback_place = random.integers(len(source))
        remaining = source[is_kept] if is_kept.any() else source[fallback_place : fallback_place + 1]
        pairs = remaining[: len(remaining) // 2 * 2].reshape(-1, 2)
        swapped_pairs = np.where(is_swapped[: len(pairs), None], pairs[:, ::-1], pairs)
        return np.concatenate([swapped_pairs.ravel(), remaining[pairs.size :]])


def prepare(texts: Sentences, model: seq.SentenceModel, options: seq.ObjectiveOptions) -> seq.PreparedObjective:
    """Return the objective over sentences of any documents."""
    task = seq.SequenceTask(
        sources=texts.texts,
        targets=[texts.texts],
        metric=seq.Metric.BLEU,
        noise=DropAndSwap(options.drop, options.swap),
    )
    return seq.prepare_sequences(task, model, options)
