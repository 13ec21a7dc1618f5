"""The embedding cache on a full, read-only or broken disk: a warning, and the run goes on."""

import errno
import logging
import os
from pathlib import Path

import numpy as np
import pytest
from helpers.strategies.cache_strategies import HashingEncoder, expected

from sentprobe.probes.encoders.cache import Cache, find_encoder_folder
from sentprobe.probes.encoders.embedding import embed


def test_a_full_disk_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries = []

    def full(path: Path, _: object) -> None:
        tries.append(path)
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "replace", full)
    monkeypatch.setattr("sentprobe.probes.encoders.embedding.CHUNK", 2)
    sentences = [f"s{n}" for n in range(7)]
    encoder = HashingEncoder()
    with caplog.at_level(logging.WARNING):
        vectors = embed(encoder, sentences, cache=Cache(tmp_path))
    np.testing.assert_array_equal(vectors, expected(sentences, encoder=encoder))
    assert len(caplog.messages) == len(tries) == 1
    assert "No space left on device" in caplog.messages[0]
    assert caplog.messages[0].endswith("sentence vectors are no longer kept in the cache")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_cache_that_is_a_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "cache"
    path.write_text("mine")
    with caplog.at_level(logging.WARNING):
        vectors = embed(HashingEncoder(), ["a"], cache=Cache(path))
    np.testing.assert_array_equal(vectors, expected(["a"], encoder=HashingEncoder()))
    (message,) = caplog.messages
    assert message.endswith("Not a directory; the cache is not used")
    assert path.read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_cache_by_permissions(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    embed(HashingEncoder(), ["a"], cache=Cache(tmp_path / "cache"))
    folder = find_encoder_folder(tmp_path / "cache", HashingEncoder().fingerprint)
    folder.chmod(0o500)
    try:
        assert_reads_only(tmp_path / "cache", caplog)
    finally:
        folder.chmod(0o700)


def test_a_read_only_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    embed(HashingEncoder(), ["a"], cache=Cache(tmp_path / "cache"))

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", "/cache/file")

    monkeypatch.setattr("sentprobe.common.scratch.tempfile.mkstemp", refuse)
    monkeypatch.setattr(os, "utime", refuse)
    assert_reads_only(tmp_path / "cache", caplog)


def assert_reads_only(directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    encoder = HashingEncoder()
    with caplog.at_level(logging.WARNING):
        vectors = embed(encoder, ["a", "b"], cache=Cache(directory))
    np.testing.assert_array_equal(vectors, expected(["a", "b"], encoder=encoder))
    assert encoder.seen == ["b"]
    assert len(caplog.messages) == 1


def test_a_file_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for text in "ab":
        embed(HashingEncoder(), [text], cache=Cache(tmp_path))

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error", "/cache/file")

    monkeypatch.setattr("sentprobe.probes.encoders.cache.open_vectors", fail)
    encoder = HashingEncoder()
    with caplog.at_level(logging.WARNING):
        embed(encoder, ["a", "b"], cache=Cache(tmp_path))
    assert sorted(encoder.seen) == ["a", "b"]
    assert caplog.messages == ["/cache/file: Input/output error; its sentences are encoded again"]


def test_a_file_that_goes_away_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    embed(HashingEncoder(), ["a"], cache=Cache(tmp_path))
    monkeypatch.setattr("sentprobe.probes.encoders.cache.list_vector_files", lambda folder: [folder / ("0" * 32)])
    encoder = HashingEncoder()
    embed(encoder, ["a"], cache=Cache(tmp_path))
    assert encoder.seen == ["a"]
    assert caplog.messages == []
