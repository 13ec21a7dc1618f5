"""Tiny models in the files of InferSent, Skip-Thought and SDAE, and their vectors by NumPy."""

import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from helpers.strategies.encoder_strategies import word_table
from numpy.typing import NDArray

Array = NDArray[np.float64]

WORDS = ("the", "man", "did", "n't", "didn", "'t", "sleep", "dogs", "ran", ".")
INPUTS, UNITS = 5, 3


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def lstm_states(weights: Mapping[str, Array], ending: str, inputs: Array) -> Array:
    """Hochreiter and Schmidhuber's with a forget gate, the gates in PyTorch's order: i, f, g, o."""
    w, u, b, c = (weights[f"{kind}_l0{ending}"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    state, cell, states = np.zeros(u.shape[1]), np.zeros(u.shape[1]), []
    for x in inputs:
        i, f, g, o = np.split(w @ x + b + u @ state + c, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        state = sigmoid(o) * np.tanh(cell)
        states.append(state)
    return np.stack(states)


def gru_state(arrays: Mapping[str, Array], layer: str, inputs: Array) -> Array:
    """The last state: the reset gate after the product with Ux, as in the code (not the paper)."""
    w, b, u, wx, bx, ux = (arrays[f"{layer}_{name}"] for name in ("W", "b", "U", "Wx", "bx", "Ux"))
    units = ux.shape[0]
    state = np.zeros(units)
    for x in inputs:
        gates = sigmoid(x @ w + b + state @ u)
        reset, update = gates[:units], gates[units:]
        new = np.tanh(reset * (state @ ux) + x @ wx + bx)
        state = update * state + (1 - update) * new
    return state


def lstm_weights(seed: int = 0) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "weight_ih": (4 * UNITS, INPUTS), "weight_hh": (4 * UNITS, UNITS),
        "bias_ih": (4 * UNITS,), "bias_hh": (4 * UNITS,),
    }  # fmt: skip
    return {
        f"{kind}_l0{ending}": random.normal(size=shape) for ending in ("", "_reverse") for kind, shape in shapes.items()
    }


def gru_arrays(layers: Sequence[str], *, units: int, seed: int = 0) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    shapes = {
        "W": (INPUTS, 2 * units), "b": (2 * units,), "U": (units, 2 * units),
        "Wx": (INPUTS, units), "bx": (units,), "Ux": (units, units),
    }  # fmt: skip
    return {f"{layer}_{name}": random.normal(size=shape) for layer in layers for name, shape in shapes.items()}


def word_rows(words: Sequence[str], seed: int = 1) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    return {word: random.normal(size=INPUTS).round(3) for word in words}


def write_infersent(
    folder: Path, *, version: int = 1, marks: Sequence[str] = (), prefix: str = "", **save: bool
) -> tuple[Path, Path]:
    """Write infersent1.pkl or infersent2.pkl and a file of word vectors; return their paths."""
    import torch

    model, vectors = folder / f"infersent{version}.pkl", folder / "words.txt"
    weights = {f"{prefix}enc_lstm.{k}": torch.tensor(v).float() for k, v in lstm_weights().items()}
    if prefix:
        weights["classifier.0.weight"] = torch.ones(2, 2)
    # As PyTorch wrote it in 2017 and 2018, before its files were archives.
    torch.save(weights, model, **{"_use_new_zipfile_serialization": False, **save})
    rows = word_rows((*WORDS, *marks))
    vectors.write_text(word_table(*((word, row.tolist()) for word, row in rows.items())), "utf-8")
    return model, vectors


SKIP_WORDS = ("<eos>", "UNK", *WORDS)


def write_skipthought(folder: Path) -> Path:
    """Write the files of both models, without the pickled options, which nobody needs."""
    folder.mkdir(exist_ok=True)
    other_arrays = {"Wemb": np.ones((4, INPUTS), np.float32), "ff_logit_W": np.ones((2, 2), np.float32)}
    for name, layers, units in (("uni", ["encoder"], 4), ("bi", ["encoder", "encoder_r"], 2)):
        arrays = gru_arrays(layers, units=units)
        save_arrays(folder / f"{name}_skip.npz", {**_as_float32(arrays), **other_arrays})
    for seed, name in enumerate(("utable", "btable")):
        rows = np.stack(list(word_rows(SKIP_WORDS, seed).values()))
        np.save(folder / f"{name}.npy", rows.astype(np.float32))
    (folder / "dictionary.txt").write_text("\n".join(SKIP_WORDS) + "\n", "utf-8")
    return folder


SDAE_WORDS = ("end", "unknown", *WORDS, "of no word")


def write_sdae(folder: Path) -> tuple[Path, Path]:
    """Write the arrays of a model, and its words; the last row is of no word."""
    model, words = folder / "model.npz", folder / "words.tsv"
    table = np.stack(list(word_rows(SDAE_WORDS).values()))
    other_arrays = {"Wemb": table, "decoder_Wc": np.ones((2, 2))}
    save_arrays(model, _as_float32({**gru_arrays(["encoder"], units=4), **other_arrays}))
    words.write_text("".join(f"{w}\t{n}\n" for n, w in enumerate(WORDS, 2)), "utf-8")
    return model, words


def _as_float32(arrays: Mapping[str, Array]) -> dict[str, NDArray[np.float32]]:
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def save_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write the arrays that are not None as an npz file."""
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


def truncate_file(path: Path) -> None:
    """Cut the second half of a file off."""
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def flip_bit_of_weights(path: Path) -> None:
    """Flip the last bit of the first array in a zip file that torch.save or NumPy wrote."""
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(("/data/0", ".npy")))
        data = archive.read(name)
    content = bytearray(path.read_bytes())
    content[content.index(data) + len(data) - 1] ^= 1
    path.write_bytes(content)


def copy_folder(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target


class Hostile:
    """An object that creates a folder when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.mkdir, (self.mark,)
