"""Groups of options in the signature of a command."""

import inspect

import pytest

from sentprobe.commands.shared.options import expand_option_groups
from sentprobe.common.errors import UsageError
from sentprobe.probes.runs.suite_options import (
    SUITES_BY_PARAMETER,
    CompevalOptions,
    ItemOptions,
    NaturalOptions,
    reject_unused_options,
)


def test_command_gets_each_option_group() -> None:
    got: list[object] = []

    @expand_option_groups
    def command(first: str, *, natural: NaturalOptions, items: ItemOptions, last: int = 0) -> None:
        """Do nothing."""
        got.extend((first, natural, items, last))

    parameters = inspect.signature(command).parameters
    assert list(parameters) == [
        *("first", "train_on", "test_on", "band", "odd_band", "words", "first_rank", "sequences", "depths"),
        *("sampling", "train", "test", "validation", "last"),
    ]
    arguments = {name: None for name, value in parameters.items() if name != "first"}
    command(**arguments | {"first": "x", "sampling": "paper", "words": 3, "test": 7, "last": 1})
    assert got == ["x", NaturalOptions(words=3), ItemOptions(sampling="paper", test=7), 1]


def test_option_belongs_to_suites() -> None:
    assert SUITES_BY_PARAMETER["band"] == SUITES_BY_PARAMETER["audit"] == ("natural",)
    assert SUITES_BY_PARAMETER["lexicon"] == CompevalOptions.SUITES
    given = {name: f"--{name}" for name in ("seed", "train", "lexicon")}
    reject_unused_options(given, ["compeval"], data_name="compeval")
    with pytest.raises(UsageError, match=r"^--frequency-band is for the suite natural, not for x$"):
        reject_unused_options({"train": "--train", "band": "--frequency-band"}, ["compeval"], data_name="x")
    with pytest.raises(UsageError, match=r"^--train is for the suite compeval, structure or natural, not"):
        reject_unused_options({"train": "--train"}, [], data_name="x")
