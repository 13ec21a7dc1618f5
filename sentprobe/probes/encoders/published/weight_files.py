"""Files of weights, read without running what may be in them.

=================  ==========================================================================
state dictionary   tensors by name, as PyTorch saves them; read by ``weights_only`` alone
npz                arrays by name, as NumPy saves them
npy                one array, a row a word; it stays on disk, and rows are read as they are wanted
=================  ==========================================================================

What only unpickling could read may run code, and is refused with how to convert it.
"""

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

from sentprobe.errors import SentprobeError, path_error
from sentprobe.probes.encoders.protocol import EncoderError, Vectors
from sentprobe.unpacking import check_proportion

NPY_MAGIC = b"\x93NUMPY"
"""The first bytes of an array, as NumPy writes it."""


def read_state_dict(
    path: Path, names: Sequence[str], *, within: str, beside: str, convert: str
) -> dict[str, torch.Tensor]:
    """Return the tensors of a PyTorch state dictionary, float32, which are *names* and no others.

    - within, beside: the file may be of a larger network: what then stands before the names, and
      how those of the rest of it begin
    - convert: what makes such a file of a pickle, for the message that refuses one

    Raises:
        UsageError: there is no such file.
        EncoderError: it is damaged, would have to be unpickled, or holds something else.
    """
    with _reading(path, "PyTorch state dictionary"):
        _check_packed(path)
        found = _load(path, convert=convert)
    if not isinstance(found, Mapping):
        raise EncoderError(f"{path}: a {type(found).__name__}; a state dictionary is wanted")
    own = {str(name): value for name, value in found.items() if not str(name).startswith(beside)}
    found = {name.removeprefix(within): value for name, value in own.items()}
    _check_names(found, names, path)
    if sum(_size(name, found[name], path) for name in names) > path.stat().st_size:
        raise EncoderError(f"{path}: the tensors say more numbers than the file has")
    return {name: _finite(name, found[name].float().contiguous(), path) for name in names}


