"""Causal and masked language models from transformers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.models import hf
from sentprobe.probes.encoders.models import model_loading as loading
from sentprobe.probes.encoders.protocol import EncoderError, missing_extra
from sentprobe.probes.language_models.minimal_pairs import Span
from sentprobe.probes.language_models.scorers import TokenScores
from sentprobe.progress import Reporter
from sentprobe.specs import Spec, read_options


class ModelKind(StrEnum):
    """What a model predicts."""

    AUTO = "auto"
    """Detected from the architecture in the model's configuration."""
    CAUSAL = "causal"
    MASKED = "masked"


class PseudoLikelihood(StrEnum):
    """The tokens that a masked model does not see when it predicts a token."""

    WITHIN_WORD = "within-word"
    """The token and the later tokens of its word (Kauf and Ivanova 2023)."""
    ORIGINAL = "original"
    """The token (Salazar et al. 2020)."""


@dataclass(frozen=True, slots=True)
class TransformerOptions:
    """Options of ``hf:``."""

    kind: ModelKind = ModelKind.AUTO
    pll: PseudoLikelihood = PseudoLikelihood.WITHIN_WORD
    bos: bool = True
    precision: loading.ModelPrecision = loading.ModelPrecision.FLOAT32
    revision: str = ""
    batch: int = 64
    """Sequences in a forward pass; a masked model reads one for each token."""
    device: str = ""


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """The tokens of a text as the model reads them, and the spans and words of those that are scored."""

    number: int
    ids: list[int]
    scored: list[int]
    """Places of the scored tokens."""
    spans: list[Span]
    words: list[int | None]


@dataclass(frozen=True, slots=True)
class Row:
    """A sequence that the model reads, the places of its predictions, and the predicted tokens."""

    text: TokenizedText
    ids: list[int]
    places: Sequence[int]
    targets: Sequence[int]
    first: int
    """The number of the first of these tokens among those of the text that are scored."""


