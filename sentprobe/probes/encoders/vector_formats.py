"""Read and write files of sentence vectors in five formats.

=============  =========================================================================
npz            array ``vectors`` (n, dim); optional arrays ``sentences`` and ``ids`` (n,)
npy            one array (n, dim), without sentences or ids
safetensors    tensor ``vectors`` (n, dim); optional JSON lists ``sentences`` and ``ids`` in the metadata
parquet        column ``vector`` (a list of numbers per row); optional columns ``sentence`` and ``id``
lookup         lines of an id, a sentence and a vector, separated by tabs; the numbers of a vector are
               separated by spaces (look-up format of Ettinger et al. 2018); plain, gzip or xz
=============  =========================================================================
"""

import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np

from sentprobe.common.errors import FormatError, UsageError, first_line, path_error
from sentprobe.common.files import atomic_path
from sentprobe.common.inputs import to_input_path
from sentprobe.common.reading import (
    check_proportion,
    decode_lines,
    iterate_lines,
    limit_unpacking,
    open_input,
    parse_numbers,
    read_parquet_table,
    unpack_streams,
)
from sentprobe.common.specs import choose_member
from sentprobe.common.values import BadSyntaxError, parse_json
from sentprobe.probes.encoders.encoder import EncoderError, Vectors

Texts = tuple[str, ...]

UNREADABLE = (
    EOFError, ValueError, RuntimeError, MemoryError, OverflowError, LookupError, TypeError,
    SyntaxError, SystemError, TokenError, lzma.LZMAError, zlib.error, BadZipFile,
)  # fmt: skip
"""Exceptions that NumPy, zipfile, gzip and lzma raise for damaged files."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorFile:
    """The sentence vectors in a file, (n, dim) float32, with the sentences and ids if the file has them."""

    vectors: Vectors
    sentences: Texts | None = None
    ids: Texts | None = None


class VectorFileError(EncoderError):
    """A file of sentence vectors cannot be read or written, or its vectors, sentences and ids do not match."""


def check_vector_file(file: VectorFile, path: Path) -> VectorFile:
    """Return *file* with float32 vectors. Raises VectorFileError for bad vectors or a wrong number of texts or ids."""
    array = file.vectors
    if not isinstance(array, np.ndarray):  # a member of an npz file may be anything
        raise VectorFileError(f"{path}: 'vectors' is not an array")
    if array.ndim != 2 or 0 in array.shape:
        raise VectorFileError(f"{path}: vectors of shape {array.shape}; (sentences, dim) is expected")
    if not np.issubdtype(array.dtype, np.floating):
        raise VectorFileError(f"{path}: vectors of {array.dtype}; floating point is expected")
    for name, texts in (("sentences", file.sentences), ("ids", file.ids)):
        if texts is not None and len(texts) != len(array):
            raise VectorFileError(f"{path}: {len(texts)} {name} for {len(array)} vectors")
    with np.errstate(over="ignore"):
        vectors = np.ascontiguousarray(array, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        texts = file.sentences or file.ids
        quoted_text = f" ({texts[bad[0]]!r})" if texts else ""
        raise VectorFileError(f"{path}: the vector in row {bad[0]}{quoted_text} is not finite")
    return VectorFile(vectors, file.sentences, file.ids)


OPENERS: Mapping[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".xz": lambda raw: unpack_streams(raw, lzma.LZMADecompressor),
}
"""Functions that open compressed files, by suffix."""


def read_lookup(path: Path) -> VectorFile:
    """Read a file with three fields in each line, separated by tabs: id, sentence, vector. Raises VectorFileError."""
    ids: list[str] = []
    sentences: list[str] = []
    rows: list[Vectors] = []
    for number, line in read_lines(path):
        place = f"{path}, line {number}"
        fields = line.split("\t")
        if len(fields) != 3:
            raise VectorFileError(
                f"{place}: {len(fields)} fields; id, sentence and vector are expected, separated by tabs"
            )
        row = _parse_vector(fields[2], place=place)
        if rows and len(row) != len(rows[0]):
            raise VectorFileError(f"{place}: {len(row)} numbers; the lines before have {len(rows[0])}")
        ids.append(fields[0])
        sentences.append(fields[1])
        rows.append(row)
    if not rows:
        raise VectorFileError(f"{path}: no vectors in this file")
    return VectorFile(np.stack(rows), tuple(sentences), tuple(ids))


def _parse_vector(text: str, *, place: str) -> Vectors:
    try:
        numbers = parse_numbers(text)
    except ValueError as error:
        raise VectorFileError(f"{place}: {error}") from None
    if not numbers:
        raise VectorFileError(f"{place}: there are no numbers")
    with np.errstate(over="ignore"):
        row = np.array(numbers, dtype=np.float32)
    if not np.isfinite(row).all():
        raise VectorFileError(f"{place}: the vector is not finite")
    return row


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text) of each line that is not empty. Raises VectorFileError if it is not UTF-8."""
    with (
        open_input(path) as raw,
        limit_unpacking(OPENERS[path.suffix](raw), raw.tell) if path.suffix in OPENERS else raw as file,
    ):
        try:
            for number, line in enumerate(decode_lines(iterate_lines(file)), start=1):
                if text := line.rstrip("\r\n"):
                    yield number, text
        except FormatError as error:
            raise VectorFileError(f"{path}, {error}") from None


