"""The text notation: exact round trips, and every mistake with its place."""

import re

import pytest
from helpers.strategies.strategies import full_events, partial_events, words
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import NotationError
from sentprobe.generator.events.event import MAX_DEPTH, Event
from sentprobe.generator.events.notation import RESERVED, WORD, read_event, write_event
from sentprobe.generator.events.notation_reader import EXPECTED_TOKENS, build_parser
from sentprobe.lexicon import english

CANONICAL = [
    "*",
    "help",
    "sleep[intransitive]",
    "help[transitive]",
    "help[past, neg](agent: professor[pl], patient: student that sleep[prog](agent: _))",
    "help[passive, pres, simple, n't, adv(really, actually)](agent: the man[sg, bare])",
    "sleep[intransitive, past, simple, pos, adv()](agent: that man[sg] that dance(agent: _))",
    "help(patient: *)",
    "help(patient: that *[pl] rc[orc] *)",
    "help(agent: man rc(which)[src] meet)",
    'help(agent: that man rc("two words") "who")',
    'call(agent: "rc"[sg] who "that"(agent: _))',
]


@pytest.mark.parametrize("text", CANONICAL)
def test_canonical_text_comes_back(text: str) -> None:
    assert write_event(read_event(text)) == text


@given(partial_events(words(), gap=True))
def test_partial_events_come_back(event: Event) -> None:
    assert read_event(write_event(event)) == event


@given(full_events(english()))
def test_full_events_come_back(event: Event) -> None:
    assert read_event(write_event(event)) == event


@given(partial_events(words()))
def test_white_space_between_tokens_is_free(event: Event) -> None:
    text = write_event(event)
    spaced = "\n\t".join(token.value for token in build_parser().lex(text))
    assert read_event(f" {spaced} \n") == event


EQUAL = [
    ("help[neg, past]", "help[past, neg]"),
    ("help[present, progressive]", "help[pres, prog]"),
    ("help[positive](agent: man[singular])", "help[pos](agent: man[sg])"),
    ("help[]()", "help"),
    ("help(patient: _, agent: man)", "help(agent: man, patient: _)"),
    ("help[transitive, passive]", "help[passive]"),
    ("help[negative, not]", "help[not]"),
    ('"help"(agent: "the" "man")', "help(agent: the man)"),
    ('"h\\u00e9lp"', "hélp"),
    ('x(agent: man rc("that")[src] meet)', "x(agent: man that[src] meet)"),
    ("give[ditransitive](recipient: man)", "give(recipient: man)"),
    ("help[question](agent: who?)", "help(agent: who?)"),
    ("help[order, active, simple]", "help[order]"),
    ("x(agent: the man[bare] and the woman[bare])", "x(agent: the man and the woman)"),
]


@pytest.mark.parametrize(("text", "other"), EQUAL)
def test_different_texts_of_one_event(text: str, other: str) -> None:
    assert read_event(text) == read_event(other)


def test_grammar_and_writer_agree_on_words() -> None:
    terminals = {terminal.name: terminal.pattern for terminal in build_parser().terminals}
    assert terminals["WORD"].value == WORD.pattern
    assert {terminals[name.upper()].value for name in RESERVED} == RESERVED


@pytest.mark.parametrize(("message", "text"), [(row.message, text) for row in EXPECTED_TOKENS for text in row.examples])
def test_errors_of_form(message: str, text: str) -> None:
    with pytest.raises(NotationError) as caught:
        read_event(text)
    assert caught.value.message == message


