"""Sentences with a recipient: both forms, both voices, relative clauses, and readings of their objects."""

import io
from dataclasses import replace

import pytest
from helpers.oracles.slow_path import ATTACHMENT_RULES, chart_parse, chart_readings, derive
from helpers.strategies.strategies import full_events
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.bulk.generate import read_file, write_annotated, write_file, write_sentences
from sentprobe.generator.bulk.parquet import read_parquet
from sentprobe.generator.events.event import Asked, Event, Frame, Mood, Role, iterate_clauses
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import annotate_text, from_json, to_json, write_conllu
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english, read_lexicon_text

TEMPLATES = ("ditransitive", "ditransitive-rc", "intransitive-rc-ditransitive", "transitive-rc-ditransitive")
LEXICON = read_lexicon_text(
    """
    [noun]
    man = {}
    artist = {}
    doctor = {}
    pen = {}
    [transitive]
    sell = {}
    show = {}
    sing = {}
    help = {}
    [intransitive]
    sing = {}
    sleep = {}
    [ditransitive]
    sell = {}
    lend = {}
    show = {}
    [adverb]
    really = {}
    often = {}
    [vocabulary.gifts]
    noun = "*"
    transitive = "*"
    intransitive = "*"
    ditransitive = "*"
    adverb = "*"
    """,
    "gifts.toml",
)
FIRST = "agent: the man[sg, bare], patient: the pen[sg, bare], recipient: the doctor[sg, bare]"
gift_events = st.one_of(
    full_events(LEXICON, vocabulary="gifts", frame=Frame.DITRANSITIVE), full_events(LEXICON, vocabulary="gifts")
)


# ------------------------------------------------------------------ properties


@given(gift_events)
@examples(25)
def test_fast_path_equals_derivation(event: Event) -> None:
    assert realize(event, LEXICON) == derive(event, LEXICON)


@given(gift_events)
@examples(12)
def test_readings_equal_chart_parser(event: Event) -> None:
    text = realize(event, LEXICON).text
    readings = parse(text, LEXICON)
    assert event in readings
    assert {*readings} == {*chart_readings(text.split(), LEXICON)}


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize(("lexicon", "vocabulary"), [(LEXICON, "gifts"), (english(), "everyday")], ids=["own", "ours"])
def test_drawn_sentences_have_one_reading(template: str, lexicon, vocabulary: str) -> None:  # type: ignore[no-untyped-def]
    choices = Choices(adverbs=(0, 1), moods=tuple(Mood), asked=(None, *Role))
    space = Space(lexicon, vocabulary=vocabulary, templates=[template], choices=choices)
    events = [*space.events(space.sample(100, seed=1))]
    for event in events:
        assert parse(realize(event, lexicon).text, lexicon) == (event,)
    for event in events[:5]:
        tokens = realize(event, lexicon).text.split()
        assert chart_parse(tokens, lexicon, ATTACHMENT_RULES) == [event]


@pytest.mark.parametrize(
    "asked",
    [None, Role.PATIENT, *(pytest.param(r, marks=pytest.mark.slow) for r in (Role.AGENT, Role.RECIPIENT))],
    ids=str,
)
@pytest.mark.parametrize("template", ["ditransitive-rc", "transitive-rc-ditransitive", "transitive-rc"])
def test_ambiguous_sentences_alone_are_left_out(template: str, asked: Role | None) -> None:
    plain = read_event("*[past, simple, pos]")
    if asked is Role.RECIPIENT and template != "ditransitive-rc":
        return
    full, clear = (
        Space(
            LEXICON,
            vocabulary="gifts",
            templates=[template],
            choices=Choices(
                main=plain,
                clause=plain,
                moods=(Mood.STATEMENT if asked is None else Mood.QUESTION,),
                asked=(asked,),
                ambiguous=ambiguous,
            ),
        )
        for ambiguous in (True, False)
    )
    events = [*full.events(full.sample(1500, seed=2))]
    ambiguous = [event for event in events if len(parse(realize(event, LEXICON).text, LEXICON)) > 1]
    assert ambiguous or asked is Role.PATIENT
    assert [event for event in events if clear.find(event) is None] == ambiguous


