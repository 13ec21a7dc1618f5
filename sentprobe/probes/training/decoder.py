"""Decoders that generate a text from a sentence vector (Conneau et al. 2018, appendix), and their validation.

The subword codes that decoders generate: byte-pair encoding within words (Sennrich et al. 2016, section 3.2).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.encoder import missing_extra
from sentprobe.probes.encoders.models.trained import SentenceModel
from sentprobe.probes.encoders.network import make_word_mask
from sentprobe.probes.training.objective import (
    Batch,
    Learner,
    Metric,
    TokenRows,
    Validation,
    collect_rows,
    make_seed,
    pad_rows,
)
from sentprobe.probes.training.objective_options import ObjectiveOptions

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PADDING, START, END = 0, 1, 2
"""Codes for padding and for the start and end of a text; they represent no characters."""
SPECIAL_CODES = 3
MIN_CODES = SPECIAL_CODES + 256
"""Minimum number of codes: the special codes, and a code for each byte."""
MAX_TEXTS = 200_000
"""Maximum number of texts to learn codes from, taken at equal distances; more texts would change few codes."""


class Subwords:
    """Converts texts to subword codes (numbers of subwords), and codes to texts."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self._tokenizer = tokenizer

    def __len__(self) -> int:
        """Return the number of codes, including the special codes."""
        return SPECIAL_CODES + int(self._tokenizer.get_vocab_size())

    def encode(self, texts: Sequence[str]) -> TokenRows:
        """Return the codes of each text, without START and END."""
        # Codes never cross a space, so each distinct word is encoded once, however often it occurs.
        distinct_words = dict.fromkeys(word for text in texts for word in _split_words(text))
        encodings = self._tokenizer.encode_batch_fast([*distinct_words], add_special_tokens=False)
        codes_by_word = {
            word: [code + SPECIAL_CODES for code in encoding.ids]
            for word, encoding in zip(distinct_words, encodings, strict=True)
        }
        return collect_rows(chain.from_iterable(codes_by_word[word] for word in _split_words(text)) for text in texts)

    def decode(self, rows: Iterable[Iterable[int]]) -> list[str]:
        """Return the text of each row of codes; special codes are left out, and invalid UTF-8 is replaced."""
        plain = [[int(code) - SPECIAL_CODES for code in row if code >= SPECIAL_CODES] for row in rows]
        return [str(text) for text in self._tokenizer.decode_batch(plain)]

    def to_json(self) -> str:
        """Return the codes as JSON in the format of the package tokenizers."""
        return str(self._tokenizer.to_str())


def _split_words(text: str) -> list[str]:
    """Split a text before each space: "a big dog" becomes "a", " big" and " dog"."""
    first_word, *later_words = text.split(" ")
    return [first_word, *(f" {word}" for word in later_words)]


