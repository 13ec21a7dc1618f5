"""The objectives that generate a text from a sentence vector, such as ``autoencoder`` and ``nmt``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.protocol import missing_extra
from sentprobe.probes.encoders.trained.sentence_model import UNKNOWN, SentenceModel
from sentprobe.probes.pretraining.decoding import decoder
from sentprobe.probes.pretraining.decoding.decoder import GenerationValidator
from sentprobe.probes.pretraining.decoding.subwords import learn_subwords
from sentprobe.probes.pretraining.objective import Metric, PreparedObjective, collect_rows, hold_out
from sentprobe.probes.pretraining.objective_options import ObjectiveOptions
from sentprobe.probes.pretraining.texts import corpora
from sentprobe.probes.pretraining.texts.corpora import Meanings


@dataclass(frozen=True, slots=True)
class SequenceTask:
    """Source sentences, and the target texts to generate from their vectors."""

    sources: Sequence[str]
    targets: Sequence[Sequence[str]]
    """For each decoder, its target texts in the order of the sources."""
    metric: Metric
    noise: decoder.Noise | None = None
    targets_are_sentences: bool = True
    """Whether targets are sentences; training and validation items then share no target."""


def prepare_sequences(task: SequenceTask, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    if task.metric is Metric.BLEU and find_spec("sacrebleu") is None:
        raise missing_extra("BLEU", "train")
    sentences = [task.sources, *(task.targets if task.targets_are_sentences else ())]
    split = hold_out(*sentences, count=options.validation, seed=options.seed)
    target_texts = [texts[item] for texts in task.targets for item in split.train]
    subwords = learn_subwords(target_texts, codes=options.codes)
    train = decoder.SequencePairs(
        sources=collect_rows(model.vocabulary.find_ids(text) or [UNKNOWN] for text in task.sources),
        targets=tuple(map(subwords.encode, task.targets)),
        items=split.train,
        size=options.batch,
        seed=options.seed,
        noise=task.noise,
    )
    seeds = np.random.default_rng((options.seed, 4)).integers(2**62, size=len(task.targets)).tolist()
    decoders = [decoder.make_decoder(len(subwords), model.dim, options, seed=seed) for seed in seeds]
    validator = GenerationValidator(replace(train, items=split.validation), task.metric)
    return PreparedObjective(decoder.Seq2Seq(model, decoders, subwords), train, validator)


def prepare_autoencoder(texts: corpora.Sentences, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare the objective ``autoencoder``: generate a sentence from its own vector."""
    return prepare_sequences(SequenceTask(texts.texts, [texts.texts], Metric.BLEU), model, options)


def prepare_denoising(texts: corpora.Sentences, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``denoising``: restore a sentence from a noisy version (SDAE, Hill et al. 2016)."""
    noise = DropAndSwap(options.drop, options.swap)
    return prepare_sequences(SequenceTask(texts.texts, [texts.texts], Metric.BLEU, noise), model, options)


@dataclass(frozen=True, slots=True)
class DropAndSwap:
    """The noise of Hill et al. 2016: words are dropped at random, then adjacent words are swapped at random."""

    drop: float
    swap: float

    def __call__(self, source: NDArray[np.int32], random: np.random.Generator) -> NDArray[np.int32]:
        """Return a noisy version of a sentence, as word numbers; at least one word remains."""
        is_kept = random.random(len(source)) >= self.drop
        is_swapped = random.random(len(source) // 2) < self.swap
        fallback_place = random.integers(len(source))
        remaining = source[is_kept] if is_kept.any() else source[fallback_place : fallback_place + 1]
        pairs = remaining[: len(remaining) // 2 * 2].reshape(-1, 2)
        swapped_pairs = np.where(is_swapped[: len(pairs), None], pairs[:, ::-1], pairs)
        return np.concatenate([swapped_pairs.ravel(), remaining[pairs.size :]])


def prepare_skipthought(texts: corpora.Sentences, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``skipthought``: generate the next sentence (Conneau et al. 2018, section 3.2).

    With the option ``neighbours``, a second decoder generates the previous sentence, as in Kiros et al. 2015.
    """
    shifts = (1, -1) if options.neighbours else (1,)
    places = [place for start, end in texts.list_spans() for place in range(start + options.neighbours, end - 1)]
    if not places:
        raise UsageError(
            f"{texts} have too few neighbours: skipthought reads sentences in their order, and "
            "an empty line ends a document"
        )
    sources = [texts.texts[place] for place in places]
    targets = [[texts.texts[place + shift] for place in places] for shift in shifts]
    return prepare_sequences(SequenceTask(sources, targets, Metric.PERPLEXITY), model, options)


def prepare_nmt(texts: corpora.SentencePairs, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``nmt``: generate a sentence's translation from its vector, without attention."""
    return prepare_sequences(SequenceTask(texts.sources, [texts.targets], Metric.BLEU), model, options)


def prepare_seq2tree(texts: corpora.Trees, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``seq2tree``: generate a sentence's tree as symbols, such as ``(NP DT NN )NP``."""
    task = SequenceTask(texts.sentences, [texts.trees], Metric.ACCURACY, targets_are_sentences=False)
    return prepare_sequences(task, model, options)


def prepare_meaning(texts: Meanings, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``meaning``: generate the notation of a sentence's event from the sentence's vector.

    The encoder thereby learns who does what to whom. Its probes show which accuracy is possible on sentprobe's tasks.
    """
    task = SequenceTask(texts.sentences, [texts.events], Metric.ACCURACY, targets_are_sentences=False)
    return prepare_sequences(task, model, options)
