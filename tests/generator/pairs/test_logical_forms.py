"""Logical forms: both notations, read back, and published examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.generator.events.checks import subsumes
from sentprobe.generator.pairs.compositional_splits import EventSampler
from sentprobe.generator.pairs.logical_forms import (
    build_logical_form,
    read_logical_form,
    read_variable_free,
    to_event,
    write_variable_free,
)
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.lexicon import english

PUBLISHED = [
    # Sentences of COGS (Kim and Linzen 2020, MIT licence), with their logical forms.
    ("The donkey lended the cookie to a mother .", "* donkey ( x _ 1 ) ; * cookie ( x _ 4 ) ; "
     "lend . agent ( x _ 2 , x _ 1 ) AND lend . theme ( x _ 2 , x _ 4 ) AND "
     "lend . recipient ( x _ 2 , x _ 7 ) AND mother ( x _ 7 )"),
    ("A rose was mailed to Isabella .",
     "rose ( x _ 1 ) AND mail . theme ( x _ 3 , x _ 1 ) AND mail . recipient ( x _ 3 , Isabella )"),
    ("Liam painted a box on a table beside the chair .", "* chair ( x _ 9 ) ; paint . agent ( x _ 1 , Liam ) AND "
     "paint . theme ( x _ 1 , x _ 3 ) AND box ( x _ 3 ) AND box . nmod . on ( x _ 3 , x _ 6 ) AND table ( x _ 6 ) AND "
     "table . nmod . beside ( x _ 6 , x _ 9 )"),
    ("Emma preferred to giggle .",
     "prefer . agent ( x _ 1 , Emma ) AND prefer . xcomp ( x _ 1 , x _ 3 ) AND giggle . agent ( x _ 3 , Emma )"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "text"), PUBLISHED)
def test_published_form_is_read_and_written(sentence: str, text: str) -> None:
    form = read_logical_form(text)
    assert str(form) == text
    for term in (*form.definites, *form.terms):
        if len(term.name) == 1:
            assert sentence.split()[int(term.arguments[0])] == term.name[0]


@pytest.mark.parametrize(
    ("sentence", "cogs", "variable_free"),
    [
        ("a doctor was helped by the man", "* man ( x _ 6 ) ; doctor ( x _ 1 ) AND help . theme ( x _ 3 , x _ 1 ) AND "
         "help . agent ( x _ 3 , x _ 6 )", "help ( agent = * man , theme = doctor )"),
        ("the boy gave the girl a book", "* boy ( x _ 1 ) ; * girl ( x _ 4 ) ; give . agent ( x _ 2 , x _ 1 ) AND "
         "give . recipient ( x _ 2 , x _ 4 ) AND give . theme ( x _ 2 , x _ 6 ) AND book ( x _ 6 )",
         "give ( agent = * boy , theme = book , recipient = * girl )"),
        ("the man that slept danced", "* man ( x _ 1 ) ; man . nmod ( x _ 1 , x _ 3 ) AND "
         "sleep . agent ( x _ 3 , x _ 1 ) AND dance . agent ( x _ 4 , x _ 1 )",
         "dance ( agent = * man ( nmod = sleep ( ) ) )"),
        ("a man that the lawyer helped slept", "* lawyer ( x _ 4 ) ; man ( x _ 1 ) AND "
         "man . nmod ( x _ 1 , x _ 5 ) AND help . theme ( x _ 5 , x _ 1 ) AND help . agent ( x _ 5 , x _ 4 ) AND "
         "sleep . agent ( x _ 6 , x _ 1 )",
         "sleep ( agent = man ( nmod = help ( agent = * lawyer ) ) )"),
    ],
)  # fmt: skip
def test_forms_by_hand(sentence: str, cogs: str, variable_free: str) -> None:
    (event,) = parse(sentence, english())
    assert str(build_logical_form(event, english().language)) == cogs
    assert write_variable_free(event) == variable_free


@given(depth=st.integers(0, 4), seed=st.integers(0, 10**6))
def test_event_is_read_back_from_both_notations(depth: int, seed: int) -> None:
    """All but the wording: in the read event, voice, order of objects and relativizer are open."""
    event = EventSampler(english(), "structure", seed=seed).sample(depth)
    cogs = str(build_logical_form(event, english().language))
    form = read_logical_form(cogs)
    assert str(form) == cogs
    read = to_event(form)
    assert subsumes(read, event)
    free = write_variable_free(event)
    assert read_variable_free(free) == read
    assert write_variable_free(read) == free
    tokens = realize(event, english()).tokens
    for term in (*form.definites, *form.terms):
        if len(term.name) == 1:
            assert tokens[int(term.arguments[0])].lemma == term.name[0]


@pytest.mark.parametrize(
    "sentence",
    ["the men slept", "the man sleeps", "the man did n't sleep", "this man slept", "the old man slept",
     "the man can sleep", "the man and the boy slept", "the man often slept", "did the man sleep"],
)  # fmt: skip
def test_other_sentences_have_no_form(sentence: str) -> None:
    event, *_ = parse(sentence, english())
    for write in (write_variable_free, lambda event: build_logical_form(event, english().language)):
        with pytest.raises(UsageError, match="a logical form is for positive statements in the simple past"):
            write(event)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("man ( x _ 1 ) ; sleep . agent ( x _ 2 , x _ 1 )", r"a definite noun begins with \*"),
        ("man ( x _ 1", "a term is expected"),
        ("man ( x _ 1 ) AND ", "a term is expected"),
        ("sleep . agent ( x _ 2 , Emma )", "a noun, its relative clause"),
        ("man ( x _ 1 ) AND man ( x _ 1 )", "a noun, its relative clause"),
        ("sleep . agent ( x _ 2 , x _ 1 )", "x _ 1 is no noun"),
        ("man ( x _ 1 )", "one main verb is expected, not 0"),
        ("man ( x _ 1 ) AND sleep . theme ( x _ 2 , x _ 1 )", "sleep: agent, agent and theme"),
        ("man ( x _ 1 ) AND man . nmod ( x _ 1 , x _ 3 ) AND sleep . agent ( x _ 2 , x _ 1 )", "x _ 3 is no verb"),
    ],
)
def test_wrong_form_of_cogs_is_refused(text: str, message: str) -> None:
    with pytest.raises((FormatError, UsageError), match=message):
        to_event(read_logical_form(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sleep ( agent = man", "it ends early; expected: ,"),
        ("sleep ( agent man )", "token 4 is man; expected: ="),
        ("sleep ( agent = man ) )", r"'\)' follows the end"),
        ("sleep ( actor = man )", "actor: agent, theme or recipient is expected"),
        ("help ( agent = man , agent = boy )", "agent: agent, theme or recipient is expected, each once"),
        ("sleep ( theme = man )", "sleep: agent, agent and theme"),
        ("", "it ends early; expected: a word"),
        ("help ( agent = man ( nmod = " * 9000, "^'help .*'...: nested too deep"),
    ],
)
def test_wrong_form_without_variables_is_refused(text: str, message: str) -> None:
    with pytest.raises((FormatError, UsageError), match=message):
        read_variable_free(text)


def test_deep_form_is_refused() -> None:
    levels = range(0, 8000, 2)
    terms = [f"man ( x _ {at} ) AND help . agent ( x _ {at + 1} , x _ {at} )" for at in levels]
    clauses = [f"man . nmod ( x _ {at} , x _ {at + 3} ) AND help . theme ( x _ {at + 3} , x _ {at} )" for at in levels]
    with pytest.raises(UsageError, match=r"^man \( x _ 0 .*\.\.\.: nested too deep"):
        to_event(read_logical_form(" AND ".join([*terms, *clauses[:-1]])))