MEANING = [
    ("help[passt]", 6, "unknown feature 'passt' (did you mean 'past'?)"),
    ("help[pats]", 6, "unknown feature 'pats' (did you mean 'past'?)"),
    ("x(agent: man[plu])", 14, "unknown feature 'plu' (did you mean 'pl'?)"),
    ("help[Past]", 6, "unknown feature 'Past' (did you mean 'past'?)"),
    ("help[progresive]", 6, "unknown feature 'progresive' (did you mean 'progressive'?)"),
    ("x(agent: man[xyz])", 14, "unknown feature 'xyz' of a noun, expected one of sg, singular, pl, plural, bare, adj"),
    (
        "help[statement]",
        6,
        "an event has no feature 'statement': it is a statement, or as a pattern has any mood; see gen --mood",
    ),
    ("help[past, pres]", 12, "'pres' states the tense a second time"),
    ("help[past, past]", 12, "'past' states the tense a second time"),
    ("help[pl]", 6, "'pl' is a feature of a noun, not of a predicate"),
    ("x(agent: man[past])", 14, "'past' is a feature of a predicate, not of a noun"),
    ("x(agent: man that[pl] y)", 19, "'pl' is a feature of a noun, not of a relative clause"),
    ("help[adv]", 6, "expected the adverbs in parentheses, as adv(really)"),
    ("help[past(really)]", 6, "the feature 'past' takes no words in parentheses"),
    ("help[adv(a), adv(b)]", 14, "'adv' states the adverbs a second time"),
    ("help(agnet: man)", 6, "unknown role 'agnet' (did you mean 'agent'?)"),
    ("help(theme: man)", 6, "unknown role 'theme', expected agent, patient or recipient"),
    ("help(agent: man, agent: _)", 18, "the agent is stated twice"),
    ("help(agent: man[bare] that x)", 23, "a bare noun has no relative clause"),
    ("help(agent: man rc(a, b) x)", 17, "expected one relativizer in rc(...)"),
    ("help(agent: man rc() x)", 17, "expected one relativizer in rc(...)"),
    ('x(agent: "ma\\q")', 13, "bad escape in a quoted lemma"),
    ("help & hinder", 6, "unexpected character '&'"),
    ('help(agent: "man)', 13, "a quotation mark without its end"),
    ("x[pos, not]", 1, "x: a positive event has no negator, but its polarity is pos"),
    ("x(agent: _, patient: _)", 1, "x: agent and patient cannot both be the gap"),
    (
        "sleep[intransitive](patient: man)",
        1,
        "sleep: a patient needs a transitive frame, but its frame is intransitive",
    ),
    (
        "x(agent: man that[orc] y[active](agent: _))",
        14,
        "y: with the agent as the gap, an active clause is src, not orc",
    ),
    (
        "x(agent: man that y[passive](agent: a that z[pos, not]))",
        44,
        "z: a positive event has no negator, but its polarity is pos",
    ),
]


@pytest.mark.parametrize(("text", "column", "message"), MEANING)
def test_errors_of_meaning(text: str, column: int, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        read_event(text)
    error = caught.value
    assert (error.message, error.line, error.column) == (message, 1, column)
    assert (error.text, error.offset) == (text, column - 1)


def test_error_shows_its_place() -> None:
    with pytest.raises(NotationError) as caught:
        read_event("help[past](\n\tagnet: man\n)", source="events.txt")
    assert str(caught.value) == ("events.txt:2:2: unknown role 'agnet' (did you mean 'agent'?)\n   agnet: man\n   ^")


def test_clause_depth_is_limited() -> None:
    def nested(depth: int) -> str:
        return "x(agent: y that " * depth + "x" + ")" * depth

    assert write_event(read_event(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 5_000):
        with pytest.raises(NotationError, match="nest deeper than 40"):
            read_event(nested(depth))


@given(st.data(), full_events(english()))
def test_damaged_notation_is_error_or_harmless(data: st.DataObject, event: Event) -> None:
    text = write_event(event)
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.sampled_from(["", ",", "[", "(", "that ", '"'])) + text[at + 1 :]
    try:
        read_event(damaged)
    except NotationError as error:
        assert 0 <= error.offset <= len(damaged)
        assert re.search(r"\n +\^$", str(error))


@given(st.text('x[](),:*_ "\\\nthatrc', max_size=20))
def test_any_text_is_event_or_error(text: str) -> None:
    try:
        event = read_event(text)
    except NotationError:
        return
    assert read_event(write_event(event)) == event
