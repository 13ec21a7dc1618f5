"""Load pretrained models with the library transformers: quantization, devices and token limits."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from sentprobe.common.errors import UsageError
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.models import model_loading as loading

NO_LIMIT = 10**6
"""Token limits of this size or more are ignored: tokenizers without a limit report a huge number."""


@dataclass(frozen=True, slots=True)
class LoadingOptions:
    """Options for a model's number format and devices."""

    precision: loading.ModelPrecision = loading.ModelPrecision.FLOAT32
    bits: int = 0
    """Number of bits, 4 or 8, to which weights are quantized; 0: no quantization."""
    device: str = ""
    """A PyTorch device; empty: a GPU if there is one, else the CPU."""
    device_map: str = ""
    """The argument ``device_map`` of transformers, such as ``auto``, which spreads a model over devices."""


def make_loading_settings(options: LoadingOptions) -> dict[str, Any]:
    """Return ``from_pretrained`` arguments that quantize or distribute a model. Raises UsageError or EncoderError."""
    if options.device and options.device_map:
        raise UsageError(f"hf: options device={options.device} and device_map={options.device_map}: choose one")
    if options.bits not in {0, 4, 8}:
        raise UsageError(f"hf: option bits={options.bits}: 4 or 8 is expected")
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

        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # else it warns about each product in float32
        size = {"load_in_8bit": True} if options.bits == 8 else {"load_in_4bit": True, "bnb_4bit_compute_dtype": dtype}
        make: Any = BitsAndBytesConfig  # its annotations are incomplete
        settings["quantization_config"] = make(**size)
    return settings


def load_pretrained(
    directory: Path, *, model_name: str, kind: str = "AutoModel", settings: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Any, Any]:
    """Load a model and its tokenizer from a directory. Raises EncoderError.

    - kind: the name of the transformers class that loads the model
    - settings: further arguments of ``from_pretrained``
    """
    with loading.report_loading_errors(model_name):
        tokenizer = loading.load_from_folder("AutoTokenizer", directory)
        model = loading.load_from_folder(kind, directory, **settings)
        tokenizer.padding_side = "right"  # so that padding does not shift the positions of tokens
        if tokenizer.pad_token is None:  # any token can be used, since padding is masked
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
        model.config.use_cache = False  # the cache serves to generate text, and takes memory
        return model, tokenizer


def find_token_limit(requested_limit: int, tokenizer: Any, config: Any) -> int | None:
    """Return *requested_limit* or, if it is 0, the tokenizer's or model's limit; None: no limit. Raises UsageError."""
    positions: int | None = getattr(config, "max_position_embeddings", None)
    if requested_limit and positions and requested_limit > positions:
        raise UsageError(f"hf: option max_length={requested_limit}: the model has {positions} positions")
    tokenizer_limit = tokenizer.model_max_length
    return requested_limit or (tokenizer_limit if tokenizer_limit < NO_LIMIT else positions)


def is_causal(config: Any) -> bool:
    """Return whether a configuration is that of a causal language model, which reads from left to right."""
    from transformers.models.auto import modeling_auto as auto

    is_decoder = config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return is_decoder and config.model_type not in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