def write_lookup(temporary: Path, vectors: Vectors, sentences: Texts, path: Path) -> None:
    """Write a line for each sentence: its number from 0, its text, its vector. Compress ``.gz`` and ``.xz`` files."""
    for text in sentences:
        if not set("\t\n\r").isdisjoint(text):
            raise VectorFileError(f"{path}: {text!r} contains a tab or a line break")
    number_format = " ".join(["%.9g"] * vectors.shape[1])
    with temporary.open("wb") as raw, _open_packed(raw, path.suffix) as file:
        for number, (sentence, row) in enumerate(zip(sentences, vectors, strict=True)):
            file.write(f"{number}\t{sentence}\t{number_format % tuple(row.tolist())}\n".encode())


def _open_packed(raw: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)
    return lzma.open(raw, "wb") if suffix == ".xz" else raw


def read_npz(path: Path) -> VectorFile:
    """Read an npz file without unpickling. Raises VectorFileError, or an exception in UNREADABLE."""
    with open_input(path) as file, np.load(file, allow_pickle=False) as arrays:
        if not isinstance(arrays, np.lib.npyio.NpzFile):
            raise VectorFileError(f"{path}: one array; an npz file with named arrays is expected")
        for part in arrays.zip.infolist() if arrays.zip else ():
            check_proportion(part.file_size, part.compress_size)
        if "vectors" not in arrays:
            raise VectorFileError(f"{path}: there is no array 'vectors'; its arrays: {', '.join(arrays) or 'none'}")
        texts = {name: _read_npz_texts(arrays, name, path) for name in ("sentences", "ids")}
        return VectorFile(arrays["vectors"], **texts)


def _read_npz_texts(arrays: Any, name: str, path: Path) -> Texts | None:
    if name not in arrays:
        return None
    try:
        texts = arrays[name]
    except ValueError as error:  # an array of Python objects, which only unpickling reads
        raise VectorFileError(f"{path}: array {name!r}: {first_line(error)}; an array of strings is expected") from None
    if not isinstance(texts, np.ndarray):
        raise VectorFileError(f"{path}: {name!r} is not an array; strings (n,) are expected")
    if texts.ndim != 1 or texts.dtype.kind not in "Uiu":
        raise VectorFileError(
            f"{path}: array {name!r} is {texts.dtype} of shape {texts.shape}; strings (n,) are expected"
        )
    return tuple(map(str, texts.tolist()))


