"""Files of word vectors: each format against gensim or hand-made bytes, and damaged ones."""

import gzip
import logging
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from helpers.strategies.encoder_strategies import Damage, damaged, damages, filed_vectors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.probes.encoders.encoder import EncoderError, get_capabilities
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.word_vectors import WordFormat, detect_word_format, read_width, read_word_vectors

BODY = "the 1 2\nman 3 4\n. . . 5 6\nman 9 9\n"


def write_plain(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def write_zipped(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content))
    return path


Write = Callable[[Path, bytes], Path]
writes = pytest.mark.parametrize("write", [write_plain, write_zipped])


@pytest.mark.parametrize("header", ["", "4 2\n"], ids=["glove", "word2vec"])
@writes
def test_text_is_read(tmp_path: Path, header: str, write: Write) -> None:
    path = write(tmp_path / "vectors", (header + BODY).encode())
    vectors = make_encoder(f"bow:{path}", seed=0).encode(["the man", "man"])
    np.testing.assert_array_equal(vectors, [[2, 3], [3, 4]])
    assert read_width(path) == 2


def test_summed_vectors_are_the_average_times_the_number_of_known_words(tmp_path: Path) -> None:
    path = write_plain(tmp_path / "v", BODY.encode())
    mean, total = (make_encoder(f"bow:{path}?pool={pool}", seed=0) for pool in ("mean", "sum"))
    np.testing.assert_array_equal(total.encode(["the man", "man unknown man"]), [[4, 6], [6, 8]])
    assert mean.fingerprint == make_encoder(f"bow:{path}").fingerprint != total.fingerprint
    with pytest.raises(UsageError, match="pool=max"):
        make_encoder(f"bow:{path}?pool=max")


def test_fingerprint_of_averages_is_that_of_stored_results() -> None:
    digest = "1baf46e34b0eb5e0ef5e21a541f99a9fe268e6bf16227af6f280783201678a55"
    assert make_encoder("bow?dim=4", seed=3).fingerprint == digest


def test_text_fingerprint_is_of_content(tmp_path: Path) -> None:
    body = BODY.encode()
    written = [(write_plain, "a", body), (write_zipped, "b", body), (write_plain, "c", b"x 1")]
    paths = [write(tmp_path / name, content) for write, name, content in written]
    first, second, third = (make_encoder(f"bow:{path}", seed=0).fingerprint for path in paths)
    assert first == second != third


def test_scale_is_the_root_mean_square(tmp_path: Path) -> None:
    path = write_plain(tmp_path / "v", BODY.encode())
    expected = np.sqrt(np.mean(np.square([[1, 2], [3, 4], [5, 6]])))
    assert read_word_vectors(path).scale == pytest.approx(float(expected))


def test_repeated_words_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "words.txt"
    path.write_text("a 1 2\nb 3 4\na 5 6\n")
    np.testing.assert_array_equal(next(read_word_vectors(path).look_up(["a"])), [[1, 2]])
    assert caplog.messages == [f"{path}: 1 line with a word that an earlier line has; its first vector is used"]


def test_repeated_words_of_word2vec_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("gensim")
    path = write_plain(tmp_path / "vectors.bin", word2vec_bytes(["the", "man", "the"], ROWS))
    np.testing.assert_array_equal(read_word_vectors(path).find("the"), ROWS[0])
    message = f"{path}: 1 vector with a word that an earlier vector has; its first vector is used"
    assert [text for text in caplog.messages if str(path) in text and "duplicate" not in text] == [message]


def test_unknown_words_are_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    encoder = make_encoder(f"bow:{write_plain(tmp_path / 'v', BODY.encode())}", seed=0)
    caplog.clear()  # the warning about a repeated word
    with caplog.at_level(logging.WARNING):
        encoder.encode(["the man"])
        assert not get_capabilities(encoder).notes
        encoder.encode(["the woman", "the doctor"])
        assert not get_capabilities(encoder).notes
        encoder.encode(["the woman", "the lawyer"])
    assert len(caplog.messages) == 1
    assert "2 of 4 different words" in caplog.text
    assert "doctor, woman" in caplog.text
    (note,) = get_capabilities(encoder).notes
    assert note.startswith("3 of 5 different words are not in")
    assert note.endswith("doctor, lawyer, woman")
    with pytest.raises(EncoderError, match="no word of the sentence 'a doctor' is in"):
        encoder.encode(["the man", "a doctor"])


