"""Reading of trees, and their lines of symbols."""

import json
from pathlib import Path

import pytest
from helpers.shared import SHARED, needs_shared
from helpers.strategies.corpus_strategies import make_table
from helpers.strategies.tree_strategies import nltk_trees
from helpers.thoroughness import examples
from hypothesis import given
from nltk.tree import Tree as NltkTree

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.corpus.table import AnalysisRecipe
from sentprobe.probes.corpus.trees import read_tree
from sentprobe.probes.training.objectives import READERS, TextKind
from sentprobe.probes.training.running_text import linearise, read_sentences, read_trees

LINE = "(S (NP-SBJ (PRP We)) (VP (VBD did) (RB n't)) (-LRB- -LRB-))"


@examples(60)
@given(nltk_trees())
def test_a_line_of_symbols_and_the_words_are_the_tree(drawn: NltkTree) -> None:
    tree = read_tree(str(drawn))
    brackets = (
        ")" if symbol[0] == ")" else symbol if symbol[0] == "(" else f"({symbol} word)"
        for symbol in linearise(tree).split()
    )  # fmt: skip
    back = read_tree(" ".join(brackets))
    assert (back.categories, back.stops, back.starts) == (tree.categories, tree.stops, tree.starts)


def test_trees_and_their_words(tmp_path: Path) -> None:
    bank, lines = tmp_path / "t.mrg", tmp_path / "t.jsonl"
    bank.write_text(f"{LINE}\n( {LINE})\n(S {'(X a)' * 60})\n", "utf-8")
    lines.write_text(json.dumps({"tree": LINE}) + '\n{"tree": null}\n', "utf-8")
    trees = read_trees(bank, lines)
    assert trees.sentences == ("We did n't (",) * 3
    assert trees.trees == ("(ROOT (S (NP PRP )NP (VP VBD RB )VP -LRB- )S )ROOT",) * 3
    assert str(trees.omitted) == "2 were left out: 1 too long, 1 without a tree"
    assert READERS[TextKind.TREES](bank, lines) == trees


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.mrg", f"{LINE}\n(S (NP x (X a)))\n", "t.mrg, line 2: the word 'x' has no tag"),
        ("t.mrg", LINE, "t.mrg: has only one tree to learn from"),
        ("t.jsonl", '{"tree": "(S"}', "t.jsonl, row 1: a bracket is not closed"),
        ("t.jsonl", '{"trees": "(S"}', "no column 'tree' (did you mean 'trees'?)"),
        ("t.conllu", "1\tone\t_\tX\tX\t_\t0\troot\t_\t_\n\n", "(1 was left out: 1 without a tree)"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(SentprobeError) as caught:
        read_trees(tmp_path / name)
    assert message in str(caught.value)


@needs_shared
def test_a_treebank() -> None:
    trees = read_trees(SHARED / "treebanks" / "gum" / "dev.mrg.xz")
    assert len(trees) == 1525
    symbols = {symbol for tree in trees.trees for symbol in tree.split()}
    assert {"(ROOT", ")NP", "NN"} < symbols


def test_the_table_of_a_corpus(tmp_path: Path) -> None:
    """A corpus table has each sentence once, so trees follow that were not neighbours."""
    bank = tmp_path / "t.mrg"
    words = ("one", "two", "one", "three", "four")
    bank.write_text("".join(f"(S (NP (NN {word})) (. .))\n" for word in words), "utf-8")
    table = make_table([bank], tmp_path / "table")
    trees = read_trees(table.path)
    assert trees.sentences == ("one .", "two .", "three .", "four .")
    assert set(trees.trees) == {"(ROOT (S (NP NN )NP . )S )ROOT"}
    sentences = read_sentences(table.path)
    assert sentences.texts == trees.sentences
    assert sentences.documents == (0, 2)


def test_a_table_without_constituents(tmp_path: Path) -> None:
    text = tmp_path / "t.tok"
    text.write_text("a b\nc d\n", "utf-8")
    table = make_table([text], tmp_path / "table", recipe=AnalysisRecipe(parser="none"))
    with pytest.raises(UsageError, match="its sentences have no constituents"):
        read_trees(table.path)
