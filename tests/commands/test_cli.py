"""The programs ``gen``, ``probe`` and ``sentprobe``: their commands, and what each imports."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.in_process import Command, run_command
from helpers.processes import ENVIRONMENT

from sentprobe import __version__
from sentprobe.cli import COMMANDS, load_command

EVERY = [(program, name) for program, commands in COMMANDS.items() for name in commands]
LOCATIONS = {location for commands in COMMANDS.values() for location, _ in commands.values() if location}
COMMAND_MODULES = {f"sentprobe.commands.{location.partition(':')[0]}" for location in (*LOCATIONS, "gen")}
HEAVY = ["numpy", "torch", "pandas", "pyarrow", "scipy", "nltk", "sklearn", "lightgbm", "duckdb", "matplotlib"]
USE_OTHERS = ("run", "build", "sentences", "geometry")
"""Commands whose modules import those of other commands."""


def loaded_by(program: str, *arguments: str) -> tuple[str, set[str]]:
    """Run a command in a new process; return its output and the imported modules."""
    code = (
        f"import sys\nfrom sentprobe.cli import {program}\n"
        f"try:\n    {program}()\nexcept SystemExit:\n    print('\\n==', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, check=True, env=ENVIRONMENT | {"COLUMNS": "200"},
    )  # fmt: skip
    printed, _, modules = done.stdout.partition("\n==")
    return printed, set(modules.split())


def commands_among(modules: set[str]) -> set[str]:
    return {name.rpartition(".")[2] for name in COMMAND_MODULES & modules}


@pytest.mark.parametrize(("program", "name"), EVERY)
def test_summary_is_first_line_of_help(program: str, name: str) -> None:
    first, *_ = str(load_command(program, name).help).split("\n\n")
    assert COMMANDS[program][name][1] == " ".join(first.split())


PROGRAMS = [("gen", {"gen"}), ("probe", set()), ("sentprobe", set())]


@pytest.mark.parametrize(("program", "own"), PROGRAMS)
def test_help_lists_every_command_and_imports_none(program: str, own: set[str]) -> None:
    printed, modules = loaded_by(program, "--help")
    places = [printed.index(line) for _, line in COMMANDS[program].values()]
    assert places == sorted(places)
    assert commands_among(modules) == own
    assert not modules & {*HEAVY}


@pytest.mark.parametrize("name", [name for name in COMMANDS["probe"] if name not in USE_OTHERS])
def test_help_imports_only_its_command(name: str) -> None:
    printed, modules = loaded_by("probe", name, "--help")
    assert f"Usage: probe {name}" in printed
    home = COMMANDS["probe"][name][0].partition(":")[0]
    assert commands_among(modules) == {home.rpartition(".")[2]}
    assert not modules & {*HEAVY}


def test_sentprobe_has_commands_of_both() -> None:
    assert list(COMMANDS["sentprobe"]) == ["gen", *COMMANDS["probe"]]


@pytest.mark.parametrize("line", ["gen --n 3 --seed 1", "gen templates", "probe encoders --format json", "probe tasks"])
def test_its_commands_print_the_same(line: str, run_program: Command) -> None:
    program, *words = line.split()
    expected = run_program(program, *words)
    prefix = ["gen"] if program == "gen" else []
    code, out, err = run_program("sentprobe", *prefix, *words)
    assert (code, out) == expected[:2]
    assert err == expected[2].replace(f"{program}:", "sentprobe:")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("probe shwo", "No such command 'shwo'. Did you mean 'show'? See probe --help.\n"),
        ("sentprobe shwo", "No such command 'shwo'. Did you mean 'show'? See sentprobe --help.\n"),
        ("sentprobe gen prase", "No such command 'prase'. Did you mean 'parse', 'pairs'? See sentprobe gen "),
        ("sentprobe show", "Missing argument 'RUN...'. See sentprobe show --help."),
        ("sentprobe show none", "none: no such folder of results"),
        ("sentprobe gen --lexicon none.toml", "none.toml: "),
        ("sentprobe gen --n 1 templates", "--n stands before 'templates' and has no effect"),
        ("sentprobe gen parse --format none x", ""),
    ],
)
def test_error_is_one_line_with_program(line: str, message: str, run_program: Command) -> None:
    program, *words = line.split()
    code, out, err = run_program(program, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"{program}: {message}")


@pytest.mark.parametrize("program", ["probe", "sentprobe"])
def test_no_arguments_show_help(program: str, run_program: Command) -> None:
    code, out, err = run_program(program)
    assert (code, err) == (2, "")
    assert f"Usage: {program} [OPTIONS] COMMAND" in out
    assert "Examples:" in out


def test_python_runs_the_package() -> None:
    for words, code, printed in (
        (["--version"], 0, f"sentprobe {__version__}\n"),
        (["gen", "--count", "--template", "intransitive"], 0, None),
        (["none"], 2, ""),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "sentprobe", *words],
            capture_output=True, text=True, check=False, env=ENVIRONMENT,
        )  # fmt: skip
        assert done.returncode == code
        assert printed in (None, done.stdout)
        assert done.stderr.startswith("sentprobe: ") == bool(code)


CODE = (
    f"HEAVY = {HEAVY}"
    + """
