"""Adverbs that two verbs can take: such sentences are not drawn, and the parser returns every reading."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.gen_command import Gen
from helpers.oracles.slow_path import ATTACHMENT_RULES, CONJUNCT_RULES, chart_parse, chart_readings, derive
from helpers.strategies.space_strategies import spaces
from helpers.strategies.strategies import full_events
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import FormatError, SentprobeError
from sentprobe.generator.bulk.generate import read_file
from sentprobe.generator.events.checks import infer_frames, select_licensed
from sentprobe.generator.events.event import Event, Tense, iterate_clauses
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.pairs.retrieval_files import MAX_DISTRACTORS, render_distractors
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.generator.sentences.parse import ParseError, parse, parse_once
from sentprobe.generator.sentences.realize import MAX_READINGS, realize, realize_readings
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english

LEXICON = english()
PLUMBERS = "the plumbers that undermined the gardeners swiftly shudder"
SHUDDER = "shudder[intransitive, pres, simple, pos, adv({})](agent: the plumber[pl] that {})"
UNDERMINE = "undermine[active, past, simple, pos, adv({})](agent: _, patient: the gardener[pl, bare])"
PLUMBER_EVENTS = [
    SHUDDER.format(first, UNDERMINE.format(second)) for first, second in (("swiftly", ""), ("", "swiftly"))
]


def list_attached_adverbs(sentence: Sentence) -> str:
    """Return the verbs of a sentence with their adverbs, by its dependencies."""
    verbs = [predicate.verb for predicate in sentence.predicates]
    adverbs = [[t.lemma for t in sentence.tokens if t.head == verb and t.upos == "ADV"] for verb in verbs]
    return ", ".join(
        " ".join([sentence.tokens[verb - 1].lemma, *lemmas]) for verb, lemmas in zip(verbs, adverbs, strict=True)
    )


def list_adverbs(event: Event) -> str:
    """Return the verbs of a sentence with their adverbs, in the order of the event's clauses."""
    return ", ".join(" ".join([str(c.predicate), *(c.adverbs or ())]) for c, _ in iterate_clauses(event))


# ------------------------------------------------------------------ properties


@given(spaces(), st.integers(0, 2**32))
@examples(12)
def test_drawn_sentence_has_one_chart_reading(space: Space, seed: int) -> None:
    for event in space.events(space.sample(min(2, space.count()), seed=seed)):
        sentence = realize(event, space.lexicon)
        assert sentence == derive(event, space.lexicon)
        assert chart_parse(sentence.text.split(), space.lexicon, ATTACHMENT_RULES + CONJUNCT_RULES) == [event]


@given(spaces(), st.integers(0, 2**32))
@examples(60)
def test_drawn_sentence_has_one_reading(space: Space, seed: int) -> None:
    for event in space.events(space.sample(min(20, space.count()), seed=seed)):
        assert parse(realize(event, space.lexicon).text, space.lexicon) == (event,)


@given(full_events(LEXICON))
@examples(20)
def test_readings_equal_chart_parser(event: Event) -> None:
    text = realize(event, LEXICON).text
    readings = parse(text, LEXICON)
    assert readings[0] == event
    assert set(readings) == set(chart_readings(text.split(), LEXICON))


@given(full_events(LEXICON))
@examples(60)
def test_readings_have_records_of_same_words(event: Event) -> None:
    sentence, *others = realize_readings(event, LEXICON)
    events = [s.event for s in (sentence, *others)]
    assert select_licensed(events, LEXICON) == [*parse(sentence.text, LEXICON)]
    for other in others:
        changes = [(a, b) for a, b in zip(sentence.tokens, other.tokens, strict=True) if a != b]
        assert other.text == sentence.text
        assert changes
        assert all(a.form == b.form and a.deprel in ("advmod", "punct") for a, b in changes)
        assert len({sentence.tree, other.tree}) == 2
        assert other.tree.count("(") == other.tree.count(")") == sentence.tree.count("(")


@pytest.mark.parametrize("vocabulary", ["compeval", "english"])
@pytest.mark.parametrize("template", ["all", "transitive-rc-both"])
def test_sentences_of_triplets_have_one_reading(template: str, vocabulary: str) -> None:
    triplets = TripletSpace(LEXICON, "adverb", vocabulary=vocabulary, templates=[template]).sample(300, seed=1)
    columns = [*map(triplets.render_texts, SIDES), *render_distractors(triplets, MAX_DISTRACTORS)]
    assert [text for texts in columns for text in texts if len(parse(text, LEXICON)) != 1] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "template", ["intransitive-rc", "transitive-rc", "intransitive-rc-ditransitive", "transitive-rc-ditransitive"]
)
def test_clause_final_coordination_is_not_drawn(template: str) -> None:
    choices = Choices(main=Event(tense=Tense.PAST), coordinations=(1,))
    clear, full = (
        Space(LEXICON, vocabulary="everyday", templates=[template], choices=replace(choices, ambiguous=ambiguous))
        for ambiguous in (False, True)
    )
    for space, expected in ((clear, {1}), (full, {1, 2})):
        texts = [realize(event, LEXICON).text for event in space.events(space.sample(24, seed=0))]
        assert {len(chart_parse(text.split(), LEXICON, CONJUNCT_RULES)) for text in texts} == expected