BAD_TEXT: list[tuple[bytes, str]] = [
    (b"", "no word vectors in this file"),
    (b"3 2\n", "no word vectors in this file"),
    (b"the 1 2\nman 3\n", "line 2: a word and 2 numbers are expected"),
    (b"the 1 2\n\nman 3 4\n", "line 2: a word and 2 numbers are expected"),
    (b"the\n", "line 1: a word and 1 numbers are expected"),
    (b"1 2\nthe 1 2\nman 3 x\n", "line 3: could not convert string to float"),
    (b"the 1 2\n\xff\xfe 3 4\n", "line 2: the word is not UTF-8"),
    (b"2 2\n\xff\xfe 3 4\nthe 1 2\n", "line 2: the word is not UTF-8"),
    (b"the 1 2\nman nan 4\n", "line 2: the vector of 'man' is not finite"),
    (b"the 1 2\nman 3 1e60\n", "line 2: the vector of 'man' is not finite"),
    (gzip.compress(BODY.encode())[:-12], "cannot read the word vectors"),
    (b"9 2\nthe 1 2\nman 3 4\n", "line 1 states 9 words, and the file has 2: is it cut off?"),
    (b"1 2\nthe 1 2\nman 3 4\n", "line 1 states 1 words, and the file has 2"),
    (b"2 1\nthe 1 2\nman 3 4\n", "line 2: more than 1 numbers, which is the width of the vectors"),
    (b"2 3\nthe 1 2\nman 3 4\n", "line 2: a word and 3 numbers are expected"),
    (b"the 1 2\nman 3 4 5\n", "line 2: more than 2 numbers"),
    (b"the 1 2\nman 3 4 dog 5 6\n", "line 2: more than 2 numbers"),  # a lost line break
    (b"2 0\nthe 1 2\nman 3 4\n", "no word vectors in this file: line 1 states 2 words of width 0"),
]


def assert_refused(path: Path, message: str, read: Callable[[Path], object] = read_word_vectors) -> None:
    with pytest.raises(EncoderError) as caught:
        read(path)
    assert str(caught.value).startswith((f"{path}: ", f"{path}, line "))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("content", "message"), BAD_TEXT)
def test_bad_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    assert_refused(write_plain(tmp_path / "vectors.txt", content), message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no word vectors in this file"),
        (b"3 0\n", "no word vectors in this file"),
        (b"3 0\nthe 1 2\n", "no word vectors in this file: line 1 states 3 words of width 0"),
        (b"the\n", "line 1: a word and 1 numbers are expected"),
        (b"the 1 x\n", "line 1: could not convert string to float"),
        (b"the 1 1_0\n", "line 1: could not convert string to float: '1_0'"),
    ],
)
def test_missing_width_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    assert_refused(write_plain(tmp_path / "vectors.txt", content), message, read=read_width)


def test_missing_file_is_refused() -> None:
    with pytest.raises(UsageError, match=r"none.txt: cannot read .*: No such file"):
        make_encoder("bow:none.txt", seed=0)


@given(
    st.lists(st.tuples(st.text("ab\u00a0\u3000\x85", min_size=1), st.floats(-9, 9, width=16)), min_size=1), st.data()
)
def test_header_and_mark_change_no_vector(rows: list[tuple[str, float]], data: st.DataObject) -> None:
    """Only ASCII blanks separate fields."""
    lines = [f"{word} {number} 1\n" for word, number in rows]
    header = data.draw(st.sampled_from(["", f"{len(rows)} 2\n"]))
    mark = data.draw(st.sampled_from(["", "\ufeff"]))
    with TemporaryDirectory() as folder:
        vectors = read_word_vectors(write_plain(Path(folder, "v.txt"), (mark + header + "".join(lines)).encode()))
        assert read_width(Path(folder, "v.txt")) == vectors.dim == 2
        for word, number in dict(reversed(rows)).items():
            found = vectors.find(word)
            assert found is not None
            assert found.tolist() == [number, 1]


