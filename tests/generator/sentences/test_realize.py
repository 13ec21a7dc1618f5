"""From events to sentences and back, by the fast path and by the slow one."""

from dataclasses import replace
from itertools import pairwise

import pytest
from helpers.oracles.slow_path import chart_parse, chart_readings, derive
from helpers.strategies.strategies import full_events, maybe
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.checks import select_licensed
from sentprobe.generator.events.event import ROLES, Event, Mood, Negator, iterate_clauses
from sentprobe.generator.sentences.parse import ParseError, normalize_sentence, parse
from sentprobe.generator.sentences.realize import list_readings, realize
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.lexicon import Kind, english
from sentprobe.lexicon.languages.english import ENGLISH

LEXICON = english()
EVERYTHING = Choices(
    determiners=tuple(word.lemma for word in LEXICON.words(Kind.DETERMINER)),
    relativizers=tuple(word.lemma for word in LEXICON.words(Kind.RELATIVIZER)),
    negators=tuple(Negator),
    modals=(None, *(word.lemma for word in LEXICON.words(Kind.MODAL))),
    moods=tuple(Mood),
    asked=(None, *ROLES[:2]),
    adverbs=(0, 1, 2),
)

SOMETHING = replace(EVERYTHING, modals=(None, "must"), moods=(Mood.STATEMENT,), asked=(None,), adverbs=(0, 1))
"""Fewer choices, since the cells of a space multiply with them."""


compeval_events = full_events(LEXICON)
english_events = full_events(LEXICON, vocabulary="english")
slowly = examples(15)
briefly = examples(60)


@given(english_events)
@briefly
def test_a_plain_sentence_is_as_it_is_generated(event: Event) -> None:
    text = realize(event, LEXICON).text
    written = (text, f"{text}.", f"{text.capitalize()} . ", f"{text.upper()}.", f"{text}?", f"{text} ! ")
    assert {normalize_sentence(sentence, ENGLISH) for sentence in written} == {text}


@given(st.one_of(compeval_events, english_events))
@examples(200)
def test_parsing_undoes_realizing(event: Event) -> None:
    """The event is the first reading; the others differ in the attachment of adverbs."""
    assert [*parse(realize(event, LEXICON).text, LEXICON)] == select_licensed(list_readings(event), LEXICON)
    assert list_readings(event)[0] == event


@given(st.one_of(compeval_events, english_events))
@slowly
def test_the_fast_path_equals_the_slow_path(event: Event) -> None:
    assert realize(event, LEXICON, id="s1") == derive(event, LEXICON, id="s1")


@given(st.one_of(compeval_events, english_events))
@slowly
def test_the_chart_parser_finds_the_same_event(event: Event) -> None:
    tokens = [token.form for token in realize(event, LEXICON).tokens]
    assert chart_parse(tokens, LEXICON) == [event]


@given(compeval_events, st.data())
@slowly
def test_the_parsers_agree_about_any_sequence_of_tokens(event: Event, data: st.DataObject) -> None:
    tokens = [token.form for token in realize(event, LEXICON).tokens]
    place = data.draw(st.integers(0, len(tokens) - 1), label="place")
    instead = data.draw(maybe(st.sampled_from(tokens)), label="instead")
    tokens[place : place + 1] = [] if instead is None else [instead]
    try:
        parsed = parse(" ".join(tokens), LEXICON)
    except ParseError:
        parsed = ()
    assert set(parsed) == set(chart_readings(tokens, LEXICON))


@pytest.mark.parametrize("vocabulary", ["compeval", "english"])
def test_parsing_undoes_realizing_in_all_templates(vocabulary: str) -> None:
    space = Space(LEXICON, vocabulary=vocabulary, templates=["all"], choices=EVERYTHING)
    for event in space.events(space.sample(300, seed=0)):
        assert parse(realize(event, LEXICON).text, LEXICON) == (event,)


@pytest.mark.parametrize("template", list_template_names(deep=True))
def test_parsing_undoes_realizing_in_every_sub_template(template: str) -> None:
    vocabulary = "everyday" if "ditransitive" in template else "english"
    space = Space(LEXICON, vocabulary=vocabulary, templates=[template], choices=SOMETHING)
    for event in space.events(space.sample(30, seed=1)):
        assert parse(realize(event, LEXICON).text, LEXICON) == (event,)


# ------------------------------------------------------------------ the words


@given(full_events(LEXICON, vocabulary="english"))
@briefly
def test_an_stands_before_a_vowel_sound(event: Event) -> None:
    tokens = realize(event, LEXICON).tokens
    for article, noun in pairwise(tokens):
        if article.lemma == "a" and article.upos == "DET":
            vowel = LEXICON.get(noun.lemma, Kind.NOUN).vowel
            assert article.form == ("an" if vowel else "a")


@given(full_events(LEXICON, vocabulary="english"))
@briefly
def test_every_adverb_is_there_and_before_its_verb(event: Event) -> None:
    sentence = realize(event, LEXICON)
    stated = sorted((c.adverbs or (), str(c.predicate)) for c, _ in iterate_clauses(event))
    adverbs = []
    for predicate in sentence.predicates:
        clause_adverbs = [
            token.lemma
            for token in sentence.tokens[: predicate.verb]
            if token.head == predicate.verb and token.upos == "ADV"
        ]
        adverbs.append((tuple(clause_adverbs), sentence.tokens[predicate.verb - 1].lemma))
    assert sorted(adverbs) == stated


@given(full_events(LEXICON, vocabulary="english"))
@briefly
def test_no_token_holds_a_space(event: Event) -> None:
    sentence = realize(event, LEXICON)
    assert sentence.text.split(" ") == [token.form for token in sentence.tokens]
    assert all(token.form for token in sentence.tokens)


@given(compeval_events)
@briefly
def test_long_sequences_of_adverbs_are_realized_and_parsed(event: Event) -> None:
    adverbs = LEXICON.vocabulary("compeval").words[Kind.ADVERB]
    event = replace(event, adverbs=adverbs)
    sentence = realize(event, LEXICON)
    assert " , ".join(adverbs) in sentence.text
    assert parse(sentence.text, LEXICON)[0] == event
