"""The embedding cache: its files, upkeep, broken disks, several processes, and processes that are killed."""

import errno
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.encoders.cache_worker import CHUNK
from helpers.shared import ROOT
from helpers.strategies.cache_strategies import (
    DAMAGE,
    Damage,
    HashingEncoder,
    copy_other_file,
    empty,
    expected,
    flip,
    list_vector_files_below,
    texts,
)
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.encoders import cache as cache_files
from sentprobe.probes.encoders.cache import (
    DAY,
    HOUR,
    TAG,
    Cache,
    FileHeader,
    check_cache_files,
    clear_vectors,
    find_encoder_folder,
    format_header,
    list_cache_folders,
    list_cached_encoders,
    list_leftovers,
    open_vectors,
    parse_header,
    write_vectors,
)
from sentprobe.probes.encoders.embedding import embed

FINGERPRINTS = ("f" * 64, "0" * 64, "../odd name")


def embed_exactly(sentences: list[str], cache: Cache, *, fingerprint: str = "f" * 64) -> HashingEncoder:
    """Embed sentences, and check their vectors; return the encoder, which knows what it encoded."""
    encoder = HashingEncoder(fingerprint=fingerprint)
    np.testing.assert_array_equal(embed(encoder, sentences, cache=cache), expected(sentences, encoder=encoder))
    return encoder


class CacheMachine(RuleBasedStateMachine):
    """Any mix of calls, encoders, damage and clearing: the vectors are always the encoder's."""

    @initialize()
    def begin(self) -> None:
        self.home = tempfile.TemporaryDirectory()
        self.directory = Path(self.home.name, "cache")
        self.cache = Cache(self.directory)

    @rule(sentences=texts, fingerprint=st.sampled_from(FINGERPRINTS), fresh=st.booleans())
    def embeds(self, sentences: list[str], fingerprint: str, fresh: bool) -> None:
        cache = Cache(self.directory) if fresh else self.cache
        encoder = embed_exactly(sentences, cache, fingerprint=fingerprint)
        assert len(encoder.seen) == len(set(encoder.seen))
        assert embed_exactly(sentences[::-1], cache, fingerprint=fingerprint).seen == []

    @rule(damage=st.sampled_from(DAMAGE), place=st.integers(0, 500), which=st.integers(0, 9))
    def damages(self, damage: Damage, place: int, which: int) -> None:
        paths = list_vector_files_below(self.directory)
        if paths:
            damage(paths[which % len(paths)], place)

    @rule(which=st.integers(0, 9))
    def deletes(self, which: int) -> None:
        for path in list_vector_files_below(self.directory)[which : which + 1]:
            path.unlink()

    @rule()
    def checks(self) -> None:
        check_cache_files(self.directory)
        assert check_cache_files(self.directory)[1] == []

    @rule()
    def clears(self) -> None:
        clear_vectors(self.directory)
        assert list_cached_encoders(self.directory) == ()

    def teardown(self) -> None:
        if hasattr(self, "home"):
            self.home.cleanup()


CacheMachine.TestCase.settings = examples(100, stateful_step_count=15)
TestCacheMachine = pytest.mark.hypothesis(CacheMachine.TestCase)


@given(st.text(), st.text(), st.integers(1, 9), st.integers(1, 9))
def test_header_round_trips(encoder: str, fingerprint: str, rows: int, dim: int) -> None:
    head = FileHeader(encoder=encoder, fingerprint=fingerprint, rows=rows, dim=dim)
    assert parse_header(format_header(head)) == head
    assert format_header(head).count(b"\n") == 1


@given(st.binary(max_size=80) | st.recursive(st.none(), st.lists).map(lambda v: repr(v).encode()))
def test_damaged_header_is_refused(line: bytes) -> None:
    with pytest.raises(cache_files.DamagedFileError):
        parse_header(line)


