"""Encoders from transformers: a layer of a model, or all from one forward pass, pooled over the tokens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.models import model_loading as loading
from sentprobe.probes.encoders.protocol import Capabilities, EncoderError, Vectors, digest, missing_extra
from sentprobe.specs import Spec, read_options


class Pooling(StrEnum):
    """How token vectors are pooled."""

    CLS = "cls"
    MEAN = "mean"
    MAX = "max"
    LAST = "last"


def pool_states(states: Tensor, mask: Tensor, *, pooling: Pooling) -> Tensor:
    """Pool states (batch, time, dim) to (batch, dim) float32; the mask (batch, time) is 1 for tokens, 0 for padding."""
    return POOLINGS[pooling](states.float(), mask.bool())


def _pool_first(states: Tensor, mask: Tensor) -> Tensor:
    return states[torch.arange(len(states), device=states.device), mask.int().argmax(dim=1)]


def _pool_mean(states: Tensor, mask: Tensor) -> Tensor:
    masked = states.masked_fill(~mask[:, :, None], 0.0)  # (batch, time, dim)
    return masked.sum(dim=1) / mask.sum(dim=1, keepdim=True)


POOLINGS: Mapping[Pooling, Callable[[Tensor, Tensor], Tensor]] = {
    Pooling.CLS: _pool_first,
    Pooling.MEAN: _pool_mean,
    Pooling.MAX: lambda states, mask: states.masked_fill(~mask[:, :, None], -torch.inf).amax(dim=1),
    Pooling.LAST: lambda states, mask: _pool_first(states.flip(1), mask.flip(1)),
}


ALL_LAYERS = "all"
"""The value of ``layer`` that asks for an encoder per layer."""

NO_LIMIT = 10**6
"""Smallest reported token limit that counts as none; tokenizers without a limit report a far greater number."""

MAX_STORED_BYTES = 2**31
"""Upper limit of the memory for vectors that other layers need later."""


@dataclass(frozen=True, slots=True)
class HfOptions:
    """Options of ``hf:``."""

    layer: str = "-1"
    """0: embeddings; 1: after the first block; -1: the last; ``all``: one encoder per layer."""
    pooling: Pooling = Pooling.MEAN
    precision: loading.ModelPrecision = loading.ModelPrecision.FLOAT32
    max_length: int = 0
    """Maximum number of tokens per sentence; 0: the limit of the model."""
    revision: str = ""
    """A branch, tag or commit on the hub."""
    batch: int = 32
    device: str = ""
    """A PyTorch device; empty: a GPU where there is one."""


@dataclass(frozen=True, slots=True)
class HfModel:
    """A transformers model with its tokenizer; computes sentence vectors at all layers."""

    name: str
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    limit: int | None
    pooling: Pooling
    batch: int
    truncated_candidates: set[str] = field(default_factory=set, repr=False)
    """The sentences so far that reached the token limit."""

    def count_layers(self) -> int:
        """Return the number of layers, including the embeddings."""
        return len(self._compute_states(["a"])[0])

    def encode(self, sentences: Sequence[str], *, layers: Sequence[int]) -> Vectors:
        """Return the vectors at each of *layers*, (n, layers, dim) float32."""
        order = sorted(range(len(sentences)), key=lambda row: len(sentences[row]))
        chunks = [order[start : start + self.batch] for start in range(0, len(order), self.batch)]
        parts = [self._encode_batch([sentences[row] for row in rows], layers) for rows in chunks]
        out = np.empty((len(sentences), *parts[0].shape[1:]), dtype=np.float32)
        for rows, part in zip(chunks, parts, strict=True):
            out[rows] = part
        return out

    def _encode_batch(self, sentences: Sequence[str], layers: Sequence[int]) -> Vectors:
        states, mask = self._compute_states(sentences)
        try:
            pooled = [pool_states(states[layer], mask, pooling=self.pooling) for layer in layers]
            stacked: Vectors = torch.stack(pooled, dim=1).cpu().numpy()
        except (IndexError, RuntimeError) as error:
            raise EncoderError(
                f"the layers of {self.name} are not all of one width, one vector a token: {error}"
            ) from error
        return stacked

    def _compute_states(self, sentences: Sequence[str]) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return the states (batch, time, dim) at each layer, and the mask (batch, time)."""
        with loading.report_encoding_errors(self.name):
            tokens = self.tokenizer(
                list(sentences), padding=True, truncation=self.limit is not None,
                max_length=self.limit, return_tensors="pt",
            )  # fmt: skip
            self._check_lengths(sentences, tokens["attention_mask"].sum(dim=1).tolist())
            tokens = tokens.to(self.model.device)  # after the check, which would make a GPU wait
            with torch.inference_mode():
                output = self.model(**tokens, output_hidden_states=True)
            return output.hidden_states, tokens["attention_mask"]

    def _check_lengths(self, sentences: Sequence[str], lengths: Sequence[float]) -> None:
        for sentence, length in zip(sentences, lengths, strict=True):
            if not length:
                raise EncoderError(f"{self.name} finds no token in the sentence {sentence!r}")
            if self.limit and length >= self.limit:
                self.truncated_candidates.add(sentence)


