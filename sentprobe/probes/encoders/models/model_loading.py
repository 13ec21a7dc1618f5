"""Find a model's files, check them, load them and move the model to a device: for ``st:``, ``hf:`` and ``ce:``."""

import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from traceback import walk_tb
from types import MappingProxyType
from typing import Any

from sentprobe.common.errors import (
    SentprobeError,
    UsageError,
    digest_folder,
    first_line,
    is_out_of_memory,
    suggest_path,
)
from sentprobe.common.inputs import record_input
from sentprobe.common.processes import call_in_time
from sentprobe.common.reading import check_archive
from sentprobe.common.values import BadSyntaxError, parse_json
from sentprobe.probes.encoders.encoder import EncoderError, digest
from sentprobe.probes.encoders.models.chat_template import refuse_chat_template
from sentprobe.probes.encoders.models.model_folders import check_configurations

HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
"""The form of a model's name on the Hugging Face hub: ``model`` or ``organisation/model``."""
UNUSED_FILES = ("*.onnx*", "*.h5", "*.msgpack", "*.ot", "*.tflite", "*.gguf", "openvino/*", "coreml/*")
"""Patterns of weight files in formats that sentprobe does not read, and does not download."""
HUB_TIMEOUT = 10.0
"""Maximum number of seconds to wait for the hub's answer whether it has a model."""


class UnknownModelError(EncoderError, UsageError):
    """A model's name is not a directory, and the hub does not have the model or cannot be reached."""


class ModelPrecision(StrEnum):
    """The number format in which a model computes; sentence vectors are always converted to float32."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"


def find_model(
    model: str, *, revision: str, required_file: str = "config.json", owners: Sequence[str] = ("",)
) -> tuple[Path, str]:
    """Return the directory of *model*, and a digest of its files or of its commit on the Hugging Face hub.

    *model* is a directory or a name on the hub.

    A model of the hub is read from the hub's local cache or, if it is not there, downloaded. A cached copy without
    *required_file* counts as incomplete. A name without an organisation is tried with each prefix in *owners*. Raises
    UnknownModelError or UsageError.
    """
    local = Path(model).expanduser()
    if local.is_dir():
        if revision:
            raise UsageError(f"{model} is a directory; revision= is for models of the hub")
        if not any((local / name).is_file() for name in (required_file, "config.json")):
            raise UsageError(f"no model at {model}: there is no {required_file} in this directory")
        record_input(local)
        return local, digest("files", digest_folder(local))
    if local.exists():
        raise UsageError(f"no model at {model}: it is a file, and a directory is expected")
    if not HUB_NAME.fullmatch(model):
        raise UsageError(f"no model at {model}: there is no such directory{suggest_path(model)}")
    names = _list_hub_names(model, owners)
    cached = (_find_cached_model(name, revision=revision, required_file=required_file) for name in names)
    directory = next(filter(None, cached), None) or _fetch_model(names, revision=revision)
    record_input(directory)
    return directory, digest("hub", directory.name)  # the name is that of the commit


def is_cached(model: str, *, revision: str, required_file: str, owners: Sequence[str]) -> bool:
    """Return whether a model of the Hugging Face hub is in the hub's local cache; see :func:`find_model`."""
    names = _list_hub_names(model, owners) if HUB_NAME.fullmatch(model) else []
    return any(_find_cached_model(name, revision=revision, required_file=required_file) for name in names)


def _list_hub_names(model: str, owners: Sequence[str]) -> list[str]:
    return [model] if "/" in model else [f"{owner}{model}" for owner in owners]


def _find_cached_model(name: str, *, revision: str, required_file: str) -> Path | None:
    """Return a model's directory in the hub's local cache; None if it is missing or incomplete."""
    from huggingface_hub import snapshot_download

    try:
        snapshot = snapshot_download(
            name,
            revision=revision or None,
            cache_dir=_find_hub_cache(),
            local_files_only=True,
            ignore_patterns=[*UNUSED_FILES, "pytorch_model*.bin"],
        )
    except (OSError, ValueError):
        return None
    directory = Path(snapshot)
    weights = (path for suffix in ("safetensors", "bin") for path in directory.rglob(f"*.{suffix}"))
    return directory if (directory / required_file).exists() and any(weights) else None