def write_npz(temporary: Path, vectors: Vectors, sentences: Texts, path: Path) -> None:
    """Write the arrays ``vectors`` and ``sentences`` to an npz file. Raises VectorFileError."""
    if any(text.endswith("\0") for text in sentences):
        raise VectorFileError(f"{path}: a sentence ends in a null character, which npz drops")
    # NumPy moves back in the file that it writes, which a pipe or /dev/null does not allow.
    with temporary.open("wb") as file, BytesIO() as packed:
        np.savez(file if temporary.is_file() else packed, vectors=vectors, sentences=np.array(sentences, np.str_))
        file.write(packed.getbuffer())


def read_npy(path: Path) -> VectorFile:
    """Read an npy file without unpickling. Raises VectorFileError, or an exception in UNREADABLE."""
    with open_input(path) as file:
        array = np.load(file, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise VectorFileError(f"{path}: several named arrays; one array is expected (or use format=npz)")
        if file.read(1):
            raise VectorFileError(f"{path}: more bytes than its header's {array.dtype} of shape {array.shape} takes")
        return VectorFile(array)


def write_npy(temporary: Path, vectors: Vectors, sentences: Texts, path: Path) -> None:  # noqa: ARG001
    """Write the vectors to an npy file, which cannot store sentences."""
    with temporary.open("wb") as file:
        np.save(file, vectors)


def read_safetensors(path: Path) -> VectorFile:
    """Read the vectors of a safetensors file, and the sentences and ids in its metadata. Raises VectorFileError."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(to_input_path(path), framework="numpy") as file:
            if "vectors" not in file.keys():  # noqa: SIM118 - *file* is not a dictionary
                raise VectorFileError(f"{path}: there is no tensor 'vectors'")
            metadata = file.metadata() or {}
            texts = {
                name: _parse_json_texts(metadata[name], f"{path}: metadata {name!r}")
                for name in ("sentences", "ids")
                if name in metadata
            }
            return VectorFile(file.get_tensor("vectors"), **texts)
    except (SafetensorError, TypeError) as error:  # TypeError: a number format that NumPy lacks
        raise VectorFileError(f"{path}: {first_line(error)}") from None


def _parse_json_texts(text: str, place: str) -> Texts:
    try:
        values = parse_json(text)
    except BadSyntaxError:
        values = None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise VectorFileError(f"{place}: a JSON list of strings is expected")
    return tuple(values)


def write_safetensors(temporary: Path, vectors: Vectors, sentences: Texts, path: Path) -> None:  # noqa: ARG001
    """Write a safetensors file with the tensor ``vectors`` and, in the metadata, a JSON list of the sentences."""
    from safetensors.numpy import save

    # With more than one entry, the order of the metadata would differ between processes.
    temporary.write_bytes(save({"vectors": vectors}, metadata={"sentences": json.dumps(sentences)}))


def read_parquet(path: Path) -> VectorFile:
    """Read the columns ``vector``, ``sentence`` and ``id`` of a Parquet file. Raises VectorFileError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names = pq.read_schema(to_input_path(path)).names
        column_names = [name for name in ("vector", "sentence", "id") if name in names]
        if "vector" not in column_names:
            raise VectorFileError(f"{path}: there is no column 'vector'; its columns: {', '.join(names)}")
        table = read_parquet_table(path, column_names)
    except pa.ArrowException as error:
        raise VectorFileError(f"{path}: {first_line(error)}") from None
    texts: dict[str, Texts] = {}
    for name in column_names[1:]:
        column = table.column(name)
        if column.null_count:
            raise VectorFileError(f"{path}: column {name!r} has missing values")
        texts[f"{name}s"] = tuple(map(str, column.to_pylist()))
    return VectorFile(_read_vector_column(table.column("vector").combine_chunks(), path), **texts)


def _read_vector_column(column: Any, path: Path) -> Vectors:
    import pyarrow as pa

    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_list(column.type) for is_list in checks):
        raise VectorFileError(f"{path}: column 'vector' is {column.type}; lists of numbers are expected")
    widths = set(column.value_lengths().to_pylist())
    if len(widths) > 1 or None in widths or column.flatten().null_count:
        raise VectorFileError(f"{path}: column 'vector' has missing values or lists of several lengths")
    values = column.flatten().to_numpy(zero_copy_only=False)
    return np.reshape(values, (len(column), -1)) if len(column) else np.zeros((0, 0), np.float32)


