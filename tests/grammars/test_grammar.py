"""The packaged shapes equal those of the grammar; others are derived on demand."""

import os
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from helpers.oracles.slow_path import list_function_words

from sentprobe.common.errors import SentprobeError
from sentprobe.generator.events.event import FRAME_ROLES, Frame
from sentprobe.grammars import read_grammar_source
from sentprobe.grammars import shapes as module
from sentprobe.grammars.derivation import PARENT, FlatItem, Hole, Leaf, Node, flatten
from sentprobe.grammars.shapes import (
    ADVERB,
    MODAL,
    VERB,
    AdverbShape,
    ClauseShape,
    NounShape,
    Shape,
    ShapeTable,
    derive_shape,
    dump_shapes,
    find_packaged_file,
    list_all_shapes,
    list_clause_shapes,
    load_language_shapes,
    load_shapes,
)
from sentprobe.lexicon import Form
from sentprobe.lexicon.languages.english import ENGLISH

PACKAGED = find_packaged_file(ENGLISH).read_text(encoding="utf-8")
SHAPES = list(list_all_shapes(ENGLISH))
REQUESTED = list(list_clause_shapes(ENGLISH, is_requested=True))
REQUESTED_FILE = find_packaged_file(ENGLISH, is_requested=True).read_text(encoding="utf-8")
CHECKED = [
    shape
    for shapes in (SHAPES, REQUESTED)
    for shape in (shapes if os.environ.get("SENTPROBE_ALL_SHAPES") else Random(0).sample(shapes, 10))
]
SIMPLE = ClauseShape("transitive", "active", "past", "simple", "pos", False, "", "sg")


@cache
def load_table(text: str) -> dict[Shape, tuple[FlatItem, ...]]:
    return dict(load_shapes(text, ENGLISH))


def test_package_has_all_shapes() -> None:
    assert list(load_table(PACKAGED)) == SHAPES
    assert list(load_table(REQUESTED_FILE)) == REQUESTED
    assert len({*SHAPES, *REQUESTED}) == len(SHAPES) + len(REQUESTED)
    assert {shape.aspect for shape in REQUESTED} == ENGLISH.requested_aspects
    assert not any(shape.voice == "passive" and shape.aspect == "perfprog" for shape in REQUESTED)


@pytest.mark.parametrize("aspect", ["simple", "perf"])
def test_only_requested_shapes_read_their_file(monkeypatch: pytest.MonkeyPatch, aspect: str) -> None:
    read: list[bool] = []

    def load(_: object, *, is_requested: bool = False) -> ShapeTable:
        read.append(is_requested)
        return load_shapes(REQUESTED_FILE, ENGLISH)

    monkeypatch.setattr(module, "load_language_shapes", load)
    load_shapes(PACKAGED, ENGLISH).find_items(replace(SIMPLE, aspect=aspect))
    assert read == ([True] if aspect == "perf" else [])


@pytest.mark.parametrize("shape", CHECKED, ids=repr)
def test_packaged_shape_is_derived(shape: Shape) -> None:
    packaged = REQUESTED_FILE if getattr(shape, "aspect", "") in ENGLISH.requested_aspects else PACKAGED
    assert load_table(packaged)[shape] == derive_shape(shape, ENGLISH)


def test_dump_undoes_load() -> None:
    source = read_grammar_source(ENGLISH)
    assert dump_shapes(load_shapes(PACKAGED, ENGLISH), source=source) == PACKAGED


def test_load_undoes_dump() -> None:
    table = {shape: derive_shape(shape, ENGLISH) for shape in SHAPES[-3:]}
    assert dict(load_shapes(dump_shapes(table.items(), source=read_grammar_source(ENGLISH)), ENGLISH)) == table


def test_foreign_shapes_are_not_used() -> None:
    assert dict(load_shapes(dump_shapes([], source="changed"), ENGLISH)) == {}


def test_without_its_file_package_derives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "load_shapes", lambda _, language: ShapeTable(language))
    table = load_language_shapes.__wrapped__(ENGLISH)
    assert dict(table) == {}
    assert table.find_items(SIMPLE) == load_language_shapes(ENGLISH).find_items(SIMPLE)
    assert list(dict(table)) == [SIMPLE]


def test_shape_is_derived_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ShapeTable(ENGLISH)
    items = table.find_items(SIMPLE)
    monkeypatch.setattr(module, "derive_shape", lambda shape, _: pytest.fail(f"derived {shape} again"))
    assert table.find_items(SIMPLE) is items


