"""Encoders from the transformers package: any layer of a model, pooled over the tokens.

All layers come out of one forward pass, so ``layer=all`` makes encoders that share it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sentprobe.errors import UsageError
from sentprobe.probes.encoders import models
from sentprobe.probes.encoders.models import ModelPrecision, find_model, loading, place, using
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, digest, missing_extra
from sentprobe.probes.encoders.truncation import count_truncated
from sentprobe.specs import Spec, read_options


class Pooling(StrEnum):
    """How the vectors of a sentence's tokens become one."""

    CLS = "cls"
    MEAN = "mean"
    MAX = "max"
    LAST = "last"


def pool(states: Tensor, mask: Tensor, *, pooling: Pooling) -> Tensor:
    """Return (batch, dim) float32 from *states* (batch, time, dim) and *mask* (batch, time).

    The mask is 1 for a token and 0 for padding, on the left or on the right; each row has a token.
    """
    return POOLINGS[pooling](states.float(), mask.bool())


def _first(states: Tensor, mask: Tensor) -> Tensor:
    return states[torch.arange(len(states)), mask.int().argmax(dim=1)]


def _last(states: Tensor, mask: Tensor) -> Tensor:
    return _first(states.flip(1), mask.flip(1))


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    kept = states.masked_fill(~mask[:, :, None], 0.0)  # (batch, time, dim)
    return kept.sum(dim=1) / mask.sum(dim=1, keepdim=True)


def _max(states: Tensor, mask: Tensor) -> Tensor:
    return states.masked_fill(~mask[:, :, None], -torch.inf).amax(dim=1)


POOLINGS: Mapping[Pooling, Callable[[Tensor, Tensor], Tensor]] = {
    Pooling.CLS: _first,
    Pooling.MEAN: _mean,
    Pooling.MAX: _max,
    Pooling.LAST: _last,
}


ALL = "all"
"""The value of ``layer`` that gives an encoder for each layer."""

NO_LIMIT = 10**6
"""Tokenizers without a limit of their own state a number far above this."""

KEPT_BYTES = 2**31
"""How much memory the vectors may take that wait to be asked for by other layers' encoders."""


@dataclass(frozen=True, slots=True)
class HfOptions:
    """Options of ``hf:``."""

    layer: str = "-1"
    """0: the embeddings, 1: after the first block, ...; -1: the last; ``all``: one encoder each."""
    pooling: Pooling = Pooling.MEAN
    precision: ModelPrecision = ModelPrecision.FLOAT32
    max_length: int = 0
    """How many tokens of a sentence count; 0: the model's own limit."""
    revision: str = ""
    """A branch, tag or commit on the hub."""
    batch: int = 32
    device: str = ""
    """A PyTorch device; empty: a GPU where there is one."""


