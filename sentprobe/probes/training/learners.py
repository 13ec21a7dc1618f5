"""The objectives that generate a text from a sentence vector, such as ``autoencoder`` and ``nmt``.

The objective ``next-word``: a recurrent language model with tied weights (Press and Wolf 2017).

The output weights are the encoder's word vectors, so the language model has no weights but the encoder's. The vector of
PADDING represents the start of a sentence in the input, and the end of a sentence in the output.

The objectives ``nli`` and ``contrastive``, which classify pairs and triplets of sentences.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import enumerate_names
from sentprobe.generator.pairs.inference_pairs import NliLabel
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.encoder import missing_extra
from sentprobe.probes.encoders.models.trained import UNKNOWN, SentenceModel
from sentprobe.probes.encoders.network import NETWORKS, RECURRENT_KINDS, Recurrent
from sentprobe.probes.training import corpora, decoder
from sentprobe.probes.training.corpora import Meanings, NliPairs, Sentences, Triplets
from sentprobe.probes.training.decoder import GenerationValidator, learn_subwords
from sentprobe.probes.training.objective import (
    Batch,
    ItemLearner,
    Learner,
    Metric,
    PreparedObjective,
    collect_rows,
    hold_out,
    make_seed,
    prepare_items,
)
from sentprobe.probes.training.objective_options import ObjectiveOptions


def prepare_sequences(
    sources: Sequence[str],
    targets: Sequence[Sequence[str]],
    metric: Metric,
    model: SentenceModel,
    options: ObjectiveOptions,
    *,
    noise: decoder.Noise | None = None,
    targets_are_sentences: bool = True,
    validate_permuted: bool = False,
) -> PreparedObjective:
    """Prepare an objective that generates texts from the vectors of source sentences.

    - targets: for each decoder, its target texts in the order of the sources
    - targets_are_sentences: whether training and validation items must share no target, as they share no source
    - validate_permuted: whether validations also regenerate the held-out sources with their words in random order
    """
    if metric is Metric.BLEU and find_spec("sacrebleu") is None:
        raise missing_extra("BLEU", "train")
    source_width = 0
    if options.attention:
        _check_attention(model.architecture)
        assert isinstance(model.network, Recurrent)
        source_width = model.network.kind.directions * model.network.hidden
    # Different sentences may have the same tree: such items may be trained on.
    sentences = [sources, *(targets if targets_are_sentences else ())]
    training, held_out = hold_out(*sentences, count=options.validation, seed=options.seed)
    subwords = learn_subwords([texts[item] for texts in targets for item in training], codes=options.codes)
    train = decoder.SequencePairs(
        sources=collect_rows(model.vocabulary.find_ids(text) or [UNKNOWN] for text in sources),
        targets=tuple(map(subwords.encode, targets)),
        items=training,
        size=options.batch,
        seed=options.seed,
        place=options.place,
        noise=noise,
    )
    decoder_seed = make_seed(options.seed, 4, place=options.place)
    seeds = np.random.default_rng(decoder_seed).integers(2**62, size=len(targets)).tolist()
    decoders = [
        decoder.make_decoder(len(subwords), model.dim, options, source_width=source_width, seed=seed) for seed in seeds
    ]
    validator = GenerationValidator(replace(train, items=held_out), metric)
    if validate_permuted:
        permuted = [permute_words(sources[item], (options.seed, 5, item)) for item in held_out.tolist()]
        rows = collect_rows(model.vocabulary.find_ids(text) or [UNKNOWN] for text in permuted)
        pairs = replace(train, sources=rows, targets=(subwords.encode(permuted),), items=np.arange(len(permuted)))
        validator = replace(validator, permuted=pairs)
    return PreparedObjective(decoder.Seq2Seq(model, decoders, subwords), train, validator)


def prepare_autoencoder(texts: corpora.Sentences, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare the objective ``autoencoder``: generate a sentence from its own vector."""
    has_trees = model.network.reads_trees  # permuted sentences have none
    return prepare_sequences(texts.texts, [texts.texts], Metric.BLEU, model, options, validate_permuted=not has_trees)


def permute_words(text: str, seed: tuple[int, ...]) -> str:
    """Return a text with its words in random order, as in the dataset "permuted" of Adi et al. 2017."""
    return " ".join(np.random.default_rng(seed).permutation(text.split()).tolist())


