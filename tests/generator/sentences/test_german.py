"""German: examples checked by hand, and properties against unification and a chart parser."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.oracles.slow_path import chart_parse, derive
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer
from sentprobe.generator.bulk.generation import Renderer
from sentprobe.generator.events.event import Event, Frame, Fronting, Voice
from sentprobe.generator.events.event_json import event_from_json, event_to_json
from sentprobe.generator.events.notation import read_event, write_event
from sentprobe.generator.sentences.parse import ParseError, build_event, parse, parse_once
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import RECORD_FORMATS, to_json
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.grammars.shapes import derive_shape, list_all_shapes, load_language_shapes
from sentprobe.lexicon import Kind, LexiconError, read_lexicon_text
from sentprobe.lexicon.languages.german import GERMAN
from sentprobe.lexicon.lexicon_checks import find_problems
from sentprobe.lexicon.read import read_built_in, read_built_in_draft

LEXICON = read_built_in(GERMAN)
ORDERS = (None, Fronting.OBJECT)
SPACE = Space(
    LEXICON,
    vocabulary="everyday",
    templates=["all", "intransitive-rc-dative", "transitive-rc-dative"],
    choices=Choices(adverbs=(0, 1), adjectives=(0, 1), frontings=ORDERS),
)
SMALL = Space(LEXICON, vocabulary="compeval", templates=["all"], choices=Choices(frontings=ORDERS))
AMBIGUOUS = Space(LEXICON, vocabulary="compeval", choices=Choices(frontings=ORDERS, ambiguous=True))

EXAMPLES = {
    "der Arzt schläft": "schlafen[pres, simple, pos, adv()](agent: der Arzt[sg, bare])",
    "die Ärzte schliefen nicht": "schlafen[past, simple, not, adv()](agent: der Arzt[pl, bare])",
    "die Kinder haben nicht oft geschlafen": "schlafen[pres, perf, not, adv(oft)](agent: der Kind[pl, bare])",
    "der Arzt sieht den Anwalt": "sehen[active, pres, simple, pos, adv()](AB)",
    "den Anwalt sieht der Arzt": "sehen[object-first, pres, simple, pos, adv()](AB)",
    "den Anwalt hat der Arzt nicht oft gesehen": "sehen[object-first, pres, perf, not, adv(oft)](AB)",
    "der Arzt hatte den Anwalt gesehen": "sehen[active, past, perf, pos, adv()](AB)",
    "der Anwalt wird von dem Arzt gesehen": "sehen[passive, pres, simple, pos, adv()](AB)",
    "der Anwalt wurde von dem Arzt nicht oft gesehen": "sehen[passive, past, simple, not, adv(oft)](AB)",
    "der Anwalt ist von dem Arzt gesehen worden": "sehen[passive, pres, perf, pos, adv()](AB)",
    "der Arzt hilft dem Anwalt nicht": "helfen[dative, pres, simple, not, adv()](AB)",
    "dem Anwalt half der Arzt": "helfen[dative, object-first, past, simple, pos, adv()](AB)",
    "der Arzt ist dem Anwalt gefolgt": "folgen[dative, pres, perf, pos, adv()](AB)",
    "der Arzt hat dem Anwalt geholfen": "helfen[dative, pres, perf, pos, adv()](AB)",
    "der Student sah den Studenten": (
        "sehen[active, past, simple, pos, adv()](agent: der Student[sg, bare], patient: der Student[sg, bare])"
    ),
    "die alten Frauen helfen den kleinen Kindern": (
        "helfen[dative, pres, simple, pos, adv()]"
        "(agent: der Frau[pl, bare, adj(alt)], patient: der Kind[pl, bare, adj(klein)])"
    ),
    "der Arzt , den die Frau sieht , schläft": (
        "schlafen[pres, simple, pos, adv()](agent: der Arzt[sg] rc(der) sehen[active, pres, simple, pos, adv()]"
        "(agent: der Frau[sg, bare], patient: _))"
    ),
    "die Kinder , denen der Arzt nicht half , schlafen": (
        "schlafen[pres, simple, pos, adv()](agent: der Kind[pl] rc(der) helfen[dative, past, simple, not, adv()]"
        "(agent: der Arzt[sg, bare], patient: _))"
    ),
    "der Arzt sieht die Frau , von der das Kind gesehen worden ist": (
        "sehen[active, pres, simple, pos, adv()](agent: der Arzt[sg, bare], patient: der Frau[sg] rc(der) "
        "sehen[passive, pres, perf, pos, adv()](agent: _, patient: der Kind[sg, bare]))"
    ),
    "der Arzt hat die Frau , die schläft , gesehen": (
        "sehen[active, pres, perf, pos, adv()](agent: der Arzt[sg, bare], patient: der Frau[sg] rc(der) "
        "schlafen[pres, simple, pos, adv()](agent: _))"
    ),
}
PAIR = "agent: der Arzt[sg, bare], patient: der Anwalt[sg, bare]"


@pytest.mark.parametrize("text", EXAMPLES)
def test_german_example_has_its_event(text: str) -> None:
    event = read_event(EXAMPLES[text].replace("AB", PAIR))
    sentence = realize(event, LEXICON)
    assert sentence.text == text
    assert sentence.event in parse(text, LEXICON)


def test_german_case_decides_or_both_parse() -> None:
    assert len(parse("den Anwalt sieht der Arzt", LEXICON)) == 1
    assert len(parse("die Frau sieht der Arzt", LEXICON)) == 1
    first, second = parse("die Frau sieht das Kind", LEXICON)
    assert (first.agent, first.patient) == (second.patient, second.agent)
    assert {event.fronting for event in (first, second)} == {None, Fronting.OBJECT}
    assert build_event(parse_once("die Frau sieht das Kind", LEXICON)).fronting is None
    assert len(parse("die Frau , die das Kind sieht , schläft", LEXICON)) == 2
    assert len(parse("die Frau , der das Kind hilft , schläft", LEXICON)) == 1


WRONG = [
    "der Arzt sieht der Anwalt",
    "der Arzt sieht dem Anwalt",
    "der Arzt hilft den Anwalt",
    "der Arzt sehen den Anwalt",
    "die Arzt schläft",
    "der Arzt hat dem Anwalt gefolgt",
    "der Arzt ist dem Anwalt geholfen",
    "der Arzt sieht den Student",
    "der Arzt nicht sieht den Anwalt",
    "der Arzt sieht nicht den Anwalt",
    "der Arzt , der sieht den Anwalt , schläft",
    "der Arzt , den den Anwalt sieht , schläft",
    "der Arzt der schläft sieht den Anwalt",
    "der Arzt , der schläft sieht den Anwalt",
    "der Arzt sieht den Anwalt , der schläft ,",
    "die Kinder , die der Arzt hilft , schlafen",
    "dem Anwalt wird von dem Arzt geholfen",
    "der Anwalt wird von den Arzt gesehen",
    "der Arzt hilft den Kinder",
    "der alten Arzt schläft",
]


@pytest.mark.parametrize("text", WRONG)
def test_ungrammatical_german_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match=r"^(token \d+: expected|the sentence ends)"):
        parse(text, LEXICON)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("sehen[prog]", "sehen: German has no aspect 'prog', only simple and perf"),
        ("sehen[n't]", 'sehen: German has no negator "n\'t", only not'),
        ("sehen[question]", "sehen: German has no mood 'question', only statement"),
        ("sehen(patient: himself)", "sehen: sentprobe's German has no reflexive"),
        ("helfen[passive]", "helfen: a dative event has no passive, but its voice is passive"),
    ],
)
def test_event_beyond_german_is_refused(event: str, message: str) -> None:
    from sentprobe.generator.bulk.generate import read_known_event

    with pytest.raises(UsageError) as info:
        read_known_event(event, LEXICON)
    assert str(info.value) == message


def test_contradictions_of_order() -> None:
    for fields in ({"voice": Voice.PASSIVE}, {"frame": Frame.INTRANSITIVE}):
        with pytest.raises(UsageError):
            Event(predicate="sehen", fronting=Fronting.OBJECT, **fields)


@given(st.integers(0, SPACE.count() - 1))
def test_german_sentence_has_its_event(index: int) -> None:
    event = SPACE[index]
    sentence = realize(event, LEXICON)
    assert SPACE.index(event) == index
    assert event in parse(sentence.text, LEXICON)
    assert build_event(parse_once(sentence.text, LEXICON)) == event
    assert all(realize(other, LEXICON, checked=True).text == sentence.text for other in parse(sentence.text, LEXICON))
    assert read_event(write_event(event)) == event == event_from_json(event_to_json(event))


@given(st.integers(0, SPACE.count() - 1))
@examples(15)
def test_plan_is_derivation_by_unification(index: int) -> None:
    assert realize(SPACE[index], LEXICON) == derive(SPACE[index], LEXICON)


@given(st.integers(0, AMBIGUOUS.count() - 1))
@examples(15)
def test_readings_equal_chart_parser(index: int) -> None:
    text = realize(AMBIGUOUS[index], LEXICON).text
    assert set(parse(text, LEXICON)) == set(chart_parse(text.split(), LEXICON))


@given(st.sampled_from(WRONG))
@examples(10)
def test_chart_parser_refuses_same_sentences(text: str) -> None:
    assert chart_parse(text.split(), LEXICON) == []


@given(st.integers(0, 2**32))
@examples(15)
def test_bulk_records_are_those_of_realize(seed: int) -> None:
    indices = SPACE.sample(20, seed=seed)
    renderer = DrawnTextRenderer(LEXICON)
    records = {
        name: [text for _, text in Renderer(SPACE, fmt.write, escape=fmt.escape).render_chunks(indices)]
        for name, fmt in RECORD_FORMATS.items()
    }
    sentences = []
    for number, (index, drawn) in enumerate(zip(indices.tolist(), SPACE.decode(indices), strict=True), 1):
        template = drawn.layout.pattern.name
        sentence = realize(drawn.event, LEXICON, id=f"s{number}")
        assert renderer.render(drawn) == sentence.text
        sentences.append(replace(sentence, template=template, index=index))
    for name, fmt in RECORD_FORMATS.items():
        assert "".join(records[name]) == "".join(map(fmt.write, sentences))
    assert to_json(sentences[0])["index"] == indices[0]


def test_space_has_each_unambiguous_event_once() -> None:
    small = Space(LEXICON, vocabulary="compeval", templates=["transitive"], choices=Choices(frontings=ORDERS))
    events = [*small.events(np.arange(small.count()))]
    assert len(set(events)) == small.count()
    texts = {realize(event, LEXICON).text for event in events}
    assert len(texts) == small.count()
    for event in events[:: max(1, len(events) // 200)]:
        readings = parse(realize(event, LEXICON).text, LEXICON)
        assert len(readings) == 1 or event.fronting is None


def test_german_packaged_shapes_are_derived() -> None:
    table = load_language_shapes(GERMAN)
    shapes = [*list_all_shapes(GERMAN)]
    assert {shape for shape, _ in table} >= {*shapes}
    for shape in shapes[:: len(shapes) // 12]:
        assert table.find_items(shape) == derive_shape(shape, GERMAN)


def test_lexicon_has_no_problem() -> None:
    assert find_problems(read_built_in_draft(GERMAN)) == ()
    assert len(LEXICON.words(Kind.NOUN)) >= 120


BAD_ENTRIES = {
    'Hund = { gender = "masc", genitive = "Hundes" }': "L003: state the inflected forms .*'Hund' lacks NN.pl.nom",
    'Hund = { plural = "Hunde", genitive = "Hundes" }': "L003: .*'Hund' lacks its gender",
    'Hund = { gender = "male", plural = "Hunde", genitive = "Hundes" }': "L011: .*'gender' of 'Hund', expected masc,",
    'hund = { gender = "masc", plural = "Hunde", genitive = "Hundes" }': "L008: .*'hund'",
    'Hund = { gender = "masc", plurl = "Hunde", genitive = "Hundes" }': "L005: .*'plurl', .*did you mean 'plural'",
    'Hund = { english = 3, gender = "masc", plural = "Hunde", genitive = "Hundes" }': "'english' of 'Hund', expected",
    'Hund = { english = "dog", gender = "masc", plural = "Hunde", genitive = "Hundes" }\n'
    'Wolf = { english = "dog", gender = "masc", plural = "Wölfe", genitive = "Wolfes" }': "'dog' of 'Wolf' already",
    'Hund = { gender = "masc", plural = "Hunde", genitive = "Hundes" }\n[dative]\nfolgen = { present = "folgt", '
    'past = "folgte", participle = "gefolgt", auxiliary = "werden" }': "'auxiliary' of 'folgen', expected haben, sein",
}


@pytest.mark.parametrize("entry", BAD_ENTRIES)
def test_wrong_german_entry_is_reported(entry: str) -> None:
    verb = '[intransitive]\nbellen = { present = "bellt", past = "bellte", participle = "gebellt" }'
    with pytest.raises(LexiconError, match=BAD_ENTRIES[entry]):
        read_lexicon_text(f"[noun]\n{entry}\n{verb}", "my.toml", language=GERMAN)
    right = 'Hund = { gender = "masc", plural = "Hunde", genitive = "Hundes" }'
    lexicon = read_lexicon_text(f"[noun]\n{right}\n{verb}", "my.toml", language=GERMAN)
    assert parse("die Hunde haben nicht gebellt", lexicon)[0].predicate == "bellen"


def test_sentence_adverb_after_negation_is_refused() -> None:
    assert parse("der Politiker rennt normalerweise", LEXICON)
    with pytest.raises(ParseError, match="the adverb 'normalerweise' does not follow a negation"):
        parse("der Politiker rennt nicht normalerweise", LEXICON)