@pytest.mark.parametrize("count", [ENGLISH.max_adverbs + 1, ENGLISH.max_adverbs + 4])
def test_long_adverb_sequences_are_derived(count: int) -> None:
    assert AdverbShape(count) not in load_table(PACKAGED)
    items = ShapeTable(ENGLISH).find_items(AdverbShape(count))
    lemmas = [item.content.lemma for item in items if isinstance(item.content, Leaf)]
    assert lemmas == [ADVERB, *[",", ADVERB] * (count - 1)]
    assert all(item.head == PARENT for item in items)


IMPOSSIBLE = [
    replace(SIMPLE, frame="intransitive", voice="passive"),
    replace(SIMPLE, frame="intransitive", gap="patient"),
    replace(SIMPLE, tense="future"),
    replace(SIMPLE, negation="never"),
    replace(SIMPLE, number="dual"),
    AdverbShape(0),
    NounShape("dual", "consonant", False),
]


@pytest.mark.parametrize("shape", IMPOSSIBLE, ids=repr)
def test_shape_beyond_grammar_is_refused(shape: Shape) -> None:
    with pytest.raises(SentprobeError, match=r"^the grammar derives 0 trees, not one, for "):
        derive_shape(shape, ENGLISH)


ALL_SHAPES = [*load_table(PACKAGED).items(), *load_table(REQUESTED_FILE).items()]


def test_shape_is_one_tree() -> None:
    """Its brackets are balanced and its items depend, in the end, on the constituent's head."""
    for shape, items in ALL_SHAPES:
        brackets = "".join(item.before + item.after for item in items)
        assert brackets.count("(") == brackets.count(")") > 0
        for at in range(len(items)):
            seen = [at]
            while (above := items[seen[-1]].head) != PARENT:
                assert above not in seen
                seen.append(above)
        tops = [item for item in items if item.head == PARENT and item.rel == "head"]
        # A sequence of adverbs has no head: each depends on the verb.
        assert len(tops) == (0 if isinstance(shape, AdverbShape) else 1)


def test_clause_has_verb_and_participants() -> None:
    for shape, items in ALL_SHAPES:
        if isinstance(shape, ClauseShape):
            check_clause(shape, items)


def check_clause(shape: ClauseShape, items: tuple[FlatItem, ...]) -> None:
    words = [item.content for item in items if isinstance(item.content, Leaf)]
    holes = [item.content for item in items if isinstance(item.content, Hole)]
    assert [word.pos for word in words if word.lemma == VERB] == ["VERB"]
    cues = [word.form for word in words if word.pos == "PART"]
    assert cues == ([] if shape.negation == "pos" else [shape.negation])
    roles = {*FRAME_ROLES[Frame(shape.frame)]}
    roles -= {"agent"} if shape.mood == "order" else set()
    people = [hole.name for hole in holes if hole.category == "NP"]
    assert sorted(people) == sorted(roles - {shape.gap})
    assert [hole.category for hole in holes].count("ADVP") == shape.adverbs
    is_perfect = shape.aspect in ENGLISH.requested_aspects
    assert [word.form in ENGLISH.requested_words for word in words].count(True) == is_perfect
    (finite,) = [word for word in words if "VerbForm=Fin" in word.feats]
    if shape.mood == "order":
        assert (finite.tag, finite.feats, shape.number) == ("VB", "Mood=Imp|Person=2|VerbForm=Fin", "")
        return
    if shape.tense == "modal":
        assert (finite.lemma, finite.tag, finite.feats, shape.number) == (MODAL, "MD", "VerbForm=Fin", "")
        return
    assert ("Number=Sing" if shape.number == "sg" else "Number=Plur") in finite.feats
    assert ("Tense=Past" if shape.tense == "past" else "Tense=Pres") in finite.feats


def test_grammar_names_its_function_words() -> None:
    expected = "is are was were be been being has have had does do did not n't by to and , who what"
    expected += " himself herself themselves at least no more than on in the"
    assert list_function_words() == frozenset(expected.split())


def test_grammar_has_line_for_every_form() -> None:
    later = {Form.JJ}  # adjectives are in no construction yet
    assert all(f"-> '{form.value}'" in read_grammar_source(ENGLISH) for form in Form if form not in later)


def test_flatten_keeps_order_of_words() -> None:
    def leaf(form: str, rel: str) -> Leaf:
        return Leaf(form=form, lemma=form, tag="T", pos="X", feats="", rel=rel)

    inner = Node(label="B", rel="obj", children=(leaf("b", "det"), leaf("c", "head")))
    node = Node(label="A", rel="", children=(leaf("a", "head"), inner))
    assert [item.content.form for item in flatten(node) if isinstance(item.content, Leaf)] == ["a", "b", "c"]
    items = flatten(node)
    assert [(i.head, i.rel) for i in items] == [(PARENT, "head"), (2, "det"), (0, "obj")]
    assert [(i.before, i.after) for i in items] == [("(A ", ""), ("(B ", ""), ("", "))")]
