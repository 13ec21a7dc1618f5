"""An option that takes one value is refused when it is given twice, in every command."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import run_command
from thoroughness import examples

from sentprobe.cli import COMMANDS, load_command
from sentprobe.commands.given_twice import refuse_twice, single_valued
from sentprobe.errors import UsageError

NAMES = [(program, name) for program, names in COMMANDS.items() for name in names]


@cache
def loaded(program: str, name: str) -> tuple[Any, Any]:
    """Return a command, and a context in which it reads a command line."""
    command = load_command(program, name)
    return command, command.make_context(name, [], resilient_parsing=True)


def spellings(options: list[Any]) -> list[list[str]]:
    return [each.opts for each in options]


@pytest.mark.parametrize(("program", "name"), NAMES)
def test_each_option_of_one_value_is_refused_twice_in_any_spelling(program: str, name: str) -> None:
    command, context = loaded(program, name)
    for names in spellings(single_valued(command, context)):
        long = max(names, key=len)
        for again in names:
            with pytest.raises(UsageError) as caught:
                refuse_twice(command, context, [long, "1", again, "2"])
            assert str(caught.value) == f"{long} is given twice; it takes one value"


@pytest.mark.parametrize(("program", "name"), NAMES)
def test_a_switch_and_what_may_be_repeated_are_not(program: str, name: str) -> None:
    command, context = loaded(program, name)
    for each in command.get_params(context):
        if each.param_type_name == "option" and (each.is_flag or each.multiple):
            value = ["1"] * (not each.is_flag)
            refuse_twice(command, context, [each.opts[0], *value] * 2)


@given(st.data())
@examples(40)
def test_once_each_in_any_order_is_no_mistake_and_one_more_is(data: st.DataObject) -> None:
    command, context = loaded(*data.draw(st.sampled_from(NAMES)))
    names = [max(each.opts) for each in single_valued(command, context)] or [""]
    given = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=5))
    line = [word for name in given if name for word in (name, "1")]
    refuse_twice(command, context, line)
    if line:
        with pytest.raises(UsageError):
            refuse_twice(command, context, [*line, data.draw(st.sampled_from(given)), "1"])


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
    line: str,
    option: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = run_command(*line.split(), monkeypatch=monkeypatch, capture=capsys)
    program = line.split(maxsplit=1)[0]
    assert (code, out) == (2, "")
    assert err == f"{program}: {option} is given twice; it takes one value\n"


def test_help_is_shown_whatever_else_is_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "probe show x --by voice --by clause --help"
    code, out, err = run_command(*line.split(), monkeypatch=monkeypatch, capture=capsys)
    assert (code, err) == (0, "")
    assert "probe show" in out


def test_a_switch_twice_is_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "probe show none --intervals --intervals"
    code, _, err = run_command(*line.split(), monkeypatch=monkeypatch, capture=capsys)
    assert (code, err) == (2, "probe: none: not a directory of sentprobe's results\n")
