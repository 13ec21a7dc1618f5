"""Read files of weights without running code that they may contain: pickles are refused."""

import hashlib
import pickle
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import numpy as np
import torch

from sentprobe.disk.unpacking import check_proportion
from sentprobe.errors import SentprobeError, path_error
from sentprobe.probes.encoders.protocol import EncoderError, Vectors

NPY_MAGIC = b"\x93NUMPY"
"""The first bytes of an npy file."""


def read_state_dict(
    path: Path, names: Sequence[str], *, prefix: str, ignored_prefix: str, convert: str
) -> dict[str, torch.Tensor]:
    """Return a PyTorch state dictionary as float32; EncoderError, with *convert*, for a pickle or other names.

    *prefix* begins the model's names in a larger network, and *ignored_prefix* other names in it.
    """
    with _report_damage(path, "PyTorch state dictionary"):
        _check_archive_size(path)
        tensors = _load_tensors(path, convert=convert)
    if not isinstance(tensors, Mapping):
        raise EncoderError(f"{path}: a {type(tensors).__name__}; a state dictionary is wanted")
    model_tensors = {str(name): value for name, value in tensors.items() if not str(name).startswith(ignored_prefix)}
    tensors = {name.removeprefix(prefix): value for name, value in model_tensors.items()}
    _check_names(tensors, names, path)
    if sum(_count_bytes(name, tensors[name], path) for name in names) > path.stat().st_size:
        raise EncoderError(f"{path}: the tensors say more numbers than the file has")
    return {name: _check_finite(name, tensors[name].float().contiguous(), path) for name in names}


def _load_tensors(path: Path, *, convert: str) -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):  # of protocols of pickle that are not PyTorch's own
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if "GLOBAL" in str(error):  # it asks for a function or class that is no tensor's
            raise unpickling_error(path, convert) from None
        raise


def _count_bytes(name: str, tensor: Any, path: Path) -> int:
    """Return the size of a dense floating-point tensor in bytes; refuse other values."""
    if not (isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided):
        raise EncoderError(f"{path}: {name} is no dense tensor")
    if tensor.device.type != "cpu" or not tensor.is_floating_point() or not tensor.numel():
        raise EncoderError(
            f"{path}: {name} is {tensor.dtype} of shape {tuple(tensor.shape)}; numbers in floating point are wanted"
        )
    return tensor.numel() * tensor.element_size()


def read_arrays(path: Path, names: Sequence[str]) -> dict[str, torch.Tensor]:
    """Return the arrays *names* of an npz file as float32; ignore others. Raises UsageError or EncoderError."""
    with _report_damage(path, "npz file of arrays"):
        _check_archive_size(path)
        # NumPy warns about arrays of Python 2.
        with (
            path.open("rb") as file,
            warnings.catch_warnings(action="ignore", category=UserWarning),
            np.load(file, allow_pickle=False) as arrays,
        ):
            _check_names([name for name in arrays if name in names], names, path)
            return {name: _make_tensor(name, _read_member(arrays, name, path), path) for name in names}


def _read_member(arrays: Any, name: str, path: Path) -> Any:
    try:
        return arrays[name]
    except ValueError as error:
        if "Object arrays" in str(error):
            raise unpickling_error(path, f"save {name} as an array of float32") from None
        raise


def _make_tensor(name: str, array: Any, path: Path) -> torch.Tensor:
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.size:
        raise EncoderError(f"{path}: {name} is no array of floating point numbers")
    with np.errstate(over="ignore"):  # what overflows is not finite
        return _check_finite(name, torch.from_numpy(array.astype(np.float32)), path)


def read_table(path: Path, *, convert: str) -> Vectors:
    """Return the array (rows, dim) of an npy file as a memory map. Raises UsageError or EncoderError."""
    with _report_damage(path, "npy file with one array"):
        with path.open("rb") as file:
            if file.read(len(NPY_MAGIC)) != NPY_MAGIC:
                raise EncoderError(f"{path}: no npy file with one array")
        try:
            with warnings.catch_warnings(action="ignore", category=UserWarning):
                table: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            if "Python objects" in str(error):
                raise unpickling_error(path, convert) from None
            raise
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind != "f":
        raise EncoderError(f"{path}: {table.dtype} of shape {table.shape}; floating point (words, dim) is wanted")
    return table


@contextmanager
def _report_damage(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except SentprobeError:
        raise
    except OSError as error:
        raise path_error(path, "cannot read the weights", error, otherwise=EncoderError) from None
    except Exception:  # of a damaged file, PyTorch's unpickler raises whatever comes up
        raise EncoderError(f"{path}: no {what}, or a damaged one") from None


def _check_archive_size(path: Path) -> None:
    with path.open("rb") as file:
        if is_zipfile(file):
            with ZipFile(file) as archive:
                for part in archive.infolist():
                    check_proportion(part.file_size, part.compress_size)


def _check_names(names: Collection[str], expected_names: Sequence[str], path: Path) -> None:
    if missing := [expected for expected in expected_names if expected not in names]:
        raise EncoderError(f"{path}: there is no {', no '.join(missing)} in this file")
    if unexpected := [name for name in names if name not in expected_names]:
        raise EncoderError(f"{path}: there is {', '.join(unexpected)} in this file, of another model")


def _check_finite(name: str, tensor: torch.Tensor, path: Path) -> torch.Tensor:
    if not tensor.isfinite().all():
        raise EncoderError(f"{path}: {name} has numbers that are not finite")
    return tensor


def get_matrix_shape(name: str, tensor: torch.Tensor, path: Path) -> tuple[int, int]:
    """Return rows and columns; refuse tensors that are not matrices."""
    if tensor.ndim != 2:
        raise EncoderError(f"{path}: {name} is of shape {tuple(tensor.shape)}; a matrix is wanted")
    return tensor.shape[0], tensor.shape[1]


def check_shape(name: str, tensor: torch.Tensor, expected_shape: Sequence[int], path: Path) -> None:
    """Refuse a tensor of another shape."""
    if tuple(tensor.shape) != tuple(expected_shape):
        raise EncoderError(
            f"{path}: {name} is of shape {tuple(tensor.shape)}; {tuple(expected_shape)} is wanted, going by the others"
        )


def unpickling_error(path: Path, convert: str) -> EncoderError:
    """Return the error that refuses a pickle."""
    return EncoderError(
        f"{path}: only unpickling reads this, which may run code that is in it; where you trust "
        f"it, convert it: {convert}"
    )


def digest_file(path: Path) -> str:
    """Return the sha256 of the content of a file."""
    with _report_damage(path, "file of weights"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


PICKLE_PREFIXES = (b"\x80", b"(dp", b"}q\x00", b"}q\x01", b"ccopy_reg\n", b"ccollections\n")
"""First bytes of pickles, of protocol 2 and later, and of older ones."""


def refuse_pickle(path: Path, convert: str) -> None:
    """Refuse a pickle, recognized by its first bytes."""
    with _report_damage(path, "file of weights"), path.open("rb") as file:
        if file.read(16).startswith(PICKLE_PREFIXES):
            raise unpickling_error(path, convert)
