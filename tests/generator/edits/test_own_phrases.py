"""The sample of the objects and names in a user's texts: bounded, and each phrase replaced by one of its form."""

from dataclasses import replace

import pytest
from helpers.edit_parses import FOLDER, read_parses
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.edits import own_phrases
from sentprobe.generator.edits.edit_table import load_table
from sentprobe.generator.edits.own_phrases import OwnPhrase, PhraseSample, build_phrase, find_verb
from sentprobe.probes.corpus.text_edits import EditCounts, choose_edit_rules, make_edits
from sentprobe.probes.corpus.user_texts import UserText, read_user_texts

PHRASES = st.builds(
    OwnPhrase,
    st.text("abc", min_size=1),
    st.frozensets(st.sampled_from(["email", "address", "order", "account"]), min_size=1),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "to", "for"]),
)
VERBS = st.sampled_from(["change", "cancel", "it change"])


@given(st.lists(st.tuples(VERBS, PHRASES)), VERBS, PHRASES)
def test_a_phrase_is_replaced_by_one_of_its_verb_and_form(
    added: list[tuple[str, OwnPhrase]], verb: str, phrase: OwnPhrase
) -> None:
    sample = PhraseSample()
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
    monkeypatch.setattr(own_phrases, "VERBS", 3)
    sample = PhraseSample()
    asked = OwnPhrase("the x", frozenset("x"), is_definite=True, is_plural=False, follower="")
    for number in range(100):
        for verb in ("open", f"verb{number}"):
            sample.add(verb, asked._replace(text=f"the {number}", words=frozenset([str(number)])))
    known = [verb for verb in ("open", *(f"verb{number}" for number in range(100))) if sample.choose(verb, asked)]
    assert len(known) == 3
    assert "verb99" in known
    for number in range(100):
        sample.add("verb99", asked._replace(text=f"the {number}", words=frozenset([str(number)])))
    chosen = {sample.choose("verb99", asked._replace(text=letter)) for letter in map(chr, range(32, 127))}
    assert {phrase.text for phrase in chosen if phrase} == {f"the {100 - n}" for n in range(1, own_phrases.PHRASES + 1)}


def test_phrase_of_a_parse() -> None:
    text = read_parses("en")["Can I reset my router?"]
    token = text.tokens[4]
    expected = OwnPhrase("my router", frozenset(["router"]), is_definite=True, is_plural=False, follower="")
    assert build_phrase(text, token) == expected
    assert find_verb(text, token) == "reset"


@given(st.lists(st.sampled_from(["Spain", "France", "Germany", "Boston"]), max_size=4))
def test_a_name_is_exchanged_within_the_texts_or_comes_from_the_list(names: list[str]) -> None:
    """Three of the names are countries; Boston is a city, whose successor in the list is Chicago."""
    names.append("Germany")
    (german,) = (text for text in read_user_texts(str(FOLDER / "en.conllu")) if text.text == "Do you ship to Germany?")
    assert german.parse is not None
    tokens = german.parse.tokens
    texts = [
        UserText(
            german.text.replace("Germany", name),
            replace(german.parse, tokens=tuple(name if token == "Germany" else token for token in tokens)),
        )
        for name in names
    ]
    edits = [*make_edits(texts, choose_edit_rules(["name"], has_parse=True), EditCounts())]
    countries = {*names} - {"Boston"}
    for name, edit in zip(names, edits, strict=True):
        new = edit.b.removeprefix("Do you ship to ").removesuffix("?")
        if name == "Boston":
            assert new == "Chicago"
        elif len(countries) == 1:
            assert new == load_table("en").lists["countries"][name]
        else:
            assert new in countries - {name}
