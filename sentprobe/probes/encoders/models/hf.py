"""The encoder ``hf:``: hidden states of a transformers model, pooled over all tokens or read at one token."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from sentprobe.common.errors import UsageError, first_line, format_count, suggest
from sentprobe.common.specs import Spec, check_distinct, read_options
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.encoders.encoder import Capabilities, EncoderError, Vectors, digest, missing_extra
from sentprobe.probes.encoders.models import model_loading as loading
from sentprobe.probes.encoders.models import model_parts
from sentprobe.probes.encoders.models.chat_template import ChatFrame, render_chat_frame
from sentprobe.probes.encoders.models.model_parts import (
    POOLINGS,
    GrammarWords,
    Pooling,
    WordFinder,
    WordIndices,
    open_table_words,
    pool_states,
)

SENTENCE = "{sentence}"
"""The part of the option ``prompt`` that the sentence replaces."""
EOS = "eos"
"""The value of the option ``pool`` that reads the state of the end token."""
ALL_LAYERS = "all"
"""The value of the option ``layer`` that makes one encoder for each layer."""
TOKENS_PER_SENTENCE = 64
"""On a GPU, a batch of N sentences is one of N times as many tokens: more short sentences, fewer long ones."""
MAX_STORED_BYTES = 2**31
"""Maximum memory, in bytes, for vectors of layers that have not been requested yet."""


@dataclass(frozen=True, slots=True)
class HfOptions:
    """The options of the encoder ``hf:``, in the order in which an error message lists them."""

    precision: loading.ModelPrecision = loading.ModelPrecision.FLOAT32
    bits: int = 0
    """Number of bits, 4 or 8, to which weights are quantized; 0: no quantization."""
    device: str = ""
    """A PyTorch device; empty: a GPU if there is one, else the CPU."""
    device_map: str = ""
    """The argument ``device_map`` of transformers, such as ``auto``, which spreads a model over devices."""
    layer: str = "-1"
    """0 for the embeddings, 1 for the output of the first block, -1 for the last; ``all``: one encoder per layer."""
    part: model_parts.ModelPart = model_parts.ModelPart.RESIDUAL
    pool: str = ""
    """Pooling methods or named tokens, separated by commas; empty: ``last`` for a causal model, else ``mean``."""
    absent: str = ""
    """The pooling method for sentences that lack the named token; empty: such a sentence is an error."""
    table: str = ""
    """The folder of an analysed table, in which named tokens are looked up; empty: sentences are parsed."""
    lexicon: str = ""
    """The lexicon file that sentences are parsed with; empty: the built-in lexicon."""
    language: str = ENGLISH.code
    """The language of the parsed sentences."""
    prompt: str = ""
    chat: bool = False
    """Whether the sentence is put into the model's chat template, as a user's message."""
    max_length: int = 0
    """Maximum number of tokens per sentence; 0: the limit of the model."""
    revision: str = ""
    """A branch, tag or commit on the Hugging Face hub."""
    batch: int = 32


class FramedText(NamedTuple):
    """A sentence, the text that contains it, and the index in the text at which the sentence starts."""

    sentence: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class TextFrame:
    """Puts a sentence into a prompt and a chat template, and appends an end token."""

    tokenizer: Any
    prompt: str = SENTENCE
    chat: ChatFrame | None = None
    """The text that the chat template puts around a message; None: there is no chat template."""
    end: str = ""
    """The end token to append; empty if no vector is read at an end token, or if the tokenizer appends it."""

    def tokenize(self, texts: list[str], **settings: Any) -> Any:
        """Return the tokenizer's output for texts that already have the prompt, chat template and end token."""
        # A chat template has its own special tokens.
        return self.tokenizer(texts, **({"add_special_tokens": False} if self.chat else {}), **settings)

    def add_to(self, sentence: str) -> FramedText:
        """Return a sentence in its prompt and chat template."""
        before, _, after = self.prompt.partition(SENTENCE)
        text, start = before + sentence + after, len(before)
        if self.chat:
            message = text.strip()  # most templates strip messages
            start += len(self.chat.before) - (len(text) - len(text.lstrip()))
            text = self.chat.before + message + self.chat.after
        return FramedText(sentence, text + self.end, start)


