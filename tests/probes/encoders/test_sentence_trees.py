"""Trees of sentences: exact ones of the grammar, those of CoNLL-U files, and damaged files."""

import lzma
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from helpers.conllu_files import make_line
from helpers.encoders.sentence_models import make_chain, sample_tree, write_trees
from helpers.strategies.strategies import full_events
from helpers.thoroughness import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.generator.events.event import Event
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import annotate_text, write_conllu
from sentprobe.lexicon import english
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.sentence_trees import load_trees, read_trees

GRAMMAR = load_trees()


@examples(30)
@given(st.data())
def test_grammar_has_trees_that_gen_writes(data: st.DataObject) -> None:
    sentence = realize(data.draw(full_events(english())), english(), id="s1")
    heads = tuple(token.head for token in sentence.tokens)
    with TemporaryDirectory() as folder:
        path = Path(folder, "trees.conllu")
        path.write_text(write_conllu(sentence), encoding="utf-8")
        assert read_trees(path).find_heads([sentence.text]) == [heads]
    try:
        annotate_text(sentence.text, english())
    except SentprobeError:  # ambiguous
        assert GRAMMAR.find(sentence.text) is None
    else:
        assert GRAMMAR.find_heads([sentence.text, sentence.tokens[0].form]) == [heads, (0,)]


@examples(20)
@given(full_events(english()))
def test_grammar_has_trees_of_names_in_lower_case(event: Event) -> None:
    """Training texts are in lower case with --lower."""
    text = realize(event, english()).text
    assert GRAMMAR.find(text.lower()) == GRAMMAR.find(text)


def test_lower_case_file_serves_models_that_read_lower_case(tmp_path: Path) -> None:
    write_trees(tmp_path / "trees.conllu", [("he left", (2, 0)), ("He Left", (0, 1))])
    trees = read_trees(tmp_path / "trees.conllu")
    assert trees.find_heads(["He left", "He Left", "HE left"], lower=True) == [(2, 0), (0, 1), (2, 0)]
    assert GRAMMAR.find_heads(["The man met mary", "doctor Smith met THE MAN"], lower=True) == [
        (2, 3, 0, 3),
        (2, 3, 0, 5, 3),
    ]
    with pytest.raises(EncoderError, match=r"no tree for the sentence 'He left' \(1 of 2"):
        trees.find_heads(["He left", "he left"])


def test_missing_trees_are_counted(tmp_path: Path) -> None:
    write_trees(tmp_path / "trees.conllu", [("He left", (2, 0))])
    trees = read_trees(tmp_path / "trees.conllu")
    assert trees.find_heads([" He  left", "he left", "Yes"]) == [(2, 0), (2, 0), (0,)]
    with pytest.raises(EncoderError, match=r"conllu has no tree for the sentence 'a b' \(2 of 4 requested "):
        trees.find_heads(["He left", "a b", "Yes", "c d e"])
    with pytest.raises(EncoderError, match=r"^the grammar \(en\) has no tree for the sentence 'a b' \(1 of 2"):
        GRAMMAR.find_heads(["a b", "the man slept"])
    for trees, language in ((GRAMMAR, "de"), (load_trees(language="de"), "en")):
        with pytest.raises(
            EncoderError, match=f"; name language={language} or lexicon=FILE if they are of another gram"
        ):
            trees.find_heads(["das Pferd schlief nie ."])


def test_first_of_several_trees_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trees.conllu.xz"
    for name, second in (("same", (2, 0)), ("other", (0, 1))):
        write_trees(tmp_path / name, [("a b", (2, 0)), ("a  b", second), ("A b", (0, 1))])
        path.write_bytes(lzma.compress((tmp_path / name).read_bytes()))
        trees = read_trees(path)
        assert trees.find_heads(["a b", "A b"]) == [(2, 0), (0, 1)]
        note = f"{path}: 1 sentence has several trees; the first of each is read"
        assert trees.notes == ((note,) if name == "other" else ())


LEXICON = """
[noun]
wug = { NNS = "wugs" }
[intransitive]
sleep = { VBP = "sleep", VBZ = "sleeps", VBD = "slept", VBG = "sleeping", VBN = "slept" }
"""


