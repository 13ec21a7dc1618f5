"""Reading of files: encodings, ASCII blanks, and pipes."""

import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.disk.reading import open_input, open_lines, parse_numbers, read_text, split_at_blanks
from sentprobe.errors import FormatError


@given(st.text(st.characters(codec="utf-8")), st.sampled_from(["", "\ufeff"]))
def test_text_is_read_without_byte_order_mark(text: str, mark: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "text")
        path.write_bytes((mark + text).encode())
        assert mark + read_text(path) == mark + text.removeprefix("" if mark else "\ufeff")
        with open_lines(path) as lines:
            assert "".join(lines) == read_text(path)


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"a\nb\n\xff\n")
    with pytest.raises(FormatError, match=r"^line 3: not UTF-8$"):
        read_text(tmp_path / "text")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\f\v"), min_size=1)), st.data())
def test_only_ascii_blanks_separate_fields(fields: list[str], data: st.DataObject) -> None:
    blanks = st.text(" \t\r\n\f\v", min_size=1)
    line = "".join(field + data.draw(blanks) for field in fields)
    assert split_at_blanks(data.draw(st.text(" \t")) + line) == fields


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_once(tmp_path: Path) -> None:
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
def test_what_only_python_reads_as_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="could not convert string to float"):
        parse_numbers(f"1 {text} 2")
