"""Specs without a kind: a path, whose content shows the kind, or the name of a model on the Hugging Face hub."""

import lzma
import zlib
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from sentprobe.common.errors import FormatError, UsageError, path_error, suggest, suggest_path
from sentprobe.common.reading import parse_numbers
from sentprobe.common.specs import Spec, enumerate_names
from sentprobe.common.values import parse_json
from sentprobe.probes.encoders.architecture import CONFIG_FILE, is_model_folder
from sentprobe.probes.encoders.models.model_loading import HUB_NAME
from sentprobe.probes.encoders.vector_formats import OPENERS, SUFFIXES

MAX_SAMPLE = 1 << 20
"""Maximum number of bytes of a file that are read to recognise it."""
_READ_SUFFIXES = (".npz", ".txt", ".tsv")
KINDS_BY_SUFFIX: Mapping[str, str] = {
    **{suffix: "file" for suffix in SUFFIXES if suffix not in _READ_SUFFIXES},
    **dict.fromkeys((".vec", ".bin"), "bow"),
    ".arpa": "ngram",
    ".csv": "scores",
}
"""The kind of a file whose suffix says enough. The content of files with one of _READ_SUFFIXES is looked at."""
FILE_SUFFIXES = (*KINDS_BY_SUFFIX, *_READ_SUFFIXES, *OPENERS, ".json", ".jsonl", ".pkl", ".pt", ".toml")
"""Endings of the names of files, and never of a model on the hub."""
SKIP_THOUGHT_TABLES = ("utable.npy", "btable.npy")
"""As in models/published.py, which imports PyTorch."""


def complete_spec(spec: Spec, kinds: Collection[str]) -> tuple[Spec, str]:
    """Return a spec with the kind that its path or name implies, and the reason; an unknown name stays unchanged.

    - kinds: the accepted kinds; a name that resembles one of them is a mistyped kind, not a model on the hub

    Raises UsageError for a missing path, and for a path that could be of several kinds or is of no accepted one.
    """
    name = f"{spec.kind}:{spec.argument}" if spec.argument else spec.kind
    try:
        path = Path(name).expanduser()
    except RuntimeError:  # there is no such user
        path = Path(name)
    try:
        if path.is_dir():
            kind, reason = _recognise_folder(path, name, kinds)
        elif path.exists():
            kind, reason = _recognise_file(path, name, kinds)
        elif spec.argument and "/" not in spec.kind:
            kind, reason = "", ""  # an unknown kind, with an argument
        else:
            kind, reason = _recognise_hub_name(name, kinds)
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=UsageError) from None
    return (Spec(kind, name, spec.options), reason) if kind else (spec, "")


def _recognise_folder(folder: Path, name: str, kinds: Collection[str]) -> tuple[str, str]:
    if is_model_folder(folder):
        return "trained", ""
    config = _read_object(folder / CONFIG_FILE)
    architectures = config.get("architectures")
    names = map(str, architectures) if isinstance(architectures, list) else ()
    scores_pairs = any(text.endswith("ForSequenceClassification") for text in names)
    has_modules = (folder / "modules.json").is_file()
    if scores_pairs and "ce" in kinds:
        if has_modules:
            return "ce", "a folder with modules.json and a layer that scores pairs"
        raise _ambiguous_error(name, ("ce", "hf"), "its model can score pairs (ce) or give vectors (hf)")
    if has_modules and "st" in kinds and not scores_pairs:
        return "st", "a folder with modules.json, of sentence-transformers"
    if ("architectures" in config or "model_type" in config) and "hf" in kinds:
        return "hf", f"a folder with the {CONFIG_FILE} of a transformers model"
    if "skipthought" in kinds and any((folder / table).is_file() for table in SKIP_THOUGHT_TABLES):
        return "skipthought", "a folder with Skip-Thought's tables"
    model_folders = sorted(path.name for path in folder.iterdir() if (path / CONFIG_FILE).is_file())
    inside = f"; it contains {', '.join(model_folders)}: name one of them" if model_folders else ""
    raise UsageError(
        f"{folder}: not the folder of a model: probe train did not write it, and it has neither modules.json nor a "
        f"{CONFIG_FILE} with architectures or model_type{inside}"
    )


def _read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one if the file has none."""
    try:
        value = parse_json(path.read_bytes()) if path.is_file() else {}
    except (OSError, FormatError):
        return {}
    return value if isinstance(value, dict) else {}


def _recognise_file(path: Path, name: str, kinds: Collection[str]) -> tuple[str, str]:
    suffix = (Path(path.stem) if path.suffix in OPENERS else path).suffix.lower()
    kind = ""
    if path.is_file():  # a pipe can be read only once
        kind = KINDS_BY_SUFFIX.get(suffix, "")
        if suffix == ".npz":
            kind = "file" if _has_vectors(path) else ""
        elif suffix in _READ_SUFFIXES:
            kind = _recognise_text(path)
    if kind in kinds:
        return kind, f"a file of {FILE_KINDS[kind]}"
    other_archive = "bow" if suffix == ".npz" else "sdae"
    choices = [known for known in FILE_KINDS if known in kinds and known != other_archive]
    raise _ambiguous_error(name, choices, "its kind cannot be told from its ending or content")


FILE_KINDS: Mapping[str, str] = {
    "file": "sentence vectors",
    "bow": "word vectors",
    "sdae": "a denoising auto-encoder",
    "ngram": "an n-gram model",
    "scores": "stored scores",
}
"""The content of files, by the kind that reads them."""


def _recognise_text(path: Path) -> str:
    """Return ``file`` for a line of id, sentence and vector; ``bow`` for a word and its vector; "" for another line."""
    try:
        with path.open("rb") as raw, OPENERS.get(path.suffix, nullcontext)(raw) as file:
            line = file.readline(MAX_SAMPLE).decode("utf-8-sig", errors="replace")
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return ""
    fields = line.split("\t")
    if len(fields) == 3 and _has_numbers(fields[2]) and not _has_numbers(fields[1]):
        return "file"
    _, *numbers = line.split() or [""]
    return "bow" if _has_numbers(" ".join(numbers)) else ""


def _has_numbers(text: str) -> bool:
    try:
        return bool(parse_numbers(text))
    except ValueError:
        return False


def _has_vectors(path: Path) -> bool:
    try:
        with ZipFile(path) as archive:
            return "vectors.npy" in archive.namelist()
    except (OSError, BadZipFile, ValueError, NotImplementedError):
        return False


def _recognise_hub_name(name: str, kinds: Collection[str]) -> tuple[str, str]:
    if name.startswith((".", "~", "/")) or name.endswith(("/", *FILE_SUFFIXES)) or name.count("/") > 1:
        raise UsageError(f"{Path(name)}: there is no such file or folder{suggest_path(name)}")
    if not HUB_NAME.fullmatch(name) or ("/" not in name and suggest(name, kinds)):
        return "", ""
    owner = name.rpartition("/")[0]
    kind = "st" if "st" in kinds else "hf"
    if "ce" in kinds and owner == "cross-encoder":
        kind = "ce"
    if owner and Path(owner).is_dir():
        raise UsageError(
            f"{name}: there is no such file or folder in {owner}; write its right path, or {kind}:{name} for a model "
            "on the Hugging Face hub"
        )
    return kind, "a model on the Hugging Face hub, which needs the network unless it is in the hub's local cache"


def _ambiguous_error(name: str, kinds: Collection[str], reason: str) -> UsageError:
    return UsageError(f"{name}: {reason}; write {enumerate_names([f'{kind}:{name}' for kind in kinds])}")
