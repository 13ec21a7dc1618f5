"""Adjuncts of time and place: one event, one sentence, one reading; word order, annotation and meaning."""

from dataclasses import replace
from functools import cache
from itertools import product
from random import Random

import pytest
from helpers.oracles.model_checker import Model, evaluate
from helpers.oracles.oracle import Oracle, collect_words
from helpers.oracles.slow_path import chart_parse, derive

from sentprobe.common.errors import UsageError
from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer
from sentprobe.generator.events.event import Event, Fronting, Mood, Negator, Role, Tense
from sentprobe.generator.events.event_json import event_from_json, event_to_json
from sentprobe.generator.events.meaning import Property, find_differences, has_same_meaning
from sentprobe.generator.events.notation import read_event, write_event
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.generator.sentences.parse import ParseError, normalize_sentence, parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.space import Space
from sentprobe.grammars.shapes import (
    ADJUNCT_FIRST,
    ADJUNCT_LAST,
    ClauseShape,
    ShapeTable,
    derive_shape,
    list_clause_shapes,
)
from sentprobe.lexicon import Flag, Kind, english, german
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.words import PLACE, TIME

LEXICON = english()
ADJUNCTS = {word.lemma: word for word in LEXICON.words(Kind.ADJUNCT)}


@cache
def make_oracle() -> Oracle:
    return Oracle(collect_words(LEXICON))


def read(text: str) -> Event:
    (event,) = parse(text, LEXICON)
    return event


def make_choices(mood: Mood, template: str) -> Choices:
    is_asking = mood is Mood.QUESTION and "intransitive" not in template
    return Choices(
        moods=(mood,), adjuncts=(TIME, PLACE), frontings=(None, Fronting.ADJUNCT), coordinations=(0, 1),
        negators=tuple(Negator), modals=(None, "may"), asked=(None, Role.PATIENT) if is_asking else (None,),
    )  # fmt: skip


def make_space(template: str, mood: Mood = Mood.STATEMENT) -> Space:
    vocabulary = "everyday" if "ditransitive" in template else "english"
    return Space(LEXICON, vocabulary=vocabulary, templates=[template], choices=make_choices(mood, template))


@pytest.mark.parametrize("mood", Mood)
@pytest.mark.parametrize("template", ["transitive-rc", "ditransitive-rc", "intransitive-rc"])
def test_every_sentence_has_one_reading(template: str, mood: Mood) -> None:
    """The event, its notations, the parser, the drawn text and an independent grammar agree."""
    if "rc" in template and "di" not in template and mood is Mood.ORDER:  # it would end in a relative clause
        return
    space, renderer = make_space(template, mood), DrawnTextRenderer(LEXICON)
    for drawn in space.decode(space.sample(25, seed=2)):
        text = realize(drawn.event, LEXICON).text
        assert renderer.render(drawn) == text
        assert parse(text, LEXICON) == (drawn.event,)
        assert parse(normalize_sentence(f"{text.upper()}.", LEXICON), LEXICON) == (drawn.event,)
        assert make_oracle().accepts(text.split())
        assert read_event(write_event(drawn.event)) == drawn.event
        assert event_from_json(event_to_json(drawn.event)) == drawn.event
        assert space.find(drawn.event) is not None


SHAPES = [
    replace(shape, front=front)
    for shape in list_clause_shapes(ENGLISH)
    if not shape.is_relative
    for front in (ADJUNCT_LAST, *([ADJUNCT_FIRST] if shape.mood == Mood.STATEMENT else []))
]


@pytest.mark.parametrize("shape", Random(1).sample(SHAPES, 12), ids=repr)
def test_shape_with_adjunct_is_that_of_grammar(shape: ClauseShape) -> None:
    assert ShapeTable(ENGLISH).find_items(shape) == derive_shape(shape, ENGLISH)


@pytest.mark.parametrize(
    "text",
    [
        "the man that slept met the lawyer and Mary in the garden",
        "on Monday the man did not often give the book to the lawyer that slept",
        "who did the man that slept give the book to in Paris",
        "at least two doctors slept at noon",
    ],
)
def test_slow_path_agrees(text: str) -> None:
    (event,) = parse(text, LEXICON)
    assert chart_parse(text.split(), LEXICON) == [event]
    assert derive(event, LEXICON) == realize(event, LEXICON)


