"""Strategies for Penn bracket trees."""

from hypothesis import strategies as st
from nltk.tree import Tree as NltkTree

PHRASES = ("S", "NP", "VP", "PP", "SBAR", "SINV", "SQ", "WHNP", "NP-SBJ", "NP-SBJ-1", "ADVP|PRT")
TAGS = ("NN", "NNS", "PRP", "VBD", "VBZ", "MD", "TO", "CC", ",", ".", "-LRB-", "``", "$", "NNP-2")
WORDS = ("men", "You", "is", "and", ".", "--", "%", "1\u00a0000", "naïve", "o'clock", "*", "=", "x-y")


@st.composite
def nltk_trees(draw: st.DrawFn, *, root: str = "ROOT") -> NltkTree:
    """Trees under *root* in which each word has a tag."""
    leaf = st.builds(lambda tag, word: NltkTree(tag, [word]), tags(), words())
    node = st.recursive(leaf, _phrases, max_leaves=8)
    return NltkTree(root, draw(st.lists(node.filter(_is_phrase), min_size=1, max_size=2)))


def tags() -> st.SearchStrategy[str]:
    return st.sampled_from(TAGS)


def words() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(WORDS), st.text("ab'-.é\u2028", min_size=1, max_size=4).filter(str.strip))


def _phrases(below: st.SearchStrategy[NltkTree]) -> st.SearchStrategy[NltkTree]:
    inside = st.lists(below, min_size=1, max_size=3)
    return st.builds(NltkTree, st.sampled_from(PHRASES), inside)


def _is_phrase(tree: NltkTree) -> bool:
    return isinstance(tree[0], NltkTree)


def layouts(tree: NltkTree) -> st.SearchStrategy[str]:
    """The text of *tree* on one line or on several, as NLTK writes it."""
    return st.sampled_from((tree.pformat(margin=10_000), tree.pformat(margin=20)))
