"""Many sentences at once are the same as the same sentences one by one, in every format."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.strategies.space_strategies import spaces
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.generator.bulk import columns, generate, generation, word_tables
from sentprobe.generator.bulk.generate import read_file, write_annotated, write_file
from sentprobe.generator.events.event import Negator
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import (
    FORMAT_NAMES,
    PARQUET,
    RECORD_FORMATS,
    annotate_text,
    write_conllu,
)
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, Lexicon, Vocabulary, Word, english
from sentprobe.lexicon.words import OPEN_KINDS


def realize_all(space: Space, indices: IndexArray) -> list[Sentence]:
    """The sentences at *indices*, realized one after another."""
    templates = {
        place: batch.layout.pattern.name for batch in space.batches(indices) for place in batch.positions.tolist()
    }
    return [
        replace(
            realize(event, space.lexicon, id=f"s{place + 1}"), template=templates[place], index=indices.tolist()[place]
        )
        for place, event in enumerate(space.events(indices))
    ]


def drop_origin(sentences: list[Sentence]) -> list[Sentence]:
    """The sentences as text and trees keep them: template and index are lost."""
    return [replace(sentence, template="", index=None) for sentence in sentences]


def write_in_bulk(space: Space, indices: IndexArray, fmt: str, folder: Path) -> Path:
    """The file of the sentences at *indices* by the fast path."""
    path = folder / f"bulk.{fmt}"
    write_file(space, indices, path, fmt)
    return path


@examples(40)
@given(space=spaces(), seed=st.integers(0, 2**32), count=st.integers(1, 30))
def test_bulk_equals_one_by_one(space: Space, seed: int, count: int) -> None:
    """Bytes, and the sentences read back, in every format; so the order is that of the indices."""
    indices = space.sample(min(count, space.count()), seed=seed)
    expected = realize_all(space, indices)
    with TemporaryDirectory() as name:
        for fmt in FORMAT_NAMES:
            path = write_in_bulk(space, indices, fmt, Path(name))
            if fmt != PARQUET:
                text = "".join(map(RECORD_FORMATS[fmt].write, expected))
                assert path.read_bytes().decode() == text
            lossy = fmt in ("text", "trees")
            actual = list(read_file(path, space.lexicon, fmt))
            assert actual == (drop_origin(expected) if lossy else expected)


@examples(5)
@given(space=spaces(), seed=st.integers(0, 2**32))
def test_chunk_borders_do_not_show(space: Space, seed: int) -> None:
    indices = space.sample(min(30, space.count()), seed=seed)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        for fmt in FORMAT_NAMES:
            unchunked = write_in_bulk(space, indices, fmt, Path(name))
            expected = unchunked.read_bytes()
            sentences = list(read_file(unchunked, space.lexicon, fmt))
            patch.setattr(generation, "CHUNK_SIZE", 14)
            patch.setattr(generation, "PART_SIZE", 4)
            patch.setattr(generate, "ROW_GROUP_SIZE", 10)
            cut = write_in_bulk(space, indices, fmt, Path(name))
            patch.undo()
            assert list(read_file(cut, space.lexicon, fmt)) == sentences
            assert fmt == PARQUET or cut.read_bytes() == expected


@examples(15)
@given(space=spaces(), seed=st.integers(0, 2**32))
def test_annotated_file_reads_back(space: Space, seed: int) -> None:
    """Also sentences that do not come from a space."""
    indices = space.sample(min(10, space.count()), seed=seed)
    sentences = drop_origin(realize_all(space, indices))
    with TemporaryDirectory() as name:
        for fmt in FORMAT_NAMES:
            path = Path(name) / f"some.{fmt}"
            write_annotated(sentences, path, fmt)
            assert list(read_file(path, space.lexicon, fmt)) == sentences


SCRIPT = """
import sys
from pathlib import Path
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.bulk.generate import write_file
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english
space = Space(english(), templates=["all"], choices=Choices(adverbs=(0, 2)))
for path in sys.argv[1:]:
    write_file(space, space.sample(300, seed=5), Path(path))
"""
SUFFIXES = (".txt", ".jsonl", ".conllu", ".trees", ".parquet")


@pytest.fixture(scope="module")
def made_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files from a process whose sets and dictionaries are ordered otherwise."""
    folder = tmp_path_factory.mktemp("elsewhere")
    environment = os.environ | {"PYTHONHASHSEED": "12345", "PYTHONPATH": os.pathsep.join(sys.path)}
    files = [str(folder / f"three{suffix}") for suffix in SUFFIXES]
    subprocess.run([sys.executable, "-c", SCRIPT, *files], check=True, env=environment)
    return folder


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_same_seed_same_bytes(tmp_path: Path, suffix: str, made_elsewhere: Path) -> None:
    """Twice in this process, and in another."""
    space = Space(english(), templates=["all"], choices=Choices(adverbs=(0, 2)))
    files = [tmp_path / f"{name}{suffix}" for name in ("one", "two")]
    for path in files:
        write_file(space, space.sample(300, seed=5), path)
    files.append(made_elsewhere / f"three{suffix}")
    assert len({path.read_bytes() for path in files}) == 1


