"""Files of sentence vectors: round trips, files of other tools, bad files, and ``file:``."""

import gzip
import json
import lzma
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.in_process import Command
from helpers.shared import SHARED, needs_shared
from helpers.strategies.encoder_strategies import Damage, Filed, damaged, damages, filed_vectors, write_with_ids
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.datasets.formats import read_datasets, write_dataset
from sentprobe.probes.encoders.encoder import EncoderError, get_capabilities
from sentprobe.probes.encoders.kinds import bind_to_sentence_order, make_encoder
from sentprobe.probes.encoders.vector_formats import (
    VectorFileError,
    VectorFormat,
    find_format,
    read_vectors,
    write_vectors,
)
from sentprobe.probes.results.store import read_results

SUFFIXES = (".npz", ".safetensors", ".parquet", ".txt", ".txt.gz", ".tsv.xz")
suffixes = pytest.mark.parametrize("suffix", SUFFIXES)
TEXTS = ("the man slept", "größe 0", 'a "b" \\')
ROWS = np.array([[1, 2], [0.1, -1e-30], [3e38, 0]], dtype=np.float32)


@given(filed_vectors(), st.sampled_from(SUFFIXES))
def test_vectors_round_trip(filed: Filed, suffix: str) -> None:
    texts, vectors = filed
    with TemporaryDirectory() as directory:
        path = Path(directory, f"v{suffix}")
        write_vectors(path, texts, vectors)
        actual = read_vectors(path)
    assert actual.sentences == tuple(texts)
    np.testing.assert_array_equal(actual.vectors, vectors, strict=True)


@given(filed_vectors(), st.sampled_from(SUFFIXES))
def test_ids_of_other_tools_are_read(filed: Filed, suffix: str) -> None:
    texts, vectors = filed
    ids = [f"id {text}" for text in texts]
    with TemporaryDirectory() as directory:
        path = Path(directory, f"v{suffix}")
        write_with_ids(path, texts, vectors, ids)
        actual = read_vectors(path)
    assert actual.sentences == tuple(texts)
    assert actual.ids == tuple(ids)