@dataclass(frozen=True, slots=True)
class HfModel:
    """A transformers model and its tokenizer; all layers' vectors of sentences."""

    name: str
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    limit: int | None
    pooling: Pooling
    batch: int
    long: set[str] = field(default_factory=set, repr=False)
    """The sentences so far that have as many tokens as are read, and may have more."""

    def layers(self) -> int:
        """Return how many layers the model has, the embeddings counted."""
        return len(self._states(["a"])[0])

    def encode(self, sentences: Sequence[str], *, layers: Sequence[int]) -> Vectors:
        """Return the vectors at each of *layers*, (n, layers, dim) float32."""
        order = sorted(range(len(sentences)), key=lambda row: len(sentences[row]))
        chunks = [order[start : start + self.batch] for start in range(0, len(order), self.batch)]
        parts = [self._encode([sentences[row] for row in rows], layers) for rows in chunks]
        out = np.empty((len(sentences), *parts[0].shape[1:]), dtype=np.float32)
        for rows, part in zip(chunks, parts, strict=True):
            out[rows] = part
        return out

    def _encode(self, sentences: Sequence[str], layers: Sequence[int]) -> Vectors:
        """Encode one batch."""
        states, mask = self._states(sentences)
        try:
            pooled = [pool(states[layer], mask, pooling=self.pooling) for layer in layers]
            stacked: Vectors = torch.stack(pooled, dim=1).cpu().numpy()
        except (IndexError, RuntimeError) as error:
            raise EncoderError(
                f"the layers of {self.name} are not all of one width, one vector a token: {error}"
            ) from error
        return stacked

    def _states(self, sentences: Sequence[str]) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return the states (batch, time, dim) at each layer, and the mask (batch, time)."""
        with using(self.name):
            return self._forward(sentences)

    def _forward(self, sentences: Sequence[str]) -> tuple[tuple[Tensor, ...], Tensor]:
        tokens = self.tokenizer(
            list(sentences), padding=True, truncation=self.limit is not None,
            max_length=self.limit, return_tensors="pt",
        ).to(self.model.device)  # fmt: skip
        mask = tokens["attention_mask"]
        self._report(sentences, mask.sum(dim=1).tolist())
        with torch.inference_mode():
            output = self.model(**tokens, output_hidden_states=True)
        return output.hidden_states, mask

    def _report(self, sentences: Sequence[str], lengths: Sequence[float]) -> None:
        """Refuse a sentence without tokens, and remember those that may have been cut."""
        for sentence, length in zip(sentences, lengths, strict=True):
            if not length:
                raise EncoderError(f"{self.name} finds no token in the sentence {sentence!r}")
            if self.limit and length >= self.limit:
                self.long.add(sentence)


class LayerStore:
    """Computes all of several layers at once, and keeps what other layers will be asked for.

    The layers are expected to be asked for in their order: a sentence's vectors are kept until
    the last, as long as they fit in *room* bytes. What was not kept is computed again.
    """

    def __init__(self, model: HfModel, layers: Sequence[int], *, room: int = KEPT_BYTES) -> None:
        self.model = model
        self._layers = tuple(layers)
        self._room = room
        self._kept: dict[str, Vectors] = {}  # (layers, dim) each

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of what was encoded so far."""
        if not self.model.long:
            return ()
        limit, example = self.model.limit, min(self.model.long)
        return (
            f"{len(self.model.long)} sentences have {limit} tokens or more, and what is beyond "
            f"was not read: {example!r}",
        )

    def encode(self, sentences: Sequence[str], *, layer: int) -> Vectors:
        """Return the vectors at *layer*, (n, dim) float32."""
        distinct = list(dict.fromkeys(sentences))
        new = [sentence for sentence in distinct if sentence not in self._kept]
        found = {sentence: self._kept[sentence] for sentence in distinct if sentence in self._kept}
        if new:
            found |= dict(zip(new, self.model.encode(new, layers=self._layers), strict=True))
        place = self._layers.index(layer)
        out = np.stack([found[sentence][place] for sentence in sentences])
        for sentence in distinct:
            self._keep(sentence, found[sentence], layer)
        return out

    def _keep(self, sentence: str, vectors: Vectors, layer: int) -> None:
        """Keep the sentence's vectors for the layers to come, or drop them after the last."""
        if layer == self._layers[-1]:
            self._kept.pop(sentence, None)
        elif (len(self._kept) + 1) * vectors.nbytes <= self._room:
            self._kept.setdefault(sentence, vectors.copy())  # not a view of the whole batch