def _load(path: Path, *, convert: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of protocols of pickle that are not PyTorch's own
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if "GLOBAL" in str(error):  # it asks for a function or class that is no tensor's
            raise unpickling(path, convert) from None
        raise


def _size(name: str, tensor: Any, path: Path) -> int:
    """Return the bytes of the numbers of a tensor, if it is one that has its numbers with it."""
    if not (isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided):
        raise EncoderError(f"{path}: {name} is no dense tensor")
    if tensor.device.type != "cpu" or not tensor.is_floating_point() or not tensor.numel():
        raise EncoderError(
            f"{path}: {name} is {tensor.dtype} of shape {tuple(tensor.shape)}; numbers in floating "
            "point are wanted"
        )
    return tensor.numel() * tensor.element_size()


def read_arrays(path: Path, names: Sequence[str]) -> dict[str, torch.Tensor]:
    """Return the arrays *names* of an npz file, float32; what else is in it is not looked at.

    Raises:
        UsageError: there is no such file.
        EncoderError: it is damaged, lacks an array, or has one that would have to be unpickled.
    """
    with _reading(path, "npz file of arrays"):
        _check_packed(path)
        with path.open("rb") as file, _quiet(), np.load(file, allow_pickle=False) as arrays:
            _check_names([name for name in arrays if name in names], names, path)
            return {name: _tensor(name, _member(arrays, name, path), path) for name in names}


def _member(arrays: Any, name: str, path: Path) -> Any:
    try:
        return arrays[name]
    except ValueError as error:
        if "Object arrays" in str(error):
            raise unpickling(path, f"save {name} as an array of float32") from None
        raise


def _tensor(name: str, array: Any, path: Path) -> torch.Tensor:
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.size:
        raise EncoderError(f"{path}: {name} is no array of floating point numbers")
    with np.errstate(over="ignore"):  # what overflows is not finite
        return _finite(name, torch.from_numpy(array.astype(np.float32)), path)


def read_table(path: Path, *, convert: str) -> Vectors:
    """Return the array (rows, dim) of an npy file, which stays on disk.

    Raises:
        UsageError: there is no such file.
        EncoderError: it is damaged, would have to be unpickled, or is not such an array.
    """
    with _reading(path, "npy file with one array"):
        with path.open("rb") as file:
            if file.read(len(NPY_MAGIC)) != NPY_MAGIC:
                raise EncoderError(f"{path}: no npy file with one array")
        try:
            with _quiet():
                table: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            if "Python objects" in str(error):
                raise unpickling(path, convert) from None
            raise
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind != "f":
        raise EncoderError(
            f"{path}: {table.dtype} of shape {table.shape}; floating point (words, dim) is wanted"
        )
    return table


@contextmanager
def _reading(path: Path, what: str) -> Iterator[None]:
    """Turn what is raised for a damaged file into one sentence."""
    try:
        yield
    except SentprobeError:
        raise
    except OSError as error:
        raise path_error(path, "cannot read the weights", error, otherwise=EncoderError) from None
    except Exception:  # of a damaged file, PyTorch's unpickler raises whatever comes up
        raise EncoderError(f"{path}: no {what}, or a damaged one") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Have NumPy say nothing of arrays that Python 2 wrote."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _check_packed(path: Path) -> None:
    """Refuse an archive that unpacks to far more than it is."""
    with path.open("rb") as file:
        if is_zipfile(file):
            with ZipFile(file) as archive:
                for part in archive.infolist():
                    check_proportion(part.file_size, part.compress_size)


def _check_names(found: Collection[str], wanted: Sequence[str], path: Path) -> None:
    """Refuse a file that lacks a name, or has another one."""
    if missing := [name for name in wanted if name not in found]:
        raise EncoderError(f"{path}: there is no {', no '.join(missing)} in this file")
    if others := [name for name in found if name not in wanted]:
        raise EncoderError(f"{path}: there is {', '.join(others)} in this file, of another model")


def _finite(name: str, tensor: torch.Tensor, path: Path) -> torch.Tensor:
    if not tensor.isfinite().all():
        raise EncoderError(f"{path}: {name} has numbers that are not finite")
    return tensor


def shape_of_matrix(name: str, tensor: torch.Tensor, path: Path) -> tuple[int, int]:
    """Return rows and columns; refuse what has no two dimensions."""
    if tensor.ndim != 2:
        raise EncoderError(f"{path}: {name} is of shape {tuple(tensor.shape)}; a matrix is wanted")
    rows, columns = tensor.shape
    return rows, columns


def check_shape(name: str, tensor: torch.Tensor, wanted: Sequence[int], path: Path) -> None:
    """Refuse a tensor of another shape than *wanted*."""
    if tuple(tensor.shape) != tuple(wanted):
        raise EncoderError(
            f"{path}: {name} is of shape {tuple(tensor.shape)}; {tuple(wanted)} is wanted, going "
            "by the others"
        )


def unpickling(path: Path, convert: str) -> EncoderError:
    """Return the error that refuses what only unpickling could read."""
    return EncoderError(
        f"{path}: only unpickling reads this, which may run code that is in it; where you trust "
        f"it, convert it: {convert}"
    )


def content_digest(path: Path) -> str:
    """Return the sha256 of what is in a file.

    Raises:
        UsageError: there is no such file.
    """
    with _reading(path, "file of weights"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


PICKLES = (b"\x80", b"(dp", b"}q\x00", b"}q\x01", b"ccopy_reg\n", b"ccollections\n")
"""How pickles begin: from protocol 2 on, and before."""


def refuse_pickle(path: Path, convert: str) -> None:
    """Refuse a file that is a pickle, going by its first bytes.

    Raises:
        UsageError: there is no such file.
        EncoderError: it is one.
    """
    with _reading(path, "file of weights"), path.open("rb") as file:
        if file.read(16).startswith(PICKLES):
            raise unpickling(path, convert)
