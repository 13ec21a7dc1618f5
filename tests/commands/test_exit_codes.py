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
from helpers.in_process import Command
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


def expand_all(*lines: str) -> list[str]:
    """Return lines with each of the texts in their braces, as a shell expands them."""
    expanded = []
    for line in lines:
        head, _, rest = line.partition("{")
        texts, _, tail = rest.partition("}")
        expanded += [f"{head}{text}{tail}" for text in texts.split(",")]
    return expanded


WRONG_PATHS = expand_all(
    # A path that is not there, a folder for a file, a file for a folder, a folder that is not ours.
    "gen --lexicon {none.toml,folder}",
    "gen --config {none.json,folder}",
    "gen --out {file/x.txt,folder --format text}",
    "gen templates --lexicon none.toml",
    "gen pairs -c role --lexicon none.toml",
    "gen pairs -c role --out {folder --format jsonl,file/x.jsonl}",
    "gen minimal -p transitive --lexicon none.toml",
    "gen minimal -p transitive --out {folder --format jsonl,others --format lm-eval,file/x.jsonl}",
    "gen retrieval -c role --lexicon none.toml --out new",
    "gen retrieval -c role -n 4 --out {file,others}",
    "gen logical-forms --split lexical --lexicon none.toml --out new",
    "gen logical-forms --split structural -n 10 --out {file,others}",
    "gen edit {none.txt,folder}",
    "gen edit --reviewed {none.csv,folder}",
    "gen edit latin1.txt --out {folder,file/x.jsonl}",
    "gen parse --file {none.txt,folder}",
    "gen parse x {--lexicon none.toml,--out folder --format text}",
    "gen show help {--lexicon none.toml,--svg none/x.svg,--svg folder}",
    "probe run {none,folder,natural none,natural folder,natural file}",
    "probe run compeval --lexicon {none.toml,folder}",
    f"probe run data.jsonl {BOW} --out {{file,file/x,others}}",
    "probe run data.jsonl --encoder {bow:none.txt,bow:folder,python:none}",
    "probe run data.jsonl --encoder {bilstm-last:none.txt,bilstm-max:none.txt,gated-conv:none.txt}",
    "probe run data.jsonl --encoder {skipthought:none,skipthought:folder,sdae:none.npz?dictionary=none.tsv}",
    "probe run data.jsonl --encoder infersent:none.pkl?version=1&vectors=none.txt",
    "probe run data.jsonl --encoder file:none.{npz,safetensors,parquet,txt}",
    "probe run data.jsonl --encoder file:folder?format={npz,safetensors,parquet}",
    "probe run data.jsonl --encoder file:vectors.npz?sentences={none.txt,folder}",
    "probe run data.jsonl --probe-vectors bow:none.txt",
    "probe intervene hf:none {--data none,--data folder,--lexicon none.toml,--out folder,--out none/x.txt}",
    "probe annotate none --out new",
    "probe annotate data.jsonl --question x --out {file,file/x,others}",
    "probe annotate --read {none,folder,folder --out file,folder --labels none/x.csv}",
    "probe show {none,folder,file}",
    "probe show run {--out none/x.txt,--out folder,--audit none.json}",
    "probe show layers --plot {none/x.svg,folder.svg}",
    "probe report {none,folder,file}",
    "probe report run {--out none/x.html,--out x.md,--audit none.json,--audit folder}",
    "probe compare {none,folder,none#bow run,run --out none/x.md}",
    "probe compare layers -o {none/x.txt,folder}",
    "probe verify {none,folder,run none,run folder,run run --out none/x.csv,run run --out folder}",
    "probe check {none,folder}",
    "probe check three {--out none/x.md,-o folder --format json}",
    "probe methods {none,folder}",
    "probe methods three {--out none/x.md,-o folder --format latex,--bib none/x.bib,--bib folder}",
    "probe correlate none --with scores.csv",
    "probe correlate three --with {none.csv,folder}",
    "probe correlate three --with scores.csv {--out none/x.md,-o folder,--plot none/x.svg,--plot folder.svg}",
    f"probe embed {{none,folder}} {BOW} --out x.npz",
    f"probe embed data.jsonl {BOW} --out {{none/x.npz,folder --format npz}}",
    "probe embed data.jsonl --encoder bow:none.txt --out x.npz",
    "probe geometry {--lexicon none.toml,--encoder bow:none.txt -c role}",
    f"probe geometry {BOW} --no-cache -n 4 -c role -o {{file,file/x,others}}",
    "probe gate bow {--lexicon none.toml,--pairs none.csv,--pairs folder}",
    "probe gate bow:none.txt -c role",
    "probe gate bow --threshold 0.9 --texts {none.txt,folder}",
    "probe repair st:none --texts {none.txt,folder} --out new",
    "probe repair st:none --texts lines.txt --out {file,others}",
    "probe repair st:none --texts lines.txt --out new {--pairs none.csv,--keep-texts none.txt}",
    "probe gate bow -c role -n 40 --no-cache --out {none/x.txt,folder}",
    "probe lm ngram:none.arpa --pairs {none.jsonl,folder,none.jsonl --out folder,none.jsonl --scores folder}",
    "probe audit {none,folder}",
    "probe audit data.jsonl {--lexicon none.toml,--out none/x.txt,--out folder}",
    "probe features {none,folder}",
    "probe features data.jsonl --out {none/x.txt,folder}",
    "probe build compeval --out {file,file/x,x --lexicon none.toml}",
    "probe build compeval --out x --min-count 9 --counts {none,folder}",
    "probe build natural {none --out x,folder --out x,file --out x,table --out file}",
    "probe analyze {none.mrg,folder} --out x",
    "probe analyze trees.mrg --out {file,file/x,others}",
    "probe analyze lines.txt --format text --parser none --punkt {none,folder} --out x",
    "probe agree {none table,table folder,table file}",
    "probe agree table table --disagreements {none/x.jsonl,folder}",
)

