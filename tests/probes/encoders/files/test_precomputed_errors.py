"""Files of sentence vectors that are bad, and vectors that are not written."""

import gzip
import lzma
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.strategies.encoder_strategies import Damage, damaged, damages
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import save_file

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.vector_formats import (
    VectorFileError,
    VectorFormat,
    find_format,
    read_vectors,
    write_vectors,
)

SUFFIXES = (".npz", ".safetensors", ".parquet", ".txt", ".txt.gz", ".tsv.xz")
suffixes = pytest.mark.parametrize("suffix", SUFFIXES)
TEXTS = ("the man slept", "größe 0", 'a "b" \\')
ROWS = np.array([[1, 2], [0.1, -1e-30], [3e38, 0]], dtype=np.float32)


def test_a_missing_sentence_is_named(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npz", TEXTS, ROWS)
    encoder = make_encoder(f"file:{tmp_path / 'v.npz'}", seed=0)
    with pytest.raises(EncoderError) as caught:
        encoder.encode([TEXTS[0], "a doctor", "a lawyer"])
    assert str(caught.value) == (
        f"{tmp_path / 'v.npz'} has no vector for the sentence 'a doctor' (2 of 3 requested sentences are missing)"
    )


def test_two_vectors_for_one_sentence(tmp_path: Path) -> None:
    write_vectors(tmp_path / "same.txt", ["a", "b", "a"], ROWS[[0, 1, 0]])
    assert make_encoder(f"file:{tmp_path / 'same.txt'}", seed=0).encode(["a"]).shape == (1, 2)
    write_vectors(tmp_path / "other.txt", ["a", "b", "a"], ROWS)
    with pytest.raises(VectorFileError, match=r"rows 0 and 2 have different vectors .* 'a'"):
        make_encoder(f"file:{tmp_path / 'other.txt'}", seed=0)


def npz(**arrays: Any) -> Callable[[Path], object]:
    return lambda path: np.savez(path, **arrays)


def table(**columns: Any) -> Callable[[Path], object]:
    return lambda path: pq.write_table(pa.table(columns), path)


def raw(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def tensors(arrays: dict[str, NDArray[Any]], metadata: dict[str, str] | None = None) -> Callable[[Path], object]:
    return lambda path: save_file(arrays, path, metadata=metadata)


ONE = np.ones((2, 2), dtype=np.float32)
NAN = np.array([[1.0], [np.nan]])

BAD: list[tuple[str, Callable[[Path], object], str]] = [
    (".npz", npz(vector=ONE), "there is no array 'vectors'; its arrays: vector"),
    (".npz", npz(vectors=ONE, sentences=["a"]), "1 sentences for 2 vectors"),
    (".npz", npz(vectors=ONE, ids=["a", "b", "c"]), "3 ids for 2 vectors"),
    (".npz", npz(vectors=ONE[0], sentences=["a", "b"]), "vectors of shape (2,)"),
    (".npz", npz(vectors=ONE[:, :0], sentences=["a", "b"]), "vectors of shape (2, 0)"),
    (".npz", npz(vectors=ONE.astype(int)), "vectors of int64; floating point is expected"),
    (".npz", npz(vectors=NAN, sentences=["a", "b"]), "vector in row 1 ('b') is not finite"),
    (".npz", npz(vectors=np.full((2, 2), 1e300)), "vector in row 0 is not finite"),
    (
        ".npz",
        npz(vectors=ONE, sentences=np.array(["a", "b"], dtype=object)),
        "array 'sentences': Object arrays cannot be loaded when allow_pickle=False",
    ),
    (".npz", npz(vectors=np.array([[{}]], dtype=object)), "Object arrays cannot be loaded"),
    (".npz", npz(vectors=ONE, sentences=ONE), "array 'sentences' is float32 of shape (2, 2)"),
    (".npz", raw(pickle.dumps(ONE)), "pickled"),
    (".npz", raw(b""), "No data left in file"),
    (".npz", raw(b"PK\x03\x04 and so on"), "not a zip file"),
    (".safetensors", tensors({"vector": ONE}), "there is no tensor 'vectors'"),
    (".safetensors", tensors({"vectors": ONE}, {"sentences": "a"}), "metadata 'sentences': a JSON"),
    (".safetensors", tensors({"vectors": ONE}, {"ids": "[1]"}), "metadata 'ids': a JSON list"),
    (".safetensors", raw(b"nothing"), "deserializing header"),
    (".parquet", table(sentence=["a"]), "there is no column 'vector'; its columns: sentence"),
    (".parquet", table(vector=[1.0]), "column 'vector' is double; lists of numbers are expected"),
    (".parquet", table(vector=[[1.0], [1.0, 2.0]]), "lists of several lengths"),
    (".parquet", table(vector=[[1.0], None]), "missing values"),
    (".parquet", table(vector=[[1.0], [None]]), "missing values"),
    (".parquet", table(vector=[["a"]]), "floating point is expected"),
    (".parquet", table(vector=[[1]]), "vectors of int64; floating point is expected"),
    (".parquet", table(vector=pa.array([], pa.list_(pa.float32()))), "vectors of shape (0, 0)"),
    (".parquet", table(vector=[[1.0]], sentence=[None]), "column 'sentence' has missing values"),
    (".parquet", raw(b"nothing"), "Parquet"),
    (".txt", raw(b""), "no vectors in this file"),
    (".txt", raw(b"x\ta\t1 2\n\nx\tb\n"), "line 3: 2 fields; id, sentence and vector are expected"),
    (".txt", raw(b"x\ta\t1 2\nx\tb\t1\n"), "line 2: 1 numbers; the lines before have 2"),
    (".txt", raw(b"x\ta\t1 z\n"), "line 1: could not convert string to float: 'z'"),
    (".txt", raw(b"x\ta\t \n"), "line 1: there are no numbers"),
    (".txt", raw(b"x\ta\tinf\n"), "line 1: the vector is not finite"),
    (".txt", raw(b"x\t\xff\t1\n"), "line 1: not UTF-8"),
    (".txt.gz", raw(b"x\ta\t1\n"), "Not a gzipped file"),
    (".txt.gz", raw(gzip.compress(b"x\ta\t1\n" * 50)[:-9]), "ended before"),
    (".txt.xz", raw(b"x\ta\t1\n"), "Input format not supported"),
    (".txt.xz", raw(lzma.compress(b"x\ta\t1\n")[:-9]), "ended before"),
]


@pytest.mark.parametrize(("suffix", "write", "message"), BAD)
def test_refused(tmp_path: Path, suffix: str, write: Callable[[Path], object], message: str) -> None:
    path = tmp_path / f"v{suffix}"
    write(path)
    with pytest.raises(SentprobeError) as caught:
        make_encoder(f"file:{path}?sentences=none.txt", seed=0)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SUFFIXES), damages)