def test_ambiguous_sentences_are_drawn_on_request() -> None:
    choices = Choices(main=Event(tense=Tense.PAST), adverbs=(1,))
    clear, full = (
        Space(
            LEXICON, vocabulary="compeval", templates=["intransitive-rc"], choices=replace(choices, ambiguous=ambiguous)
        )
        for ambiguous in (False, True)
    )
    numbers = [len(parse(realize(event, LEXICON).text, LEXICON)) for event in full.events(full.sample(400, seed=0))]
    assert {*numbers} == {1, 2}
    assert clear.count() * 4 == full.count() * 3  # without the positive simple main clauses


# ------------------------------------------------------------------ examples

READINGS = {
    "the man that slept quietly danced": ["dance quietly, sleep", "dance, sleep quietly"],
    "the man that slept quietly , really danced": ["dance quietly really, sleep", "dance, sleep quietly really"],
    "the man that quietly slept really danced": ["dance really, sleep quietly", "dance, sleep quietly really"],
    "the man that the doctor called quietly danced": ["dance quietly, call", "dance, call quietly"],
    "the man that the doctor was called by quietly danced": ["dance quietly, call", "dance, call quietly"],
    "the man that was called by the doctor quietly danced": ["dance quietly, call", "dance, call quietly"],
    "the man that helped the doctor that slept quietly danced": [
        "dance quietly, help, sleep",
        "dance, help quietly, sleep",
        "dance, help, sleep quietly",
    ],
    "the man that the doctor that slept quietly called really danced": [
        "dance really, call quietly, sleep",
        "dance really, call, sleep quietly",
        "dance, call quietly really, sleep",
        "dance, call really, sleep quietly",
    ],
    "the man that slept was quietly dancing": ["dance quietly, sleep"],
    "the man that slept did not quietly dance": ["dance quietly, sleep"],
    "the man that slept was quietly helped by the doctor": ["help quietly, sleep"],
    "the man that quietly slept danced": ["dance, sleep quietly"],
    "the man quietly helped the doctor that slept": ["help quietly, sleep"],
}


@pytest.mark.parametrize("text", READINGS)
def test_readings_of_sentence(text: str) -> None:
    events = parse(text, LEXICON)
    assert [*map(list_adverbs, events)] == READINGS[text]
    assert set(events) == set(chart_readings(text.split(), LEXICON))
    sentences = realize_readings(events[0], LEXICON)
    assert [s.text for s in sentences] == [text] * len(events)
    assert [*map(list_attached_adverbs, sentences)] == READINGS[text]


def test_both_events_and_trees_of_plumbers() -> None:
    first, second = realize_readings(parse(PLUMBERS, LEXICON)[0], LEXICON)
    assert [first.event, second.event] == [infer_frames(read_event(text), LEXICON) for text in PLUMBER_EVENTS]
    clause = "(SBAR (WHNP (WDT that)) (S (VP (VBD undermined) (NP (DT the) (NNS gardeners)){}))){}"
    phrase = "(S (NP (NP (DT the) (NNS plumbers)) {}) {}(VP (VBP shudder)))"
    adverb = "(ADVP (RB swiftly))"
    assert first.tree == phrase.format(clause.format("", ""), f"{adverb} ")
    assert second.tree == phrase.format(clause.format(f" {adverb}", ""), "")


# ------------------------------------------------------------------ files and commands


@pytest.mark.parametrize("fmt", ["jsonl", "conllu", "trees", "parquet"])
def test_file_has_record_for_each_reading(gen: Gen, tmp_path: Path, fmt: str) -> None:
    path = tmp_path / f"parsed.{fmt}"
    done = gen("parse", "the man sleeps", PLUMBERS, "the men dance", "-o", str(path))
    assert done.code == 0
    assert "gen: 1 ambiguous sentence: each reading is a record" in done.err
    sentences = [*read_file(path, LEXICON, fmt)]
    assert [s.text for s in sentences] == ["the man sleeps", PLUMBERS, PLUMBERS, "the men dance"]
    assert [s.event for s in sentences[1:3]] == [*parse(PLUMBERS, LEXICON)]
    assert sentences[1:3] == [
        replace(s, id=sentences[i].id) for i, s in enumerate(realize_readings(sentences[1].event, LEXICON), 1)
    ]
    if fmt != "trees":  # a tree has no name
        assert [s.id for s in sentences] == ["s1", "s2.1", "s2.2", "s3"]


def test_text_holds_sentence_once(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "parsed.txt"
    gen("parse", PLUMBERS, "-o", str(path))
    assert path.read_text("utf-8") == f"{PLUMBERS}\n"
    with pytest.raises(FormatError, match="line 1: the sentence has 2 readings, not one"):
        [*read_file(path, LEXICON, "text")]
    with pytest.raises(SentprobeError, match="the sentence has 2 readings, not one"):
        parse_once(PLUMBERS, LEXICON)


def test_too_many_readings_are_refused() -> None:
    text = "the man that slept"
    for _ in range(MAX_READINGS.bit_length() - 1):
        text = f"the doctor that {text} quietly called"
    assert len(parse(f"{text} danced", LEXICON)) == MAX_READINGS
    with pytest.raises(ParseError, match="the sentence has more than 64 readings"):
        parse(f"{text} quietly danced", LEXICON)