HEADER = {"format": cache_files.FORMAT, "encoder": "e", "fingerprint": "f", "rows": 1, "dim": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"format": "sentprobe-vectors 2"},
        {"rows": 0},
        {"rows": True},
        {"dim": 1.5},
        {"encoder": 1},
        {"fingerprint": None},
        {"width": 1},
    ],
)
def test_header_of_wrong_kind_is_refused(wrong: dict[str, object]) -> None:
    right = json.dumps(HEADER).encode() + b"\n"
    assert parse_header(right).rows == 1
    for line in (json.dumps(HEADER | wrong).encode() + b"\n", right[:-1], b"[" * 5000 + b"\n"):
        with pytest.raises(cache_files.DamagedFileError):
            parse_header(line)


def test_file_has_documented_format(tmp_path: Path) -> None:
    """The format that docs/cache.md describes, read by other means."""
    head = FileHeader(encoder="e", fingerprint="f", rows=2, dim=3)
    vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = write_vectors(tmp_path / "new", head, ["the man", "the men"], vectors)
    line, _, body = path.read_bytes().partition(b"\n")
    assert line == (b'{"format": "sentprobe-vectors 1", "encoder": "e", "fingerprint": "f", "rows": 2, "dim": 3}')
    assert body[:16].hex() == "f08be3ed29236e70b8dc3302c0a75076"  # of sha256sum
    np.testing.assert_array_equal(np.frombuffer(body[32:], "<f4").reshape(2, 3), vectors)
    with open_vectors(path) as file:
        np.testing.assert_array_equal(file.read_vectors(), vectors)


