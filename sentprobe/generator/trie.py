"""All clause shapes in one tree of continuations, so that a parser matches them in one walk."""

from dataclasses import dataclass, field
from functools import cache

from sentprobe.generator.event import Number
from sentprobe.grammars.derivation import Leaf
from sentprobe.grammars.shapes import (
    ADVERB,
    RELATIVIZER,
    VERB,
    ClauseShape,
    ShapeTable,
    clause_shapes,
    english_shapes,
    subject_role,
)


@dataclass(frozen=True, slots=True)
class Need:
    """What a step of the trie consumes: a word (function word or form) or a constituent."""

    category: str
    """"word", "form", "NP", "ADVP" or "link"."""
    name: str
    number: str = ""


@dataclass(slots=True)
class Trie:
    """A place in the trie: where each need leads, and the shapes that end here."""

    steps: dict[Need, "Trie"] = field(default_factory=dict)
    ends: list[ClauseShape] = field(default_factory=list)


@cache
def english_tries() -> tuple[Trie, dict[str, Trie]]:
    """Return the trie of main clauses, and those of relative clauses by number of the noun."""
    return build_tries(english_shapes())


def build_tries(shapes: ShapeTable) -> tuple[Trie, dict[str, Trie]]:
    """Merge the shapes of clauses into tries."""
    main = Trie()
    relative = {number.value: Trie() for number in Number}
    for shape in clause_shapes():
        for trie in _tries_for(shape, main, relative):
            _insert(trie, shape, shapes)
    return main, relative


def _tries_for(shape: ClauseShape, main: Trie, relative: dict[str, Trie]) -> list[Trie]:
    if not shape.gap:
        return [main]
    if shape.gap == subject_role(shape.voice):
        return [relative[shape.number]]
    return list(relative.values())


def _insert(trie: Trie, shape: ClauseShape, shapes: ShapeTable) -> None:
    for item in shapes.items(shape):
        content = item.content
        if not isinstance(content, Leaf):
            is_subject = content.name == subject_role(shape.voice)
            need = Need(content.category, content.name, shape.number if is_subject else "")
        elif content.lemma == VERB:
            need = Need("form", content.form, shape.frame)
        elif content.lemma == RELATIVIZER:
            need = Need("link", "")
        else:
            assert content.lemma != ADVERB
            need = Need("word", content.form)
        trie = trie.steps.setdefault(need, Trie())
    trie.ends.append(shape)