def learn_subwords(texts: Sequence[str], *, codes: int) -> Subwords:
    """Learn at most *codes* subword codes by merging pairs that occur at least twice. Raises UsageError."""
    if codes < MIN_CODES:
        raise UsageError(f"{codes} codes: {MIN_CODES} are needed for bytes, padding, start and end")
    try:
        import tokenizers
    except ModuleNotFoundError:
        raise missing_extra("a decoder of subwords", "train") from None
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    word_splitter = tokenizers.pre_tokenizers.Split(" ", behavior="merged_with_next")
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([word_splitter, byte_level])
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=codes - SPECIAL_CODES,
        min_frequency=2,
        initial_alphabet=sorted(byte_level.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts[:: -(-len(texts) // MAX_TEXTS)], trainer)
    return Subwords(tokenizer)


Noise: TypeAlias = Callable[[NDArray[np.int32], np.random.Generator], NDArray[np.int32]]
"""A function that returns a noisy version of a sentence (word numbers), with at least one word, for the encoder."""
SOURCES, LENGTHS = "sources", "lengths"
"""Names of two tensors in a batch: the word numbers of the sentences, (b, time), and the sentence lengths, (b,)."""


def format_target_name(decoder: int) -> str:
    """Return the name of a batch's tensor, (b, time), with a decoder's target codes: ``targets0`` for decoder 0."""
    return f"targets{decoder}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SequencePairs:
    """Batches of source sentences, in the form of :class:`.objective.TrainingBatches`.

    For each sentence, each decoder has one target text, which it must generate.
    """

    sources: TokenRows
    targets: tuple[TokenRows, ...]
    """For each decoder, its target texts as codes, in the order of the sources."""
    items: Indices
    """Indices of the sources to use, such as those of the training items."""
    size: int
    """Number of items per batch; one batch of an epoch may have fewer."""
    seed: int
    place: int = 0
    """The objective's place among those of one encoder."""
    noise: Noise | None = None

    @property
    def steps(self) -> int:
        return -(-len(self.items) // self.size)

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        for rows in self.plan_batches(epoch)[start:]:
            yield self.make_batch(rows, epoch)

    def plan_batches(self, epoch: int) -> list[Indices]:
        """Return the item indices of each batch of an epoch; the texts in a batch have similar lengths."""
        random = np.random.default_rng(make_seed(self.seed, 2, epoch, place=self.place))
        items = random.permutation(self.items)
        lengths = [token_rows.lengths[items] for token_rows in (self.sources, *self.targets)]
        ordered = items[np.lexsort(lengths)]  # by the length of the last target, since decoding takes the most time
        batches = [ordered[start : start + self.size] for start in range(0, len(items), self.size)]
        # The batches are shuffled too: else each epoch would go from short texts to long ones.
        return [batches[place] for place in random.permutation(len(batches))]

    def make_batch(self, rows: Indices, epoch: int) -> Batch:
        """Return a batch of the items *rows*. Any noise in the source sentences differs from epoch to epoch."""
        sources = [self.sources[int(row)] for row in rows]
        if self.noise is not None:
            # A generator per item, so that its noise depends on no other item of the batch.
            seeds = (make_seed(self.seed, 3, epoch, int(row), place=self.place) for row in rows)
            generators = map(np.random.default_rng, seeds)
            sources = [self.noise(source, random) for source, random in zip(sources, generators, strict=True)]
        lengths = torch.tensor([len(source) for source in sources])
        tensors = {SOURCES: pad_rows(sources), LENGTHS: lengths}
        for number, target_rows in enumerate(self.targets):
            tensors[format_target_name(number)] = pad_rows([target_rows[row] for row in rows], before=START, after=END)
        target_count = sum(int(target_rows.lengths[rows].sum()) + len(rows) for target_rows in self.targets)
        return Batch(tensors, items=len(rows), targets=target_count)


class Sources(NamedTuple):
    """The source sentences of a batch, as a decoder reads them."""

    vectors: torch.Tensor
    """Sentence vectors, (b, vector_width)."""
    states: torch.Tensor | None = None
    """The states of the words, (b, words, source_width), for attention; None: there is none."""
    mask: torch.Tensor | None = None
    """True for words and false for padding, (b, words, 1); None: there is no padding."""


class Attention(nn.Module):
    """Global attention to the states of source words, with the score "general" (Luong et al. 2015, section 3.1)."""

    def __init__(self, hidden: int, source_width: int) -> None:
        super().__init__()
        self.keys = nn.Linear(source_width, hidden, bias=False)
        self.out = nn.Linear(source_width + hidden, hidden, bias=False)

    def forward(self, states: torch.Tensor, words: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Return the decoder's *states*, (b, time, hidden), joined with the words that each attends to.

        - words, mask: the fields ``states`` and ``mask`` of Sources
        """
        scores = states @ self.keys(words).transpose(1, 2)  # (b, time, words)
        if mask is not None:
            scores = scores.masked_fill(~mask.transpose(1, 2), -torch.inf)
        contexts = scores.softmax(dim=2) @ words  # (b, time, source_width)
        return torch.tanh(self.out(torch.cat((contexts, states), dim=2)))


class VectorDecoder(nn.Module):
    """An LSTM that predicts the next subword code; each step reads the previous code and the sentence vector.

    Dropout is applied to code vectors, between LSTM layers, and to the states before the output layer.

    - source_width: the width of words' states, for attention; 0: there is no attention
    """

    def __init__(self, codes: int, vector_width: int, options: ObjectiveOptions, *, source_width: int = 0) -> None:
        super().__init__()
        hidden, layers = options.decoder_hidden, options.decoder_layers
        self.codes = nn.Embedding(codes, options.decoder_inputs, padding_idx=PADDING)
        self.lstm = nn.LSTM(
            options.decoder_inputs + vector_width,
            hidden,
            layers,
            batch_first=True,
            dropout=options.dropout if layers > 1 else 0.0,
        )
        self.dropout = nn.Dropout(options.dropout)
        self.out = nn.Linear(hidden, codes)
        self.attention = Attention(hidden, source_width) if source_width else None

    def forward(self, sources: Sources, targets: torch.Tensor) -> torch.Tensor:
        """Return the loss summed over all target codes, a scalar, in nats.

        - targets: the codes of each text from START to END, then PADDING, (b, time)
        """
        states, _ = self._compute_states(sources, targets[:, :-1])  # (b, time - 1, hidden)
        is_target = targets[:, 1:] != PADDING
        logits = self.out(self.dropout(states[is_target]))  # (target codes without padding, codes)
        return functional.cross_entropy(logits, targets[:, 1:][is_target], reduction="sum")

    def _compute_states(
        self, sources: Sources, codes: torch.Tensor, previous_state: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        code_embeddings = self.dropout(self.codes(codes))  # (b, time, inputs)
        repeated_vectors = sources.vectors.unsqueeze(1).expand(-1, code_embeddings.shape[1], -1)
        states, last_state = self.lstm(torch.cat([code_embeddings, repeated_vectors], dim=2), previous_state)
        if self.attention is not None:
            states = self.attention(states, sources.states, sources.mask)
        return states, last_state

    @torch.no_grad()
    def generate(self, sources: Sources, *, max_length: int) -> torch.Tensor:
        """Return the likeliest subword code at each step, (b, time), up to END or *max_length*; PADDING follows END."""
        # Greedy search: the loop ends when every text of the batch has its END.
        last_codes = torch.full((len(sources.vectors), 1), START, device=sources.vectors.device)
        ended = torch.zeros_like(last_codes, dtype=torch.bool)
        previous_state = None
        generated: list[torch.Tensor] = []
        while len(generated) < max_length and not ended.all():
            states, previous_state = self._compute_states(sources, last_codes, previous_state)
            last_codes = self.out(states).argmax(dim=2).masked_fill(ended, PADDING)  # (b, 1)
            ended = ended | (last_codes == END)
            generated.append(last_codes)
        return torch.cat(generated, dim=1)


def make_decoder(
    codes: int, vector_width: int, options: ObjectiveOptions, *, source_width: int = 0, seed: int
) -> VectorDecoder:
    """Return a decoder with random weights, which PyTorch's default initialization draws with *seed*."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return VectorDecoder(codes, vector_width, options, source_width=source_width)


class Seq2Seq(Learner):
    """A sentence model with decoders, each of which generates a text from the sentence vector."""

    def __init__(self, encoder: SentenceModel, decoders: Sequence[VectorDecoder], subwords: Subwords) -> None:
        super().__init__(encoder)
        self.decoders = nn.ModuleList(decoders)
        self.subwords = subwords

    def get_extra_state(self) -> torch.Tensor:
        """Return the subword codes as JSON, (bytes,) uint8; PyTorch stores them with the weights."""
        return torch.frombuffer(bytearray(self.subwords.to_json().encode()), dtype=torch.uint8)

    def set_extra_state(self, state: torch.Tensor) -> None:
        """Raise FormatError if the stored subword codes differ from those of this model."""
        if not torch.equal(state.cpu(), self.get_extra_state()):
            raise FormatError("the decoder's weights were learned with other codes")

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss over the target codes of all decoders, a scalar, in nats."""
        sources = self.encode_sources(batch)
        losses = [
            decoder(sources, batch.tensors[format_target_name(number)]) for number, decoder in enumerate(self.decoders)
        ]
        return torch.stack(losses).sum() / batch.targets

    def encode_sources(self, batch: Batch) -> Sources:
        """Return a batch's source sentences for decoders: their vectors and, for attention, the states of words."""
        ids, lengths = batch.tensors[SOURCES], batch.tensors[LENGTHS]
        if all(decoder.attention is None for decoder in self.decoders):
            return Sources(self.encoder(ids, lengths))
        vectors, states = self.encoder.encode_words(ids, lengths)
        return Sources(vectors, states, make_word_mask(states, lengths))

    @torch.no_grad()
    def generate(self, batch: Batch, *, max_length: int) -> torch.Tensor:
        """Return the subword codes of the text that the first decoder generates for each source sentence, (b, time)."""
        first_decoder = self.decoders[0]
        assert isinstance(first_decoder, VectorDecoder)
        return first_decoder.generate(self.encode_sources(batch), max_length=max_length)


MAX_GENERATED_TEXTS = 300
"""Maximum number of held-out items, taken at equal distances, for which texts are generated."""
EXTRA_CODES = 5
"""Number of codes by which a generated text may be longer than the longest reference."""


@dataclass(frozen=True, slots=True, eq=False)
class GenerationValidator:
    """Computes the loss and a metric on held-out items. Noise in source sentences is the same in each validation."""

    pairs: SequencePairs
    metric: Metric
    permuted: SequencePairs | None = None
    """The held-out sentences with permuted words as sources and targets, for BLEU beside the metric; None: no such."""

    @torch.no_grad()
    def __call__(self, learner: Learner) -> Validation:
        """Return a learner's metric and loss; the learner is a Seq2Seq unless the metric is perplexity."""
        was_training = learner.training
        learner.eval()
        try:
            summed_loss, target_count, permuted_bleu = 0.0, 0, None
            for batch in self.pairs.batches(0):
                summed_loss += float(learner(batch.to(learner.device))) * batch.targets
                target_count += batch.targets
            loss = summed_loss / target_count
            if self.metric is Metric.PERPLEXITY:
                value = math.exp(min(loss, 700.0))  # exp(710) overflows
            else:
                assert isinstance(learner, Seq2Seq)
                texts = self.generate_texts(learner)
                exact_share = sum(text.reference == text.generated for text in texts) / len(texts)
                value = compute_bleu(texts) if self.metric is Metric.BLEU else exact_share
                if self.permuted is not None:
                    permuted_bleu = compute_bleu(replace(self, pairs=self.permuted).generate_texts(learner))
        finally:
            learner.train(was_training)
        higher_is_better = self.metric is not Metric.PERPLEXITY
        return Validation(
            self.metric.value, value, higher_is_better=higher_is_better, loss=loss, permuted_bleu=permuted_bleu
        )

    def generate_texts(self, learner: Seq2Seq) -> list["GeneratedText"]:
        """Return the first decoder's text and the reference for each of up to MAX_GENERATED_TEXTS held-out items."""
        held_out_items = self.pairs.items
        places = np.linspace(0, len(held_out_items) - 1, min(len(held_out_items), MAX_GENERATED_TEXTS)).round()
        selected_items = held_out_items[places.astype(np.int64)]
        targets = self.pairs.targets[0]
        # Early in training a decoder may never end its text, so the longest reference sets a limit.
        max_length = int(targets.lengths[selected_items].max()) + EXTRA_CODES
        generated_texts: list[GeneratedText] = []
        for rows in replace(self.pairs, items=selected_items).plan_batches(0):
            batch = self.pairs.make_batch(rows, 0).to(learner.device)
            generated = learner.generate(batch, max_length=max_length).tolist()
            references = learner.subwords.decode(targets[row] for row in rows)
            generated_texts += map(GeneratedText, references, learner.subwords.decode(generated))
        return generated_texts


class GeneratedText(NamedTuple):
    """A generated text, and its reference: the text that should have been generated."""

    reference: str
    generated: str


def compute_bleu(texts: Sequence[GeneratedText]) -> float:
    """Return the BLEU score of tokenised texts, from 0 to 100, as computed by Moses' script multi-bleu."""
    import sacrebleu

    generated, references = [text.generated for text in texts], [text.reference for text in texts]
    return round(sacrebleu.corpus_bleu(generated, [references], tokenize="none", force=True).score, 6)
