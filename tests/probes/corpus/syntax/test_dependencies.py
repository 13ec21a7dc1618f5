"""The main clause from dependencies: by hand, from CoNLL-U, and against the trees of the WSJ."""

import io
import lzma
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from helpers.conllu_files import read_conllu
from helpers.oracles.row_agreement import Label, compare_rows
from helpers.oracles.trees_of_lines import read_line_trees
from helpers.oracles.unlabelled_clauses import find_unlabelled_main_clause
from helpers.shared import SHARED, needs_shared
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.corpus.table_rows import Row, build_row
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence
from sentprobe.probes.corpus.universal_labels import DependencyError, find_main_clause_from_dependencies

# Each token as form/tag/head/relation; then verb, subject, its number, object, its number
NAMED: dict[str, tuple[Any, ...]] = {
    "We/PRP/2/nsubj saw/VBD/0/root stars/NNS/2/obj ././2/punct": ("saw", "We", "pl", "stars", "pl"),
    "Ann/NNP/3/nsubj has/VBZ/3/aux gone/VBN/0/root": ("has", "Ann", "sg", None, None),
    "He/PRP/4/nsubj is/VBZ/4/cop a/DT/4/det man/NN/0/root": ("is", "He", "sg", None, None),
    "It/PRP/3/nsubj:pass was/VBD/3/aux:pass seen/VBN/0/root": ("was", "It", "sg", None, None),
    "It/PRP/3/nsubjpass was/VBD/3/auxpass seen/VBN/0/root": ("was", "It", "sg", None, None),
    "There/EX/2/expl was/VBD/0/root rain/NN/2/nsubj": ("was", "rain", "sg", None, None),
    "There/EX/2/expl are/VBP/0/root men/NNS/2/attr": ("are", "men", "pl", None, None),
    "Are/VBP/0/root there/EX/1/expl men/NNS/1/nsubj": ("Are", "men", "pl", None, None),
    "There/EX/2/expl was/VBD/0/root": ("was", "There", None, None, None),
    "It/PRP/3/expl is/VBZ/3/cop true/JJ/0/root he/PRP/5/nsubj ran/VBD/3/csubj": (*("is", "It", "sg", None, None),),
    "Go/VB/0/root home/NN/1/dobj": ("Go", None, None, "home", "sg"),
    "To/TO/2/mark go/VB/0/root": (None, None, None, None, None),
    "The/DT/2/det man/NN/0/root": (None, None, None, None, None),
    "men/NNS/4/nsubj and/CC/3/cc boys/NNS/1/conj ran/VBD/0/root": ("ran", "men", "pl", None, None),
    "Ann/NNP/4/nsubj or/CC/3/cc Jo/NNP/1/conj ran/VBD/0/root": ("ran", "Ann", None, None, None),
    "Ann/NNP/4/nsubj and/CC/1/cc Jo/NNP/1/conj ran/VBD/0/root": ("ran", "Ann", "pl", None, None),
}

UNNAMED: dict[str, tuple[Any, ...]] = {
    "We/PRP/2 saw/VBD/0 stars/NNS/2 ././2": ("saw", "We", "pl", "stars", "pl"),
    "men/NNS/2 have/VBP/0 seen/VBN/2 it/PRP/3": ("have", "men", "pl", "it", "sg"),
    "He/PRP/2 is/VBZ/0 a/DT/4 man/NN/2": ("is", "He", "sg", None, None),
    "He/PRP/2 left/VBD/0 last/JJ/4 year/NN/2": ("left", "He", "sg", None, None),
    "I/PRP/2 sing/VBP/5 and/CC/5 cats/NNS/5 ran/VBD/0": ("sing", "I", "sg", None, None),
    "``/``/4 Go/VB/4 ''/''/4 said/VBD/0 Ann/NNP/4": ("said", "Ann", "sg", None, None),
    "Ann/NNP/4 ,/,/4 the/DT/4 boss/NN/5 ran/VBD/0": ("ran", "Ann", "sg", None, None),
    "Ann/NNP/3 and/CC/3 Jo/NNP/4 ran/VBD/0": ("ran", "Ann", "pl", None, None),
    "Ann/NNP/3 or/CC/3 Jo/NNP/4 ran/VBD/0": ("ran", "Ann", None, None, None),
    "oil/NN/4 and/CC/4 gas/NN/4 prices/NNS/5 rose/VBD/0": ("rose", "prices", "pl", None, None),
    "There/EX/2 are/VBP/0 two/CD/4 men/NNS/2": ("are", "men", "pl", None, None),
    "There/EX/2 have/VBP/0 been/VBN/2 men/NNS/3": ("have", "men", "pl", None, None),
    "There/EX/2 came/VBD/0 a/DT/4 man/NN/2": ("came", "man", "sg", None, None),
    "There/EX/2 was/VBD/0": ("was", "There", None, None, None),
    "A/DT/2 man/NN/0": (None, None, None, None, None),
}


@pytest.mark.parametrize(("text", "expected"), [*NAMED.items(), *UNNAMED.items()])
def test_main_clauses(text: str, expected: tuple[Any, ...]) -> None:
    tokens, tags, heads, *relations = zip(*(token.split("/") for token in text.split()), strict=True)
    find = find_main_clause_from_dependencies if relations else find_unlabelled_main_clause
    clause = find(tokens, tags, [int(head) for head in heads], *relations)
    labels: list[object] = [None if clause.verb is None else tokens[clause.verb]]
    for noun in (clause.subject, clause.object):
        labels += [noun and tokens[noun.index], noun and noun.number]
    assert tuple(labels) == expected


