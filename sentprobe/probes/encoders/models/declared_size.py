"""A lower bound on the parameters that a model's configuration, an untrusted text, declares beside its files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sentprobe.values import BadSyntaxError, parse_json

MAX_MODULES = 10_000
"""Maximum number of layers, heads or experts."""

SMALL_MODEL = 2**24
"""Number of declared parameters that is always accepted; the sizes of a model's files raise the limit."""

PARAMETERS_PER_BYTE = 8
"""Largest number of parameters in a byte of a file, for weights of one bit."""

_MODULE_COUNTS = (
    *("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers"),
    *("num_decoder_layers", "num_encoder_layers", "num_hidden_groups", "inner_group_num", "num_attention_heads"),
    *("num_heads", "n_head", "n_heads", "num_experts", "num_local_experts", "n_routed_experts"),
)
_LAYER_COUNTS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers")
_WIDTHS = ("hidden_size", "d_model", "n_embd", "dim", "hidden_dim", "in_features")
_INNER_WIDTHS = ("intermediate_size", "d_ff", "ffn_dim", "encoder_ffn_dim", "n_inner", "out_features")
_WORD_WIDTHS = ("embedding_size", "word_embed_proj_dim", "d_embed")
_POSITIONS = ("max_position_embeddings", "n_positions", "n_ctx")
_COMPUTED_POSITIONS = ("rope", "rotary", "relative", "alibi", "sinusoidal")


def check_declared_size(directory: Path) -> None:
    """Check that the files of a model can hold the parameters that its configurations declare. Raises ValueError."""
    file_sizes = [path.stat().st_size for path in directory.rglob("*") if path.is_file()]
    limit = SMALL_MODEL + PARAMETERS_PER_BYTE * sum(file_sizes)
    for path in sorted(directory.rglob("*config.json")):
        try:
            content = parse_json(path.read_bytes())
        except BadSyntaxError as error:
            raise ValueError(f"{path.name}: {error}") from None
        for config in _find_objects(content):
            _check_config(config, name=path.name, limit=limit)


def _find_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield an object and all objects in it; a model of several parts has a configuration for each."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _find_objects(part)


def _check_config(config: Mapping[str, Any], *, name: str, limit: int) -> None:
    for key in _MODULE_COUNTS:
        if (count := _read_size(config, (key,))) > MAX_MODULES:
            raise ValueError(f"{name} asks for {key}={count:,}, and at most {MAX_MODULES:,} are built")
    if (count := _count_parameters(config)) > limit:
        raise ValueError(f"{name} asks for {count:,} parameters or more, which its files cannot hold")


def _count_parameters(config: Mapping[str, Any]) -> int:
    """Return a lower bound on the number of parameters.

    >>> _count_parameters({"hidden_size": 384, "vocab_size": 30522, "num_hidden_layers": 6})
    11722752
    """
    width = _read_size(config, _WIDTHS, default=1)
    has_position_vectors = not any(word in key for key in config for word in _COMPUTED_POSITIONS)
    layers = 0 if "num_hidden_groups" in config else _read_size(config, _LAYER_COUNTS)
    rows = layers + _read_size(config, _INNER_WIDTHS) + _read_size(config, ("type_vocab_size",))
    words = _read_size(config, ("vocab_size",)) + has_position_vectors * _read_size(config, _POSITIONS)
    return words * _read_size(config, _WORD_WIDTHS, default=width) + rows * width


def _read_size(config: Mapping[str, Any], keys: tuple[str, ...], *, default: int = 0) -> int:
    """Return the first positive whole number of *keys*."""
    values = (config.get(key) for key in keys)
    return next((value for value in values if type(value) is int and value > 0), default)
