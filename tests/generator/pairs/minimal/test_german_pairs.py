"""Minimal pairs of German: the good sentence has one parse, the bad one none; by our parser and by a chart parser."""

import json
from collections import Counter
from functools import cache

import numpy as np
import pytest
from helpers.gen_command import Gen
from helpers.oracles.slow_path import chart_parse
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.event_json import event_from_json
from sentprobe.generator.pairs.changes import SAME_LENGTH, SAME_WORDS, describe_word_overlap
from sentprobe.generator.pairs.minimal_pairs import MinimalPair, MinimalPairSpace
from sentprobe.generator.pairs.paradigms import load_paradigms
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.lexicon.languages import find_language
from sentprobe.lexicon.read import read_built_in
from sentprobe.lexicon.words import VERBS

LANGUAGE = find_language("de")
GERMAN = read_built_in(LANGUAGE)
PARADIGMS = load_paradigms(LANGUAGE)
CASES = [
    (v, uid)
    for v in ("german", "everyday", "compeval")
    for uid in PARADIGMS
    if (v, uid) != ("compeval", "weak_noun_form")
]


@cache
def make_space(vocabulary: str, uid: str) -> MinimalPairSpace:
    return MinimalPairSpace(GERMAN, uid, vocabulary=vocabulary)


@st.composite
def draw_pairs(draw: st.DrawFn) -> tuple[MinimalPairSpace, MinimalPair]:
    space = make_space(*draw(st.sampled_from(CASES)))
    index = draw(st.integers(0, space.count() - 1))
    (pair,) = space.iterate_pairs(np.array([index]))
    return space, pair


def check_pair(space: MinimalPairSpace, pair: MinimalPair) -> None:
    """Check the parses of both sentences, and that they differ in what the paradigm says."""
    assert parse(pair.good, GERMAN) == (event_from_json(json.loads(pair.annotation)["event"]),)
    with pytest.raises(ParseError):
        parse(pair.bad, GERMAN)
    good, bad = pair.good.split(), pair.bad.split()
    effect = describe_word_overlap(space.paradigm.change)
    assert (sorted(good) == sorted(bad)) == (effect == SAME_WORDS)
    if effect == SAME_LENGTH:
        assert [a != b for a, b in zip(good, bad, strict=True)].count(True) == 1
    assert good[: pair.critical - 1] == bad[: pair.critical - 1]


@given(draw_pairs())
def test_good_has_one_parse_and_bad_none(drawn: tuple[MinimalPairSpace, MinimalPair]) -> None:
    check_pair(*drawn)


@pytest.mark.parametrize(("vocabulary", "uid"), CASES)
def test_pairs_of_each_paradigm(vocabulary: str, uid: str) -> None:
    space = make_space(vocabulary, uid)
    pairs = [*space.iterate_pairs(space.sample(min(20, space.count()), seed=5))]
    assert len({pair.good for pair in pairs}) == len(pairs)
    for pair in pairs:
        check_pair(space, pair)


@pytest.mark.parametrize(("vocabulary", "uid"), CASES)
def test_no_edited_word_is_above_twice_its_share(vocabulary: str, uid: str) -> None:
    space = make_space(vocabulary, uid)
    size = min(200, space.count() // 4)
    pairs = [*space.iterate_pairs(space.sample(size, seed=2))]
    if "replace" in space.paradigm.change and size > 20:
        words = Counter(pair.good.split()[pair.critical - 1] for pair in pairs)
        assert max(words.values()) <= 2 * size / len(words) + 1, words


@given(draw_pairs())
def test_no_frame_or_gender_makes_the_bad_sentence_good(drawn: tuple[MinimalPairSpace, MinimalPair]) -> None:
    space, pair = drawn
    words = [word for text in pair.good.split() for word, _ in GERMAN.find(text)]
    assert all(word.frames.isdisjoint(space.paradigm.lacks) for word in words if word.kind in VERBS)
    if space.paradigm.nouns == "unambiguous":
        assert not any(word.ambiguous for word in words)


def test_negation_moves_between_the_subject_and_the_finite_verb() -> None:
    space = make_space("german", "negation_before_finite_verb")
    for pair in space.iterate_pairs(space.sample(50, seed=1)):
        good, bad = pair.good.split(), pair.bad.split()
        assert bad[2] == "nicht"
        assert bad[:2] + bad[3:] == [word for word in good if word != "nicht"]


@given(draw_pairs())
@examples(30)
def test_a_chart_parser_agrees(drawn: tuple[MinimalPairSpace, MinimalPair]) -> None:
    _, pair = drawn
    assert len(chart_parse(pair.good.split(), GERMAN)) == 1
    assert not chart_parse(pair.bad.split(), GERMAN)


@pytest.mark.parametrize(
    ("uid", "good", "bad"),
    [
        ("object_case_nominative", "den", "der"),
        ("dative_object_accusative", "dem", "den"),
        ("relative_pronoun_case", "den", "der"),
        ("case_after_preposition", "dem", "den"),
        ("perfect_auxiliary", "hat", "ist"),
        ("weak_noun_form", "Studenten", "Student"),
    ],
)
def test_changes_by_hand(uid: str, good: str, bad: str) -> None:
    space = make_space("german", uid)
    pairs = space.iterate_pairs(space.sample(2000, seed=1))
    changes = {(pair.good.split()[pair.critical - 1], pair.bad.split()[pair.critical - 1]) for pair in pairs}
    assert (good, bad) in changes


def test_vocabulary_without_weak_nouns() -> None:
    with pytest.raises(UsageError, match="no words for the paradigm 'weak_noun_form'"):
        make_space("compeval", "weak_noun_form")


def test_command(gen: Gen) -> None:
    outcome = gen("minimal", "--language", "de", "-p", "all", "-n", 3)
    rows = [json.loads(line) for line in outcome.lines]
    assert not outcome.code, outcome.err
    assert len(rows) == 3 * len(PARADIGMS)
    assert all(row["sentence_good"] != row["sentence_bad"] for row in rows)
    unknown = gen("minimal", "--language", "de", "-p", "transitive")
    assert (unknown.code, unknown.out) == (2, "")
    assert "gen minimal --list lists those of German" in unknown.err
