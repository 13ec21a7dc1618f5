"""Every command rejects a repeated option that takes one value."""

from functools import cache
from typing import Any

import pytest
from helpers.in_process import run_command
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.cli import COMMANDS, load_command
from sentprobe.commands.shared.output_paths import list_single_valued_options, reject_repeated_options
from sentprobe.common.errors import UsageError

NAMES = [(program, name) for program in ("gen", "probe") for name in COMMANDS[program]]
NAMES.append(("sentprobe", "gen"))


@cache
def loaded(program: str, name: str) -> tuple[Any, Any]:
    """Return a command, and a context in which it reads a command line."""
    command = load_command(program, name)
    return command, command.make_context(name, [], resilient_parsing=True)


def spellings(options: list[Any]) -> list[list[str]]:
    return [option.opts for option in options]


@pytest.mark.parametrize(("program", "name"), NAMES)
def test_each_option_of_one_value_is_refused_twice_in_any_spelling(program: str, name: str) -> None:
    command, context = loaded(program, name)
    for names in spellings(list_single_valued_options(command, context)):
        long = max(names, key=len)
        for again in names:
            with pytest.raises(UsageError) as caught:
                reject_repeated_options(command, context, [long, "1", again, "2"])
            assert str(caught.value) == f"{long} is given twice, but takes one value"


@pytest.mark.parametrize(("program", "name"), NAMES)
def test_a_switch_and_what_may_be_repeated_are_not(program: str, name: str) -> None:
    command, context = loaded(program, name)
    for parameter in command.get_params(context):
        if parameter.param_type_name == "option" and (parameter.is_flag or parameter.multiple):
            value = ["1"] * (not parameter.is_flag)
            reject_repeated_options(command, context, [parameter.opts[0], *value] * 2)


@given(st.data())
@examples(40)
def test_once_each_in_any_order_is_no_mistake_and_one_more_is(data: st.DataObject) -> None:
    command, context = loaded(*data.draw(st.sampled_from(NAMES)))
    names = [max(item.opts) for item in list_single_valued_options(command, context)] or [""]
    arguments = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=5))
    line = [word for name in arguments if name for word in (name, "1")]
    reject_repeated_options(command, context, line)
    if line:
        with pytest.raises(UsageError):
            reject_repeated_options(command, context, [*line, data.draw(st.sampled_from(arguments)), "1"])


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("gen -n 3 --n 4", "--n"),
        ("gen --seed 1 --seed 1", "--seed"),
        ("gen templates --lexicon a --lexicon b", "--lexicon"),
        ("probe show x --by voice --by clause", "--by"),
        ("probe build compeval --train 9 --out x --train 8", "--train"),
        ("probe cache clear -e x --encoder y", "--encoder"),
    ],
)
def test_the_command_line_is_refused_in_a_sentence(
    line: str, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run_command(*line.split(), monkeypatch=monkeypatch, capture=capsys)
    program = line.split(maxsplit=1)[0]
    assert (code, out) == (2, "")
    assert err == f"{program}: {option} is given twice, but takes one value\n"


def test_help_is_shown_whatever_else_is_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "probe show x --by voice --by clause --help"
    code, out, err = run_command(*line.split(), monkeypatch=monkeypatch, capture=capsys)
    assert (code, err) == (0, "")
    assert "probe show" in out


def test_a_switch_twice_is_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    line = "probe show none --intervals --intervals"
    code, _, err = run_command(*line.split(), monkeypatch=monkeypatch, capture=capsys)
    assert (code, err) == (2, "probe: none: no such folder of results\n")