import contextlib, io, json, sys
from sentprobe import cli

loaded = {}
for program, commands in cli.COMMANDS.items():
    for words in ([], *([name] for name in commands)):
        for option in ("--help", "--help-all"):
            sys.argv = [program, *words, option]
            streams = io.StringIO()
            with contextlib.redirect_stdout(streams), contextlib.redirect_stderr(streams):
                with contextlib.suppress(SystemExit):
                    getattr(cli, program)()
            heavy = [name for name in HEAVY if name in sys.modules]
            loaded[" ".join(sys.argv)] = [heavy, "Usage: " in streams.getvalue()]
print(json.dumps(loaded))
"""
)


def test_no_help_imports_a_heavy_library() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    loaded = json.loads(done.stdout)
    assert {line: heavy for line, (heavy, _) in loaded.items() if heavy} == {}
    assert all(shown for line, (_, shown) in loaded.items() if line.endswith("--help"))
    assert {"gen --help", "probe run --help-all", "sentprobe show --help"} <= set(loaded)


FORGED = "a\nprobe: all is well\tx\r"
"""A name that would make a line of its own in a message."""


@pytest.mark.parametrize(
    "words",
    [
        ("show", FORGED), ("show", "run", "--by", FORGED), ("compare", FORGED), ("check", FORGED), ("report", FORGED),
        ("audit", FORGED), ("audit", "file"), ("correlate", FORGED), ("correlate", "run", "--with", FORGED),
        ("run", FORGED, "-e", "bow"), ("run", "natural", FORGED, "-e", "bow"), ("run", "compeval", "-e", FORGED),
        ("run", "compeval", "-e", f"bow?{FORGED}=1"), ("run", "compeval", "-e", f"hf:{FORGED}"),
        ("run", "compeval", "-e", f"file:{FORGED}.npy"), ("run", "compeval", "-e", "bow", "--task", FORGED),
        ("run", "compeval", "-e", "bow", "--set", f"{FORGED}=1"), ("run", "compeval", "-e", "bow", "--device", FORGED),
        ("build", "natural", FORGED), ("build", "compeval", "--task", FORGED), ("geometry", "-e", FORGED),
        ("embed", FORGED, "-e", "bow", "-o", "x.npz"), ("embed", "texts", "-e", f"bow:{FORGED}", "-o", "x.npz"),
        ("analyze", FORGED), ("analyze", "file", "--parser", "none", "--format", "conllu"),
        ("analyze", "texts", "--parser", FORGED), ("agree", FORGED, FORGED),
        ("lm", f"scores:{FORGED}"), ("lm", "hf:m", "--pairs", FORGED), ("gate", FORGED), ("train", FORGED),
        ("gen", "--lexicon", FORGED), ("gen", "--lexicon", "file"), ("gen", "--config", FORGED),
        ("gen", "--template", FORGED), ("gen", "--profile", FORGED), ("gen", "parse", "--input", "file"),
        ("gen", "parse", FORGED), ("gen", "--exclude", f"x{FORGED}"), ("gen", "pairs", "--contrast", FORGED),
        (FORGED,), ("show", f"--{FORGED}"),
    ],
)  # fmt: skip
def test_name_makes_no_line_of_message(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / FORGED).write_text("wrong\t(\n[")
    (tmp_path / "texts").write_text("a man slept\n")
    (tmp_path / "run").mkdir()
    words = tuple(FORGED if word == "file" else word for word in words)
    code, _, err = run_command("sentprobe", *words, monkeypatch=monkeypatch, capture=capsys)
    assert code in (1, 2)
    assert not [line for line in err.split("\n") if line.startswith("probe: all is well")]
    assert "\t" not in err
    assert "\r" not in err
