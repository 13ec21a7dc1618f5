"""Answers of lemminflect that are kept on disk: the same lexicon, whatever is there already."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.lexicon import Form, Kind, Lexicon, memory, read_lexicon, write_lexicon_text
from sentprobe.lexicon.memory import (
    Answers,
    DamagedAnswersError,
    kept_files,
    path_of,
    read_answers,
    write_answers,
)

TEXT = "[noun]\nwolf = {}\n[transitive]\nchase = {}\n[intransitive]\nhowl = {}\n"
NO_LEMMINFLECT = (
    "import sys; from sentprobe.cli import gen\n"
    "try:\n    gen()\nexcept SystemExit:\n    print('lemminflect' in sys.modules)"
)

answers = st.dictionaries(
    st.tuples(st.text(), st.sampled_from(Form)), st.none() | st.text(), max_size=5
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def content(lexicon: Lexicon) -> str:
    return write_lexicon_text(lexicon) + "".join(map(repr, lexicon.entries))


@given(answers)
def test_reading_undoes_writing(found: Answers) -> None:
    assert read_answers(write_answers(found)) == found


@given(answers, st.data())
def test_damage_is_seen(found: Answers, data: st.DataObject) -> None:
    whole = write_answers(found)
    at = data.draw(st.integers(0, len(whole) - 1))
    flipped = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    for damaged in (flipped, whole[:at], whole + b"x"):
        with pytest.raises(DamagedAnswersError):
            read_answers(damaged)


@pytest.mark.parametrize("body", [b"{}x", b"3", b"[3]", b'[["a", "XX", "b"]]', b"\xff"])
def test_what_holds_no_answers(body: bytes) -> None:
    with pytest.raises(DamagedAnswersError):
        read_answers(memory._head(body) + body + b"\n")


def test_the_second_reading_asks_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    plain = content(read_lexicon(file))
    assert content(read_lexicon(file, cache=cache)) == plain
    assert kept_files(cache) == [path_of(cache, TEXT)]
    before = path_of(cache, TEXT).read_bytes()
    monkeypatch.setattr(memory, "look_up", lambda *_: pytest.fail("it was asked"))
    assert content(read_lexicon(file, cache=cache)) == plain
    assert path_of(cache, TEXT).read_bytes() == before


@pytest.mark.parametrize("damaged", [b"", b"x", b"\xff" * 100])
def test_a_damaged_file_is_not_used_and_is_written_anew(
    file: Path, tmp_path: Path, damaged: bytes
) -> None:
    plain = content(read_lexicon(file, cache=tmp_path))
    path = path_of(tmp_path, TEXT)
    whole = path.read_bytes()
    path.write_bytes(damaged or whole[:-5])
    assert content(read_lexicon(file, cache=tmp_path)) == plain
    assert path.read_bytes() == whole


def test_another_text_or_version_has_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = path_of(tmp_path, TEXT)
    assert path_of(tmp_path, TEXT + "\n") != one
    monkeypatch.setattr(memory, "library", lambda _: "lemminflect 9")
    assert path_of(tmp_path, TEXT) != one


def test_a_folder_that_cannot_be_written_does_not_matter(file: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    lexicon = read_lexicon(file, cache=tmp_path / "cache")
    assert lexicon.get("wolf", Kind.NOUN).forms[Form.NNS] == "wolves"
    assert kept_files(tmp_path / "cache") == []


def test_words_that_need_no_answer_keep_none(file: Path, tmp_path: Path) -> None:
    file.write_text("[noun]\nman = {}\n[intransitive]\nsleep = {}\n", encoding="utf-8")
    read_lexicon(file, cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_later_command_does_without_lemminflect(file: Path, tmp_path: Path) -> None:
    environment = os.environ | {"SENTPROBE_CACHE": str(tmp_path / "cache")}
    request = [sys.executable, "-c", NO_LEMMINFLECT, "--lexicon", str(file), "-n", "3"]
    first, second = (
        subprocess.run(request, capture_output=True, text=True, check=True, env=environment).stdout
        for _ in range(2)
    )
    assert first.endswith("True\n") and second.endswith("False\n")
    assert first.splitlines()[:3] == second.splitlines()[:3]
