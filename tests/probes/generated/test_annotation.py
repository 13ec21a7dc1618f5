"""Columns of a sentence relative to its probe words, by hand and from its annotation."""

import pytest
from helpers.strategies.strategies import full_events
from helpers.thoroughness import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from sentprobe.generator.events.event import Event, Mood
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence import Sentence, Token
from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.lexicon import english
from sentprobe.probes.generated.assemble import EVENT_COLUMNS, NESTED, ProbedEvent, build_event_columns

LEXICON = english()


def parse_probed(sentence: str, *probes: str) -> ProbedEvent:
    (event,) = parse(sentence, LEXICON)
    return ProbedEvent(event, probes, language=LEXICON.language)


BY_HAND = [
    (
        "the lawyer was not helped by the doctors",
        ("doctor", "help"),
        ("passive", "main", "2", "0", "past", "simple", "negative", "transitive"),
        (4, 7),
    ),
    (
        "the doctors that the lawyer is helping slept",
        ("doctor", "sleep"),
        ("active", "main", "5", "1", "past", "simple", "positive",
         "intransitive-rc.agent.transitive.orc"),
        (1, 7),
    ),
    (
        "the doctors that the lawyer is helping slept",
        ("lawyer", "help"),
        ("active", "object relative", "1", "0", "present", "progressive", "positive",
         "intransitive-rc.agent.transitive.orc"),
        (4, 6),
    ),
    (
        "the doctors called the man that sleeps",
        ("sleep",),
        ("active", "subject relative", "1", "0", "present", "simple", "positive",
         "transitive-rc.patient.intransitive.src"),
        (6,),
    ),
    (
        "the doctors called the man that sleeps",
        ("woman", "dance"),
        ("active", "main", "0", "0", "past", "simple", "positive",
         "transitive-rc.patient.intransitive.src"),
        (),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "probes", "expected", "marks"), BY_HAND)
def test_by_hand(sentence: str, probes: tuple[str, ...], expected: tuple[str, ...], marks: tuple[int, ...]) -> None:
    probed = parse_probed(sentence, *probes)
    assert build_event_columns(probed) == dict(zip(EVENT_COLUMNS, expected, strict=True))
    assert probed.probe_positions == marks


def test_a_clause_in_a_clause_is_of_no_template() -> None:
    assert parse_probed("the man that the doctor that slept helped danced", "help").template == NESTED


def find_lemmas(sentence: Sentence, kind: str) -> dict[str, int]:
    return {token.lemma: at for at, token in enumerate(sentence.tokens) if token.upos == kind}


def get_number(token: Token) -> str:
    return token.feats.partition("Number=")[2].partition("|")[0]


@examples(100)
@given(full_events(LEXICON, moods=(Mood.STATEMENT,)), st.data())
def test_the_sentence_s_own_annotation_says_the_same(event: Event, choice: st.DataObject) -> None:
    sentence = realize(event, LEXICON)
    words = [token.lemma for token in sentence.tokens if token.upos in ("NOUN", "VERB")]
    assume(len({*words}) == len(words))
    nouns, verbs = find_lemmas(sentence, "NOUN"), find_lemmas(sentence, "VERB")
    noun, verb = choice.draw(st.sampled_from([*nouns])), choice.draw(st.sampled_from([*verbs]))
    probed = ProbedEvent(sentence.event, (noun, verb), language=LEXICON.language)
    columns = build_event_columns(probed)
    ends = sorted((nouns[noun], verbs[verb]))
    assert probed.probe_positions == tuple(ends)
    assert int(columns["distance"]) == ends[1] - ends[0] - 1
    between = sentence.tokens[ends[0] + 1 : ends[1]]
    nouns_between = [t for t in between if t.upos == "NOUN"]
    noun_number = get_number(sentence.tokens[nouns[noun]])
    assert int(columns["attractors"]) == sum(get_number(token) != noun_number for token in nouns_between)
    below = [t.deprel for t in sentence.tokens if t.head == verbs[verb] + 1]
    assert (columns["voice"] == "passive") == ("aux:pass" in below)
    root = sentence.tokens[verbs[verb]].deprel == "root"
    assert (columns["clause"] == "main") == root
    negated = {negation.verb for negation in sentence.negations}
    assert (columns["polarity"] == "negative") == (verbs[verb] + 1 in negated)
    assert columns["template"] in list_template_names(deep=True)
    assert read_event(probed.notation) == sentence.event


@examples(100)
@given(full_events(LEXICON, moods=(Mood.STATEMENT,)))
def test_without_probe_words_the_main_clause_and_its_subject_are_asked_about(event: Event) -> None:
    sentence = realize(event, LEXICON)
    probed = ProbedEvent(sentence.event, language=LEXICON.language)
    main = sentence.predicates[0]
    subject = main.patient if sentence.event.voice == "passive" else main.agent
    assert subject is not None
    assert probed.probe_positions == ()
    assert len(probed.between) == abs(subject - main.verb) - 1