def write_parquet(temporary: Path, vectors: Vectors, sentences: Texts, path: Path) -> None:  # noqa: ARG001
    """Write a Parquet file with the columns ``sentence`` and ``vector``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, dim = vectors.shape
    offsets = np.arange(0, (rows + 1) * dim, dim, dtype=np.int64)
    lists = pa.LargeListArray.from_arrays(offsets, vectors.reshape(-1)).cast(pa.list_(pa.float32()))
    pq.write_table(pa.table({"sentence": pa.array(sentences, pa.string()), "vector": lists}), temporary)


class VectorFormat(StrEnum):
    """A file format of sentence vectors."""

    NPZ = "npz"
    NPY = "npy"
    SAFETENSORS = "safetensors"
    PARQUET = "parquet"
    LOOKUP = "lookup"


def find_format(path: Path, name: str | None = None) -> VectorFormat:
    """Return the format called *name* or, if None, the format of the file's suffix. Raises UsageError.

    >>> find_format(Path("vectors.npz")), find_format(Path("embeddings.txt.xz"))
    (<VectorFormat.NPZ: 'npz'>, <VectorFormat.LOOKUP: 'lookup'>)
    """
    if name is not None:
        return choose_member(VectorFormat, name, what="format of sentence vectors")
    suffix = Path(path.stem).suffix if path.suffix in OPENERS else path.suffix
    if suffix not in SUFFIXES:
        raise UsageError(
            f"{path}: {suffix!r} is not the suffix of a format of sentence vectors; known: {', '.join(SUFFIXES)}"
        )
    return SUFFIXES[suffix]


def read_vectors(path: Path, *, format: str | None = None) -> VectorFile:
    """Read a file in *format* (None: the format of the suffix). Raises UsageError or VectorFileError."""
    name = find_format(path, format)
    reader, _ = FORMATS[name]
    try:
        path.open("rb").close()  # raises the same exception in all formats if the file is missing
        file = reader(path)
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=VectorFileError) from None
    except UNREADABLE as error:
        raise VectorFileError(f"{path}: damaged, or not in the format {name}: {first_line(error)}") from None
    return check_vector_file(file, path)


def write_vectors(path: Path, sentences: Sequence[str], vectors: Vectors, *, format: str | None = None) -> None:
    """Write sentences and their vectors, (n, dim) float32, in *format* (None: the format of the suffix).

    Raises UsageError or VectorFileError.
    """
    _, write = FORMATS[find_format(path, format)]
    texts = tuple(sentences)
    content = check_vector_file(VectorFile(vectors, texts), path)
    with atomic_path(path) as temporary:
        write(temporary, content.vectors, texts, path)


SUFFIXES: Mapping[str, VectorFormat] = {
    **{f".{known_format}": known_format for known_format in VectorFormat if known_format is not VectorFormat.LOOKUP},
    ".txt": VectorFormat.LOOKUP,
    ".tsv": VectorFormat.LOOKUP,
}

FORMATS: Mapping[VectorFormat, tuple[Callable[[Path], VectorFile], Callable[[Path, Vectors, Texts, Path], None]]] = {
    VectorFormat.NPZ: (read_npz, write_npz),
    VectorFormat.NPY: (read_npy, write_npy),
    VectorFormat.SAFETENSORS: (read_safetensors, write_safetensors),
    VectorFormat.PARQUET: (read_parquet, write_parquet),
    VectorFormat.LOOKUP: (read_lookup, write_lookup),
}
"""The reader and the writer of each format.

A writer writes to its first argument, a temporary path; its last argument is the path that error messages name.
"""
