"""Every row of the tables of edits: its example comes out, and its other text is refused for the stated reason."""

import re
from dataclasses import replace

import pytest
from helpers.edit_parses import read_parses

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.generator.edits.edit_engine import CHANGES, NO_PATTERN, apply_rule, collect_phrases, edit_text
from sentprobe.generator.edits.edit_patterns import parse_pattern
from sentprobe.generator.edits.edit_table import LANGUAGES, EditRule, EditTable, load_table
from sentprobe.generator.edits.edit_text import EditableText, RefusalError
from sentprobe.generator.edits.own_phrases import PhraseSample

RULES = [(language, rule) for language in LANGUAGES for rule in load_table(language).rules]


def find_parse(text: str, rule: EditRule, language: str) -> EditableText:
    return read_parses(language)[text] if rule.needs_parse else EditableText(text, language=language)


def build_table(rule: EditRule, language: str) -> EditTable:
    """Return the table of a language, with the objects of the rule's other text, if it has one."""
    table = load_table(language)
    if rule.other:
        table = replace(table, own_phrases=PhraseSample())
        collect_phrases(read_parses(language)[rule.other], [rule], table)
    return table


def apply(text: str, rule: EditRule, language: str) -> str:
    """Return the edit of a text by a rule, or the reason why there is none."""
    try:
        edit = apply_rule(rule, find_parse(text, rule, language), build_table(rule, language))
    except RefusalError as refusal:
        return str(refusal)
    return edit.b if edit else NO_PATTERN


@pytest.mark.parametrize(("language", "rule"), RULES, ids=[f"{language}-{rule.name}" for language, rule in RULES])
def test_examples_come_out_and_are_refused(language: str, rule: EditRule) -> None:
    assert apply(rule.example[0], rule, language) == rule.example[1]
    assert apply(rule.refused[0], rule, language) == rule.refused[1]
    edits, reason = edit_text(find_parse(rule.example[0], rule, language), [rule], build_table(rule, language))
    assert [(edit.a, edit.b, edit.same, edit.kind, reason) for edit in edits] == [
        (*rule.example, int(rule.kind.same), rule.kind.name, "")
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_are_whole(language: str) -> None:
    table = load_table(language)
    names = [rule.name for rule in table.rules]
    assert len(names) == len({*names})
    assert {rule.kind.name for rule in table.rules} == {*table.kinds}
    assert {rule.change for rule in table.rules} <= {*CHANGES}
    assert not {*table.left_out} & {*table.kinds}
    assert not any(kind.same and kind.is_default for kind in table.kinds.values())


def test_every_change_has_a_rule() -> None:
    assert {*CHANGES} == {rule.change for _, rule in RULES}


def test_kinds_are_chosen_by_name() -> None:
    table = load_table("en")
    assert {rule.kind.name for rule in table.choose_rules(["role", "number"])} == {"role", "number"}
    assert all(rule.kind.is_default for rule in table.choose_rules())
    with pytest.raises(UsageError, match=r"there is no kind 'negatoin' \(did you mean 'negation'\?\); known: number, "):
        table.choose_rules(["negatoin"])
    with pytest.raises(UsageError, match="kind 'tense': no rules for German: the verb moves"):
        load_table("de").choose_rules(["tense"])
    with pytest.raises(UsageError, match="there are no edits for the language 'fr'; known: en, de"):
        load_table("fr")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("uncle: form=with", "pattern 'uncle: form=with': there is no step 'uncle'"),
        ("form~with", "'form~with' is not a test such as"),
        ("colour=red", "'colour=red' is not a test such as"),
        ("list=nonsense", "there is no word list 'nonsense'"),
    ],
)
def test_faulty_patterns_are_named(source: str, message: str) -> None:
    with pytest.raises(FormatError, match=re.escape(message)):
        parse_pattern(source, {"verbs": ["go"]})
