"""Checks of a model's folder before it is loaded: its JSON files may name no code, no other model, and no other files.

They may declare no model that is larger than the files.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from sentprobe.common.values import BadSyntaxError, parse_json

MAX_MODULES = 10_000
"""Maximum number of layers, attention heads, experts or labels that a configuration may declare."""
SMALL_MODEL = 2**24
"""A model may declare at most this number of parameters plus PARAMETERS_PER_BYTE for each byte of its files."""
PARAMETERS_PER_BYTE = 8
"""Maximum number of parameters in a byte of a file: a weight has at least one bit."""

_MODULE_COUNTS = (
    *("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers"),
    *("num_decoder_layers", "num_encoder_layers", "num_hidden_groups", "inner_group_num", "num_attention_heads"),
    *("num_heads", "n_head", "n_heads", "num_experts", "num_local_experts", "n_routed_experts", "num_labels"),
)
_LAYER_COUNTS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers")
_WIDTHS = ("hidden_size", "d_model", "n_embd", "dim", "hidden_dim", "in_features")
_INNER_WIDTHS = ("intermediate_size", "d_ff", "ffn_dim", "encoder_ffn_dim", "n_inner", "out_features")
_WORD_WIDTHS = ("embedding_size", "word_embed_proj_dim", "d_embed")
_POSITIONS = ("max_position_embeddings", "n_positions", "n_ctx")
_COMPUTED_POSITIONS = ("rope", "rotary", "relative", "alibi", "sinusoidal")


def check_configurations(directory: Path) -> tuple[int, int]:
    """Check all JSON files of a model except its vocabularies. Raises ValueError, which names the file and the key.

    Returns the maximum number of parameters that the files can hold, and the number of arrays in them.

    - The files of the model must be able to hold all declared parameters and layers.
    - Names of code, which libraries import and call, must name layers of PyTorch or modules of sentence-transformers.
    - Arguments for loading the model must be plain settings, such as a number format.
    - No key may ask for another model, or for files that are not in the folder.
    """
    for path in directory.rglob("*"):
        if path.is_symlink() and path.is_dir():  # its files would not be checked
            raise ValueError(
                f"{path.relative_to(directory)} is a link to a folder, and only files of the folder are read"
            )
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ValueError(f"{path.relative_to(directory)} is a pipe or a device, and a file is expected")
    sizes = (path.stat().st_size for path in directory.rglob("*") if path.is_file())
    limit, weights = SMALL_MODEL + PARAMETERS_PER_BYTE * sum(sizes), count_weights(directory)
    for path in sorted(directory.rglob("*.json")):
        if path.name in _VOCABULARIES or not path.is_file():
            continue
        try:
            content = parse_json(path.read_bytes())
        except BadSyntaxError as error:
            if not _LIBRARY_FILES.fullmatch(path.name):
                continue
            raise ValueError(f"{path.name}: {error}") from None
        if path.name.endswith(".index.json"):
            table = content.get("weight_map") if isinstance(content, dict) else None
            if not isinstance(table, dict) or not table:
                raise ValueError(f"{path.name}: weight_map is not an object from weights to the files that hold them")
            for file in table.values():
                _check_path(file, name=path.name)
            continue  # its keys are names of weights
        for config in _find_objects(content):
            _check_config(config, name=path.name, limit=limit, weights=weights)
            _check_code_names(config, name=path.name)
            _check_arguments(config, name=path.name)
            _check_other_models(config, name=path.name)
            _check_files(config, name=path.name, directory=directory)
    return limit, weights


def count_weights(directory: Path) -> int:
    """Return how many arrays the files of weights in a model's folder have, or at most have if they are damaged."""
    count = 0
    for path in (path for pattern in ("*.safetensors", "*.bin") for path in directory.rglob(pattern) if path.is_file()):
        size = path.stat().st_size
        try:
            if path.suffix == ".bin":  # PyTorch stores each array as a file in a zip file
                with ZipFile(path) as archive:
                    count += len(archive.namelist())
            else:
                with path.open("rb") as file:
                    header = file.read(min(int.from_bytes(file.read(8), "little"), size))
                count += len(parse_json(header))
        except (BadSyntaxError, BadZipFile, TypeError):
            count += size // _MIN_BYTES_OF_WEIGHT
    return count


