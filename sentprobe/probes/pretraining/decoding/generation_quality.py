"""Quality of generated texts: BLEU, exact match (accuracy) and perplexity."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import torch

from sentprobe.probes.encoders.protocol import missing_extra
from sentprobe.probes.pretraining.decoding.decoder import Seq2Seq, SequencePairs
from sentprobe.probes.pretraining.objective import Learner, Validation


class Metric(Enum):
    """A metric on held-out items; the value is its name."""

    BLEU = "BLEU"
    ACCURACY = "accuracy"
    """Share of generated texts that equal their reference."""
    PERPLEXITY = "perplexity"
    """Perplexity per subword code, given the previous codes."""

    def check_installed(self) -> None:
        """Check that the package of the metric is installed."""
        if self is Metric.BLEU and find_spec("sacrebleu") is None:
            raise missing_extra("BLEU", "train")


MAX_GENERATED_TEXTS = 300
"""Maximum number of held-out texts that are generated, evenly spread over the corpus."""

EXTRA_CODES = 5
"""Codes that a generated text may have beyond the longest reference."""


@dataclass(frozen=True, slots=True, eq=False)
class GenerationValidator:
    """Validation of a learner on held-out items; noise in the items is the same at each validation."""

    pairs: SequencePairs
    metric: Metric

    @torch.no_grad()
    def __call__(self, learner: Learner) -> Validation:
        """Return the metric, and the loss on all items; the learner is unchanged."""
        assert isinstance(learner, Seq2Seq)
        was_training = learner.training
        learner.eval()
        try:
            loss = self._compute_loss(learner)
            value = self._compute_metric(learner, loss)
        finally:
            learner.train(was_training)
        higher_is_better = self.metric is not Metric.PERPLEXITY
        return Validation(self.metric.value, value, higher_is_better=higher_is_better, loss=loss)

    def _compute_loss(self, learner: Seq2Seq) -> float:
        summed_loss, target_count = 0.0, 0
        for batch in self.pairs.batches(0):
            summed_loss += float(learner(batch.to(_find_device(learner)))) * batch.targets
            target_count += batch.targets
        return summed_loss / target_count

    def _compute_metric(self, learner: Seq2Seq, loss: float) -> float:
        if self.metric is Metric.PERPLEXITY:
            return math.exp(min(loss, 700.0))
        texts = self.generate_texts(learner)
        if self.metric is Metric.BLEU:
            return compute_bleu(texts)
        return sum(text.reference == text.generated for text in texts) / len(texts)

    def generate_texts(self, learner: Seq2Seq) -> list["GeneratedText"]:
        """Return greedily generated texts with their references."""
        held_out_items = self.pairs.items
        places = np.linspace(0, len(held_out_items) - 1, min(len(held_out_items), MAX_GENERATED_TEXTS)).round()
        selected_items = held_out_items[places.astype(np.int64)]
        targets = self.pairs.targets[0]
        max_length = int(targets.lengths[selected_items].max()) + EXTRA_CODES
        generated_texts: list[GeneratedText] = []
        for rows in replace(self.pairs, items=selected_items).plan_batches(0):
            batch = self.pairs.make_batch(rows, 0).to(_find_device(learner))
            generated = learner.generate(batch, max_length=max_length).tolist()
            references = learner.subwords.decode(targets[row] for row in rows)
            generated_texts += map(GeneratedText, references, learner.subwords.decode(generated))
        return generated_texts


class GeneratedText(NamedTuple):
    """A generated text and its reference."""

    reference: str
    generated: str


def compute_bleu(texts: Sequence[GeneratedText]) -> float:
    """Return BLEU (0 to 100) over words separated by spaces, as the paper's multi-bleu script of Moses does."""
    import sacrebleu

    generated, references = [text.generated for text in texts], [text.reference for text in texts]
    return round(sacrebleu.corpus_bleu(generated, [references], tokenize="none", force=True).score, 6)


def _find_device(learner: Seq2Seq) -> torch.device:
    return next(learner.parameters()).device
