"""Tries of the shapes of clauses: one walk along the tokens of a sentence matches all shapes."""

from dataclasses import dataclass, field
from functools import cache

from sentprobe.generator.events import event as ev
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import Leaf


@dataclass(slots=True)
class Trie:
    """A node of the trie: the next node for each input, and the shapes that end at this node.

    ``tokens`` holds the nodes by function word, by form and frame of a verb ("VBD transitive"), by form of a modal
    ("MD modal"), or by RELATIVIZER or QUESTION_WORD.
    ``phrases`` holds the nodes by role and grammatical number of a noun phrase ("" accepts both numbers). ``adverbs``
    holds at most the node after a list of adverbs. A step is its number among the steps of the node, and the next node.
    """

    tokens: dict[str, tuple[int, "Trie"]] = field(default_factory=dict)
    phrases: dict[tuple[str, str], tuple[int, "Trie"]] = field(default_factory=dict)
    adverbs: list[tuple[int, "Trie"]] = field(default_factory=list)
    ends: list[shapes.ClauseShape] = field(default_factory=list)

    def make_step(self) -> tuple[int, "Trie"]:
        """Return a new step, to be added to this node."""
        return len(self.tokens) + len(self.phrases) + len(self.adverbs), Trie()


RELATIVIZER = "a relativizer"
"""The input for a relativizer; function words have no spaces."""
QUESTION_WORD = "a question word"
_NAMES = {
    shapes.VERB: "{form} {frame}",
    shapes.MODAL: "{form} modal",
    shapes.RELATIVIZER: RELATIVIZER,
    shapes.ASKED: QUESTION_WORD,
}
"""The input for a leaf by its placeholder lemma."""


@cache
def load_english_tries() -> tuple[Trie, dict[str, Trie]]:
    """Return the trie of main clauses, and the tries of relative clauses by the modified noun's grammatical number."""
    main = Trie()
    relative = {number.value: Trie() for number in ev.Number}
    for shape in shapes.list_clause_shapes():
        agrees = shape.gap == shape.subject and shape.number
        tries = [relative[shape.number]] if agrees else relative.values()
        tries = tries if shape.is_relative else [main]
        for trie in tries:
            _insert_shape(trie, shape)
    return main, relative


def _insert_shape(trie: Trie, shape: shapes.ClauseShape) -> None:
    for item in shapes.load_english_shapes().find_items(shape):
        content = item.content
        if isinstance(content, Leaf):
            assert content.lemma != shapes.ADVERB
            name = _NAMES.get(content.lemma, content.form).format(form=content.form, frame=shape.frame)
            _, trie = trie.tokens.setdefault(name, trie.make_step())
        elif content.category == "ADVP":
            trie.adverbs = trie.adverbs or [trie.make_step()]
            _, trie = trie.adverbs[0]
        else:
            key = content.name, shape.number if content.name == shape.subject else ""
            _, trie = trie.phrases.setdefault(key, trie.make_step())
    trie.ends.append(shape)
