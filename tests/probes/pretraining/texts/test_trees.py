"""Trees in a line of symbols, and back."""

import json
from pathlib import Path

import pytest
from corpus_strategies import make_table
from hypothesis import given
from nltk.tree import Tree as NltkTree
from shared import SHARED, needs_shared
from thoroughness import examples
from tree_strategies import nltk_trees

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.corpus.recipe import Recipe
from sentprobe.probes.pretraining.texts.linear import linearise, tree_of
from sentprobe.probes.pretraining.texts.open_texts import TextKind, open_texts
from sentprobe.probes.pretraining.texts.sentences import read_sentences
from sentprobe.probes.pretraining.texts.trees import read_trees
from sentprobe.probes.syntax.trees import TreeError, read_tree

LINE = "(S (NP-SBJ (PRP We)) (VP (VBD did) (RB n't)) (-LRB- -LRB-))"


@examples(60)
@given(nltk_trees())
def test_a_line_of_symbols_and_the_words_are_the_tree(drawn: NltkTree) -> None:
    tree = read_tree(str(drawn))
    symbols = linearise(tree)
    back = tree_of(symbols, tree.words)
    assert (back.categories, back.stops, back.starts, back.words) == (
        tree.categories, tree.stops, tree.starts, tree.words
    )  # fmt: skip
    assert linearise(back) == symbols


@pytest.mark.parametrize(
    ("symbols", "said"),
    [
        ("(S NN", "no tree of 1 words: 1 constituents are open"),
        ("(S NN )NP", "'[)]NP' closes no constituent"),
        ("(S NN )S NN", "'NN' stands after the end"),
        ("(S NN NN )S", "no tree of 1 words: it has 2 tags"),
    ],
)
def test_symbols_that_are_no_tree(symbols: str, said: str) -> None:
    with pytest.raises(TreeError, match=said):
        tree_of(symbols, ["a"])


def test_trees_and_their_words(tmp_path: Path) -> None:
    bank, lines = tmp_path / "t.mrg", tmp_path / "t.jsonl"
    bank.write_text(f"{LINE}\n( {LINE})\n(S {'(X a)' * 60})\n", "utf-8")
    lines.write_text(json.dumps({"tree": LINE}) + '\n{"tree": null}\n', "utf-8")
    found = read_trees(bank, lines)
    assert found.sentences == ("We did n't (",) * 3
    assert found.trees == ("(ROOT (S (NP PRP )NP (VP VBD RB )VP -LRB- )S )ROOT",) * 3
    assert str(found.omitted) == "2 were left out: 1 too long, 1 without a tree"
    assert open_texts(TextKind.TREES, bank, lines) == found


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.mrg", f"{LINE}\n(S (NP x (X a)))\n", "t.mrg, line 2: the word 'x' has no tag"),
        ("t.mrg", LINE, "t.mrg: has only one tree to learn from"),
        ("t.jsonl", '{"tree": "(S"}', "t.jsonl, row 1: a bracket is not closed"),
        ("t.jsonl", '{"trees": "(S"}', "no column 'tree' (did you mean 'trees'?)"),
        ("t.conllu", "1\tone\t_\tX\tX\t_\t0\troot\t_\t_\n\n", "(1 was left out: 1 without a tree)"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(SentprobeError) as caught:
        read_trees(tmp_path / name)
    assert said in str(caught.value)


@needs_shared
def test_a_treebank() -> None:
    found = read_trees(SHARED / "treebanks" / "gum" / "dev.mrg.xz")
    assert len(found) == 1525
    symbols = {symbol for tree in found.trees for symbol in tree.split()}
    assert {"(ROOT", ")NP", "NN"} < symbols


def test_the_table_of_a_corpus(tmp_path: Path) -> None:
    """It has each sentence once: where it left one out, two that were apart are neighbours."""
    bank = tmp_path / "t.mrg"
    words = ("one", "two", "one", "three", "four")
    bank.write_text("".join(f"(S (NP (NN {word})) (. .))\n" for word in words), "utf-8")
    table = make_table([bank], tmp_path / "table")
    found = read_trees(table.path)
    assert found.sentences == ("one .", "two .", "three .", "four .")
    assert set(found.trees) == {"(ROOT (S (NP NN )NP . )S )ROOT"}
    sentences = read_sentences(table.path)
    assert sentences.texts == found.sentences
    assert sentences.documents == (0, 2)


def test_a_table_without_constituents(tmp_path: Path) -> None:
    text = tmp_path / "t.tok"
    text.write_text("a b\nc d\n", "utf-8")
    table = make_table([text], tmp_path / "table", recipe=Recipe(parser="none"))
    with pytest.raises(UsageError, match="its sentences have no constituents"):
        read_trees(table.path)