def test_annotation_of_adjuncts() -> None:
    sentence = realize(read("on Monday the man was helping the lawyer"), LEXICON)
    assert sentence.tree == (
        "(S (PP (IN on) (NP (NNP Monday))) (NP (DT the) (NN man)) "
        "(VP (VBD was) (VP (VBG helping) (NP (DT the) (NN lawyer)))))"
    )
    sentence = realize(read("the man was helping the lawyer in the garden"), LEXICON)
    assert sentence.tree == (
        "(S (NP (DT the) (NN man)) (VP (VBD was) (VP (VBG helping) (NP (DT the) (NN lawyer)) "
        "(PP (IN in) (NP (DT the) (NN garden))))))"
    )
    assert [(t.lemma, t.upos, t.feats, t.head, t.deprel) for t in sentence.tokens[-3:]] == [
        ("in", "ADP", "", 9, "case"),
        ("the", "DET", "Definite=Def|PronType=Art", 9, "det"),
        ("garden", "NOUN", "Number=Sing", 4, "obl"),
    ]
    assert write_event(sentence.event).startswith('help[active, past, prog, pos, adjunct("in the garden"), adv()]')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the man saw the doctor that slept on Monday", "token 8: expected the end of the sentence, not 'on'"),
        ("the man was called by the boy that slept at noon", "token 10: expected the end of the sentence, not 'at'"),
        ("the man that slept on Monday danced", "not 'on'"),
        ("on Monday the man slept at noon", "token 6: expected the end of the sentence, not 'at'"),
        ("on Monday did the man sleep", "the sentence ends after token 6, expected a statement after 'on Monday'"),
        ("on Monday help the man", "the sentence ends after token 5, expected a statement after 'on Monday'"),
        ("the man slept on noon", "token 4: expected the end of the sentence, not 'on'"),
        ("the man slept in garden", "token 4: expected the end of the sentence, not 'in'"),
        ("on Monday slept the man", "token 3: expected a determiner"),
        ("on Monday", "token 1"),
        ("on Mars the man slept", "token 1: expected a determiner or a modal or a question word or a time or place or"),
        ("on Monday , the man slept", "token 3: expected a determiner"),
        ("the man slept , on Monday", "token 4: expected the end of the sentence, not ','"),
    ],
)
def test_wrong_adjunct_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(text, LEXICON)
    assert message in str(error.value)
    assert not make_oracle().accepts(text.split())
    assert chart_parse(text.split(), LEXICON) == []


@pytest.mark.parametrize(
    "text",
    ["On Monday, the man slept.", "ON MONDAY ,THE MAN SLEPT", "on Monday,the man slept", "On monday, the man slept"],
)
def test_comma_after_first_adjunct_is_normalized(text: str) -> None:
    assert normalize_sentence(text, LEXICON) == "on Monday the man slept"


@pytest.mark.parametrize("text", ["the man slept, on monday", "on monday the man, slept", "on mars, the man slept"])
def test_other_comma_stays(text: str) -> None:
    assert "," in normalize_sentence(text, LEXICON)