class LayerStore:
    """Computes several layers at once, and stores vectors for later requests of other layers.

    Layers should be requested in order: the vectors of a sentence are stored until the last layer, as long as they fit
    in *max_bytes*. Other vectors are computed again.
    """

    def __init__(self, model: HfModel, layers: Sequence[int], *, max_bytes: int = MAX_STORED_BYTES) -> None:
        self.model = model
        self._layers = tuple(layers)
        self._max_bytes = max_bytes
        self._stored: dict[str, Vectors] = {}  # (layers, dim) each

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on sentences that reached the token limit."""
        if not self.model.truncated_candidates:
            return ()
        texts, limit = self.model.truncated_candidates, self.model.limit
        return (f"{len(texts)} sentences have {limit} tokens or more, and what is beyond was not read: {min(texts)!r}",)

    def encode(self, sentences: Sequence[str], *, layer: int) -> Vectors:
        """Return the vectors at *layer*, (n, dim) float32."""
        distinct = list(dict.fromkeys(sentences))
        new = [sentence for sentence in distinct if sentence not in self._stored]
        vectors = {sentence: self._stored[sentence] for sentence in distinct if sentence in self._stored}
        if new:
            vectors |= dict(zip(new, self.model.encode(new, layers=self._layers), strict=True))
        place = self._layers.index(layer)
        out = np.stack([vectors[sentence][place] for sentence in sentences])
        for sentence in distinct:
            self._store_or_drop(sentence, vectors[sentence], layer)
        return out

    def _store_or_drop(self, sentence: str, vectors: Vectors, layer: int) -> None:
        """Store the vectors of a sentence, or drop them after the last layer."""
        if layer == self._layers[-1]:
            self._stored.pop(sentence, None)
        elif (len(self._stored) + 1) * vectors.nbytes <= self._max_bytes:
            self._stored.setdefault(sentence, vectors.copy())  # not a view of the whole batch


@dataclass(frozen=True, slots=True)
class HfEncoder:
    """One layer of a model as an encoder."""

    name: str
    fingerprint: str
    layer: int
    family: str
    """The name without its layer."""
    store: LayerStore = field(repr=False, compare=False)

    @property
    def capabilities(self) -> Capabilities:
        """The layer, its model, and the notes."""
        return Capabilities(
            layer=self.layer, family=self.family, notes=self.store.notes, count_truncated=self.count_truncated
        )

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the pooled states of the layer, (n, dim) float32."""
        return self.store.encode(sentences, layer=self.layer)

    def count_truncated(self, sentences: Sequence[str]) -> int | None:
        """Return how many sentences exceed the token limit."""
        model = self.store.model
        return loading.count_truncated(sentences, model.tokenizer, limit=model.limit)


