"""The uses of English verbs in the lexicon, against WordNet, link-parser and the Brown corpus, which we do not ship."""

from collections.abc import Iterator

import pytest
from helpers.oracles.english_sources import (
    BROWN,
    FRAME_TEXTS,
    LINK_PARSER,
    WORDNET,
    WORDNET_FRAMES,
    accept_sentences,
    needs_link_parser,
    needs_wordnet,
    read_brown_adjectives,
    read_wordnet_frames,
    read_wordnet_words,
)
from helpers.shared import DATA, needs_shared

from sentprobe.common.values import parse_toml
from sentprobe.lexicon import Form, Kind, english
from sentprobe.lexicon.words import Word

FRAMES = {
    Kind.TRANSITIVE: ("intransitive", "ditransitive", "to", "clause"),
    Kind.INTRANSITIVE: ("transitive", "clause"),
}
"""The further frames that decide whether a verb of each kind is an error."""
ADJECTIVES = {Kind.TRANSITIVE: (Form.VB, Form.VBG), Kind.INTRANSITIVE: (Form.VB, Form.VBN)}
"""The forms of each kind that can be good after *be* where the verb is wrong, if they are adjectives, too."""


def list_verbs() -> Iterator[Word]:
    for kind in FRAMES:
        yield from english().words(kind)


def check_claims(source: str, claims: set[str], stated: set[str]) -> None:
    """Check that the lexicon states all uses that a source claims, except the reviewed ones."""
    groups = parse_toml((DATA / "english" / "exceptions.toml").read_text(encoding="utf-8"))["group"]
    assert all(group["reason"] and group["source"] in (WORDNET, LINK_PARSER, BROWN) for group in groups)
    reviewed = [use for group in groups if group["source"] == source for use in group["uses"]]
    assert sorted(claims - stated) == sorted(reviewed)


def list_stated() -> set[str]:
    return {f"{verb.lemma}.{use}" for verb in list_verbs() for use in (*verb.frames, *verb.ambiguous)}


@pytest.mark.slow
@needs_wordnet
def test_lexicon_states_the_uses_that_wordnet_has() -> None:
    frames, adjectives, verbs = read_wordnet_frames(), read_wordnet_words("adj"), read_wordnet_words("verb")
    claims = set()
    for verb in list_verbs():
        numbers = frames.get(verb.lemma, set())
        claims |= {f"{verb.lemma}.{name}" for name in FRAMES[verb.kind] if not numbers.isdisjoint(WORDNET_FRAMES[name])}
        claims |= {f"{verb.lemma}.{form}" for form in ADJECTIVES[verb.kind] if verb.forms[form] in adjectives}
        claims |= {f"{verb.lemma}.VBD"} if verb.forms[Form.VBD] in verbs - {verb.lemma} else set()
    check_claims(WORDNET, claims, list_stated())


@pytest.mark.slow
@needs_link_parser
def test_lexicon_states_the_uses_that_link_parser_accepts() -> None:
    texts = [
        (f"{verb.lemma}.{name}", text.format(verb.lemma))
        for verb in list_verbs()
        for name in FRAMES[verb.kind]
        for text in FRAME_TEXTS.get(name, ())
    ]
    texts += [(f"{verb.lemma}.VBD", f"they must {verb.forms[Form.VBD]} her.") for verb in list_verbs()]
    answers = accept_sentences([text for _, text in texts])
    claims = {use for (use, _), is_good in zip(texts, answers, strict=True) if is_good}
    check_claims(LINK_PARSER, claims, list_stated())


@pytest.mark.slow
@needs_shared
def test_lexicon_states_the_forms_that_are_adjectives_in_the_brown_corpus() -> None:
    adjectives = read_brown_adjectives()
    claims = {
        f"{verb.lemma}.{form}"
        for verb in list_verbs()
        for form in ADJECTIVES[verb.kind]
        if verb.forms[form] in adjectives
    }
    check_claims(BROWN, claims, list_stated())
