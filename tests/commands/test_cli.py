"""Commands are listed by name and summary, and imported only when they run."""

import subprocess
import sys

import pytest
from helpers.in_process import Command
from helpers.processes import ENVIRONMENT

from sentprobe.cli import COMMANDS, load_command

EVERY = [(program, name) for program, commands in COMMANDS.items() for name in commands]
LOCATIONS = {location for commands in COMMANDS.values() for location, _ in commands.values() if location}
COMMAND_MODULES = {f"sentprobe.commands.{location.partition(':')[0]}" for location in (*LOCATIONS, "gen")}
BUILDERS = ("run", "build", "sentences", "geometry")
HEAVY = {"torch", "sklearn", "lightgbm", "duckdb", "pyarrow", "pandas", "scipy", "nltk"}


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
def test_the_line_of_help_is_the_first_of_the_command(program: str, name: str) -> None:
    first, *_ = str(load_command(program, name).help).split("\n\n")
    assert COMMANDS[program][name][1] == " ".join(first.split())


PROGRAMS = [("gen", {"gen"}), ("probe", set()), ("sentprobe", set())]


@pytest.mark.parametrize(("program", "own"), PROGRAMS)
def test_help_lists_every_command_and_imports_none(program: str, own: set[str]) -> None:
    printed, modules = loaded_by(program, "--help")
    places = [printed.index(line) for _, line in COMMANDS[program].values()]
    assert places == sorted(places)
    assert commands_among(modules) == own
    assert not modules & (HEAVY | {"numpy"})


@pytest.mark.parametrize("name", [name for name in COMMANDS["probe"] if name not in BUILDERS])
def test_the_help_of_a_command_imports_only_that_one(name: str) -> None:
    printed, modules = loaded_by("probe", name, "--help")
    assert f"Usage: probe {name}" in printed
    home = COMMANDS["probe"][name][0].partition(":")[0]
    assert commands_among(modules) == {home.rpartition(".")[2]}
    assert not modules & {"torch", "sklearn", "lightgbm", "duckdb", "pyarrow", "pandas", "nltk"}


@pytest.mark.parametrize("name", BUILDERS)
def test_the_help_of_what_builds_is_light(name: str) -> None:
    printed, modules = loaded_by("probe", name, "--help")
    assert f"Usage: probe {name}" in printed
    assert not modules & HEAVY


def test_a_command_that_is_not_there(command: Command) -> None:
    code, out, err = command("shwo")
    assert (code, out) == (2, "")
    assert err == "probe: No such command 'shwo'. Did you mean 'show'? See probe --help.\n"
