"""Files of sentence vectors: round trips, and what other tools write; and ``file:``."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.shared import SHARED, needs_shared
from helpers.strategies.encoder_strategies import Filed, filed_vectors, write_with_ids
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from sentprobe.common.errors import UsageError
from sentprobe.probes.encoders.encoder import get_capabilities
from sentprobe.probes.encoders.kinds import bind_to_sentence_order, make_encoder
from sentprobe.probes.encoders.vector_formats import VectorFileError, read_vectors, write_vectors

SUFFIXES = (".npz", ".safetensors", ".parquet", ".txt", ".txt.gz", ".tsv.xz")
suffixes = pytest.mark.parametrize("suffix", SUFFIXES)
TEXTS = ("the man slept", "größe 0", 'a "b" \\')
ROWS = np.array([[1, 2], [0.1, -1e-30], [3e38, 0]], dtype=np.float32)


@given(filed_vectors(), st.sampled_from(SUFFIXES))
def test_round_trip(filed: Filed, suffix: str) -> None:
    texts, vectors = filed
    with TemporaryDirectory() as directory:
        path = Path(directory, f"v{suffix}")
        write_vectors(path, texts, vectors)
        actual = read_vectors(path)
    assert actual.sentences == tuple(texts)
    np.testing.assert_array_equal(actual.vectors, vectors, strict=True)


@given(filed_vectors(), st.sampled_from(SUFFIXES))
def test_ids_that_other_tools_wrote(filed: Filed, suffix: str) -> None:
    texts, vectors = filed
    ids = [f"id {text}" for text in texts]
    with TemporaryDirectory() as directory:
        path = Path(directory, f"v{suffix}")
        write_with_ids(path, texts, vectors, ids)
        actual = read_vectors(path)
    assert actual.sentences == tuple(texts)
    assert actual.ids == tuple(ids)


@suffixes
def test_the_same_vectors_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in paths:
        write_vectors(path, TEXTS, ROWS)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_metadata_have_one_entry(tmp_path: Path) -> None:
    """The package's own order of several differs from process to process."""
    path = tmp_path / "v.safetensors"
    write_vectors(path, TEXTS, ROWS)
    size = int.from_bytes(path.read_bytes()[:8], "little")
    assert [*json.loads(path.read_bytes()[8 : 8 + size])["__metadata__"]] == ["sentences"]
    assert size % 8 == 0


@suffixes
def test_what_was_written_is_an_encoder(tmp_path: Path, suffix: str) -> None:
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


def test_a_format_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    write_vectors(path, TEXTS, ROWS, format="npz")
    assert read_vectors(path, format="npz").sentences == TEXTS
    assert make_encoder(f"file:{path}?format=npz", seed=0).encode(TEXTS).shape == (3, 2)


