"""Files of sentence vectors: one table of formats, each with a reader and a writer.

=============  =========================================================================
npz            arrays ``vectors`` (n, dim), and ``sentences``, ``ids`` or both (n,)
npy            one array (n, dim), and nothing that says of which sentences
safetensors    tensor ``vectors`` (n, dim); ``sentences``, ``ids`` as JSON lists in the metadata
parquet        columns ``vector`` (a list of numbers), and ``sentence``, ``id`` or both
lookup         a line a sentence: id, sentence and numbers; tabs between the three, spaces between
               numbers: the look-up format of Ettinger et al. 2018, packed by gzip or xz or not
=============  =========================================================================
"""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import UsageError, first_line, path_error, suggest
from sentprobe.files import atomic_path, local_path
from sentprobe.probes.encoders.lookup_file import OPENERS, read_lookup, write_lookup
from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.encoders.vector_file import (
    UNREADABLE,
    Texts,
    VectorFile,
    VectorFileError,
    checked,
)
from sentprobe.unpacking import check_proportion
from sentprobe.values import BadSyntaxError, parse_json


def read_npz(path: Path) -> VectorFile:
    """Read the arrays ``vectors``, ``sentences`` and ``ids``; nothing is unpickled.

    Raises:
        VectorFileError: an array is missing or of another type.
        ValueError: the file is damaged (or another of UNREADABLE).
    """
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        if not isinstance(arrays, np.lib.npyio.NpzFile):
            raise VectorFileError(f"{path}: one array; npz with names is wanted")
        for part in arrays.zip.infolist() if arrays.zip else ():
            check_proportion(part.file_size, part.compress_size)
        if "vectors" not in arrays:
            raise VectorFileError(
                f"{path}: there is no array 'vectors'; it has: {', '.join(arrays) or 'none'}"
            )
        texts = {name: _npz_texts(arrays, name, path) for name in ("sentences", "ids")}
        return VectorFile(arrays["vectors"], **texts)


def _npz_texts(arrays: Any, name: str, path: Path) -> Texts | None:
    if name not in arrays:
        return None
    try:
        texts = arrays[name]
    except ValueError as error:  # an array of Python objects, which would be unpickled
        raise VectorFileError(
            f"{path}: array {name!r}: {error}; an array of strings is wanted"
        ) from None
    if not isinstance(texts, np.ndarray):
        raise VectorFileError(f"{path}: {name!r} is no array; strings (n,) are wanted")
    if texts.ndim != 1 or texts.dtype.kind not in "Uiu":
        raise VectorFileError(
            f"{path}: array {name!r} is {texts.dtype} of shape {texts.shape}; "
            "strings (n,) are wanted"
        )
    return tuple(map(str, texts.tolist()))


def write_npz(temporary: Path, made: VectorFile, path: Path) -> None:
    """Write the arrays ``vectors``, ``sentences`` and ``ids``, those that there are.

    Raises:
        VectorFileError: a text ends in a zero.
    """
    texts = {"sentences": made.sentences, "ids": made.ids}
    for name, values in texts.items():
        if any(text.endswith("\0") for text in values or ()):
            raise VectorFileError(f"{path}: one of the {name} ends in a zero, which npz drops")
    arrays = {name: np.array(values, dtype=np.str_) for name, values in texts.items() if values}
    if not temporary.is_file():  # a pipe or /dev/null, which has no places to go back to
        packed = BytesIO()
        np.savez(packed, vectors=made.vectors, **arrays)  # type: ignore[arg-type]
        temporary.write_bytes(packed.getbuffer())
        return
    with temporary.open("wb") as file:
        np.savez(file, vectors=made.vectors, **arrays)  # type: ignore[arg-type]


