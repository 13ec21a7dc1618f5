"""Pretrained models of transformers: how they are loaded, quantized and spread over devices, and their token limits."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.models import model_loading as loading
from sentprobe.probes.encoders.protocol import EncoderError

NO_LIMIT = 10**6
"""Smallest reported token limit that counts as none; tokenizers without a limit report a far greater number."""


@dataclass(frozen=True, slots=True)
class LoadingOptions:
    """Options of the weights and their devices."""

    precision: loading.ModelPrecision = loading.ModelPrecision.FLOAT32
    bits: int = 0
    """4 or 8: the weights are quantized; 0: they are not."""
    device: str = ""
    """A PyTorch device; empty: a GPU where there is one."""
    device_map: str = ""
    """How transformers spreads the model over devices, such as ``auto``."""


def make_loading_settings(options: LoadingOptions) -> dict[str, Any]:
    """Return the arguments of transformers for quantized or distributed weights. Raises UsageError or EncoderError."""
    if options.device and options.device_map:
        raise UsageError(f"hf: options device={options.device} and device_map={options.device_map}: choose one")
    if options.bits not in {0, 4, 8}:
        raise UsageError(f"hf: option bits={options.bits}: 4 or 8 is wanted")
    needed = ["bitsandbytes"] * bool(options.bits) + ["accelerate"] * bool(options.bits or options.device_map)
    if missing := [library for library in needed if find_spec(library) is None]:
        option = f"bits={options.bits}" if options.bits else f"device_map={options.device_map}"
        raise EncoderError(f"hf: option {option} needs: pip install {' '.join(missing)}")
    if not needed:
        return {}
    dtype = getattr(torch, options.precision)
    device_map = options.device_map or {"": options.device or loading.find_default_device()}
    settings: dict[str, Any] = {"device_map": device_map, "dtype": dtype}
    if options.bits:
        from transformers import BitsAndBytesConfig

        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns of each product of float32
        size = {"load_in_8bit": True} if options.bits == 8 else {"load_in_4bit": True, "bnb_4bit_compute_dtype": dtype}
        make: Any = BitsAndBytesConfig  # annotated in part
        settings["quantization_config"] = make(**size)
    return settings


def load_pretrained(
    directory: Path, *, model_name: str, kind: str = "AutoModel", settings: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Any, Any]:
    """Return a model of a class of transformers with further *settings*, and its tokenizer. Raises EncoderError."""
    with loading.report_loading_errors(model_name):
        loading.check_declared_size(directory)
        import transformers

        local: dict[str, bool] = {"local_files_only": True, "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(directory, **local)
        load = getattr(transformers, kind).from_pretrained
        model, loading_info = load(directory, output_loading_info=True, **local, **settings)
        if missing := sorted(key for key in loading_info["missing_keys"] if "pooler" not in key):  # it is not used
            raise ValueError(f"its files lack {len(missing)} of its weights, such as {missing[0]}")
        tokenizer.padding_side = "right"  # where padding does not shift positions
        if tokenizer.pad_token is None:  # any will do, as it is masked
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
        model.config.use_cache = False  # for generating text, and it takes memory
        return model, tokenizer


def find_token_limit(requested_limit: int, tokenizer: Any, config: Any) -> int | None:
    """Return the maximum number of tokens: the request, or the limit of the tokenizer or model; None: no limit."""
    positions: int | None = getattr(config, "max_position_embeddings", None)
    if requested_limit and positions and requested_limit > positions:
        raise UsageError(f"hf: option max_length={requested_limit}: the model has {positions} positions")
    tokenizer_limit = tokenizer.model_max_length
    return requested_limit or (tokenizer_limit if tokenizer_limit < NO_LIMIT else positions)


def is_causal(config: Any) -> bool:
    """Say whether the models of a configuration read from left to right."""
    from transformers.models.auto import modeling_auto as auto

    is_decoder = config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return is_decoder and config.model_type not in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
