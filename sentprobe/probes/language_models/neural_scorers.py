"""The language model ``trained:``, a recurrent network trained by ``probe train --objective next-word``.

The language model ``hf:``, a causal or masked model from the library transformers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import compress, islice
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from sentprobe.common.screen import Reporter
from sentprobe.common.specs import Spec, read_options
from sentprobe.probes.encoders import architecture
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.models import model_loading as loading
from sentprobe.probes.encoders.models import trained
from sentprobe.probes.encoders.models.trained import UNKNOWN, SentenceModel
from sentprobe.probes.encoders.models.untrained import group_by_length
from sentprobe.probes.language_models.arpa import list_words, split_words
from sentprobe.probes.language_models.scorers import Regions, ScoringMethod, TokenScores, select_spans
from sentprobe.probes.training.learners import NEXT_WORD, compute_states
from sentprobe.probes.training.objectives import SEPARATOR


@dataclass(slots=True)
class RecurrentModel:
    """A recurrent language model; sentences of equal length form a batch."""

    name: str
    model: SentenceModel = field(repr=False)
    batch: int
    method: ScoringMethod = ScoringMethod.RECURRENT

    def find_unknown(self, texts: Sequence[str]) -> list[list[str]]:
        vocabulary = self.model.vocabulary
        sentences = (list_words(text, split_words(text), lower=vocabulary.lower) for text in texts)
        return [[word for word in words if word not in vocabulary.rows] for words in sentences]

    def score(self, texts: Sequence[str], reporter: Reporter, _: Regions | None = None) -> list[TokenScores]:
        """Score the words of each text, and the end-of-sentence token after them."""
        spans = [split_words(text) for text in texts]
        vocabulary = self.model.vocabulary
        sentences = (list_words(*pair, lower=vocabulary.lower) for pair in zip(texts, spans, strict=True))
        ids = [[vocabulary.rows.get(word, UNKNOWN) for word in words] for words in sentences]
        values: list[list[float]] = [[] for _ in texts]
        for group in group_by_length([*map(len, ids)], size=self.batch):
            for row, part in zip(group, self._predict([ids[row] for row in group]), strict=True):
                values[row] = part
            reporter.advance(len(group))
        return [TokenScores(values[row], [*spans[row], (len(text), len(text))]) for row, text in enumerate(texts)]

    @torch.inference_mode()
    def _predict(self, ids: Sequence[Sequence[int]]) -> list[list[float]]:
        weight = self.model.words.weight
        stacked = torch.tensor(ids, dtype=torch.int64, device=weight.device)  # (b, time)
        states, rows = compute_states(self.model, stacked, torch.full((len(ids),), stacked.shape[1]))
        losses = functional.cross_entropy(functional.linear(states, weight), rows, reduction="none")
        log_probabilities: list[list[float]] = (-losses).double().reshape(len(ids), -1).tolist()
        return log_probabilities


def load_recurrent_model(spec: Spec, device: str) -> RecurrentModel:
    """Load the model of a spec ``trained:FOLDER``. Raises UsageError or EncoderError."""
    options = read_options(spec, trained.TrainedOptions(batch=64, device=device))
    folder = Path(spec.argument).expanduser()
    objective = architecture.read_config(folder).record.get("objective")
    if NEXT_WORD not in str(objective).split(SEPARATOR):
        raise EncoderError(f"{folder}: not a language model; its objective is {objective}, not {NEXT_WORD}")
    model = trained.load_sentence_model(folder)
    target = options.device or loading.find_default_device()
    model = loading.move_to_device(model, device=target, precision=loading.ModelPrecision.FLOAT32)
    return RecurrentModel(spec.name, model, options.batch)


@dataclass(frozen=True, slots=True)
class TransformerOptions:
    """The options of the language model ``hf:``."""

    bos: bool = True
    """Whether a causal model reads a start token before the text."""
    within_word: bool = True
    """When a masked model predicts a token, whether the word's later tokens are masked, too (Kauf and Ivanova 2023)."""
    precision: loading.ModelPrecision = loading.ModelPrecision.FLOAT32
    revision: str = ""
    """A branch, tag or commit on the Hugging Face hub."""
    batch: int = 64
    """Number of sequences in a forward pass; for a masked model, a text has one sequence per token."""
    device: str = ""


class ScoredSequence(NamedTuple):
    """A sequence of tokens that the model reads, the positions of its predictions, and the tokens to predict there."""

    text: int
    """The index of the text; a text's sequences are adjacent, in the order of the tokens to predict."""
    ids: list[int]
    places: Sequence[int]
    targets: Sequence[int]
    is_last: bool = True


