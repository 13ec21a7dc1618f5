"""Exit codes: 2 for a wrong path, 1 for damaged content."""

import errno
import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args

import numpy as np
import pyarrow.parquet as pq
import pytest
import typer
from helpers.in_process import run_command
from helpers.strategies.corpus_strategies import write_trees
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result

from sentprobe.cli import COMMANDS
from sentprobe.commands.gen import generate
from sentprobe.common.errors import UsageError
from sentprobe.probes.corpus.table import HEAD_NAME
from sentprobe.probes.datasets.formats import read_dataset, write_dataset
from sentprobe.probes.results.store import prepare_directory, write_result

QUICK = "--set max_epochs=1 --jobs 1 --no-cache"
BOW = "--encoder bow?dim=4"

WRONG_PATHS = [
    # A path that is not there, a folder for a file, a file for a folder, a folder that is not ours.
    "gen --lexicon none.toml",
    "gen --lexicon folder",
    "gen --config none.json",
    "gen --config folder",
    "gen --out file/x.txt",
    "gen --out folder --format text",
    "gen templates --lexicon none.toml",
    "gen pairs -c role --lexicon none.toml",
    "gen pairs -c role --out folder --format jsonl",
    "gen pairs -c role --out file/x.jsonl",
    "gen minimal -p transitive --lexicon none.toml",
    "gen minimal -p transitive --out folder --format jsonl",
    "gen minimal -p transitive --out others --format lm-eval",
    "gen minimal -p transitive --out file/x.jsonl",
    "gen retrieval -c role --lexicon none.toml --out new",
    "gen retrieval -c role -n 4 --out file",
    "gen retrieval -c role -n 4 --out others",
    "gen parse --file none.txt",
    "gen parse --file folder",
    "gen parse x --lexicon none.toml",
    "gen parse x --out folder --format text",
    "gen show help --lexicon none.toml",
    "gen show help --svg none/x.svg",
    "gen show help --svg folder",
    "probe run none",
    "probe run folder",
    "probe run natural none",
    "probe run natural folder",
    "probe run natural file",
    "probe run compeval --lexicon none.toml",
    "probe run compeval --lexicon folder",
    f"probe run data.jsonl {BOW} --out file",
    f"probe run data.jsonl {BOW} --out file/x",
    f"probe run data.jsonl {BOW} --out others",
    "probe run data.jsonl --encoder bow:none.txt",
    "probe run data.jsonl --encoder bow:folder",
    "probe run data.jsonl --encoder bilstm-last:none.txt",
    "probe run data.jsonl --encoder bilstm-max:none.txt",
    "probe run data.jsonl --encoder gated-conv:none.txt",
    "probe run data.jsonl --encoder infersent:none.pkl?version=1&vectors=none.txt",
    "probe run data.jsonl --encoder skipthought:none",
    "probe run data.jsonl --encoder skipthought:folder",
    "probe run data.jsonl --encoder sdae:none.npz?dictionary=none.tsv",
    "probe run data.jsonl --encoder file:none.npz",
    "probe run data.jsonl --encoder file:none.safetensors",
    "probe run data.jsonl --encoder file:none.parquet",
    "probe run data.jsonl --encoder file:none.txt",
    "probe run data.jsonl --encoder file:folder?format=npz",
    "probe run data.jsonl --encoder file:folder?format=safetensors",
    "probe run data.jsonl --encoder file:folder?format=parquet",
    "probe run data.jsonl --probe-vectors bow:none.txt",
    "probe run data.jsonl --encoder file:vectors.npz?sentences=none.txt",
    "probe run data.jsonl --encoder file:vectors.npz?sentences=folder",
    "probe run data.jsonl --encoder python:none",
    "probe show none",
    "probe show folder",
    "probe show file",
    "probe show run --out none/x.txt",
    "probe show run --out folder",
    "probe show layers --plot none/x.svg",
    "probe show layers --plot folder.svg",
    "probe report none",
    "probe report folder",
    "probe report file",
    "probe report run --out none/x.html",
    "probe report run --out x.md",
    "probe report run --audit none.json",
    "probe report run --audit folder",
    "probe show run --audit none.json",
    "probe compare none",
    "probe compare run --out none/x.md",
    "probe compare folder",
    "probe compare none#bow run",
    "probe compare layers -o none/x.txt",
    "probe compare layers -o folder",
    "probe check none",
    "probe check folder",
    "probe check three --out none/x.md",
    "probe check three -o folder --format json",
    "probe methods none",
    "probe methods folder",
    "probe methods three --out none/x.md",
    "probe methods three -o folder --format latex",
    "probe methods three --bib none/x.bib",
    "probe methods three --bib folder",
    "probe correlate none --with scores.csv",
    "probe correlate three --with none.csv",
    "probe correlate three --with folder",
    "probe correlate three --with scores.csv --out none/x.md",
    "probe correlate three --with scores.csv -o folder",
    "probe correlate three --with scores.csv --plot none/x.svg",
    "probe correlate three --with scores.csv --plot folder.svg",
    f"probe embed none {BOW} --out x.npz",
    f"probe embed folder {BOW} --out x.npz",
    f"probe embed data.jsonl {BOW} --out none/x.npz",
    f"probe embed data.jsonl {BOW} --out folder --format npz",
    "probe embed data.jsonl --encoder bow:none.txt --out x.npz",
    "probe geometry --lexicon none.toml",
    f"probe geometry {BOW} --no-cache -n 4 -c role -o file",
    f"probe geometry {BOW} --no-cache -n 4 -c role -o file/x",
    f"probe geometry {BOW} --no-cache -n 4 -c role -o others",
    "probe geometry --encoder bow:none.txt -c role",
    "probe gate bow --lexicon none.toml",
    "probe gate bow --pairs none.csv",
    "probe gate bow --pairs folder",
    "probe gate bow:none.txt -c role",
    "probe gate bow -c role -n 40 --no-cache --out none/x.txt",
    "probe gate bow -c role -n 40 --no-cache --out folder",
    "probe lm ngram:none.arpa --pairs none.jsonl",
    "probe lm ngram:none.arpa --pairs folder",
    "probe lm ngram:none.arpa --pairs none.jsonl --out folder",
    "probe lm ngram:none.arpa --pairs none.jsonl --scores folder",
    "probe audit none",
    "probe audit folder",
    "probe audit data.jsonl --lexicon none.toml",
    "probe audit data.jsonl --out none/x.txt",
    "probe audit data.jsonl --out folder",
    "probe build compeval --out file",
    "probe build compeval --out file/x",
    "probe build compeval --out x --lexicon none.toml",
    "probe build natural none --out x",
    "probe build natural folder --out x",
    "probe build natural file --out x",
    "probe build natural table --out file",
    "probe analyze none.mrg --out x",
    "probe analyze folder --out x",
    "probe analyze trees.mrg --out file",
    "probe analyze trees.mrg --out file/x",
    "probe analyze trees.mrg --out others",
    "probe analyze lines.txt --format text --parser none --punkt none --out x",
    "probe analyze lines.txt --format text --parser none --punkt folder --out x",
    "probe agree none table",
    "probe agree table folder",
    "probe agree table file",
    "probe agree table table --disagreements none/x.jsonl",
    "probe agree table table --disagreements folder",
]

