"""The objective ``next-word``: a recurrent language model with tied weights (Press and Wolf 2017).

The output weights are the encoder's word vectors, so the language model has no weights but the encoder's. The vector of
PADDING represents the start of a sentence in the input, and the end of a sentence in the output.
"""

from dataclasses import dataclass, replace

import torch
from torch.nn import functional

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import Indices
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.networks.network import RECURRENT_KINDS, Recurrent
from sentprobe.probes.encoders.trained.sentence_model import SentenceModel
from sentprobe.probes.pretraining.decoding import decoder
from sentprobe.probes.pretraining.objective import Batch, Learner, Metric, PreparedObjective, collect_rows, hold_out
from sentprobe.probes.pretraining.objective_options import ObjectiveOptions
from sentprobe.probes.pretraining.texts.corpora import Sentences

NEXT_WORD = "next-word"


class NextWordLearner(Learner):
    """Predicts each word of a sentence, and the end, from earlier words; dropout is on word vectors and states."""

    def __init__(self, encoder: SentenceModel, dropout: float) -> None:
        super().__init__(encoder)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss over all words and sentence ends in a batch, a scalar, in nats."""
        ids, lengths = batch.tensors[decoder.SOURCES], batch.tensors[decoder.LENGTHS]
        states, targets = compute_states(self.encoder, ids, lengths, self.dropout)
        weight = self.encoder.words.weight
        size = max(1, MAX_LOGITS // len(weight))
        losses = [
            functional.cross_entropy(functional.linear(part, weight), rows, reduction="sum")
            for part, rows in zip(torch.split(states, size), torch.split(targets, size), strict=True)
        ]
        return torch.stack(losses).sum() / len(targets)


MAX_LOGITS = 2**21
"""Maximum number of logits computed at once; allocating larger arrays would take more than half of the time."""


def compute_states(
    model: SentenceModel, ids: torch.Tensor, lengths: torch.Tensor, dropout: torch.nn.Module | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return n states, (n, dim), and the index of each state's next word, (n,) int64; at a sentence end, PADDING.

    - ids: indices of words, (b, time) int64, padded with PADDING
    - lengths: number of words of each sentence, (b,) int64 on the CPU
    """
    assert isinstance(model.network, Recurrent)
    drop = dropout or torch.nn.Identity()
    vectors = drop(model.words(functional.pad(ids, (1, 0))))  # the start before the words
    states = drop(model.network.compute_states(vectors, lengths + 1))  # (b, 1 + time, dim)
    is_target = (torch.arange(ids.shape[1] + 1) <= lengths[:, None]).to(ids.device)
    return states[is_target], functional.pad(ids, (0, 1))[is_target]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SentenceBatches(decoder.SequencePairs):
    """Batches of sentences of similar length. There are no target texts: a sentence's own words are the targets."""

    def make_batch(self, rows: Indices, epoch: int) -> Batch:
        """Return a batch of the sentences *rows*; its number of targets counts words and sentence ends."""
        batch = decoder.SequencePairs.make_batch(self, rows, epoch)
        return replace(batch, targets=int(self.sources.lengths[rows].sum()) + len(rows))


def check_architecture(sizes: Architecture, *, is_reversed: bool) -> None:
    """Raise UsageError if ``next-word`` cannot train a network, such as a bidirectional one."""
    unidirectional = [name for name, kind in RECURRENT_KINDS.items() if kind.directions == 1]
    if sizes.kind not in unidirectional or is_reversed:
        subject = "reversed sentences" if is_reversed else sizes.kind
        raise UsageError(
            f"next-word reads sentences from left to right, by {' or '.join(unidirectional)}: no {subject}"
        )
    if sizes.inputs != sizes.hidden:
        raise UsageError(
            f"next-word compares states with word vectors: --inputs {sizes.inputs} must equal --hidden {sizes.hidden}"
        )


def prepare_next_word(texts: Sentences, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``next-word``: predict each word from the words before it. Raises UsageError."""
    check_architecture(model.architecture, is_reversed=model.vocabulary.reverse)
    split = hold_out(texts.texts, count=options.validation, seed=options.seed)
    train = SentenceBatches(
        sources=collect_rows(map(model.vocabulary.find_ids, texts.texts)),
        targets=(),
        items=split.train,
        size=options.batch,
        seed=options.seed,
    )
    validator = decoder.GenerationValidator(replace(train, items=split.validation), Metric.PERPLEXITY)
    return PreparedObjective(NextWordLearner(model, options.dropout), train, validator)
