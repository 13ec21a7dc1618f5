"""Sentences in reading order with the borders of documents, and trees as lines of symbols."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.shared import SHARED, needs_shared
from helpers.strategies.corpus_strategies import make_table
from helpers.strategies.tree_strategies import nltk_trees
from helpers.thoroughness import examples
from helpers.trainings.text_corpora import documents
from hypothesis import given
from nltk.tree import Tree as NltkTree

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.corpus.table import AnalysisRecipe
from sentprobe.probes.corpus.trees import read_tree
from sentprobe.probes.runs.encoder_training import READERS
from sentprobe.probes.training.corpora import Sentences
from sentprobe.probes.training.objectives import TextKind
from sentprobe.probes.training.pair_texts import read_parallel
from sentprobe.probes.training.running_text import SentenceFiles, linearise, read_sentences, read_trees
from sentprobe.probes.training.text_filters import TextOptions

AS_IS = TextOptions(tokenised=True)


def list_documents(sentences: Sentences) -> list[list[str]]:
    return [[*sentences.texts[start:end]] for start, end in sentences.list_spans()]


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


@examples(60)
@given(documents)
def test_lines_are_read_as_written(tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]]) -> None:
    path = tmp_path_factory.mktemp("lines") / "t.txt"
    write(path, "\n\n".join("\n".join(lines) for lines in texts))
    assert list_documents(read_sentences(path, options=AS_IS)) == texts


@examples(30)
@given(documents)
def test_columns_are_read_as_written(tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]]) -> None:
    folder = tmp_path_factory.mktemp("columns")
    rows = [{"n": n, "text": line} for n, lines in enumerate(texts) for line in lines]
    pq.write_table(pa.Table.from_pylist(rows), folder / "t.parquet")
    write(folder / "t.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    for name in ("t.parquet", "t.jsonl"):
        files = SentenceFiles(document="n")
        assert list_documents(read_sentences(folder / name, files=files, options=AS_IS)) == texts


def test_file_is_a_document(tmp_path: Path) -> None:
    one = write(tmp_path / "1.txt", "a b\nc d\n")
    two = write(tmp_path / "2.txt.xz", lzma.compress(b"\xef\xbb\xbfe f\r\n\r\ng h\r\n"))
    assert list_documents(read_sentences(one, two)) == [["a b", "c d"], ["e f"], ["g h"]]


def test_omitted_sentences_part_neighbours(tmp_path: Path) -> None:
    path = write(tmp_path / "t.txt", f"a b\nc d\n{'x ' * 9}\ne f\n\u00ad\ng h\n")
    sentences = read_sentences(path, options=TextOptions(longest=8))
    assert list_documents(sentences) == [["a b", "c d"], ["e f"], ["g h"]]
    assert str(sentences) == "4 sentences in 3 documents"
    assert str(sentences.omitted) == "2 were left out: 1 without a token, 1 too long"


def test_words_are_tokenised_and_lowered(tmp_path: Path) -> None:
    path = write(tmp_path / "t.txt", "I don't.\nHe's  late, too.\n")
    assert read_sentences(path).texts == ("I do n't .", "He 's late , too .")
    lower = TextOptions(tokenised=True, lower=True)
    assert read_sentences(path, options=lower).texts == ("i don't.", "he's late, too.")


def test_running_text_is_split(tmp_path: Path) -> None:
    punkt = SHARED / "parsers" / "punkt_novels"
    if not punkt.is_dir():
        pytest.skip("the shared data has no parameters of Punkt")
    text = "“Come in.” He sat\ndown. Holmes\nrose…\n\nIt’s late. Go."
    sentences = read_sentences(
        write(tmp_path / "t.txt", text), files=SentenceFiles(format="text"), options=TextOptions(punkt=punkt)
    )
    assert sentences.documents == (0,)
    assert sentences.texts == ("“ Come in . ”", "He sat down .", "Holmes rose …", "It ’s late .", "Go .")


def test_parses_are_sentences(tmp_path: Path) -> None:
    trees = write(tmp_path / "t.mrg", "(S (NP (PRP We)) (VP (VBD slept))(-LRB- -LRB-))\n" * 2)
    assert read_sentences(trees).texts == ("We slept (",) * 2
    word = "1\t{}\t_\tX\tX\t_\t0\troot\t_\t_\n\n"
    block = "# newdoc id = {}\n" + word
    conllu = write(tmp_path / "t.conllu", block.format(1, "one") + word.format("two") + block.format(2, "Don't"))
    sentences = read_sentences(conllu)
    assert list_documents(sentences) == [["one", "two"], ["Don't"]]


def test_lone_carriage_return_is_space(tmp_path: Path) -> None:
    assert read_sentences(write(tmp_path / "t.txt", "a\rb\nc\n")).texts == ("a b", "c")


def test_unknown_column_suggests_nearest(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"line": ["a", None, "b"], "n": [1, 2, 3]}), path)
    sentences = read_sentences(path, files=SentenceFiles(column="line"))
    assert list_documents(sentences) == [["a"], ["b"]]
    with pytest.raises(UsageError, match=r"no column 'lines' \(did you mean 'line'\?\)"):
        read_sentences(path, files=SentenceFiles(column="lines"))


def test_unknown_format_suggests_nearest(tmp_path: Path) -> None:
    path = write(tmp_path / "t", "Don't .\nGo.\n")
    assert read_sentences(path, files=SentenceFiles(format="tokens")).texts == ("Don't .", "Go.")
    with pytest.raises(UsageError, match=r"no format 'line' \(did you mean 'lines'\?\)"):
        read_sentences(path, files=SentenceFiles(format="line"))


def test_pattern_stands_for_files(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write(tmp_path / f"{name}.txt", f"{name}\n")
    sentences = read_sentences(tmp_path / "*.txt")
    assert list_documents(sentences) == [["a"], ["b"]]
    with pytest.raises(UsageError, match=r"\*.txt: stands for 2 files; name one"):
        read_parallel(tmp_path / "*.txt", tmp_path / "a.txt")


def test_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"name at least one file"):
        read_sentences()
    with pytest.raises(UsageError, match=r"there is no such file"):
        read_sentences(tmp_path / "none.txt")
    with pytest.raises(UsageError, match=r"is a folder"):
        read_sentences(tmp_path, files=SentenceFiles(format="lines"))


@needs_shared
@pytest.mark.slow
def test_novels_are_read() -> None:
    path = SHARED / "novels" / "sentences-5-28.txt.xz"
    sentences = read_sentences(path, options=AS_IS)
    assert len(sentences) == 533_103
    assert not sentences.omitted.total


LINE = "(S (NP-SBJ (PRP We)) (VP (VBD did) (RB n't)) (-LRB- -LRB-))"


@examples(60)
@given(nltk_trees())
def test_symbols_and_words_are_the_tree(drawn: NltkTree) -> None:
    tree = read_tree(str(drawn))
    brackets = (
        ")" if symbol[0] == ")" else symbol if symbol[0] == "(" else f"({symbol} word)"
        for symbol in linearise(tree).split()
    )  # fmt: skip
    back = read_tree(" ".join(brackets))
    assert (back.categories, back.stops, back.starts) == (tree.categories, tree.stops, tree.starts)


def test_trees_are_read(tmp_path: Path) -> None:
    bank, lines = tmp_path / "t.mrg", tmp_path / "t.jsonl"
    bank.write_text(f"{LINE}\n( {LINE})\n(S {'(X a)' * 60})\n", "utf-8")
    lines.write_text(json.dumps({"tree": LINE}) + '\n{"tree": null}\n', "utf-8")
    trees = read_trees(bank, lines)
    assert trees.sentences == ("We did n't (",) * 3
    assert trees.trees == ("(ROOT (S (NP PRP )NP (VP VBD RB )VP -LRB- )S )ROOT",) * 3
    assert str(trees.omitted) == "2 were left out: 1 too long, 1 without a tree"
    assert READERS[TextKind.TREES](bank, lines) == trees


BAD_TEXTS: list[tuple[str, str | bytes, str]] = [
    ("t.txt", "", "has no sentence to learn from; at least 2"),
    ("t.txt", "\n \n", "has no sentence to learn from; at least 2"),
    ("t.txt", "one line\n", "has only one sentence to learn from; at least 2"),
    ("t.txt", "a\n" + "x " * 60, "from (1 was left out: 1 too long); at"),
    ("t.txt", b"a\nb\n\xff\n", "t.txt, line 3: not utf-8"),
    ("t.txt", "x" * ((1 << 24) + 1), "t.txt, line 1: longer than 16,777,216 bytes"),
    ("t.doc", "a\nb\n", "t.doc: its suffix names no format; known suffixes: .txt"),
    ("t.parqet", "a\nb\n", "its suffix names no format (did you mean '.parquet'?)"),
    ("t.parquet", b"PAR1 no", "t.parquet: not a Parquet file that can be read"),
    ("t.jsonl", '{"text": "a"}\n{"text": \n', "t.jsonl, line 2: not JSON: "),
    ("t.jsonl", '{"text": "a"}\n[1]\n', "t.jsonl, line 2: expected an object"),
    ("t.jsonl", '{"texts": "a"}\n', "'text' (did you mean 'texts'?); its columns: 'texts'"),
    ("t.jsonl", '{"text": 1}\n', "t.jsonl, row 1: 'text' holds int; text is expected"),
    ("t.tsv", "id\ttext\n1\ta\n2\n", "t.tsv, line 3: expected at least 2 columns"),
    ("t.tsv", "id\ttxt\n1\ta\n", "no column 'text' (did you mean 'txt'?)"),
    ("t.tsv", "text\ttext\na\tb\n", "t.tsv: there is more than one column 'text'"),
    ("t.mrg", "(S (X a))\n(S (X a)\n", "t.mrg, line 2: a bracket is not closed"),
    ("t.conllu", "1\ta\n", "t.conllu, line 1: "),
    ("t.txt.gz", b"\x1f\x8b\x08 no", "t.txt.gz: cannot read it: "),
]
BAD_TREES: list[tuple[str, str | bytes, str]] = [
    ("t.mrg", f"{LINE}\n(S (NP x (X a)))\n", "t.mrg, line 2: the word 'x' has no tag"),
    ("t.mrg", LINE, "t.mrg: has only one tree to learn from"),
    ("t.jsonl", '{"tree": "(S"}', "t.jsonl, row 1: a bracket is not closed"),
    ("t.jsonl", '{"trees": "(S"}', "no column 'tree' (did you mean 'trees'?)"),
    ("t.conllu", "1\tone\t_\tX\tX\t_\t0\troot\t_\t_\n\n", "(1 was left out: 1 without a tree)"),
]
BAD_FILES = [(read, *row) for read, rows in ((read_sentences, BAD_TEXTS), (read_trees, BAD_TREES)) for row in rows]


@pytest.mark.parametrize(("read", "name", "content", "message"), BAD_FILES, ids=[row[-1] for row in BAD_FILES])
def test_bad_file_is_refused(
    tmp_path: Path, read: Callable[[Path], object], name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(SentprobeError) as caught:
        read(write(tmp_path / name, content))
    assert message in str(caught.value)


@needs_shared
def test_treebank_is_read() -> None:
    trees = read_trees(SHARED / "treebanks" / "gum" / "dev.mrg.xz")
    assert len(trees) == 1525
    symbols = {symbol for tree in trees.trees for symbol in tree.split()}
    assert {"(ROOT", ")NP", "NN"} < symbols


def test_corpus_table_is_read(tmp_path: Path) -> None:
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


def test_table_without_constituents_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "t.tok"
    text.write_text("a b\nc d\n", "utf-8")
    table = make_table([text], tmp_path / "table", recipe=AnalysisRecipe(parser="none"))
    with pytest.raises(UsageError, match="its sentences have no constituents"):
        read_trees(table.path)