@pytest.mark.parametrize("damage", [kind for kind in DAMAGE if kind is not copy_other_file])
def test_damage_is_reported_once_and_mended(damage: Damage, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sentences = [f"s{n}" for n in range(3)]
    for text in sentences:
        embed(HashingEncoder(), [text], cache=Cache(tmp_path))
    for path in list_vector_files_below(tmp_path)[1:]:
        damage(path, 200)
    with caplog.at_level(logging.WARNING):
        encoder = embed_exactly(sentences, Cache(tmp_path))
    assert len(encoder.seen) == 2
    folder = find_encoder_folder(tmp_path, encoder.fingerprint)
    assert caplog.messages == [f"the cache {folder} has damaged files; their sentences are encoded again"]
    assert embed_exactly(sentences, Cache(tmp_path)).seen == []
    assert check_cache_files(tmp_path)[1] == []


@pytest.mark.parametrize("place", range(0, 180, 7))
def test_flipped_bit_is_noticed(place: int, tmp_path: Path) -> None:
    embed(HashingEncoder(), ["a", "b"], cache=Cache(tmp_path))
    (path,) = list_vector_files_below(tmp_path)
    flip(path, place)
    embed_exactly(["a", "b"], Cache(tmp_path))
    assert check_cache_files(tmp_path)[1] in ([], [path])  # a flipped key is not looked for


def test_encoders_share_no_vectors(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    embed_exactly(["a"], cache, fingerprint="1" * 64)
    assert embed_exactly(["a"], cache, fingerprint="2" * 64).seen == ["a"]


def test_file_of_another_encoder_is_unused(tmp_path: Path) -> None:
    embed(HashingEncoder(fingerprint="1" * 64), ["a"], cache=Cache(tmp_path))
    (path,) = list_vector_files_below(tmp_path)
    folder = find_encoder_folder(tmp_path, "2" * 64)
    folder.mkdir()
    path.rename(folder / path.name)
    embed_exactly(["a"], Cache(tmp_path), fingerprint="2" * 64)


def test_equal_content_is_one_file(tmp_path: Path) -> None:
    head = FileHeader(encoder="e", fingerprint="f", rows=1, dim=1)
    paths = {write_vectors(tmp_path, head, ["a"], np.ones((1, 1), np.float32)) for _ in range(2)}
    assert len(paths) == 1


def test_cache_folders_are_tagged(tmp_path: Path) -> None:
    embed(HashingEncoder(), ["a"], cache=Cache(tmp_path))
    (folder,) = list_cache_folders(tmp_path)
    assert (folder / TAG).read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    empty(folder / TAG, 0)
    assert list_cache_folders(tmp_path) == []


FIRST, SECOND = "1" * 64, "2" * 64


def fill_cache(directory: Path) -> None:
    first = HashingEncoder(fingerprint=FIRST, name="first")
    for sentences in (["a", "b"], ["b", "c"]):
        embed(first, sentences, cache=Cache(directory))
    embed(HashingEncoder(fingerprint=SECOND, name="second", dim=5), ["a"], cache=Cache(directory))
    embed(HashingEncoder(fingerprint=SECOND, name="alias", dim=5), ["b"], cache=Cache(directory))
    os.utime(find_encoder_folder(directory, FIRST), (time.time() - 9 * DAY,) * 2)


def test_entries_are_listed(tmp_path: Path) -> None:
    assert list_cached_encoders(tmp_path / "none") == ()
    fill_cache(tmp_path)
    second, first = list_cached_encoders(tmp_path)
    assert (first.encoders, first.fingerprint, first.sentences, first.dim) == (
        ("first",), FIRST, 3, 3,
    )  # fmt: skip
    assert (second.encoders, second.sentences, second.dim) == (("alias", "second"), 2, 5)
    assert first.size + second.size == sum(path.stat().st_size for path in list_vector_files_below(tmp_path))
    assert first.used < second.used
    embed(HashingEncoder(fingerprint=FIRST, name="first"), ["a"], cache=Cache(tmp_path))
    assert [entry.encoders for entry in list_cached_encoders(tmp_path)] == [("first",), ("alias", "second")]


def test_repeated_sentence_counts_once(tmp_path: Path) -> None:
    embed(HashingEncoder(), ["a", "b"], cache=Cache(tmp_path))
    Cache(tmp_path).write(HashingEncoder(), ["a"], HashingEncoder().encode(["a"]))  # as another process might
    (entry,) = list_cached_encoders(tmp_path)
    assert (len(list_vector_files_below(tmp_path)), entry.sentences) == (2, 2)


@pytest.mark.parametrize(
    ("encoder", "older_than", "left"),
    [
        (None, None, []),
        ("first", None, ["second"]),
        ("alias", None, ["first"]),
        (FIRST[:8], None, ["second"]),
        (None, 7, ["second"]),
        (None, 0, []),
        ("second", 7, ["second", "first"]),
    ],
)
def test_clear_removes_chosen_entries(
    encoder: str | None, older_than: float | None, left: list[str], tmp_path: Path
) -> None:
    fill_cache(tmp_path)
    before = sum(path.stat().st_size for path in list_vector_files_below(tmp_path))
    count, size = clear_vectors(tmp_path, encoder=encoder, older_than=older_than)
    after = sum(path.stat().st_size for path in list_vector_files_below(tmp_path))
    assert [entry.encoders[-1] for entry in list_cached_encoders(tmp_path)] == left
    assert count == 2 - len(left)
    assert size >= before - after
    assert len(list(tmp_path.iterdir())) == len(left)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("frist", r"'frist' is not in the cache \(did you mean 'first'\?\); it has: alias, first"),
        ("", "encoder '' is not in the cache"),
        ("1" * 7, "'1111111' is not in the cache"),
    ],
)
def test_clear_refuses_unknown_encoder(name: str, message: str, tmp_path: Path) -> None:
    fill_cache(tmp_path)
    with pytest.raises(UsageError, match=message):
        clear_vectors(tmp_path, encoder=name)
    assert len(list_cached_encoders(tmp_path)) == 2


