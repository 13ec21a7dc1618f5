"""Minimal pairs: the good sentence has one parse, the bad one none, and they differ in what the paradigm says."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers.gen_command import Gen
from helpers.oracles.oracle import Oracle, collect_words
from helpers.oracles.slow_path import chart_parse
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.checks import check_sorts
from sentprobe.generator.events.event_json import event_from_json
from sentprobe.generator.pairs.changes import (
    SAME_LENGTH,
    SAME_WORDS,
    compile_change,
    describe_word_overlap,
    find_places,
)
from sentprobe.generator.pairs.minimal_pairs import MinimalPair, MinimalPairSpace, build_pair_spaces, make_field_writer
from sentprobe.generator.pairs.paradigms import PrefixMethod, load_paradigms
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.sentence_records import annotate_text
from sentprobe.lexicon import Kind, Lexicon, english, german
from sentprobe.lexicon.languages import find_language
from sentprobe.lexicon.words import VERBS

PARADIGMS, GERMAN_PARADIGMS = load_paradigms(), load_paradigms(find_language("de"))
NEEDED = {
    "adjective": {uid for uid in PARADIGMS if "_with_adj" in uid},
    "ditransitive": {"ditransitive", "ditransitive_recipient_missing"},
    "things": {"animate_subject_exchange", "animate_subject_passive_exchange"},
    "irregular": {"irregular_past_participle_verbs"},
}
LACKING = {
    "english": ("adjective", "ditransitive", "things"),
    "compeval": ("adjective", "ditransitive", "things", "irregular"),
    "published": ("adjective", "ditransitive", "things", "irregular"),
    "structure": ("things",),
    "everyday": (),
}
"""The words that a vocabulary lacks."""
CASES = [
    (vocabulary, uid, "en")
    for vocabulary, kinds in LACKING.items()
    for uid in PARADIGMS
    if not any(uid in NEEDED[kind] for kind in kinds)
]


GERMAN_CASES = [
    (vocabulary, uid, "de")
    for vocabulary in ("german", "everyday", "compeval")
    for uid in GERMAN_PARADIGMS
    if (vocabulary, uid) != ("compeval", "weak_noun_form")
]
ALL_CASES: list[tuple[str, ...]] = [*CASES, *GERMAN_CASES]
QUICK = ("compeval", "everyday")
"""The vocabularies whose pairs are looked at in each run of the tests; all are in the slow ones."""
DrawnPair = tuple[MinimalPairSpace, int, MinimalPair]


@cache
def make_space(vocabulary: str, uid: str, language: str = "en") -> MinimalPairSpace:
    return MinimalPairSpace({"en": english(), "de": german()}[language], uid, vocabulary=vocabulary)


def get_lexicon(space: MinimalPairSpace) -> Lexicon:
    return space._space.lexicon


@cache
def make_oracle() -> Oracle:
    return Oracle(collect_words(english()))


@st.composite
def draw_pairs(draw: st.DrawFn, cases: list[tuple[str, ...]]) -> DrawnPair:
    space = make_space(*draw(st.sampled_from(cases)))
    index = draw(st.integers(0, space.count() - 1))
    (pair,) = space.iterate_pairs(np.array([index], dtype=object if index >= 2**63 else np.int64))
    return space, index, pair


english_pairs, german_pairs = draw_pairs([*CASES]), draw_pairs([*GERMAN_CASES])
all_pairs = english_pairs | german_pairs


def has_parse(text: str, lexicon: Lexicon) -> bool:
    try:
        return bool(parse(text, lexicon))
    except ParseError:
        return False


def test_paradigms_differ() -> None:
    rows = {str(replace(row, uid="", term="", field="")) for row in PARADIGMS.values()}
    assert len(rows) == len(PARADIGMS)


@pytest.mark.parametrize("vocabulary", LACKING)
def test_vocabulary_without_words_is_refused(vocabulary: str) -> None:
    for uid in PARADIGMS:
        if (vocabulary, uid, "en") not in CASES:
            with pytest.raises(UsageError, match="no words for the paradigm"):
                make_space(vocabulary, uid)


def check_good_sentence(space: MinimalPairSpace, pair: MinimalPair) -> None:
    """Check that the good sentence has one parse, its event."""
    record = json.loads(pair.annotation)
    assert parse(pair.good, get_lexicon(space)) == (event_from_json(record["event"]),)
    assert record["text"] == pair.good
    assert get_lexicon(space) is not english() or make_oracle().accepts(pair.good.split())


def check_bad_sentence(space: MinimalPairSpace, pair: MinimalPair) -> None:
    """Check that the bad sentence has no parse or, in a semantic paradigm, only nouns of wrong sorts."""
    if get_lexicon(space) is english():
        assert make_oracle().accepts(pair.bad.split()) is space.paradigm.semantic
    if not space.paradigm.semantic:
        assert not has_parse(pair.bad, get_lexicon(space))
        return
    for event in parse(pair.bad, get_lexicon(space)):
        with pytest.raises(UsageError):
            check_sorts(event, get_lexicon(space))


def check_difference(space: MinimalPairSpace, pair: MinimalPair) -> None:
    """Check that the sentences differ in what the paradigm says."""
    row, good, bad = space.paradigm, pair.good.split(), pair.bad.split()
    assert good[: pair.critical - 1] == bad[: pair.critical - 1]
    assert good[pair.critical - 1 : pair.critical] != bad[pair.critical - 1 : pair.critical]
    effect = describe_word_overlap(row.change)
    assert (sorted(good) == sorted(bad)) == (effect == SAME_WORDS)
    if effect == SAME_LENGTH:
        assert len(good) == len(bad)
        assert sum(a != b for a, b in zip(good, bad, strict=True)) == 1
    if effect not in (SAME_LENGTH, SAME_WORDS):
        longer, shorter = (good, bad) if effect == "shorter" else (bad, good)
        size = len(longer) - len(shorter)
        assert 1 <= size <= 3
        assert any(longer[:at] + longer[at + size :] == shorter for at in range(len(shorter) + 1))
    assert row.prefix is not PrefixMethod.ONE or effect == SAME_LENGTH


@given(all_pairs)
@examples(60)
def test_pair_is_as_its_paradigm_says(drawn: DrawnPair) -> None:
    space, index, pair = drawn
    assert json.loads(pair.annotation)["index"] == index
    for check in (check_good_sentence, check_bad_sentence, check_difference):
        check(space, pair)


@pytest.mark.parametrize(
    ("vocabulary", "language"),
    [
        pytest.param(*case, marks=[] if case[0] in QUICK else [pytest.mark.slow])
        for case in dict.fromkeys((case[0], *case[2:]) for case in ALL_CASES)
    ],
)
def test_pairs_of_all_paradigms(vocabulary: str, language: str) -> None:
    for case in (case for case in ALL_CASES if (case[0], case[2]) == (vocabulary, language)):
        space = make_space(*case)
        pairs = [*space.iterate_pairs(space.sample(min(15, space.count()), seed=5))]
        assert len({pair.good for pair in pairs}) == len(pairs)
        for pair in pairs:
            for check in (check_good_sentence, check_bad_sentence, check_difference):
                check(space, pair)


@given(english_pairs)
def test_prefix_methods_apply_to_pairs(drawn: DrawnPair) -> None:
    space, _, pair = drawn
    fields = json.loads(make_field_writer(space)(pair, 0))
    good, bad, at = pair.good.split(), pair.bad.split(), pair.critical - 1
    if fields["one_prefix_method"]:
        assert good[:at] == bad[:at] != []
        assert good[at] != bad[at]
    if fields["two_prefix_method"]:  # a later word, each after another prefix, since the words at the change differ
        later = {*good[at + 1 :]} & {*bad[at + 1 :]}
        tested = {"npi_licensing": {"ever", "any"}, "subject_verb_agreement": list_finite_verbs(pair.good)}
        assert later & tested.get(space.paradigm.term, later)


def list_finite_verbs(text: str) -> set[str]:
    """The finite verbs of a sentence or, in a question, the words after its finite verb."""
    tokens = annotate_text(text, english()).tokens
    verbs = {token.form for token in tokens if "VerbForm=Fin" in token.feats}
    return {token.form for token in tokens[1:]} if tokens[0].form in verbs else verbs


BLIMP_METHODS = {
    **dict.fromkeys((
        "regular_plural_subject_verb_agreement_1", "irregular_plural_subject_verb_agreement_1",
        "distractor_agreement_relative_clause", "determiner_noun_agreement_1", "determiner_noun_agreement_irregular_1",
        "irregular_past_participle_verbs", "anaphor_gender_agreement", "principle_A_c_command", "npi_present_1",
    ), PrefixMethod.ONE),
    **dict.fromkeys((
        "regular_plural_subject_verb_agreement_2", "irregular_plural_subject_verb_agreement_2",
        "determiner_noun_agreement_2", "transitive", "sentential_negation_npi_licensor_present",
        "sentential_negation_npi_scope", "matrix_question_npi_licensor_present",
    ), PrefixMethod.TWO),
    **dict.fromkeys(("intransitive", "passive_1"), PrefixMethod.NONE),
}  # fmt: skip
"""The prefix methods of paradigms in BLiMP's generator (github.com/alexwarstadt/data_generation)."""