@dataclass(frozen=True, slots=True)
class HfEncoder:
    """One layer of a model behind the encoder protocol."""

    name: str
    fingerprint: str
    layer: int
    family: str
    """The name without its layer: the same for all layers of one model."""
    store: LayerStore = field(repr=False, compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """How many sentences may have been cut, and one of them."""
        return self.store.notes

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the pooled states of the layer, (n, dim) float32."""
        return self.store.encode(sentences, layer=self.layer)

    def truncated(self, sentences: Sequence[str]) -> int | None:
        """Return how many of the sentences have more tokens than are read."""
        model = self.store.model
        return count_truncated(sentences, model.tokenizer, limit=model.limit)


def load_hf(spec: Spec) -> list[HfEncoder]:
    """Return the encoder that ``hf:MODEL?...`` asks for, or one a layer for ``layer=all``.

    Code that comes with a model is not run.

    Raises:
        UsageError: an option, or its value, is not known.
        EncoderError: the package is not installed, or there is no such model.
    """
    options = read_options(spec, HfOptions())
    asked = _asked(options.layer)
    _check_installed()
    files = find_model(spec.argument, revision=options.revision)
    model = _load(files.directory, shown=spec.argument, options=options)
    layers = _resolve(asked, model.layers())
    store = LayerStore(model, layers)
    fixed = (files.content, options.pooling, options.precision, model.limit)
    return [
        HfEncoder(
            name=spec.name if asked is not None else _named(spec, layer),
            fingerprint=digest("hf", *fixed, layer),
            layer=layer,
            family=Spec(spec.kind, spec.argument, tuple(_without_layer(spec))).name,
            store=store,
        )
        for layer in layers
    ]


def _without_layer(spec: Spec) -> Iterator[tuple[str, str]]:
    return ((key, value) for key, value in spec.options if key != "layer")


def _named(spec: Spec, layer: int) -> str:
    if spec.label is not None:
        return f"{spec.label}, layer {layer}"
    return str(Spec(spec.kind, spec.argument, (("layer", str(layer)), *_without_layer(spec))))


def _asked(layer: str) -> int | None:
    """Return the layer asked for; None: all."""
    if layer == ALL:
        return None
    try:
        return int(layer)
    except ValueError:
        raise UsageError(f"hf: option layer={layer}: a whole number or all is wanted") from None


def _resolve(asked: int | None, count: int) -> list[int]:
    if asked is None:
        return list(range(count))
    if not -count <= asked < count:
        raise UsageError(
            f"hf: option layer={asked}: the model has the layers 0 (embeddings) to {count - 1}, "
            f"or counted from the end -1 to {-count}"
        )
    return [asked % count]


def _check_installed() -> None:
    try:
        import transformers  # noqa: F401, PLC0415
    except ImportError:
        raise missing_extra("an encoder hf:...", extra="transformers") from None


def _load(directory: Path, *, shown: str, options: HfOptions) -> HfModel:
    with loading(shown):
        from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

        local: dict[str, bool] = {"local_files_only": True, "trust_remote_code": False}
        tokenizer = AutoTokenizer.from_pretrained(directory, **local)
        model, found = AutoModel.from_pretrained(directory, output_loading_info=True, **local)
        _refuse_missing(found["missing_keys"])
        _prepare(tokenizer)
        if model.config.is_encoder_decoder:
            model = model.get_encoder()
    model.config.use_cache = False  # for generating text, and it takes memory
    return HfModel(
        name=shown,
        model=place(
            model, device=options.device or models.usual_device(), precision=options.precision
        ),
        tokenizer=tokenizer,
        limit=_limit(options.max_length, tokenizer, model.config),
        pooling=options.pooling,
        batch=options.batch,
    )


def _refuse_missing(keys: Sequence[str]) -> None:
    """Refuse a model some of whose weights would be random; the pooler's are not used here."""
    missing = sorted(key for key in keys if "pooler" not in key)
    if missing:
        raise ValueError(f"its files lack {len(missing)} of its weights, such as {missing[0]}")


def _prepare(tokenizer: Any) -> None:
    """Have the padding on the right, where positions do not depend on it, and allow it at all."""
    tokenizer.padding_side = "right"
    if tokenizer.pad_token is None:  # any will do, as it is masked
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)


def _limit(asked: int, tokenizer: Any, config: Any) -> int | None:
    """Return how many tokens of a sentence to read; None: any number."""
    positions: int | None = getattr(config, "max_position_embeddings", None)
    if asked and positions and asked > positions:
        raise UsageError(f"hf: option max_length={asked}: the model has {positions} positions")
    own = tokenizer.model_max_length
    return asked or (own if own < NO_LIMIT else positions)
