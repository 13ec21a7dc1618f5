"""Extreme requests: huge numbers, closed streams, odd bytes, /dev/null."""

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.in_process import Command, run_command

from sentprobe.cli import probe
from sentprobe.generator.bulk.generate import generate
from sentprobe.lexicon import LexiconError
from sentprobe.lexicon.read import read_lexicon_text
from sentprobe.probes.corpus import queries
from sentprobe.probes.runs.settings import make_run

HUGE = "1" + "0" * 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "compeval", "-e", "bow", "--seed", HUGE], "the seed must be at most 4611686"),
        (["run", "compeval", "-e", f"bow?seed={HUGE}"], "option seed=1000"),
        (["run", "compeval", "-e", "bow", "--seeds", HUGE], "the number of seeds must be at most"),
        (["run", "compeval", "-e", "bow", "--jobs", HUGE], "the number of jobs must be at most"),
        (["run", "compeval", "-e", "bow", "--set", "hidden=10000000"], "hidden must be at most 1,0"),
        (["run", "compeval", "-e", "bow", "--set", f"hidden={HUGE}"], "whole numbers from 0"),
        (["run", "compeval", "-e", "bow", "--set", "hidden=" + "9" * 5000], "hidden=99"),
        (["build", "compeval", "--out", "x", "--seed", HUGE], "the seed must be at most 4611686"),
        (["embed", "compeval", "-e", "bow", "--out", "v.npz", "--seed", HUGE], "the seed must"),
        (["audit", "none", "--seed", HUGE], "the seed must be at most 4611686"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value)[:60],
)
def test_numbers_beyond_all_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert len(err) < 400


def test_a_seed_in_python() -> None:
    with pytest.raises(ValueError, match="the seed must be at most"):
        make_run(seed=10**30)


def test_more_sentences_than_there_is_memory_for(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="too many at once"):
        generate(tmp_path / "x.txt", n=10**12)


def test_no_memory(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sentprobe.commands.build._check_kind", full)
    assert command("audit", "none") == (
        1, "", "probe: not enough memory; reduce the size of the work\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gen parse", "standard input is closed; give sentences as arguments, or --file"),
        ("probe analyze - --format trees --out t", "standard input is closed; name a file of the corpus"),
    ],
)
def test_closed_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", None)
    name, *arguments = line.split()
    code, out, err = run_command(name, *arguments, monkeypatch=monkeypatch, capture=capsys)
    assert (code, out, err.splitlines()[-1]) == (2, "", f"{name}: {message}")


@pytest.mark.parametrize("word", [b"\xff", b"caf\xe9", b"--\xff", b"\xed\xa0\x80"])
@pytest.mark.parametrize("name", ["gen", "probe"])
def test_arguments_that_are_not_utf8(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, word: bytes
) -> None:
    arguments = os.fsdecode(word)
    code, out, err = run_command(name, "show", arguments, monkeypatch=monkeypatch, capture=capsys)
    assert (code, out) == (2, "")
    assert err == f"{name}: {ascii(word)[1:]} is not UTF-8; rename it\n"


def test_arguments_that_are_not_utf8_and_no_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["probe", "show", "\udcff"])
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with pytest.raises(SystemExit) as caught:
        probe()
    assert caught.value.code == 2
    sys.stderr.close()  # the null device, which the program opened in its place


@pytest.mark.parametrize("fmt", ["npz", "npy", "safetensors", "parquet", "lookup"])
def test_vectors_to_dev_null(tmp_path: Path, command: Command, fmt: str) -> None:
    (tmp_path / "in.txt").write_text("the man slept\nthe dogs ran\n")
    where = ["--out", os.devnull, "--format", fmt, "--no-cache"]
    code, out, _ = command("embed", tmp_path / "in.txt", "-e", "bow?dim=4", *where)
    assert (code, out) == (0, f"{os.devnull}: 2 sentences, vectors of width 4\n")
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize("line", [" " * 40_000 + "[", "[" + " " * 40_000, "[a" + " " * 40_000 + "b",
                                  '"' + '\\"' * 20_000, "x = '" * 10_000])  # fmt: skip
def test_a_long_line_of_a_lexicon(line: str) -> None:
    """The look at its lines once took time as the cube of a line's length: it did not end."""
    with pytest.raises(LexiconError, match=r"^l\.toml:1: L010: a lexicon is a TOML file"):
        read_lexicon_text(line, "l.toml")


def test_an_interrupt_that_duckdb_sees_first() -> None:
    """It makes an error of its own of Ctrl-C, which is told as any other Ctrl-C."""
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(KeyboardInterrupt), queries._translate_errors():
        raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")


def test_an_interrupt_after_which_duckdb_can_do_nothing_more() -> None:
    """Its connection still has the result of the query that was interrupted."""
    duckdb = pytest.importorskip("duckdb")

    class Busy:
        def register(self, *_: object) -> None: ...

        def execute(self, *_: object) -> None:
            raise KeyboardInterrupt

        def unregister(self, _: str) -> None:
            raise duckdb.Error("Resource In Use Error: connection has an unfinished result")

    corpus = queries.Corpus(Busy())  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        corpus.read_texts(np.array([1], np.uint64))
