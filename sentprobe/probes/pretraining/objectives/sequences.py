"""Common part of the objectives that generate text: learner, batches and metric."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.probes.encoders.trained.sentence_model import UNKNOWN, SentenceModel
from sentprobe.probes.pretraining.decoding.decoder import DecoderSize, VectorDecoder, make_decoder
from sentprobe.probes.pretraining.decoding.generation_quality import GenerationValidator, Metric
from sentprobe.probes.pretraining.decoding.seq2seq import Seq2Seq
from sentprobe.probes.pretraining.decoding.subwords import learn_subwords
from sentprobe.probes.pretraining.decoding.text_batches import Noise, SequencePairs
from sentprobe.probes.pretraining.held_out_items import hold_out
from sentprobe.probes.pretraining.objective import PreparedObjective
from sentprobe.probes.pretraining.objective_options import ObjectiveOptions
from sentprobe.probes.pretraining.token_rows import collect_rows

__all__ = [
    "Metric",
    "Noise",
    "ObjectiveOptions",
    "PreparedObjective",
    "SentenceModel",
    "SequenceTask",
    "prepare_sequences",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceTask:
    """Source texts and the target texts to generate from them."""

    sources: Sequence[str]
    targets: Sequence[Sequence[str]]
    """Target texts of each decoder."""
    metric: Metric
    noise: Noise | None = None
    targets_are_sentences: bool = True
    """Whether targets are sentences, which must not occur in both training and validation."""


def prepare_sequences(task: SequenceTask, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Return the learner, the batches and the validation of a task."""
    task.metric.check_installed()
    sentences = [task.sources, *(task.targets if task.targets_are_sentences else ())]
    split = hold_out(*sentences, count=options.validation, seed=options.seed)
    target_texts = [texts[item] for texts in task.targets for item in split.train]
    subwords = learn_subwords(target_texts, codes=options.codes)
    train = SequencePairs(
        sources=collect_rows(model.vocabulary.find_ids(text) or [UNKNOWN] for text in task.sources),
        targets=tuple(map(subwords.encode, task.targets)),
        items=split.train,
        size=options.batch,
        seed=options.seed,
        noise=task.noise,
    )
    decoders = _make_decoders(len(task.targets), len(subwords), model.dim, options)
    return PreparedObjective(
        learner=Seq2Seq(model, decoders, subwords),
        train=train,
        validate=GenerationValidator(replace(train, items=split.validation), task.metric),
    )


def _make_decoders(count: int, codes: int, vector_width: int, options: ObjectiveOptions) -> list[VectorDecoder]:
    size = DecoderSize(
        codes=codes,
        vector=vector_width,
        hidden=options.decoder_hidden,
        layers=options.decoder_layers,
        inputs=options.decoder_inputs,
        dropout=options.dropout,
    )
    seeds = np.random.default_rng((options.seed, 4)).integers(2**62, size=count)
    return [make_decoder(size, seed=int(seed)) for seed in seeds]
