"""Reflexives and polarity items: hand-checked sentences, both oracles, and whole spaces."""

import io
import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.oracles.oracle import Oracle, collect_words
from helpers.oracles.slow_path import chart_parse, derive

from sentprobe.common.errors import UsageError
from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer
from sentprobe.generator.bulk.generate import write_sentences
from sentprobe.generator.events.event import Contradiction, Event, Mood, Negator, Reflexive, Role, iterate_participants
from sentprobe.generator.events.meaning import Property, find_differences
from sentprobe.generator.events.notation import read_event, write_event
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import write_json
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, Lexicon, english

LEXICON = english()
WITH_EVER = LEXICON.replace_words("compeval", {Kind.ADVERB: ("ever", "really")})

GOOD = [
    "the man helped himself",
    "the doctor helped herself",
    "the man and the woman helped themselves",
    "the men that the king met helped themselves",
    "the man that helped himself slept",
    "the man gave himself the book",
    "the man gave the book to himself",
    "the book that the king gave to himself faded",
    "the doctor that met the king that helped himself helped herself",
    "the doctor that helped herself gave the book to herself",
    "who helped himself",
    "what did the woman give herself",
    "did the men help themselves",
    "the man did not ever help the doctor",
    "did the man ever sleep",
    "did the man that slept ever dance",
    "who ever slept",
    "the man did not help any doctor",
    "did any man help any doctor",
    "was n't any doctor helped by the man",
    "do not help any doctors",
    "the man was not helped by any woman",
    "the man that did not help any king slept",
    "the man did not help the king and any woman",
]
ACTIVE_ONLY = "help: only a recipient, or the patient of a transitive verb with an agent, can be reflexive"
EVER, ANY = (f"'{word}' needs a question, or a negation before it" for word in ("ever", "any"))
BAD = {
    "the man helped herself": "'herself' does not agree with the agent of 'help'",
    "the doctor helped themselves": "'themselves' does not agree with the agent of 'help'",
    "the man and the woman helped himself": "'himself' does not agree with the agent of 'help'",
    "the man that the women met helped themselves": "'themselves' does not agree with the agent of 'help'",
    "the lawyer that recommended herself recommended himself": "'himself' and 'herself' refer to one noun",
    "the lawyer that can not ever be helping herself would help himself": "'himself' and 'herself' refer to one noun",
    "did the doctor that helped himself give herself the book": "'herself' and 'himself' refer to one noun",
    "the man that helped herself slept": "'herself' does not agree with the agent of 'help'",
    "who helped themselves": "'themselves' does not agree with the agent of 'help'",
    "himself helped the man": ACTIVE_ONLY,
    "the man was helped by himself": ACTIVE_ONLY,
    "help himself": ACTIVE_ONLY,
    "the man gave the king himself": ACTIVE_ONLY.replace("help", "give"),
    "the man that the women helped themselves slept": "token 7: expected",
    "the man and himself helped the king": "token 4: expected a determiner",
    "the man helped himself that slept": "token 5: expected the end of the sentence",
    "the man ever slept": EVER,
    "the man must really , ever sleep": EVER,
    "the man that did not sleep ever danced": EVER,
    "the man did ever sleep": "token 4: expected",
    "the man helped any doctor": ANY,
    "any man did not sleep": ANY,
    "any man was not helped by the doctor": ANY,
    "the man that any doctor did not help slept": ANY,
    "the man did not help the king that helped any woman": ANY,
    "help any doctors": ANY,
}


@cache
def make_oracle() -> Oracle:
    return Oracle(collect_words(LEXICON))


@pytest.mark.parametrize("text", GOOD)
def test_licensed_sentence_has_one_event(text: str) -> None:
    (event,) = parse(text, LEXICON)
    assert realize(event, LEXICON) == derive(event, LEXICON)
    assert realize(event, LEXICON).text == text
    assert chart_parse(text.split(), LEXICON) == [event]
    assert read_event(write_event(event)) == replace(event, frame=read_event(write_event(event)).frame)
    assert make_oracle().accepts(text.split())


@pytest.mark.parametrize(("text", "message"), BAD.items())
def test_unlicensed_sentence_has_none(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text, LEXICON)
    assert str(caught.value).startswith(message)
    assert chart_parse(text.split(), LEXICON) == []
    assert not make_oracle().accepts(text.split())


def test_question_adverb_has_licensed_readings() -> None:
    assert [len(parse(f"did the man that {verb} ever dance", LEXICON)) for verb in ("slept", "did not sleep")] == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("help(agent: himself)", "only a recipient"),
        ("help[passive](patient: himself)", "a clause with a reflexive is active"),
        ("help[order](patient: himself)", "only a recipient"),
        ("give[ditransitive](patient: himself)", "only a recipient"),
        ("give(patient: herself, recipient: himself)", "only a recipient"),
    ],
)
def test_impossible_reflexive_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_event(text)


