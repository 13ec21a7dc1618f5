"""The command ``probe cache``: output, removals and errors."""

from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.strategies.cache_strategies import HashingEncoder, list_vector_files_below

from sentprobe.lexicon import read_lexicon
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of the command, with two encoders in it."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("SENTPROBE_CACHE", str(directory))
    for name, sentences in (("first", ["a", "b"]), ("[b]second[/b]", ["a"])):
        encoder = HashingEncoder(fingerprint=name * 8, name=name)
        embed(encoder, sentences, cache=Cache(directory))
    return directory


def test_show(cache: Path, command: Command) -> None:
    code, out, err = command("cache")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"cache: {cache}"
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    second, first = rows
    assert first[:4] == ["first", "firstfirstfi", "2", "3"]
    assert second[:4] == ["[b]second[/b]", "[b]second[/b", "1", "3"]
    assert first[4].endswith(" bytes")
    assert first[5].startswith("20")
    size = sum(path.stat().st_size for path in list_vector_files_below(cache))
    assert lines[-1] == f"{size} bytes in all"


def test_an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    directory = tmp_path / "none"
    monkeypatch.setenv("SENTPROBE_CACHE", str(directory))
    expected = {
        ("cache",): f"cache: {directory}\nthe cache is empty\n",
        ("cache", "clear"): f"removed from {directory}: 0 encoders, 0 bytes\n",
        ("cache", "check"): f"cache: {directory}: 0 files read, 0 damaged\n",
    }
    for arguments, out in expected.items():
        assert command(*arguments) == (0, out, "")
    assert not directory.exists()


@pytest.mark.parametrize(
    ("arguments", "removed"),
    [
        ((), 2),
        (("--encoder", "first"), 1),
        (("--encoder", "firstfir"), 1),
        (("--older-than", "1"), 0),
        (("--older-than", "0"), 2),
    ],
)
def test_clear(arguments: tuple[str, ...], removed: int, cache: Path, command: Command) -> None:
    code, out, err = command("cache", "clear", *arguments)
    assert (code, err) == (0, "")
    encoders = "1 encoder" if removed == 1 else f"{removed} encoders"
    assert out.startswith(f"removed from {cache}: {encoders}, ")
    assert len(list_vector_files_below(cache)) == 2 - removed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--encoder", "frist"),
            "probe: encoder 'frist' is not in the cache (did you mean 'first'?); it has: [b]second[/b], first\n",
        ),
        (("--older-than", "-1"), "probe: the number of days must not be negative, not -1.0\n"),
        (("--older-than", "nan"), "probe: the number of days must not be negative, not nan\n"),
    ],
)
def test_a_bad_request(arguments: tuple[str, ...], message: str, cache: Path, command: Command) -> None:
    code, out, err = command("cache", "clear", *arguments)
    assert (code, out, err) == (2, "", message)
    assert len(list_vector_files_below(cache)) == 2


def test_check(cache: Path, command: Command) -> None:
    path = list_vector_files_below(cache)[0]
    path.write_bytes(path.read_bytes()[:-1])
    outcome = command("cache", "check")
    assert outcome == (
        0, f"damaged, removed: {path}\ncache: {cache}: 2 files read, 1 damaged\n", "",
    )  # fmt: skip
    outcome = command("cache", "check")
    assert outcome == (0, f"cache: {cache}: 1 file read, 0 damaged\n", "")


def test_a_cache_that_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    path = tmp_path / "cache"
    path.write_text("mine")
    monkeypatch.setenv("SENTPROBE_CACHE", str(path))
    code, out, _ = command("cache", "clear")
    assert (code, out) == (0, f"removed from {path}: 0 encoders, 0 bytes\n")
    assert path.read_text() == "mine"


def test_the_forms_of_lexicons(cache: Path, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[noun]\nwolf = {}\n[intransitive]\nhowl = {}\n", encoding="utf-8")
    read_lexicon(path, cache=cache)
    (cache / "lexicons" / "mine.txt").write_text("mine", encoding="utf-8")
    assert "inflected forms: 1 lexicon\n" in command("cache")[1]
    assert command("cache", "clear", "--encoder", "first")[1].endswith(": 1 encoder, 376 bytes\n")
    assert "0 encoders, 0 bytes" in command("cache", "clear", "--older-than", "1")[1]
    assert ": 1 encoder, 1 lexicon, " in command("cache", "clear")[1]
    assert [path for path in cache.rglob("*") if path.is_file()] == [cache / "lexicons/mine.txt"]
