"""Settings of suites: the words and structures of generated sentences, numbers of items, classes of natural-text tasks.

``probe run``, ``probe build``, ``probe sentences`` and the functions of Python make suites from them.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, ClassVar

from sentprobe.common import specs
from sentprobe.common.errors import UsageError, check_whole
from sentprobe.common.settings import DATA, HELD_OUT, NATURAL_TEXT, Repeatable, Setting
from sentprobe.common.specs import GENERATED, NATURAL, SUITES

LEXICON = Setting("Your own lexicon (TOML file).", DATA)
LANGUAGE = Setting(f"Language of the grammar: {specs.enumerate_names(specs.LANGUAGES)}.", DATA, choices=specs.LANGUAGES)
PROFILE = Setting("Sampling weights: uniform, published or FILE.", DATA)
LEFT_OUT = Setting(
    "Use only the words or structures left out by gen pairs --hold-out (give the same value); repeatable.",
    HELD_OUT,
    metavar="SHARE|TEMPLATE",
)


def describe_vocabulary(default: str) -> Setting:
    """Return the setting of a vocabulary; its help says that *default* is the default."""
    return Setting(
        f"Word list: {', '.join(specs.VOCABULARIES)}, or one from --lexicon. Default: {default}.",
        DATA,
        names=("--vocabulary", "-v"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompevalOptions:
    """The words and structures of generated sentences."""

    SUITES: ClassVar = GENERATED

    vocabulary: Annotated[str | None, describe_vocabulary("the suite's")] = None
    lexicon: Annotated[Path | None, LEXICON] = None
    language: Annotated[str, LANGUAGE] = "en"
    profile: Annotated[str | None, PROFILE] = None
    held_out: Annotated[Repeatable, LEFT_OUT] = None
    hold_out_structure: Annotated[
        str | None,
        Setting(
            "Exclude a structure from training; half of the test items have it. One of: "
            f"{specs.enumerate_names(specs.STRUCTURES)}.",
            HELD_OUT,
            metavar="NAME",
        ),
    ] = None
    min_count: Annotated[
        int | None, Setting("Leave out words with a form rarer than this in --counts; 50 in the paper.", HELD_OUT)
    ] = None
    counts: Annotated[Path | None, Setting("File of corpus counts: lines of a word and its count.", HELD_OUT)] = None

    def __post_init__(self) -> None:
        check_whole("min_count", self.min_count)
        if (self.min_count is None) != (self.counts is None):
            raise UsageError("--min-count and --counts need each other: the least count, and the file of counts")
        if self.min_count is not None and self.min_count < 1:
            raise UsageError(f"--min-count {self.min_count}: at least 1 is expected")


def _describe_size(split: str, items: str) -> Setting:
    generated, natural = specs.GENERATED_SIZE.count_items(split), specs.NATURAL_SIZE.count_items(split)
    return Setting(f"{items} items. Default: {generated}; natural text: {natural}.", DATA)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOptions:
    """How items are sampled, and how many each split of a task has; None means the default of the suite."""

    SUITES: ClassVar = SUITES

    sampling: Annotated[
        str, Setting("Items: mirror (same words, other labels) or paper (as published; not for group conneau).", DATA)
    ] = "mirror"
    train: Annotated[int | None, _describe_size("train", "Training")] = None
    test: Annotated[int | None, _describe_size("test", "Test")] = None
    validation: Annotated[int | None, _describe_size("validation", "Validation")] = None

    def __post_init__(self) -> None:
        for name in ("train", "test", "validation"):
            check_whole(name, getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOptions:
    """The dataset cards of natural-text tasks."""

    SUITES: ClassVar = (NATURAL,)

    audit: Annotated[
        bool, Setting("Add the paper's baselines to the cards.", NATURAL_TEXT, names=("--audit/--no-audit",))
    ] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalOptions:
    """The languages and classes of natural-text tasks; None means the default."""

    SUITES: ClassVar = (NATURAL,)

    train_on: Annotated[
        str | None,
        Setting("Languages to train on, such as de,fr. Default: of all tables.", NATURAL_TEXT, metavar="LANGUAGES"),
    ] = None
    test_on: Annotated[
        str | None, Setting("Languages to test on. Default: of all tables.", NATURAL_TEXT, metavar="LANGUAGES")
    ] = None
    band: Annotated[
        str | None,
        Setting(
            "Least and greatest corpus count of the target words of Tense, SubjNum and ObjNum. Default: 100-5000, "
            "lower in a small corpus.",
            NATURAL_TEXT,
            names=("--frequency-band",),
        ),
    ] = None
    odd_band: Annotated[
        str | None,
        Setting(
            "Least and greatest corpus count of SOMO's exchanged words. Default: 40-400, lower in a small corpus.",
            NATURAL_TEXT,
        ),
    ] = None
    words: Annotated[
        int | None, Setting("Number of words (classes) of WC. Default: 1000, fewer in a small corpus.", NATURAL_TEXT)
    ] = None
    first_rank: Annotated[
        int | None, Setting("Frequency rank of WC's first word. Default: 2001, lower in a small corpus.", NATURAL_TEXT)
    ] = None
    sequences: Annotated[
        int | None, Setting("Number of classes of TopConst, without OTHER. Default: 19.", NATURAL_TEXT)
    ] = None
    depths: Annotated[str | None, Setting("Depths to use. Default: TreeDepth 5-12, DepDepth 3-5.", NATURAL_TEXT)] = None


SUITES_BY_PARAMETER: Mapping[str, tuple[str, ...]] = {
    field.name: group.SUITES
    for group in (CompevalOptions, ItemOptions, CardOptions, NaturalOptions)
    for field in fields(group)
}
"""Suites that use an option, by the name of the option's parameter."""


def is_unused(parameter: str, suites: Collection[str]) -> bool:
    """Return whether a parameter is only for suites that are not in *suites*."""
    return parameter in SUITES_BY_PARAMETER and not set(SUITES_BY_PARAMETER[parameter]) & set(suites)


def reject_unused_options(given_options: Mapping[str, str], suites: Collection[str], *, data_name: str) -> None:
    """Raise UsageError, which names the chosen data, for the first set option that none of *suites* uses."""
    for parameter, option in given_options.items():
        if is_unused(parameter, suites):
            users = specs.enumerate_names(SUITES_BY_PARAMETER[parameter])
            raise UsageError(f"{option} is for the suite {users}, not for {data_name}")