def test_blimp_paradigms_have_its_prefix_method() -> None:
    assert {uid: PARADIGMS[uid].prefix for uid in BLIMP_METHODS} == BLIMP_METHODS
    fields = {(row.term, row.field) for row in PARADIGMS.values()}
    assert fields >= {("npi_licensing", "semantics"), ("binding", "syntax_semantics"), ("s-selection", "syntax")}
    assert {row.field for row in PARADIGMS.values()} <= {"morphology", "syntax", "syntax_semantics", "semantics"}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case[0] in QUICK else [pytest.mark.slow], id="-".join(case)) for case in ALL_CASES],
)
def test_edited_words_have_similar_shares(case: tuple[str, ...]) -> None:
    space = make_space(*case)
    size = min(200, space.count() // 4)
    pairs = [*space.iterate_pairs(space.sample(size, seed=2))]
    if "replace" in space.paradigm.change and size > 20:
        words = Counter(pair.good.split()[pair.critical - 1] for pair in pairs)
        assert max(words.values()) <= 2 * size / len(words) + 1, words


@given(english_pairs)
def test_verbs_have_no_excluded_frame(drawn: DrawnPair) -> None:
    space, _, pair = drawn
    row, good, bad = space.paradigm, pair.good.split(), pair.bad.split()
    if row.replaces_verbs:
        words, form = [bad[pair.critical - 1]], annotate_text(pair.good, english()).tokens[pair.critical - 1].xpos
        kinds = frozenset({Kind(row.change.rpartition(" ")[2])})
    else:
        words, form, kinds = good, row.change.rpartition(" ")[2], VERBS
    verbs = [word for text in words for word, _ in english().find(text) if word.kind in kinds]
    assert verbs or not row.lacks or "VB" not in row.change
    for verb in verbs:
        assert verb.frames.isdisjoint(row.lacks)
        assert row.semantic or form not in verb.ambiguous


def test_singular_they_only_where_asked_for() -> None:
    spaces = build_pair_spaces(english(), ["all"], vocabulary="everyday")
    anaphors = [space for space in spaces if space.paradigm.term == "anaphor_agreement" or "_A_" in space.paradigm.uid]
    assert len(anaphors) == 5
    for space in anaphors:
        assert not any("themselves" in pair.bad for pair in space.iterate_pairs(space.sample(50, seed=3)))
    space = make_space("everyday", "anaphor_number_agreement_singular")
    assert all("themselves" in pair.bad for pair in space.iterate_pairs(space.sample(50, seed=3)))


@pytest.mark.parametrize(("vocabulary", "uid", "language"), CASES[::3])
def test_sample_depends_on_seed_alone(vocabulary: str, uid: str, language: str) -> None:
    space = make_space(vocabulary, uid, language)
    size = min(60, space.count())
    indices = space.sample(size, seed=3)
    pairs = [*space.iterate_pairs(indices)]
    assert len({pair.good for pair in pairs}) == size
    assert pairs == [*MinimalPairSpace(english(), uid, vocabulary=vocabulary).iterate_pairs(indices)]
    reversed_pairs = [*space.iterate_pairs(indices[::-1])][::-1]
    assert [(pair.good, pair.bad) for pair in reversed_pairs] == [(pair.good, pair.bad) for pair in pairs]


def test_pairs_of_small_space_differ() -> None:
    space = make_space("compeval", "imperative_with_subject")
    pairs = [(pair.good, pair.bad) for pair in space.iterate_pairs(np.arange(space.count()))]
    assert len({*pairs}) == len({good for good, _ in pairs}) == space.count()


@pytest.mark.parametrize(
    ("change", "good", "bad"),
    [
        ("swap subject clause.subject", "the men that the lawyer helped sleep", "the lawyer that the men helped sleep"),
        ("swap subject clause.by", "the men that can be met by a boy sleep", "the boy that can be met by a men sleep"),
        ("swap subject.phrase object.phrase", "the man and a boy help the king", "the king help the man and a boy"),
        ("swap finite not", "the man did not sleep", "the man not did sleep"),
        ("swap verb clause.verb", "the man that slept met the king", "the man that met slept the king"),
        ("swap finite subject.phrase", "who did the old man help", "who the old man did help"),
        ("delete by.case", "the man was met by the king", "the man was met the king"),
        ("delete finite", "the man does not sleep", "the man not sleep"),
        ("delete recipient.phrase", "the man handed the key to the king", "the man handed the key"),
        ("delete recipient.phrase", "the man handed the king the key", "the man handed the key"),
        ("delete clause.relativizer", "the king that the man met slept", "the king the man met slept"),
        ("insert before start the", "help the man", "the help the man"),
        ("insert after finite never", "the man must not sleep", "the man must never not sleep"),
    ],
)
def test_changes_by_hand(change: str, good: str, bad: str) -> None:
    sentence = annotate_text(good, english())
    words = [token.form for token in sentence.tokens]
    edit = compile_change(change, sentence)
    assert " ".join(words[token.position] if not token.word else token.word for token in edit) == bad


def test_places_by_hand() -> None:
    sentence = annotate_text("the man that was not often met by the king does sleep".replace("does sleep", "sleeps"),
                             english())  # fmt: skip
    places = {path: [*find_places(sentence, path)] for path in ("subject.phrase", "finite", "clause.finite",
              "clause.not", "clause.adverb", "clause.by.phrase", "clause.relativizer", "subject.det")}  # fmt: skip
    assert places == {
        "subject.phrase": [*range(10)], "finite": [10], "clause.finite": [3], "clause.not": [4], "clause.adverb": [5],
        "clause.by.phrase": [7, 8, 9], "clause.relativizer": [2], "subject.det": [0],
    }  # fmt: skip


@pytest.mark.parametrize("count", [0, -1, 10**9])
def test_impossible_pair_count_is_refused(count: int) -> None:
    with pytest.raises(UsageError, match="from 1 to"):
        make_space("compeval", "transitive").sample(count, seed=0)


@given(german_pairs)
def test_german_words_have_no_excluded_frame(drawn: DrawnPair) -> None:
    space, _, pair = drawn
    words = [word for text in pair.good.split() for word, _ in german().find(text)]
    assert all(word.frames.isdisjoint(space.paradigm.lacks) for word in words if word.kind in VERBS)
    if space.paradigm.nouns == "unambiguous":
        assert not any(word.ambiguous for word in words)


def test_negation_moves_before_finite_verb() -> None:
    space = make_space("german", "negation_before_finite_verb", "de")
    for pair in space.iterate_pairs(space.sample(50, seed=1)):
        good, bad = pair.good.split(), pair.bad.split()
        assert bad[2] == "nicht"
        assert bad[:2] + bad[3:] == [word for word in good if word != "nicht"]


@given(german_pairs)
@examples(30)
def test_chart_parser_agrees(drawn: DrawnPair) -> None:
    _, _, pair = drawn
    assert len(chart_parse(pair.good.split(), german())) == 1
    assert not chart_parse(pair.bad.split(), german())


@pytest.mark.parametrize(
    ("uid", "good", "bad"),
    [
        ("object_case_nominative", "den", "der"),
        ("dative_object_accusative", "dem", "den"),
        ("relative_pronoun_case", "den", "der"),
        ("case_after_preposition", "dem", "den"),
        ("perfect_auxiliary", "hat", "ist"),
        ("weak_noun_form", "Studenten", "Student"),
    ],
)
def test_german_changes_by_hand(uid: str, good: str, bad: str) -> None:
    space = make_space("german", uid, "de")
    pairs = space.iterate_pairs(space.sample(2000, seed=1))
    changes = {(pair.good.split()[pair.critical - 1], pair.bad.split()[pair.critical - 1]) for pair in pairs}
    assert (good, bad) in changes


def test_vocabulary_without_weak_nouns() -> None:
    with pytest.raises(UsageError, match="no words for the paradigm 'weak_noun_form'"):
        make_space("compeval", "weak_noun_form", "de")


def test_german_command(gen: Gen) -> None:
    outcome = gen("minimal", "--language", "de", "-p", "all", "-n", 3)
    rows = [json.loads(line) for line in outcome.lines]
    assert not outcome.code, outcome.err
    assert len(rows) == 3 * len(GERMAN_PARADIGMS)
    assert all(row["sentence_good"] != row["sentence_bad"] for row in rows)
    unknown = gen("minimal", "--language", "de", "-p", "transitive")
    assert (unknown.code, unknown.out) == (2, "")
    assert "gen minimal --list lists those of German" in unknown.err