def read_npy(path: Path) -> VectorFile:
    """Read the array; nothing is unpickled.

    Raises:
        VectorFileError: there are several.
        ValueError: the file is damaged (or another of UNREADABLE).
    """
    with path.open("rb") as file:
        array = np.load(file, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise VectorFileError(f"{path}: arrays with names; one array is wanted (format=npz)")
        return VectorFile(array)


def write_npy(temporary: Path, made: VectorFile, path: Path) -> None:  # noqa: ARG001
    """Write the vectors alone, in order."""
    with temporary.open("wb") as file:
        np.save(file, made.vectors)


def read_safetensors(path: Path) -> VectorFile:
    """Read the tensor ``vectors``, and ``sentences`` and ``ids`` from the metadata.

    Raises:
        VectorFileError: the file is damaged, or lacks the tensor; the metadata are not JSON lists.
    """
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415

    try:
        with safe_open(path, framework="numpy") as file:
            if "vectors" not in file.keys():  # noqa: SIM118 - it is no dictionary
                raise VectorFileError(f"{path}: there is no tensor 'vectors'")
            metadata = file.metadata() or {}
            texts = {
                name: _json_texts(metadata[name], f"{path}: metadata {name!r}")
                for name in ("sentences", "ids")
                if name in metadata
            }
            return VectorFile(file.get_tensor("vectors"), **texts)
    except (SafetensorError, TypeError) as error:  # TypeError: a type that NumPy does not have
        raise VectorFileError(f"{path}: {first_line(error)}") from None


def _json_texts(text: str, place: str) -> Texts:
    try:
        values = parse_json(text)
    except BadSyntaxError:
        values = None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise VectorFileError(f"{place}: a JSON list of strings is wanted")
    return tuple(values)


def write_safetensors(temporary: Path, made: VectorFile, path: Path) -> None:  # noqa: ARG001
    """Write the tensor ``vectors``, and the texts as JSON lists in the metadata."""
    from safetensors.numpy import save  # noqa: PLC0415

    texts = {"sentences": made.sentences, "ids": made.ids}
    metadata = {name: json.dumps(values) for name, values in texts.items() if values is not None}
    content = save({"vectors": made.vectors}, metadata=metadata)
    header, rest = _ordered_header(content)
    with temporary.open("wb") as file:
        file.write(header)
        file.write(memoryview(content)[rest:])


def _ordered_header(content: bytes) -> tuple[bytes, int]:
    """Return the header with its entries in order, and where the old one ends.

    The package writes the metadata in an order that differs from one process to the next.
    """
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8:end]), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)  # the numbers after it stay aligned
    return len(header).to_bytes(8, "little") + header, end


def read_parquet(path: Path) -> VectorFile:
    """Read the columns ``vector`` (lists of one length), ``sentence`` and ``id``.

    Raises:
        VectorFileError: there is no such column, or it has other values.
    """
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        names = pq.read_schema(local_path(path)).names
        wanted = [name for name in ("vector", "sentence", "id") if name in names]
        if "vector" not in wanted:
            raise VectorFileError(
                f"{path}: there is no column 'vector'; it has: {', '.join(names)}"
            )
        table = pq.read_table(local_path(path), columns=wanted)
    except pa.ArrowException as error:
        raise VectorFileError(f"{path}: {first_line(error)}") from None
    column = table.column("vector").combine_chunks()
    texts = {f"{name}s": _texts(table, name, path) for name in wanted if name != "vector"}
    return VectorFile(_matrix(column, path), **texts)


def _texts(table: Any, name: str, path: Path) -> Texts:
    column = table.column(name)
    if column.null_count:
        raise VectorFileError(f"{path}: column {name!r} has missing values")
    return tuple(map(str, column.to_pylist()))


def _matrix(column: Any, path: Path) -> Vectors:
    """Return a column of lists, all of one length, as an array."""
    import pyarrow as pa  # noqa: PLC0415

    kind = column.type
    lists = (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )
    if not lists:
        raise VectorFileError(f"{path}: column 'vector' is {kind}; lists of numbers are wanted")
    widths = set(column.value_lengths().to_pylist())
    if len(widths) > 1 or None in widths or column.flatten().null_count:
        raise VectorFileError(
            f"{path}: column 'vector' has missing values or lists of several lengths"
        )
    values = column.flatten().to_numpy(zero_copy_only=False)
    return np.reshape(values, (len(column), -1)) if len(column) else np.zeros((0, 0), np.float32)


