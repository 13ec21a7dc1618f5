"""Numerals as determiners: one event, one sentence, one reading; number, bounds and annotation."""

from dataclasses import replace

import pytest
from helpers.oracles.oracle import Oracle, collect_words
from helpers.oracles.slow_path import chart_parse, derive

from sentprobe.common.errors import UsageError
from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer
from sentprobe.generator.events.event import Mood, Negator, Polarity, Role, iterate_clauses, iterate_participants
from sentprobe.generator.events.meaning import Property, find_differences
from sentprobe.generator.events.notation import read_event, write_event
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, english, german
from sentprobe.lexicon.words import NAMED

LEXICON = english()
COUNTED = tuple(word.lemma for word in LEXICON.words(Kind.DETERMINER) if word.phrase not in ("", *NAMED))
ORACLE = Oracle(collect_words(LEXICON))


def test_numerals_of_lexicon() -> None:
    assert len(COUNTED) == 36
    assert COUNTED[:2] == ("one", "two")
    assert {"at least two", "no more than twelve"} < {*COUNTED}
    assert {*LEXICON.get("at least two", Kind.DETERMINER).forms} == {"DT.pl", "DT.pl.vowel"}
    assert {*LEXICON.get("no more than one", Kind.DETERMINER).forms} == {"DT.sg", "DT.sg.vowel"}


@pytest.mark.parametrize("mood", Mood)
@pytest.mark.parametrize("template", ["transitive-rc", "ditransitive", "intransitive-rc"])
def test_every_sentence_has_one_reading(template: str, mood: Mood) -> None:
    """The event, the parser, the drawn text and an independent grammar agree."""
    choices = Choices(
        determiners=("the", *COUNTED[::5]), moods=(mood,), adjectives=(0, 1), coordinations=(0, 1),
        negators=tuple(Negator),
        asked=(None, Role.PATIENT) if mood is Mood.QUESTION and template != "intransitive-rc" else (None,),
    )  # fmt: skip
    if (template, mood) == ("intransitive-rc", Mood.ORDER):
        return
    vocabulary = "everyday" if template == "ditransitive" else "english"
    choices = choices if template == "ditransitive" else replace(choices, adjectives=(0,))
    space = Space(LEXICON, vocabulary=vocabulary, templates=[template], choices=choices)
    renderer = DrawnTextRenderer(LEXICON)
    for drawn in space.decode(space.sample(40, seed=2)):
        text = realize(drawn.event, LEXICON).text
        assert renderer.render(drawn) == text
        assert parse(text, LEXICON) == (drawn.event,)
        assert ORACLE.accepts(text.split())
        assert read_event(write_event(drawn.event)) == drawn.event


@pytest.mark.parametrize("determiner", ["one", "three", "at least one", "at least two", "no more than five"])
def test_slow_path_agrees(determiner: str) -> None:
    noun = "doctor" if determiner.endswith("one") else "doctors"
    text = f"the man that {determiner} {noun} helped met {determiner} young lawyer{noun[6:]}"
    (event,) = parse(text, LEXICON)
    assert derive(event, LEXICON) == realize(event, LEXICON)
    assert chart_parse(text.split(), LEXICON) == [event]


def test_annotation_of_bounded_numerals() -> None:
    (event,) = parse("at least two doctors helped no more than five lawyers", LEXICON)
    sentence = realize(event, LEXICON)
    assert sentence.tree == (
        "(S (NP (QP (IN at) (JJS least) (CD two)) (NNS doctors)) (VP (VBD helped) "
        "(NP (QP (RB no) (JJR more) (IN than) (CD five)) (NNS lawyers))))"
    )
    assert [(t.lemma, t.upos, t.head, t.deprel) for t in sentence.tokens[:4]] == [
        ("at", "ADP", 2, "case"),
        ("least", "ADJ", 3, "nmod"),
        ("two", "NUM", 4, "nummod"),
        ("doctor", "NOUN", 5, "nsubj"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("three doctor slept", "token 2: expected a noun that goes with 'three', not 'doctor'"),
        ("one doctors slept", "token 2: expected a noun that goes with 'one', not 'doctors'"),
        ("the man met at least two doctor", "token 7: expected a noun that goes with 'at least two', not 'doctor'"),
        ("the man met no more than", "token 5: expected a noun that goes with 'no', not 'more'"),
        ("the man met at two doctors", "token 4: expected"),
        ("the three doctors slept", "token 2: expected a noun that goes with 'the', not 'three'"),
    ],
)
def test_wrong_numeral_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(text, LEXICON)
    assert message in str(error.value)
    assert not ORACLE.accepts(text.split())


def test_number_of_numeral_is_checked() -> None:
    with pytest.raises(UsageError, match="'two' does not go with a singular noun"):
        realize(read_event("sleep[past, simple, pos, adv()](agent: two doctor[sg, bare])"), LEXICON)
    with pytest.raises(UsageError, match="unknown determiner 'drei'; the determiners are der"):
        Space(german(), vocabulary="german", choices=Choices(determiners=("drei",)))


def test_no_bound_is_drawn_in_negated_clause() -> None:
    choices = Choices(determiners=("at least two", "three"), negators=tuple(Negator), coordinations=(0, 1))
    space = Space(LEXICON, vocabulary="english", templates=["all"], choices=choices)
    negated = 0
    for event in space.events(space.sample(300, seed=0)):
        for clause, _ in iterate_clauses(event):
            lemmas = {p.determiner for _, person in iterate_participants(clause) for p in person.conjuncts}
            assert clause.polarity is Polarity.POSITIVE or "at least two" not in lemmas
            negated += clause.polarity is Polarity.NEGATIVE
    assert negated > 50


def test_numeral_is_a_difference_in_meaning() -> None:
    texts = ("three doctors slept", "two doctors slept", "one doctor slept")
    three, two, one = (parse(text, LEXICON)[0] for text in texts)
    assert find_differences(three, two) == (Property.NUMERAL,)
    assert find_differences(three, one) == (Property.NUMBER,)
