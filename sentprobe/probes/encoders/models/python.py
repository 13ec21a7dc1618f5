"""The encoder ``python:``, which calls the user's function or object in one of several styles, such as SentEval's."""

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from secrets import token_hex
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import SentprobeError, UsageError, suggest
from sentprobe.common.processes import is_stop_request
from sentprobe.common.specs import Natural, Spec, read_options
from sentprobe.probes.encoders import encoder
from sentprobe.probes.encoders.models.model_loading import count_truncated

EncodeFunction = Callable[[Sequence[str]], object]
"""A function that takes sentences and returns their vectors as an array of NumPy, PyTorch or another library."""
BATCH = 128


class CallStyle(StrEnum):
    """How a user's function or object is called to encode sentences."""

    AUTO = "auto"
    """Detected from the object's methods and their parameters."""
    FUNCTION = "function"
    """``f(sentences)``, with a list of strings."""
    ENCODE = "encode"
    """``x.encode(sentences)``, as in sentence-transformers."""
    SENTEVAL = "senteval"
    """``prepare(params, samples)``, then ``batcher(params, batch)``, with lists of tokens."""
    MTEB = "mteb"
    """``x.encode(inputs, *, task_metadata, hf_split, hf_subset)``, with batches of dictionaries."""
    MTEB1 = "mteb1"
    """``x.encode(sentences, task_name=...)``, as in MTEB before version 2."""
    DECISION = "decision"
    """``f(cached, new)``: whether an answer for one text is given for the other. Only ``probe gate`` measures it."""


@dataclass(frozen=True, slots=True)
class TaskMetadata:
    """The attributes of an MTEB task that an MTEB encoder may read."""

    name: str = "sentprobe"
    description: str = "Probing of sentence vectors."
    type: str = "Classification"
    category: str = "t2c"
    modalities: tuple[str, ...] = ("text",)
    eval_splits: tuple[str, ...] = ("test",)
    eval_langs: tuple[str, ...] = ("eng-Latn",)
    languages: tuple[str, ...] = ("eng",)
    main_score: str = "accuracy"
    prompt: None = None
    domains: tuple[str, ...] = ()


class Params(dict[str, Any]):
    """SentEval's ``params``: a dictionary whose entries are attributes as well."""

    def __getattr__(self, name: str) -> Any:
        """Return an entry; None if it is missing, as in SentEval."""
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def find_style(model: object) -> CallStyle | None:
    """Detect the call style of an object; return None if it cannot encode sentences."""
    if callable(getattr(model, "batcher", None)):
        return CallStyle.SENTEVAL
    encode = getattr(model, "encode", None)
    if callable(encode):
        try:
            names: Collection[str] = inspect.signature(encode).parameters
        except (TypeError, ValueError):  # functions in C may have no signature
            names = ()
        styles_by_parameter = {"task_metadata": CallStyle.MTEB, "task_name": CallStyle.MTEB1}
        return next((style for parameter, style in styles_by_parameter.items() if parameter in names), CallStyle.ENCODE)
    if not callable(model):
        return None
    return CallStyle.DECISION if _takes_two_texts(model) else CallStyle.FUNCTION


def _takes_two_texts(function: Callable[..., Any]) -> bool:
    """Return whether exactly two positional parameters of a function have no default value."""
    if inspect.isclass(function):
        return False
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # functions in C may have no signature
        return False
    required = [parameter for parameter in parameters if parameter.default is parameter.empty]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len(required) == 2 and all(parameter.kind in positional for parameter in required)


def make_caller(model: Any, style: CallStyle, *, batch: int, seed: int) -> EncodeFunction:
    """Return a function that takes sentences and calls the object in the given style. Raises EncoderError."""
    if style is CallStyle.DECISION:
        raise encoder.EncoderError(
            f"{getattr(model, '__name__', type(model).__name__)} takes two texts, so it is a decision without vectors; "
            "an encoder takes a list of sentences (probe gate measures decisions)"
        )
    if style is CallStyle.SENTEVAL:
        return _make_senteval_caller(model, batch=batch, seed=seed)
    if style is CallStyle.MTEB:
        return _make_mteb_caller(model, batch=batch)
    if style is CallStyle.MTEB1:
        return lambda sentences: model.encode(list(sentences), task_name=TaskMetadata().name)
    if style is CallStyle.ENCODE:
        return lambda sentences: model.encode(list(sentences))
    return lambda sentences: model(list(sentences))


