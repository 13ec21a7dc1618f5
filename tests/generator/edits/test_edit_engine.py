"""Edits of texts: traps are refused; every edit keeps the rest of the text."""

import re

import pytest
from helpers.edit_parses import TRAPS, read_parses
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.edits.edit_engine import NO_PARSE, NO_PATTERN, edit_text
from sentprobe.generator.edits.edit_table import load_table
from sentprobe.generator.edits.edit_text import EditableText, RefusalError, build_editable_text
from sentprobe.generator.edits.word_changes import choose_listed

TABLE = load_table("en")
DEFAULT = TABLE.choose_rules()
EVERY = TABLE.choose_rules([*TABLE.kinds])


@pytest.mark.parametrize(("text", "reason"), TRAPS["refused"])
def test_traps_are_refused(text: str, reason: str) -> None:
    assert edit_text(read_parses("en")[text], DEFAULT, TABLE) == ([], reason)


@pytest.mark.parametrize(("text", "kind"), TRAPS["lacks"])
def test_traps_have_no_edit_of_a_kind(text: str, kind: str) -> None:
    edits, _ = edit_text(read_parses("en")[text], DEFAULT, TABLE)
    assert kind not in [edit.kind for edit in edits]


def test_texts_have_one_edit_of_each_kind_that_fits() -> None:
    edits, reason = edit_text(read_parses("en")["Is the free plan limited?"], DEFAULT, TABLE)
    assert [edit[1:] for edit in edits] == [
        ("Was the free plan limited?", 0, "tense", "tense.present_be_question", "Is > Was"),
        ("Is the paid plan limited?", 0, "antonym", "antonym.adjective", "free > paid"),
    ]
    assert reason == ""


def test_reason_without_a_parse_is_stated() -> None:
    negation = TABLE.choose_rules(["negation"])
    assert edit_text(EditableText("The plan is free."), negation, TABLE) == ([], NO_PARSE)
    assert edit_text(EditableText("The plan is free."), TABLE.choose_rules(["unit"]), TABLE) == ([], NO_PATTERN)


WORDS = st.sampled_from(
    [
        "the",
        "plan",
        "is",
        "free",
        "not",
        "n't",
        "I",
        "you",
        "can",
        "do",
        "does",
        "cost",
        "costs",
        "with",
        "without",
        "before",
        "after",
        "if",
        "on",
        "Monday",
        "in",
        "March",
        "2019",
        "5",
        "24",
        "users",
        "days",
        "$",
        "30%",
        "London",
        "to",
        "from",
        "always",
        "all",
        "best?",
        "?",
        ".",
        ",",
        "How",
        "Why",
        "when",
        "no",
        "was",
        "will",
        "be",
        "were",
        "opened",
        "open",
    ]
)
TAGS = st.sampled_from(
    [
        *[
            "NN",
            "NNS",
            "NNP",
            "VB",
            "VBZ",
            "VBD",
            "VBP",
            "VBN",
            "MD",
            "IN",
            "DT",
            "JJ",
            "RB",
            "PRP",
            "WRB",
            "CD",
            "TO",
            ".",
            ",",
        ]
    ]
)
RELATIONS = st.sampled_from(
    [
        *[
            "nsubj",
            "obj",
            "obl",
            "nmod",
            "case",
            "mark",
            "aux",
            "cop",
            "advmod",
            "det",
            "amod",
            "root",
            "punct",
            "conj",
            "xcomp",
            "advcl",
            "iobj",
        ]
    ]
)


@given(st.lists(st.tuples(WORDS, TAGS, RELATIONS, st.integers(0, 11)), min_size=1, max_size=12))
def test_any_parse_gives_edits_or_a_reason(rows: list[tuple[str, str, str, int]]) -> None:
    """Parses may be senseless, even with circles; the text outside the changed words stays."""
    words, tags, relations, heads = zip(*rows, strict=True)
    text = " ".join(words)
    try:
        parsed = build_editable_text(text, words, tags, [min(head, len(rows)) for head in heads], relations)
    except RefusalError:
        return
    edits, reason = edit_text(parsed, EVERY, TABLE)
    assert bool(edits) != bool(reason)
    for edit in edits:
        assert edit.a == text
        assert edit.b != text
        assert "  " not in edit.b
        old, new = (side.strip() for side in edit.changed.split(">"))
        assert old in text
        assert new in edit.b


@given(st.text(max_size=60))
def test_any_text_without_a_parse_gives_edits_or_a_reason(text: str) -> None:
    edits, reason = edit_text(EditableText(text), EVERY, TABLE)
    assert bool(edits) != bool(reason)


@pytest.mark.parametrize("language", ["en", "de"])
def test_listed_words_give_way_to_a_word_of_their_own_circle(language: str) -> None:
    """Else a word could be replaced by another spelling of itself, and the search could have no end."""
    lists = [rule.words for rule in load_table(language).rules if rule.change in {"listed", "name"}]
    assert lists
    for words in lists:
        for word, new in words.items():
            assert choose_listed(word, words, is_there=lambda _: False) == new
            with pytest.raises(RefusalError, match="the text has all words"):
                choose_listed(word, words, is_there=lambda _: True)