def _unsafe(word: Word) -> Word:
    lemma = f'{word.lemma}"\\\\n'
    return Word(lemma, word.kind, {form: lemma + form for form in word.forms})


@pytest.mark.parametrize("fmt", ["jsonl", PARQUET])
def test_words_that_json_escapes(tmp_path: Path, fmt: str) -> None:
    """They can come from a lexicon made in Python; a lexicon file has words of letters only."""
    plain = english().vocabulary("compeval")
    chosen = {kind: tuple(f'{w}"\\\\n' for w in words) for kind, words in plain.words.items()}
    words = [_unsafe(word) if word.kind in OPEN_KINDS else word for kind in Kind for word in english().words(kind)]
    lexicon = Lexicon("unsafe", tuple(words), {"unsafe": Vocabulary("unsafe", chosen)})
    space = Space(lexicon, vocabulary="unsafe", templates=["transitive-rc"])
    indices = space.sample(30, seed=1)
    path = write_in_bulk(space, indices, fmt, tmp_path)
    assert list(read_file(path, lexicon, fmt)) == realize_all(space, indices)


def test_parquet_has_plain_types(tmp_path: Path) -> None:
    """So that any reader shows strings and lists of strings."""
    space = Space(english(), vocabulary="compeval", templates=["intransitive"])
    path = write_in_bulk(space, space.sample(5, seed=1), PARQUET, tmp_path)
    schema = pq.read_schema(path)
    assert schema.field("template").type == pa.string()
    assert schema.field("form").type.value_type == pa.string()
    assert schema.field("index").type == pa.int64()


@pytest.mark.parametrize(("adverbs", "bound"), [(2, 2**63), (4, 10**38)])
def test_index_beyond_64_bits(tmp_path: Path, adverbs: int, bound: int) -> None:
    """And beyond the 38 digits of Parquet's numbers."""
    choices = Choices(adverbs=(adverbs,))
    space = Space(english(), templates=["transitive-rc-both"], choices=choices)
    assert space.count() > bound
    indices = space.sample(20, seed=1)
    for fmt in ("jsonl", "conllu", PARQUET):
        sentences = read_file(write_in_bulk(space, indices, fmt, tmp_path), space.lexicon, fmt)
        assert [sentence.index for sentence in sentences] == indices.tolist()


def test_invalid_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_text("no")
    with pytest.raises(FormatError, match="not a Parquet file"):
        list(read_file(path, english()))


def test_parquet_without_column(tmp_path: Path) -> None:
    space = Space(english(), vocabulary="compeval", templates=["intransitive"])
    path = write_in_bulk(space, space.sample(5, seed=1), PARQUET, tmp_path)
    pq.write_table(pq.read_table(path).drop_columns(["head"]), path)
    with pytest.raises(FormatError, match="there is no column 'head'"):
        list(read_file(path, english()))


TOKEN = "2\tman\tman\tNOUN\tNN\tNumber=Sing\t3\tnsubj"


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (TOKEN.replace("2", "3", 1), "line 1: the tokens are not numbered from 1 in order: '3'"),
        (TOKEN.replace("3\tnsubj", "4\tnsubj"), "line 1: a head is token 4, but the sentence has 3"),
        (TOKEN.replace("3\tnsubj", "-1\tnsubj"), "line 1: a head is token -1, but the sentence has 3"),
    ],
)
def test_numbers_of_tokens_are_those_of_the_sentence(tmp_path: Path, damaged: str, message: str) -> None:
    path = tmp_path / "x.conllu"
    text = write_conllu(annotate_text("the man slept", english()))
    assert TOKEN in text
    path.write_text(text.replace(TOKEN, damaged))
    with pytest.raises(FormatError, match=message):
        list(read_file(path, english()))


@pytest.mark.parametrize("fmt", FORMAT_NAMES)
def test_folder_is_not_written_over(tmp_path: Path, fmt: str) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        write_annotated([], tmp_path, fmt)


@pytest.mark.parametrize(
    ("choices", "literals"),
    [
        (Choices(), {"the", "that", "not", "by", "being"}),
        (Choices(determiners=("the", "a"), negators=tuple(Negator)), {"that", "by", "being"}),
        (Choices(relativizers=("that", "who")), {"the", "not", "by", "being"}),
    ],
)
def test_words_without_choice_are_literals(choices: Choices, literals: set[str]) -> None:
    """Only words that vary are looked up."""
    space = Space(english(), templates=["transitive-rc.agent.transitive.src"], choices=choices)
    words: set[str] = set()
    for batch in space.batches(space.sample(200, seed=0)):
        tables = word_tables.WordTables(space)
        layout = columns.LayoutColumns(batch.layout, tables, columns.FiniteTable(tables.pool, tables.language))
        for key in set(layout.compute_shape_keys(batch.values).tolist()):
            sentence, _ = layout.build_marked_sentence(key)
            words |= {token.form for token in sentence.tokens}
    assert {word for word in words if word.isascii()} == literals