def _make_senteval_caller(model: Any, *, batch: int, seed: int) -> EncodeFunction:
    """Return a function that calls the model's ``prepare`` with all sentences, then its ``batcher`` for each batch.

    Both methods get SentEval's parameters (Conneau & Kiela 2018): default values, or those in the model's attributes
    ``params`` and ``params_senteval``.
    """
    prepare = getattr(model, "prepare", None)
    settings: dict[str, Any] = {
        "task_path": "", "current_task": TaskMetadata().name, "usepytorch": True, "seed": seed,
        "batch_size": batch, "nhid": 0, "kfold": 5, "classifier": {"nhid": 0},
    }  # fmt: skip
    for values in (getattr(model, name, None) for name in ("params", "params_senteval")):
        settings |= values if isinstance(values, dict) else {}

    def call(sentences: Sequence[str]) -> object:
        params = Params(settings)
        samples = [sentence.split() for sentence in sentences]
        if callable(prepare):
            prepare(params, samples)
        parts = [
            convert_to_array(model.batcher(params, samples[start : start + params.batch_size]))
            for start in range(0, len(samples), params.batch_size)
        ]
        return np.concatenate(parts)

    return call


def _make_mteb_caller(model: Any, *, batch: int) -> EncodeFunction:
    def call(sentences: Sequence[str]) -> object:
        from torch.utils.data import DataLoader

        samples: Any = [{"text": sentence} for sentence in sentences]
        return model.encode(
            DataLoader(samples, batch_size=batch, shuffle=False),
            task_metadata=TaskMetadata(),
            hf_split="test",
            hf_subset="default",
            prompt_type=None,
        )

    return call


def convert_to_array(result: Any) -> Any:
    """Convert an encoder's output (tensor, array, or a list of either) to a NumPy array.

    The type bfloat16 becomes float32. Masked values become NaN.
    """
    if hasattr(result, "detach"):
        tensor = result.detach().cpu()
        return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    if isinstance(result, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(result), np.nan, result.data)
    has_arrays = isinstance(result, list | tuple) and any(
        hasattr(part, "detach") or isinstance(part, np.ma.MaskedArray) for part in result
    )
    if has_arrays or isinstance(result, Iterator):
        return np.stack([convert_to_array(part) for part in result])
    return np.asarray(result)