def test_a_damaged_file_is_refused_or_read(tmp_path: Path, suffix: str, damage: Damage) -> None:
    path = tmp_path / f"v{suffix}"
    write_vectors(path, TEXTS, ROWS)
    path.write_bytes(damaged(path.read_bytes(), damage))
    with suppress(VectorFileError):
        read_vectors(path)


@suffixes
def test_file_is_not_there(suffix: str) -> None:
    with pytest.raises(UsageError, match=f"none{suffix}: cannot read it: No such file"):
        make_encoder(f"file:none{suffix}", seed=0)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".parquet", ".txt"])
def test_a_directory_is_not_a_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"v{suffix}"
    path.mkdir()
    with pytest.raises(UsageError, match="cannot read it: Is a directory"):
        make_encoder(f"file:{path}", seed=0)


def test_unknown_format() -> None:
    with pytest.raises(UsageError, match=r"there is no format of sentence vectors 'npq' .*did you mean 'np[yz]'"):
        find_format(Path("v"), "npq")
    with pytest.raises(UsageError, match=r"v.csv: '.csv' is not the suffix of a format"):
        make_encoder("file:v.csv", seed=0)
    assert find_format(Path("v.csv"), "lookup") is VectorFormat.LOOKUP


NOT_WRITTEN: list[tuple[str, tuple[str, ...], NDArray[Any], str]] = [
    (".npz", ("a",), ROWS, "1 sentences for 3 vectors"),
    (".npz", ("a", "b", "c\0"), ROWS, "a sentence ends in a null character"),
    (".txt", ("a", "b", "c\td"), ROWS, "'c\\td' contains a tab or a line break"),
    (".txt", ("a", "b", "c"), ROWS + np.float32(np.inf), "not finite"),
    (".parquet", ("a", "b", "c"), np.ones((3, 2), int), "floating point is expected"),
]


@pytest.mark.parametrize(("suffix", "texts", "vectors", "message"), NOT_WRITTEN)
def test_not_written(tmp_path: Path, suffix: str, texts: tuple[str, ...], vectors: NDArray[Any], message: str) -> None:
    with pytest.raises(VectorFileError) as caught:
        write_vectors(tmp_path / f"v{suffix}", texts, vectors)
    assert message in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_folder_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write there"):
        write_vectors(tmp_path / "none" / "v.npz", TEXTS, ROWS)
