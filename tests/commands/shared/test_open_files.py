"""Outputs that name an open file, such as /dev/stdout and /dev/fd/3: inputs stay, and content that was there too."""

import importlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.files import atomic_folder, atomic_path, write_atomically
from sentprobe.common.inputs import declare_output, find_descriptor, guarding_inputs

if not Path("/proc/self/fd").is_dir():
    pytest.skip("there is no /proc/self/fd here", allow_module_level=True)

NAMES = ("/dev/fd/{}", "/proc/self/fd/{}", "/proc/thread-self/fd/{}", "/dev/../dev/fd/{}", "link", "link to a link")
READ_ONLY = "is open only for reading; the output needs another path"


@contextmanager
def opening(path: Path, flags: int, number: int | None = None) -> Iterator[int]:
    """Open a file, under descriptor *number* if that is not None, and restore that descriptor afterwards."""
    with ExitStack() as stack:
        file = os.open(path, flags)
        stack.callback(os.close, file)
        if number is not None:
            try:
                saved = os.dup(number)
            except OSError:
                stack.callback(os.close, number)
            else:
                stack.callback(os.close, saved)
                stack.callback(os.dup2, saved, number)
            os.dup2(file, number)
        yield file if number is None else number


def name_open_file(number: int, name: str, folder: Path) -> Path:
    """Return a path that leads to an open file, by a symbolic link in *folder* if *name* says so."""
    path = Path(name.format(number))
    for link in ("one", "two")[: name.count("link")]:
        target = f"/dev/fd/{number}" if link == "one" else "one"
        (folder / link).unlink(missing_ok=True)
        (folder / link).symlink_to(target)
        path = folder / link
    return path


