"""Sentences and translations: correct pairs, and an error for the first unpaired line."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.thoroughness import examples
from helpers.trainings.text_corpora import sentences
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.probes.training.corpora import SentencePairs
from sentprobe.probes.training.pair_texts import read_parallel
from sentprobe.probes.training.text_filters import TextOptions

AS_IS = TextOptions(tokenised=True)

pairs = st.lists(st.tuples(sentences, sentences), min_size=2, max_size=6)


def list_pairs(pairs: SentencePairs) -> list[tuple[str, str]]:
    return [*zip(pairs.sources, pairs.targets, strict=True)]


@examples(30)
@given(pairs)
def test_pairs_are_read_as_written(tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    for place, name in enumerate(("t.en", "t.es")):
        content = "".join(f"{pair[place]}\n" for pair in texts)
        (folder / name).write_bytes(content.encode())
    (folder / "t.tsv").write_bytes("".join(f"{a}\t{b}\n" for a, b in texts).encode())
    (folder / "h.tsv").write_bytes("".join(f"{b}\t{a}\n" for a, b in [("s", "t"), *texts]).encode())
    rows = [{"s": source, "t": target} for source, target in texts]
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    pq.write_table(pa.Table.from_pylist(rows), folder / "t.parquet")
    assert list_pairs(read_parallel(folder / "t.en", folder / "t.es", options=AS_IS)) == texts
    assert list_pairs(read_parallel(folder / "t.tsv", options=AS_IS)) == texts
    for name in ("h.tsv", "t.jsonl", "t.parquet"):
        parallel_texts = read_parallel(folder / name, columns=("s", "t"), options=AS_IS)
        assert list_pairs(parallel_texts) == texts


def test_a_pair_is_left_out_if_one_of_the_two_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a\n\nc\nd\ne\n", "utf-8")
    (tmp_path / "b").write_text(f"A\nB\n{'C ' * 60}\nD\nE", "utf-8")
    pairs = read_parallel(tmp_path / "a", tmp_path / "b", options=TextOptions(lower=True))
    assert list_pairs(pairs) == [("a", "a"), ("d", "d"), ("e", "e")]
    assert str(pairs.omitted) == "2 were left out: 1 without a token, 1 too long"


@pytest.mark.parametrize(
    ("lines", "other_lines", "message"),
    [
        ("a\nb\nc\n", "A\nB\n", "one, line 3: has no partner: {folder}/other has only 2 lines"),
        ("a\n", "A\nB\nC", "other, line 2: has no partner: {folder}/one has only 1 line"),
        ("a\n", "", "one, line 1: has no partner: {folder}/other is empty"),
        ("a\n", "A\n", "one and {folder}/other: has only one pair to learn from; at least 2"),
        ("", "", "one and {folder}/other: has no pair to learn from; at least 2"),
        ("a\rb\nc\n", "A\nB\nC\n", "other, line 3: has no partner"),
        ("a\n\udcff\n", "A\nB\n", "one, line 2: not utf-8"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, lines: str, other_lines: str, message: str) -> None:
    (tmp_path / "one").write_bytes(lines.encode("utf-8", "surrogateescape"))
    (tmp_path / "other").write_bytes(other_lines.encode())
    with pytest.raises(SentprobeError) as caught:
        read_parallel(tmp_path / "one", tmp_path / "other")
    assert message.format(folder=tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.tsv", "a\tA\nb\n", "t.tsv, line 2: expected at least 2 columns separated by tabs"),
        ("t.jsonl", '{"source": "a"}\n', "there is no column 'target'; its columns: 'source'"),
        ("t.txt", "a\nb\n", "; or name a second file, with the translation of each"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(SentprobeError) as caught:
        read_parallel(tmp_path / name)
    assert message in str(caught.value)
