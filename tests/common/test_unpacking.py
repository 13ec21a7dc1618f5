"""Files that unpack to far more than they are: stopped early, wherever they are read."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.common import reading
from sentprobe.common.errors import SentprobeError
from sentprobe.common.reading import ProportionError, check_proportion, limit_unpacking
from sentprobe.probes.corpus.sources import Source, decode_lines, open_source
from sentprobe.probes.encoders.vector_formats import read_vectors
from sentprobe.probes.encoders.word_vectors import read_word_vectors

SIZE = 1 << 21
TOO_MUCH = "bytes unpack to more than 500 times as many"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "HARMLESS_BYTES", 1 << 18)


def test_parts_of_an_archive_count_together(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "parts", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(30):
            archive.writestr(str(number), bytes(1 << 17))
    with pytest.raises(ProportionError, match=TOO_MUCH):
        reading.check_archive(tmp_path / "parts")


@given(st.binary(max_size=50), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_bit_of_an_archive_is_noticed(content: bytes, data: st.DataObject) -> None:
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


def lines_in(path: Path) -> int:
    with open_source(Source(str(path), "lines")) as opened:
        return sum(1 for _ in decode_lines(opened, "utf-8"))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress,
}  # fmt: skip


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("what", [b"\0", b"\n", b"a b c\n"])
def test_a_corpus(tmp_path: Path, suffix: str, what: bytes) -> None:
    path = tmp_path / f"book.txt.{suffix}"
    path.write_bytes(PACKERS[suffix](what * (SIZE // len(what))))
    with pytest.raises(SentprobeError, match=TOO_MUCH) as caught:
        lines_in(path)
    assert str(caught.value).startswith(f"{path}: cannot read it: ")
    assert caught.value.exit_code == 1


def test_a_corpus_of_text(tmp_path: Path) -> None:
    path = tmp_path / "book.txt.gz"
    path.write_bytes(gzip.compress("".join(f"the {n} men slept\n" for n in range(99_999)).encode()))
    assert lines_in(path) == 99_999


@pytest.mark.parametrize("what", [b"\0", b"the 1 2\n"])
def test_word_vectors(tmp_path: Path, what: bytes) -> None:
    path = tmp_path / "words.txt.gz"
    path.write_bytes(gzip.compress(b"the 1 2\n" + what * (SIZE // len(what))))
    with pytest.raises(SentprobeError, match=TOO_MUCH):
        read_word_vectors(path)


@pytest.mark.parametrize("suffix", ["gz", "xz"])
def test_vectors_of_sentences(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"v.txt.{suffix}"
    path.write_bytes(PACKERS[suffix](b"a\tb\t1 2\n" + b"\n" * SIZE))
    with pytest.raises(SentprobeError, match=TOO_MUCH):
        read_vectors(path)


def test_an_array(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("vectors.npy", b"\0" * SIZE)
    with pytest.raises(SentprobeError, match=TOO_MUCH):
        read_vectors(path)


def test_proportions() -> None:
    check_proportion(1 << 18, 1)
    check_proportion(500 << 20, 1 << 20)
    with pytest.raises(ProportionError):
        check_proportion((500 << 20) + 1, 1 << 20)
    stream = limit_unpacking(io.BytesIO(b"a\nb" * 9), lambda: 0)
    assert stream.read() == b"a\nb" * 9
