"""``python:``, a function or an object of the user's own as an encoder, however it is called."""

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from types import ModuleType
from typing import Any

import numpy as np

from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, check_vectors, digest
from sentprobe.probes.encoders.truncation import Counter, counter_of
from sentprobe.specs import Natural, Spec, read_options

Call = Callable[[Sequence[str]], object]
"""From sentences to what is to become vectors."""


class CallStyle(StrEnum):
    """How an encoder of somebody else's is called."""

    AUTO = "auto"
    """What its names and signature say."""
    FUNCTION = "function"
    """``f(sentences)``, a list of strings."""
    ENCODE = "encode"
    """``x.encode(sentences)``, as in sentence-transformers."""
    SENTEVAL = "senteval"
    """``prepare(params, samples)`` and ``batcher(params, batch)``, lists of tokens."""
    MTEB = "mteb"
    """``x.encode(inputs, *, task_metadata, hf_split, hf_subset)``, batches of dictionaries."""
    MTEB1 = "mteb1"
    """``x.encode(sentences, task_name=...)``, as in MTEB before its version 2."""


@dataclass(frozen=True, slots=True)
class TaskMetadata:
    """What an encoder of MTEB's protocol may ask of the task it encodes for."""

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
        """Return an entry; None where there is none, as in SentEval."""
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an entry."""
        self[name] = value


def style_of(found: object) -> CallStyle | None:
    """Say how *found* is to be called, from its names and signature; None: it cannot be."""
    if callable(getattr(found, "batcher", None)):
        return CallStyle.SENTEVAL
    encode = getattr(found, "encode", None)
    if callable(encode):
        names = _parameters(encode)
        marks = {"task_metadata": CallStyle.MTEB, "task_name": CallStyle.MTEB1}
        return next((style for mark, style in marks.items() if mark in names), CallStyle.ENCODE)
    return CallStyle.FUNCTION if callable(found) else None


def _parameters(function: Callable[..., object]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # written in C, without a signature
        return ()


def caller(found: Any, style: CallStyle, *, batch: int, seed: int) -> Call:
    """Return a function of sentences that calls *found* in that style."""
    if style is CallStyle.SENTEVAL:
        return _senteval(found, batch=batch, seed=seed)
    if style is CallStyle.MTEB:
        return _mteb(found, batch=batch)
    if style is CallStyle.MTEB1:
        return lambda sentences: found.encode(list(sentences), task_name=TaskMetadata().name)
    if style is CallStyle.ENCODE:
        return lambda sentences: found.encode(list(sentences))
    return lambda sentences: found(list(sentences))


def _senteval(found: Any, *, batch: int, seed: int) -> Call:
    """Call SentEval's pair (Conneau & Kiela 2018): prepare once, then each batch.

    The parameters are those that its engine sets, and over them the dictionary ``params`` or
    ``params_senteval`` that stands beside the functions. Like there, ``prepare`` sees all sentences
    that are encoded together, and ``batcher`` so many at a time.
    """
    prepare = getattr(found, "prepare", None)
    defaults = {
        "task_path": "", "current_task": TaskMetadata().name, "usepytorch": True, "seed": seed,
        "batch_size": batch, "nhid": 0, "kfold": 5, "classifier": {"nhid": 0},
    }  # fmt: skip
    own = [getattr(found, name, None) for name in ("params", "params_senteval")]
    merged = {k: v for each in (defaults, *own) if isinstance(each, dict) for k, v in each.items()}

    def call(sentences: Sequence[str]) -> object:
        params = Params(merged)
        samples = [sentence.split() for sentence in sentences]
        if callable(prepare):
            prepare(params, samples)
        parts = [
            as_array(found.batcher(params, samples[start : start + params.batch_size]))
            for start in range(0, len(samples), params.batch_size)
        ]
        return np.concatenate(parts)

    return call


def _mteb(found: Any, *, batch: int) -> Call:
    """Call MTEB's encoder protocol (version 2): a loader of batches, and of what task they are."""

    def call(sentences: Sequence[str]) -> object:
        return found.encode(
            _loader(sentences, batch=batch),
            task_metadata=TaskMetadata(),
            hf_split="test",
            hf_subset="default",
            prompt_type=None,
        )

    return call


def _loader(sentences: Sequence[str], *, batch: int) -> Any:
    """Return a loader of batches ``{"text": [...]}``, the sentences in order."""
    from torch.utils.data import DataLoader  # noqa: PLC0415

    samples: Any = [{"text": sentence} for sentence in sentences]
    return DataLoader(samples, batch_size=batch, shuffle=False)


def as_array(result: Any) -> Any:
    """Return what an encoder returned as an array: a PyTorch tensor, or a list of any such.

    A tensor in bfloat16, which NumPy does not have, becomes float32.
    """
    if isinstance(result, list | tuple) and result and hasattr(result[0], "detach"):
        return np.stack([as_array(part) for part in result])
    if hasattr(result, "detach"):
        tensor = result.detach().cpu()
        return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    if isinstance(result, Iterator):
        return np.stack([as_array(part) for part in result])
    return np.asarray(result)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonOptions:
    """Options of ``python:``."""

    style: CallStyle = CallStyle.AUTO
    batch: int = 128
    """Sentences at a time, for the styles that are called by batch."""
    version: str = ""
    """A name of the user's for what the vectors depend on; with one, they are cached."""
    seed: Natural
    """The seed in SentEval's ``params``; when it is not given, the run's."""


