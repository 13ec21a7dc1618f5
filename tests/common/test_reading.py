"""Reading of files: encodings, ASCII blanks, pipes, and files that unpack to far more than they are."""

import bz2
import gzip
import io
import lzma
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.commands.embed import read_sentences
from sentprobe.common import reading
from sentprobe.common.errors import FormatError, SentprobeError
from sentprobe.common.reading import (
    ProportionError,
    check_proportion,
    limit_unpacking,
    open_input,
    open_lines,
    parse_numbers,
    read_text,
    split_at_blanks,
)
from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import Spec
from sentprobe.probes.corpus.sources import Source, decode_lines, open_source
from sentprobe.probes.datasets.records import read_table
from sentprobe.probes.encoders.vector_formats import read_vectors
from sentprobe.probes.encoders.word_vectors import read_width, read_word_vectors
from sentprobe.probes.language_models.arpa import load_ngram_model
from sentprobe.probes.language_models.sentence_pairs import read_pairs


@given(st.text(st.characters(codec="utf-8")), st.sampled_from(["", "\ufeff"]))
def test_byte_order_mark_is_dropped(text: str, mark: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "text")
        path.write_bytes((mark + text).encode())
        assert mark + read_text(path) == mark + text.removeprefix("" if mark else "\ufeff")
        with open_lines(path) as lines:
            assert "".join(lines) == read_text(path)


def test_text_not_utf8_names_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"a\nb\n\xff\n")
    with pytest.raises(FormatError, match=r"^line 3: not UTF-8$"):
        read_text(tmp_path / "text")


@given(st.lists(st.binary(max_size=12)), st.integers(1, 12))
def test_lines_end_at_too_long_line(parts: list[bytes], limit: int) -> None:
    lines = io.BytesIO(b"\n".join(parts)).readlines()
    read: list[bytes] = []
    message = ""
    try:
        read.extend(reading.iterate_lines(io.BytesIO(b"".join(lines)), limit))
    except FormatError as error:
        message = str(error)
    number = next((number for number, line in enumerate(lines, 1) if len(line) > limit), 0)
    assert message == (f"line {number}: longer than {limit} bytes" if number else "")
    assert number or read == lines


READERS: dict[str, Callable[[Path], object]] = {
    "sentences": lambda path: read_sentences(str(path)),
    "table.csv": read_table,
    "pairs.jsonl": lambda path: read_pairs([path]),
    "lookup.tsv": read_vectors,
    "words.txt": read_word_vectors,
    "width.txt": read_width,
    "lm.arpa": lambda path: load_ngram_model(Spec("ngram", str(path)), "cpu").score(["a"], SilentReporter()),
}


@pytest.mark.parametrize("name", READERS)
def test_readers_refuse_long_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"1 " * (reading.MAX_LINE // 2) + b"1\n")
    with pytest.raises(SentprobeError, match=r"line 1: longer than 1,048,576 bytes$"):
        READERS[name](path)


def test_large_parquet_row_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_DOCUMENT", 100)
    pq.write_table(pa.table({"text": ["a" * 60, "b" * 30, "c" * 110], "words": [["d"]] * 3}), tmp_path / "rows")
    with pq.ParquetFile(tmp_path / "rows") as file:
        for size in (1, 2, 3):
            with pytest.raises(FormatError, match=r"^rows, row 3: longer than 100 bytes$"):
                [*reading.iterate_batches(file, "rows", batch_size=size)]
        assert sum(map(len, reading.iterate_batches(file, "rows", columns=["words"]))) == 3


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\f\v"), min_size=1)), st.data())
def test_only_ascii_blanks_separate_fields(fields: list[str], data: st.DataObject) -> None:
    blanks = st.text(" \t\r\n\f\v", min_size=1)
    line = "".join(field + data.draw(blanks) for field in fields)
    assert split_at_blanks(data.draw(st.text(" \t")) + line) == fields


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a\n",))
    writer.start()
    assert read_text(pipe) == "a\n"
    writer.join()
    with pytest.raises(OSError, match="it is a pipe, which can be read only once; write its content to a file first"):
        open_input(pipe)


@given(st.lists(st.floats(), min_size=1), st.sampled_from([" ", "\t", "  "]))
def test_numbers_read_back(numbers: list[float], blank: str) -> None:
    assert list(map(repr, parse_numbers(blank.join(map(repr, numbers))))) == list(map(repr, numbers))


@pytest.mark.parametrize("text", ["1_000", "\uff11", "\u0661", "1\u00a02", "1\x1c2", "1,5", "x", "0x1"])
def test_numbers_only_python_reads_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="could not convert string to float"):
        parse_numbers(f"1 {text} 2")


