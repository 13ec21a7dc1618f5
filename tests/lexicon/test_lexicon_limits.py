"""Limits on lexicon files and other TOML, whose cost must not grow by the square of their size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.values import MAX_KEY_PARTS, BadSyntaxError, parse_toml
from sentprobe.lexicon import read_lexicon_text
from sentprobe.lexicon.lexicon_checks import MAX_PROBLEMS
from sentprobe.lexicon.source import LexiconError


@pytest.mark.parametrize("text", ["{}a = 1", "[{}a]", "x = {{ {}a = 1 }}", "[[ {}a ]]", "b = '''\n'''\n{}'a.b' = 1"])
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(text: str) -> None:
    line = text.count("\n") + 1
    with pytest.raises(BadSyntaxError, match=f"a key of more than {MAX_KEY_PARTS} parts: line {line}"):
        parse_toml(text.format("a." * 20_000))


@given(st.text(st.sampled_from("a.=[]#{ "), min_size=1, max_size=80))
def test_dots_in_strings_and_comments_do_not_count(text: str) -> None:
    assert parse_toml(f"a = '{text}' # {text}\nb = '''\n{text}\n'''") == {"a": text, "b": f"{text}\n"}


def test_a_long_text_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(BadSyntaxError, match="longer than 1,048,576 characters"):
        parse_toml(" " * ((1 << 20) + 1))


def test_many_mistakes_of_a_kind_are_listed_in_part() -> None:
    with pytest.raises(LexiconError) as caught:
        read_lexicon_text("".join(f"[s{number}]\n" for number in range(5000)), "my.toml")
    unknown = [problem for problem in caught.value.problems if problem.code == "L001"]
    assert [problem.line for problem in unknown] == [*range(1, MAX_PROBLEMS + 2)]
    assert unknown[-1].text.endswith(", and maybe more")
