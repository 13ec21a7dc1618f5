"""``file:``, sentence vectors that were computed elsewhere."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from sentprobe.errors import path_error
from sentprobe.probes.encoders import lookup_file, vector_file, vector_files
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, digest
from sentprobe.specs import Spec, read_options


@dataclass(frozen=True, slots=True)
class PrecomputedOptions:
    """Options of ``file:``."""

    format: str = ""
    """npz, npy, safetensors, parquet or lookup; empty: what the suffix says."""
    sentences: str = ""
    """What says which sentences the vectors are of, where their own file does not: a file, or a
    dataset, whose different sentences they are in order."""


@dataclass(frozen=True, slots=True)
class Precomputed:
    """The sentence vectors of a file, looked up by sentence.

    Spaces around and between the tokens of a sentence do not count.
    """

    cacheable: ClassVar[bool] = False
    """They are on disk as it is."""
    name: str
    source: str
    fingerprint: str
    vectors: Vectors
    rows: Mapping[str, int]
    notes: tuple[str, ...] = ()

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentences' vectors, (n, dim) float32.

        Raises:
            EncoderError: the file has no vector for a sentence; names it, and counts them.
        """
        rows = [self.rows.get(_tokens(sentence), -1) for sentence in sentences]
        missing = [text for text, row in zip(sentences, rows, strict=True) if row < 0]
        if missing:
            raise EncoderError(
                f"{self.source} has no vector for the sentence {missing[0]!r} "
                f"({len(missing)} of {len(sentences)} sentences asked for are missing)"
            )
        return self.vectors[rows]


@dataclass(frozen=True, slots=True)
class OrderedVectors:
    """Vectors of a file that does not say of which sentences: those that are asked about, in order.

    Which these are is known when the datasets are: :meth:`in_order`.
    """

    cacheable: ClassVar[bool] = False
    name: str
    source: str
    vectors: Vectors

    @property
    def fingerprint(self) -> str:
        """A digest of the vectors."""
        return digest("file", _content(self.vectors))

    def encode(self, sentences: Sequence[str]) -> Vectors:  # noqa: ARG002 - the protocol's
        """Refuse, since it is not known whose vectors they are.

        Raises:
            EncoderError: always.
        """
        raise vector_file.VectorFileError(_no_sentences(self.source))

    def in_order(self, sentences: Sequence[str]) -> Precomputed:
        """Return the encoder whose vectors are of these sentences, one each.

        Raises:
            VectorFileError: there are more or fewer.
        """
        if len(sentences) != len(self.vectors):
            raise vector_file.VectorFileError(
                f"{self.source}: {len(self.vectors)} vectors for {len(sentences)} different "
                "sentences of the datasets; one each is wanted, in their order "
                f"(or file:{self.source}?sentences=FILE)"
            )
        note = (
            f"{self.source} does not say of which sentences its vectors are: taken as those of "
            "the datasets, each once, in their order."
        )
        return _placed(self.name, self.source, sentences, self.vectors, notes=(note,))


def build_precomputed(spec: Spec) -> Precomputed | OrderedVectors:
    """Return the encoder of a spec ``file:PATH``.

    Raises:
        UsageError: an unknown option or format.
        VectorFileError: the file cannot be read or is damaged; it does not say which sentences the
            vectors are of, or has two vectors for one.
    """
    options = read_options(spec, PrecomputedOptions())
    path = Path(spec.argument).expanduser()
    found = vector_files.read_vectors(path, format=options.format or None)
    if options.sentences:
        listed = Path(options.sentences).expanduser()
        sentences: Sequence[str] = _listed_sentences(
            listed, found.ids, rows=len(found.vectors), vectors=path
        )
    elif found.sentences is not None:
        sentences = found.sentences
    elif vector_files.format_of(path, options.format or None) is vector_files.VectorFormat.NPY:
        return OrderedVectors(spec.name, str(path), found.vectors)
    else:
        raise vector_file.VectorFileError(_no_sentences(path))
    return _placed(spec.name, str(path), sentences, found.vectors)


