"""Groups of options: a command has their options, in their place, and gets their instances."""

import inspect

import pytest

from sentprobe.commands.options import (
    OF_SUITES,
    CompevalOptions,
    ItemOptions,
    NaturalOptions,
    refuse_idle,
    with_groups,
)
from sentprobe.errors import UsageError


def test_a_command_gets_the_instance_of_each_group() -> None:
    got: list[object] = []

    @with_groups
    def command(first: str, *, natural: NaturalOptions, items: ItemOptions, last: int = 0) -> None:
        """Do nothing."""
        got.extend((first, natural, items, last))

    parameters = inspect.signature(command).parameters
    assert list(parameters) == [
        *("first", "band", "odd_band", "words", "first_rank", "sequences"),
        *("sampling", "train", "test", "validation", "last"),
    ]
    given = {name: None for name, each in parameters.items() if name != "first"}
    command(**given | {"first": "x", "sampling": "paper", "words": 3, "test": 7, "last": 1})
    assert got == ["x", NaturalOptions(words=3), ItemOptions(sampling="paper", test=7), 1]


def test_an_option_is_of_the_suites_of_its_group() -> None:
    assert OF_SUITES["band"] == ("--frequency-band", ("natural",))
    assert OF_SUITES["audit"] == ("--audit/--no-audit", ("natural",))
    assert OF_SUITES["lexicon"] == ("--lexicon", CompevalOptions.SUITES)
    refuse_idle(["seed", "train", "lexicon"], ["compeval"], what="compeval")
    with pytest.raises(UsageError, match=r"^--frequency-band is for the suite natural, not for x$"):
        refuse_idle(["train", "band"], ["compeval"], what="x")
    with pytest.raises(UsageError, match=r"^--train is for the suites compeval and natural, not"):
        refuse_idle(["train"], [], what="x")
