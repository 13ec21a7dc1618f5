"""The encoder ``st:``, which loads a model of the package sentence-transformers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from sentprobe.common.errors import UsageError, suggest
from sentprobe.common.specs import Spec, read_options
from sentprobe.probes.encoders.encoder import Capabilities, Vectors, check_vectors, digest, missing_extra
from sentprobe.probes.encoders.models import model_loading as loading

MODEL_OWNERS = ("sentence-transformers/", "")
"""Prefixes that are tried for a model name without an organisation, as sentence-transformers does."""


@dataclass(frozen=True, slots=True)
class SentenceTransformerOptions:
    """The options of the encoder ``st:``."""

    prompt: str = ""
    """Text that is put before each sentence."""
    prompt_name: str = ""
    """The name of one of the model's prompts; empty: the model's default prompt."""
    normalize: bool = False
    """Whether to scale each vector to length 1, after ``dim`` is applied."""
    dim: int = 0
    """Number of leading dimensions of the vectors to keep; 0: all."""
    precision: loading.ModelPrecision = loading.ModelPrecision.FLOAT32
    max_length: int = 0
    """Maximum number of tokens per sentence; 0: the limit of the model."""
    revision: str = ""
    """A branch, tag or commit on the Hugging Face hub."""
    batch: int = 32
    device: str = ""
    """A PyTorch device; empty: the device that sentence-transformers chooses."""


@dataclass(frozen=True, slots=True)
class SentenceTransformerEncoder:
    """An encoder that uses a sentence-transformers model."""

    name: str
    fingerprint: str
    model: Any
    prompt: str
    options: SentenceTransformerOptions

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32, cut and normalized as the options say."""
        with loading.report_encoding_errors(self.name):
            output = self.model.encode(
                list(sentences), prompt=self.prompt, batch_size=self.options.batch, show_progress_bar=False
            )
        vectors = check_vectors(output, sentences=sentences, encoder=self.name)
        if self.options.dim:
            vectors = np.ascontiguousarray(vectors[:, : self.options.dim])
        if self.options.normalize:
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = np.divide(vectors, np.where(lengths > 0, lengths, 1), dtype=np.float32)  # zeros stay zeros
        return vectors

    @property
    def capabilities(self) -> Capabilities:
        """The encoder's only optional capability: it can count truncated sentences."""
        return Capabilities(count_truncated=self.count_truncated)

    def count_truncated(self, sentences: Sequence[str]) -> int | None:
        """Return how many sentences, with the prompt, exceed the model's token limit; None if unknown."""
        limit = getattr(self.model, "max_seq_length", None)
        tokenizer = getattr(self.model, "tokenizer", None)
        return loading.count_truncated(sentences, tokenizer, limit=limit, prompt=self.prompt)


def load_sentence_transformer(spec: Spec) -> SentenceTransformerEncoder:
    """Return the encoder of a spec ``st:MODEL``. Raises UsageError or EncoderError."""
    options = read_options(spec, SentenceTransformerOptions())
    if find_spec("sentence_transformers") is None:
        raise missing_extra("an encoder st:...", "sentence-transformers")
    directory, content = loading.find_model(
        spec.argument, revision=options.revision, required_file="modules.json", owners=MODEL_OWNERS
    )
    with loading.report_loading_errors(spec.argument):
        device = options.device and "cpu"  # for now: move_to_device reports an unknown device
        model = loading.load_from_folder("SentenceTransformer", directory, device=device or None)
        if options.max_length:
            model.max_seq_length = options.max_length
        methods = ("get_embedding_dimension", "get_sentence_embedding_dimension")  # in new and in old versions
        width: int | None = getattr(model, next(name for name in methods if hasattr(model, name)))()
    if options.dim and width and options.dim > width:
        raise UsageError(f"st: option dim={options.dim}: the model's vectors have {width} numbers")
    model = loading.move_to_device(model, device=options.device, precision=options.precision)
    prompt = _choose_prompt(options, model.prompts, default=model.default_prompt_name)
    modules = [type(module).__name__ for module in model]
    # Batch size and device are left out: they affect the vectors by rounding only.
    settings = (options.normalize, options.dim, options.precision, getattr(model, "max_seq_length", None))
    fingerprint = digest("st", content, modules, prompt, *settings)
    return SentenceTransformerEncoder(spec.name, fingerprint, model, prompt, options)


def _choose_prompt(options: SentenceTransformerOptions, prompts: Mapping[str, str], *, default: str | None) -> str:
    nonempty_prompts = {name: text for name, text in prompts.items() if text}
    if options.prompt and options.prompt_name:
        raise UsageError("st: use only one of the options prompt and prompt_name")
    if options.prompt in nonempty_prompts:
        raise UsageError(
            f"st: {options.prompt!r} is the name of a prompt of this model: write "
            f"prompt_name={options.prompt}, or the prompt's text as prompt="
        )
    name = options.prompt_name or default or ""
    if options.prompt or not name:
        return options.prompt
    # The package gives empty prompts to models without prompts.
    if not nonempty_prompts or name not in prompts:
        listed = ", ".join(nonempty_prompts) or "none"
        raise UsageError(
            f"this model has no prompt named {name!r}{suggest(name, nonempty_prompts)}; its prompts: {listed}"
        )
    return prompts[name]
