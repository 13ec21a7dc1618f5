"""No command writes over its inputs, into a folder of results, or twice into one file."""

import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import Command, run_command
from thoroughness import examples

from sentprobe.cli import COMMANDS, load_command
from sentprobe.commands.shared.output_paths import (
    INPUT,
    INPUTS,
    OUTPUT_FILE,
    OUTPUT_FOLDER,
    check_output_paths,
    find_path_roles,
)
from sentprobe.errors import UsageError
from sentprobe.probes.results.store import prepare_directory

IS_READ = "is an input; the output needs another path"
IN_RESULTS = "lies in a folder of results, which probe run made; write it elsewhere"


def list_commands() -> Iterator[tuple[str, Any]]:
    """Yield all commands, with the commands of groups."""
    pending = [(program, load_command("sentprobe", program)) for program in COMMANDS["sentprobe"]]
    while pending:
        name, command = pending.pop()
        yield name, command
        pending += [(f"{name} {inner}", child) for inner, child in getattr(command, "commands", {}).items()]
    yield from ((f"gen {name}", load_command("gen", name)) for name in COMMANDS["gen"])


EVERY = {name: command for name, command in list_commands() if command.callback}
ROLES = {name: find_path_roles(command) for name, command in EVERY.items()}
FILE_OUTPUTS = [(name, out) for name, roles in ROLES.items() for out, role in roles.items() if role is OUTPUT_FILE]
READ_AND_WRITTEN = [
    (name, source, out) for name, out in FILE_OUTPUTS for source, role in ROLES[name].items() if role is INPUT
]


def names_path(annotation: Any) -> bool:
    return annotation is Path or any(map(names_path, get_args(annotation)))


@pytest.mark.parametrize("name", EVERY)
def test_each_parameter_that_takes_a_path_says_whether_it_is_read_or_written(name: str) -> None:
    parameters = inspect.signature(EVERY[name].callback).parameters.values()
    of_paths = {parameter.name for parameter in parameters if names_path(parameter.annotation)}
    assert of_paths <= ROLES[name].keys()


@pytest.mark.parametrize("name", EVERY)
def test_each_option_that_writes_is_an_output(name: str) -> None:
    options = [parameter for parameter in EVERY[name].params if parameter.param_type_name == "option"]
    for option in options:
        if re.match(r"(\w+ )?file (to write|for)|(new or empty |results )?folder( for|[,;])", option.help or "", re.I):
            assert ROLES[name][option.name] in (OUTPUT_FILE, OUTPUT_FOLDER), option.name


def test_the_walk_finds_outputs_and_inputs() -> None:
    assert {"methods", "show", "correlate", "gen parse", "gen show", "agree"} <= {name for name, _ in FILE_OUTPUTS}
    assert len(READ_AND_WRITTEN) > 25
    assert ("methods", "runs", "bib") in READ_AND_WRITTEN


def check(name: str, **values: Any) -> None:
    check_output_paths(EVERY[name], dict.fromkeys(ROLES[name]) | values)


@given(st.sampled_from(READ_AND_WRITTEN), st.sampled_from(["same", "link", "hard link", "linked folder", "inside"]))
@examples(150)
def test_no_output_is_an_input(tmp_path_factory: pytest.TempPathFactory, case: tuple[str, str, str], kind: str) -> None:
    name, source, option = case
    folder = tmp_path_factory.mktemp("place")
    (folder / "in").mkdir()
    path = folder / "in" / "read"
    path.write_text("mine")
    (folder / "link").symlink_to(path)
    (folder / "hard").hardlink_to(path)
    (folder / "linked").symlink_to(folder / "in")
    out = {"same": path, "link": folder / "link", "hard link": folder / "hard"}.get(kind, folder / "linked" / "read")
    given_input = folder / "in" if kind == "inside" else path
    is_list = "list" in str(inspect.signature(EVERY[name].callback).parameters[source].annotation)
    with pytest.raises(UsageError) as caught:
        check(name, **{source: [given_input] if is_list else given_input, option: out})
    said = f"lies inside {given_input}, which is read; write it elsewhere" if kind == "inside" else IS_READ
    assert str(caught.value) == f"{out}: {said}"
    check(name, **{source: given_input, option: folder / "new"})


@pytest.mark.parametrize(("name", "option"), FILE_OUTPUTS)
def test_no_output_is_in_a_folder_of_results(name: str, option: str, tmp_path: Path) -> None:
    prepare_directory(tmp_path / "r")
    (tmp_path / "r" / "items").mkdir()
    for out in (tmp_path / "r" / "run.json", tmp_path / "r" / "new.csv", tmp_path / "r" / "items" / "x.parquet"):
        with pytest.raises(UsageError, match=IN_RESULTS):
            check(name, **{option: out})
    check(name, **{option: tmp_path / "beside"})
    (tmp_path / "run.json").write_text("the output of another command")
    check(name, **{option: tmp_path / "beside"})