def _no_sentences(path: Path | str) -> str:
    return (
        f"{path}: there are no sentences beside the vectors; name a file that has them, as in "
        f"file:{path}?sentences=FILE"
    )


def _placed(
    name: str,
    source: str,
    sentences: Sequence[str],
    vectors: Vectors,
    *,
    notes: tuple[str, ...] = (),
) -> Precomputed:
    rows = _rows(sentences, vectors, Path(source))
    fingerprint = digest("file", _content(vectors), *rows)
    return Precomputed(name, source, fingerprint, vectors, rows, notes)


def _content(vectors: Vectors) -> str:
    return hashlib.sha256(vectors.tobytes()).hexdigest()


def _rows(sentences: Sequence[str], vectors: Vectors, path: Path) -> dict[str, int]:
    """Return the row of each sentence; one may be there twice when its vectors are equal."""
    rows: dict[str, int] = {}
    for row, sentence in enumerate(sentences):
        first = rows.setdefault(_tokens(sentence), row)
        if first != row and not np.array_equal(vectors[first], vectors[row]):
            raise vector_file.VectorFileError(
                f"{path}: rows {first} and {row} have different vectors for one sentence, "
                f"{sentence!r}"
            )
    return rows


def _tokens(sentence: str) -> str:
    return " ".join(sentence.split())


def _listed_sentences(
    path: Path, ids: Sequence[str] | None, *, rows: int, vectors: Path
) -> list[str]:
    """Return the sentence of each vector: by its id, or by row where the vectors have no ids.

    By id, a line of the file is id, tab, sentence; by row, a sentence, or the file is a dataset.
    What follows another tab is passed over.
    """
    if ids is None:
        texts = (
            _sentence_objects(path)
            or _dataset_sentences(path)
            or [text for _, text in _read_lines(path)]
        )
        if len(texts) != rows:
            raise vector_file.VectorFileError(
                f"{path}: {len(texts)} sentences for the {rows} of {vectors}"
            )
        return texts
    table: dict[str, str] = {}
    for number, text in _read_lines(path):
        name, tab, rest = text.partition("\t")
        if not tab:
            raise vector_file.VectorFileError(
                f"{path}, line {number}: id and sentence are wanted, with a tab"
            )
        table.setdefault(name, rest.partition("\t")[0])
    unknown = [name for name in ids if name not in table]
    if unknown:
        raise vector_file.VectorFileError(
            f"{path}: no sentence for the id {unknown[0]!r} of {vectors} "
            f"({len(unknown)} of {len(ids)} are missing)"
        )
    return [table[name] for name in ids]


def _sentence_objects(path: Path) -> list[str]:
    """Return the sentences that ``probe sentences`` wrote as JSONL, or none if it is not that."""
    from sentprobe.probes.formats.jsonl import read_values  # noqa: PLC0415 - pyarrow

    if path.suffix != ".jsonl" or not path.is_file():
        return []
    texts: list[str] = []
    for _, value in read_values(path):
        text = value.get("sentence")
        if len(value) != 1 or not isinstance(text, str):
            return []
        texts.append(text)
    return texts


def _dataset_sentences(path: Path) -> list[str]:
    """Return the different sentences of a dataset or a folder of some, or none if it is neither."""
    from sentprobe.probes.formats import read_datasets, recognise  # noqa: PLC0415 - pyarrow

    if not path.is_dir() and (not path.is_file() or recognise(path) is None):
        return []
    return list(dict.fromkeys(text for data in read_datasets(path) for text in data.sentences))


def _read_lines(path: Path) -> list[tuple[int, str]]:
    try:
        return list(lookup_file.lines_of(path))
    except OSError as error:
        raise path_error(
            path, "cannot read it", error, otherwise=vector_file.VectorFileError
        ) from None
    except vector_file.UNREADABLE as error:
        raise vector_file.VectorFileError(f"{path}: cannot read it: {error}") from None
