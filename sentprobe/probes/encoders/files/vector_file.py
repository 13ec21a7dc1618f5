"""The content of a file of sentence vectors, and its check."""

import lzma
import zlib
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from zipfile import BadZipFile

import numpy as np

from sentprobe.probes.encoders.protocol import EncoderError, Vectors

Texts = tuple[str, ...]

UNREADABLE = (
    EOFError, ValueError, RuntimeError, MemoryError, OverflowError, LookupError, TypeError,
    SyntaxError, SystemError, TokenError, lzma.LZMAError, zlib.error, BadZipFile,
)  # fmt: skip
"""Exceptions that damaged files cause."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorFile:
    """Sentence vectors, (n, dim) float32, with optional sentences and ids."""

    vectors: Vectors
    sentences: Texts | None = None
    ids: Texts | None = None


class VectorFileError(EncoderError):
    """A file of sentence vectors cannot be read, or contradicts itself."""


def check_vector_file(file: VectorFile, path: Path) -> VectorFile:
    """Return the content with float32 vectors if vectors and texts fit together."""
    array = file.vectors
    if not isinstance(array, np.ndarray):  # a member of an npz that is no array
        raise VectorFileError(f"{path}: 'vectors' is no array")
    if array.ndim != 2 or 0 in array.shape:
        raise VectorFileError(f"{path}: vectors of shape {array.shape}; (sentences, dim) is wanted")
    if not np.issubdtype(array.dtype, np.floating):
        raise VectorFileError(f"{path}: vectors of {array.dtype}; floating point is wanted")
    for kind, texts in (("sentences", file.sentences), ("ids", file.ids)):
        if texts is not None and len(texts) != len(array):
            raise VectorFileError(f"{path}: {len(texts)} {kind} for {len(array)} vectors")
    with np.errstate(over="ignore"):
        vectors = np.ascontiguousarray(array, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        texts = file.sentences or file.ids
        quoted_text = f" ({texts[bad[0]]!r})" if texts else ""
        raise VectorFileError(f"{path}: the vector in row {bad[0]}{quoted_text} is not finite")
    return VectorFile(vectors, file.sentences, file.ids)
