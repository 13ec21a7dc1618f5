"""The trees of all constructions, checked against the Penn Treebank's bracketing guidelines, stated here by hand.

The guidelines are patterns of the children of each phrase. They know nothing of the grammar or of the words.
"""

import re
from collections.abc import Iterator

import pytest
from nltk import Tree
from syrupy.assertion import SnapshotAssertion

from sentprobe.generator.events.event import Mood, Negator, Role
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english

LEXICON = english()
NEGATED = "( RB)?( ADVP)?"
PHRASES = {
    "NP": ["DT( JJ)* (NN|NNS)", "NP SBAR", "NP CC NP"],
    "ADVP": ["RB(( ,)? RB)*"],
    "PP": ["(IN|TO) NP", "IN", "TO"],
    "SBAR": ["WHNP S"],
    "WHNP": ["WDT|WP"],
    "VP": [
        "(VB|VBD|VBG|VBN|VBP|VBZ)( NP){0,2}( PP){0,2}",
        f"(VBD|VBP|VBZ|MD){NEGATED} VP",
        f"VB{NEGATED} VP",  # "be" after a modal, "do" in an order
        "VBG VP",  # "being"
    ],
    "S": ["NP( ADVP)? VP", "(ADVP )?VP"],
    "SQ": [f"(VBD|VBP|VBZ|MD)( RB)? NP{NEGATED} VP", "(ADVP )?VP"],
    "SBARQ": ["WHNP SQ"],
}
"""The children of each phrase: regular expressions, one of which matches all of them."""
GUIDELINES = {label: re.compile("|".join(patterns)) for label, patterns in PHRASES.items()}


def find_violations(text: str) -> Iterator[str]:
    """Yield the phrases of a tree that the guidelines do not allow."""
    for phrase in Tree.fromstring(text).subtrees(lambda tree: tree.height() > 2):
        children = " ".join(child.label() for child in phrase)
        if phrase.label() not in GUIDELINES or not GUIDELINES[phrase.label()].fullmatch(children):
            yield f"{phrase.label()} -> {children}"


NEGATORS = tuple(Negator)
MODALS = (None, "can", "must")
CONSTRUCTIONS = {
    "adjectives": ("transitive-rc", Choices(adjectives=(0, 1), adverbs=(0, 2), negators=NEGATORS)),
    "coordination": ("transitive-rc", Choices(coordinations=(1, 2), negators=NEGATORS)),
    "modals": ("transitive-rc", Choices(modals=MODALS, adverbs=(0, 1), negators=NEGATORS)),
    "questions": ("transitive-rc", Choices(moods=(Mood.QUESTION,), adverbs=(0, 1), modals=MODALS, negators=NEGATORS)),
    "wh-questions": ("transitive-rc", Choices(moods=(Mood.QUESTION,), asked=(Role.AGENT, Role.PATIENT))),
    "orders": ("transitive-rc", Choices(moods=(Mood.ORDER,), adverbs=(0, 1), negators=NEGATORS)),
    "recipients": ("ditransitive-rc", Choices(negators=NEGATORS, modals=MODALS)),
    "recipients in questions and orders": ("ditransitive", Choices(moods=tuple(Mood), coordinations=(0, 1))),
    "recipients in relative clauses": ("transitive-rc-ditransitive", Choices(moods=tuple(Mood))),
}


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_drawn_trees_follow_guidelines(name: str) -> None:
    template, choices = CONSTRUCTIONS[name]
    space = Space(LEXICON, vocabulary="everyday", templates=[template], choices=choices)
    trees = [realize(event, LEXICON).tree for event in space.events(space.sample(150, seed=8))]
    assert {violation for tree in trees for violation in find_violations(tree)} == set()


SENTENCES = (
    "do n't give the old doctor the pen",
    "the men might not be giving the pen to the doctor",
    "what was n't the man seizing",
    "who ca n't help the man and the woman",
    "is the pen often being shown to the man by the woman",
    "the man gave the doctor the pen",
    "the man gave the pen to the doctor",
    "the doctor that the man gave the pen to slept",
)


def test_trees_are_as_stored(stored_text: SnapshotAssertion) -> None:
    """The trees were written by hand."""
    trees = {text: realize(parse(text, LEXICON)[0], LEXICON).tree for text in SENTENCES}
    assert {text: [*find_violations(tree)] for text, tree in trees.items()} == {text: [] for text in SENTENCES}
    assert "".join(f"{text}\n{tree}\n" for text, tree in trees.items()) == stored_text


@pytest.mark.parametrize(
    "tree",
    [
        "(S (VP (VB give) (NP (DT the) (NN man) (CC and) (DT the) (NN woman))))",
        "(SQ (VBD did) (S (NP (DT the) (NN man)) (VP (VB sleep))))",
        "(SBARQ (WHNP (WP who)) (S (VP (VBD slept))))",
        "(S (NP (DT the) (NN man)) (VP (MD can) (VB sleep)))",
        "(S (NP (DT the) (ADJP (JJ old)) (NN man)) (VP (VBZ sleeps)))",
    ],
)
def test_other_bracketings_are_found(tree: str) -> None:
    assert any(find_violations(tree))