def test_foreign_files_stay(tmp_path: Path) -> None:
    fill_cache(tmp_path)
    folder = find_encoder_folder(tmp_path, FIRST)
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / ("0" * 32 + ".vectors")).write_text("mine")
    (outside / "CACHEDIR.TAG").write_bytes((folder / "CACHEDIR.TAG").read_bytes())
    untagged = tmp_path / ("vectors-" + "3" * 40)
    for path in (
        tmp_path / "thesis.tex",
        tmp_path / "vectors" / "glove.txt",
        tmp_path / ("vectors-" + "g" * 40) / ("0" * 32 + ".vectors"),
        untagged / ("0" * 32 + ".vectors"),
        folder / "notes.txt",
        folder / "0.vectors",
        folder / f".{'0' * 32}.vectors.part",
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    (tmp_path / ("vectors-" + "4" * 40)).symlink_to(outside)
    stored = {path: path.read_bytes() for path in tmp_path.rglob("*") if is_mine(path)}
    stored[outside / ("0" * 32 + ".vectors")] = b"mine"
    assert len(stored) == 8
    check_cache_files(tmp_path)
    clear_vectors(tmp_path)
    assert list_cached_encoders(tmp_path) == ()
    assert {path: path.read_bytes() for path in stored} == stored
    assert (outside / "CACHEDIR.TAG").exists()


def is_mine(path: Path) -> bool:
    return path.is_file() and path.read_bytes() == b"mine"


@pytest.mark.parametrize("damage", DAMAGE)
def test_check_removes_damaged_files(damage: Damage, tmp_path: Path) -> None:
    fill_cache(tmp_path)
    assert check_cache_files(tmp_path)[1] == []
    path, *_ = list_vector_files_below(find_encoder_folder(tmp_path, FIRST).parent)
    if damage is copy_other_file:
        path.with_name(list_vector_files_below(tmp_path)[1].name).touch()
    damage(path, 220)
    count, damaged, _ = check_cache_files(tmp_path)
    assert path in damaged
    assert count >= 4
    assert not path.exists()
    assert check_cache_files(tmp_path)[1] == []


def test_damaged_files_are_cleared(tmp_path: Path) -> None:
    fill_cache(tmp_path)
    for path in list_vector_files_below(tmp_path):
        path.write_bytes(b"")
    assert [entry.sentences for entry in list_cached_encoders(tmp_path)] == [0, 0]
    clear_vectors(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("method", "call", "message"),
    [
        ("unlink", clear_vectors, r"\.vectors: cannot remove it: Permission denied"),
        ("iterdir", list_cached_encoders, "cannot read the cache: Permission denied"),
    ],
)
def test_missing_permission_is_reported(
    method: str, call: Callable[[Path], object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_cache(tmp_path)

    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, method, refuse)
    with pytest.raises(SentprobeError, match=message):
        call(tmp_path)


def test_full_disk_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries = []

    def full(path: Path, _: object) -> None:
        tries.append(path)
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "replace", full)
    monkeypatch.setattr("sentprobe.probes.encoders.embedding.CHUNK", 2)
    with caplog.at_level(logging.WARNING):
        embed_exactly([f"s{n}" for n in range(7)], Cache(tmp_path))
    assert len(caplog.messages) == len(tries) == 1
    assert "No space left on device" in caplog.messages[0]
    assert caplog.messages[0].endswith("sentence vectors are no longer kept in the cache")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_file_for_cache_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "cache"
    path.write_text("mine")
    with caplog.at_level(logging.WARNING):
        embed_exactly(["a"], Cache(path))
    (message,) = caplog.messages
    assert message.endswith("Not a directory; the cache is not used")
    assert path.read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_cache_without_write_permission_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    embed(HashingEncoder(), ["a"], cache=Cache(tmp_path / "cache"))
    folder = find_encoder_folder(tmp_path / "cache", HashingEncoder().fingerprint)
    folder.chmod(0o500)
    try:
        assert_reads_only(tmp_path / "cache", caplog)
    finally:
        folder.chmod(0o700)


def test_read_only_cache_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    embed(HashingEncoder(), ["a"], cache=Cache(tmp_path / "cache"))

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", "/cache/file")

    monkeypatch.setattr("sentprobe.common.scratch.tempfile.mkstemp", refuse)
    monkeypatch.setattr(os, "utime", refuse)
    assert_reads_only(tmp_path / "cache", caplog)


def assert_reads_only(directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert embed_exactly(["a", "b"], Cache(directory)).seen == ["b"]
    assert len(caplog.messages) == 1


def test_unreadable_file_is_encoded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for text in "ab":
        embed(HashingEncoder(), [text], cache=Cache(tmp_path))

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error", "/cache/file")

    monkeypatch.setattr("sentprobe.probes.encoders.cache.open_vectors", fail)
    with caplog.at_level(logging.WARNING):
        encoder = embed_exactly(["a", "b"], Cache(tmp_path))
    assert sorted(encoder.seen) == ["a", "b"]
    assert caplog.messages == ["/cache/file: Input/output error; its sentences are encoded again"]


def test_vanished_file_is_encoded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    embed(HashingEncoder(), ["a"], cache=Cache(tmp_path))
    monkeypatch.setattr("sentprobe.probes.encoders.cache.list_vector_files", lambda folder: [folder / ("0" * 32)])
    assert embed_exactly(["a"], Cache(tmp_path)).seen == ["a"]
    assert caplog.messages == []


WORKER = ROOT / "tests" / "helpers" / "encoders" / "cache_worker.py"
COUNT = 200


ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}


def start_worker(directory: Path, *, pause: float) -> "subprocess.Popen[str]":
    command = [sys.executable, str(WORKER), str(directory), str(COUNT), str(pause)]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_files(directory: Path, count: int) -> None:
    limit = time.monotonic() + 60
    while len(list_vector_files_below(directory)) < count:
        assert time.monotonic() < limit
        time.sleep(0.005)


def test_processes_share_a_cache(tmp_path: Path) -> None:
    workers = [start_worker(tmp_path, pause=0.002) for _ in range(3)]
    for worker in workers:
        out, err = worker.communicate(timeout=120)
        assert (worker.returncode, err) == (0, "")
        assert 0 <= int(out) <= COUNT
    assert check_cache_files(tmp_path)[1] == []
    assert embed_exactly([f"s{n}" for n in range(COUNT)], Cache(tmp_path)).seen == []


@pytest.mark.skipif(not hasattr(os, "kill"), reason="there is no kill -9 here")
def test_killed_process_loses_no_vectors(tmp_path: Path) -> None:
    done = 0
    for _ in range(2):
        worker = start_worker(tmp_path, pause=0.03)
        wait_for_files(tmp_path, done + 3)
        worker.kill()
        worker.communicate(timeout=60)
        done = len(list_vector_files_below(tmp_path))
    assert 6 <= done < COUNT / CHUNK
    encoder = embed_exactly([f"s{n}" for n in range(COUNT)], Cache(tmp_path))
    assert len(encoder.seen) == COUNT - CHUNK * done
    assert check_cache_files(tmp_path)[1] == []


KILLED_WRITER = """
import os, sys
from pathlib import Path
import numpy as np
from sentprobe.probes.encoders import cache as cache_files

Path.replace = lambda *_: os.kill(os.getpid(), 9)  # between writing and renaming
header = cache_files.FileHeader(encoder="e", fingerprint="f" * 64, rows=1, dim=1)
folder = cache_files.find_encoder_folder(Path(sys.argv[1]), "f" * 64)
cache_files.write_vectors(folder, header, ["a"], np.ones((1, 1), np.float32))
"""


def test_leftover_of_killed_process_is_cleared(tmp_path: Path) -> None:
    embed(HashingEncoder(), ["b"], cache=Cache(tmp_path))
    command = [sys.executable, "-c", KILLED_WRITER, str(tmp_path)]
    died = subprocess.run(command, check=False, env=ENVIRONMENT)
    assert died.returncode == -9
    folder = find_encoder_folder(tmp_path, "f" * 64)
    (part,) = list_leftovers(folder)
    assert len(cache_files.list_vector_files(folder)) == 1
    assert check_cache_files(tmp_path)[2] == 0  # it may be being written right now
    old = time.time() - 2 * HOUR
    os.utime(part, (old, old))
    assert check_cache_files(tmp_path)[2] == 1
    assert list_leftovers(folder) == []
    assert len(cache_files.list_vector_files(folder)) == 1
