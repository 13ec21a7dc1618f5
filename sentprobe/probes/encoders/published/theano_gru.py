"""GRUs as the Theano code of Kiros, Cho and others saves them: an npz file of arrays."""

from collections.abc import Sequence
from pathlib import Path

import torch

from sentprobe.probes.encoders.published import recurrent, weight_files

GRU_ARRAYS = ("W", "b", "U", "Wx", "bx", "Ux")
"""Weights of a GRU in Theano code of Kiros, Cho and others, behind the name of the layer."""


def read_gru(path: Path, layers: Sequence[str], *, device: str) -> torch.nn.GRU:
    """Return the GRU of an npz file, with a direction for each of *layers*.

    W (inputs, 2 * units), b and U (units, 2 * units) are those of the reset gate and, beside it,
    of the update gate; Wx, bx and Ux those of the new state. In their code, the reset gate
    multiplies what comes out of Ux, and the update gate is the share of the old state, which is
    how PyTorch has it. (In Kiros et al. 2015, section 2.1, it multiplies what goes in, and the
    share is that of the new state; but these weights were learned by the code.)

    Raises:
        UsageError: there is no such file.
        EncoderError: it is damaged, lacks an array, or has arrays that do not fit together.
    """
    names = [f"{layer}_{array}" for layer in layers for array in GRU_ARRAYS]
    arrays = weight_files.read_arrays(path, names)
    matrix = f"{layers[0]}_Wx"
    inputs, units = weight_files.shape_of_matrix(matrix, arrays[matrix], path)
    wanted = {
        "W": (inputs, 2 * units), "b": (2 * units,), "U": (units, 2 * units),
        "Wx": (inputs, units), "bx": (units,), "Ux": (units, units),
    }  # fmt: skip
    for name, array in arrays.items():
        weight_files.check_shape(name, array, wanted[name.rpartition("_")[2]], path)
    with torch.device("meta"):  # without weights, so that no global generator is touched
        gru = torch.nn.GRU(inputs, units, bidirectional=len(layers) == 2)
    weights: dict[str, torch.Tensor] = {}
    for layer, ending in zip(layers, ("", "_reverse"), strict=False):
        weights |= {f"{name}_l0{ending}": made for name, made in _of_layer(arrays, layer).items()}
    return recurrent.with_weights(gru, weights, device=device)


def _of_layer(arrays: dict[str, torch.Tensor], layer: str) -> dict[str, torch.Tensor]:
    w, b, u, wx, bx, ux = (arrays[f"{layer}_{array}"] for array in GRU_ARRAYS)
    return {
        "weight_ih": torch.cat((w, wx), dim=1).T,
        "weight_hh": torch.cat((u, ux), dim=1).T,
        "bias_ih": torch.cat((b, bx)),
        "bias_hh": torch.zeros(3 * ux.shape[1]),
    }