class StatePlace(NamedTuple):
    """Where a sentence vector comes from: a layer, and a pooling method (``mean``) or a named token (``verb``)."""

    layer: int
    pool: str


@dataclass(frozen=True, slots=True)
class HfModel:
    """A transformers model with its tokenizer; encodes sentences with several layers and pooling methods at once."""

    name: str
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    limit: int | None
    batch: int
    frame: TextFrame = field(repr=False)
    words: WordFinder = field(repr=False)
    absent: Pooling | None = None
    """The pooling method for sentences that lack the named token; None: such a sentence is an error."""
    modules: Sequence[Any] = field(default=(), repr=False)
    """The attention or MLP modules whose outputs are read, one per block; empty: the residual stream is read."""
    end_token: int | None = None
    truncated_candidates: set[str] = field(default_factory=set, repr=False)
    """The sentences encoded so far that may have been truncated, since they reached the token limit."""
    absences: set[tuple[str, str]] = field(default_factory=set, repr=False)
    """Pairs of a named token and a sentence without this token, for the sentences encoded so far."""

    def count_layers(self) -> int:
        """Return the number of layers, including the embeddings."""
        count = len(self._compute_states([self.frame.add_to("a")])[0])
        self.truncated_candidates.clear()  # the sentence is not the user's
        return count

    def encode(self, sentences: Sequence[str], *, places: Sequence[StatePlace]) -> Vectors:
        """Return the vectors of n sentences for each layer and pooling method, (n, places, dim) float32."""
        chunks = self._divide_into_batches(sentences)
        are_words_needed = any(self.words.has_name(place.pool) for place in places)
        words = self.words.find_words(sentences) if are_words_needed else [{}] * len(sentences)
        parts = [
            self._encode_batch([self.frame.add_to(sentences[i]) for i in rows], [words[i] for i in rows], places)
            for rows in chunks
        ]
        if parts[0].device.type != "cpu":  # one copy at the end, since the program waits for each
            parts = [*torch.split(torch.cat(parts).cpu(), [len(rows) for rows in chunks])]
        out = np.empty((len(sentences), *parts[0].shape[1:]), dtype=np.float32)
        for rows, part in zip(chunks, parts, strict=True):
            out[rows] = part.numpy()
        return out

    def _divide_into_batches(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the sentences' numbers in batches of similar length, so that little of a batch is padding."""
        if not self.fills_batches:
            order = sorted(range(len(sentences)), key=lambda row: len(sentences[row]))
            return [order[start : start + self.batch] for start in range(0, len(order), self.batch)]
        texts = [self.frame.add_to(sentence).text for sentence in sentences]
        with loading.report_encoding_errors(self.name):
            rows = self.frame.tokenize(texts, truncation=self.limit is not None, max_length=self.limit)["input_ids"]
        return divide_by_tokens([*map(len, rows)], limit=self.batch * TOKENS_PER_SENTENCE)

    @property
    def fills_batches(self) -> bool:
        """Whether a batch has as many sentences as fit its number of tokens: on a GPU, which needs large batches."""
        return bool(self.model.device.type != "cpu")

    def count_truncated(self, sentences: Sequence[str]) -> int | None:
        """Return how many sentences exceed the token limit, counting the tokens of the prompt and chat template."""
        texts = [self.frame.add_to(sentence).text for sentence in sentences]
        return loading.count_truncated(texts, self.frame.tokenize, limit=self.limit)

    def _encode_batch(
        self, framed: Sequence[FramedText], words: Sequence[WordIndices], places: Sequence[StatePlace]
    ) -> Tensor:
        states, tokens = self._compute_states(framed)
        mask = tokens["attention_mask"]
        if self.frame.end:  # pooling leaves out the appended end token, the last of its row; only pool=eos reads it
            ends = mask & (tokens["input_ids"] == self.end_token)
            mask = mask & ~(ends & (ends.flip(1).cumsum(dim=1).flip(1) == 1))
        pools = dict.fromkeys(place.pool for place in places if place.pool not in POOLINGS)
        indices = {pool: self.find_tokens(pool, framed, words, tokens) for pool in pools}
        try:
            pooled = [self._pool(states[place.layer], mask, place.pool, indices).to(mask.device) for place in places]
            return torch.stack(pooled, dim=1)
        except (IndexError, RuntimeError) as error:
            raise EncoderError(
                f"the layers of {self.name} do not all have one vector of the same width per token: {first_line(error)}"
            ) from error

    def _pool(self, states: Tensor, mask: Tensor, pool: str, indices: Mapping[str, Tensor]) -> Tensor:
        """Return sentence vectors, (batch, dim), from a layer's hidden states, (batch, time, dim)."""
        mask = mask.to(states.device)
        if pool not in indices:
            return pool_states(states, mask, pooling=Pooling(pool))
        index = indices[pool].to(states.device)
        vectors = states[torch.arange(len(states), device=states.device), index.clamp(min=0)].float()
        if self.absent is None:
            return vectors
        return torch.where(index[:, None] < 0, pool_states(states, mask, pooling=self.absent), vectors)

    def find_tokens(self, pool: str, framed: Sequence[FramedText], words: Sequence[WordIndices], tokens: Any) -> Tensor:
        """Return for each text the index of one token, (batch,) int64, or -1 if the text lacks this token.

        The token is the end token if *pool* is EOS, else the last token of the word named *pool*, such as "verb".
        """
        mask = tokens["attention_mask"].bool()
        if pool == EOS:
            matches = mask & (tokens["input_ids"] == self.end_token)
        else:
            ends = []  # the index in each text at which the named word ends; 0 matches no token
            for text, row in zip(framed, words, strict=True):
                word_ends = [match.end() for match in re.finditer(r"\S+", text.sentence)]
                ends.append(text.start + word_ends[row[pool]] if pool in row else 0)
            end = torch.tensor(ends, device=mask.device)[:, None]
            first, last = tokens["offset_mapping"].unbind(dim=2)
            matches = mask & (first < end) & (last >= end)
        index = torch.where(matches, torch.arange(mask.shape[1], device=mask.device), -1).amax(dim=1)
        absent = (index < 0).nonzero()[:, 0].tolist()
        self.absences.update((pool, framed[row].sentence) for row in absent)
        if absent and self.absent is None:
            sentence, sentence_words = framed[absent[0]].sentence, words[absent[0]]
            is_cut = pool == EOS or pool in sentence_words
            place = f" in the first {self.limit} tokens" if is_cut else "" if sentence_words else self.words.source
            raise EncoderError(
                f"{self.name}: the sentence {sentence!r} has no {pool}{place}; absent=last reads the last token instead"
            )
        return index

    def _compute_states(self, framed: Sequence[FramedText]) -> tuple[Sequence[Tensor], Any]:
        """Return the states of each layer, (batch, time, dim), and the tokenizer's output."""
        with loading.report_encoding_errors(self.name), model_parts.record_outputs(self.modules) as outputs:
            tokens = self.tokenize(framed)
            states = self.run(tokens).hidden_states
            if self.modules:  # no module computes layer 0, so the embeddings fill its place
                states = [states[0], *(output.reshape(*tokens["input_ids"].shape, -1) for output in outputs)]
            return states, tokens

    def tokenize(self, framed: Sequence[FramedText]) -> Any:
        """Return the tokenizer's output for a batch, on the model's device. Raises EncoderError for an empty text."""
        tokens = self.frame.tokenize(
            [text.text for text in framed], padding=True,
            truncation=self.limit is not None, max_length=self.limit,
            return_offsets_mapping=self.tokenizer.is_fast, return_tensors="pt",
        )  # fmt: skip
        for text, length in zip(framed, tokens["attention_mask"].sum(dim=1).tolist(), strict=True):
            if not length:
                raise EncoderError(f"{self.name} finds no token in the sentence {text.sentence!r}")
            if self.limit and length >= self.limit:
                self.truncated_candidates.add(text.sentence)
        # After the check, since reading from a GPU makes it wait.
        return {name: _send_to_device(values, self.model.device) for name, values in tokens.items()}

    def run(self, tokens: Any) -> Any:
        """Return the model's output for the tokenizer's, with the hidden states of each layer."""
        inputs = {name: values for name, values in tokens.items() if name != "offset_mapping"}
        with torch.inference_mode():
            return self.model(**inputs, output_hidden_states=True)


def divide_by_tokens(lengths: Sequence[int], *, limit: int) -> list[list[int]]:
    """Divide texts, given their numbers of tokens, into batches of at most *limit* tokens, padding included.

    Texts come in the order of their length. A longer text than *limit* has a batch of its own.

    >>> divide_by_tokens([4, 9, 2, 3], limit=9)
    [[2, 3], [0], [1]]
    """
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batches and (len(batches[-1]) + 1) * lengths[row] <= limit:
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches


def _send_to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy a tensor to a device; with an NVIDIA GPU, the program continues during the copy."""
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


class LayerStore:
    """Encodes each sentence once for all layers and pooling methods, and stores the vectors for later requests.

    Request the *places* (pairs of layer and pooling method) in order: a request for the last place removes the stored
    vectors of the requested sentences. Vectors that do not fit in *max_bytes* are computed again.
    """

    def __init__(self, model: HfModel, places: Sequence[StatePlace], *, max_bytes: int = MAX_STORED_BYTES) -> None:
        self.model = model
        self._places = tuple(places)
        self._max_bytes = max_bytes
        self._stored: dict[str, Vectors] = {}  # (places, dim) each

    def list_notes(self, pool: str) -> tuple[str, ...]:
        """Return notes for the user on layers that see little but the last word, and on cut or unsuitable sentences.

        A sentence is cut at the token limit; it is unsuitable if it lacks the token that *pool* names.
        """
        texts, limit = self.model.truncated_candidates, self.model.limit
        notes = []
        has_layers = len({place.layer for place in self._places}) > 1
        if pool == Pooling.LAST and has_layers and is_causal(self.model.model.config):
            notes.append(
                f"{self.model.name} is a causal model, and its vectors are states of the last token: figures at low "
                "layers tell the last word, and at layer 0 only this and its place; pool=mean averages over all tokens"
            )
        if texts:
            notes.append(
                f"{len(texts)} sentences have {limit} tokens or more; later tokens were not read, as in {min(texts)!r}"
            )
        if absent := [sentence for name, sentence in self.model.absences if name == pool]:
            count = format_count(len(absent), "sentence")
            notes.append(f"{count} without {pool}, pooled by {self.model.absent} instead, such as {min(absent)!r}")
        return tuple(notes)

    def encode(self, sentences: Sequence[str], *, place: StatePlace) -> Vectors:
        """Return the vectors for the layer and pooling method *place*, (n, dim) float32."""
        distinct = list(dict.fromkeys(sentences))
        new = [sentence for sentence in distinct if sentence not in self._stored]
        vectors = {sentence: self._stored[sentence] for sentence in distinct if sentence in self._stored}
        if new:
            vectors |= dict(zip(new, self.model.encode(new, places=self._places), strict=True))
        number = self._places.index(place)
        out = np.stack([vectors[sentence][number] for sentence in sentences])
        for sentence in distinct:
            # The encoders of a model ask in the order of its places: after the last, no one needs the states.
            if place == self._places[-1]:
                self._stored.pop(sentence, None)
            elif (len(self._stored) + 1) * vectors[sentence].nbytes <= self._max_bytes:
                self._stored.setdefault(sentence, vectors[sentence].copy())  # not a view of the whole batch
        return out


@dataclass(frozen=True, slots=True)
class HfEncoder:
    """An encoder that reads one layer of a model, pooled or at one token (for example the verb: ``pool=verb``)."""

    name: str
    fingerprint: str
    place: StatePlace
    family: str
    """The encoder's name without the layer."""
    store: LayerStore = field(repr=False, compare=False)

    @property
    def capabilities(self) -> Capabilities:
        """Layer, pooling method, family, notes, and the function that counts truncated sentences."""
        return Capabilities(
            layer=self.place.layer,
            position=self.place.pool,
            family=self.family,
            notes=self.store.list_notes(self.place.pool),
            count_truncated=self.store.model.count_truncated,
        )

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""
        return self.store.encode(sentences, place=self.place)


def load_hf(spec: Spec, *, predicts_words: bool = False) -> list[HfEncoder]:
    """Return an encoder for each layer and pooling method of ``hf:MODEL``. Raises UsageError or EncoderError.

    - predicts_words: load a causal language model with the layer that predicts the next token
    """
    options = read_options(spec, HfOptions())
    check_layer(options.layer)
    if find_spec("transformers") is None:
        raise missing_extra("an encoder hf:...", "transformers")
    if options.prompt and options.prompt.count(SENTENCE) != 1:
        raise UsageError(f"hf: option prompt={options.prompt}: it must contain {SENTENCE} once")
    if options.absent not in ("", *Pooling):
        raise UsageError(f"hf: option absent={options.absent}: one of {', '.join(Pooling)} is expected")
    words = _open_words(options)
    requested_pools = _parse_pools(options.pool, words)
    settings = _make_loading_settings(options)
    directory, content = loading.find_model(spec.argument, revision=options.revision)
    if predicts_words:
        with loading.report_loading_errors(spec.argument):
            config = loading.load_from_folder("AutoConfig", directory)
        if not is_causal(config):
            raise UsageError(f"{spec.argument} is no causal language model, which predicts the next word")
    kind = "AutoModelForCausalLM" if predicts_words else "AutoModel"
    loaded = loading.load_pretrained(directory, model_name=spec.argument, kind=kind, settings=settings)
    model = _make_model(loaded, spec.argument, options, pools=requested_pools, words=words)
    pools = requested_pools or [Pooling.LAST if is_causal(model.model.config) else Pooling.MEAN]
    layers = resolve_layers(options.layer, model.count_layers(), first=1 if model.modules else 0)
    places = [StatePlace(layer, pool) for pool, layer in product(pools, layers)]
    store = LayerStore(model, places)
    fixed: tuple[object, ...] = (
        *(content, options.part, options.precision, options.bits, model.limit, options.prompt, options.chat),
        *(options.absent, words.content),
    )
    if model.frame.end and not is_causal(model.model.config):
        fixed += (model.frame.end,)  # all tokens attend to the appended one
    bare = replace(spec, options=tuple(pair for pair in spec.options if pair[0] != "layer"))
    encoders = []
    for place in places:
        pool = place.pool if len(pools) > 1 else ""
        name = _format_name(bare, pool, place.layer) if options.layer == ALL_LAYERS else _format_name(spec, pool)
        key = digest("hf", *fixed, place.layer, place.pool)
        encoders.append(HfEncoder(name, key, place, _format_name(bare, pool), store))
    return encoders


def _make_loading_settings(options: HfOptions) -> dict[str, Any]:
    """Return ``from_pretrained`` arguments that quantize or distribute a model. Raises UsageError or EncoderError."""
    if options.device and options.device_map:
        raise UsageError(f"hf: options device={options.device} and device_map={options.device_map}: choose one")
    if options.bits not in {0, 4, 8}:
        raise UsageError(f"hf: option bits={options.bits}: 4 or 8 is expected")
    needed = ["bitsandbytes"] * bool(options.bits) + ["accelerate"] * bool(options.bits or options.device_map)
    if missing := [library for library in needed if find_spec(library) is None]:
        option = f"bits={options.bits}" if options.bits else f"device_map={options.device_map}"
        raise EncoderError(f"hf: option {option} needs: pip install {' '.join(missing)}")
    if not needed:
        return {}
    dtype = getattr(torch, options.precision)
    device_map = options.device_map or {"": options.device or loading.find_default_device()}
    settings: dict[str, Any] = {"device_map": device_map, "dtype": dtype}
    if options.bits:
        from transformers import BitsAndBytesConfig

        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # else it warns about each product in float32
        size = {"load_in_8bit": True} if options.bits == 8 else {"load_in_4bit": True, "bnb_4bit_compute_dtype": dtype}
        make: Any = BitsAndBytesConfig  # its annotations are incomplete
        settings["quantization_config"] = make(**size)
    return settings


def is_causal(config: Any) -> bool:
    """Return whether a configuration is that of a causal language model, which reads from left to right."""
    from transformers.models.auto import modeling_auto as auto

    is_decoder = config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return is_decoder and config.model_type not in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES


def _format_name(spec: Spec, pool: str, layer: int | None = None) -> str:
    """Return the name of an encoder, such as ``hf:gpt2?layer=3&pool=mean``, with *pool* and *layer* if they are set."""
    if spec.label is not None:
        return spec.label + (f" at {pool}" if pool else "") + ("" if layer is None else f", layer {layer}")
    options = tuple((key, pool if pool and key == "pool" else value) for key, value in spec.options)
    return str(replace(spec, options=options if layer is None else (("layer", str(layer)), *options)))


def _open_words(options: HfOptions) -> WordFinder:
    if options.table and (options.lexicon or options.language != ENGLISH.code):
        name = "lexicon" if options.lexicon else "language"
        raise UsageError(f"hf: option {name}= is for the grammar; leave it out with table=")
    if options.table:
        return open_table_words(Path(options.table).expanduser())
    path = Path(options.lexicon).expanduser() if options.lexicon else None
    lexicon = load_lexicon(path, options.language)
    language_code = b"" if lexicon.language is ENGLISH else options.language.encode()
    return GrammarWords(lexicon, language_code + (path.read_bytes() if path else b""))


def _parse_pools(text: str, words: WordFinder) -> list[str]:
    """Return the pooling methods and named tokens in the option ``pool``. Raises UsageError."""
    pools = text.split(",") if text else []
    pool_names = (*map(str, Pooling), EOS, *words.names)
    for pool in pools:
        if pool not in pool_names and not words.has_name(pool):
            hint = suggest(pool, pool_names)
            raise UsageError(f"hf: option pool={pool}: one of {', '.join(pool_names)} is expected{hint}")
    if pools:
        check_distinct("pooling", pools)
    return pools


LAYER_OPTION = "hf: option layer="


def check_layer(option: str, *, name: str = LAYER_OPTION) -> None:
    """Raise UsageError unless *option* is a whole number or all."""
    if option != ALL_LAYERS and not re.fullmatch("-?[0-9]{1,9}", option):
        raise UsageError(f"{name}{option}: a whole number or all is expected")


def resolve_layers(option: str, count: int, *, first: int, name: str = LAYER_OPTION) -> list[int]:
    """Return the numbers of the layers that *option* names: all, or one of *count*. *name*: the option in messages."""
    if option == ALL_LAYERS:
        return list(range(first, count))
    requested_layer = int(option)
    layer = requested_layer + (count if requested_layer < 0 else 0)
    if not first <= layer < count:
        raise UsageError(
            f"{name}{requested_layer}: the model has the layers {first}{'' if first else ' (embeddings)'} "
            f"to {count - 1}, or counted from the end -1 to {first - count}"
        )
    return [layer]


def _make_model(
    loaded: tuple[Any, Any], name: str, options: HfOptions, *, pools: Sequence[str], words: WordFinder
) -> HfModel:
    """Prepare a loaded model and tokenizer to encode sentences. Raises UsageError or EncoderError."""
    model, tokenizer = loaded
    if not tokenizer.is_fast and any(map(words.has_name, pools)):
        raise EncoderError(f"the tokenizer of {name} does not report the place of each token in the text")
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    if not (options.bits or options.device_map):  # such models are on their devices already
        device = options.device or loading.find_default_device()
        model = loading.move_to_device(model, device=device, precision=options.precision)
    if options.chat and not tokenizer.chat_template:
        raise UsageError(f"hf: option chat=yes: the tokenizer of {name} has no chat template")
    chat = render_chat_frame(tokenizer, name=name) if options.chat else None
    frame = TextFrame(tokenizer, options.prompt or SENTENCE, chat)
    end_token, end = _find_end_token(frame, name=name) if EOS in pools else (None, "")
    return HfModel(
        name=name,
        model=model,
        tokenizer=tokenizer,
        limit=loading.find_token_limit(options.max_length, tokenizer, model.config),
        batch=options.batch,
        frame=replace(frame, end=end),
        words=words,
        absent=Pooling(options.absent) if options.absent else None,
        modules=model_parts.find_part_modules(model, options.part, name=name),
        end_token=end_token,
    )


def _find_end_token(frame: TextFrame, *, name: str) -> tuple[int, str]:
    """Return the end token's id and text. The text is "" if texts already end with the token. Raises UsageError."""
    tokenizer = frame.tokenizer
    last = frame.tokenize([frame.add_to("a").text])["input_ids"][0][-1]
    if last in {tokenizer.eos_token_id, tokenizer.sep_token_id} - {None}:
        return last, ""
    if tokenizer.eos_token_id is None:
        raise UsageError(f"hf: option pool=eos: the tokenizer of {name} has no end token")
    return tokenizer.eos_token_id, tokenizer.eos_token
