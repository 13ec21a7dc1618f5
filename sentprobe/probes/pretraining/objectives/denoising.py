"""``denoising``: a sentence is to be said of what noise left of it (SDAE, Hill et al. 2016)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.corpora import Sentences


@dataclass(frozen=True, slots=True)
class DropAndSwap:
    """The noise of Hill et al. 2016; they have shares of 0.1 each.

    Words are left out, each by itself. Then what is left is taken in pairs, the first and second,
    the third and fourth, and each pair changes places by itself. Where nothing would be left, one
    word stays: of that the paper says nothing.
    """

    drop: float
    swap: float

    def __post_init__(self) -> None:
        for name in ("drop", "swap"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name}={getattr(self, name)}: a share is from 0 to 1")

    def __call__(self, source: NDArray[np.int32], random: np.random.Generator) -> NDArray[np.int32]:
        """Return what is left of the words; all random numbers are drawn whatever the shares."""
        stays = random.random(len(source)) >= self.drop
        changes = random.random(len(source) // 2) < self.swap
        one = random.integers(len(source))
        left = source[stays] if stays.any() else source[one : one + 1]
        pairs = left[: len(left) // 2 * 2].reshape(-1, 2)
        turned = np.where(changes[: len(pairs), None], pairs[:, ::-1], pairs)
        return np.concatenate([turned.ravel(), left[pairs.size :]])


def prepare(
    texts: Sentences, model: seq.SentenceModel, options: seq.ObjectiveOptions
) -> seq.Prepared:
    """Return the objective over sentences, whatever documents they are of."""
    task = seq.SequenceTask(
        sources=texts.texts,
        targets=[texts.texts],
        metric=seq.Metric.BLEU,
        noise=DropAndSwap(options.drop, options.swap),
    )
    return seq.prepare_sequences(task, model, options)
