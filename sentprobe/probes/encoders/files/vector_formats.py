"""Files of sentence vectors: one table of formats, each with a reader and a writer.

=============  =========================================================================
npz            arrays ``vectors`` (n, dim), and ``sentences``, ``ids`` or both (n,)
npy            one array (n, dim), without sentences or ids
safetensors    tensor ``vectors`` (n, dim); ``sentences``, ``ids`` as JSON lists in the metadata
parquet        columns ``vector`` (a list of numbers), and ``sentence``, ``id`` or both
lookup         one sentence per line: id, sentence and numbers, with tabs between the three and spaces
               between numbers (look-up format of Ettinger et al. 2018); plain, gzip or xz
=============  =========================================================================
"""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.disk.files import atomic_path, to_local_path
from sentprobe.disk.unpacking import check_proportion
from sentprobe.errors import UsageError, first_line, path_error
from sentprobe.probes.encoders.files import vector_file as vf
from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.specs import choose_member
from sentprobe.values import BadSyntaxError, parse_json


def read_npz(path: Path) -> vf.VectorFile:
    """Read the arrays; nothing is unpickled. Raises VectorFileError, or an exception in UNREADABLE."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        if not isinstance(arrays, np.lib.npyio.NpzFile):
            raise vf.VectorFileError(f"{path}: one array; npz with names is wanted")
        for part in arrays.zip.infolist() if arrays.zip else ():
            check_proportion(part.file_size, part.compress_size)
        if "vectors" not in arrays:
            raise vf.VectorFileError(f"{path}: there is no array 'vectors'; it has: {', '.join(arrays) or 'none'}")
        texts = {name: _read_npz_texts(arrays, name, path) for name in ("sentences", "ids")}
        return vf.VectorFile(arrays["vectors"], **texts)


def _read_npz_texts(arrays: Any, name: str, path: Path) -> vf.Texts | None:
    if name not in arrays:
        return None
    try:
        texts = arrays[name]
    except ValueError as error:  # an array of Python objects, which would be unpickled
        raise vf.VectorFileError(f"{path}: array {name!r}: {error}; an array of strings is wanted") from None
    if not isinstance(texts, np.ndarray):
        raise vf.VectorFileError(f"{path}: {name!r} is no array; strings (n,) are wanted")
    if texts.ndim != 1 or texts.dtype.kind not in "Uiu":
        raise vf.VectorFileError(
            f"{path}: array {name!r} is {texts.dtype} of shape {texts.shape}; strings (n,) are wanted"
        )
    return tuple(map(str, texts.tolist()))


def write_npz(temporary: Path, vectors: Vectors, sentences: vf.Texts, path: Path) -> None:
    """Write the arrays ``vectors`` and ``sentences``. Raises VectorFileError."""
    if any(text.endswith("\0") for text in sentences):
        raise vf.VectorFileError(f"{path}: one of the sentences ends in a zero, which npz drops")
    # A pipe or /dev/null has no places to go back to.
    with temporary.open("wb") as file, BytesIO() as packed:
        np.savez(file if temporary.is_file() else packed, vectors=vectors, sentences=np.array(sentences, np.str_))
        file.write(packed.getbuffer())


def read_npy(path: Path) -> vf.VectorFile:
    """Read the array; nothing is unpickled. Raises VectorFileError, or an exception in UNREADABLE."""
    with path.open("rb") as file:
        array = np.load(file, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise vf.VectorFileError(f"{path}: arrays with names; one array is wanted (format=npz)")
        return vf.VectorFile(array)


def write_npy(temporary: Path, vectors: Vectors, sentences: vf.Texts, path: Path) -> None:  # noqa: ARG001
    """Write the vectors without texts."""
    with temporary.open("wb") as file:
        np.save(file, vectors)


def read_safetensors(path: Path) -> vf.VectorFile:
    """Read the tensor ``vectors``, and ``sentences`` and ``ids`` from the metadata. Raises VectorFileError."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            if "vectors" not in file.keys():  # noqa: SIM118 - it is no dictionary
                raise vf.VectorFileError(f"{path}: there is no tensor 'vectors'")
            metadata = file.metadata() or {}
            texts = {
                name: _parse_json_texts(metadata[name], f"{path}: metadata {name!r}")
                for name in ("sentences", "ids")
                if name in metadata
            }
            return vf.VectorFile(file.get_tensor("vectors"), **texts)
    except (SafetensorError, TypeError) as error:  # TypeError: a type that NumPy does not have
        raise vf.VectorFileError(f"{path}: {first_line(error)}") from None


def _parse_json_texts(text: str, place: str) -> vf.Texts:
    try:
        values = parse_json(text)
    except BadSyntaxError:
        values = None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise vf.VectorFileError(f"{place}: a JSON list of strings is wanted")
    return tuple(values)


def write_safetensors(temporary: Path, vectors: Vectors, sentences: vf.Texts, path: Path) -> None:  # noqa: ARG001
    """Write the tensor ``vectors``, and the sentences as a JSON list in the metadata."""
    from safetensors.numpy import save

    # More entries of metadata would be in another order in each process.
    temporary.write_bytes(save({"vectors": vectors}, metadata={"sentences": json.dumps(sentences)}))


