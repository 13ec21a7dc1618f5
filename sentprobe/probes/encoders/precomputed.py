"""The encoder ``file:``, which looks up precomputed sentence vectors in a file."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sentprobe.common.errors import first_line, path_error
from sentprobe.common.specs import Spec, read_options
from sentprobe.probes.encoders import vector_formats
from sentprobe.probes.encoders.encoder import Capabilities, EncoderError, Vectors, digest


@dataclass(frozen=True, slots=True)
class PrecomputedOptions:
    """The options of the encoder ``file:``."""

    format: str = ""
    """``npz``, ``npy``, ``safetensors``, ``parquet`` or ``lookup``; empty: the format of the file's suffix."""
    sentences: str = ""
    """Path of a file with one sentence per vector, or of a dataset with one distinct sentence per vector, in order.

    If the vectors have ids, each line of the file is an id, a tab and a sentence. Empty: the vector file itself has
    the sentences.
    """


@dataclass(frozen=True, slots=True)
class Precomputed:
    """An encoder that looks up the vector of each sentence; leading, trailing and repeated spaces are ignored."""

    name: str
    source: str
    fingerprint: str
    vectors: Vectors
    rows: Mapping[str, int]
    notes: tuple[str, ...] = ()

    @property
    def capabilities(self) -> Capabilities:
        """The encoder's properties, with notes for the user. Vectors are not cached, since a file already has them."""
        return Capabilities(cacheable=False, notes=self.notes)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the vectors of the sentences, (n, dim) float32. Raises EncoderError if a sentence has no vector."""
        return self.vectors[self.find_rows(sentences)]

    def find_rows(self, sentences: Sequence[str]) -> list[int]:
        """Return the row of each sentence in ``vectors``. Raises EncoderError if a sentence has no vector."""
        rows = [self.rows.get(_normalize_spaces(sentence), -1) for sentence in sentences]
        missing = [text for text, row in zip(sentences, rows, strict=True) if row < 0]
        if missing:
            raise EncoderError(
                f"{self.source} has no vector for the sentence {missing[0]!r} "
                f"({len(missing)} of {len(sentences)} requested sentences are missing); {SENTENCES_HINT}"
            )
        return rows


SENTENCES_HINT = (
    "probe sentences writes those of a run, with the run's own tasks, --train, --test and --seed "
    "(plus 10 for each further draw)"
)


@dataclass(frozen=True, slots=True)
class OrderedVectors:
    """Vectors from a file without sentences; :meth:`bind_to_order` assigns a sentence to each vector."""

    name: str
    source: str
    vectors: Vectors

    @property
    def capabilities(self) -> Capabilities:
        """The encoder's properties: its vectors are not cached and need :meth:`bind_to_order`."""
        return Capabilities(cacheable=False, bind_to_order=self.bind_to_order)

    @property
    def fingerprint(self) -> str:
        """A digest of the vectors."""
        return digest("file", _digest_vectors(self.vectors))

    def encode(self, sentences: Sequence[str]) -> Vectors:  # noqa: ARG002 - the protocol has this parameter
        """Raise VectorFileError, since the sentence of each vector is unknown."""
        raise vector_formats.VectorFileError(_describe_missing_sentences(self.source))

    def bind_to_order(self, sentences: Sequence[str]) -> Precomputed:
        """Return an encoder that maps sentence i to vector i. Raises VectorFileError if their counts differ."""
        if len(sentences) != len(self.vectors):
            raise vector_formats.VectorFileError(
                f"{self.source}: {len(self.vectors)} vectors for {len(sentences)} different "
                "sentences of the datasets; one vector per sentence is expected, in the same order "
                f"(or file:{self.source}?sentences=FILE); {SENTENCES_HINT}"
            )
        note = (
            f"{self.source} does not say which sentences its vectors belong to: the different "
            "sentences of the datasets, in order, are assumed."
        )
        return _make_precomputed(self.name, self.source, sentences, self.vectors, notes=(note,))


