"""Penn brackets: agreement with NLTK, writers' conventions, traces, and broken trees."""

import io
import tracemalloc
import zipfile
from itertools import islice

import pytest
from helpers.oracles.trees_of_lines import read_line_trees
from helpers.shared import SHARED, needs_shared
from helpers.strategies.tree_strategies import layouts, nltk_trees, words
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from nltk.tree import Tree as NltkTree

from sentprobe.probes.corpus.tree_files import FilePiece, split_trees
from sentprobe.probes.corpus.trees import (
    Mistake,
    Tree,
    TreeError,
    escape_word,
    iterate_nodes,
    list_children,
    parse_trees,
    read_tree,
    unescape_word,
    write_tree,
)


def to_nltk(tree: Tree, node: int = 0) -> NltkTree:
    below = [to_nltk(tree, child) for child in list_children(tree, node)]
    return NltkTree(tree.categories[node], below or [tree.words[tree.starts[node]]])


def simplify_tree(tree: NltkTree) -> NltkTree:
    """Return NLTK's tree with plain labels and words, by recursion and without our tables."""
    label = tree.label()
    if not label.startswith("-"):
        label = label.replace("=", "-").replace("|", "-").split("-")[0]
    if isinstance(tree[0], str):
        return NltkTree(label, [unescape_word(tree[0])])
    below = [simplify_tree(child) for child in tree]
    return NltkTree(label, [child for child in below if child and child.label() != "-NONE-"])


@given(st.data())
def test_reads_what_nltk_reads(data: st.DataObject) -> None:
    expected = data.draw(nltk_trees(root=data.draw(st.sampled_from(("", "ROOT", "TOP", "S1")))))
    tree = read_tree(data.draw(layouts(expected)))
    expected.set_label("ROOT")
    assert to_nltk(tree) == simplify_tree(expected)
    leaves = [(unescape_word(word), tag) for word, tag in expected.pos()]
    assert list(tree.words) == [word for word, _ in leaves]
    assert len(tree.tags) == len(tree.words)
    assert max(depth for _, depth in iterate_nodes(tree)) == expected.height() - 2


@given(nltk_trees())
def test_written_tree_reads_back(expected: NltkTree) -> None:
    tree = read_tree(expected.pformat(margin=10_000))
    text = write_tree(tree)
    assert "\n" not in text
    assert read_tree(text) == tree
    assert to_nltk(tree) == simplify_tree(NltkTree.fromstring(text, leaf_pattern="[^ ()]+"))


@given(nltk_trees())
def test_spans_are_those_of_the_leaves(expected: NltkTree) -> None:
    tree = read_tree(expected.pformat())
    assert tree.find_end(0) == len(tree.words)
    for node, _ in iterate_nodes(tree):
        below = list_children(tree, node)
        if below:
            assert tree.starts[node] == tree.starts[below[0]]
            assert tree.find_end(node) == tree.find_end(below[-1])
            ends = [tree.find_end(child) for child in below[:-1]]
            assert ends == [tree.starts[child] for child in below[1:]]
        else:
            assert tree.find_end(node) == tree.starts[node] + 1


@examples(40)
@given(st.lists(nltk_trees(), max_size=3), st.data())
def test_stream_gives_trees_in_order(trees: list[NltkTree], data: st.DataObject) -> None:
    text = "\n".join(data.draw(layouts(tree)) for tree in trees)
    separator = data.draw(st.sampled_from(("\n", "\n\n")))
    parsed = list(read_line_trees(io.StringIO(text.replace("\n(ROOT", f"{separator}(ROOT"))))
    assert parsed == [read_tree(tree.pformat()) for tree in trees]


@examples(40)
@given(st.lists(nltk_trees(), min_size=1, max_size=3))
def test_several_trees_may_share_a_line(trees: list[NltkTree]) -> None:
    line = " ".join(tree.pformat(margin=10_000) for tree in trees)
    assert parse_trees(line) == [read_tree(tree.pformat()) for tree in trees]
    assert list(read_line_trees([line])) == parse_trees(line)