def convert_to_scores(result: Any) -> NDArray[np.float64]:
    """Convert the scores that a function returned to float64; values that are no real numbers become NaN."""
    array = convert_to_array(result)
    with np.errstate(over="ignore"):
        return array.astype(np.float64) if array.dtype.kind in "biuf" else np.full(array.shape, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonOptions:
    """The options of the encoder ``python:``."""

    style: CallStyle = CallStyle.AUTO
    batch: int = BATCH
    """Number of sentences per batch, for the call styles that use batches."""
    version: str = ""
    """The user's version of the encoder, such as ``2``; if it is set, vectors are cached."""
    seed: Natural
    """The seed in SentEval's ``params``; by default, the seed of the run."""


@dataclass(frozen=True, slots=True)
class PythonEncoder:
    """An encoder that calls the user's function or object."""

    name: str
    fingerprint: str
    call: EncodeFunction = field(repr=False, compare=False)
    capabilities: encoder.Capabilities = field(repr=False, compare=False)

    def encode(self, sentences: Sequence[str]) -> encoder.Vectors:
        """Return the vectors that the user's code computes, (n, dim) float32. Raises EncoderError."""
        try:
            vectors = convert_to_array(self.call(sentences))
        except SentprobeError:
            raise
        except (Exception, SystemExit) as error:
            if is_stop_request(error):
                raise
            raise encoder.EncoderError(f"encoder {self.name} raised {_format_exception(error)}") from error
        return encoder.check_vectors(vectors, sentences=sentences, encoder=self.name)


def build_python(spec: Spec, *, seed: int) -> PythonEncoder:
    """Return the encoder of a spec ``python:module`` or ``python:module:attribute``. Raises UsageError or EncoderError.

    The module is looked for in the working directory first, then among installed modules. A class is instantiated
    without arguments.
    """
    options = read_options(spec, PythonOptions(seed=Natural(seed)))
    module, model = load_object(spec)
    style = find_style(model) if options.style is CallStyle.AUTO else options.style
    if style is None:
        problem = f"the module has no function encode or batcher; name one, as in python:{spec.argument}:function"
        if attribute := spec.argument.partition(":")[2]:
            problem = f"{attribute} is neither a function nor an object with encode or batcher"
            problem += "; the documentation describes the encoder python:"
        raise encoder.EncoderError(f"{spec}: {problem}")
    stated = encoder.read_fingerprint(model)
    content = stated or _digest_source(module)
    seeded = options.seed if style is CallStyle.SENTEVAL else ""
    return PythonEncoder(
        name=spec.name,
        fingerprint=encoder.digest("python", spec.argument, style, options.version, seeded, content),
        call=make_caller(model, style, batch=options.batch, seed=options.seed),
        capabilities=encoder.Capabilities(
            cacheable=encoder.read_attributes(model, cacheable=bool(stated or options.version)).cacheable,
            # SentEval's ``prepare`` may need all sentences, for example to count words.
            needs_all_sentences=style is CallStyle.SENTEVAL,
            seed=options.seed if style is CallStyle.SENTEVAL else None,
            count_truncated=find_truncation_counter(model),
        ),
    )


def load_object(spec: Spec) -> tuple[ModuleType, Any]:
    """Import the module of a spec; return it and the object that the spec names. Raises UsageError or EncoderError.

    If the spec names a class, the object is an instance of it.
    """
    module_name, _, attribute = spec.argument.partition(":")
    module = _import_module(module_name, spec=spec)
    value: Any = module
    for name in attribute.split(".") if attribute else ():
        if not hasattr(value, name):
            owner = getattr(value, "__name__", type(value).__name__)
            raise UsageError(f"{owner} has no attribute {name!r}{suggest(name, dir(value))}")
        value = getattr(value, name)
    if not inspect.isclass(value):
        return module, value
    try:
        return module, value()
    except (Exception, SystemExit) as error:
        if is_stop_request(error):
            raise
        problem = f"calling {value.__name__}() without arguments raised {_format_exception(error)}"
        raise encoder.EncoderError(f"{spec}: {problem}") from error


def wrap_encoder(
    model: Callable[..., Any] | object, *, name: str, fingerprint: str = "", cacheable: bool | None = None
) -> PythonEncoder:
    """Return an encoder that calls *model*: a function of a list of sentences, or an object with ``encode``.

    Objects that follow SentEval's or MTEB's conventions are recognized, too.

    - fingerprint: a text that changes whenever the vectors do, such as a digest of the weights. Without it, a resumed
      run identifies the encoder by name and source file, so it does not notice new weights. In an interactive
      session, which has no source file, a resumed run encodes again
    - cacheable: whether vectors are cached; None: only if there is a fingerprint

    Raises:
        EncoderError: the object cannot encode sentences.

    >>> wrap_encoder(lambda texts: [[float(len(t))] for t in texts], name="length").encode(["a b"])
    array([[3.]], dtype=float32)
    """
    style = find_style(model)
    if style is None:
        raise encoder.EncoderError(f"{name}: a {type(model).__name__} is neither a function nor an object with encode")
    module_name = getattr(model, "__module__", None) or type(model).__module__
    return PythonEncoder(
        name=name,
        fingerprint=encoder.digest(
            "wrapped", name, style, fingerprint or _digest_source(sys.modules.get(module_name)) or token_hex()
        ),
        call=make_caller(model, style, batch=BATCH, seed=0),
        capabilities=encoder.Capabilities(
            cacheable=bool(fingerprint) if cacheable is None else cacheable,
            needs_all_sentences=style is CallStyle.SENTEVAL,
            count_truncated=find_truncation_counter(model),
        ),
    )


def find_truncation_counter(model: Any) -> encoder.TruncationCounter | None:
    """Return a function that counts the sentences that a user's encoder truncates; None if they cannot be counted."""
    if counter := encoder.read_attributes(model).count_truncated:
        return counter
    libraries = (parent.__module__.partition(".")[0] for parent in type(model).__mro__)
    if "sentence_transformers" not in libraries:
        return None
    prompt = (model.prompts or {}).get(model.default_prompt_name) or ""
    limit, tokenizer = model.max_seq_length, model.tokenizer
    return partial(count_truncated, tokenizer=tokenizer, limit=limit, prompt=prompt)


def _import_module(name: str, *, spec: Spec) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if is_stop_request(error):
            raise
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and (name == missing or name.startswith(f"{missing}.")):
            hint = "; a module is named without .py" if name.endswith(".py") else ""
            raise UsageError(
                f"{spec}: there is no module {name!r} in the working directory {here}, and none is installed{hint}"
            ) from None
        raise encoder.EncoderError(f"{spec}: importing {name} raised {_format_exception(error)}") from error


def _format_exception(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _digest_source(module: Any) -> str:
    """Return a digest of the module's source file; an empty text if there is none."""
    try:
        content = Path(inspect.getsourcefile(module) or "").read_bytes()
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(content).hexdigest()
