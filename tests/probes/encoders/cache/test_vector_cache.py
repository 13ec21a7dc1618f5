"""Tests of the embedding cache and its files."""

import json
import logging
import tempfile
from pathlib import Path

import numpy as np
import pytest
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

from sentprobe.probes.encoders import cache as cache_files
from sentprobe.probes.encoders.cache import (
    TAG,
    Cache,
    FileHeader,
    check_cache_files,
    clear_vectors,
    find_encoder_folder,
    format_header,
    list_cache_folders,
    list_cached_encoders,
    open_vectors,
    parse_header,
    write_vectors,
)
from sentprobe.probes.encoders.embedding import embed

FINGERPRINTS = ("f" * 64, "0" * 64, "../odd name")


class CacheMachine(RuleBasedStateMachine):
    """Any mix of calls, encoders, damage and clearing: the vectors are always the encoder's."""

    @initialize()
    def begin(self) -> None:
        self.home = tempfile.TemporaryDirectory()
        self.directory = Path(self.home.name, "cache")
        self.cache = Cache(self.directory)

    @rule(sentences=texts, fingerprint=st.sampled_from(FINGERPRINTS), fresh=st.booleans())
    def embeds(self, sentences: list[str], fingerprint: str, fresh: bool) -> None:
        encoder = HashingEncoder(fingerprint=fingerprint)
        cache = Cache(self.directory) if fresh else self.cache
        vectors = embed(encoder, sentences, cache=cache)
        np.testing.assert_array_equal(vectors, expected(sentences, encoder=encoder))
        assert len(encoder.seen) == len(set(encoder.seen))
        again = HashingEncoder(fingerprint=fingerprint)
        embed(again, sentences[::-1], cache=cache)
        assert again.seen == []

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
        assert check_cache_files(self.directory).damaged == ()

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
def test_head_round_trips(encoder: str, fingerprint: str, rows: int, dim: int) -> None:
    head = FileHeader(encoder=encoder, fingerprint=fingerprint, rows=rows, dim=dim)
    assert parse_header(format_header(head)) == head
    assert format_header(head).count(b"\n") == 1


@given(st.binary(max_size=80) | st.recursive(st.none(), st.lists).map(lambda v: repr(v).encode()))
def test_a_damaged_head_is_told_apart(line: bytes) -> None:
    with pytest.raises(cache_files.DamagedFileError):
        parse_header(line)


RIGHT = {"format": cache_files.FORMAT, "encoder": "e", "fingerprint": "f", "rows": 1, "dim": 1}


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
def test_heads_of_the_wrong_kind(wrong: dict[str, object]) -> None:
    right = json.dumps(RIGHT).encode() + b"\n"
    assert parse_header(right).rows == 1
    for line in (json.dumps(RIGHT | wrong).encode() + b"\n", right[:-1], b"[" * 5000 + b"\n"):
        with pytest.raises(cache_files.DamagedFileError):
            parse_header(line)


def test_a_file_by_hand(tmp_path: Path) -> None:
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
def test_damage_is_told_once_and_mended(damage: Damage, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sentences = [f"s{n}" for n in range(3)]
    for text in sentences:
        embed(HashingEncoder(), [text], cache=Cache(tmp_path))
    for path in list_vector_files_below(tmp_path)[1:]:
        damage(path, 200)
    with caplog.at_level(logging.WARNING):
        encoder, cache = HashingEncoder(), Cache(tmp_path)
        vectors = embed(encoder, sentences, cache=cache)
    np.testing.assert_array_equal(vectors, expected(sentences, encoder=encoder))
    assert len(encoder.seen) == 2
    folder = find_encoder_folder(tmp_path, encoder.fingerprint)
    assert caplog.messages == [f"the cache {folder} has damaged files; their sentences are encoded again"]
    again = HashingEncoder()
    embed(again, sentences, cache=Cache(tmp_path))
    assert again.seen == []
    assert check_cache_files(tmp_path).damaged == ()


@pytest.mark.parametrize("place", range(0, 180, 7))
def test_no_flipped_bit_goes_unseen(place: int, tmp_path: Path) -> None:
    embed(HashingEncoder(), ["a", "b"], cache=Cache(tmp_path))
    (path,) = list_vector_files_below(tmp_path)
    flip(path, place)
    vectors = embed(HashingEncoder(), ["a", "b"], cache=Cache(tmp_path))
    np.testing.assert_array_equal(vectors, expected(["a", "b"], encoder=HashingEncoder()))
    assert check_cache_files(tmp_path).damaged in ((), (path,))  # a flipped key is not looked for


def test_two_encoders_do_not_meet(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    first, second = HashingEncoder(fingerprint="1" * 64), HashingEncoder(fingerprint="2" * 64)
    embed(first, ["a"], cache=cache)
    np.testing.assert_array_equal(embed(second, ["a"], cache=cache), expected(["a"], encoder=second))
    assert second.seen == ["a"]


def test_a_file_moved_to_another_encoders_folder_is_not_used(tmp_path: Path) -> None:
    embed(HashingEncoder(fingerprint="1" * 64), ["a"], cache=Cache(tmp_path))
    (path,) = list_vector_files_below(tmp_path)
    folder = find_encoder_folder(tmp_path, "2" * 64)
    folder.mkdir()
    path.rename(folder / path.name)
    second = HashingEncoder(fingerprint="2" * 64)
    vectors = embed(second, ["a"], cache=Cache(tmp_path))
    np.testing.assert_array_equal(vectors, expected(["a"], encoder=second))


def test_equal_content_is_one_file(tmp_path: Path) -> None:
    head = FileHeader(encoder="e", fingerprint="f", rows=1, dim=1)
    paths = {write_vectors(tmp_path, head, ["a"], np.ones((1, 1), np.float32)) for _ in range(2)}
    assert len(paths) == 1


def test_our_folders_are_tagged(tmp_path: Path) -> None:
    embed(HashingEncoder(), ["a"], cache=Cache(tmp_path))
    (folder,) = list_cache_folders(tmp_path)
    assert (folder / TAG).read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    empty(folder / TAG, 0)
    assert list_cache_folders(tmp_path) == []