def word2vec_bytes(words: list[str], vectors: NDArray[np.float32], *, end: bytes = b"\n") -> bytes:
    """Binary word vectors, written by hand: with an end of line after each as by word2vec.c."""
    entries = (
        word.encode() + b" " + row.astype("<f4").tobytes() + end for word, row in zip(words, vectors, strict=True)
    )
    return f"{len(words)} {vectors.shape[1]}\n".encode() + b"".join(entries)


WORDS = ["the", "man", "größe"]
ROWS = np.array([[1, 2, 0.5], [3, 4, 1e-3], [5, 6, 7]], dtype=np.float32)


@pytest.mark.parametrize("end", [b"\n", b""], ids=["word2vec.c", "gensim"])
@writes
def test_word2vec_binary_is_read(tmp_path: Path, end: bytes, write: Write) -> None:
    pytest.importorskip("gensim")
    path = write(tmp_path / "vectors.bin", word2vec_bytes(WORDS, ROWS, end=end))
    vectors = read_word_vectors(path)
    for word, row in zip(WORDS, ROWS, strict=True):
        np.testing.assert_array_equal(vectors.find(word), row)
    assert vectors.find("woman") is None
    assert vectors.dim == read_width(path) == 3
    assert vectors.scale == pytest.approx(float(np.sqrt(np.square(ROWS).mean())))
    average = make_encoder(f"bow:{path}", seed=0).encode(["the man"])
    np.testing.assert_allclose(average, ROWS[:2].mean(axis=0, keepdims=True))


def test_word2vec_of_gensim_is_read(tmp_path: Path) -> None:
    models = pytest.importorskip("gensim.models")
    stored = models.KeyedVectors(vector_size=3)
    stored.add_vectors(WORDS, ROWS)
    binary, text = tmp_path / "v.bin", tmp_path / "v.txt"
    stored.save_word2vec_format(str(binary), binary=True)
    stored.save_word2vec_format(str(text), binary=False)
    assert detect_word_format(binary) is WordFormat.WORD2VEC
    assert detect_word_format(text) is WordFormat.TEXT
    for word in WORDS:
        np.testing.assert_array_equal(read_word_vectors(binary).find(word), read_word_vectors(text).find(word))


@given(filed_vectors())
def test_text_is_never_taken_for_binary(filed: tuple[list[str], NDArray[np.float32]]) -> None:
    texts, vectors = filed
    words = [f"w{i}{''.join(filter(str.isalnum, text))}" for i, text in enumerate(texts)]
    lines = [f"{len(words)} {vectors.shape[1]}\n"]
    lines += [f"{word} {' '.join(map(str, row.tolist()))}\n" for word, row in zip(words, vectors, strict=True)]
    with TemporaryDirectory() as directory:
        path = write_plain(Path(directory, "v"), "".join(lines).encode())
        actual = read_word_vectors(path)
        for word, row in zip(words, vectors, strict=True):
            np.testing.assert_array_equal(actual.find(word), row)