@pytest.mark.parametrize("template", TEMPLATES)
def test_bulk_records_equal_single_ones(template: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    space = Space(english(), vocabulary="everyday", templates=[template], choices=Choices(adverbs=(0, 1)))
    indices = space.sample(200, seed=3)
    names = [drawn.layout.pattern.name for drawn in space.decode(indices)]
    sentences = [
        replace(realize(event, english(), id=f"s{number}"), template=name, index=int(index))
        for number, (event, name, index) in enumerate(zip(space.events(indices), names, indices, strict=True), 1)
    ]
    assert [space.find(sentence.event) for sentence in sentences] == indices.tolist()
    out = io.StringIO()
    write_sentences(space, indices, out, "conllu")
    assert out.getvalue() == "".join(map(write_conllu, sentences))
    for name in ("gifts.jsonl", "gifts.conllu", "gifts.parquet"):
        write_file(space, indices, tmp_path / name)
        assert [*read_file(tmp_path / name, english())] == sentences
    write_annotated(sentences, tmp_path / "parsed.parquet")
    assert [*read_parquet(tmp_path / "parsed.parquet")] == sentences


# ------------------------------------------------------------------ examples

FORMS = [
    ("the man gave the doctor the pen", "give[active, double]", "nsubj iobj obj"),
    ("the man gave the pen to the doctor", "give[active, to]", "nsubj obj obl"),
    ("the doctor was given the pen by the man", "give[passive, double]", "nsubj:pass obj obl:agent"),
    ("the pen was given to the doctor by the man", "give[passive, to]", "nsubj:pass obl obl:agent"),
]


@pytest.mark.parametrize(("text", "form", "relations"), FORMS)
def test_four_forms_have_their_relations(text: str, form: str, relations: str) -> None:
    event = read_event(form.replace("]", f", past, simple, pos, adv()]({FIRST})"))
    assert realize(event, english()).text == text
    assert parse(text, english()) == (event,)
    sentence = annotate_text(text, english())
    assert " ".join(t.deprel for t in sentence.tokens if t.upos == "NOUN") == relations
    (predicate,) = sentence.predicates
    numbers = (predicate.agent, predicate.patient, predicate.recipient)
    assert [sentence.tokens[number - 1].lemma for number in numbers if number] == ["man", "pen", "doctor"]


RELATIVES = {
    "the man that gave the doctor the pen slept": "agent man",
    "the man that gave the pen to the doctor slept": "agent man",
    "the pen that the man gave the doctor fell": "patient pen",
    "the pen that the man gave to the doctor fell": "patient pen",
    "the pen that was given to the doctor by the man fell": "patient pen",
    "the doctor that the man gave the pen to slept": "recipient doctor",
    "the doctor that was given the pen by the man slept": "recipient doctor",
}


def find_gap(sentence: Sentence) -> str:
    inner = sentence.predicates[1]
    gap = [*iterate_clauses(sentence.event)][1][0].gap
    assert gap is not None
    return f"{gap.value} {sentence.tokens[getattr(inner, gap.value) - 1].lemma}"


@pytest.mark.parametrize("text", RELATIVES)
def test_relative_clauses(text: str) -> None:
    sentence = annotate_text(text, english())
    assert find_gap(sentence) == RELATIVES[text]
    assert from_json(to_json(sentence)) == sentence


AMBIGUOUS = [
    "who did the man lend the doctor that the artist lent the pen to",
    "the man lent the doctor that the artist lent the pen to the pen",
    "the man sold the doctor that sold the artist the pen",
    "the man sold the pen that the artist sold to the doctor",
    "the man sold the doctor that sang the pen",
]


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_every_reading_of_objects_is_parsed(text: str) -> None:
    readings = parse(text, LEXICON)
    assert len(readings) == 2
    assert {*readings} == {*chart_parse(text.split(), LEXICON)}


QUESTIONS = {
    "did the man give the doctor the pen": "",
    "was the pen given to the doctor by the man": "",
    "who gave the pen to the doctor": "agent",
    "what did the man give the doctor": "patient",
    "what was given to the doctor by the man": "patient",
    "who did the man give the pen to": "recipient",
    "who was given the pen by the man": "recipient",
}


@pytest.mark.parametrize("text", QUESTIONS)
def test_questions(text: str) -> None:
    (event,) = parse(text, english())
    assert event.mood is Mood.QUESTION
    assert (event.asked or "") == QUESTIONS[text]
    assert realize(event, english()) == derive(event, english())


@pytest.mark.parametrize("text", ["give the doctor the pen", "do not give the pen to the doctor"])
def test_orders(text: str) -> None:
    (event,) = parse(text, english())
    assert event.mood is Mood.ORDER
    assert realize(event, english()).text == text


@pytest.mark.parametrize(
    ("features", "role"), [("active, double", "recipient"), ("passive, to", "recipient"), ("passive, double", "agent")]
)
def test_question_beyond_grammar_is_refused(features: str, role: str) -> None:
    event = read_event(f"give[{features}, past, simple, pos, adv()]({FIRST})")
    with pytest.raises(UsageError, match=f"^give: the {role} of a.* clause with a recipient cannot be left out$"):
        realize(event.with_argument(Role(role), Asked.WHO), english())


def test_record_without_recipient_has_no_field() -> None:
    record = to_json(annotate_text("the man helped the doctor", english()))
    assert record["predicates"] == [{"verb": 3, "agent": 2, "patient": 5}]