@given(nltk_trees(), st.data())
def test_damaged_tree_is_one_mistake(tree: NltkTree, data: st.DataObject) -> None:
    line = tree.pformat(margin=10_000)
    at = data.draw(st.sampled_from([i for i, sign in enumerate(line) if sign in "()"]))
    damaged = line[:at] + line[at + 1 :]
    outcomes = list(read_line_trees([f"{line}\n", f"{damaged}\n", f"{line}\n"]))
    assert outcomes[0] == outcomes[-1] == read_tree(line)
    assert any(isinstance(outcome, Mistake) and outcome.line in (1, 2, 3) for outcome in outcomes[1:-1])


@given(st.text("()SNP abc-\n\\`'", max_size=60))
def test_text_gives_trees_or_mistakes(text: str) -> None:
    for outcome in read_line_trees(text.splitlines(keepends=True)):
        if isinstance(outcome, Tree):
            assert outcome.words
            assert read_tree(write_tree(outcome)) == outcome
        else:
            assert outcome.line >= 1
            assert outcome.message


@given(words() | st.text("()[]{}-LRSBC/\\*`'", min_size=1).filter(str.strip))
def test_plain_words_survive_escaping(word: str) -> None:
    plain = unescape_word(unescape_word(word))
    if plain == unescape_word(plain):
        assert unescape_word(escape_word(plain)) == plain
    assert not set("()") & set(escape_word(word))


def test_words_lose_treebank_escapes() -> None:
    text = r"(NP (-LRB- -LRB-) (CD 1\/2) (`` ``) (NN a\*b) ('' '') (NFP :-RRB-) (-RRB- -rrb-))"
    tree = read_tree(text)
    assert tree.words == ("(", "1/2", '"', "a*b", '"', ":)", ")")
    assert tree.tags == ("-LRB-", "CD", "``", "NN", "''", "NFP", "-RRB-")
    assert "(-LRB- -LRB-)" in write_tree(tree)


def test_traces_and_empty_nodes_are_removed() -> None:
    tree = read_tree(
        "( (S (NP-SBJ-1 (NNS men)) (VP (VBP want) (S (NP-SBJ (-NONE- *-1)) (VP (TO to)"
        " (VP (VB be) (VP (VBN seen) (NP (-NONE- *-1)) (SBAR (-NONE- 0) (S (-NONE- *T*)))))))))) "
    )
    assert write_tree(tree) == (
        "(ROOT (S (NP-SBJ (NNS men)) (VP (VBP want) (S (VP (TO to) (VP (VB be) (VP (VBN seen))))))))"
    )
    assert tree.list_functions(2) == ["SBJ"]


@pytest.mark.parametrize("outermost", ["", "ROOT", "TOP", "S1"])
def test_outermost_bracket_becomes_root(outermost: str) -> None:
    inner = "(S (NP (PRP We)) (VP (VBD slept)))"
    assert read_tree(f"({outermost} {inner} )") == read_tree(inner)


def test_charniak_auxiliary_tags_become_verb_tags() -> None:
    tree = read_tree("(S1 (VP (AUX Is) (AUXG being) (VBN seen) (AUX be)))")
    assert tree.tags == ("VBZ", "VBG", "VBN", "VB")


