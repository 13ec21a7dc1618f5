"""The help of commands: examples are valid; a usage error is one line."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from helpers.in_process import Command, check_refusal
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from typer.core import TyperCommand

from sentprobe.cli import COMMANDS, BadUsage, load_command
from sentprobe.commands.shared.help import HelpfulCommand, read_examples

INNER = (
    *(f"{program} cache {name}" for program in ("probe", "sentprobe") for name in ("clear", "check")),
    *(f"sentprobe gen {name}" for name in COMMANDS["gen"]),
)
EVERY = [*COMMANDS, *(f"{program} {name}" for program, names in COMMANDS.items() for name in names), *INNER]
SHOWN = [(name, line) for name, value in read_examples().items() for line, _ in value]


@pytest.mark.parametrize("name", EVERY)
def test_help_begins_with_examples_and_is_short(
    name: str, monkeypatch: pytest.MonkeyPatch, run_program: Command
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = (*name.split(), "--help")
    _, shown, _ = run_program(*words)
    lines = [line for line in shown.splitlines() if line.strip()]
    assert lines[0].strip() == "Examples:"
    assert [lines[at].strip() for at in (1, 3, 5)] == [line for line, _ in read_examples()[name]]
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    assert len(shown.splitlines()) <= 62
    assert shown.count("\n\n\n") == 0


FOLDED = {
    "gen": ("--tense", "--adverbs", "Tense of relative clauses."),
    "probe run": ("--preset", "--device", "Device for training probes; auto: a GPU if there is one."),
    "probe build": ("--odd-band", "--no-audit", "Number of words (classes) of WC."),
    "probe sentences": ("--sequences", "--first-rank", "Number of words (classes) of WC."),
}


@pytest.mark.parametrize("name", FOLDED)
def test_help_all_explains_folded_options(name: str, monkeypatch: pytest.MonkeyPatch, run_program: Command) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run = (*name.split(),)
    _, short, _ = run_program(*run, "--help")
    code, full_output, err = run_program(*run, "--help-all")
    assert (code, err) == (0, "")
    assert f"More options, explained by {name} --help-all:" in short
    assert "More options" not in full_output
    assert max(map(len, full_output.splitlines())) <= 80
    *options, meaning = FOLDED[name]
    assert meaning not in " ".join(short.split())
    assert meaning in " ".join(full_output.split())
    assert options[0] in short
    assert all(option in full_output for option in options)
    assert words_of_options(short) <= words_of_options(full_output)


def words_of_options(shown: str) -> set[str]:
    return set(re.findall(r"--[a-z-]+", shown))


@pytest.mark.parametrize("name", EVERY)
def test_every_option_is_in_the_help(name: str, run_program: Command) -> None:
    program, *remaining = name.split()
    actual: Any = gen_itself() if name == "gen" else None
    if remaining:
        actual = load_command(program, remaining[0])
        actual = actual.commands[remaining[1]] if remaining[1:] else actual
    _, shown, _ = run_program(program, *remaining, "--help")
    declared = {max(item.opts, key=len) for item in getattr(actual, "params", ()) if item.opts}
    assert {text for text in declared if text.startswith("--")} <= words_of_options(shown)


@pytest.mark.parametrize("program", ["probe", "sentprobe"])
def test_help_of_run_names_running_program(program: str, run_program: Command) -> None:
    _, shown, _ = run_program(program, "run", "--help")
    added = "--draws --sources --intervals --all-rows --dry-run --config --device --help-all"
    assert set(added.split()) <= words_of_options(shown)
    assert f"as listed by {program} encoders" in shown
    assert f"See {program} tasks." in " ".join(shown.split())
    assert "\n  -o, --out PATH          Results folder" in shown
    assert "\n      --controls / --no-controls\n                          Also train" in shown


def test_examples_are_of_existing_commands() -> None:
    assert sorted(read_examples()) == sorted(EVERY)


@pytest.mark.parametrize(("name", "line"), SHOWN)
def test_example_can_be_read(name: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *remaining = shlex.split(line)
    monkeypatch.setattr(sys, "argv", [program, *remaining])
    if remaining and remaining[0] in COMMANDS[program]:
        actual, remaining = load_command(program, remaining[0]), remaining[1:]
        if (program, name) != ("gen", "gen") and remaining and remaining[0] in COMMANDS["gen"]:
            actual, remaining = load_command("gen", remaining[0]), remaining[1:]
    elif program == "gen":
        actual = gen_itself()
    while remaining and remaining[0] in getattr(actual, "commands", {}):
        actual, remaining = actual.commands[remaining[0]], remaining[1:]
    actual.make_context(name, remaining)


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
def test_bad_line_is_refused_in_one_line(line: str, said: str, command: Command) -> None:
    outcome = command(*line.split())
    check_refusal(outcome, f"probe: {said}")
    assert outcome[2].endswith(" --help.\n")


def _sample(
    *,
    text: str = "",
    number: int = 0,
    positive: Annotated[int, typer.Option(min=1)] = 1,
    few: Annotated[int, typer.Option(min=-3, max=9)] = 0,
    share: float = 0.5,
    path: Path | None = None,
    words: list[str] | None = None,
) -> tuple[object, ...]:
    return text, number, positive, few, share, path, words


def _call_sample(kind: type[TyperCommand], line: list[str]) -> object:
    app = typer.Typer(add_completion=False)
    app.command(cls=kind)(_sample)
    try:
        return typer.main.get_command(app)(line, "sample", standalone_mode=False)
    except BadUsage as error:
        return error.format_message()


@given(
    st.sampled_from(["text", "number", "positive", "few", "share", "path", "words"]),
    st.integers(-20, 2**70).map(str) | st.text() | st.from_regex(r"[-+ ]?[0-9_]{1,12}(\.0)?", fullmatch=True),
)
@examples(40)
def test_values_are_converted_as_by_typer(option: str, value: str) -> None:
    line = [f"--{option}={value}"]
    assert _call_sample(HelpfulCommand, line) == _call_sample(TyperCommand, line)


def test_usual_values_load_no_pydantic(working_folder: Path) -> None:
    code = "import sys; from sentprobe.cli import gen; gen()"
    line = [sys.executable, "-X", "importtime", "-c", code, "--n", "1", "--template", "intransitive", "--out", "a.txt"]
    process = subprocess.run(line, capture_output=True, text=True, check=True, cwd=working_folder)
    assert not re.search(r"\| +(pydantic|email|urllib\.request)$", process.stderr, re.MULTILINE)
