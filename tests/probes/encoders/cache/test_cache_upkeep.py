"""Tests of listing, clearing and checking the embedding cache."""

import os
import time
from pathlib import Path

import pytest
from helpers.strategies.cache_strategies import DAMAGE, Damage, HashingEncoder, copy_other_file, list_vector_files_below

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.encoders.cache import (
    DAY,
    Cache,
    check_cache_files,
    clear_vectors,
    find_encoder_folder,
    list_cached_encoders,
)
from sentprobe.probes.encoders.embedding import embed

FIRST, SECOND = "1" * 64, "2" * 64


def fill_cache(directory: Path) -> None:
    first = HashingEncoder(fingerprint=FIRST, name="first")
    for sentences in (["a", "b"], ["b", "c"]):
        embed(first, sentences, cache=Cache(directory))
    embed(HashingEncoder(fingerprint=SECOND, name="second", dim=5), ["a"], cache=Cache(directory))
    embed(HashingEncoder(fingerprint=SECOND, name="alias", dim=5), ["b"], cache=Cache(directory))
    os.utime(find_encoder_folder(directory, FIRST), (time.time() - 9 * DAY,) * 2)


def test_entries(tmp_path: Path) -> None:
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


def test_a_sentence_that_is_there_twice_counts_once(tmp_path: Path) -> None:
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
def test_clear(encoder: str | None, older_than: float | None, left: list[str], tmp_path: Path) -> None:
    fill_cache(tmp_path)
    before = sum(path.stat().st_size for path in list_vector_files_below(tmp_path))
    removed = clear_vectors(tmp_path, encoder=encoder, older_than=older_than)
    after = sum(path.stat().st_size for path in list_vector_files_below(tmp_path))
    assert [entry.encoders[-1] for entry in list_cached_encoders(tmp_path)] == left
    assert removed.encoders == 2 - len(left)
    assert removed.size >= before - after
    assert len(list(tmp_path.iterdir())) == len(left)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("frist", r"'frist' is not in the cache \(did you mean 'first'\?\); it has: alias, first"),
        ("", "encoder '' is not in the cache"),
        ("1" * 7, "'1111111' is not in the cache"),
    ],
)
def test_clear_of_an_encoder_that_is_not_there(name: str, message: str, tmp_path: Path) -> None:
    fill_cache(tmp_path)
    with pytest.raises(UsageError, match=message):
        clear_vectors(tmp_path, encoder=name)
    assert len(list_cached_encoders(tmp_path)) == 2


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
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
def test_check_removes_what_is_damaged(damage: Damage, tmp_path: Path) -> None:
    fill_cache(tmp_path)
    assert check_cache_files(tmp_path).damaged == ()
    path, *_ = list_vector_files_below(find_encoder_folder(tmp_path, FIRST).parent)
    if damage is copy_other_file:
        path.with_name(list_vector_files_below(tmp_path)[1].name).touch()
    damage(path, 220)
    checked = check_cache_files(tmp_path)
    assert path in checked.damaged
    assert checked.files >= 4
    assert not path.exists()
    assert check_cache_files(tmp_path).damaged == ()


def test_a_damaged_file_does_not_hide_the_rest(tmp_path: Path) -> None:
    fill_cache(tmp_path)
    for path in list_vector_files_below(tmp_path):
        path.write_bytes(b"")
    assert [entry.sentences for entry in list_cached_encoders(tmp_path)] == [0, 0]
    clear_vectors(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_cache(tmp_path)

    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(SentprobeError, match=r"\.vectors: cannot remove it: Permission denied"):
        clear_vectors(tmp_path)


def test_a_cache_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(SentprobeError, match="cannot read the cache: Permission denied"):
        list_cached_encoders(tmp_path)