def read_parquet(path: Path) -> vf.VectorFile:
    """Read the columns ``vector`` (lists of one length), ``sentence`` and ``id``. Raises VectorFileError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names = pq.read_schema(to_local_path(path)).names
        column_names = [name for name in ("vector", "sentence", "id") if name in names]
        if "vector" not in column_names:
            raise vf.VectorFileError(f"{path}: there is no column 'vector'; it has: {', '.join(names)}")
        table = pq.read_table(to_local_path(path), columns=column_names)
    except pa.ArrowException as error:
        raise vf.VectorFileError(f"{path}: {first_line(error)}") from None
    column = table.column("vector").combine_chunks()
    texts = {f"{name}s": _read_text_column(table, name, path) for name in column_names if name != "vector"}
    return vf.VectorFile(_read_vector_column(column, path), **texts)


def _read_text_column(table: Any, name: str, path: Path) -> vf.Texts:
    column = table.column(name)
    if column.null_count:
        raise vf.VectorFileError(f"{path}: column {name!r} has missing values")
    return tuple(map(str, column.to_pylist()))


def _read_vector_column(column: Any, path: Path) -> Vectors:
    import pyarrow as pa

    kind = column.type
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if not lists:
        raise vf.VectorFileError(f"{path}: column 'vector' is {kind}; lists of numbers are wanted")
    widths = set(column.value_lengths().to_pylist())
    if len(widths) > 1 or None in widths or column.flatten().null_count:
        raise vf.VectorFileError(f"{path}: column 'vector' has missing values or lists of several lengths")
    values = column.flatten().to_numpy(zero_copy_only=False)
    return np.reshape(values, (len(column), -1)) if len(column) else np.zeros((0, 0), np.float32)


def write_parquet(temporary: Path, vectors: Vectors, sentences: vf.Texts, path: Path) -> None:  # noqa: ARG001
    """Write the columns ``sentence`` and ``vector``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, dim = vectors.shape
    offsets = np.arange(0, (rows + 1) * dim, dim, dtype=np.int64)
    lists = pa.LargeListArray.from_arrays(offsets, vectors.reshape(-1)).cast(pa.list_(pa.float32()))
    pq.write_table(pa.table({"sentence": pa.array(sentences, pa.string()), "vector": lists}), temporary)


class VectorFormat(StrEnum):
    """The formats of files of sentence vectors."""

    NPZ = "npz"
    NPY = "npy"
    SAFETENSORS = "safetensors"
    PARQUET = "parquet"
    LOOKUP = "lookup"


def find_format(path: Path, name: str | None = None) -> VectorFormat:
    """Return the format with this name or, without a name, by the suffix of the file. Raises UsageError.

    >>> find_format(Path("vectors.npz")), find_format(Path("embeddings.txt.xz"))
    (<VectorFormat.NPZ: 'npz'>, <VectorFormat.LOOKUP: 'lookup'>)
    """
    if name is not None:
        return choose_member(VectorFormat, name, what="format of sentence vectors")
    suffix = Path(path.stem).suffix if path.suffix in vf.OPENERS else path.suffix
    if suffix not in SUFFIXES:
        raise UsageError(
            f"{path}: the suffix {suffix!r} says no format of sentence vectors; known: {', '.join(SUFFIXES)}"
        )
    return SUFFIXES[suffix]


def read_vectors(path: Path, *, format: str | None = None) -> vf.VectorFile:
    """Read a file of sentence vectors, by default in the format of its suffix. Raises UsageError or VectorFileError."""
    reader, _ = FORMATS[find_format(path, format)]
    try:
        path.open("rb").close()  # not every reader says in the same way that there is no file
        file = reader(path)
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=vf.VectorFileError) from None
    except vf.UNREADABLE as error:
        raise vf.VectorFileError(f"{path}: {first_line(error)}") from None
    return vf.check_vector_file(file, path)


def write_vectors(path: Path, sentences: Sequence[str], vectors: Vectors, *, format: str | None = None) -> None:
    """Write vectors, (n, dim) float32, by default in the format of the suffix. Raises UsageError or VectorFileError."""
    _, write = FORMATS[find_format(path, format)]
    texts = tuple(sentences)
    content = vf.check_vector_file(vf.VectorFile(vectors, texts), path)
    with atomic_path(path) as temporary:
        write(temporary, content.vectors, texts, path)


SUFFIXES: Mapping[str, VectorFormat] = {
    **{f".{known_format}": known_format for known_format in VectorFormat if known_format is not VectorFormat.LOOKUP},
    ".txt": VectorFormat.LOOKUP,
    ".tsv": VectorFormat.LOOKUP,
}

FORMATS: Mapping[
    VectorFormat, tuple[Callable[[Path], vf.VectorFile], Callable[[Path, Vectors, vf.Texts, Path], None]]
] = {
    VectorFormat.NPZ: (read_npz, write_npz),
    VectorFormat.NPY: (read_npy, write_npy),
    VectorFormat.SAFETENSORS: (read_safetensors, write_safetensors),
    VectorFormat.PARQUET: (read_parquet, write_parquet),
    VectorFormat.LOOKUP: (vf.read_lookup, vf.write_lookup),
}
"""Reader and writer of each format; the last argument of a writer is the path in errors."""