@suffixes
def test_same_vectors_give_same_bytes(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in paths:
        write_vectors(path, TEXTS, ROWS)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@suffixes
def test_written_file_is_an_encoder(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"v{suffix}"
    write_vectors(path, TEXTS, ROWS)
    encoder = make_encoder(f"file:{path}", seed=0)
    np.testing.assert_array_equal(encoder.encode([TEXTS[2], TEXTS[0]]), ROWS[[2, 0]])
    assert not get_capabilities(encoder).cacheable


def test_fingerprint_is_of_sentences_and_vectors(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        write_vectors(tmp_path / f"v{suffix}", TEXTS, ROWS)
    write_vectors(tmp_path / "w.npz", TEXTS, ROWS + 1)
    write_vectors(tmp_path / "x.npz", TEXTS[::-1], ROWS)
    test_encoder = [make_encoder(f"file:{path}", seed=0) for path in sorted(tmp_path.iterdir())]
    assert len({encoder.fingerprint for encoder in test_encoder}) == 3


def test_format_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    write_vectors(path, TEXTS, ROWS, format="npz")
    assert read_vectors(path, format="npz").sentences == TEXTS
    assert make_encoder(f"file:{path}?format=npz", seed=0).encode(TEXTS).shape == (3, 2)


def test_extra_spaces_do_not_count(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npz", ["the  man slept "], ROWS[:1])
    encoder = make_encoder(f"file:{tmp_path / 'v.npz'}", seed=0)
    assert encoder.encode(["the man slept"]).shape == (1, 2)


def test_numpy_reads_npz(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npz", TEXTS, ROWS)
    with np.load(tmp_path / "v.npz", allow_pickle=False) as arrays:
        assert arrays["sentences"].tolist() == list(TEXTS)
        np.testing.assert_array_equal(arrays["vectors"], ROWS)


def test_safetensors_reads_its_format(tmp_path: Path) -> None:
    """The package's own order of several metadata differs from process to process, so that there is one."""
    path = tmp_path / "v.safetensors"
    write_vectors(path, TEXTS, ROWS)
    np.testing.assert_array_equal(load_file(path)["vectors"], ROWS)
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + size])["__metadata__"]
    assert [*metadata] == ["sentences"]
    assert json.loads(metadata["sentences"]) == list(TEXTS)
    assert size % 8 == 0


def test_arrow_reads_parquet(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.parquet", TEXTS, ROWS)
    table = pq.read_table(tmp_path / "v.parquet")
    assert table.column("sentence").to_pylist() == list(TEXTS)
    assert table.schema.field("vector").type == pa.list_(pa.float32())
    np.testing.assert_array_equal(np.array(table.column("vector").to_pylist(), dtype=np.float32), ROWS)


def test_parquet_that_swells_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sentprobe.common.reading.HARMLESS_BYTES", 1 << 18)
    path = tmp_path / "v.parquet"
    for rows, is_refused in ((100, False), (3_000, True)):
        pq.write_table(pa.table({"vector": [[0.0] * 100] * rows}), path, compression="zstd")
        if is_refused:
            with pytest.raises(VectorFileError, match="unpack to more than 200 times as many; save it uncompressed"):
                read_vectors(path)
        else:
            assert read_vectors(path).vectors.shape == (rows, 100)


def test_lookup_has_known_bytes(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.txt", TEXTS[:1], ROWS[:1])
    assert (tmp_path / "v.txt").read_bytes() == b"0\tthe man slept\t1 2\n"


KINDS: list[Any] = [
    pa.list_(pa.float64()),
    pa.large_list(pa.float32()),
    pa.list_(pa.float32(), 2),
    pa.list_(pa.float16()),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_parquet_lists_may_differ_in_type(tmp_path: Path, kind: Any) -> None:
    rows = [np.array([1, 2], np.float16), np.array([3, 4], np.float16)]
    values = pa.array(rows, pa.list_(pa.float16())).cast(kind)
    table = pa.table({"vector": values, "sentence": ["a", "b"]})
    pq.write_table(table, tmp_path / "v.parquet")
    np.testing.assert_array_equal(
        read_vectors(tmp_path / "v.parquet").vectors, np.array([[1, 2], [3, 4]], np.float32), strict=True
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats_become_float32(tmp_path: Path, dtype: Any) -> None:
    np.savez(tmp_path / "v.npz", vectors=np.ones((2, 3), dtype), sentences=["a", "b"])
    assert read_vectors(tmp_path / "v.npz").vectors.dtype == np.float32


def test_ids_may_be_numbers(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", vectors=np.ones((2, 3)), ids=np.array([7, 8]))
    assert read_vectors(tmp_path / "v.npz").ids == ("7", "8")
    table = pa.table({"vector": [[1.0], [2.0]], "id": [7, 8]})
    pq.write_table(table, tmp_path / "v.parquet")
    assert read_vectors(tmp_path / "v.parquet").ids == ("7", "8")


PUBLISHED = SHARED / "compeval" / "published"


@needs_shared
def test_published_vectors_are_read() -> None:
    path = PUBLISHED / "sr-embs.txt.xz"
    actual = read_vectors(path)
    assert actual.sentences is not None
    assert actual.ids is not None
    encoder = make_encoder(f"file:{path}", seed=0)
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for place, line in zip(range(20), lines, strict=False):
            name, sentence, numbers = line.rstrip("\n").split("\t")
            assert (actual.ids[place], actual.sentences[place]) == (name, sentence)
            expected = np.array(numbers.split(), dtype=np.float64).astype(np.float32)
            np.testing.assert_array_equal(encoder.encode([sentence])[0], expected)


@pytest.fixture
def without_sentences(tmp_path: Path) -> Callable[..., Path]:
    """Write vectors with ids or without, but no sentences."""

    def write(**texts: list[str]) -> Path:
        path = tmp_path / "v.npz"
        np.savez(path, vectors=ROWS, **texts)  # type: ignore[arg-type]
        return path

    return write


def test_vectors_are_found_by_id(tmp_path: Path, without_sentences: Callable[..., Path]) -> None:
    path = without_sentences(ids=["c", "a", "b"])
    listed = tmp_path / "ids.tsv"
    listed.write_text("a\tthe man\nb\tthe woman\tmore\nc\tslept\nd\tnot asked for\n")
    encoder = make_encoder(f"file:{path}?sentences={listed}", seed=0)
    actual = encoder.encode(["the man", "the woman", "slept"])
    np.testing.assert_array_equal(actual, ROWS[[1, 2, 0]])


def test_vectors_are_found_by_row(tmp_path: Path, without_sentences: Callable[..., Path]) -> None:
    path = without_sentences()
    listed = tmp_path / "sentences.txt"
    listed.write_text("the man\nthe woman\r\nslept\n")
    encoder = make_encoder(f"file:{path}?sentences={listed}", seed=0)
    np.testing.assert_array_equal(encoder.encode(["slept", "the man"]), ROWS[[2, 0]])


BAD_LISTS: list[tuple[dict[str, list[str]], str, str]] = [
    ({}, "the man\n", "1 sentences for the 3 vectors of"),
    ({"ids": ["a", "b", "c"]}, "a\tthe man\n", "no sentence for the id 'b' of"),
    ({"ids": ["a", "b", "c"]}, "a the man\n", "line 1: an id, a tab and a sentence are expected"),
]


@pytest.mark.parametrize(("texts", "content", "message"), BAD_LISTS)
def test_bad_sentence_list_is_refused(
    tmp_path: Path, without_sentences: Callable[..., Path], texts: dict[str, list[str]], content: str, message: str
) -> None:
    path = without_sentences(**texts)
    listed = tmp_path / "sentences.txt"
    listed.write_text(content)
    with pytest.raises(VectorFileError) as caught:
        make_encoder(f"file:{path}?sentences={listed}", seed=0)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(listed))


def test_missing_sentence_list_is_refused(without_sentences: Callable[..., Path]) -> None:
    path = without_sentences()
    with pytest.raises(UsageError, match=r"none.txt: cannot read it: No such file"):
        make_encoder(f"file:{path}?sentences=none.txt", seed=0)
    with pytest.raises(VectorFileError, match=r"has vectors without sentences; .*\?sentences=FILE"):
        make_encoder(f"file:{path}", seed=0)


def test_ordered_vectors_are_per_distinct_sentence(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", ROWS)
    encoders = [make_encoder(f"file:{tmp_path / 'v.npy'}"), make_encoder("bow?dim=4")]
    placed = bind_to_sentence_order(encoders, [TEXTS[:2], TEXTS[1:]])
    np.testing.assert_array_equal(placed[0].encode(TEXTS), ROWS)
    assert placed[1] is encoders[1]
    assert bind_to_sentence_order(encoders[1:], []) == encoders[1:]
    with pytest.raises(VectorFileError, match="3 vectors for 2 different"):
        bind_to_sentence_order(encoders, [TEXTS[:2]])


def test_missing_sentence_is_named(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npz", TEXTS, ROWS)
    encoder = make_encoder(f"file:{tmp_path / 'v.npz'}", seed=0)
    with pytest.raises(EncoderError) as caught:
        encoder.encode([TEXTS[0], "a doctor", "a lawyer"])
    assert str(caught.value) == (
        f"{tmp_path / 'v.npz'} has no vector for the sentence 'a doctor' (2 of 3 requested sentences are missing); "
        "probe sentences writes those of a run, with the run's own tasks, --train, --test and --seed "
        "(plus 10 for each further draw)"
    )


def test_contradicting_vectors_are_refused(tmp_path: Path) -> None:
    write_vectors(tmp_path / "same.txt", ["a", "b", "a"], ROWS[[0, 1, 0]])
    assert make_encoder(f"file:{tmp_path / 'same.txt'}", seed=0).encode(["a"]).shape == (1, 2)
    write_vectors(tmp_path / "other.txt", ["a", "b", "a"], ROWS)
    with pytest.raises(VectorFileError, match=r"rows 0 and 2 have different vectors .* 'a'"):
        make_encoder(f"file:{tmp_path / 'other.txt'}", seed=0)


def npz(**arrays: Any) -> Callable[[Path], object]:
    return lambda path: np.savez(path, **arrays)


def parquet(**columns: Any) -> Callable[[Path], object]:
    return lambda path: pq.write_table(pa.table(columns), path)


def raw(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def tensors(arrays: dict[str, NDArray[Any]], metadata: dict[str, str] | None = None) -> Callable[[Path], object]:
    return lambda path: save_file(arrays, path, metadata=metadata)


def npy_header(header: str) -> Callable[[Path], object]:
    content = b"\x93NUMPY\1\0" + (len(header) + 1).to_bytes(2, "little") + f"{header}\n".encode()
    return lambda path: path.write_bytes(content + bytes(8))


def tail(more: bytes) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        np.save(path, np.ones((2, 3), np.float32))
        path.write_bytes(path.read_bytes() + more)

    return write


def narrowed(path: Path) -> None:
    np.save(path, np.ones((2, 3), np.float32))
    path.write_bytes(path.read_bytes().replace(b"(2, 3)", b"(2, 1)"))


def npy(array: object) -> Callable[[Path], object]:
    return lambda path: np.save(path, np.asarray(array))


def npz_archive(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, a=ROWS)


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
    (".parquet", parquet(sentence=["a"]), "there is no column 'vector'; its columns: sentence"),
    (".parquet", parquet(vector=[1.0]), "column 'vector' is double; lists of numbers are expected"),
    (".parquet", parquet(vector=[[1.0], [1.0, 2.0]]), "lists of several lengths"),
    (".parquet", parquet(vector=[[1.0], None]), "missing values"),
    (".parquet", parquet(vector=[[1.0], [None]]), "missing values"),
    (".parquet", parquet(vector=[["a"]]), "floating point is expected"),
    (".parquet", parquet(vector=[[1]]), "vectors of int64; floating point is expected"),
    (".parquet", parquet(vector=pa.array([], pa.list_(pa.float32()))), "vectors of shape (0, 0)"),
    (".parquet", parquet(vector=[[1.0]], sentence=[None]), "column 'sentence' has missing values"),
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
    (".npy", npy([1.0, 2.0]), "vectors of shape (2,); (sentences, dim) is expected"),
    (".npy", npy([[1, 2]]), "vectors of int64; floating point is expected"),
    (".npy", npy([[1.0, np.nan]]), "the vector in row 0 is not finite"),
    (".npy", npy(np.array([[{}]], dtype=object)), "Object arrays cannot be loaded"),
    (".npy", tail(b"\0"), "more bytes than its header's float32 of shape (2, 3) takes"),
    (".npy", narrowed, "more bytes than its header's float32 of shape (2, 1) takes"),
    (".npy", raw(b"text"), "This file contains pickled (object) data"),
    (".npy", raw(b""), "No data left in file"),
    (".npy", npy_header("{'descr': '<f4'"), "damaged, or not in the format npy: "),
    (
        ".npy",
        npy_header("{'descr': [('a',)], 'fortran_order': False, 'shape': (1, 1)}"),
        "damaged, or not in the format npy: ",
    ),
    (".npy", npz_archive, "one array is expected (or use format=npz)"),
]


@pytest.mark.parametrize(("suffix", "write", "message"), BAD)
def test_bad_file_is_refused(tmp_path: Path, suffix: str, write: Callable[[Path], object], message: str) -> None:
    path = tmp_path / f"v{suffix}"
    write(path)
    with pytest.raises(SentprobeError) as caught:
        make_encoder(f"file:{path}?sentences=none.txt", seed=0)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SUFFIXES), damages)
def test_damaged_file_is_refused_or_read(tmp_path: Path, suffix: str, damage: Damage) -> None:
    path = tmp_path / f"v{suffix}"
    write_vectors(path, TEXTS, ROWS)
    path.write_bytes(damaged(path.read_bytes(), damage))
    with suppress(VectorFileError):
        read_vectors(path)


@suffixes
def test_missing_file_is_refused(suffix: str) -> None:
    with pytest.raises(UsageError, match=f"none{suffix}: cannot read it: No such file"):
        make_encoder(f"file:none{suffix}", seed=0)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".parquet", ".txt"])
def test_directory_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"v{suffix}"
    path.mkdir()
    with pytest.raises(UsageError, match="cannot read it: Is a directory"):
        make_encoder(f"file:{path}", seed=0)


def test_unknown_format_is_refused() -> None:
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
def test_bad_vectors_are_not_written(
    tmp_path: Path, suffix: str, texts: tuple[str, ...], vectors: NDArray[Any], message: str
) -> None:
    with pytest.raises(VectorFileError) as caught:
        write_vectors(tmp_path / f"v{suffix}", texts, vectors)
    assert message in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write there"):
        write_vectors(tmp_path / "none" / "v.npz", TEXTS, ROWS)


BILSTM = "bilstm-max?hidden=8&dim=16"
SHORT = ("--set", "max_epochs=1", "--jobs", 1, "--no-cache", "--no-controls")


def test_npy_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    write_vectors(path, ["a", "b", "c"], ROWS)
    actual = read_vectors(path)
    np.testing.assert_array_equal(actual.vectors, ROWS)
    np.testing.assert_array_equal(np.load(path), ROWS)
    assert (actual.sentences, actual.ids) == (None, None)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
def test_npy_takes_listed_sentences(tmp_path: Path, dtype: str) -> None:
    np.save(tmp_path / "v.npy", np.array([[1, 2], [3, 4]], dtype=dtype))
    (tmp_path / "s.txt").write_text("the man\nslept\n")
    encoder = make_encoder(f"file:{tmp_path / 'v.npy'}?sentences={tmp_path / 's.txt'}")
    np.testing.assert_array_equal(encoder.encode(["slept"]), np.array([[3, 4]], dtype=np.float32))


@pytest.mark.parametrize("name", ["toy", "toy.csv", "toy.jsonl", "."])
def test_npy_takes_sentences_of_dataset(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "sets"
    folder.mkdir()
    write_dataset(make_learnable_dataset(name="toy", size=40), folder / name.replace(".", "toy", name == "."))
    (read,) = read_datasets(folder)
    vectors = np.arange(2.0 * len(read.sentences), dtype=np.float32).reshape(-1, 2)
    np.save(tmp_path / "v.npy", vectors)
    encoder = make_encoder(f"file:{tmp_path / 'v.npy'}?sentences={folder / name}")
    np.testing.assert_array_equal(encoder.encode(read.sentences), vectors)


def test_run_reads_npy_in_dataset_order(tmp_path: Path, command: Command) -> None:
    """The same numbers as from the encoder that made them."""
    for seed, name in enumerate(("one", "two")):
        write_dataset(make_learnable_dataset(name=name, seed=seed, size=40), tmp_path / "sets" / name)
    vectors = tmp_path / "v.npy"
    result = command("embed", tmp_path / "sets", "-e", BILSTM, "--out", vectors, "--no-cache")
    assert result[0] == 0
    runs = {"first": f"{BILSTM}&name=x", "second": f"file:{vectors}?name=x"}
    message = {
        out: command("run", tmp_path / "sets", "-e", spec, *SHORT, "--out", tmp_path / out)
        for out, spec in runs.items()
    }
    assert [code for code, _, _ in message.values()] == [0, 0]
    assert "does not say which sentences its vectors belong to: the" in "".join(message["second"][1:])
    first, second = ({r.task: r.scores for r in read_results(tmp_path / out).records} for out in runs)
    assert first == second


def test_npy_of_other_length_is_refused(tmp_path: Path, command: Command) -> None:
    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "toy")
    path = tmp_path / "v.npy"
    np.save(path, ROWS)
    code, out, err = command("run", tmp_path / "toy", "-e", f"file:{path}", *SHORT)
    assert (code, out) == (1, "")
    expected = f"{path}: 3 vectors for {len(data.sentences)} different sentences of the datasets"
    assert expected in err.splitlines()[-1]


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_npy_is_refused_for_several_draws(tmp_path: Path, command: Command, more: tuple[str, ...]) -> None:
    path = tmp_path / "v.npy"
    np.save(path, ROWS)
    run = ("run", "compeval", "--task", "Order", "-e", f"file:{path}", "--draws", 2, *SHORT, *more)
    code, out, err = command(*run, "--out", tmp_path / "run")
    assert (code, out, (tmp_path / "run").exists()) == (2, "", False)
    assert f"file:{path}: its vectors are in the order of one draw's sentences" in err
    assert "(file:VECTORS?sentences=FILE)" in err


def test_npy_serves_draws_of_read_datasets(tmp_path: Path, command: Command) -> None:
    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "toy")
    np.save(tmp_path / "v.npy", np.eye(len({*data.sentences}), dtype=np.float32))
    run = ("run", tmp_path / "toy", "-e", f"file:{tmp_path / 'v.npy'}", "--draws", 2, *SHORT)
    assert command(*run)[0] == 0


def test_npy_without_sentences_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", ROWS)
    encoder = make_encoder(f"file:{tmp_path / 'v.npy'}")
    with pytest.raises(VectorFileError, match=r"has vectors without sentences; .*\?sentences=FILE"):
        encoder.encode(["a"])
