"""The JSON form: exact round trips, every mistake with its path, and lemmas held to a lexicon."""

import json
from typing import Any

import pytest
from helpers.strategies.strategies import full_events, partial_events, words
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.checks import check_lemmas, find_open_fields, infer_frames
from sentprobe.generator.events.event import MAX_DEPTH, Event, Frame
from sentprobe.generator.events.event_json import event_from_json, event_to_json
from sentprobe.generator.events.notation import read_event
from sentprobe.lexicon import english, read_lexicon_text


@given(partial_events(words(), gap=True))
def test_partial_events_come_back(event: Event) -> None:
    assert event_from_json(json.loads(json.dumps(event_to_json(event)))) == event


@given(full_events(english()))
def test_full_events_come_back_checked(event: Event) -> None:
    form = event_to_json(event)
    assert event_from_json(form) == event
    assert event_to_json(event_from_json(form)) == form
    check_lemmas(event, english())
    assert infer_frames(event, english()) == event


def test_json_keys_have_their_order() -> None:
    text = "help[past, not, adv(really)](agent: the man[sg, bare], patient: man who sleep(agent: _))"
    assert json.dumps(event_to_json(read_event(text))) == (
        '{"predicate": "help", "frame": "transitive", "tense": "past", "polarity": "neg", '
        '"negator": "not", "adverbs": ["really"], "agent": {"noun": "man", "number": "sg", '
        '"determiner": "the", "clause": null}, "patient": {"noun": "man", "clause": '
        '{"relativizer": "who", "event": {"predicate": "sleep", "agent": "_"}}}}'
    )


def test_json_of_questions_and_modals() -> None:
    text = "give[modal(must), to](agent: who?, patient: a book[adj(old)] and the pen, recipient: the man)"
    assert json.dumps(event_to_json(read_event(text))) == (
        '{"predicate": "give", "frame": "ditransitive", "agent": "who?", "patient": {"noun": "book", '
        '"determiner": "a", "adjectives": ["old"], "conjunct": {"noun": "pen", "determiner": "the", "clause": null}, '
        '"clause": null}, "recipient": {"noun": "man", "determiner": "the"}, "dative": "to", "modal": "must", '
        '"mood": "question"}'
    )


CLAUSE = {"event": {"predicate": "y", "voice": "active", "agent": "_"}}
MISTAKES: list[tuple[object, str]] = [
    ([], "$: expected an object, found a list"),
    (None, "$: expected an object, found null"),
    ({"tence": "past"}, "$.tence: unknown key 'tence' (did you mean 'tense'?)"),
    (
        {"xyz": {}},
        "$.xyz: unknown key 'xyz', expected one of predicate, frame, voice, tense, aspect, "
        "polarity, negator, adverbs, agent, patient, recipient, dative, modal, adjunct, mood, fronting",
    ),
    ({"tense": "passt"}, "$.tense: unknown value 'passt' (did you mean 'past'?)"),
    ({"tense": "pats"}, "$.tense: unknown value 'pats' (did you mean 'past'?)"),
    ({"tense": "future"}, "$.tense: unknown value 'future', expected one of past, pres"),
    ({"tense": None}, "$.tense: expected a string, found null"),
    ({"predicate": 3}, "$.predicate: expected a string, found the number 3"),
    ({"predicate": True}, "$.predicate: expected a string, found true"),
    ({"adverbs": "really"}, "$.adverbs: expected a list, found the string 'really'"),
    ({"adverbs": ["really", {}]}, "$.adverbs[1]: expected a string, found an object"),
    (
        {"agent": "man"},
        "$.agent: expected an object or one of '_', 'who?', 'what?', 'himself', 'herself', 'themselves', found 'man'",
    ),
    ({"agent": {"nuon": "man"}}, "$.agent.nuon: unknown key 'nuon' (did you mean 'noun'?)"),
    ({"agent": {"number": "dual"}}, "$.agent.number: unknown value 'dual', expected one of sg, pl"),
    ({"agent": {"clause": {}}}, "$.agent.clause: the key 'event' is missing"),
    ({"agent": {"clause": "x"}}, "$.agent.clause: expected an object, found the string 'x'"),
    (
        {"agent": {"clause": {"event": {"predicat": "x"}}}},
        "$.agent.clause.event.predicat: unknown key 'predicat' (did you mean 'predicate'?)",
    ),
    (
        {"predicate": "x", "agent": {"clause": CLAUSE | {"kind": "orc"}}},
        "$.agent.clause: y: with the agent as the gap, an active clause is src, not orc",
    ),
    (
        {"predicate": "x", "polarity": "pos", "negator": "not"},
        "$: x: a positive event has no negator, but its polarity is pos",
    ),
]