def test_binary_fingerprint_is_of_content(tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    content = word2vec_bytes(WORDS, ROWS)
    first = read_word_vectors(write_plain(tmp_path / "a", content)).fingerprint
    assert read_word_vectors(write_zipped(tmp_path / "b", content)).fingerprint == first
    second_vectors = read_word_vectors(write_plain(tmp_path / "c", word2vec_bytes(WORDS, ROWS + 1)))
    assert second_vectors.fingerprint != first


BAD_WORD2VEC: list[tuple[bytes, str]] = [
    (word2vec_bytes(WORDS, ROWS)[:-8], "the file ends in vector 3 of 3: cut off, or not 3 wide"),
    (word2vec_bytes(WORDS, ROWS).replace(b"3 3\n", b"900000000000 3\n"), "the file is cut off"),
    (word2vec_bytes(WORDS, ROWS).replace(b"3 3\n", b"0 3\n"), "no word vectors in this file"),
    (word2vec_bytes(WORDS, ROWS * np.float32(np.nan)), "the vector of 'the' is not finite"),
    (gzip.compress(word2vec_bytes(WORDS, ROWS))[:-12], "cannot read the word vectors"),
    (b"2 3\n" + b"\x01" * 40, "the file ends in vector 1 of 2: cut off, or not 3 wide"),
    (word2vec_bytes(WORDS, ROWS).replace(b"3 3\n", b"2 3\n"), "bytes follow the 2 vectors of width 3"),
    (word2vec_bytes(WORDS, ROWS).replace(b"3 3\n", b"3 2\n"), "of width 2"),
    (word2vec_bytes(WORDS, ROWS)[:-1], "no line break follows vector 3 of 3, unlike those before"),
]


@given(st.integers(0, len(WORDS) - 1), st.integers(1, 12), st.integers(0, 255), st.data())
def test_lost_or_added_byte_is_noticed(word: int, place: int, byte: int, data: st.DataObject) -> None:
    pytest.importorskip("gensim")
    content = word2vec_bytes(WORDS, ROWS)  # without line breaks, the byte would belong to the next word
    start = content.index(WORDS[word].encode()) + len(WORDS[word].encode()) + place
    added = data.draw(st.sampled_from([b"", bytes([byte]) + content[start : start + 1]]))
    with TemporaryDirectory() as folder, pytest.raises(EncoderError):
        read_word_vectors(write_plain(Path(folder, "v.bin"), content[:start] + added + content[start + 1 :]))


@pytest.mark.parametrize(("content", "message"), BAD_WORD2VEC)
def test_bad_word2vec_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    pytest.importorskip("gensim")
    assert_refused(write_plain(tmp_path / "vectors.bin", content), message)


SENTENCES = [["the", "man", "slept"], ["the", "woman", "danced"], ["a", "man", "danced"]]


@pytest.fixture(scope="module")
def fasttext(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fastText model, trained and written by gensim in Facebook's format."""
    module = pytest.importorskip("gensim.models.fasttext")
    model = module.FastText(SENTENCES, vector_size=4, min_count=1, bucket=50, epochs=1, workers=1, seed=1)
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    module.save_facebook_model(model, str(path))
    return path


@writes
def test_fasttext_binary_is_read(fasttext: Path, tmp_path: Path, write: Write) -> None:
    from gensim.models.fasttext import load_facebook_vectors

    path = write(tmp_path / "any-name", fasttext.read_bytes())
    assert detect_word_format(path) is WordFormat.FASTTEXT
    expected = load_facebook_vectors(str(fasttext))
    actual = read_word_vectors(path)
    assert actual.dim == read_width(path) == 4
    for word in ("the", "man", "danced", "dancers", "unheardof"):
        np.testing.assert_array_equal(actual.find(word), expected[word])
    encoder = make_encoder(f"bow:{path}", seed=0)
    encoder.encode(["the dancers slept"])
    assert not get_capabilities(encoder).notes


@pytest.mark.parametrize("kind", ["bow", "bilstm-last", "bilstm-max", "gated-conv"])
def test_formats_give_encoders_same_vectors(fasttext: Path, tmp_path: Path, kind: str) -> None:
    """GloVe's text, fastText's .vec and its .bin, of the same vectors, give the same sentences."""
    words = sorted({word for sentence in SENTENCES for word in sentence})
    rows = [*read_word_vectors(fasttext).look_up(words)]
    numbers = (" ".join(map(repr, row[0].tolist())) for row in rows)
    body = "".join(f"{word} {item}\n" for word, item in zip(words, numbers, strict=True))
    glove = write_plain(tmp_path / "glove.txt", body.encode())
    vec = write_plain(tmp_path / "crawl.vec", f"{len(words)} 4\n{body}".encode())
    size = "" if kind == "bow" else "&hidden=3"
    first, second, third = (
        make_encoder(f"{kind}:{path}?seed=1{size}").encode(["the man danced", "man"]) for path in (glove, vec, fasttext)
    )
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, third, rtol=1e-5)


def test_unknown_word_averages_its_parts(fasttext: Path) -> None:
    """Bojanowski et al. 2017, section 3.2, by hand: FNV-1a of each n-gram of <word>."""
    content = fasttext.read_bytes()
    words = struct.unpack_from("<i", content, 64)[0]
    rows = np.frombuffer(content, "<f4", (words + 50) * 4, find_vectors(content))
    grams = rows.reshape(-1, 4)[words:]

    def bucket(gram: str) -> int:
        value = 2166136261
        for byte in gram.encode():
            value = (value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619 % 2**32
        return value % 50

    marked = "<dancers>"
    parts = [marked[i : i + n] for n in range(3, 7) for i in range(len(marked) - n + 1)]
    expected = np.mean([grams[bucket(part)] for part in parts], axis=0)
    actual = read_word_vectors(fasttext).find("dancers")
    assert actual is not None
    np.testing.assert_allclose(actual, expected, atol=1e-6)


def find_vectors(content: bytes) -> int:
    """Where the numbers of the word vectors start."""
    place = 64 + 28
    for _ in range(struct.unpack_from("<i", content, 64)[0]):
        place = content.index(b"\0", place) + 10
    return place + 17


def replace_bytes(content: bytes, at: int, new: bytes) -> bytes:
    return content[:at] + new + content[at + len(new) :]


Change = Callable[[bytes], bytes]
BAD_FASTTEXT: list[tuple[Change, str]] = [
    (lambda c: c[:10], "the fastText model is cut off"),
    (lambda c: c[:80], "the fastText model is cut off"),
    (lambda c: c[:97], "cut off in its vocabulary"),
    (lambda c: c + b"\0", "1 bytes follow the fastText model"),
    (lambda c: c + c, "bytes follow the fastText model"),
    (lambda c: c[: find_vectors(c) - 5], "the fastText model is cut off"),
    (lambda c: c[: find_vectors(c) + 40], "cut off in its vectors"),
    (lambda c: c[:-8], "cut off in the weights of its output"),
    (lambda c: replace_bytes(c, 4, b"\x07\0\0\0"), "fastText's format in version 7; 12 is expected"),
    (lambda c: replace_bytes(c, 72, b"\x02\0\0\0"), "a fastText classifier"),
    (lambda c: replace_bytes(c, 64, b"\xff\xff\xff\x7f"), "cut off in its vocabulary"),
    (lambda c: replace_bytes(c, find_vectors(c) - 17, b"\x01"), "a quantised fastText model"),
    (lambda c: replace_bytes(c, find_vectors(c) - 16, bytes(8)), "declares 0 vectors of width 4"),
    (lambda c: replace_bytes(c, find_vectors(c) - 16, b"\xff" * 7), "cut off in its vectors"),
    (lambda c: replace_bytes(c, find_vectors(c), b"\0\0\xc0\x7f" * 4), "is not finite"),
    (lambda c: replace_bytes(c, 8, b"\x03\0\0\0"), "not a fastText model that gensim reads, or damaged"),
]


@pytest.mark.parametrize(("change", "message"), BAD_FASTTEXT)
def test_bad_fasttext_is_refused(fasttext: Path, tmp_path: Path, change: Change, message: str) -> None:
    assert_refused(write_plain(tmp_path / "model.bin", change(fasttext.read_bytes())), message)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["word2vec", "fasttext"]), damages)
def test_damaged_file_is_refused_or_read(fasttext: Path, tmp_path: Path, kind: str, damage: Damage) -> None:
    full_content = fasttext.read_bytes() if kind == "fasttext" else word2vec_bytes(WORDS, ROWS)
    path = write_plain(tmp_path / "v.bin", damaged(full_content, damage))
    with suppress(EncoderError):
        list(read_word_vectors(path).look_up(["the", "man"]))


def test_missing_gensim_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    path = write_plain(tmp_path / "v.bin", word2vec_bytes(WORDS, ROWS))
    with pytest.raises(EncoderError, match=r"needs the extra: pip install .*\[gensim\]"):
        make_encoder(f"bow:{path}", seed=0)
    text = write_plain(tmp_path / "v.txt", BODY.encode())
    assert make_encoder(f"bow:{text}", seed=0).encode(["the"]).shape == (1, 2)


def test_gensim_pickle_is_refused(tmp_path: Path) -> None:
    models = pytest.importorskip("gensim.models")
    stored = models.KeyedVectors(vector_size=3)
    stored.add_vectors(WORDS, ROWS)
    path = tmp_path / "v.kv"
    stored.save(str(path))
    with pytest.raises(EncoderError, match=r"v\.kv"):
        read_word_vectors(path)
