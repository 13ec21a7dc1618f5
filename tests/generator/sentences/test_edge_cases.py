"""Cases at the edge: words named like features, repeated choices, deep nesting, odd lexicons."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.gen_command import Gen

from sentprobe.generator.events.event import MAX_DEPTH, Negator, Number
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english, read_lexicon_text

PEACE = """
[noun]
passive = {}
man = { NNS = "men" }
sg = {}
[transitive]
help = {}
[vocabulary.mine]
noun = "*"
transitive = "*"
"""


@pytest.mark.parametrize("lemma", ["passive", "sg"])
def test_word_may_be_named_like_feature(lemma: str) -> None:
    lexicon = read_lexicon_text(PEACE, source="peace.toml")

    def space(constraints: Constraints) -> Space:
        return Space(lexicon, vocabulary="mine", templates=["transitive"], constraints=constraints)

    every = space(Constraints())
    word_space = space(Constraints(required_words=(lemma,)))
    banned = space(Constraints(forbidden_words=(lemma,)))
    assert word_space.count() + banned.count() == every.count()
    texts = (realize(event, lexicon) for event in word_space.events(np.arange(word_space.count())))
    assert all(lemma in {token.lemma for token in sentence.tokens} for sentence in texts)


def test_choice_that_is_repeated_counts_once() -> None:
    once = Choices(determiners=("the",), relativizers=("that",))
    twice = Choices(
        numbers=(*Number, *Number),
        determiners=("the", "the"),
        relativizers=("that", "that"),
        negators=(Negator.NOT, Negator.NOT),
        adverbs=(0, 0),
    )
    assert once == twice


def test_clause_adverbs_have_their_own_number() -> None:
    choices = Choices(adverbs=(2,), clause_adverbs=(1,))
    space = Space(english(), templates=["intransitive-rc"], choices=choices)
    for event in space.events(space.sample(20, seed=0)):
        assert len(event.adverbs or ()) == 2
        assert event.agent.clause.event.adverbs is not None  # type: ignore[union-attr]
        assert len(event.agent.clause.event.adverbs) == 1  # type: ignore[union-attr]


def nested(depth: int) -> str:
    return "the man " + "that helped the man " * (depth - 1) + "that slept danced"


def test_nesting_has_limit_that_everything_shares() -> None:
    (event,) = parse(nested(MAX_DEPTH), english())
    assert realize(event, english()).text == nested(MAX_DEPTH)
    for depth in (MAX_DEPTH + 2, 700):
        with pytest.raises(ParseError, match="nest deeper"):
            parse(nested(depth), english())


def test_options_before_subcommand_are_refused(gen: Gen) -> None:
    done = gen("--lexicon", "x.toml", "parse", "the man sleeps")
    assert done.code == 2
    assert "--lexicon stands before 'parse'" in done.err


def test_user_lexicon_suffices(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "peace.toml"
    path.write_text(PEACE, encoding="utf-8")
    done = gen("--lexicon", path, "-t", "transitive", "--n", "3")
    assert (done.code, len(done.lines)) == (0, 3)
    done = gen("templates", "--lexicon", path)
    assert done.code == 0
    assert "transitive-rc-both.agent.intransitive.patient.intransitive.src.src" in done.out


def test_undecodable_line_is_skipped(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(b"the man sleeps\n\xff\nthe men sleep\n")
    done = gen("parse", "-f", "text", "--file", path)
    assert (done.code, done.out) == (1, "the man sleeps\nthe men sleep\n")
    assert f"{path}:2: not UTF-8" in done.err


def test_output_is_utf8_in_any_locale() -> None:
    command = [str(Path(sys.executable).with_name("gen")), "show", "sleep(agent: man)"]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=ascii_only, capture_output=True, check=True)
    assert "└──" in done.stdout.decode("utf-8")
