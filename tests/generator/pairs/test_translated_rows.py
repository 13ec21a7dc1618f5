"""Translated triplets: English anchors, German positives and negatives with one reading, and the same words."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers.gen_command import Gen
from helpers.oracles.event_translator import EventTranslator
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.event_json import event_from_json
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.drafts import make_text_renderer
from sentprobe.generator.pairs.translated_rows import (
    UNTRANSLATED,
    RowTranslator,
    TranslatedRows,
    format_translated_rows,
)
from sentprobe.generator.pairs.triplets import SIDES, TripletSide, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import Kind
from sentprobe.lexicon.read import load_lexicon

ENGLISH, GERMAN = load_lexicon(None), load_lexicon(None, "de")
TRANSLATOR = EventTranslator(ENGLISH, GERMAN)
VOCABULARIES = {"binding": ("structure", "everyday")}
CASES = [
    (contrast, vocabulary)
    for contrast in CONTRASTS
    if contrast not in UNTRANSLATED
    for vocabulary in VOCABULARIES.get(contrast, ("compeval", "english", "everyday"))
]


@cache
def build_space(contrast: str, vocabulary: str) -> TripletSpace:
    return TripletSpace(TRANSLATOR.restrict(vocabulary), contrast, vocabulary=vocabulary)


def translate_back(event: ev.Event) -> ev.Event:
    """Return the English event of a German one, active, simple and without an object first."""
    kind = Kind(str(event.frame))
    arguments: dict[str, Any] = {}
    for role in event.roles:
        filler = event.argument(role)
        if isinstance(filler, ev.Participant):
            clause = filler.clause
            if isinstance(clause, ev.RelativeClause):
                clause = ev.RelativeClause(event=translate_back(clause.event), relativizer="that")
            adjectives = tuple(GERMAN.get(lemma, Kind.ADJECTIVE).english for lemma in filler.adjectives)
            noun = GERMAN.get(str(filler.noun), Kind.NOUN).english
            filler = replace(filler, noun=noun, determiner="the", adjectives=adjectives, clause=clause)
        arguments[role.value] = filler
    return replace(
        event,
        predicate=GERMAN.get(str(event.predicate), kind).english,
        frame=ev.Frame.TRANSITIVE if kind is Kind.DATIVE else event.frame,
        voice=ev.Voice.ACTIVE,
        fronting=None,
        adverbs=tuple(GERMAN.get(adverb, Kind.ADVERB).english for adverb in event.adverbs or ()),
        **arguments,
    )


def strip_form(event: ev.Event) -> ev.Event:
    """Return an English event without what a translation loses: voice, aspect, negator, relativizer."""
    arguments: dict[str, Any] = {}
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            clause = ev.RelativeClause(event=strip_form(person.clause.event), relativizer="that")
            person = replace(person, clause=clause)  # noqa: PLW2901
        arguments[role.value] = person
    negator = event.negator and ev.Negator.NOT
    return replace(event, voice=ev.Voice.ACTIVE, aspect=ev.Aspect.SIMPLE, negator=negator, **arguments)


@given(st.sampled_from(CASES), st.integers(0, 10**6))
@examples(40)
def test_translation_has_one_reading(case: tuple[str, str], seed: int) -> None:
    """All rows of a set equal the translations one by one."""
    triplets = build_space(*case).sample(6, seed=seed)
    texts = [triplets.render_texts(side) for side in SIDES]
    rows = RowTranslator(triplets.space.words, TRANSLATOR)
    columns = make_text_renderer(rows.lexicon, rows.words).render_columns(TranslatedRows(triplets, rows), 3)
    for translations, column in zip(columns, texts[1:], strict=True):
        for translation, text in zip(translations, column, strict=True):
            (meaning,) = parse(text, ENGLISH)
            assert translation == TRANSLATOR.translate_sentence(meaning).text
            (event,) = parse(translation, GERMAN)
            assert translate_back(event) == strip_form(meaning)


@given(st.sampled_from(CASES), st.integers(0, 10**6))
@examples(20)
def test_translated_rows_are_annotated(case: tuple[str, str], seed: int) -> None:
    triplets = build_space(*case).sample(5, seed=seed)
    anchors = triplets.render_texts(TripletSide.ANCHOR)
    for row in map(json.loads, format_translated_rows(triplets, TRANSLATOR)):
        assert row["anchor"] in anchors
        assert row["positive"] not in (row["negative"], row["hard_negative"])
        for side in SIDES[1:]:
            (event,) = parse(row[side], GERMAN)
            assert event == event_from_json(row["annotation"][side]["event"])


@pytest.mark.parametrize(
    ("sentence", "translation"),
    [
        ("the lawyer is being called by the doctor", "der Anwalt wird von dem Arzt gerufen"),
        ("the lawyer was helped by the doctor", "dem Anwalt half der Arzt"),
        ("the student that was n't helped by the lawyer slept", "der Student , dem der Anwalt nicht half , schlief"),
        ("the man that the woman helps often sleeps", None),
        ("the women see the men", "die Männer werden von den Frauen gesehen"),
        ("the women that see the men sleep", "die Frauen , von denen die Männer gesehen werden , schlafen"),
        ("the women see the man", "die Frauen sehen den Mann"),
    ],
)
def test_by_hand(sentence: str, translation: str | None) -> None:
    events = parse(sentence, ENGLISH)
    texts = [TRANSLATOR.translate_sentence(event).text for event in events]
    assert texts == [translation] if translation else len({*texts}) == len(events)


@pytest.mark.parametrize(
    ("sentence", "word"), [("the curator sleeps", "noun 'curator'"), ("some men sleep", "determiner 'some'")]
)
def test_untranslatable_word_is_refused(sentence: str, word: str) -> None:
    (event,) = parse(sentence, ENGLISH)
    with pytest.raises(UsageError, match=f"the {word} has no translation in german.toml"):
        TRANSLATOR.translate(event)


def test_command(gen: Gen, tmp_path: Path) -> None:
    outcome = gen("pairs", "-c", "noun", "--translate", "de", "-v", "english", "-n", 40, "--hold-out", "0.3")
    rows = [json.loads(line) for line in outcome.lines]
    assert [*rows[39]["annotation"]] == [*SIDES]
    assert all(row["negative"] != row["hard_negative"] and "voices" not in row for row in rows)
    outcome = gen("pairs", "-c", "role", "--translate", "de", "-n", 4, "--for", "training")
    rows = [json.loads(line) for line in outcome.lines]
    assert [[*row] for row in rows] == [["anchor", "positive", "negative"]] * 4
    path = tmp_path / "pairs.parquet"
    assert not gen("pairs", "-c", "role", "--translate", "de", "-n", 4, "--for", "training", "--out", path).code
    assert pq.read_table(path).to_pylist() == rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("aspect", "--translate", "de"), "progressive and simple events have one translation"),
        (("mood", "--translate", "de"), "questions and orders are not translated"),
        (("role", "--translate", "en"), "from English into another language"),
        (("role", "--translate", "dee"), "there is no language 'dee' (did you mean 'de'?)"),
        (("role", "--translate", "de", "--format", "blimp"), "--translate writes JSONL"),
        (("role", "--translate", "de", "--language", "de"), "from English into another language"),
    ],
)
def test_refusals(gen: Gen, arguments: tuple[str, ...], message: str) -> None:
    outcome = gen("pairs", "-c", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
