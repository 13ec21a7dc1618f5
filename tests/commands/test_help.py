"""Help begins with examples that are right; a bad command line is one line."""

import shlex
import sys
from typing import Any

import pytest
from in_process import Command, run_command

from sentprobe.cli import COMMANDS, load_command
from sentprobe.commands.help import examples

INNER = ("probe cache clear", "probe cache check")
EVERY = [
    *COMMANDS,
    *(f"{program} {name}" for program, names in COMMANDS.items() for name in names),
    *INNER,
]
SHOWN = [(name, line) for name, each in examples().items() for line, _ in each]


@pytest.mark.parametrize("name", EVERY)
def test_help_begins_with_three_examples(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = (*name.split(), "--help")
    _, shown, _ = run_command(*words, monkeypatch=monkeypatch, capture=capsys)
    lines = [line for line in shown.splitlines() if line.strip()]
    assert lines[0].strip() == "Examples:"
    assert [lines[at].strip() for at in (1, 3, 5)] == [line for line, _ in examples()[name]]
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown


def test_no_example_is_of_a_command_that_is_not_there() -> None:
    assert sorted(examples()) == sorted(EVERY)


@pytest.mark.parametrize(("name", "line"), SHOWN)
def test_an_example_can_be_read(name: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *rest = shlex.split(line)
    monkeypatch.setattr(sys, "argv", [program, *rest])
    if rest and rest[0] in COMMANDS[program]:
        found, rest = load_command(program, rest[0]), rest[1:]
    elif program == "gen":
        found = gen_itself()
    while rest and rest[0] in getattr(found, "commands", {}):
        found, rest = found.commands[rest[0]], rest[1:]
    found.make_context(name, rest)


def gen_itself() -> Any:
    import typer

    from sentprobe.commands.gen import generate

    app = typer.Typer()
    app.command()(generate)
    return typer.main.get_command(app)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run", "Missing argument 'SUITE|PATH...'. See probe run --help."),
        ("run compeval --seedz 3", "No such option: --seedz"),
        ("show", "Missing argument 'RUN...'. See probe show --help."),
        ("cache clear --older-than x", "Invalid value for '--older-than'"),
        ("encoders --format", "Option '--format' requires an argument. See probe encoders --help."),
    ],
)
def test_a_line_that_cannot_be_read_is_refused_in_one_line(
    line: str, said: str, command: Command
) -> None:
    code, out, err = command(*line.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"probe: {said}")
    assert err.endswith(" --help.\n")
    assert err.count("\n") == 1


def test_no_arguments_show_the_help(command: Command) -> None:
    code, out, err = command()
    assert (code, err) == (2, "")
    assert "Examples:" in out
