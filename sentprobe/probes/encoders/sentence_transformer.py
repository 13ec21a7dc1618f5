"""Encoders from the sentence-transformers package, which is imported when one is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.encoders.models import (
    ModelFiles,
    ModelPrecision,
    find_model,
    loading,
    place,
    using,
)
from sentprobe.probes.encoders.protocol import Vectors, check_vectors, digest, missing_extra
from sentprobe.probes.encoders.truncation import count_truncated
from sentprobe.specs import Spec, read_options
from sentprobe.values import BadSyntaxError, parse_json

OWNERS = ("sentence-transformers/", "")
"""Where a model's name without an organisation is looked for, as the package itself does."""


@dataclass(frozen=True, slots=True)
class SentenceTransformerOptions:
    """Options of ``st:``."""

    prompt: str = ""
    """Text put before each sentence."""
    prompt_name: str = ""
    """One of the prompts that come with the model, by its name; neither: the model's default."""
    normalize: bool = False
    """Whether to bring each vector to length 1 (after ``dim``)."""
    dim: int = 0
    """How many leading numbers of a vector to keep; 0: all."""
    precision: ModelPrecision = ModelPrecision.FLOAT32
    max_length: int = 0
    """How many tokens of a sentence count; 0: the model's own limit."""
    revision: str = ""
    """A branch, tag or commit on the hub."""
    batch: int = 32
    device: str = ""
    """A PyTorch device; empty: what sentence-transformers chooses."""


class SentenceTransformerEncoder:
    """A sentence-transformers model behind the encoder protocol."""

    def __init__(
        self, model: Any, *, name: str, fingerprint: str, prompt: str,
        options: SentenceTransformerOptions,
    ) -> None:  # fmt: skip
        self.name = name
        self.fingerprint = fingerprint
        self._model = model
        self._prompt = prompt
        self._options = options

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the model's vectors, (n, dim) float32, cut and normalised as asked for."""
        with using(self.name):
            found = self._model.encode(
                list(sentences),
                prompt=self._prompt,
                batch_size=self._options.batch,
                show_progress_bar=False,
            )
        vectors = check_vectors(found, sentences=sentences, encoder=self.name)
        if self._options.dim:
            vectors = np.ascontiguousarray(vectors[:, : self._options.dim])
        return _normalized(vectors) if self._options.normalize else vectors

    def truncated(self, sentences: Sequence[str]) -> int | None:
        """Return how many of the sentences have more tokens than are read."""
        limit = getattr(self._model, "max_seq_length", None)
        tokenizer = getattr(self._model, "tokenizer", None)
        return count_truncated(sentences, tokenizer, limit=limit, prompt=self._prompt)


def load_sentence_transformer(spec: Spec) -> SentenceTransformerEncoder:
    """Load the model that ``st:MODEL?...`` asks for, from a directory, the hub's cache or the hub.

    Code that comes with a model is not run.

    Raises:
        UsageError: an option, or its value, is not known.
        EncoderError: the package is not installed, or there is no such model.
    """
    options = read_options(spec, SentenceTransformerOptions())
    _import()
    files = find_model(
        spec.argument, revision=options.revision, wanted="modules.json", owners=OWNERS
    )
    model = _load(files.directory, shown=spec.argument, options=options)
    prompt = _prompt(options, model.prompts, default=model.default_prompt_name)
    return SentenceTransformerEncoder(
        model,
        name=spec.name,
        fingerprint=_fingerprint(files, model, prompt=prompt, options=options),
        prompt=prompt,
        options=options,
    )


def _import() -> Any:
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    except ImportError:
        raise missing_extra("an encoder st:...", extra="sentence-transformers") from None
    return SentenceTransformer


def _load(directory: Path, *, shown: str, options: SentenceTransformerOptions) -> Any:
    with loading(shown):
        _refuse_foreign_code(directory)
        device = options.device and "cpu"  # an unknown device is reported by place()
        model = _import()(str(directory), device=device or None, local_files_only=True)
        if options.max_length:
            model.max_seq_length = options.max_length
        width = _width(model)
    if options.dim and width and options.dim > width:
        raise UsageError(f"st: option dim={options.dim}: the model's vectors have {width} numbers")
    return place(model, device=options.device, precision=options.precision)


def _refuse_foreign_code(directory: Path) -> None:
    """Refuse a model whose modules are its own code: older versions of the package run it."""
    path = directory / "modules.json"
    try:
        modules = parse_json(path.read_bytes()) if path.exists() else []
    except BadSyntaxError as error:
        raise ValueError(f"modules.json: {error}") from None
    for kind in (str(module["type"]) for module in modules):
        if not kind.startswith("sentence_transformers."):
            raise ValueError(f"it wants code of its own to be run ({kind}), which is not done")


def _width(model: Any) -> int | None:
    """Return the length of the model's vectors, where it can say."""
    names = ("get_embedding_dimension", "get_sentence_embedding_dimension")  # new and old
    known = (name for name in names if hasattr(model, name))
    width: int | None = getattr(model, next(known))()
    return width


def _prompt(
    options: SentenceTransformerOptions, prompts: Mapping[str, str], *, default: str | None
) -> str:
    """Return the text to put before each sentence."""
    known = {name: text for name, text in prompts.items() if text}
    if options.prompt and options.prompt_name:
        raise UsageError("st: give one of the options prompt and prompt_name")
    if options.prompt in known:
        raise UsageError(
            f"st: {options.prompt!r} is the name of a prompt of this model: write "
            f"prompt_name={options.prompt} for it, or the text itself"
        )
    name = options.prompt_name or default or ""
    if options.prompt or not name:
        return options.prompt
    # Models without prompts are given empty ones by the package; those are none.
    if name not in (prompts if known else known):
        listed = ", ".join(known) or "none"
        raise UsageError(
            f"this model has no prompt named {name!r}{suggest(name, known)}; its prompts: {listed}"
        )
    return prompts[name]


def _fingerprint(
    files: ModelFiles, model: Any, *, prompt: str, options: SentenceTransformerOptions
) -> str:
    """Return a digest of all that the vectors depend on: not the batch size, nor the device."""
    modules = [type(module).__name__ for module in model]
    length = getattr(model, "max_seq_length", None)
    return digest(
        "st", files.content, modules, prompt, options.normalize, options.dim, options.precision,
        length,
    )  # fmt: skip


def _normalized(vectors: Vectors) -> Vectors:
    """Return the vectors (n, dim) at length 1; a vector of zeros stays as it is."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, np.where(lengths > 0, lengths, 1), dtype=np.float32)
