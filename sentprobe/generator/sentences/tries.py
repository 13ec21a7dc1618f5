"""Tries of clause shapes: a parser that follows a trie matches a sentence against all shapes at once."""

from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from sentprobe.generator.events import event as ev
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import Leaf
from sentprobe.lexicon.languages.language import Language

PhraseKey: TypeAlias = tuple[str, str, str, bool]
"""Role, grammatical number ("" for either) and case of a noun phrase, and whether it ends the sentence."""


@dataclass(slots=True)
class Trie:
    """A node of a trie: a step for each possible next input, and the shapes that end at this node.

    A step is a pair (rank, next node); the ranks of a node's steps are 0, 1, ... ``tokens`` has the steps that read one
    token: a function word, a form and frame of a verb ("VBD transitive"), a form of a modal ("MD modal"), RELATIVIZER
    or QUESTION_WORD. Steps in ``phrases`` read a noun phrase; a step in ``adverbs`` (at most one) reads all adverbs.
    """

    tokens: dict[str, tuple[int, "Trie"]] = field(default_factory=dict)
    phrases: dict[PhraseKey, tuple[int, "Trie"]] = field(default_factory=dict)
    adverbs: list[tuple[int, "Trie"]] = field(default_factory=list)
    ends: list[shapes.ClauseShape] = field(default_factory=list)

    def make_step(self) -> tuple[int, "Trie"]:
        """Return a new step (rank, empty node) with this node's next free rank. The caller stores the step."""
        return len(self.tokens) + len(self.phrases) + len(self.adverbs), Trie()


RELATIVIZER = "a relativizer"
"""The input for any relativizer; unlike a function word, this text contains a blank."""
QUESTION_WORD = "a question word"
_NAMES = {
    shapes.VERB: "{form} {frame}",
    shapes.MODAL: "{form} modal",
    shapes.RELATIVIZER: RELATIVIZER,
    shapes.ASKED: QUESTION_WORD,
}
"""The input for each placeholder in a shape."""


@cache
def load_tries(language: Language) -> tuple[Trie, dict[tuple[str, str], Trie]]:
    """Return the trie of main clauses, and the tries of relative clauses by number and class of the modified noun.

    If the language's relativizers do not vary with the noun's class, all classes of nouns of one number share a trie.
    """
    main = Trie()
    classes = language.classes if "rel" in language.agreeing_slots else ("",)
    relative = {(number.value, word_class): Trie() for number in ev.Number for word_class in classes}
    for shape in shapes.list_clause_shapes(language):
        number = shape.head or (shape.number if shape.gap == shape.subject else "")
        tries = [item for item in relative.items() if number in ("", item[0][0])]
        for (_, word_class), trie in tries if shape.is_relative else [(("", ""), main)]:
            has_auxiliary = shape.aspect == ev.Aspect.PERFECT and shape.voice == ev.Voice.ACTIVE
            for auxiliary in language.perfect_auxiliaries if has_auxiliary else ("",):
                _insert_shape(trie, shape, language, word_class, auxiliary)
    if classes == ("",):
        relative |= {(number, name): trie for (number, _), trie in [*relative.items()] for name in language.classes}
    return main, relative


def _insert_shape(trie: Trie, shape: shapes.ClauseShape, language: Language, word_class: str, auxiliary: str) -> None:
    """Insert a shape into a trie. *auxiliary* is "haben" or "sein" if the shape is an active perfect, otherwise ""."""
    for item in shapes.load_language_shapes(language).find_items(shape):
        content = item.content
        if isinstance(content, Leaf):
            assert content.lemma != shapes.ADVERB
            form = language.replace_auxiliary(content.form, auxiliary)
            name = _NAMES.get(content.lemma, form).format(form=form, frame=shape.frame)
            # The participle's input names the auxiliary, so that "ist geschlafen" has no way through the trie.
            if content.lemma == shapes.VERB and auxiliary:
                name = f"{name} {auxiliary}"
            if word_class and name == RELATIVIZER:
                name = content.form.rpartition(".")[0] + f".{word_class}"
            _, trie = trie.tokens.setdefault(name, trie.make_step())
        elif content.category == "ADVP":
            trie.adverbs = trie.adverbs or [trie.make_step()]
            _, trie = trie.adverbs[0]
        else:
            number = shape.number if content.name == shape.subject else ""
            key = content.name, number, content.case, content.last
            _, trie = trie.phrases.setdefault(key, trie.make_step())
    trie.ends.append(shape)
