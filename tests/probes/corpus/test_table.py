"""Tables of corpora: rows, order, duplicates, failures, refusals, and folders with unusual names."""

import gzip
import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from helpers.in_process import Command, run_command
from helpers.shared import SHARED, needs_shared
from helpers.strategies.corpus_strategies import (
    HERE,
    PAIRS,
    SMALL,
    chunk_sizes,
    format_text,
    format_tree,
    make_table,
    read_contents,
    read_rows,
    sentences,
    write_trees,
)
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError, import_module_of_extra
from sentprobe.probes.corpus import chunks as shards
from sentprobe.probes.corpus.analysis import Analysis, AnalysisProgress, analyze
from sentprobe.probes.corpus.chunks import mark_first_rows, parse_digests
from sentprobe.probes.corpus.queries import open_corpus
from sentprobe.probes.corpus.sources import ChunkSize, find_sources
from sentprobe.probes.corpus.table import AnalysisRecipe, TableError, open_table
from sentprobe.probes.encoders.vector_formats import read_parquet


@examples(25)
@given(st.lists(sentences(), min_size=1, max_size=3), chunk_sizes(), st.integers(1, 7))
def test_distinct_sentences_are_in_order(files: list[list[tuple[str, str]]], size: ChunkSize, shard_rows: int) -> None:
    total = sum(map(len, files))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD_ROWS", shard_rows)
        root = Path(folder)
        paths = [write_trees(root / f"{n}.mrg", pairs) for n, pairs in enumerate(files)]
        if not total:
            with pytest.raises(SentprobeError, match="no sentence"):
                make_table(paths, root / "none")
            return
        table = make_table(paths, root / "out", size=size)
        expected = {
            format_text(*pair): (str(path), place)
            for path, pairs in reversed(list(zip(paths, files, strict=True)))
            for place, pair in reversed(list(enumerate(pairs)))
        }
        rows = read_rows(table)
        assert {row["text"]: (row["source"], row["place"]) for row in rows} == expected
        assert [row["id"] for row in rows] == list(range(len(rows)))
        order = [(paths.index(Path(str(row["source"]))), row["place"]) for row in rows]
        assert order == sorted(order)
        assert [shard.rows for shard in table.shards[:-1]] == [shard_rows] * (len(table.shards) - 1)
        counts = table.counts
        assert (counts.sentences, counts.rows) == (total, len(expected))
        assert (counts.duplicates, counts.failures) == (total - len(expected), 0)
        assert [source.sentences for source in table.sources] == [len(pairs) for pairs in files]
        assert open_table(root / "out") == table
        make_table(paths, root / "again")
        assert read_contents(root / "again") == read_contents(root / "out")


@given(st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5)), max_size=5), st.integers(1, 9))
def test_first_occurrences_need_little_memory(parts: list[list[int]], limit: int) -> None:
    flat = [number for part in parts for number in part]
    with TemporaryDirectory() as folder:
        first_rows = mark_first_rows(
            lambda: [np.array(part, np.uint64) for part in parts], len(flat), Path(folder) / "first.npy", limit=limit
        )
        assert first_rows.tolist() == [number not in flat[:n] for n, number in enumerate(flat)]
    assert parse_digests(f"{n:016x}" for n in flat).tolist() == flat


def test_row_has_all_columns(corpus: Path, tmp_path: Path) -> None:
    table = make_table([corpus], tmp_path / "out")
    row = read_rows(table)[0]
    assert row == {
        "id": 0,
        "digest": row["digest"],
        "source": str(corpus),
        "place": 0,
        "text": "men slept .",
        "tokens": ["men", "slept", "."],
        "tags": ["NNS", "VBD", "."],
        "length": 3,
        "tree": format_tree("men", "slept"),
        "depth": 4,
        "top": "NP VP .",
        "verb_index": 1,
        "verb_tag": "VBD",
        "subject_index": 0,
        "subject_tag": "NNS",
        "subject_number": "pl",
        "object_index": None,
        "object_tag": None,
        "object_number": None,
        "clauses": None,
        "clause_words": None,
        "dependency_depth": None,
        "root_dependents": None,
        "voice": None,
        "sentence_ids": None,
    }
    with table.connect() as connection:
        (counted,) = connection.sql("select count(*) from sentences").fetchall()
    assert counted == (3,)


