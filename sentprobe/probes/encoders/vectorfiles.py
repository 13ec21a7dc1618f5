"""Files of sentence vectors: one table of formats, each with a reader and a writer.

=============  =========================================================================
npz            arrays ``vectors`` (n, dim), and ``sentences``, ``ids`` or both (n,)
safetensors    tensor ``vectors`` (n, dim); ``sentences``, ``ids`` as JSON lists in the metadata
parquet        columns ``vector`` (a list of numbers), and ``sentence``, ``id`` or both
lookup         a line a sentence: id, sentence and numbers; tabs between the three, spaces between
               numbers: the look-up format of Ettinger et al. 2018, packed by gzip or xz or not
=============  =========================================================================
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from sentprobe.errors import UsageError, path_error, suggest
from sentprobe.generator.files import atomic_path
from sentprobe.probes.encoders import vectorarrays, vectorlookup, vectorparquet
from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.encoders.vectordata import (
    UNREADABLE,
    VectorFile,
    VectorFileError,
    checked,
    first_line,
)

__all__ = [
    "VectorFile",
    "VectorFileError",
    "VectorFormat",
    "format_of",
    "read_vectors",
    "write_vectors",
]


class VectorFormat(StrEnum):
    """The formats of files of sentence vectors."""

    NPZ = "npz"
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
    suffix = Path(path.stem).suffix if path.suffix in vectorlookup.OPENERS else path.suffix
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
    reader = READERS[format_of(path, format)]
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
    chosen = format_of(path, format)
    made = VectorFile(vectors, tuple(sentences), None if ids is None else tuple(ids))
    made = checked(made, path)
    with atomic_path(path) as temporary:
        WRITERS[chosen](temporary, made, path)


SUFFIXES: Mapping[str, VectorFormat] = {
    ".npz": VectorFormat.NPZ,
    ".safetensors": VectorFormat.SAFETENSORS,
    ".parquet": VectorFormat.PARQUET,
    ".txt": VectorFormat.LOOKUP,
    ".tsv": VectorFormat.LOOKUP,
}
"""The format that a suffix says."""

READERS: Mapping[VectorFormat, Callable[[Path], VectorFile]] = {
    VectorFormat.NPZ: vectorarrays.read_npz,
    VectorFormat.SAFETENSORS: vectorarrays.read_safetensors,
    VectorFormat.PARQUET: vectorparquet.read_parquet,
    VectorFormat.LOOKUP: vectorlookup.read_lookup,
}

WRITERS: Mapping[VectorFormat, Callable[[Path, VectorFile, Path], None]] = {
    VectorFormat.NPZ: vectorarrays.write_npz,
    VectorFormat.SAFETENSORS: vectorarrays.write_safetensors,
    VectorFormat.PARQUET: vectorparquet.write_parquet,
    VectorFormat.LOOKUP: vectorlookup.write_lookup,
}
"""Each writes to a temporary path what is named, in errors, by the path at the end."""
