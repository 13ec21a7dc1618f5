"""Texts and what is to be said of them -> a learner, batches and a measure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.probes.encoders.sentence_model import UNKNOWN, SentenceModel
from sentprobe.probes.pretraining import decoder as made
from sentprobe.probes.pretraining.batches import Noise, SequencePairs
from sentprobe.probes.pretraining.held_out import hold_out
from sentprobe.probes.pretraining.objective import Prepared
from sentprobe.probes.pretraining.objectives import ObjectiveOptions
from sentprobe.probes.pretraining.said import Metric, SaidTexts
from sentprobe.probes.pretraining.seq2seq import Seq2Seq
from sentprobe.probes.pretraining.subwords import learn_subwords
from sentprobe.probes.pretraining.token_rows import collect_rows

__all__ = [
    "Metric",
    "Noise",
    "ObjectiveOptions",
    "Prepared",
    "SentenceModel",
    "SequenceTask",
    "prepare_sequences",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceTask:
    """What is read and what is to be said of it; a text each for every item."""

    sources: Sequence[str]
    targets: Sequence[Sequence[str]]
    """For each decoder its texts."""
    metric: Metric
    noise: Noise | None = None
    says_sentences: bool = True
    """Whether targets are sentences, of which none may be both trained on and held out."""


def prepare_sequences(
    task: SequenceTask, model: SentenceModel, options: ObjectiveOptions
) -> Prepared:
    """Return a learner of the task, batches, and a measure on what was held out.

    Raises:
        UsageError: there are too few items, or codes.
        EncoderError: a package of the extra ``train`` is not installed.
    """
    task.metric.check()
    sentences = [task.sources, *(task.targets if task.says_sentences else ())]
    division = hold_out(*sentences, count=options.validation, seed=options.seed)
    told = [texts[item] for texts in task.targets for item in division.train]
    subwords = learn_subwords(told, codes=options.codes)
    train = SequencePairs(
        sources=collect_rows(model.vocabulary.ids(text) or [UNKNOWN] for text in task.sources),
        targets=tuple(map(subwords.encode, task.targets)),
        items=division.train,
        size=options.batch,
        seed=options.seed,
        noise=task.noise,
    )
    decoders = _decoders(len(task.targets), len(subwords), model.dim, options)
    return Prepared(
        learner=Seq2Seq(model, decoders, subwords),
        train=train,
        validate=SaidTexts(replace(train, items=division.validation), task.metric),
    )


def _decoders(
    count: int, codes: int, vector: int, options: ObjectiveOptions
) -> list[made.VectorDecoder]:
    size = made.DecoderSize(
        codes=codes,
        vector=vector,
        hidden=options.decoder_hidden,
        layers=options.decoder_layers,
        inputs=options.decoder_inputs,
        dropout=options.dropout,
    )
    seeds = np.random.default_rng((options.seed, 4)).integers(2**62, size=count)
    return [made.make_decoder(size, seed=int(seed)) for seed in seeds]
