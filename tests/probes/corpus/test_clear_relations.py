"""Relations of spaCy's English models become those of Universal Dependencies, so that rules of edits fit."""

import pytest

from sentprobe.generator.edits.edit_engine import edit_text
from sentprobe.generator.edits.edit_table import load_table
from sentprobe.generator.edits.edit_text import build_editable_text
from sentprobe.probes.corpus.clear_relations import convert_clear_relations, is_clear

SENTENCES = [
    (
        "What/WP/2/attr is/VBZ/0/root the/DT/4/det cost/NN/2/nsubj of/IN/4/prep a/DT/8/det free/JJ/8/amod "
        "plan/NN/5/pobj ?/./2/punct",
        "root cop det nsubj case det amod nmod punct",
        "antonym",
        "What is the cost of a paid plan ?",
    ),
    (
        "The/DT/2/det plan/NN/3/nsubj is/VBZ/0/root free/JJ/3/acomp ././3/punct",
        "det nsubj cop root punct",
        "negation",
        "The plan is not free .",
    ),
    (
        "Can/MD/3/aux I/PRP/3/nsubj pay/VB/0/root without/IN/3/prep a/DT/6/det card/NN/4/pobj ?/./3/punct",
        "aux nsubj root case det obl punct",
        "preposition",
        "Can I pay with a card ?",
    ),
    (
        "Is/VBZ/0/root there/EX/1/expl an/DT/4/det app/NN/1/attr ?/./1/punct",
        "root expl det nsubj punct",
        "tense",
        "Was there an app ?",
    ),
    (
        "I/PRP/4/nsubj will/MD/4/aux never/RB/4/neg come/VB/0/root again/RB/4/advmod ././4/punct",
        "nsubj aux advmod root advmod punct",
        "quantifier",
        "I will always come again .",
    ),
]


@pytest.mark.parametrize(("words", "expected", "kind", "edit"), SENTENCES)
def test_converted_parses_have_edits(words: str, expected: str, kind: str, edit: str) -> None:
    forms, tags, numbers, relations = zip(*(word.rsplit("/", 3) for word in words.split()), strict=True)
    assert is_clear(relations)
    heads, converted = convert_clear_relations(forms, tags, [*map(int, numbers)], relations)
    assert " ".join(converted) == expected
    assert [head for head, name in zip(heads, converted, strict=True) if name == "root"] == [0]
    table = load_table("en")
    text = build_editable_text(" ".join(forms), forms, tags, heads, converted)
    edits, _ = edit_text(text, table.choose_rules([kind]), table)
    assert [row.b for row in edits] == [edit]


def test_universal_relations_are_left_alone() -> None:
    assert not is_clear(["nsubj", "root", "obj", "case", "obl", "advmod"])
