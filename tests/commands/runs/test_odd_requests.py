"""Extreme requests: huge numbers, closed streams, odd bytes, /dev/null."""

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.in_process import Command, check_refusal

from sentprobe.cli import probe
from sentprobe.generator.bulk.generate import generate
from sentprobe.lexicon import LexiconError
from sentprobe.lexicon.read import read_lexicon_text
from sentprobe.probes.corpus import queries
from sentprobe.probes.runs.settings import Run

HUGE = "1" + "0" * 30


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"run compeval -e bow --seed {HUGE}", "the seed must be at most 4611686"),
        (f"run compeval -e bow?seed={HUGE}", "option seed=1000"),
        (f"run compeval -e bow --seeds {HUGE}", "the number of seeds must be at most"),
        (f"run compeval -e bow --jobs {HUGE}", "the number of jobs must be at most"),
        ("run compeval -e bow --set hidden=10000000", "hidden must be at most 1,0"),
        (f"run compeval -e bow --set hidden={HUGE}", "whole numbers from 0"),
        (f"run compeval -e bow --set hidden={'9' * 5000}", "hidden=99"),
        (f"build compeval --out x --seed {HUGE}", "the seed must be at most 4611686"),
        (f"embed compeval -e bow --out v.npz --seed {HUGE}", "the seed must"),
        (f"audit none --seed {HUGE}", "the seed must be at most 4611686"),
    ],
    ids=lambda text: text[:60],
)
def test_huge_number_is_refused(line: str, message: str, command: Command) -> None:
    outcome = command(*line.split())
    check_refusal(outcome, message)
    assert len(outcome[2]) < 400


def test_seed_in_python() -> None:
    with pytest.raises(ValueError, match="the seed must be at most"):
        Run(seed=10**30).check()


def test_more_sentences_than_there_is_memory_for(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="too many at once"):
        generate(tmp_path / "x.txt", n=10**12)


def test_no_memory(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sentprobe.commands.build._check_kind", full)
    assert command("audit", "none") == (1, "", "probe: not enough memory; reduce the size of the work\n")


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gen parse", "standard input is closed; give sentences as arguments, or --file"),
        ("probe analyze - --format trees --out t", "standard input is closed; name a file of the corpus"),
    ],
)
def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch, line: str, message: str, run_program: Command) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    name, *arguments = line.split()
    code, out, err = run_program(name, *arguments)
    assert (code, out, err.splitlines()[-1]) == (2, "", f"{name}: {message}")


@pytest.mark.parametrize("word", [b"\xff", b"caf\xe9", b"--\xff", b"\xed\xa0\x80"])
@pytest.mark.parametrize("name", ["gen", "probe"])
def test_argument_not_in_utf8_is_refused(name: str, word: bytes, run_program: Command) -> None:
    arguments = os.fsdecode(word)
    code, out, err = run_program(name, "show", arguments)
    assert (code, out) == (2, "")
    assert err == f"{name}: {ascii(word)[1:]} is not UTF-8; rename it\n"


def test_argument_not_in_utf8_without_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_long_line_of_a_lexicon(line: str) -> None:
    """The look at its lines once took time as the cube of a line's length: it did not end."""
    with pytest.raises(LexiconError, match=r"^l\.toml:1: L010: a lexicon is a TOML file"):
        read_lexicon_text(line, "l.toml")


def test_interrupt_seen_by_duckdb() -> None:
    """It makes an error of its own of Ctrl-C, which is told as any other Ctrl-C."""
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(KeyboardInterrupt), queries._translate_errors():
        raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")


def test_interrupt_leaves_duckdb_connection_busy() -> None:
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