def write_parquet(temporary: Path, made: VectorFile, path: Path) -> None:  # noqa: ARG001
    """Write the columns ``id`` and ``sentence``, those that there are, and ``vector``."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    rows, dim = made.vectors.shape
    offsets = np.arange(0, (rows + 1) * dim, dim, dtype=np.int64)
    lists = pa.LargeListArray.from_arrays(offsets, made.vectors.reshape(-1))
    columns = {"id": made.ids, "sentence": made.sentences}
    arrays = {name: pa.array(texts, pa.string()) for name, texts in columns.items() if texts}
    vector = lists.cast(pa.list_(pa.float32()))
    pq.write_table(pa.table({**arrays, "vector": vector}), temporary)


class VectorFormat(StrEnum):
    """The formats of files of sentence vectors."""

    NPZ = "npz"
    NPY = "npy"
    SAFETENSORS = "safetensors"
    PARQUET = "parquet"
    LOOKUP = "lookup"


def format_of(path: Path, name: str | None = None) -> VectorFormat:
    """Return the format of that *name* or, without one, the one that the file's suffix says.

    >>> format_of(Path("vectors.npz")), format_of(Path("embeddings.txt.xz"))
    (<VectorFormat.NPZ: 'npz'>, <VectorFormat.LOOKUP: 'lookup'>)

    Raises:
        UsageError: there is no such format.
    """
    if name is not None:
        if name not in list(VectorFormat):
            near = suggest(name, [each.value for each in VectorFormat])
            known = ", ".join(VectorFormat)
            raise UsageError(f"unknown format {name!r} of sentence vectors{near}; known: {known}")
        return VectorFormat(name)
    suffix = Path(path.stem).suffix if path.suffix in OPENERS else path.suffix
    if suffix not in SUFFIXES:
        raise UsageError(
            f"{path}: the suffix {suffix!r} says no format of sentence vectors; "
            f"known: {', '.join(SUFFIXES)}"
        )
    return SUFFIXES[suffix]


def read_vectors(path: Path, *, format: str | None = None) -> VectorFile:
    """Read a file of sentence vectors; its suffix says the format if not given.

    Raises:
        UsageError: an unknown format; there is no such file.
        VectorFileError: the file is damaged, or its parts do not fit together.
    """
    reader, _ = FORMATS[format_of(path, format)]
    try:
        path.open("rb").close()  # not every reader says in the same way that there is no file
        found = reader(path)
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=VectorFileError) from None
    except UNREADABLE as error:
        raise VectorFileError(f"{path}: {first_line(error)}") from None
    return checked(found, path)


def write_vectors(
    path: Path,
    sentences: Sequence[str],
    vectors: Vectors,
    *,
    ids: Sequence[str] | None = None,
    format: str | None = None,
) -> None:
    """Write sentence vectors, (n, dim) float32, as one file; its suffix says the format.

    The look-up format has ids in any case: without *ids*, the numbers of the rows from 0.

    Raises:
        UsageError: an unknown format; a path that cannot be written.
        VectorFileError: the parts differ in length; a text does not fit the format.
    """
    _, write = FORMATS[format_of(path, format)]
    made = VectorFile(vectors, tuple(sentences), None if ids is None else tuple(ids))
    made = checked(made, path)
    with atomic_path(path) as temporary:
        write(temporary, made, path)


SUFFIXES: Mapping[str, VectorFormat] = {
    ".npz": VectorFormat.NPZ,
    ".npy": VectorFormat.NPY,
    ".safetensors": VectorFormat.SAFETENSORS,
    ".parquet": VectorFormat.PARQUET,
    ".txt": VectorFormat.LOOKUP,
    ".tsv": VectorFormat.LOOKUP,
}
"""The format that a suffix says."""

FORMATS: Mapping[
    VectorFormat, tuple[Callable[[Path], VectorFile], Callable[[Path, VectorFile, Path], None]]
] = {
    VectorFormat.NPZ: (read_npz, write_npz),
    VectorFormat.NPY: (read_npy, write_npy),
    VectorFormat.SAFETENSORS: (read_safetensors, write_safetensors),
    VectorFormat.PARQUET: (read_parquet, write_parquet),
    VectorFormat.LOOKUP: (read_lookup, write_lookup),
}
"""A reader and a writer each; the last path of a writer is what errors name."""