def test_spaces_between_tokens_do_not_count(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npz", ["the  man slept "], ROWS[:1])
    encoder = make_encoder(f"file:{tmp_path / 'v.npz'}", seed=0)
    assert encoder.encode(["the man slept"]).shape == (1, 2)


# ------------------------------------------------------------------ as other tools read and write


def test_npz_as_numpy_reads_it(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npz", TEXTS, ROWS)
    with np.load(tmp_path / "v.npz", allow_pickle=False) as arrays:
        assert arrays["sentences"].tolist() == list(TEXTS)
        np.testing.assert_array_equal(arrays["vectors"], ROWS)


def test_safetensors_as_its_own_reader_reads_it(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.safetensors", TEXTS, ROWS)
    np.testing.assert_array_equal(load_file(tmp_path / "v.safetensors")["vectors"], ROWS)
    content = (tmp_path / "v.safetensors").read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert json.loads(header["__metadata__"]["sentences"]) == list(TEXTS)


def test_parquet_as_arrow_reads_it(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.parquet", TEXTS, ROWS)
    table = pq.read_table(tmp_path / "v.parquet")
    assert table.column("sentence").to_pylist() == list(TEXTS)
    assert table.schema.field("vector").type == pa.list_(pa.float32())
    np.testing.assert_array_equal(np.array(table.column("vector").to_pylist(), dtype=np.float32), ROWS)


def test_lookup_as_it_is_written(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.txt", TEXTS[:1], ROWS[:1])
    assert (tmp_path / "v.txt").read_bytes() == b"0\tthe man slept\t1 2\n"


KINDS: list[Any] = [
    pa.list_(pa.float64()),
    pa.large_list(pa.float32()),
    pa.list_(pa.float32(), 2),
    pa.list_(pa.float16()),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_lists_of_several_types(tmp_path: Path, kind: Any) -> None:
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
def test_the_published_vectors() -> None:
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


# ------------------------------------------------------------------ by id, by row


@pytest.fixture
def without_sentences(tmp_path: Path) -> Callable[..., Path]:
    """Write vectors with ids or without, but no sentences."""

    def write(**texts: list[str]) -> Path:
        path = tmp_path / "v.npz"
        np.savez(path, vectors=ROWS, **texts)  # type: ignore[arg-type]
        return path

    return write


def test_by_id(tmp_path: Path, without_sentences: Callable[..., Path]) -> None:
    path = without_sentences(ids=["c", "a", "b"])
    listed = tmp_path / "ids.tsv"
    listed.write_text("a\tthe man\nb\tthe woman\tmore\nc\tslept\nd\tnot asked for\n")
    encoder = make_encoder(f"file:{path}?sentences={listed}", seed=0)
    actual = encoder.encode(["the man", "the woman", "slept"])
    np.testing.assert_array_equal(actual, ROWS[[1, 2, 0]])


def test_by_row(tmp_path: Path, without_sentences: Callable[..., Path]) -> None:
    path = without_sentences()
    listed = tmp_path / "sentences.txt"
    listed.write_text("the man\nthe woman\r\nslept\n")
    encoder = make_encoder(f"file:{path}?sentences={listed}", seed=0)
    np.testing.assert_array_equal(encoder.encode(["slept", "the man"]), ROWS[[2, 0]])


LISTS: list[tuple[dict[str, list[str]], str, str]] = [
    ({}, "the man\n", "1 sentences for the 3 vectors of"),
    ({"ids": ["a", "b", "c"]}, "a\tthe man\n", "no sentence for the id 'b' of"),
    ({"ids": ["a", "b", "c"]}, "a the man\n", "line 1: an id, a tab and a sentence are expected"),
]


@pytest.mark.parametrize(("texts", "content", "message"), LISTS)
def test_refused_list_of_sentences(
    tmp_path: Path, without_sentences: Callable[..., Path], texts: dict[str, list[str]], content: str, message: str
) -> None:
    path = without_sentences(**texts)
    listed = tmp_path / "sentences.txt"
    listed.write_text(content)
    with pytest.raises(VectorFileError) as caught:
        make_encoder(f"file:{path}?sentences={listed}", seed=0)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(listed))


def test_list_of_sentences_is_not_there(without_sentences: Callable[..., Path]) -> None:
    path = without_sentences()
    with pytest.raises(UsageError, match=r"none.txt: cannot read it: No such file"):
        make_encoder(f"file:{path}?sentences=none.txt", seed=0)
    with pytest.raises(VectorFileError, match=r"has vectors without sentences; .*\?sentences=FILE"):
        make_encoder(f"file:{path}", seed=0)


def test_vectors_in_order_are_of_each_sentence_once(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", ROWS)
    encoders = [make_encoder(f"file:{tmp_path / 'v.npy'}"), make_encoder("bow?dim=4")]
    placed = bind_to_sentence_order(encoders, [TEXTS[:2], TEXTS[1:]])
    np.testing.assert_array_equal(placed[0].encode(TEXTS), ROWS)
    assert placed[1] is encoders[1]
    assert bind_to_sentence_order(encoders[1:], []) == encoders[1:]
    with pytest.raises(VectorFileError, match="3 vectors for 2 different"):
        bind_to_sentence_order(encoders, [TEXTS[:2]])