def prepare_denoising(texts: corpora.Sentences, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``denoising``: restore a sentence from a noisy version (SDAE, Hill et al. 2016). Raises UsageError."""
    _check_denoising(model.architecture)
    noise = DropAndSwap(options.drop, options.swap)
    return prepare_sequences(texts.texts, [texts.texts], Metric.BLEU, model, options, noise=noise)


@dataclass(frozen=True, slots=True)
class DropAndSwap:
    """The noise of Hill et al. 2016: words are dropped at random, then adjacent words are swapped at random."""

    drop: float
    swap: float

    def __call__(self, source: NDArray[np.int32], random: np.random.Generator) -> NDArray[np.int32]:
        """Return a noisy version of a sentence, as word numbers; at least one word remains."""
        # All random numbers are drawn first, so that their number depends on the sentence's length only.
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
    return prepare_sequences(sources, targets, Metric.PERPLEXITY, model, options)


def prepare_nmt(texts: corpora.SentencePairs, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``nmt``: generate a sentence's translation from its vector, without attention."""
    return prepare_sequences(texts.sources, [texts.targets], Metric.BLEU, model, options)


def prepare_seq2tree(texts: corpora.Trees, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``seq2tree``: generate a sentence's tree as symbols, such as ``(NP DT NN )NP``."""
    return prepare_sequences(
        texts.sentences, [texts.trees], Metric.ACCURACY, model, options, targets_are_sentences=False
    )


def prepare_meaning(texts: Meanings, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``meaning``: generate the notation of a sentence's event, to show which accuracy our tasks allow."""
    return prepare_sequences(
        texts.sentences, [texts.events], Metric.ACCURACY, model, options, targets_are_sentences=False
    )


DENOISING, NEXT_WORD = "denoising", "next-word"


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
        size = max(1, MAX_LOGITS // len(weight))  # number of states whose logits are computed at once
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


def check_architecture(sizes: Architecture, objectives: Collection[str], *, attention: bool, is_reversed: bool) -> None:
    """Raise UsageError if an objective cannot train a network, or its decoder cannot attend to the network's states."""
    if DENOISING in objectives:
        _check_denoising(sizes)
    if attention:
        _check_attention(sizes)
    if NEXT_WORD in objectives:
        _check_next_word(sizes, is_reversed=is_reversed)


def _check_denoising(sizes: Architecture) -> None:
    if NETWORKS[sizes.kind].reads_trees:
        raise UsageError(f"denoising changes sentences, which then have no tree for {sizes.kind}")


def _check_attention(sizes: Architecture) -> None:
    if sizes.kind not in RECURRENT_KINDS:
        raise UsageError(
            f"attention needs the states of words, by {enumerate_names([*RECURRENT_KINDS])}: no {sizes.kind}"
        )


def _check_next_word(sizes: Architecture, *, is_reversed: bool) -> None:
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
    _check_next_word(model.architecture, is_reversed=model.vocabulary.reverse)
    training, held_out = hold_out(texts.texts, count=options.validation, seed=options.seed)
    train = SentenceBatches(
        sources=collect_rows(map(model.vocabulary.find_ids, texts.texts)),
        targets=(),
        items=training,
        size=options.batch,
        seed=options.seed,
        place=options.place,
    )
    validator = decoder.GenerationValidator(replace(train, items=held_out), Metric.PERPLEXITY)
    return PreparedObjective(NextWordLearner(model, options.dropout), train, validator)


CLASSES = tuple(label.name.lower() for label in NliLabel)


class NliLearner(ItemLearner):
    """Classifies two sentences with vectors u and v by (u, v, |u - v|, u * v) (Conneau et al. 2017, section 3.1)."""

    def __init__(self, encoder: SentenceModel, options: ObjectiveOptions) -> None:
        super().__init__(encoder)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(options.seed)
            self.classifier = nn.Sequential(
                nn.Dropout(options.dropout),
                nn.Linear(4 * encoder.dim, options.classes_hidden),
                nn.Tanh(),
                nn.Dropout(options.dropout),
                nn.Linear(options.classes_hidden, len(CLASSES)),
            )

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss of the pairs in a batch, a scalar, in nats."""
        return functional.cross_entropy(self.compute_logits(batch), batch.tensors["labels"])

    def compute_logits(self, batch: Batch) -> torch.Tensor:
        """Return a logit for each pair and class, (b, classes)."""
        vectors = self.encoder(batch.tensors["ids"], batch.tensors["lengths"])  # (2b, dim)
        u, v = vectors.chunk(2)
        logits: torch.Tensor = self.classifier(torch.cat((u, v, (u - v).abs(), u * v), dim=1))
        return logits

    def evaluate_batch(self, batch: Batch) -> tuple[float, float]:
        """Return the number of pairs that are classified correctly, and the sum of all losses, in nats."""
        logits, labels = self.compute_logits(batch), batch.tensors["labels"]
        loss = functional.cross_entropy(logits, labels, reduction="sum")
        return float((logits.argmax(dim=1) == labels).sum()), float(loss)


def prepare_nli(texts: NliPairs, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``nli``: classify pairs of premise and hypothesis as entailment, neutral or contradiction."""
    sides = (texts.premises, texts.hypotheses)
    return prepare_items(NliLearner(model, options), sides, options, {"labels": torch.from_numpy(texts.labels)})


class ContrastiveLearner(ItemLearner):
    """Picks each anchor's positive among a batch's positives and negatives, by cosine (van den Oord et al. 2018)."""

    def __init__(self, encoder: SentenceModel, options: ObjectiveOptions) -> None:
        super().__init__(encoder)
        self.temperature = options.temperature

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss of the triplets in a batch, a scalar, in nats."""
        anchors, candidates = self.encode_batch(batch)
        cosines = anchors @ candidates.T  # (b, 2b)
        # Candidate i is the positive of anchor i; all others, also the positives of other anchors, are negatives.
        targets = torch.arange(len(anchors), device=cosines.device)
        return functional.cross_entropy(cosines.float() / self.temperature, targets)

    def encode_batch(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return unit vectors of the anchors, (b, dim), and of the positives followed by the negatives, (2b, dim)."""
        vectors = self.encoder(batch.tensors["ids"], batch.tensors["lengths"])  # (3b, dim)
        vectors = functional.normalize(vectors.float(), dim=1)
        return vectors[: batch.items], vectors[batch.items :]

    def evaluate_batch(self, batch: Batch) -> tuple[float, float]:
        """Return the number of anchors nearer to the positive than to the negative, and the sum of losses, in nats."""
        anchors, candidates = self.encode_batch(batch)
        positives, negatives = candidates.chunk(2)
        margins = (anchors * positives).sum(dim=1) - (anchors * negatives).sum(dim=1)
        return float((margins > 0).sum()), batch.items * float(self(batch))


def prepare_contrastive(texts: Triplets, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``contrastive``: move each positive nearer to its anchor than all other sentences of the batch."""
    sides = (texts.anchors, texts.positives, texts.negatives)
    return prepare_items(ContrastiveLearner(model, options), sides, options)