SIZE = 1 << 21
TOO_MUCH = "bytes unpack to more than 200 times as many"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "HARMLESS_BYTES", 1 << 18)
    monkeypatch.setattr(reading, "HARMLESS_TEXT", 1 << 18)


def test_parts_of_an_archive_count_together(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "parts", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(30):
            archive.writestr(str(number), bytes(1 << 17))
    with pytest.raises(ProportionError, match=TOO_MUCH):
        reading.check_archive(tmp_path / "parts")


@given(st.binary(max_size=50), st.data())
def test_flipped_bit_in_archive_is_noticed(content: bytes, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "parts")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a", b"the first")
            archive.writestr("b", b"start" + content)
        reading.check_archive(path)
        packed = bytearray(path.read_bytes())
        place = packed.index(b"start") + data.draw(st.integers(0, 4 + len(content)))
        packed[place] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(packed)
        with pytest.raises(OSError, match="damaged: 'b' in it differs from its checksum"):
            reading.check_archive(path)


def count_lines(path: Path) -> int:
    with open_source(Source(str(path), "lines")) as opened:
        return sum(1 for _ in decode_lines(opened, "utf-8"))


def pack_array(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("vectors.npy", content)
    return packed.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "npz": pack_array,
}
SWELLING: list[tuple[str, bytes, bytes, Callable[[Path], object]]] = [
    *(
        (f"book.txt.{suffix}", b"", part, count_lines)
        for suffix in ("gz", "xz", "bz2")
        for part in (b"\0", b"\n", b"a b\n")
    ),
    *(("words.txt.gz", b"the 1 2\n", part, read_word_vectors) for part in (b"\0", b"the 1 2\n")),
    *((f"v.txt.{suffix}", b"a\tb\t1 2\n", b"\n", read_vectors) for suffix in ("gz", "xz")),
    ("v.npz", b"", b"\0", read_vectors),
]
"""Names of files, their beginnings, what is repeated after them, and their readers."""


@pytest.mark.parametrize(("name", "head", "part", "read"), SWELLING)
def test_swelling_file_is_refused(
    name: str, head: bytes, part: bytes, read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(PACKERS[name.rpartition(".")[2]](head + part * (SIZE // len(part))))
    with pytest.raises(SentprobeError, match=TOO_MUCH) as caught:
        read(path)
    assert caught.value.exit_code == 1
    if read is count_lines:
        assert str(caught.value).startswith(f"{path}: cannot read it: ")


def test_packed_corpus_of_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "book.txt.gz"
    path.write_bytes(gzip.compress("".join(f"the {n} men slept\n" for n in range(99_999)).encode()))
    assert count_lines(path) == 99_999


def test_proportion_limit_is_exact() -> None:
    check_proportion(1 << 18, 1)
    check_proportion(reading.RATIO << 20, 1 << 20)
    with pytest.raises(ProportionError):
        check_proportion((reading.RATIO << 20) + 1, 1 << 20)
    stream = limit_unpacking(io.BytesIO(b"a\nb" * 9), lambda: 0)
    assert stream.read() == b"a\nb" * 9


def read_source(path: Path) -> str:
    with open_source(Source(str(path), "")) as opened:
        return "".join(decode_lines(opened, "utf-8"))


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
@given(st.lists(st.text("ab\n", max_size=40), min_size=1, max_size=3), st.data())
def test_file_of_several_streams_is_read_whole_or_refused(suffix: str, parts: list[str], data: st.DataObject) -> None:
    content = bytearray(b"".join(PACKERS[suffix](part.encode()) for part in parts))
    with TemporaryDirectory() as folder:
        path = Path(folder, "text")
        path.write_bytes(content)
        assert read_source(path) == "".join(parts)
        place = data.draw(st.integers(0, len(content) - 1), label="place")
        content[place] ^= 1 << data.draw(st.integers(0, 7), label="bit")
        path.write_bytes(content)
        if content.startswith((b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh")):
            try:
                assert read_source(path) == "".join(parts)
            except SentprobeError as error:
                assert str(error).startswith(f"{path}: cannot read it: ")


@pytest.mark.parametrize("zeros", [4, 40_000])
def test_zeros_after_an_xz_stream_are_no_damage(zeros: int, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(lzma.compress(b"a\n") + bytes(zeros) + lzma.compress(b"b\n") + bytes(zeros))
    assert read_source(path) == "a\nb\n"