def test_broken_sentences_are_recorded(tmp_path: Path) -> None:
    trees = tmp_path / "t.mrg"
    trees.write_text(f"{format_tree('men', 'ran')}\n(ROOT (S men ran))\n{format_tree('dogs', 'ran')}\n(ROOT (S\n")
    conllu = tmp_path / "d.conllu"
    row = "1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tran\trun\tVERB\tVBD\t_\t0\troot\t_\t_\n"
    conllu.write_text(f"{row}\n# x\n1\tbroken\n\n{row.replace('It', 'She')}")
    table = make_table([trees, conllu], tmp_path / "out", size=ChunkSize(2, 1000))
    assert [row["text"] for row in read_rows(table)] == ["men ran .", "dogs ran .", "It ran", "She ran"]
    assert [row["place"] for row in read_rows(table)] == [0, 2, 0, 2]
    failures = [json.loads(line) for line in (tmp_path / "out/failures.jsonl").read_text().splitlines()]
    assert [(failure["source"], failure["line"]) for failure in failures] == [
        (str(trees), 2),
        (str(trees), 4),
        (str(conllu), 5),
    ]
    assert "has no tag" in failures[0]["message"]
    assert "2 columns, expected 10" in failures[2]["message"]
    assert table.counts.failures == 3


def test_million_characters_are_one_failure(tmp_path: Path) -> None:
    file = tmp_path / "long.mrg"
    long = "(ROOT (S " + "(NN word) " * 100_000 + "))"
    file.write_text(f"{long}\n{format_tree('men', 'ran')}\n{'(' * 1_000_000}\n")
    table = make_table([file], tmp_path / "out")
    assert [row["text"] for row in read_rows(table)] == ["men ran ."]
    lines = (tmp_path / "out/failures.jsonl").read_text().splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) < 1000
    assert "a sentence of 100000 tokens" in lines[0]


def test_tokens_need_no_parser(tmp_path: Path) -> None:
    file = tmp_path / "a.tok"
    file.write_text('He said " no " ( twice ) .\n\nAgain\n')
    table = make_table([file], tmp_path / "out", recipe=AnalysisRecipe(parser="none"))
    assert not table.constituents
    assert [row["tokens"] for row in read_rows(table)] == [
        ["He", "said", '"', "no", '"', "(", "twice", ")", "."],
        ["Again"],
    ]
    assert read_rows(table)[0]["tags"] == []


