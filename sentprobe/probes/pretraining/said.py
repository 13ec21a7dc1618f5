"""How well decoders say what they are to say: BLEU, texts without a mistake, perplexity."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import torch

from sentprobe.probes.encoders.protocol import missing_extra
from sentprobe.probes.pretraining.batches import SequencePairs
from sentprobe.probes.pretraining.objective import Learner, Validation
from sentprobe.probes.pretraining.seq2seq import Seq2Seq


class Metric(Enum):
    """A figure on what was held out; the value is its name."""

    BLEU = "BLEU"
    ACCURACY = "accuracy"
    """The share of texts that are said without any mistake."""
    PERPLEXITY = "perplexity"
    """Of a code, given those before it."""

    def check(self) -> None:
        """Refuse at once what could not be measured later.

        Raises:
            EncoderError: BLEU, without the extra ``train``.
        """
        if self is Metric.BLEU and find_spec("sacrebleu") is None:
            raise missing_extra("BLEU", extra="train")


DECODED = 300
"""So many of the texts held out are said, at most, evenly spread over the corpus."""

SPARE = 5
"""So many codes more than the longest of them may be said."""


@dataclass(frozen=True, slots=True, eq=False)
class SaidTexts:
    """Measures a learner on items that were held out; the noise on them is always the same."""

    pairs: SequencePairs
    metric: Metric

    def __call__(self, learner: Learner) -> Validation:
        """Return the figure, and the loss on all items; the learner stays as it is."""
        assert isinstance(learner, Seq2Seq)
        with _evaluating(learner):
            loss = self._loss(learner)
            value = self._value(learner, loss)
        higher = self.metric is not Metric.PERPLEXITY
        return Validation(self.metric.value, value, higher_is_better=higher, loss=loss)

    def _loss(self, learner: Seq2Seq) -> float:
        total, targets = 0.0, 0
        for batch in self.pairs.batches(0):
            total += float(learner(batch.to(_device(learner)))) * batch.targets
            targets += batch.targets
        return total / targets

    def _value(self, learner: Seq2Seq, loss: float) -> float:
        if self.metric is Metric.PERPLEXITY:
            return math.exp(min(loss, 700.0))
        texts = self.texts(learner)
        if self.metric is Metric.BLEU:
            return bleu(texts)
        return sum(one.wanted == one.said for one in texts) / len(texts)

    def texts(self, learner: Seq2Seq) -> list["SaidText"]:
        """Return what was to be said, and what the likeliest codes say."""
        held = self.pairs.items
        places = np.linspace(0, len(held) - 1, min(len(held), DECODED)).round()
        chosen = held[places.astype(np.int64)]
        targets = self.pairs.targets[0]
        longest = int(targets.lengths[chosen].max()) + SPARE
        found: list[SaidText] = []
        for rows in replace(self.pairs, items=chosen).plan(0):
            batch = self.pairs.make(rows, 0).to(_device(learner))
            said = learner.say(batch, longest=longest).tolist()
            wanted = learner.subwords.decode(targets[row] for row in rows)
            found += map(SaidText, wanted, learner.subwords.decode(said))
        return found


class SaidText(NamedTuple):
    """What was to be said, and what was."""

    wanted: str
    said: str


def bleu(texts: Sequence[SaidText]) -> float:
    """Return BLEU, from 0 to 100, of words between spaces.

    So counts the paper's script, multi-bleu of Moses, where each text has one reference.

    >>> bleu([SaidText("the dog did not see the cat .", "the dog did not see the cat .")])
    100.0
    """
    import sacrebleu  # noqa: PLC0415 - it is an extra

    said, wanted = [each.said for each in texts], [each.wanted for each in texts]
    return round(sacrebleu.corpus_bleu(said, [wanted], tokenize="none", force=True).score, 6)


def _device(learner: Seq2Seq) -> torch.device:
    return next(learner.parameters()).device


@contextmanager
def _evaluating(learner: Seq2Seq) -> Iterator[None]:
    """Let a learner neither leave numbers out nor keep what gradients need."""
    training = learner.training
    learner.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        learner.train(training)