WITH_EXTRAS = [
    ("sentence_transformers", "probe run data.jsonl --encoder st:./none"),
    ("sentence_transformers", "probe run data.jsonl --encoder st:./folder"),
    ("sentence_transformers", "probe run data.jsonl --encoder st:./file"),
    ("transformers", "probe run data.jsonl --encoder hf:./none"),
    ("transformers", "probe run data.jsonl --encoder hf:./folder"),
    ("bllipparser", "probe analyze lines.txt --format lines --parser bllip:none --punkt folder --out x"),
]

WRONG_CONTENT = [
    "gen parse --file latin1.txt",
    f"probe run file {BOW}",
    f"probe run broken.jsonl {BOW}",
    "probe run data.jsonl --encoder bow:broken.txt",
    "probe run data.jsonl --encoder file:broken.npz",
    "probe show broken",
    "probe compare broken",
    "probe check broken",
    "probe methods broken",
    "probe correlate three --with file",
    "probe audit file",
    "probe audit broken.jsonl",
    f"probe embed broken.jsonl {BOW} --out x.npz",
    "probe build natural broken-table --out x",
    "probe agree table broken-table",
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with what the commands name; ``none`` is not there."""
    monkeypatch.chdir(tmp_path)
    for folder in ("folder", "others", "folder.svg"):
        (tmp_path / folder).mkdir()
    (tmp_path / "others" / "thesis.tex").write_text("done")
    (tmp_path / "file").write_text("nothing that is read here\n")
    (tmp_path / "lines.txt").write_text("The man slept.\n")
    (tmp_path / "latin1.txt").write_bytes(b"na\xefve\n")
    for name in ("broken.jsonl", "broken.txt"):
        (tmp_path / name).write_text('{"sentence": 1\n{\n')
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "data.jsonl")
    _make_vectors(tmp_path)
    _make_tables(tmp_path)
    _make_runs(tmp_path)
    return tmp_path


def _make_vectors(place: Path) -> None:
    np.savez(place / "vectors.npz", vectors=np.ones((2, 3), dtype=np.float32))
    (place / "broken.npz").write_bytes(b"PK\x03\x04 no more")


def _make_tables(place: Path) -> None:
    write_trees(place / "trees.mrg", [("men", "ran"), ("dogs", "ran")])
    (place / "broken-table").mkdir()
    (place / "broken-table" / HEAD_NAME).write_text("{")


def _make_runs(place: Path) -> None:
    for name in ("run", "broken", "layers", "three"):
        prepare_directory(place / name)
    for number, name in enumerate("abc"):
        write_result(make_sample_result(name, "Order", 600 + number), place / "three")
    (place / "scores.csv").write_text("encoder,STS\na,1\nb,2\nc,3\n")
    for number in (1, 2):
        layer = replace(make_sample_result(f"m{number}", "Order", 600), layer=number, family="m")
        write_result(layer, place / "layers")
    path = write_result(make_sample_result("bow", "Order", 600), place / "run")
    (place / "broken" / path.name).write_text(path.read_text()[:-9])


def leave(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run a command line; return its exit code and the last line of what it says."""
    name, *arguments = shlex.split(line)
    if " table" in line:
        table = ("analyze", "trees.mrg", "--out", "table", "--jobs", "1")
        run_command("probe", *table, monkeypatch=monkeypatch, capture=capsys)
    if arguments[0] == "run" and "--set" not in arguments:
        arguments += QUICK.split()
    code, _, stderr = run_command(name, *arguments, monkeypatch=monkeypatch, capture=capsys)
    return code, stderr.splitlines()[-1]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("line", WRONG_PATHS)
def test_a_wrong_path_is_bad_usage(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, stderr = leave(line, monkeypatch, capsys)
    assert (code, stderr.split(":")[0]) == (2, line.split(maxsplit=1)[0]), stderr


@pytest.mark.usefixtures("place")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(("module", "line"), WITH_EXTRAS)
def test_a_wrong_path_for_an_extra_is_bad_usage(
    module: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    code, stderr = leave(line, monkeypatch, capsys)
    assert code == 2, stderr


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("line", WRONG_CONTENT)
def test_wrong_content_is_not_bad_usage(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, stderr = leave(line, monkeypatch, capsys)
    assert code == 1, stderr


@pytest.mark.parametrize(
    "line", ["run d\udce9 -e majority --out o", "build compeval --out \udce9", "show \udce9", "\udce9"]
)
def test_a_word_that_is_not_utf8(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, stderr = leave(f"probe {line}", monkeypatch, capsys)
    assert code == 2
    assert re.fullmatch(r"probe: 'd?\\xe9' is not UTF-8; rename it", stderr)


def _commands(program: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    if program == "gen":
        yield program, generate
    for name, (where, _) in COMMANDS[program].items():
        actual = resolve_name(f"sentprobe.commands.{where}")
        if not isinstance(actual, typer.Typer):
            yield f"{program} {name}", actual


def _paths(command: Callable[..., Any]) -> Iterator[tuple[str, ...]]:
    """Yield the names of each option of a command that is a path; of an argument, no text."""
    for name, parameter in inspect.signature(command).parameters.items():
        kind, *about = get_args(parameter.annotation) or (parameter.annotation, None)
        if Path in (kind, *get_args(kind)):
            option = isinstance(about[0], typer.models.OptionInfo)
            # In an annotation, Typer keeps the first name where a default would be.
            declared = (about[0].default, *about[0].param_decls) if option else ("",)
            named = [text for text in declared if isinstance(text, str)]
            yield tuple(named) or (f"--{name.replace('_', '-')}",)


@pytest.mark.parametrize("program", ["gen", "probe"])
def test_every_path_is_in_the_table(program: str) -> None:
    actual = [(line, names) for line, value in _commands(program) for names in _paths(value)]
    assert len(actual) >= 5
    for line, names in actual:
        tried = [wrong for wrong in WRONG_PATHS if wrong.startswith(f"{line} ")]
        assert any(name in wrong for wrong in tried for name in names), (line, names)


@pytest.mark.parametrize(("number", "code"), [(errno.EACCES, 2), (errno.EPERM, 2), (errno.ENOSPC, 1), (errno.EIO, 1)])
def test_a_path_that_may_not_be_used(
    number: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In every function that opens a file; a damaged disk is a failure, not bad usage."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number), str(tmp_path))

    monkeypatch.setattr("sentprobe.cli._drop_output", lambda: None)
    monkeypatch.setattr("sentprobe.commands.build._check_kind", refuse)
    message = f"probe: {tmp_path}: {os.strerror(number)}\n"
    arguments = ("audit", str(tmp_path))
    outcome = run_command("probe", *arguments, monkeypatch=monkeypatch, capture=capsys)
    assert outcome == (code, "", message)


@pytest.mark.parametrize("file", ["card.json", "items.parquet"])
def test_a_file_of_a_dataset_that_may_not_be_read(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_dataset(make_learnable_dataset(size=40), tmp_path / "data")
    read_bytes = Path.read_bytes

    def refuse(path: Any, *rest: object, **more: object) -> Any:
        if Path(path).name == file:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return read_bytes(path) if Path(path).suffix == ".json" else read_table(path, *rest, **more)

    read_table = pq.read_table
    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(pq, "read_table", refuse)
    with pytest.raises(UsageError, match=f"{file}: cannot read it: Permission denied"):
        read_dataset(tmp_path / "data", format="directory")