def test_finished_table_is_not_overwritten(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    make_table([corpus], out)
    with pytest.raises(UsageError, match="is a finished table; --force replaces it"):
        make_table([corpus], out)
    before = read_contents(out)
    make_table([corpus], out, force=True)
    assert read_contents(out) == before
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    (other_folder / "thesis.tex").write_text("mine")
    for force in (False, True):
        with pytest.raises(UsageError, match="not empty, and not a table"):
            make_table([corpus], other_folder, force=force)
    with pytest.raises(SentprobeError, match="cannot write a table there: "):
        make_table([corpus], corpus / "out")


BROKEN = {
    "damaged.mrg.gz": gzip.compress(("x" * 9_000 + "\n").encode())[:20],
    "latin.mrg": format_tree("naïve", "ran").encode("latin-1"),
    "empty.mrg": b"\n",
    "nothing.mrg": b"(ROOT (S\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_unreadable_corpus_replaces_no_table(corpus: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    before = make_table([corpus], out)
    expected = read_contents(out)
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(SentprobeError):
        make_table([tmp_path / name], out, force=True)
    assert open_table(out) == before
    assert {key: value for key, value in read_contents(out).items() if "work" not in key} == expected
    make_table([write_trees(corpus, PAIRS[:2])], out, force=True)
    assert read_contents(out) == read_contents(make_table([corpus], tmp_path / "new").path)


def test_empty_corpus_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.mrg"
    empty.write_text("\n \n")
    with pytest.raises(SentprobeError, match="there is no sentence in the file of the corpus"):
        make_table([empty], tmp_path / "out")
    broken = tmp_path / "broken.mrg"
    broken.write_text("(ROOT (S\nwords\n")
    with pytest.raises(SentprobeError, match=r"none of the 1 sentences in the 2 files .*broken.mrg, line 1: .*"):
        make_table([empty, broken], tmp_path / "out")
    write_trees(empty, PAIRS)
    make_table([empty], tmp_path / "out")


def _change_head(out: Path, **changes: object) -> None:
    head = json.loads((out / "table.json").read_text())
    (out / "table.json").write_text(json.dumps(head | changes))


def test_damaged_table_is_refused(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError, match=r"not a table of an analysed corpus; it has no table.json"):
        open_table(out)
    make_table([corpus], out)
    shard = out / "shards" / "part-00000.parquet"
    shard_bytes = shard.read_bytes()
    shard.write_bytes(shard_bytes[:-1])
    with pytest.raises(TableError, match=r"part-00000.parquet: damaged: it has \d+ bytes"):
        open_table(out, check=False)
    flipped = bytes([shard_bytes[100] ^ 1])
    shard.write_bytes(shard_bytes[:100] + flipped + shard_bytes[101:])
    assert open_table(out, check=False).counts.rows == 3
    with pytest.raises(TableError, match=r"part-00000.parquet: damaged: its checksum"):
        open_table(out)
    shard.unlink()
    with pytest.raises(TableError, match=r"part-00000.parquet: missing"):
        open_table(out)
    _change_head(out, format="sentprobe-table 99")
    with pytest.raises(TableError, match=r"written by another version: its format is 'sentprobe-table"):
        open_table(out)
    make_table([corpus], out, force=True)
    _change_head(out, counts={})
    with pytest.raises(TableError, match=r"table.json: not the head of a table"):
        open_table(out)
    (out / "table.json").write_text("{")
    with pytest.raises(TableError, match=r"table.json: not the head of a table"):
        open_table(out)


def test_text_needs_parser(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "It ran."}\n')
    plan = Analysis(sources=find_sources([str(file)]), recipe=AnalysisRecipe(), out=tmp_path / "out")
    with pytest.raises(UsageError, match=r"a.jsonl, line 1: a text that is not parsed; name"):
        analyze(plan, HERE)


def test_progress_counts_bytes_and_sentences(tmp_path: Path) -> None:
    corpus = write_trees(tmp_path / "a.mrg", [(noun, "ran") for noun in "abcdefgh"])
    seen: list[Sequence[object]] = []

    class Watching:
        def begin(self, step: str, total: int) -> None:
            seen.append((step, total))

        def advance(self, amount: int = 1) -> None:
            seen.append(("advance", amount))

        def note(self, text: str) -> None:
            seen.append(("note", re.sub(r"[\d,]+ per second", "N a second", text)))

    plan = Analysis(sources=find_sources([str(corpus)]), recipe=AnalysisRecipe(), out=tmp_path / "out", size=SMALL)
    pace = AnalysisProgress()
    analyze(plan, HERE, Watching(), pace)
    assert seen[0] == ("analyse", corpus.stat().st_size)
    assert [event for event in seen if event[0] == "note"] == [
        ("note", "3 sentences, N a second"),
        ("note", "6 sentences, N a second"),
        ("note", "8 sentences, N a second"),
    ]
    assert (pace.sentences, pace.new_sentences) == (8, 8)
    assert seen[-2:] == [("write the table", 1), ("advance", 1)]
    moved = [int(str(event[1])) for event in seen[:-1] if event[0] == "advance"]
    assert sum(moved) == corpus.stat().st_size


@needs_shared
def test_novels_have_no_failures(tmp_path: Path) -> None:
    table = make_table([SHARED / "treebanks/gum/dev.mrg.xz"], tmp_path / "out")
    assert table.counts.failures == 0
    assert table.counts.rows + table.counts.duplicates == table.counts.sentences > 1500
    with table.connect() as connection:
        rows = connection.sql("select sum(length), count(tree) from sentences").fetchall()
    tokens = " ".join(str(row["text"]) for row in read_rows(table)).split(" ")
    assert rows == [(len(tokens), table.counts.rows)]


PATTERNS = (
    *("t[1]", "t*", "t?", "**", "*", "?", "???", "t**", "[!a]", "[^a]", "[a-z]1", "[t]1", "t[0-9]"),
    *("{t1,t2}", "t{1..3}", "[[]", "[]", "[]]", "[", "]", "t\\*", "\\t1", "t\\[1]", "t]1["),
)
OTHERS = (
    *("s3:x", "file:x", "http:x", "hf:x", "s3:", "file:", "~", "$HOME", "text=1", "t1=[a]", "t 1"),
    *("'t1'", '"t1"', "t%31", "t1,t2", "--", ";", "#", "é", "t1\nt2", "(t1)", "t1.parquet", "|"),
)
NEIGHBOURS = ("t1", "t2", "ta", "t", "a1", "b1", "abc", "x1")
"""Names that the patterns match."""


def read_sentences(folder: Path) -> list[str]:
    """Return the sentences of a table by a query."""
    with open_corpus(open_table(folder), threads=1) as corpus:
        return [row[0] for row in corpus.query("SELECT text FROM sentences")]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table of one distinct sentence under each name."""
    root = tmp_path_factory.mktemp("odd")
    for number, name in enumerate((*NEIGHBOURS, *PATTERNS, *OTHERS)):
        corpus = write_trees(root / "corpus.mrg", [(f"noun{number}", "ran")])
        make_table([corpus], root / "tables" / name)
    return root / "tables"


@pytest.mark.parametrize("at", ["absolute", "relative"])
def test_odd_folder_has_its_own_rows(tables: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    monkeypatch.chdir(tables)
    names = (*NEIGHBOURS, *PATTERNS, *OTHERS)
    assert len(PATTERNS) + len(OTHERS) > 30
    with import_module_of_extra("duckdb").connect(config={"threads": 1}) as connection:
        for number, name in enumerate(names):
            folder = Path(name) if at == "relative" else tables / name
            open_table(folder).create_view(connection, view=f"t{number}")
            rows = connection.sql(f"SELECT text FROM t{number}").fetchall()
            assert rows == [(format_text(f"noun{number}", "ran"),)], name


def test_second_odd_table_has_its_rows(tables: Path) -> None:
    with open_corpus(open_table(tables / "t[1]"), threads=1) as corpus:
        corpus.add_table(open_table(tables / "t*"), view="other")
        (first,), (second,) = corpus.query("SELECT text FROM sentences UNION ALL SELECT text FROM other")
    places = [(*NEIGHBOURS, *PATTERNS).index(name) for name in ("t[1]", "t*")]
    assert [first, second] == [format_text(f"noun{place}", "ran") for place in places]


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("file:x", "http:x", "~", "t[1]")]


@pytest.mark.parametrize("name", ["s3:x", *SLOW])
def test_commands_take_odd_folder_names(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    gen = partial(run_command, "gen", monkeypatch=monkeypatch, capture=capsys)
    small = ("--train", 40, "--test", 4, "--seed", 1)
    assert gen("--n", 2, "--out", f"{name}/a.parquet")[0] == 0
    assert gen("--n", 2, "--exclude", f"{name}/a.parquet")[0] == 0
    assert command("build", "compeval", "--task", "Order", *small, "--out", f"{name}/sets")[0] == 0
    assert command("audit", f"{name}/sets", "--jobs", 1)[0] == 0
    Path(name, "in.txt").write_text("the man slept\n")
    vectors = f"{name}/v.parquet"
    assert command("embed", f"{name}/in.txt", "-e", "bow?dim=2", "--out", vectors)[0] == 0
    assert len(read_parquet(Path(vectors)).vectors) == 1
    write_trees(Path(name, "a.mrg"), [("men", "ran")])
    assert command("analyze", f"{name}/a.mrg", "--out", f"{name}/table", "--jobs", 1)[0] == 0
    assert read_sentences(Path(name, "table")) == ["men ran ."]
    folders = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*")}
    assert folders == {name}