def load_hf(spec: Spec) -> list[HfEncoder]:
    """Return the encoder of ``hf:MODEL?...``, or several for ``layer=all``. Raises UsageError or EncoderError."""
    options = read_options(spec, HfOptions())
    requested_layer = _parse_layer(options.layer)
    if find_spec("transformers") is None:
        raise missing_extra("an encoder hf:...", "transformers")
    files = loading.find_model(spec.argument, revision=options.revision)
    model = _load(files.directory, model_name=spec.argument, options=options)
    layers = _resolve_layers(requested_layer, model.count_layers())
    store = LayerStore(model, layers)
    fixed = (files.content, options.pooling, options.precision, model.limit)
    return [
        HfEncoder(
            name=spec.name if requested_layer is not None else _format_layer_name(spec, layer),
            fingerprint=digest("hf", *fixed, layer),
            layer=layer,
            family=Spec(spec.kind, spec.argument, tuple(_drop_layer_option(spec))).name,
            store=store,
        )
        for layer in layers
    ]


def _drop_layer_option(spec: Spec) -> Iterator[tuple[str, str]]:
    return ((key, value) for key, value in spec.options if key != "layer")


def _format_layer_name(spec: Spec, layer: int) -> str:
    if spec.label is not None:
        return f"{spec.label}, layer {layer}"
    return str(Spec(spec.kind, spec.argument, (("layer", str(layer)), *_drop_layer_option(spec))))


def _parse_layer(layer: str) -> int | None:
    if layer == ALL_LAYERS:
        return None
    try:
        return int(layer)
    except ValueError:
        raise UsageError(f"hf: option layer={layer}: a whole number or all is wanted") from None


def _resolve_layers(requested_layer: int | None, count: int) -> list[int]:
    if requested_layer is None:
        return list(range(count))
    if not -count <= requested_layer < count:
        raise UsageError(
            f"hf: option layer={requested_layer}: the model has the layers 0 (embeddings) to {count - 1}, "
            f"or counted from the end -1 to {-count}"
        )
    return [requested_layer % count]


def _load(directory: Path, *, model_name: str, options: HfOptions) -> HfModel:
    model, tokenizer = load_pretrained(directory, model_name=model_name)
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    device = options.device or loading.find_default_device()
    return HfModel(
        name=model_name,
        model=loading.move_to_device(model, device=device, precision=options.precision),
        tokenizer=tokenizer,
        limit=find_token_limit(options.max_length, tokenizer, model.config),
        pooling=options.pooling,
        batch=options.batch,
    )


def load_pretrained(directory: Path, *, model_name: str, kind: str = "AutoModel") -> tuple[Any, Any]:
    """Return a model of a class of transformers, and its tokenizer. Raises EncoderError."""
    with loading.report_loading_errors(model_name):
        loading.check_declared_size(directory)
        import transformers

        local: dict[str, bool] = {"local_files_only": True, "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(directory, **local)
        model, loading_info = getattr(transformers, kind).from_pretrained(directory, output_loading_info=True, **local)
        if missing := sorted(key for key in loading_info["missing_keys"] if "pooler" not in key):  # it is not used
            raise ValueError(f"its files lack {len(missing)} of its weights, such as {missing[0]}")
        tokenizer.padding_side = "right"  # where padding does not shift positions
        if tokenizer.pad_token is None:  # any will do, as it is masked
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
        model.config.use_cache = False  # for generating text, and it takes memory
        return model, tokenizer


def find_token_limit(requested_limit: int, tokenizer: Any, config: Any) -> int | None:
    """Return the maximum number of tokens: the request, or the limit of the tokenizer or model; None: no limit."""
    positions: int | None = getattr(config, "max_position_embeddings", None)
    if requested_limit and positions and requested_limit > positions:
        raise UsageError(f"hf: option max_length={requested_limit}: the model has {positions} positions")
    tokenizer_limit = tokenizer.model_max_length
    return requested_limit or (tokenizer_limit if tokenizer_limit < NO_LIMIT else positions)