@given(st.data())
def test_dependencies_give_clause_or_error(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 8))
    tags = data.draw(st.lists(st.sampled_from(("NN", "VBD", "CC", ",", "VB", "TO")), min_size=size, max_size=size))
    heads = data.draw(st.lists(st.integers(0, size), min_size=size, max_size=size))
    names = st.sampled_from(("nsubj", "obj", "aux", "conj", "cc", "expl", "_"))
    relations = data.draw(st.lists(names, min_size=size, max_size=size))
    if 0 not in heads:
        with pytest.raises(DependencyError, match="no token is the root"):
            find_main_clause_from_dependencies(["a"] * size, tags, heads, relations)
        return
    for relation_names in (relations, []):
        clause = find_main_clause_from_dependencies(["was"] * size, tags, heads, relation_names)
        assert clause.verb is None or (relation_names and 0 <= clause.verb < size)


def test_incomplete_dependencies_are_refused() -> None:
    with pytest.raises(DependencyError) as caught:
        find_main_clause_from_dependencies(("a", "b"), ("NN",), (0, 1), ("root", "obj"))
    assert str(caught.value) == (
        "2 tokens with 1 tags, 2 heads and 2 relations; there must be one of each for every token"
    )


CONLLU = """\
# sent_id = 1
# tree = (S (NP (NNS men)) (VP (VBD ran)))
1-2\tmen's\t_\t_\t_\t_\t_\t_\t_\t_
1\tmen\tman\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tran\trun\tVERB\tVBD\t_\t0\troot\t_\t_
2.1\tgone\t_\t_\t_\t_\t_\t_\t_\t_

1\tbad\t_\tX\tFW\t_\tx\troot\t_\t_

1\tshort\tX

2\ttwo\t_\tX\tCD\t_\t0\troot\t_\t_

# nothing

1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
"""


def test_conllu_mistakes_have_their_line() -> None:
    sentences = list(read_conllu(io.StringIO(CONLLU)))
    assert [str(sentence) for sentence in sentences if isinstance(sentence, Mistake)] == [
        "line 8: the head of 'bad' is 'x', not a number",
        "line 10: 3 columns, expected 10 with tabs between them",
        "line 12: token 1 has the number '2'",
        "line 14: a block without a token",
    ]
    first, last = (sentence for sentence in sentences if isinstance(sentence, ParsedSentence))
    assert (first.tokens, first.tags, first.heads) == (("men", "ran"), ("NNS", "VBD"), (2, 0))
    assert build_row(first).depth == 4
    assert last.tokens == ("Go",)
    assert build_row(replace(first, tree=None)).depth is None


@needs_shared
def test_english_web_treebank_is_read() -> None:
    sentences = []
    for split in ("dev", "test"):
        path = SHARED / f"treebanks/ewt/en_ewt-ud-{split}.conllu.xz"
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            sentences += list(read_conllu(lines))
    rows = [build_row(sentence) for sentence in sentences if isinstance(sentence, ParsedSentence)]
    assert len(rows) == len(sentences) == 4078
    by_text = {row.text: row for row in rows}
    row = by_text[
        "President Bush on Tuesday nominated two individuals to replace retiring jurists"
        " on federal courts in the Washington area ."
    ]
    assert row.verb is not None and row.subject is not None and row.object is not None
    words = [row.tokens[i] for i in (row.verb, row.subject.index, row.object.index)]
    assert words == ["nominated", "Bush", "individuals"]
    assert (row.subject.number, row.object.number) == ("sg", "pl")


def iterate_wsj_rows() -> Iterator[tuple[Row, Row]]:
    """Yield the rows of each sentence from NLTK's trees and from its dependencies."""
    corpora = SHARED / "nltk_data/corpora"
    with (
        zipfile.ZipFile(corpora / "treebank.zip") as trees,
        zipfile.ZipFile(corpora / "dependency_treebank.zip") as dependencies,
    ):
        for name in sorted(trees.namelist()):
            if not name.endswith(".mrg"):
                continue
            dependency_name = name.replace("treebank/combined", "dependency_treebank").replace("mrg", "dp")
            by_text = {row.text: row for row in _read_dependencies(dependencies.read(dependency_name).decode())}
            for tree in read_line_trees(trees.read(name).decode().splitlines(keepends=True)):
                assert not isinstance(tree, Mistake)
                row = build_row(ParsedSentence(tree=tree))
                yield row, by_text[row.text]


def _read_dependencies(text: str) -> Iterator[Row]:
    for block in text.split("\n\n"):
        if block.strip():
            tokens, tags, heads = zip(*map(str.split, block.strip().splitlines()), strict=True)
            clause = find_unlabelled_main_clause(tokens, tags, tuple(map(int, heads)))
            row = build_row(ParsedSentence(tokens=tokens, tags=tags))
            yield replace(row, verb=clause.verb, subject=clause.subject, object=clause.object)


# What was measured, less one point in a hundred. The routes share only word lists and numbers.
LEAST = {
    Label.TENSE: (0.987, 0.989),
    Label.VERB: (0.984, 0.986),
    Label.SUBJECT: (0.924, 0.935),
    Label.SUBJECT_NUMBER: (0.963, 0.977),
    Label.OBJECT: (0.912, 0.9),
    Label.OBJECT_NUMBER: (0.937, 0.964),
}


@needs_shared
def test_tree_and_dependency_labels_agree() -> None:
    agreements = compare_rows(iterate_wsj_rows())
    rates = {label: (agreements[label].rate, agreements[label].rate_of_both) for label in LEAST}
    for label, (rate, rate_of_both) in LEAST.items():
        assert agreements[label].total == 3914
        assert rates[label][0] >= rate, (label, rates)
        assert rates[label][1] >= rate_of_both, (label, rates)
        assert agreements[label].different
        assert all(disagreement.first != disagreement.second for disagreement in agreements[label].different)
