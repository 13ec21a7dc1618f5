"""``python:``, a function or an object of the user's own as an encoder."""

import hashlib
import importlib
import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from types import ModuleType
from typing import Any

from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.probes.encoders.conventions import Call, Style, as_array, caller, style_of
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, check_vectors, digest
from sentprobe.probes.encoders.specs import Natural, Spec, read_options


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonOptions:
    """Options of ``python:``."""

    style: Style = Style.AUTO
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
    style = style_of(found) if options.style is Style.AUTO else options.style
    if style is None:
        raise EncoderError(_not_callable(spec, attribute))
    own = getattr(found, "fingerprint", None)
    known = isinstance(own, str) and bool(own)
    content = own if known else _source_digest(module)
    seeded = options.seed if style is Style.SENTEVAL else ""
    return PythonEncoder(
        name=spec.name,
        fingerprint=digest("python", spec.argument, style, options.version, seeded, content),
        cacheable=bool(getattr(found, "cacheable", known or bool(options.version))),
        together=style is Style.SENTEVAL,
        call=caller(found, style, batch=options.batch, seed=options.seed),
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
        together=style is Style.SENTEVAL,
        call=caller(found, style, batch=batch, seed=0),
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