_VOCABULARIES = ("tokenizer.json", "vocab.json", "added_tokens.json", "idf.json")
"""JSON files whose keys are words or settings of the library tokenizers, which runs no Python."""
_LIBRARY_FILES = re.compile(r".*config.*\.json|modules\.json|special_tokens_map\.json|.*\.index\.json")
_MIN_BYTES_OF_WEIGHT = 64
"""Minimum number of bytes that an array needs in a file of weights, with its name."""

_MODULE_NAME = r"sentence_transformers(\.\w+)*\.(models|modules)(\.\w+)*\.[A-Z]\w*"
_SAFE_NAMES = (
    (re.compile(".*(activation|act_fn).*"), re.compile(r"torch\.nn\.(modules\.(activation|linear)\.)?[A-Z]\w*")),
    (re.compile("types?|tokenizer_class"), re.compile(_MODULE_NAME)),
    (re.compile(".*(attn_implementation|experts_implementation|kernel).*"), re.compile(r"(?!)")),
)
"""Pairs of patterns: keys whose value may name code, and the names that may be imported.

Attention may be implemented by a kernel of the hub (``organisation/name``), which is downloaded and run.
"""
_CODE_NAME = re.compile(r"[./:]")
"""Part of each dotted name (``os.system``), repository of the hub and name with a colon, but of no word (``gelu``)."""
_METHODS = re.compile(r"forward|get_\w+_features")
"""Methods of a model that compute vectors; sentence-transformers calls the one that ``modality_config`` names."""


def _check_code_names(config: Mapping[str, Any], *, name: str) -> None:
    for key, value in config.items():
        for key_pattern, safe_names in _SAFE_NAMES:
            texts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
            for text in texts if key_pattern.fullmatch(key) else ():
                if isinstance(text, str) and _CODE_NAME.search(text) and not safe_names.fullmatch(text):
                    raise ValueError(f"{name} names code ({key}: {text}), which is not run")
    if "method_output_name" in config and not _METHODS.fullmatch(method := str(config.get("method", "forward"))):
        raise ValueError(f"{name} names code (method: {method}), which is not run")


_ARGUMENTS = frozenset(("model", "automodel", "processor", "tokenizer", "config"))
_SETTINGS = frozenset(
    (
        *("dtype", "torch_dtype", "attn_implementation", "add_pooling_layer", "low_cpu_mem_usage", "use_safetensors"),
        *("use_cache", "is_decoder", "is_causal", "use_bidirectional_attention", "use_memory_efficient_attention"),
        *("output_hidden_states", "output_attentions", "return_dict", "reference_compile", "unpad_inputs"),
        *("num_labels", "classifier_dropout", "problem_type", "max_length", "model_max_length", "padding"),
        *("padding_side", "truncation", "truncation_side", "pad_to_multiple_of", "do_lower_case", "strip_accents"),
        *("use_fast", "add_prefix_space", "add_special_tokens", "add_bos_token", "add_eos_token"),
        *("clean_up_tokenization_spaces", "tokenize_chinese_chars"),
    )
)
"""Arguments of transformers that a folder may set: plain settings, which choose neither code nor files."""
_DTYPE = re.compile(r"auto|(torch\.)?(float16|bfloat16|float32|float64)")


def _check_arguments(config: Mapping[str, Any], *, name: str) -> None:
    """Raise ValueError unless a folder's arguments for loading (``model_args``, ``config_kwargs``) are settings."""
    for key, options in config.items():
        kind, _, suffix = key.rpartition("_")
        if kind not in _ARGUMENTS or suffix not in ("args", "kwargs") or options is None:
            continue
        if not isinstance(options, dict):
            raise ValueError(f"{name}: {key} is not an object of settings")
        for option, value in options.items():
            is_plain = value is None or isinstance(value, bool | int | float | str)
            if option.endswith("dtype"):
                is_plain = isinstance(value, str) and _DTYPE.fullmatch(value) is not None
            elif isinstance(value, str):
                is_plain = _CODE_NAME.search(value) is None
            if option == "trust_remote_code" and value is False:
                continue
            if option not in _SETTINGS or not is_plain:
                raise ValueError(f"{name} sets {option} to {value!r:.80} in {key}, which the folder of a model may not")


