"""What ``st:`` and ``hf:`` share: the files of a model, its precision and its device."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sentprobe.errors import SentprobeError, UsageError, first_line
from sentprobe.probes.encoders.protocol import EncoderError, digest

HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
"""A model's name on the Hugging Face hub: ``model`` or ``organisation/model``."""

UNUSED = ("*.onnx*", "*.h5", "*.msgpack", "*.ot", "*.tflite", "*.gguf", "openvino/*", "coreml/*")
"""Copies of the weights in forms that are not read here, and so not fetched."""

HUB_SECONDS = 10
"""How long to wait for the hub to say what it has."""


class ModelPrecision(StrEnum):
    """In which floating point numbers a model computes; its vectors are float32 all the same."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The directory of a model, and a digest: of all its files, or of its commit on the hub."""

    directory: Path
    content: str


def find_model(
    model: str, *, revision: str = "", wanted: str = "config.json", owners: Sequence[str] = ("",)
) -> ModelFiles:
    """Return the files of *model*: a directory, or a name on the Hugging Face hub.

    What the local cache of the hub has is taken from there; the network is used only for what it
    lacks. *wanted* is a file without which the cached copy is not taken for complete. A name
    without an organisation is looked for under each of *owners* in turn.

    Raises:
        EncoderError: the hub has no such model or is out of reach.
        UsageError: there is no such directory, or no model in it; *revision* is given for one.
    """
    local = Path(model).expanduser()
    if local.is_dir():
        if revision:
            raise UsageError(f"{model} is a directory; revision= is for models of the hub")
        if not any((local / name).is_file() for name in (wanted, "config.json")):
            raise UsageError(f"no model at {model}: there is no {wanted} in this directory")
        return ModelFiles(local, digest("files", _hash_directory(local)))
    if local.exists():
        raise UsageError(f"no model at {model}: it is a file, and a directory is wanted")
    if not HUB_NAME.fullmatch(model):
        raise UsageError(f"no model at {model}: there is no such directory")
    names = [model] if "/" in model else [f"{owner}{model}" for owner in owners]
    cached = (_cached(name, revision=revision, wanted=wanted) for name in names)
    directory = next(filter(None, cached), None) or _fetched(names, revision=revision)
    return ModelFiles(directory, digest("hub", directory.name))


def _cached(name: str, *, revision: str, wanted: str) -> Path | None:
    """Return the directory of the model in the hub's cache, named by its commit."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415

    try:
        found = snapshot_download(
            name,
            revision=revision or None,
            cache_dir=_cache_directory(),
            local_files_only=True,
            ignore_patterns=[*UNUSED, "pytorch_model*.bin"],
        )
    except (OSError, ValueError):
        return None
    directory = Path(found)
    weights = (path for kind in ("safetensors", "bin") for path in directory.rglob(f"*.{kind}"))
    return directory if (directory / wanted).exists() and any(weights) else None


def _fetched(names: Sequence[str], *, revision: str) -> Path:
    """Download the first of *names* that the hub has; its directory is named by its commit."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

    # Its bases are the errors of the HTTP library that the installed version of the hub uses.
    transport: tuple[Any, ...] = HfHubHTTPError.__bases__
    try:
        name, commit, unused = _on_hub(names, revision=revision)
        return Path(
            snapshot_download(
                name, revision=commit, cache_dir=_cache_directory(), ignore_patterns=unused
            )
        )
    except (OSError, ValueError, *transport) as error:
        raise EncoderError(
            f"cannot load the model {names[-1]}: it is no directory, not in the local cache of the "
            f"Hugging Face hub, and cannot be had from there: {first_line(error)}"
        ) from error


def _on_hub(names: Sequence[str], *, revision: str) -> tuple[str, str, list[str]]:
    """Return the name that the hub knows, its commit, and the files not to fetch."""
    from huggingface_hub import HfApi  # noqa: PLC0415
    from huggingface_hub.errors import (  # noqa: PLC0415
        GatedRepoError,
        RepositoryNotFoundError,
    )

    for name in names:
        try:
            info = HfApi().model_info(name, revision=revision or None, timeout=HUB_SECONDS)
        except RepositoryNotFoundError as error:
            if name == names[-1] or isinstance(error, GatedRepoError):
                raise
            continue
        files = [file.rfilename for file in info.siblings or ()]
        pickled = ["pytorch_model*.bin"] if any(f.endswith(".safetensors") for f in files) else []
        return name, info.sha or "", [*UNUSED, *pickled]
    raise ValueError("no name was asked for")


def _cache_directory() -> str | None:
    return os.environ.get("SENTENCE_TRANSFORMERS_HOME")  # None: the hub's own


def _hash_directory(directory: Path) -> str:
    """Return a digest of the names and contents of all files: weights, tokenizer and pooling.

    Hidden files and directories (``.git``, ``.cache``) are no part of the model.
    """
    hasher = hashlib.sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        relative = path.relative_to(directory)
        if any(part.startswith(".") for part in relative.parts):
            continue
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        hasher.update(f"{relative.as_posix()}\0{content}\0".encode())
    return hasher.hexdigest()


@contextmanager
def loading(model: str) -> Iterator[None]:
    """Turn what a library raises while it loads *model* into one sentence, and keep it quiet."""
    from transformers.utils import logging  # noqa: PLC0415

    output: Any = logging  # some versions of it are annotated in part
    level, bars = output.get_verbosity(), output.is_progress_bar_enabled()
    output.set_verbosity_error()
    output.disable_progress_bar()
    try:
        yield
    except SentprobeError:
        raise
    except Exception as error:  # a damaged file ends in any of five libraries, and in any of theirs
        raise EncoderError(f"cannot load the model {model}: {first_line(error)}") from error
    finally:
        output.set_verbosity(level)
        if bars:
            output.enable_progress_bar()


@contextmanager
def using(model: str) -> Iterator[None]:
    """Turn what a library raises while it encodes by *model* into one sentence."""
    try:
        yield
    except SentprobeError:
        raise
    except Exception as error:  # see above; the files of a model may contradict each other
        raise EncoderError(f"the model {model} cannot encode: {first_line(error)}") from error


def usual_device() -> str:
    """Return where a model goes when nobody says where: to a GPU if there is one."""
    import torch  # noqa: PLC0415

    return "cuda" if torch.cuda.is_available() else "cpu"


def place(module: Any, *, device: str, precision: ModelPrecision) -> Any:
    """Move the module to *device* (empty: where it is) and convert it to *precision*.

    Raises:
        UsageError: PyTorch knows no device of that name.
        EncoderError: the machine has no such device.
    """
    import torch  # noqa: PLC0415

    try:
        target = torch.device(device) if device else None
    except RuntimeError:
        raise UsageError(f"unknown device {device!r}; wanted one such as cpu, cuda, cuda:1") from (
            None
        )
    try:
        return module.to(device=target, dtype=getattr(torch, precision)).eval()
    except (RuntimeError, AssertionError, ImportError) as error:
        raise EncoderError(f"cannot use the device {device}: {first_line(error)}") from error
