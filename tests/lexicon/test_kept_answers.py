"""Cached answers of lemminflect: the lexicon is the same with and without them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.lexicon import Form, Kind, Lexicon, read_lexicon, write_lexicon_text
from sentprobe.lexicon import lexicon as memory
from sentprobe.lexicon.lexicon import (
    Answers,
    DamagedAnswersError,
    find_answers_path,
    find_kept_files,
    read_answers,
    write_answers,
)

TEXT = "[noun]\nwolf = {}\n[transitive]\nchase = {}\n[intransitive]\nhowl = {}\n"
NO_LEMMINFLECT = (
    "import sys; from sentprobe.cli import gen\n"
    "try:\n    gen()\nexcept SystemExit:\n    print('lemminflect' in sys.modules)"
)

answers = st.dictionaries(
    st.tuples(st.text(), st.sampled_from(Form)), st.tuples(st.none() | st.text(), st.booleans()), max_size=5
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def format_content(lexicon: Lexicon) -> str:
    return write_lexicon_text(lexicon) + "".join(map(repr, lexicon.entries))


@given(answers)
def test_reading_undoes_writing(entries: Answers) -> None:
    assert read_answers(write_answers(entries)) == entries


@given(answers, st.data())
def test_damage_is_seen(entries: Answers, data: st.DataObject) -> None:
    written = write_answers(entries)
    at = data.draw(st.integers(0, len(written) - 1))
    flipped = written[:at] + bytes([written[at] ^ data.draw(st.integers(1, 255))]) + written[at + 1 :]
    for damaged in (flipped, written[:at], written + b"x"):
        with pytest.raises(DamagedAnswersError):
            read_answers(damaged)


@pytest.mark.parametrize("body", [b"{}x", b"3", b"[3]", b'[["a", "XX", "b"]]', b"\xff"])
def test_malformed_answers_are_refused(body: bytes) -> None:
    with pytest.raises(DamagedAnswersError):
        read_answers(memory._format_head(body) + body + b"\n")


def test_second_reading_asks_nothing(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    plain = format_content(read_lexicon(file))
    assert format_content(read_lexicon(file, cache=cache)) == plain
    assert find_kept_files(cache) == [find_answers_path(cache, TEXT)]
    before = find_answers_path(cache, TEXT).read_bytes()
    monkeypatch.setattr(memory, "look_up", lambda *_: pytest.fail("it was asked"))
    assert format_content(read_lexicon(file, cache=cache)) == plain
    assert find_answers_path(cache, TEXT).read_bytes() == before


def test_guessed_forms_are_listed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "my.toml"
    path.write_text(
        "[noun]\nox = {}\nperson = {}\nchild = {}\ndeer = { NNS = 'deers' }\n[transitive]\nlight = {}\nsee = {}\n"
    )
    for _ in range(2):  # the second time, from the cache
        caplog.clear()
        read_lexicon(path, cache=tmp_path / "cache")
        guesses = "NNS of ox: oxes; NNS of person: persons; VBD of light: lit; VBN of light: lighted"
        assert caplog.messages == [f"{path}: guessed forms, to be stated in the file where they are wrong: {guesses}"]


@pytest.mark.parametrize("damaged", [b"", b"x", b"\xff" * 100])
def test_damaged_answers_are_written_anew(file: Path, tmp_path: Path, damaged: bytes) -> None:
    plain = format_content(read_lexicon(file, cache=tmp_path))
    path = find_answers_path(tmp_path, TEXT)
    sound = path.read_bytes()
    path.write_bytes(damaged or sound[:-5])
    assert format_content(read_lexicon(file, cache=tmp_path)) == plain
    assert path.read_bytes() == sound


def test_answers_depend_on_text_and_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_path = find_answers_path(tmp_path, TEXT)
    assert find_answers_path(tmp_path, TEXT + "\n") != first_path
    monkeypatch.setattr(memory, "describe_package", lambda _: "lemminflect 9")
    assert find_answers_path(tmp_path, TEXT) != first_path


def test_unwritable_cache_does_not_matter(file: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    lexicon = read_lexicon(file, cache=tmp_path / "cache")
    assert lexicon.get("wolf", Kind.NOUN).forms[Form.NNS] == "wolves"
    assert find_kept_files(tmp_path / "cache") == []


def test_words_without_questions_keep_no_answers(file: Path, tmp_path: Path) -> None:
    file.write_text("[noun]\nman = {}\n[intransitive]\nsleep = {}\n", encoding="utf-8")
    read_lexicon(file, cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_later_command_needs_no_lemminflect(file: Path, tmp_path: Path) -> None:
    environment = os.environ | {"SENTPROBE_CACHE": str(tmp_path / "cache")}
    request = [sys.executable, "-c", NO_LEMMINFLECT, "--lexicon", str(file), "-n", "3"]
    first, second = (
        subprocess.run(request, capture_output=True, text=True, check=True, env=environment).stdout for _ in range(2)
    )
    assert first.endswith("True\n") and second.endswith("False\n")
    assert first.splitlines()[:3] == second.splitlines()[:3]