def test_unlicensed_event_has_no_sentence() -> None:
    (event,) = parse("the man did not ever help any doctor", LEXICON)
    for wrong in (replace(event, polarity=None, negator=None), event.with_argument(Role.PATIENT, Reflexive.HERSELF)):
        changes: dict[str, Any] = {} if wrong.polarity else {"polarity": "pos"}
        complete = read_event(write_event(wrong).replace("adv(ever)", "pos, adv(ever)")) if changes else wrong
        with pytest.raises(Contradiction, match=r"needs a question|does not agree"):
            realize(complete, LEXICON)


def test_reflexive_has_its_own_meaning() -> None:
    himself, herself = (parse(f"the doctor helped {word}", LEXICON)[0] for word in ("himself", "herself"))
    (king,) = parse("the king helped himself", LEXICON)
    assert find_differences(himself, king) == (Property.NOUN,)
    assert find_differences(himself, herself)


SPACES: list[tuple[Lexicon, str, list[str], Choices]] = [
    (LEXICON, "compeval", ["transitive"], Choices(reflexives=(Role.PATIENT,))),
    (
        LEXICON,
        "everyday",
        ["transitive", "transitive-rc"],
        Choices(
            reflexives=(None, Role.PATIENT),
            coordinations=(0, 1),
            moods=(Mood.STATEMENT, Mood.QUESTION),
            modals=(None, "must"),
            negators=tuple(Negator),
        ),
    ),
    (LEXICON, "everyday", ["ditransitive", "ditransitive-rc"], Choices(reflexives=(Role.RECIPIENT,))),
    (LEXICON, "everyday", ["ditransitive", "transitive-rc"], Choices(determiners=("the", "any"), moods=tuple(Mood))),
    (
        WITH_EVER,
        "compeval",
        ["transitive", "transitive-rc"],
        Choices(determiners=("the", "any"), adverbs=(0, 1, 2), moods=(Mood.STATEMENT, Mood.QUESTION)),
    ),
]


@pytest.mark.parametrize(("lexicon", "vocabulary", "templates", "choices"), SPACES)
def test_drawn_sentences_are_licensed(
    lexicon: Lexicon, vocabulary: str, templates: list[str], choices: Choices
) -> None:
    space = Space(lexicon, vocabulary=vocabulary, templates=templates, choices=choices)
    indices = space.sample(60, seed=1)
    out = io.StringIO()
    write_sentences(space, indices, out, "jsonl")
    renderer = DrawnTextRenderer(lexicon)
    for index, drawn, line in zip(indices, space.decode(indices), out.getvalue().splitlines(), strict=True):
        record, sentence = json.loads(line), realize(drawn.event, lexicon)
        expected = replace(sentence, id=record["id"], index=record["index"], template=record["template"])
        assert json.loads(write_json(expected)) == record
        assert renderer.render(drawn) == sentence.text
        assert parse(sentence.text, lexicon) == (drawn.event,)
        assert space.find(drawn.event) == index


def is_licensed(event: Event) -> bool:
    try:
        realize(event, WITH_EVER)
    except UsageError:
        return False
    return True


def use_any(event: Event) -> Event:
    for role, person in iterate_participants(event):
        if person.determiner == "some":
            event = event.with_argument(role, replace(person, determiner="any"))
    return event


def test_space_has_licensed_events_alone() -> None:
    words = {Kind.NOUN: ("man", "doctor"), Kind.TRANSITIVE: ("help",), Kind.ADVERB: ("ever", "really")}
    lexicon = WITH_EVER.replace_words("compeval", words)
    choices = Choices(determiners=("the", "any"), adverbs=(0, 1), moods=(Mood.STATEMENT, Mood.QUESTION))
    space = Space(lexicon, vocabulary="compeval", templates=["transitive"], choices=choices)
    free = lexicon.replace_words("compeval", {**words, Kind.ADVERB: ("often", "really")})
    wide = Space(
        free, vocabulary="compeval", templates=["transitive"], choices=replace(choices, determiners=("the", "some"))
    )
    events = {use_any(event) for event in wide.events(np.arange(wide.count()))}
    events = {replace(e, adverbs=tuple("ever" if a == "often" else a for a in e.adverbs or ())) for e in events}
    assert {*space.events(np.arange(space.count()))} == {event for event in events if is_licensed(event)}


def test_reflexives_of_space_by_hand() -> None:
    space = Space(LEXICON, vocabulary="compeval", templates=["transitive"], choices=Choices(reflexives=(Role.PATIENT,)))
    # man, woman: one reflexive; five other nouns: two; seven plurals. Five verbs, in tense, aspect and polarity.
    assert space.count() == (2 + 5 * 2 + 7) * 5 * 2**3
    required = Constraints(required=(read_event("help(patient: herself)"),))
    choices = Choices(reflexives=(Role.PATIENT,))
    chosen = Space(LEXICON, vocabulary="compeval", templates=["transitive"], choices=choices, constraints=required)
    assert chosen.count() == (1 + 5) * 2**3
