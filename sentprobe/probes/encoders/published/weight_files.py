"""Read files of weights safely: pickles, which may run code when they are loaded, are refused."""

import hashlib
import pickle
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sentprobe.disk.unpacking import check_archive
from sentprobe.errors import SentprobeError, path_error
from sentprobe.probes.encoders.protocol import EncoderError, Vectors

NPY_MAGIC = b"\x93NUMPY"
"""The first bytes of an npy file."""


def read_state_dict(
    path: Path, names: Sequence[str], *, prefix: str, ignored_prefix: str, convert: str
) -> dict[str, torch.Tensor]:
    """Read the tensors *names* of a PyTorch state dictionary, as float32. Raises EncoderError.

    - prefix: removed from the beginning of the names in the file
    - ignored_prefix: the beginning of the names of tensors that belong to other parts of a larger network
    - convert: the command with which the user can convert a pickle, for the error message
    """
    with _report_damage(path, "a PyTorch state dictionary"):
        check_archive(path)
        tensors = _load_tensors(path, convert=convert)
    if not isinstance(tensors, Mapping):
        raise EncoderError(f"{path}: a {type(tensors).__name__}; a state dictionary is expected")
    model_tensors = {str(name): value for name, value in tensors.items() if not str(name).startswith(ignored_prefix)}
    tensors = {name.removeprefix(prefix): value for name, value in model_tensors.items()}
    _check_names(tensors, names, path)
    if sum(_count_bytes(name, tensors[name], path) for name in names) > path.stat().st_size:
        raise EncoderError(f"{path}: its tensors declare more numbers than the file has")
    return {name: _check_finite(name, tensors[name].float().contiguous(), path) for name in names}


def _load_tensors(path: Path, *, convert: str) -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):  # PyTorch warns about other pickle protocols than its own
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if "GLOBAL" in str(error):  # the file needs functions or classes beside those of tensors
            raise unpickling_error(path, convert) from None
        raise


def _count_bytes(name: str, tensor: Any, path: Path) -> int:
    """Return the size of a tensor in bytes. Raises EncoderError if it is not a dense floating-point tensor."""
    if not (isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided):
        raise EncoderError(f"{path}: {name} is not a dense tensor")
    if tensor.device.type != "cpu" or not tensor.is_floating_point() or not tensor.numel():
        raise EncoderError(
            f"{path}: {name} is {tensor.dtype} of shape {tuple(tensor.shape)}; floating-point numbers are expected"
        )
    return tensor.numel() * tensor.element_size()


def read_arrays(path: Path, names: Sequence[str]) -> dict[str, torch.Tensor]:
    """Read the arrays *names* of an npz file, as float32 tensors. Raises UsageError or EncoderError."""
    with _report_damage(path, "an npz file of arrays"):
        check_archive(path)
        # NumPy warns about arrays that Python 2 wrote.
        with (
            path.open("rb") as file,
            warnings.catch_warnings(action="ignore", category=UserWarning),
            np.load(file, allow_pickle=False) as arrays,
        ):
            _check_names([name for name in arrays if name in names], names, path)
            return {name: _read_array(arrays, name, path) for name in names}


def _read_array(arrays: Any, name: str, path: Path) -> torch.Tensor:
    try:
        array = arrays[name]
    except ValueError as error:
        if "Object arrays" in str(error):
            raise unpickling_error(path, f"save {name} as an array of float32") from None
        raise
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.size:
        raise EncoderError(f"{path}: {name} is not an array of floating-point numbers")
    with np.errstate(over="ignore"):  # overflowing numbers become infinite, and are reported below
        return _check_finite(name, torch.from_numpy(array.astype(np.float32)), path)


def read_table(path: Path, *, convert: str) -> Vectors:
    """Map the array of an npy file, (rows, dim) floats, into memory. Raises UsageError or EncoderError."""
    with _report_damage(path, "an npy file with one array"):
        with path.open("rb") as file:
            if file.read(len(NPY_MAGIC)) != NPY_MAGIC:
                raise EncoderError(f"{path}: not an npy file with one array")
        try:
            with warnings.catch_warnings(action="ignore", category=UserWarning):
                table: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            if "Python objects" in str(error):
                raise unpickling_error(path, convert) from None
            raise
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind != "f":
        raise EncoderError(f"{path}: {table.dtype} of shape {table.shape}; floats (words, dim) are expected")
    return table


@contextmanager
def _report_damage(path: Path, file_type: str) -> Iterator[None]:
    try:
        yield
    except SentprobeError:
        raise
    except OSError as error:
        raise path_error(path, "cannot read the weights", error, otherwise=EncoderError) from None
    except Exception:  # for a damaged file, PyTorch raises various exceptions
        raise EncoderError(f"{path}: not {file_type}, or damaged") from None


def _check_names(names: Collection[str], expected_names: Sequence[str], path: Path) -> None:
    if missing := [expected for expected in expected_names if expected not in names]:
        raise EncoderError(f"{path}: this file lacks {', '.join(missing)}")
    if unexpected := [name for name in names if name not in expected_names]:
        raise EncoderError(f"{path}: this file has {', '.join(unexpected)}, which belongs to another model")


def _check_finite(name: str, tensor: torch.Tensor, path: Path) -> torch.Tensor:
    if not tensor.isfinite().all():
        raise EncoderError(f"{path}: {name} has numbers that are not finite")
    return tensor


def get_matrix_shape(name: str, tensor: torch.Tensor, path: Path) -> tuple[int, int]:
    """Return a matrix's numbers of rows and columns. Raises EncoderError if the tensor is not a matrix."""
    if tensor.ndim != 2:
        raise EncoderError(f"{path}: {name} has the shape {tuple(tensor.shape)}; a matrix is expected")
    return tensor.shape[0], tensor.shape[1]


def check_shape(name: str, tensor: torch.Tensor, expected_shape: Sequence[int], path: Path) -> None:
    """Raise EncoderError if a tensor does not have the expected shape."""
    if tuple(tensor.shape) != tuple(expected_shape):
        raise EncoderError(
            f"{path}: {name} has the shape {tuple(tensor.shape)}; the other arrays require {tuple(expected_shape)}"
        )


def unpickling_error(path: Path, convert: str) -> EncoderError:
    """Return the error for a file that is a pickle; its message ends with *convert*, how to convert the file."""
    return EncoderError(
        f"{path}: a pickle, which may contain code that runs when it is read; if you trust it, convert it: {convert}"
    )


def digest_file(path: Path) -> str:
    with _report_damage(path, "a file of weights"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


PICKLE_PREFIXES = (b"\x80", b"(dp", b"}q\x00", b"}q\x01", b"ccopy_reg\n", b"ccollections\n")
"""First bytes of pickle files: 0x80 for protocol 2 and later, and several for older protocols."""


def refuse_pickle(path: Path, convert: str) -> None:
    """Raise EncoderError if the first bytes of a file are those of a pickle."""
    with _report_damage(path, "a file of weights"), path.open("rb") as file:
        if file.read(16).startswith(PICKLE_PREFIXES):
            raise unpickling_error(path, convert)
