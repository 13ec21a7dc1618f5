"""The sample of the objects in a user's texts: bounded, and each phrase replaced by one of its form."""

import pytest
from helpers.edit_parses import read_parses
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.edits import own_objects
from sentprobe.generator.edits.own_objects import ObjectPhrase, ObjectSample, build_phrase, find_verb

PHRASES = st.builds(
    ObjectPhrase,
    st.text("abc", min_size=1),
    st.frozensets(st.sampled_from(["email", "address", "order", "account"]), min_size=1),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "to", "for"]),
)
VERBS = st.sampled_from(["change", "cancel", "it change"])


@given(st.lists(st.tuples(VERBS, PHRASES)), VERBS, PHRASES)
def test_a_phrase_is_replaced_by_one_of_its_verb_and_form(
    added: list[tuple[str, ObjectPhrase]], verb: str, phrase: ObjectPhrase
) -> None:
    sample = ObjectSample()
    for other_verb, other in added:
        sample.add(other_verb, other)
    new = sample.choose(verb, phrase)
    if new is not None:
        assert (verb, new) in added
        assert not new.words & phrase.words
        assert new.is_definite == phrase.is_definite
        assert phrase.follower in ("", new.follower)


def test_sample_does_not_grow_with_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verbs that came first, and the oldest objects of a verb, are forgotten."""
    monkeypatch.setattr(own_objects, "VERBS", 3)
    sample = ObjectSample()
    asked = ObjectPhrase("the x", frozenset("x"), is_definite=True, is_plural=False, follower="")
    for number in range(100):
        for verb in ("open", f"verb{number}"):
            sample.add(verb, asked._replace(text=f"the {number}", words=frozenset([str(number)])))
    known = [verb for verb in ("open", *(f"verb{number}" for number in range(100))) if sample.choose(verb, asked)]
    assert len(known) == 3
    assert "verb99" in known
    for number in range(100):
        sample.add("verb99", asked._replace(text=f"the {number}", words=frozenset([str(number)])))
    chosen = {sample.choose("verb99", asked._replace(text=letter)) for letter in map(chr, range(32, 127))}
    assert {phrase.text for phrase in chosen if phrase} == {f"the {100 - n}" for n in range(1, own_objects.PHRASES + 1)}


def test_phrase_of_a_parse() -> None:
    text = read_parses("en")["Can I reset my router?"]
    token = text.tokens[4]
    expected = ObjectPhrase("my router", frozenset(["router"]), is_definite=True, is_plural=False, follower="")
    assert build_phrase(text, token) == expected
    assert find_verb(text, token) == "reset"
