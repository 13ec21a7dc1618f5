"""Sentences to a file in one call: the same bytes as from the command."""

from pathlib import Path
from typing import Any

import pytest
from helpers.gen_command import Gen

import sentprobe
from sentprobe import Choices, Event, Tense, UsageError


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".conllu", ".trees"])
def test_the_file_is_that_of_the_command(suffix: str, tmp_path: Path, gen: Gen) -> None:
    ours, theirs = tmp_path / f"ours{suffix}", tmp_path / f"theirs{suffix}"
    options = ("--template", "transitive", "--n", "20", "--seed", "3", "--tense", "past")
    constraints = ("--require-word", "doctor", "--forbid", "help(agent: lawyer)")
    assert gen(*options, *constraints, "--out", theirs).code == 0
    space = sentprobe.generate(
        ours,
        template="transitive",
        n=20,
        seed=3,
        require_word="doctor",
        forbid=["help(agent: lawyer)"],
        choices=Choices(main=Event(tense=Tense.PAST)),
    )
    assert ours.read_bytes() == theirs.read_bytes()
    assert space.count() > 20


def test_the_format_may_be_named(tmp_path: Path) -> None:
    sentprobe.generate(str(tmp_path / "a"), n=2, format="jsonl")
    sentprobe.generate(tmp_path / "b.jsonl", n=2)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"template": "transitiv"}, "did you mean 'transitive'?"),
        ({"n": 0}, "the number of sentences must be positive, not 0"),
        ({"format": "jsonn"}, "did you mean 'jsonl'?"),
        ({"vocabulary": "englsh"}, "did you mean 'english'?"),
        ({"require": "help("}, "event:1:6"),
        ({"forbid": "hlep"}, "hlep"),
        ({"require_word": "lwayer"}, "did you mean 'lawyer'?"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        sentprobe.generate(tmp_path / "out.txt", **options)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_shown_when_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sentprobe.generate(tmp_path / "out.txt")
    assert capfd.readouterr() == ("", "")
    sentprobe.generate(tmp_path / "out.txt", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "generate" in err