@dataclass(frozen=True, slots=True)
class PythonEncoder:
    """A function of sentences behind the encoder protocol."""

    name: str
    fingerprint: str
    cacheable: bool
    together: bool
    """SentEval's ``prepare`` may count the words of all sentences, or load a model."""
    call: Call = field(repr=False, compare=False)
    seed: int | None = None
    """That which SentEval's ``params`` has."""
    truncated: Counter | None = field(default=None, repr=False, compare=False)
    """Says of how many sentences the beginning only is read; None: nothing is known of it."""

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the function's vectors, (n, dim) float32.

        Raises:
            EncoderError: it raised, or returned something else; says what, without a traceback.
        """
        try:
            found = as_array(self.call(sentences))
        except SentprobeError:
            raise
        except (Exception, SystemExit) as error:
            raise EncoderError(f"encoder {self.name} raised {_told(error)}") from error
        return check_vectors(found, sentences=sentences, encoder=self.name)


def build_python(spec: Spec, *, seed: int) -> PythonEncoder:
    """Return the encoder of a spec ``python:module`` or ``python:module:attribute``.

    The working directory is searched for the module before what is installed. A class is made
    without arguments.

    Raises:
        UsageError: an unknown option; no such module or attribute.
        EncoderError: importing or making it raised; it cannot be called in any of the styles.
    """
    options = read_options(spec, PythonOptions(seed=Natural(seed)))
    module_name, _, attribute = spec.argument.partition(":")
    module = _module(module_name, spec=spec)
    found = _made(_attribute(module, attribute), spec=spec)
    style = style_of(found) if options.style is CallStyle.AUTO else options.style
    if style is None:
        raise EncoderError(_not_callable(spec, attribute))
    own = getattr(found, "fingerprint", None)
    known = isinstance(own, str) and bool(own)
    content = own if known else _source_digest(module)
    seeded = options.seed if style is CallStyle.SENTEVAL else ""
    return PythonEncoder(
        name=spec.name,
        fingerprint=digest("python", spec.argument, style, options.version, seeded, content),
        cacheable=bool(getattr(found, "cacheable", known or bool(options.version))),
        together=style is CallStyle.SENTEVAL,
        call=caller(found, style, batch=options.batch, seed=options.seed),
        seed=options.seed if style is CallStyle.SENTEVAL else None,
        truncated=counter_of(found),
    )


def wrap(found: Any, *, name: str, fingerprint: str = "", batch: int = 128) -> PythonEncoder:
    """Return a function or object that is at hand as an encoder; it is cached by *fingerprint*.

    Without one, results are known again by the file that it was written in; where there is no file
    (an interactive session), never.

    Raises:
        EncoderError: it cannot be called in any of the styles.
    """
    style = style_of(found)
    if style is None:
        raise EncoderError(
            f"{name}: a {type(found).__name__} is neither a function nor an object with encode"
        )
    return PythonEncoder(
        name=name,
        fingerprint=digest(
            "wrapped", name, style, fingerprint or _source_digest(_home(found)) or token_hex()
        ),
        cacheable=bool(fingerprint),
        together=style is CallStyle.SENTEVAL,
        call=caller(found, style, batch=batch, seed=0),
        truncated=counter_of(found),
    )


def _home(found: Any) -> ModuleType:
    """Return the module that a function, or an object's class, was written in."""
    name = getattr(found, "__module__", None) or type(found).__module__
    return sys.modules.get(name, ModuleType(name))


def _not_callable(spec: Spec, attribute: str) -> str:
    if attribute:
        return (
            f"{spec}: {attribute} is neither a function nor an object with encode or batcher; "
            "see the encoder python: in the documentation"
        )
    return (
        f"{spec}: the module has no function encode or batcher; name one, "
        f"as in python:{spec.argument}:function"
    )


def _module(name: str, *, spec: Spec) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            hint = "; a module is named without .py" if name.endswith(".py") else ""
            raise UsageError(
                f"{spec}: there is no module {name!r} in the working directory {here}, "
                f"and none is installed{hint}"
            ) from None
        raise EncoderError(f"{spec}: importing {name} raised {_told(error)}") from error
    except (Exception, SystemExit) as error:
        raise EncoderError(f"{spec}: importing {name} raised {_told(error)}") from error


def _attribute(module: ModuleType, path: str) -> Any:
    found: Any = module
    for name in path.split(".") if path else ():
        if not hasattr(found, name):
            owner = getattr(found, "__name__", type(found).__name__)
            raise UsageError(f"{owner} has no attribute {name!r}{suggest(name, dir(found))}")
        found = getattr(found, name)
    return found


def _made(found: Any, *, spec: Spec) -> Any:
    """Return an object of a class, made without arguments, or what is no class as it is."""
    if not inspect.isclass(found):
        return found
    try:
        return found()
    except (Exception, SystemExit) as error:
        raise EncoderError(
            f"{spec}: making a {found.__name__} without arguments raised {_told(error)}"
        ) from error


def _told(error: BaseException) -> str:
    """Return type and text of an exception, in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _source_digest(module: ModuleType) -> str:
    """Return a digest of the module's own file, or the empty string where there is none."""
    try:
        content = Path(inspect.getsourcefile(module) or "").read_bytes()
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(content).hexdigest()


def wrap_encoder(
    found: Callable[..., Any] | object, *, name: str, fingerprint: str = ""
) -> PythonEncoder:
    """Return a function of a list of sentences, or an object with ``encode``, as an encoder.

    Objects of SentEval's and MTEB's conventions are recognised too. With a *fingerprint*, which
    must change whenever the vectors do, they are kept in a cache; without one, never, and a run
    that goes on knows the encoder again by name and the file that it was written in; where there is
    no file (an interactive session), not at all. Neither knows what an object holds: give objects a
    fingerprint.

    Raises:
        EncoderError: it cannot be called in any of these ways.

    >>> wrap_encoder(lambda texts: [[float(len(t))] for t in texts], name="length").encode(["a b"])
    array([[3.]], dtype=float32)
    """
    return wrap(found, name=name, fingerprint=fingerprint)