MAN, DOCTOR = "agent: the man[sg, bare]", "patient: the doctor[sg] that sleep[past, simple, pos, adv()]"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (f'sleep[past, simple, pos, adv(), adjunct("on Mars")]({MAN})', "unknown adjunct 'on Mars'"),
        ("*(agent: *[sg] that sleep[adjunct(here)])", "sleep: only a main clause has a time or place such as 'here'"),
        (f"sleep[adjunct-first, past, simple, pos, adv()]({MAN})", "partly specified: adjunct left open"),
        ("sleep[adjunct-first, question]", "a time or place can stand first only in a main clause that is a statement"),
        (
            f'help[active, past, simple, pos, adv(), adjunct("at noon")]({MAN}, {DOCTOR})',
            "'at noon' cannot follow a relative clause, which could have it, too",
        ),
        ("sleep[adjunct]", "expected one time or place in parentheses, as adjunct"),
    ],
)
def test_wrong_event_is_refused(event: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        realize(read_event(event), LEXICON)


@pytest.mark.parametrize(
    ("choices", "constraints", "message"),
    [
        (Choices(adjuncts=("on Mars",)), Constraints(), "unknown adjunct 'on Mars'"),
        (Choices(frontings=(Fronting.ADJUNCT,)), Constraints(), "adjunct-first needs adjuncts, such as time or place"),
        (
            Choices(),
            Constraints(required_words=("on Monday",)),
            "'on Monday' is required but is a time or place, which needs --adjunct",
        ),
        (
            Choices(adjuncts=(TIME,), main=Event(tense=Tense.PRESENT)),
            Constraints(),
            "the main clause .* and leaving out times in the present, and states at a time or place contradict",
        ),
        (
            Choices(adjuncts=(PLACE,)),
            Constraints(),
            r"no place at the end after a common noun, which could be there \(see --fronting adjunct-first\)",
        ),
    ],
)
def test_impossible_choice_is_refused(choices: Choices, constraints: Constraints, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Space(LEXICON, templates=["transitive"], choices=choices, constraints=constraints)


def test_german_has_no_adjunct() -> None:
    for choices in (Choices(adjuncts=(TIME,)), Choices(frontings=(Fronting.ADJUNCT,))):
        with pytest.raises(UsageError, match="sentprobe's German has no adjunct"):
            Space(german(), vocabulary="german", choices=choices)


def test_adjuncts_are_drawn_on_request_only() -> None:
    space = Space(LEXICON, templates=["all"])
    assert all(event.adjunct is None for event in space.events(space.sample(50, seed=0)))


def test_drawn_adjuncts_fit_the_verb() -> None:
    """No time in the present, and no state at a time or place."""
    space = Space(LEXICON, templates=["all"], choices=Choices(adjuncts=(TIME, PLACE)))
    for event in space.events(space.sample(200, seed=0)):
        assert event.adjunct is not None
        assert event.tense is Tense.PAST or ADJUNCTS[event.adjunct].sort == PLACE
        assert Flag.STATIVE not in LEXICON.get(str(event.predicate), Kind(str(event.frame))).flags


def find_word_before_adjunct(text: str) -> str:
    """Return the part of speech of the word before the last adjunct of a sentence."""
    event = read(text)
    assert event.adjunct is not None
    return realize(event, LEXICON).tokens[-len(event.adjunct.split()) - 1].upos


@pytest.mark.parametrize("mood", Mood)
def test_no_last_place_follows_a_common_noun(mood: Mood) -> None:
    """The jar in Berlin: a noun could have the place. A name has none, nor has a verb before the end."""
    choices = replace(make_choices(mood, ""), adjuncts=(PLACE,), frontings=(None,), determiners=("the", "name"))
    space = Space(LEXICON, vocabulary="everyday", templates=["all"], choices=choices)
    words = {find_word_before_adjunct(realize(event, LEXICON).text) for event in space.events(space.sample(60, seed=1))}
    assert "PROPN" in words
    assert "NOUN" not in words


def test_place_is_drawn_first_or_a_time_last() -> None:
    choices = Choices(adjuncts=(TIME, PLACE), frontings=(None, Fronting.ADJUNCT))
    space = Space(LEXICON, templates=["transitive"], choices=choices)
    orders = {(ADJUNCTS[str(event.adjunct)].sort, event.fronting) for event in space.events(space.sample(99, seed=1))}
    assert orders == {(TIME, None), (TIME, Fronting.ADJUNCT), (PLACE, Fronting.ADJUNCT)}


def test_no_last_place_follows_a_common_noun_in_triplets() -> None:
    triplets = TripletSpace(LEXICON, "adjunct").sample(60, seed=1)
    for side in SIDES:
        for text in triplets.render_texts(side):
            adjunct = read(text).adjunct
            is_last_place = text.endswith(str(adjunct)) and ADJUNCTS[str(adjunct)].sort == PLACE
            assert not (is_last_place and find_word_before_adjunct(text) == "NOUN"), text


def test_no_noun_is_in_its_own_adjunct() -> None:
    choices = Choices(adjuncts=("in the garden", "in the park"), frontings=(Fronting.ADJUNCT,))
    constraints = Constraints(required_words=("garden",))
    space = Space(LEXICON, vocabulary="everyday", templates=["transitive"], choices=choices, constraints=constraints)
    assert {event.adjunct for event in space.events(space.sample(50, seed=0))} == {"in the park"}


@pytest.mark.parametrize(
    ("first", "second", "differences"),
    [
        ("the man slept on Monday", "on Monday the man slept", ()),
        ("the man slept on Monday", "the man slept on Friday", (Property.ADJUNCT,)),
        ("the man slept on Monday", "the man slept", (Property.ADJUNCT,)),
        ("on Monday the man helped the boy", "the boy was helped by the man on Monday", ()),
    ],
)
def test_adjunct_is_a_difference_in_meaning(first: str, second: str, differences: tuple[Property, ...]) -> None:
    assert find_differences(read(first), read(second)) == differences


SENTENCES = tuple(
    f"{first}the man {verb}{last}"
    for verb in ("slept", "did not sleep")
    for first, last in (("", ""), ("on Monday ", ""), ("", " on Monday"), ("", " in the garden"))
)


def test_what_follows_from_adjuncts() -> None:
    """Who slept on Monday slept; who did not sleep did not sleep on Monday. The order says nothing."""
    follows = {pair: True for pair in product(SENTENCES, repeat=2)}
    tokens = {text: realize(read(text), LEXICON).tokens for text in SENTENCES}
    for seed in range(200):
        model = Model(Random(seed), people=1)
        values = {text: evaluate(tokens[text], model) for text in SENTENCES}
        follows |= {(a, b): False for a, b in product(SENTENCES, repeat=2) if values[a] and not values[b]}
    for a, b in product(SENTENCES, repeat=2):
        first, second = read(a), read(b)
        is_weaker = second.adjunct is None if first.polarity == "pos" else first.adjunct is None
        expected = first.polarity is second.polarity and (is_weaker or first.adjunct == second.adjunct)
        assert follows[a, b] is expected, (a, b)
        assert has_same_meaning(first, second) is (expected and follows[b, a])