def build_precomputed(spec: Spec) -> Precomputed | OrderedVectors:
    """Return the encoder of a spec ``file:PATH``. Raises UsageError or VectorFileError."""
    options = read_options(spec, PrecomputedOptions())
    path = Path(spec.argument).expanduser()
    file = vector_formats.read_vectors(path, format=options.format or None)
    if options.sentences:
        listed = Path(options.sentences).expanduser()
        sentences: Sequence[str] = _read_listed_sentences(listed, file.ids, rows=len(file.vectors), vectors=path)
    elif file.sentences is not None:
        sentences = file.sentences
    elif vector_formats.find_format(path, options.format or None) is vector_formats.VectorFormat.NPY:
        return OrderedVectors(spec.name, str(path), file.vectors)
    else:
        raise vector_formats.VectorFileError(_describe_missing_sentences(path))
    return _make_precomputed(spec.name, str(path), sentences, file.vectors)


def _describe_missing_sentences(path: Path | str) -> str:
    return f"{path}: has vectors without sentences; name a file with the sentences, as in file:{path}?sentences=FILE"


def _make_precomputed(
    name: str, source: str, sentences: Sequence[str], vectors: Vectors, *, notes: tuple[str, ...] = ()
) -> Precomputed:
    """Return an encoder. Raises VectorFileError if a repeated sentence has different vectors."""
    rows: dict[str, int] = {}
    for row, sentence in enumerate(sentences):
        first = rows.setdefault(_normalize_spaces(sentence), row)
        if first != row and not np.array_equal(vectors[first], vectors[row]):
            raise vector_formats.VectorFileError(
                f"{source}: rows {first} and {row} have different vectors for one sentence, {sentence!r}"
            )
    fingerprint = digest("file", _digest_vectors(vectors), *rows)
    return Precomputed(name, source, fingerprint, vectors, rows, notes)


def _digest_vectors(vectors: Vectors) -> str:
    return hashlib.sha256(np.ascontiguousarray(vectors).data).hexdigest()


def _normalize_spaces(sentence: str) -> str:
    return " ".join(sentence.split())


def _read_listed_sentences(path: Path, ids: Sequence[str] | None, *, rows: int, vectors: Path) -> list[str]:
    """Read a sentence for each vector from *path*: by the vector's id or, if *ids* is None, by the vector's row."""
    if ids is None:
        texts = _read_jsonl_sentences(path) or _read_dataset_sentences(path) or [text for _, text in _read_lines(path)]
        if len(texts) != rows:
            raise vector_formats.VectorFileError(f"{path}: {len(texts)} sentences for the {rows} vectors of {vectors}")
        return texts
    table: dict[str, str] = {}
    for number, text in _read_lines(path):
        sentence_id, tab, fields_after_id = text.partition("\t")
        if not tab:
            raise vector_formats.VectorFileError(f"{path}, line {number}: an id, a tab and a sentence are expected")
        table.setdefault(sentence_id, fields_after_id.partition("\t")[0])
    unknown = [name for name in ids if name not in table]
    if unknown:
        raise vector_formats.VectorFileError(
            f"{path}: no sentence for the id {unknown[0]!r} of {vectors} ({len(unknown)} of {len(ids)} are missing)"
        )
    return [table[name] for name in ids]


def _read_jsonl_sentences(path: Path) -> list[str]:
    """Return the sentences of a JSONL file that ``probe sentences`` wrote; an empty list for any other file."""
    from sentprobe.probes.datasets.row_files import read_values

    if path.suffix != ".jsonl" or not path.is_file():
        return []
    texts: list[str] = []
    for _, value in read_values(path):
        text = value.get("sentence")
        if len(value) != 1 or not isinstance(text, str):
            return []
        texts.append(text)
    return texts


def _read_dataset_sentences(path: Path) -> list[str]:
    """Return the distinct sentences of a dataset or of a folder of datasets; an empty list if *path* is neither."""
    from sentprobe.probes.datasets.formats import read_datasets, recognise

    if not path.is_dir() and (not path.is_file() or recognise(path) is None):
        return []
    return list(dict.fromkeys(text for data in read_datasets(path) for text in data.sentences))


def _read_lines(path: Path) -> list[tuple[int, str]]:
    try:
        return list(vector_formats.read_lines(path))
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=vector_formats.VectorFileError) from None
    except vector_formats.UNREADABLE as error:
        raise vector_formats.VectorFileError(f"{path}: cannot read it: {first_line(error)}") from None