BROKEN = {
    "(S (NP (NN dog))": "a bracket is not closed in the tree that begins '(S (NP (NN dog))'",
    "(S (NP (NN": "3 brackets are not closed in the tree that begins '(S (NP (NN'",
    "(S (NN dog)))": "a closing bracket that no bracket opens",
    "(S (NP the dog))": "the word 'the' has no tag (expected a word as '(TAG word)')",
    "(S (NP (NN dog)) (VP))": "a bracket with no word in it",
    "(S (NP (-NONE- *)))": "a bracket with no word in it",
    "()": "a bracket with no word in it",
    "(S ((NN dog)))": "a bracket without a label inside a tree",
    "(-NONE- *)": "expected one tree, found none",
    "": "expected one tree, found none",
    "(S (NN a)) (S (NN b))": "expected one tree, found 2",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_tree_is_refused(text: str) -> None:
    with pytest.raises(TreeError) as caught:
        read_tree(text)
    assert str(caught.value) == BROKEN[text]


def test_mistakes_have_their_line() -> None:
    lines = """\
(ROOT (S (NP (NN one))))
Sentence #2
(ROOT
  (S
    (NP the two)))
(ROOT (S (NP (NN three))
(ROOT (S
  (NP (NN four))))
(ROOT (S (NP (NN five))))))
(ROOT (-NONE- *))
(ROOT (S (NP (NN six))))
(ROOT (S
""".splitlines(keepends=True)
    outcomes = list(read_line_trees(lines))
    assert [str(outcome) if isinstance(outcome, Mistake) else outcome.words for outcome in outcomes] == [
        ("one",),
        "line 2: expected '(', found 'Sentence #2'",
        "line 5: the word 'the' has no tag (expected a word as '(TAG word)')",
        "line 6: 2 brackets are not closed in the tree that begins '(ROOT (S (NP (NN three))'",
        ("four",),
        "line 9: a closing bracket that no bracket opens",
        "line 10: a bracket with no word in it",
        ("six",),
        "line 12: 2 brackets are not closed in the tree that begins '(ROOT (S'",
    ]


@pytest.mark.parametrize("broken", ["(SINV (NN x)", "(SINV (NN x) (NN", "(S (NN x)"])
def test_broken_line_loses_one_tree(broken: str) -> None:
    sound = ["(S (NN a))", "(NP (NN b))", "( (FRAG (NN c)))", "(S (NN d))"]
    outcomes = list(read_line_trees([sound[0], broken, *sound[1:]]))
    assert [str(outcome)[:6] if isinstance(outcome, Mistake) else outcome.words for outcome in outcomes] == [
        ("a",),
        "line 2",
        ("b",),
        ("c",),
        ("d",),
    ]


def test_first_column_bracket_may_be_inner() -> None:
    lines = ["(S (NN a))", "(S", "(NP (NN men))", "(VP (VBD ran)))", "(S (NN a))", "(S (NN b)", ")"]
    outcomes = list(read_line_trees(lines))
    assert [tree.words for tree in outcomes if isinstance(tree, Tree)] == [("a",), ("men", "ran"), ("a",), ("b",)]


def test_million_brackets_are_one_short_mistake() -> None:
    (mistake,) = read_line_trees(["(" * 1_000_000])
    assert isinstance(mistake, Mistake)
    assert len(str(mistake)) < 200
    deep = "(S " * 250_000 + "(NN x)" + ")" * 250_000
    (tree,) = read_line_trees([deep])
    assert isinstance(tree, Tree)
    assert read_tree(write_tree(tree)) == tree


def test_splitting_needs_little_memory() -> None:
    lines = ("(ROOT (S (NP (NN dog))))\n" for _ in range(50_000))
    tracemalloc.start()
    try:
        assert sum(isinstance(piece, FilePiece) for piece in split_trees(lines)) == 50_000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@needs_shared
def test_treebank_reads_as_by_nltk() -> None:
    with zipfile.ZipFile(SHARED / "nltk_data/corpora/treebank.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".mrg")]
        texts = [archive.read(name).decode() for name in sorted(names)]
    trees = [tree for text in texts for tree in read_line_trees(text.splitlines(keepends=True))]
    assert len(trees) == 3914
    assert not [tree for tree in trees if isinstance(tree, Mistake)]
    for text in islice(texts, 0, None, 8):
        parsed_trees = [tree for tree in read_line_trees(text.splitlines(keepends=True))]
        expected_trees = [
            NltkTree.fromstring(piece.text)
            for piece in split_trees(text.splitlines(True))
            if isinstance(piece, FilePiece)
        ]
        for parsed, expected in zip(parsed_trees, expected_trees, strict=True):
            assert isinstance(parsed, Tree)
            expected.set_label("ROOT")
            assert to_nltk(parsed) == _prune(simplify_tree(expected))


def _prune(tree: NltkTree) -> NltkTree:
    below = [child if isinstance(child, str) else _prune(child) for child in tree]
    return NltkTree(tree.label(), [child for child in below if len(child)])