@pytest.mark.parametrize(
    "text",
    [
        "Is 5 km in miles or in kilometers?",
        "Is 5 km more than 3 miles?",
        "The track is 5km (3 miles).",
        "Is 5 lbs more than 2 kg?",
        "Does it cost $0?",
        "Is 0.0 kg the weight?",
        "Is it free below 00 km?",
        "Is minus 40 celsius cold enough for it?",
    ],
)
def test_equal_units_and_zeros_are_refused(text: str) -> None:
    edits, reason = edit_text(EditableText(text), TABLE.choose_rules(["unit"]), TABLE)
    assert edits == []
    assert reason


@pytest.mark.parametrize("text", ["Can I invite １２ users?", "Is there a ٣٫٥% discount?", "Is it for 1３ friends?"])
def test_digits_of_other_scripts_are_refused(text: str) -> None:
    assert edit_text(EditableText(text), DEFAULT, TABLE)[0] == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_long_texts_are_refused_first(language: str) -> None:
    """Patterns that look from each character on would take hours."""
    table = load_table(language)
    text = EditableText("Is it " + "1," * 300_000 + " km?")
    assert edit_text(text, table.choose_rules(), table) == ([], "the text is longer than 1,000 characters")


@pytest.mark.parametrize("text", ["Are you open on Monday, 3 March 2025?", "Who won the 1966 World Cup in England?"])
def test_impossible_dates_are_refused(text: str) -> None:
    assert edit_text(EditableText(text), TABLE.choose_rules(["calendar"]), TABLE)[0] == []


@pytest.mark.parametrize("verb", ["look in this", "differ from her", "be sure of it", "be charged twice", "owe it"])
def test_how_and_can_are_exchanged_for_acts_only(verb: str) -> None:
    for start in ("How do I", "How can I"):
        assert edit_text(EditableText(f"{start} {verb}?"), TABLE.choose_rules(["how"]), TABLE)[0] == []


@given(st.integers(2, 999), st.sampled_from(["users", "days", "GB", "%", "miles"]))
def test_numbers_become_other_numbers(number: int, unit: str) -> None:
    text = f"Can I have {number} {unit} in the plan?"
    edits, _ = edit_text(EditableText(text), TABLE.choose_rules(["number"]), TABLE)
    for edit in edits:
        (new,) = re.findall(r"\d+", edit.b)
        assert int(new) > 1
        assert int(new) != number


def test_unknown_form_of_be_is_refused() -> None:
    """A treebank may give *s* the lemma *be*."""
    text = build_editable_text(
        "That s a plan.",
        ["That", "s", "a", "plan", "."],
        ["DT", "VBZ", "DT", "NN", "."],
        [2, 0, 4, 2, 2],
        ["nsubj", "root", "det", "obl", "punct"],
        lemmas=["that", "be", "a", "plan", "."],
    )
    assert edit_text(text, TABLE.choose_rules(["negation"]), TABLE) == ([], "no finite verb was found with certainty")


def test_contractions_of_a_poor_parse_are_mended() -> None:
    """A parser that learned *I'm* as one word gives *'m* the relation of *I*."""
    text = build_editable_text(
        "I'm very happy.",
        ["I", "'m", "very", "happy", "."],
        ["PRP", "VBP", "RB", "JJ", "."],
        [4, 4, 4, 0, 4],
        ["nsubj", "nsubj", "advmod", "root", "punct"],
    )
    edits, _ = edit_text(text, TABLE.choose_rules(["negation", "tense"]), TABLE)
    assert [edit.b for edit in edits] == ["I'm not very happy.", "I was very happy."]


@pytest.mark.parametrize(
    ("words", "edit", "reason"),
    [
        (
            "What/WP/0/root 's/VBZ/1/cop the/DT/4/det price/NN/1/nsubj ?/./1/punct",
            ["Could you tell me what the price is ?"],
            "",
        ),
        ("Can/MD/3/aux you/PRP/3/nsubj send/VB/0/root it/PRP/3/obj ?/./3/punct", [], "the question may be a request"),
        ("Is/VBZ/0/root breakfast/NN/1/nsubj included/VBN/2/acl ?/./1/punct", [], "the parse has no predicate"),
    ],
)
def test_indirect_questions_are_whole(words: str, edit: list[str], reason: str) -> None:
    """A contracted verb is written out at the end; a request and a question without a predicate are refused."""
    forms, tags, heads, relations = zip(*(word.rsplit("/", 3) for word in words.split()), strict=True)
    text = build_editable_text(" ".join(forms), forms, tags, [*map(int, heads)], relations)
    edits, found = edit_text(text, TABLE.choose_rules(["indirect"]), TABLE)
    assert ([row.b for row in edits], found) == (edit, reason)