@dataclass(slots=True)
class TransformerModel:
    """A causal or masked model with its tokenizer."""

    name: str
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    kind: ModelKind
    options: TransformerOptions
    limit: int | None
    notes: tuple[str, ...] = ()

    def score(self, texts: Sequence[str], reporter: Reporter) -> list[TokenScores]:
        """Return the scores of all tokens; the texts are read in the order of their lengths."""
        with loading.report_encoding_errors(self.name):
            tokenized = self._tokenize(texts)
            values = [np.zeros(len(text.scored)) for text in tokenized]
            rows = (row for text in sorted(tokenized, key=lambda text: len(text.ids)) for row in self._build_rows(text))
            while batch := [*islice(rows, self.options.batch)]:
                sizes = [len(row.targets) for row in batch]
                for row, part in zip(batch, self._predict(batch).split(sizes), strict=True):
                    values[row.text.number][row.first : row.first + len(part)] = part.numpy()
                    if row.first + len(part) == len(row.text.scored):
                        reporter.advance()
        return [TokenScores(part.tolist(), text.spans) for text, part in zip(tokenized, values, strict=True)]

    def _tokenize(self, texts: Sequence[str]) -> list[TokenizedText]:
        is_masked = self.kind is ModelKind.MASKED
        encoded = self.tokenizer(
            [*texts], add_special_tokens=is_masked, return_offsets_mapping=True, return_special_tokens_mask=True
        )
        starts = [] if is_masked else self._find_start()
        return [self._build_text(encoded, number, starts, texts[number]) for number in range(len(texts))]

    def _find_start(self) -> list[int]:
        """Return the token in front of texts, if there is one."""
        ids = (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id) if self.options.bos else ()
        return [token for token in ids if token is not None][:1]

    def _build_text(self, encoded: Any, number: int, starts: list[int], text: str) -> TokenizedText:
        ids = [*starts, *encoded["input_ids"][number]]
        if self.limit and len(ids) > self.limit:
            raise EncoderError(f"{self.name} reads {self.limit} tokens, and a sentence has {len(ids)}: {text!r}")
        if self.kind is ModelKind.MASKED:
            scored = [place for place, special in enumerate(encoded["special_tokens_mask"][number]) if not special]
        else:
            scored = [*range(1, len(ids))]
        offsets = [(0, 0) for _ in starts] + encoded["offset_mapping"][number]
        words = [None for _ in starts] + encoded.word_ids(number)
        return TokenizedText(number, ids, scored, [offsets[place] for place in scored], words)

    def _build_rows(self, text: TokenizedText) -> Iterator[Row]:
        if self.kind is ModelKind.CAUSAL:
            if text.scored:
                yield Row(text, text.ids, range(len(text.ids) - 1), text.ids[1:], 0)
            return
        for number, place in enumerate(text.scored):
            ids, word = [*text.ids], text.words[place]
            ids[place] = self.tokenizer.mask_token_id
            if self.options.pll is PseudoLikelihood.WITHIN_WORD and word is not None:
                for later in text.scored[number + 1 :]:
                    if text.words[later] == word:
                        ids[later] = self.tokenizer.mask_token_id
            yield Row(text, ids, [place], [text.ids[place]], number)

    def _predict(self, batch: Sequence[Row]) -> Tensor:
        """Return the log probabilities of the rows' targets, (targets,) float64.

        Logits are computed at the places of predictions only: a hook selects them before the output layer.
        """
        device = self.model.device
        tokens = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(row.ids) for row in batch], batch_first=True, padding_value=self.tokenizer.pad_token_id
        )
        lengths = torch.tensor([len(row.ids) for row in batch])
        mask = (torch.arange(tokens.shape[1]) < lengths[:, None]).long()
        rows = torch.tensor([number for number, row in enumerate(batch) for _ in row.places], device=device)
        places = torch.tensor([place for row in batch for place in row.places], device=device)
        targets = torch.tensor([target for row in batch for target in row.targets], device=device)

        def select_places(_: Any, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            return (inputs[0][rows, places][None], *inputs[1:])

        hook = self.model.get_output_embeddings().register_forward_pre_hook(select_places)
        try:
            with torch.inference_mode():
                output = self.model(input_ids=tokens.to(device), attention_mask=mask.to(device))
                logits = output.logits[0].float()  # (targets, words)
                chosen = logits.gather(1, targets[:, None])[:, 0]
                return (chosen - logits.logsumexp(dim=1)).double().cpu()
        finally:
            hook.remove()


def load_transformer(spec: Spec, device: str) -> TransformerModel:
    """Return the model of ``hf:MODEL?...``. Raises UsageError or EncoderError."""
    options = read_options(spec, TransformerOptions(device=device))
    if find_spec("transformers") is None:
        raise missing_extra("a language model hf:...", "transformers")
    files = loading.find_model(spec.argument, revision=options.revision)
    kind = _detect_kind(files.directory, spec.argument) if options.kind is ModelKind.AUTO else options.kind
    model, tokenizer = hf.load_pretrained(files.directory, model_name=spec.argument, kind=_CLASSES[kind])
    if not tokenizer.is_fast:
        raise EncoderError(f"the tokenizer of {spec.argument} does not say where its tokens are in the text")
    if kind is ModelKind.MASKED and tokenizer.mask_token_id is None:
        raise UsageError(f"{spec}: the tokenizer has no token for masks")
    limit = hf.find_token_limit(0, tokenizer, model.config)
    target = options.device or loading.find_default_device()
    model = loading.move_to_device(model, device=target, precision=options.precision)
    return TransformerModel(spec.name, model, tokenizer, kind, options, limit)


_CLASSES = {ModelKind.CAUSAL: "AutoModelForCausalLM", ModelKind.MASKED: "AutoModelForMaskedLM"}


def _detect_kind(directory: Any, model_name: str) -> ModelKind:
    from transformers import AutoConfig
    from transformers.models.auto import modeling_auto as auto

    with loading.report_loading_errors(model_name):
        names = AutoConfig.from_pretrained(directory, local_files_only=True).architectures or []
    if set(names) & {*auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()}:
        return ModelKind.MASKED
    if set(names) & {*auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()}:
        return ModelKind.CAUSAL
    raise UsageError(f"{model_name} is a {' '.join(names) or 'model'}, no language model; kind=causal or kind=masked")