def test_fingerprint_is_of_trees(tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.toml"
    lexicon.write_text(LEXICON, encoding="utf-8")
    wugs = load_trees(lexicon=str(lexicon))
    assert wugs.find_heads(["the wugs slept"]) == [(2, 3, 0)]
    with pytest.raises(UsageError, match="lexicon= is for the grammar, not for trees=x"):
        load_trees(trees="x", lexicon=str(lexicon))
    fingerprints = [wugs.fingerprint, GRAMMAR.fingerprint, load_trees(language="de").fingerprint]
    for heads in ((2, 0), (0, 1), (2, 0)):
        write_trees(tmp_path / "trees.conllu", [("a b", heads)])
        fingerprints.append(read_trees(tmp_path / "trees.conllu").fingerprint)
    assert len(set(fingerprints)) == 5
    assert fingerprints[3] == fingerprints[5]


@examples(40)
@given(st.integers(2, 9), st.integers(0, 999), st.data())
def test_merged_words_form_a_tree(length: int, seed: int, data: st.DataObject) -> None:
    heads = sample_tree(length, np.random.default_rng(seed))
    start = data.draw(st.integers(1, length), label="start")
    end = data.draw(st.integers(start, length), label="end")
    words = [f"w{number}" for number in range(1, length + 1)]
    tokens = [*words[: start - 1], "joined", *words[end:]]
    assume(len(tokens) > 1)
    lines = [make_line(number, word, "X", head) for number, word, head in zip(range(1, 10), words, heads, strict=False)]
    lines.insert(start - 1, make_line(f"{start}-{end}", "joined", "_"))
    with TemporaryDirectory() as folder:
        path = Path(folder, "trees.conllu")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        separate, merged = read_trees(path).find_heads([" ".join(words), " ".join(tokens)])
    assert separate == heads
    assert merged.count(0) == 1
    for place, token in enumerate(tokens):
        above = list_words_above(merged, place)
        assert len(set(above)) == len(above)  # no circle
        if token != "joined":
            head = heads[words.index(token)]
            expected = "" if head == 0 else "joined" if start <= head <= end else words[head - 1]
            assert (tokens[merged[place] - 1] if merged[place] else "") == expected


def list_words_above(heads: Sequence[int], place: int) -> list[int]:
    above: list[int] = []
    while heads[place] and len(above) <= len(heads):
        place = heads[place] - 1
        above.append(place)
    return above


def test_parts_of_word_with_space_are_below_the_first(tmp_path: Path) -> None:
    words = [("parce que", 3), ("il", 3), ("dort", 0), ("\u00a0", 3), ("1 000 fois", 4)]
    lines = [make_line(number, word, "X", head) for number, (word, head) in enumerate(words, 1)]
    (tmp_path / "trees.conllu").write_text("\n".join(lines) + "\n", encoding="utf-8")
    trees = read_trees(tmp_path / "trees.conllu")
    assert trees.find_heads(["parce que il dort _ 1 000 fois"]) == [(4, 1, 4, 0, 4, 5, 6, 6)]


DAMAGED = [
    ((2, 9), "line 4: the head of word 2 is 9, but there are 2 words"),
    ((0, 0), "line 4: 2 words with the head 0; exactly one is expected"),
    ((2, 1), "line 3: 0 words with the head 0; exactly one is expected"),
    ((0, 3, 2), "line 4: the heads above word 2 form a circle"),
    ((0, "x"), "line 4: the head of 'w' is 'x', not a number"),
    ((0, "1\t"), "line 4: 11 columns, expected 10 with tabs between them"),
]


@pytest.mark.parametrize(("heads", "message"), DAMAGED)
def test_damaged_tree_is_refused_by_line(tmp_path: Path, heads: Sequence[object], message: str) -> None:
    path = tmp_path / "trees.conllu"
    lines = [make_line(1, "Yes", "X", 0), " ", *(make_line(n, "w", "X", head) for n, head in enumerate(heads, 1))]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(EncoderError) as caught:
        read_trees(path)
    assert str(caught.value) == f"{path}, {message}"


def test_file_without_sentences_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.conllu").write_text("\n", encoding="utf-8")
    with pytest.raises(EncoderError, match="there is no sentence in it"):
        read_trees(tmp_path / "empty.conllu")
    for path, start in ((tmp_path / "cut.conllu.xz", b"\xfd7zXZ\x00"), (tmp_path / "cut.conllu.gz", b"\x1f\x8b")):
        path.write_bytes(start)
        with pytest.raises(EncoderError, match=r"cut\.conllu\.[gx]z: cannot read it"):
            read_trees(path)
    with pytest.raises(UsageError, match=r"none\.conllu"):
        read_trees(tmp_path / "none.conllu")


def test_deep_tree_is_read(tmp_path: Path) -> None:
    write_trees(tmp_path / "trees.conllu", [(" ".join("a" * 2000), make_chain(2000))])
    assert read_trees(tmp_path / "trees.conllu").find_heads([" ".join("a" * 2000)]) == [make_chain(2000)]