@given(
    st.sampled_from(NAMES),
    st.sampled_from([os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_APPEND]),
    st.integers(0, 20),
    st.tuples(st.binary(max_size=20), st.binary(max_size=20)),
)
@examples(60)
def test_open_file_is_written_like_os(
    tmp_path_factory: pytest.TempPathFactory, name: str, flags: int, position: int, contents: tuple[bytes, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("place")
    old, new = contents
    for file_name in ("ours", "theirs"):
        (folder / file_name).write_bytes(old)
    with guarding_inputs(), opening(folder / "ours", flags) as ours, opening(folder / "theirs", flags) as theirs:
        for file in (ours, theirs):
            os.lseek(file, position, os.SEEK_SET)
        path = name_open_file(ours, name, folder)
        declare_output(path)
        for _ in range(2):
            with atomic_path(path) as temporary:
                temporary.write_bytes(new)
            os.write(theirs, new)
        assert os.lseek(ours, 0, os.SEEK_CUR) == os.lseek(theirs, 0, os.SEEK_CUR)
    assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()


@given(
    st.sampled_from(NAMES),
    st.sampled_from([os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND]),
    st.sampled_from(["read before", "read after", "written without a declaration"]),
    st.booleans(),
)
@examples(60)
def test_open_input_is_not_written(
    tmp_path_factory: pytest.TempPathFactory, name: str, flags: int, order: str, is_standard_input: bool
) -> None:
    folder = tmp_path_factory.mktemp("place")
    path = folder / "read"
    path.write_text("mine")
    with ExitStack() as stack:
        number = stack.enter_context(opening(path, flags, 0 if is_standard_input else None))
        out = name_open_file(number, name, folder)
        stack.enter_context(guarding_inputs())

        def read() -> None:
            if not is_standard_input:
                path.read_text()

        steps: list[Callable[[], object]] = [read, lambda: declare_output(out)]
        if order == "written without a declaration":
            steps[1] = lambda: write_atomically(out, "new")
        with pytest.raises(UsageError) as caught:
            for step in steps[::-1] if order == "read after" else steps:
                step()
    kind = "standard input" if is_standard_input else "an input"
    said = READ_ONLY if flags == os.O_RDONLY else f"is {kind}; the output needs another path"
    assert str(caught.value) == f"{out}: {said}"
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", NAMES)
def test_unwritable_descriptor_is_refused(name: str, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(UsageError, match=READ_ONLY):
            write_atomically(name_open_file(reading, name, tmp_path), "new")
        write_atomically(name_open_file(writing, name, tmp_path), "new")
        assert os.read(reading, 10) == b"new"
        path = name_open_file(writing, name, tmp_path)
    finally:
        os.close(reading)
        os.close(writing)
    with pytest.raises(UsageError, match="is not open; the output needs another path"):
        write_atomically(path, "new")


def test_path_without_descriptor(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "1").touch()
    for path in (tmp_path / "loop", tmp_path / "1", "/dev/null", "/proc/self/fd/x", "/dev/fd", ""):
        assert find_descriptor(Path(path)) is None


def test_open_folder_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with opening(tmp_path / "out", os.O_RDONLY) as number, guarding_inputs():
        with atomic_folder(Path(f"/dev/fd/{number}")) as folder:
            (folder / "new").touch()
        with pytest.raises(UsageError, match="is a directory, not a file to write"):
            write_atomically(Path(f"/dev/fd/{number}"), "new")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["new"]


def test_socket_is_written() -> None:
    first, second = socket.socketpair()
    with first, second:
        write_atomically(Path(f"/dev/fd/{first.fileno()}"), "new")
        assert second.recv(10) == b"new"


def test_imported_module_is_an_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module_of_open_files.py").write_text("number = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("module_of_open_files")
    with (
        opening(tmp_path / "module_of_open_files.py", os.O_WRONLY | os.O_APPEND) as file,
        guarding_inputs(),
        pytest.raises(UsageError, match="is an input; the output needs another path"),
    ):
        write_atomically(Path(f"/dev/fd/{file}"), "new")


PAIR = '{"sentence_good": "a b", "sentence_bad": "a c", "UID": "u", "linguistics_term": "t", "pairID": "0"}\n'
ARPA = "\\data\\\nngram 1=3\n\n\\1-grams:\n-1 a\n-1 b\n-1 <unk>\n\n\\end\\\n"
INPUTS = {
    "a.arpa": ARPA,
    "p.jsonl": PAIR,
    "p.csv": "a,b,same\nthe man slept,the man slept,1\nthe man slept,the men slept,0\n",
    "s.txt": "the man slept\n",
    "vectors.txt": "the 1 2\nman 3 4\nmen 5 6\nslept 7 8\n",
}


def write_inputs() -> None:
    for name, text in INPUTS.items():
        Path(name).write_text(text)


LM = ("probe", "lm", "ngram:a.arpa", "--pairs")
GATE = ("probe", "gate", "bow:vectors.txt", "--pairs", "p.csv", "--threshold", "0.5", "-f", "text", "-o")
PARSE = ("gen", "parse", "--format", "jsonl", "--file")
READ = os.O_RDONLY
IS_STDIN = "is standard input; the output needs another path"
IS_INPUT = "is an input; the output needs another path"
OVERWRITING: dict[str, tuple[tuple[str, ...], str, int, int, str]] = {
    "stdin": ((*LM, "p.jsonl", "--scores", "/dev/stdin"), "p.jsonl", 0, READ, READ_ONLY),
    "stdin twice": ((*LM, "/dev/stdin", "--scores", "/dev/stdin"), "p.jsonl", 0, os.O_RDWR, IS_STDIN),
    "descriptor": ((*LM, "p.jsonl", "--scores", "/dev/fd/57"), "p.jsonl", 57, READ, READ_ONLY),
    "stderr": ((*LM, "p.jsonl", "--scores", "/dev/stderr"), "p.jsonl", 2, os.O_RDWR, IS_INPUT),
    "stdout of lm": ((*LM, "p.jsonl", "-o", "/dev/stdout"), "p.jsonl", 1, os.O_WRONLY | os.O_APPEND, IS_INPUT),
    "gate": ((*GATE, "/dev/fd/57"), "p.csv", 57, READ, READ_ONLY),
    "gate that appends": ((*GATE, "/dev/fd/57"), "p.csv", 57, os.O_WRONLY | os.O_APPEND, IS_INPUT),
    "parse": ((*PARSE, "/dev/stdin", "--out", "/dev/stdin"), "s.txt", 0, READ, READ_ONLY),
    "parse to stdout": ((*PARSE, "s.txt", "--out", "/dev/stdout"), "s.txt", 1, os.O_WRONLY | os.O_APPEND, IS_INPUT),
}


@pytest.mark.parametrize("case", OVERWRITING)
def test_open_inputs_stay(case: str, working_folder: Path, run_program: Command) -> None:
    write_inputs()
    (program, *line), name, number, flags, said = OVERWRITING[case]
    with opening(Path(name), flags, number):
        code, out, err = run_program(program, *line)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"{program}: {line[-1]}: {said}"
    assert {path.name: path.read_text() for path in working_folder.iterdir()} == INPUTS


GEN = ("gen", "--n", "3", "--format", "jsonl", "--out")
LM_TABLE = (*LM, "p.jsonl", "-f", "csv", "-o")
APPENDING: dict[str, tuple[tuple[str, ...], str]] = {
    "sentences": (GEN, "s.jsonl"),
    "language models": (LM_TABLE, "lm.csv"),
    "scores": ((*LM, "p.jsonl", "-o", "/dev/null", "--scores"), "scores.csv"),
    "parquet": (("gen", "--n", "3", "--format", "parquet", "--out"), "s.parquet"),
}


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/57", "/proc/self/fd/57"])
@pytest.mark.parametrize("case", APPENDING)
def test_open_file_equals_named_file(case: str, path: str, run_program: Command) -> None:
    write_inputs()
    Path("old").write_text("old\n")
    (program, *line), name = APPENDING[case]
    assert run_program(program, *line, name)[0] == 0
    with opening(Path("old"), os.O_WRONLY | os.O_APPEND, 1 if path == "/dev/stdout" else 57):
        assert run_program(program, *line, path)[:2] == (0, "")
    written = Path("old").read_bytes()
    assert written == b"old\n" + Path(name).read_bytes()
    assert len(written) > 10


@pytest.mark.usefixtures("working_folder")
def test_open_file_is_one_output(run_program: Command) -> None:
    write_inputs()
    Path("old").write_text("old\n")
    with opening(Path("old"), os.O_WRONLY | os.O_APPEND, 57):
        for second in ("/dev/fd/57", "old"):
            line = (*LM[1:], "p.jsonl", "-f", "csv", "-o", "/dev/fd/57", "--scores", second)
            said = f"probe: {second}: is the path of --out and of --scores; give each its own\n"
            assert run_program("probe", *line) == (2, "", said)
    assert Path("old").read_text() == "old\n"


def test_printed_text_stays_in_order(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from sentprobe.common.files import write_atomically
print("before")
write_atomically(Path("/dev/stdout"), "written\\n")
print("after")
"""
    with (tmp_path / "log").open("a") as log:
        subprocess.run([sys.executable, "-c", script], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "before\nwritten\nafter\n"