@dataclass(slots=True)
class TransformerModel:
    """A causal or masked language model with its tokenizer."""

    name: str
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    is_masked: bool
    options: TransformerOptions
    limit: int | None

    @property
    def method(self) -> ScoringMethod:
        """The method, which follows from the type of model and the options."""
        if self.is_masked:
            return ScoringMethod.MASKED if self.options.within_word else ScoringMethod.MASKED_ALONE
        return ScoringMethod.CAUSAL if self._find_start() else ScoringMethod.CAUSAL_WITHOUT_START

    def find_unknown(self, texts: Sequence[str]) -> list[list[str]]:
        """Return, for each text, the words and parts of words that the tokenizer replaces by its unknown token."""
        encoded = self.tokenizer([*texts], add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        parts = (
            [text[slice(*span)] for token, span in zip(*row, strict=True) if token == self.tokenizer.unk_token_id]
            for text, *row in zip(texts, encoded["input_ids"], encoded["offset_mapping"], strict=True)
        )
        return [" ".join(unknown).split() for unknown in parts]

    def score(self, texts: Sequence[str], reporter: Reporter, regions: Regions | None = None) -> list[TokenScores]:
        """Score the tokens of each text. Raises EncoderError.

        - regions: the only spans whose tokens a masked model scores; causal models score all tokens
        """
        values: list[list[float]] = [[] for _ in texts]
        with loading.report_encoding_errors(self.name):
            encoded = self.tokenizer(
                [*texts],
                add_special_tokens=self.is_masked,
                return_offsets_mapping=True,
                return_special_tokens_mask=True,
                verbose=False,
            )
            self._check_lengths(texts, encoded["input_ids"])
            # Texts of similar length share a batch, which needs little padding.
            order = sorted(range(len(texts)), key=lambda text: len(encoded["input_ids"][text]))
            places = [
                [place for place, special in enumerate(mask) if not special] for mask in encoded["special_tokens_mask"]
            ]
            offsets = zip(encoded["offset_mapping"], places, strict=True)
            spans = [[text_offsets[place] for place in row] for text_offsets, row in offsets]
            if regions is not None and self.is_masked:
                scored = [select_spans(spans[row], regions[text]) for row, text in enumerate(texts)]
                places, spans = (
                    [[*compress(row, chosen)] for row, chosen in zip(rows, scored, strict=True)]
                    for rows in (places, spans)
                )
            build = self._build_masked_sequences if self.is_masked else self._build_causal_sequence
            sequences = (sequence for text in order for sequence in build(encoded, text, places[text]))
            unscored = len(texts)
            while batch := [*islice(sequences, self.options.batch)]:
                parts = torch.split(self._predict(batch), [len(sequence.targets) for sequence in batch])
                for sequence, part in zip(batch, parts, strict=True):
                    values[sequence.text] += part.tolist()
                scored_texts = sum(sequence.is_last for sequence in batch)
                reporter.advance(scored_texts)
                unscored -= scored_texts
            reporter.advance(unscored)  # texts without a token to score have no sequence
        # Without a start token, a causal model scores no first token, whose span is then left out.
        return [TokenScores(part, spans[text][len(spans[text]) - len(part) :]) for text, part in enumerate(values)]

    def _find_start(self) -> list[int]:
        """Return, as a list of one id, the start token that a causal model reads before a text; [] if there is none."""
        has_start = self.options.bos and not self.is_masked
        ids = (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id) if has_start else ()
        return [token for token in ids if token is not None][:1]

    def _check_lengths(self, texts: Sequence[str], ids: Sequence[Sequence[int]]) -> None:
        for text, tokens in zip(texts, ids, strict=True):
            if self.limit and len(tokens) + len(self._find_start()) > self.limit:
                raise EncoderError(f"{self.name} reads {self.limit} tokens, and a sentence is too long: {text!r}")

    def _build_causal_sequence(self, encoded: Any, text: int, _: Sequence[int]) -> Iterator[ScoredSequence]:
        ids = [*self._find_start(), *encoded["input_ids"][text]]
        if len(ids) > 1:
            yield ScoredSequence(text, ids, range(len(ids) - 1), ids[1:])

    def _build_masked_sequences(self, encoded: Any, text: int, places: Sequence[int]) -> Iterator[ScoredSequence]:
        ids, words = encoded["input_ids"][text], encoded.word_ids(text)
        for place in places:
            masked = [*ids]
            masked[place] = self.tokenizer.mask_token_id
            for later in range(place + 1, len(ids)) if self.options.within_word else ():
                if words[later] is not None and words[later] == words[place]:
                    masked[later] = self.tokenizer.mask_token_id
            yield ScoredSequence(text, masked, [place], [ids[place]], place == places[-1])

    def _predict(self, batch: Sequence[ScoredSequence]) -> Tensor:
        """Return the log probabilities of the targets of all sequences, (targets,) float64.

        The model reads equal sequences only once. If the changed word is masked, the two sentences of a pair often
        become equal. Two predictions at one position share their logits if they depend on the same tokens. A hook
        before the output layer selects the positions whose logits are computed.
        """
        numbers: dict[tuple[int, ...], int] = {}
        inputs = [numbers.setdefault(tuple(sequence.ids), len(numbers)) for sequence in batch]
        ids = [torch.tensor(row) for row in numbers]
        tokens = pad_sequence(ids, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        mask = pad_sequence([torch.ones_like(row) for row in ids], batch_first=True)
        targets = [target for sequence in batch for target in sequence.targets]
        contexts: dict[tuple[int, ...], int] = {}
        rows, places, chosen = [], [], []
        for row, sequence in zip(inputs, batch, strict=True):
            for place in sequence.places:
                key = (place, *(sequence.ids if self.is_masked else sequence.ids[: place + 1]))
                if key not in contexts:
                    contexts[key] = len(contexts)
                    rows.append(row)
                    places.append(place)
                chosen.append(contexts[key])

        def select_places(_: Any, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            return (inputs[0][rows, places][None], *inputs[1:])

        # Logits of all positions would need memory for batch * time * words numbers.
        hook = self.model.get_output_embeddings().register_forward_pre_hook(select_places)
        try:
            with torch.inference_mode():
                device = self.model.device
                output = self.model(input_ids=tokens.to(device), attention_mask=mask.to(device))
                logits = output.logits[0].float()  # (contexts, words)
                log_probabilities: Tensor = (logits[chosen, targets] - logits.logsumexp(dim=1)[chosen]).double().cpu()
                return log_probabilities
        finally:
            hook.remove()


def load_transformer(spec: Spec, device: str) -> TransformerModel:
    """Load the model of a spec ``hf:MODEL``. Raises UsageError or EncoderError."""
    options = read_options(spec, TransformerOptions(device=device))
    directory, _ = loading.find_model(spec.argument, revision=options.revision)
    is_masked = _detect_masked(directory, spec.argument)
    model, tokenizer = loading.load_pretrained(
        directory, model_name=spec.argument, kind="AutoModelForMaskedLM" if is_masked else "AutoModelForCausalLM"
    )
    # Only fast tokenizers report where in the text a token stands.
    if not tokenizer.is_fast or (is_masked and tokenizer.mask_token_id is None):
        lack = "have a mask token" if tokenizer.is_fast else "report the place of each token in the text"
        raise EncoderError(f"the tokenizer of {spec.argument} does not {lack}")
    limit = loading.find_token_limit(0, tokenizer, model.config)
    target = options.device or loading.find_default_device()
    model = loading.move_to_device(model, device=target, precision=options.precision)
    if is_masked and target == "cpu" and options.precision is loading.ModelPrecision.FLOAT32:
        _multiply_by_onednn(model)
    return TransformerModel(spec.name, model, tokenizer, is_masked, options, limit)


def _multiply_by_onednn(model: torch.nn.Module) -> None:
    """Compute linear layers by oneDNN, if PyTorch has it: on AMD processors, it is twice as fast as MKL."""
    multiply = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    if multiply is None or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return
    for layer in model.modules():
        if type(layer) is torch.nn.Linear:
            layer.forward = partial(_apply_linear, multiply, layer)  # type: ignore[method-assign]


def _apply_linear(multiply: Callable[..., Tensor], layer: torch.nn.Linear, inputs: Tensor) -> Tensor:
    return multiply(inputs, layer.weight, layer.bias, "none", [], "")


def _detect_masked(directory: Path, model_name: str) -> bool:
    """Return True for a masked and False for a causal language model. Raises EncoderError for other models."""
    with loading.report_loading_errors(model_name):
        from transformers.models.auto import modeling_auto as auto

        names = loading.read_architectures(directory)
    is_masked = not {*auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()}.isdisjoint(names)
    if not is_masked and {*auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()}.isdisjoint(names):
        kind = " ".join(names) or "of an unknown kind"
        raise EncoderError(f"{model_name} is neither a causal nor a masked language model, but {kind}")
    return is_masked