_OTHER_MODELS = re.compile(r"backbone|(base_model|\w*tokenizer)_name_or_path")
"""Keys whose value is the name of a model that the libraries load as well."""


def _check_other_models(config: Mapping[str, Any], *, name: str) -> None:
    for key, value in config.items():
        is_name = isinstance(value, str) and value != ""
        if is_name and _OTHER_MODELS.fullmatch(key) and _LIBRARY_FILES.fullmatch(name):
            raise ValueError(f"{name} asks for another model ({key}: {value}), and only files of the folder are read")


_FILE_LISTS = ("configuration_files", "fast_tokenizer_files")
"""Keys with the names of files, of which transformers reads the one for its own version."""


def _check_files(config: Mapping[str, Any], *, name: str, directory: Path) -> None:
    if name == "modules.json":
        _check_path(config.get("path", ""), name=name)
    if name == "router_config.json" and isinstance(config.get("types"), dict):
        for folder in config["types"]:
            _check_path(folder, name=name)
    if config.get("transformers_weights") is not None:
        _check_path(config["transformers_weights"], name=name)
    for key in _FILE_LISTS:
        for file in config[key] if isinstance(config.get(key), list) else ():
            # Any other name is not that of a file that has been checked here.
            if not isinstance(file, str) or not re.fullmatch(r"[\w.-]+\.json", file):
                raise ValueError(f"{name} names the file {file} ({key}), which is not a JSON file of the folder")
    for key, value in config.items():
        # Old files often have the path of a file on their author's machine.
        is_file = key.endswith("_file") and isinstance(value, str) and os.path.isfile(value)  # noqa: PTH113 - any text
        if is_file and not Path(value).resolve().is_relative_to(directory.resolve()):
            raise ValueError(f"{name} names the file {value} ({key}), which is not in the model's folder")


def _check_path(path: object, *, name: str) -> None:
    if not isinstance(path, str) or Path(path).is_absolute() or ".." in Path(path).parts:
        raise ValueError(f"{name} names the file {path}, which is not in the model's folder")


def _find_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a JSON object and all objects nested in it, since a part of a model may have its own configuration."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _find_objects(part)


def _check_config(config: Mapping[str, Any], *, name: str, limit: int, weights: int) -> None:
    for key in _LAYER_COUNTS:
        if type(config.get(key)) is int and config[key] < 1:
            raise ValueError(f"{name} asks for {key}={config[key]}, and at least 1 is expected")
    for key in _MODULE_COUNTS:
        if (count := _read_size(config, (key,))) > MAX_MODULES:
            raise ValueError(f"{name} asks for {key}={count:,}, and at most {MAX_MODULES:,} are built")
        # A layer has weights of its own, except in ALBERT, which has this key. Untrained models have no files.
        if "layer" in key and count > weights > 0 and "num_hidden_groups" not in config:
            raise ValueError(f"{name} asks for {key}={count:,}, and its files have only {weights:,} weights")
    if (count := _count_parameters(config)) > limit:
        raise ValueError(f"{name} asks for {count:,} parameters or more, which its files cannot hold")


def _count_parameters(config: Mapping[str, Any]) -> int:
    """Return a lower bound on the number of parameters that a configuration declares.

    >>> _count_parameters({"hidden_size": 384, "vocab_size": 30522, "num_hidden_layers": 6})
    11722752
    """
    width = _read_size(config, _WIDTHS, default=1)
    has_position_vectors = not any(word in key for key in config for word in _COMPUTED_POSITIONS)
    # The layers of ALBERT, which has this key, share weights: their number sets no lower bound.
    layers = 0 if "num_hidden_groups" in config else _read_size(config, _LAYER_COUNTS)
    rows = layers + _read_size(config, _INNER_WIDTHS) + _read_size(config, ("type_vocab_size",))
    words = _read_size(config, ("vocab_size",)) + has_position_vectors * _read_size(config, _POSITIONS)
    return words * _read_size(config, _WORD_WIDTHS, default=width) + rows * width


def _read_size(config: Mapping[str, Any], keys: tuple[str, ...], *, default: int = 0) -> int:
    """Return the first positive whole number that *config* has under one of *keys*, or else *default*."""
    values = (config.get(key) for key in keys)
    return next((value for value in values if type(value) is int and value > 0), default)