WITH_EXTRAS = [
    *(("sentence_transformers", line) for line in expand_all("probe run data.jsonl --encoder st:./{none,folder,file}")),
    *(("transformers", line) for line in expand_all("probe run data.jsonl --encoder hf:./{none,folder}")),
    ("bllipparser", "probe analyze lines.txt --format lines --parser bllip:none --punkt folder --out x"),
]

WRONG_CONTENT = expand_all(
    "gen parse --file latin1.txt",
    f"probe run {{file,broken.jsonl}} {BOW}",
    "probe run data.jsonl --encoder {bow:broken.txt,file:broken.npz}",
    "probe {show,compare,check,methods} broken",
    "probe correlate three --with file",
    "probe audit {file,broken.jsonl}",
    "probe features {file,broken.jsonl}",
    "probe build compeval --out x --min-count 9 --counts file",
    f"probe embed broken.jsonl {BOW} --out x.npz",
    "probe build natural broken-table --out x",
    "probe agree table broken-table",
)


@pytest.fixture
def place(working_folder: Path) -> Path:
    """A working directory with what the commands name; ``none`` is not there."""
    for folder in ("folder", "others", "folder.svg"):
        (working_folder / folder).mkdir()
    (working_folder / "others" / "thesis.tex").write_text("done")
    (working_folder / "file").write_text("nothing that is read here\n")
    (working_folder / "lines.txt").write_text("The man slept.\n")
    (working_folder / "latin1.txt").write_bytes(b"na\xefve\n")
    for name in ("broken.jsonl", "broken.txt"):
        (working_folder / name).write_text('{"sentence": 1\n{\n')
    write_dataset(make_learnable_dataset(name="one", size=40), working_folder / "data.jsonl")
    np.savez("vectors.npz", vectors=np.ones((2, 3), dtype=np.float32))
    (working_folder / "broken.npz").write_bytes(b"PK\x03\x04 no more")
    write_trees(working_folder / "trees.mrg", [("men", "ran"), ("dogs", "ran")])
    (working_folder / "broken-table").mkdir()
    (working_folder / "broken-table" / HEAD_NAME).write_text("{")
    _make_runs(working_folder)
    return working_folder


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


def leave(line: str, run_program: Command) -> tuple[int, str]:
    """Run a command line; return its exit code and the last line on stderr."""
    name, *arguments = shlex.split(line)
    if " table" in line:
        table = ("analyze", "trees.mrg", "--out", "table", "--jobs", "1")
        run_program("probe", *table)
    if arguments[0] == "run" and "--set" not in arguments:
        arguments += QUICK.split()
    code, _, stderr = run_program(name, *arguments)
    return code, stderr.splitlines()[-1]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("line", WRONG_PATHS)
def test_wrong_path_is_bad_usage(line: str, run_program: Command) -> None:
    code, stderr = leave(line, run_program)
    assert (code, stderr.split(":")[0]) == (2, line.split(maxsplit=1)[0]), stderr


@pytest.mark.usefixtures("place")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(("module", "line"), WITH_EXTRAS)
def test_wrong_path_of_extra_is_bad_usage(module: str, line: str, run_program: Command) -> None:
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    code, stderr = leave(line, run_program)
    assert code == 2, stderr


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("line", WRONG_CONTENT)
def test_wrong_content_is_a_failure(line: str, run_program: Command) -> None:
    code, stderr = leave(line, run_program)
    assert code == 1, stderr


@pytest.mark.parametrize(
    "line", ["run d\udce9 -e majority --out o", "build compeval --out \udce9", "show \udce9", "\udce9"]
)
def test_word_not_in_utf8_is_refused(line: str, run_program: Command) -> None:
    code, stderr = leave(f"probe {line}", run_program)
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
def test_every_path_option_is_tried(program: str) -> None:
    actual = [(line, names) for line, value in _commands(program) for names in _paths(value)]
    assert len(actual) >= 5
    for line, names in actual:
        tried = [wrong for wrong in WRONG_PATHS if wrong.startswith(f"{line} ")]
        assert any(name in wrong for wrong in tried for name in names), (line, names)


@pytest.mark.parametrize(("number", "code"), [(errno.EACCES, 2), (errno.EPERM, 2), (errno.ENOSPC, 1), (errno.EIO, 1)])
def test_exit_code_by_system_error(
    number: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_program: Command
) -> None:
    """In every function that opens a file; a damaged disk is a failure, not bad usage."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number), str(tmp_path))

    monkeypatch.setattr("sentprobe.cli._drop_output", lambda: None)
    monkeypatch.setattr("sentprobe.commands.build._check_kind", refuse)
    message = f"probe: {tmp_path}: {os.strerror(number)}\n"
    arguments = ("audit", str(tmp_path))
    outcome = run_program("probe", *arguments)
    assert outcome == (code, "", message)


@pytest.mark.parametrize("file", ["card.json", "items.parquet"])
def test_unreadable_dataset_file_is_named(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_dataset(make_learnable_dataset(size=40), tmp_path / "data")
    read_bytes = Path.read_bytes

    def refuse(path: Any, *rest: object, **more: object) -> Any:
        if Path(path).name == file:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return read_bytes(path) if Path(path).suffix == ".json" else open_parquet(path, *rest, **more)

    open_parquet = pq.ParquetFile
    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(pq, "ParquetFile", refuse)
    with pytest.raises(UsageError, match=f"{file}: cannot read it: Permission denied"):
        read_dataset(tmp_path / "data", format="directory")