@pytest.mark.parametrize(("value", "message"), MISTAKES)
def test_mistakes_have_their_paths(value: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        event_from_json(value)
    assert str(caught.value) == message


def test_mistake_names_its_file() -> None:
    with pytest.raises(UsageError, match=r"^events\.jsonl:3: \$: expected an object"):
        event_from_json(3, where="events.jsonl:3")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["_", "past", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["predicate", "tense", "agent", "patient", "clause", "event", "noun"]), inner)
    ),
)


@given(JSON)
def test_any_json_is_event_or_usage_error(value: object) -> None:
    try:
        event = event_from_json(value)
    except UsageError:
        return
    assert event_from_json(event_to_json(event)) == event


def test_clause_depth_is_limited() -> None:
    form: dict[str, Any] = {}
    for _ in range(MAX_DEPTH + 1):
        form = {"agent": {"clause": {"event": form}}}
    with pytest.raises(UsageError, match="nest deeper than 40"):
        event_from_json(form)


LEMMAS = [
    ("halp", "unknown verb 'halp' (did you mean 'help'?)"),
    ("slep[intransitive]", "unknown intransitive verb 'slep' (did you mean 'sleep'?)"),
    ("man", "unknown verb 'man' (the lexicon has it as noun)"),
    ("*(agent: lwayer)", "unknown noun 'lwayer' (did you mean 'lawyer'?)"),
    ("help[adv(realy)]", "unknown adverb 'realy' (did you mean 'really'?)"),
    ("help(agent: teh man)", "unknown determiner 'teh' (did you mean 'the'?)"),
    ("help(agent: a man[pl])", "the determiner 'a' does not go with a plural noun"),
    ("help(agent: man rc(whom) *)", "unknown relativizer 'whom' (did you mean 'who'?)"),
    ("help(agent: man rc halp)", "unknown verb 'halp' (did you mean 'help'?)"),
    ("sleep[passive]", "'sleep' is intransitive: it has no passive"),
    ("sleep(patient: man)", "'sleep' is intransitive: it has no patient"),
    ("sleep[transitive]", "'sleep' is intransitive: it is not transitive"),
    ("help[double]", "'help' is transitive: it has no recipient"),
    ("sleep(recipient: man)", "'sleep' is intransitive: it has no recipient"),
    ("help[intransitive]", "'help' is transitive: it needs a patient, and the event is intransitive"),
    ("help(agent: man that[orc] sleep)", "'sleep' is intransitive: it has no object relative"),
    ("help(agent: man rc[orc] *[intransitive])", "the clause is intransitive: it has no object relative"),
    ("help(agent: man that[orc] sleep(agent: _))", "'sleep' is intransitive: it has no object relative"),
    ("help(agent: man that sleep(patient: _))", "'sleep' is intransitive: it has no patient"),
]


@pytest.mark.parametrize(("text", "message"), LEMMAS)
def test_unfit_lemmas_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_lemmas(read_event(text), english())
    assert message in str(caught.value)


def test_verb_of_both_kinds_has_open_frame() -> None:
    both = read_lexicon_text(
        "[noun]\nman = {}\n[transitive]\nrun = {}\nhelp = {}\n[intransitive]\nrun = {}\n", "both.toml"
    )
    event = read_event("run(agent: man that run)")
    check_lemmas(event, both)
    assert infer_frames(event, both) == event
    assert infer_frames(read_event("help"), both).frame is Frame.TRANSITIVE
    for text in ("run[passive]", "run[intransitive]", "run(patient: man)"):
        check_lemmas(read_event(text), both)


def test_frames_are_inferred_inside_clauses() -> None:
    event = infer_frames(read_event("help(patient: man that sleep(agent: _))"), english())
    expected = "help(patient: man that sleep[intransitive](agent: _))"
    assert event == read_event(expected)
    assert "patient.clause.frame" not in list(find_open_fields(event))