@pytest.mark.parametrize("name", [name for name, roles in ROLES.items() if [*roles.values()].count(OUTPUT_FILE) > 1])
def test_no_two_outputs_are_one(name: str, tmp_path: Path) -> None:
    first, second = (option for option, role in ROLES[name].items() if role is OUTPUT_FILE)
    (tmp_path / "link").symlink_to(tmp_path / "m")
    for path in (tmp_path / "m", tmp_path / "x" / ".." / "m", tmp_path / "link"):
        with pytest.raises(UsageError, match=f"m?: is the path of --{first} and of --{second}; give each its own"):
            check(name, **{first: tmp_path / "m", second: path})
    check(name, **{first: tmp_path / "m", second: tmp_path / "n"})
    check(name, **{first: Path("/dev/null"), second: Path("/dev/null")})


@pytest.mark.parametrize(("name", "option"), FILE_OUTPUTS)
def test_a_file_that_standard_input_comes_from_is_read(name: str, option: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    saved, file = os.dup(0), os.open(tmp_path / "a", os.O_RDONLY)
    try:
        os.dup2(file, 0)
        with pytest.raises(UsageError, match="a: is standard input; the output needs another path"):
            check(name, **{option: tmp_path / "a"})
        check(name, **{option: tmp_path / "b"})
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(file)


RUN_NAMES = [("run", "targets", ["compeval"]), ("run", "encoder", ["bow"]), ("geometry", "sentences", ["compeval"])]


@pytest.mark.parametrize(("name", "parameter", "value"), RUN_NAMES)
def test_a_folder_of_results_may_be_called_as_a_suite_or_an_encoder(
    name: str, parameter: str, value: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare_directory(Path(value[0]))
    check(name, **{parameter: value, "out": Path(value[0])})


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("embed", "encoder", "bow:data/words?dim=50"),
        ("embed", "source", "data/words"),
        ("compare", "runs", ["other", "data#x"]),
        ("sentences", "targets", ["compeval", "data"]),
    ],
)
def test_a_path_inside_a_text_is_read(
    name: str, parameter: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/words").write_text("mine")
    with pytest.raises(UsageError, match=r"which is read|is an input"):
        check(name, **{parameter: value, "out": Path("data/words")})


def test_a_path_that_is_no_path_is_left_to_the_command(tmp_path: Path) -> None:
    for text in ("a\0b", "x" * 5000, "", "-"):
        check("sentences", targets=[text], out=tmp_path / "a")
    assert set(INPUTS) >= {INPUT}


def test_a_file_of_sentences_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "y.txt"
    path.write_text("the man slept\nnot covered by the grammar\n")
    line = ("parse", "--file", path, "-f", "text", "-o", path)
    code, out, err = run_command("gen", *line, monkeypatch=monkeypatch, capture=capsys)
    assert (code, out, err) == (2, "", f"gen: {path}: {IS_READ}\n")
    assert path.read_text() == "the man slept\nnot covered by the grammar\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("methods r --bib r/RESULT.json", "r/RESULT.json: lies inside r, which is read; write it elsewhere"),
        ("show r -f csv -o r/run.toml", "r/run.toml: lies inside r, which is read; write it elsewhere"),
        ("check r -o r/run.json", "r/run.json: lies inside r, which is read; write it elsewhere"),
        ("methods r -o m --bib m", "m: is the path of --out and of --bib; give each its own"),
        ("show r --plot r/a.svg", "r/a.svg: lies inside r, which is read; write it elsewhere"),
        ("show other -o r/run.toml", f"r/run.toml: {IN_RESULTS}"),
        ("run r/RESULT.json -o r/RESULT.json", f"r/RESULT.json: {IS_READ}"),
    ],
)
def test_results_stay(line: str, said: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prepare_directory(Path("r"), "seed = 1\n")
    Path("r/RESULT.json").write_text("a result")
    before = {path.name: path.read_bytes() for path in Path("r").iterdir()}
    assert command(*line.split()) == (2, "", f"probe: {said}\n")
    assert {path.name: path.read_bytes() for path in Path("r").iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r"]


def test_an_output_of_a_run_file_is_checked(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text('out = "a.toml"\n')
    assert command("run", "compeval", "--config", "a.toml") == (2, "", f"probe: a.toml: {IS_READ}\n")