def _fetch_model(names: Sequence[str], *, revision: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    # The installed version of huggingface_hub decides the HTTP library, whose exceptions are the bases of its own.
    transport: tuple[Any, ...] = HfHubHTTPError.__bases__
    try:
        name, commit, unused = call_in_time(partial(_find_on_hub, names, revision=revision), HUB_TIMEOUT)
        return Path(snapshot_download(name, revision=commit, cache_dir=_find_hub_cache(), ignore_patterns=unused))
    except (OSError, ValueError, *transport) as error:
        reason = f"no answer within {HUB_TIMEOUT:g} seconds" if type(error) is TimeoutError else first_line(error)
        raise UnknownModelError(
            f"cannot load the model {names[-1]}: it is neither a directory nor in the local cache of the "
            f"Hugging Face hub, and cannot be downloaded: {reason}"
        ) from error


def _find_on_hub(names: Sequence[str], *, revision: str) -> tuple[str, str, list[str]]:
    """Return the first of *names* that the hub has, the model's commit, and patterns of files not to download."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    for name in names:
        try:
            info = HfApi().model_info(name, revision=revision or None, timeout=HUB_TIMEOUT)
        except RepositoryNotFoundError as error:
            if name == names[-1] or isinstance(error, GatedRepoError):
                raise
            continue
        files = [file.rfilename for file in info.siblings or ()]
        pickled = ["pytorch_model*.bin"] if any(f.endswith(".safetensors") for f in files) else []
        return name, info.sha or "", [*UNUSED_FILES, *pickled]
    raise ValueError("no name to look for")


def _find_hub_cache() -> str | None:
    return os.environ.get("SENTENCE_TRANSFORMERS_HOME")  # None: the default folder of huggingface_hub


@contextmanager
def suppress_messages() -> Iterator[None]:
    """Suppress warnings, progress bars and messages of transformers in a ``with`` block, except errors."""
    from transformers.utils import logging

    output: Any = logging  # some versions lack annotations
    level, bars = output.get_verbosity(), output.is_progress_bar_enabled()
    output.set_verbosity_error()
    output.disable_progress_bar()
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        output.set_verbosity(level)
        if bars:
            output.enable_progress_bar()


@contextmanager
def report_loading_errors(model: str) -> Iterator[None]:
    """Convert exceptions during the loading of *model* to EncoderError, and suppress the library's messages."""
    try:
        with suppress_messages():  # of what the folder may hold, before it is refused
            yield
    except SentprobeError:
        raise
    except Exception as error:  # for a damaged file, many libraries raise various exceptions
        needs_code = "trust_remote_code" in str(error)
        frames = [frame for frame, _ in walk_tb(error.__traceback__)]
        is_pickle = any(frame.f_globals.get("__name__") == "torch.serialization" for frame in frames)
        reason = "it needs its own code, which is not run" if needs_code else _describe_library_error(error)
        if is_pickle and not is_out_of_memory(error):  # PyTorch's message advises to run the code
            reason = "its weights are a pickle that is damaged or has code, which is not run; use a safetensors file"
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        raise EncoderError(f"cannot load the model {model}: {reason}{notes}") from error


def _describe_library_error(error: Exception) -> str:
    """Return the first line of an error, after the name of its class if the text alone says nothing."""
    has_reason = isinstance(error, SentprobeError | OSError | ValueError) or not str(error)
    return first_line(error) if has_reason else f"{type(error).__name__}: {first_line(error)}"


@contextmanager
def report_encoding_errors(model: str) -> Iterator[None]:
    """Convert exceptions during encoding with *model* to EncoderError."""
    try:
        yield
    except SentprobeError:
        raise
    except Exception as error:  # the files of a model may contradict each other
        raise EncoderError(f"the model {model} cannot encode: {_describe_library_error(error)}") from error


def find_default_device() -> str:
    """Return ``cuda`` if there is an NVIDIA GPU, else ``cpu``."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def move_to_device(module: Any, *, device: str, precision: ModelPrecision) -> Any:
    """Convert a module to *precision*; move it to *device* unless this is "". Raises UsageError or EncoderError."""
    import torch

    try:
        target = torch.device(device) if device else None
    except RuntimeError:
        raise UsageError(f"unknown device {device!r}; expected one such as cpu, cuda, cuda:1") from None
    try:
        return module.to(device=target, dtype=getattr(torch, precision)).eval()
    except (RuntimeError, AssertionError, ImportError) as error:
        raise EncoderError(f"cannot use the device {device}: {first_line(error)}") from error


MAX_SPECIAL_TOKENS = 16
"""Maximum number of special tokens that a tokenizer adds to a sentence."""


def count_truncated(sentences: Sequence[str], tokenizer: Any, *, limit: int | None, prompt: str = "") -> int | None:
    """Return how many sentences, with *prompt* before each, exceed a token limit; None if there is no tokenizer.

    - limit: maximum number of tokens, special tokens included; None: no limit
    """
    if limit is None:
        return 0
    if not callable(tokenizer):
        return None
    texts = (prompt + sentence for sentence in sentences)
    # A token has at least one byte, so a short text need not be tokenized.
    long = [text for text in texts if len(text.encode()) + MAX_SPECIAL_TOKENS > limit]
    token_rows = tokenizer(long, truncation=False, verbose=False)["input_ids"] if long else []
    return sum(len(tokens) > limit for tokens in token_rows)


def count_none_truncated(sentences: Sequence[str]) -> int:  # noqa: ARG001
    """Return 0: an encoder without a token limit truncates no sentence."""
    return 0


SENTENCE_TRANSFORMERS = ("SentenceTransformer", "CrossEncoder")
"""The classes that the package sentence-transformers loads; all others are loaded by transformers."""


def load_from_folder(kind: str, directory: Path, **settings: Any) -> Any:
    """Load a configuration, tokenizer or model. No code in the folder is run, and the user is not asked.

    All models of ``hf:``, ``st:``, ``ce:`` and ``probe lm`` are loaded here, without connections. The configurations
    are checked before anything is loaded, and afterwards that each weight came from the files. Raises ValueError, or
    an error of the library.

    - kind: name of a class of transformers or sentence-transformers, such as ``AutoConfig``
    - settings: further arguments of the class or its ``from_pretrained``
    """
    max_parameters, weights = check_configurations(directory)
    # PyTorch ignores the checksums of these files, which are read where there is no safetensors file.
    for path in sorted(directory.rglob("*.bin")) if kind != "AutoTokenizer" else ():
        if not any(path.parent.glob("*.safetensors")):
            try:
                check_archive(path)
            except OSError as error:
                raise OSError(f"{path.relative_to(directory)}: {error}") from None
    safe: dict[str, bool] = {"local_files_only": True, "trust_remote_code": False}
    # The pooler, which follows the last layer, is used by classifiers; sentence vectors rarely use it.
    needs_pooler = kind == "CrossEncoder" or any(
        b"pooler_output" in path.read_bytes() for path in directory.rglob("sentence_*_config.json")
    )
    if kind in SENTENCE_TRANSFORMERS:
        load = getattr(import_module("sentence_transformers"), kind)
    else:
        load = getattr(import_module("transformers"), kind).from_pretrained
    with (
        _check_loaded_weights(needs_pooler=needs_pooler),
        _limit_parameters(max_parameters, weights),
        _watch_loading(str(directory)),
    ):
        loaded = load(str(directory), **safe, **settings)
    if kind in SENTENCE_TRANSFORMERS:
        refuse_chat_template(loaded)
    return loaded


SMALL_WEIGHTS = 4096
"""A model may be built from at most this number of weights plus BUILT_PER_WEIGHT for each weight in its files."""
BUILT_PER_WEIGHT = 8
"""Maximum of built weights for a weight in a file: one may be replaced, or belong to a decoder that has no file."""


@contextmanager
def _limit_parameters(max_parameters: int, weights: int) -> Iterator[None]:
    """Stop a model while it is built if it has many more parameters than its files hold. Raises ValueError there.

    - weights: the number of arrays in the files
    """
    from torch.nn.modules.module import register_module_parameter_registration_hook

    thread, total, arrays = threading.get_ident(), 0, 0
    max_arrays = SMALL_WEIGHTS + BUILT_PER_WEIGHT * weights

    def count(module: object, name: str, parameter: Any) -> None:  # noqa: ARG001
        nonlocal total, arrays
        if threading.get_ident() == thread and parameter is not None:
            total, arrays = total + parameter.numel(), arrays + 1
            if total > max_parameters or arrays > max_arrays:
                raise ValueError("its configuration asks for many more weights than its files have")

    handle = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()


_REFUSED_EVENTS = {
    **dict.fromkeys(("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"), "opens a connection"),
    "pickle.find_class": "imports what a pickle names",
}
"""Python's audit events that no folder may cause. PyTorch's reader of mere weights does not cause that of pickles."""
_IN_FOLDER = threading.local()
"""While the thread loads a model, ``folder`` is its path; ``last_file`` is the last file in it that Python opened."""


@contextmanager
def _watch_loading(folder: str) -> Iterator[None]:
    """Refuse connections of this thread, and pickles that name a class or function, whatever the libraries ask for."""
    _install_audit_hook()
    _IN_FOLDER.folder, _IN_FOLDER.last_file = folder, ""
    try:
        yield
    except Exception as error:
        # Libraries seldom say which configuration they cannot use. Safetensors and tokenizers are not read by Python.
        file, is_of_python = _IN_FOLDER.last_file, isinstance(error, TypeError | AttributeError | LookupError)
        if (is_of_python or file.endswith(".bin")) and file and Path(file).name not in str(error):
            error.add_note(f"the last file read was {file}")
        raise
    finally:
        _IN_FOLDER.folder = ""


@cache
def _install_audit_hook() -> None:
    sys.addaudithook(_watch_event)  # Python cannot remove it


def _watch_event(event: str, arguments: tuple[Any, ...]) -> None:
    if not (folder := getattr(_IN_FOLDER, "folder", "")):
        return
    if event in _REFUSED_EVENTS:
        raise ValueError(f"loading it {_REFUSED_EVENTS[event]}, which the folder of a model may not ask for")
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(f"{folder}{os.sep}"):
        _IN_FOLDER.last_file = arguments[0].removeprefix(f"{folder}{os.sep}")


def load_pretrained(
    directory: Path, *, model_name: str, kind: str, settings: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Any, Any]:
    """Load a model and its tokenizer from a directory. Raises EncoderError.

    - kind: the name of the transformers class that loads the model
    - settings: further arguments of ``from_pretrained``
    """
    with report_loading_errors(model_name):
        tokenizer = load_from_folder("AutoTokenizer", directory)
        model = load_from_folder(kind, directory, **settings)
        tokenizer.padding_side = "right"  # so that padding does not shift the positions of tokens
        if tokenizer.pad_token is None:  # any token can be used, since padding is masked
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
        model.config.use_cache = False  # the cache serves to generate text, and takes memory
        return model, tokenizer


NO_LIMIT = 10**6
"""Token limits of this size or more are ignored: tokenizers without a limit report a huge number."""


def find_token_limit(requested_limit: int, tokenizer: Any, config: Any) -> int | None:
    """Return *requested_limit* or, if it is 0, the tokenizer's or model's limit; None: no limit.

    Raises UsageError for a requested limit, and EncoderError for another limit that cannot be used.
    """
    positions: int | None = getattr(config, "max_position_embeddings", None)
    if requested_limit and positions and requested_limit > positions:
        raise UsageError(f"hf: option max_length={requested_limit}: the model has {positions} positions")
    tokenizer_limit = tokenizer.model_max_length
    if type(tokenizer_limit) is not int and not (type(tokenizer_limit) is float and tokenizer_limit >= NO_LIMIT):
        raise EncoderError(
            f"{tokenizer.name_or_path}: model_max_length of tokenizer_config.json is {tokenizer_limit!r}; "
            "a whole number is expected"
        )
    limit: int | None = requested_limit or (int(tokenizer_limit) if tokenizer_limit < NO_LIMIT else positions)
    special_tokens: int = tokenizer.num_special_tokens_to_add()
    if limit is not None and limit <= special_tokens:
        needed = f"at least {special_tokens + 1} is expected, for {special_tokens} special tokens and one other"
        if requested_limit:
            raise UsageError(f"hf: option max_length={requested_limit}: {needed}")
        raise EncoderError(f"{tokenizer.name_or_path}: the token limit of its configuration is {limit}; {needed}")
    return limit


_LOADING = threading.Lock()
"""Held while a method of transformers is replaced."""


@contextmanager
def _check_loaded_weights(*, needs_pooler: bool) -> Iterator[None]:
    """Check the weights of each model that transformers loads in the body. Raises ValueError there.

    The library only logs that weights are missing, and sentence-transformers does not return its list of them.
    """
    from transformers import PreTrainedModel

    method = "from_pretrained"

    def load(model_class: Any, *arguments: Any, **settings: Any) -> Any:
        model, loading_info = load_unchecked.__func__(
            model_class, *arguments, **settings | {"output_loading_info": True}
        )
        if missing := sorted(key for key in loading_info["missing_keys"] if needs_pooler or "pooler" not in key):
            raise ValueError(f"its files lack {len(missing)} of its weights, such as {missing[0]}")
        # Heads for other purposes are often in the files, and are not used.
        if unused := sorted(key for key in loading_info["unexpected_keys"] if _is_in_undeclared_layer(key, model)):
            raise ValueError(
                f"its files have {len(unused)} weights of layers that its config.json does not declare, "
                f"such as {unused[0]}"
            )
        return (model, loading_info) if settings.get("output_loading_info") else model

    with _LOADING:
        load_unchecked = vars(PreTrainedModel)[method]  # the class method itself, so that it can be put back
        setattr(PreTrainedModel, method, classmethod(load))
        try:
            yield
        finally:
            setattr(PreTrainedModel, method, load_unchecked)


def _is_in_undeclared_layer(weight: str, model: Any) -> bool:
    """Return whether *weight* belongs to a list of layers of *model* that has fewer layers."""
    from torch import nn

    name = weight.removeprefix(f"{model.base_model_prefix}.")
    modules = dict(model.base_model.named_modules())
    for match in re.finditer(r"\.(\d+)\.", name):
        layers = modules.get(name[: match.start()])
        if isinstance(layers, nn.ModuleList | nn.Sequential) and (len(match[1]) > 9 or int(match[1]) >= len(layers)):
            return True
    return False


def read_architectures(directory: Path) -> list[str]:
    """Return the names of classes for which a model's config.json says that it has weights. Raises ValueError."""
    try:
        config = parse_json((directory / "config.json").read_bytes())
    except BadSyntaxError as error:
        raise ValueError(f"config.json: {error}") from None
    names = config.get("architectures") if isinstance(config, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
