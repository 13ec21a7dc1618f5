"""Hidden states of a transformers model: outputs of attention and MLP modules, and pooling over tokens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

import torch
from torch import Tensor, nn

from sentprobe.probes.encoders.protocol import EncoderError


class ModelPart(StrEnum):
    """The part of each transformer block whose output is read."""

    RESIDUAL = "residual"
    """The residual stream after the block."""
    ATTENTION = "attention"
    """The attention module, before its output is added to the residual stream."""
    MLP = "mlp"
    """The MLP module, before its output is added to the residual stream."""


_MODULES = {
    ModelPart.ATTENTION: (
        "attention.output.dense",  # BERT, RoBERTa, ELECTRA, DeBERTa
        "attention.attn.o",  # MPNet
        "self_attention.dense",  # BLOOM (the whole attention module adds the residual stream), Falcon
        "attn",  # GPT-2, GPT-J, ModernBERT
        "self_attn",  # Llama, Mistral, Qwen, Gemma, OPT
        "attention",  # GPT-NeoX, DistilBERT
        "layer.0.SelfAttention",  # T5
    ),
    ModelPart.MLP: ("output.dense", "mlp.dense_4h_to_h", "mlp", "ffn", "fc2", "layer.1.DenseReluDense"),
}
"""Possible paths of the attention or MLP module within a block, the most specific first."""


def find_part_modules(model: nn.Module, part: ModelPart, *, name: str) -> list[nn.Module]:
    """Return the attention or MLP module of each block; an empty list for RESIDUAL. Raises EncoderError."""
    if part is ModelPart.RESIDUAL:
        return []
    config: Any = model.config
    blocks = (m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == config.num_hidden_layers)
    for candidates in blocks:
        for path in _MODULES[part]:
            if modules := _find_modules(candidates, path):
                return modules
    raise EncoderError(
        f"{name}: the {part} modules of a {type(model).__name__} are not known; part=residual reads any model"
    )


def _find_modules(blocks: nn.ModuleList, path: str) -> list[nn.Module]:
    try:
        return [block.get_submodule(path) for block in blocks]
    except AttributeError:
        return []


@contextmanager
def record_outputs(modules: Sequence[nn.Module]) -> Iterator[list[Tensor]]:
    """Yield a list to which the modules' outputs are added, (batch, time, dim) or (batch * time, dim) each."""
    outputs: list[Tensor] = []

    def record(_module: nn.Module, _inputs: Any, output: Any) -> None:
        output = output[0] if isinstance(output, tuple) else output
        outputs.append(output.clone())  # a copy, since Falcon later adds to the output in place

    hooks = [module.register_forward_hook(record) for module in modules]
    try:
        yield outputs
    finally:
        for hook in hooks:
            hook.remove()


class Pooling(StrEnum):
    """How the hidden states of tokens are pooled into a sentence vector."""

    CLS = "cls"
    MEAN = "mean"
    MAX = "max"
    LAST = "last"


def pool_states(states: Tensor, mask: Tensor, *, pooling: Pooling) -> Tensor:
    """Pool hidden states into sentence vectors, (batch, dim) float32.

    - states: (batch, time, dim)
    - mask: (batch, time), 1 for tokens and 0 for padding
    """
    return POOLINGS[pooling](states.float(), mask.bool())


def _pool_first(states: Tensor, mask: Tensor) -> Tensor:
    return states[torch.arange(len(states), device=states.device), mask.int().argmax(dim=1)]


def _pool_mean(states: Tensor, mask: Tensor) -> Tensor:
    masked = states.masked_fill(~mask[:, :, None], 0.0)  # (batch, time, dim)
    return masked.sum(dim=1) / mask.sum(dim=1, keepdim=True)


POOLINGS: Mapping[Pooling, Callable[[Tensor, Tensor], Tensor]] = {
    Pooling.CLS: _pool_first,
    Pooling.MEAN: _pool_mean,
    Pooling.MAX: lambda states, mask: states.masked_fill(~mask[:, :, None], -torch.inf).amax(dim=1),
    Pooling.LAST: lambda states, mask: _pool_first(states.flip(1), mask.flip(1)),
}
