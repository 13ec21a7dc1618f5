"""Read GRUs that Theano code saved as npz files."""

from collections.abc import Sequence
from pathlib import Path

import torch

from sentprobe.probes.encoders.published import recurrent_encoder, weight_files

GRU_ARRAYS = ("W", "b", "U", "Wx", "bx", "Ux")
"""Array names of a GRU in the Theano code of Kiros, Cho and others, after the layer's name."""


def read_gru(path: Path, layers: Sequence[str], *, device: str) -> torch.nn.GRU:
    """Return the GRU of an npz file, with a direction for each of *layers*.

    W (inputs, 2 * units), b and U (units, 2 * units) belong to the reset and update gates, concatenated; Wx, bx and Ux
    to the new state. In the Theano code, as in PyTorch, the reset gate multiplies the output of Ux, and the update gate
    is the share of the old state. (Kiros et al. 2015, section 2.1, differs in both, but the code trained these
    weights.) Raises UsageError if the file does not exist, and EncoderError if it is damaged, lacks an array, or has
    arrays that do not fit together.
    """
    names = [f"{layer}_{array}" for layer in layers for array in GRU_ARRAYS]
    arrays = weight_files.read_arrays(path, names)
    matrix = f"{layers[0]}_Wx"
    inputs, units = weight_files.get_matrix_shape(matrix, arrays[matrix], path)
    shapes = {
        "W": (inputs, 2 * units), "b": (2 * units,), "U": (units, 2 * units),
        "Wx": (inputs, units), "bx": (units,), "Ux": (units, units),
    }  # fmt: skip
    for name, array in arrays.items():
        weight_files.check_shape(name, array, shapes[name.rpartition("_")[2]], path)
    with torch.device("meta"):  # without weights, so that no global generator is touched
        gru = torch.nn.GRU(inputs, units, bidirectional=len(layers) == 2)
    weights: dict[str, torch.Tensor] = {}
    for layer, ending in zip(layers, ("", "_reverse"), strict=False):
        weights |= {f"{name}_l0{ending}": weight for name, weight in _convert_layer(arrays, layer).items()}
    return recurrent_encoder.load_weights(gru, weights, device=device)


def _convert_layer(arrays: dict[str, torch.Tensor], layer: str) -> dict[str, torch.Tensor]:
    w, b, u, wx, bx, ux = (arrays[f"{layer}_{array}"] for array in GRU_ARRAYS)
    return {
        "weight_ih": torch.cat((w, wx), dim=1).T,
        "weight_hh": torch.cat((u, ux), dim=1).T,
        "bias_ih": torch.cat((b, bx)),
        "bias_hh": torch.zeros(3 * ux.shape[1]),
    }
