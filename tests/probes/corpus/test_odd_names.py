"""Folders with unusual names: a command reads the named folder and no other."""

from functools import partial
from pathlib import Path

import pytest
from helpers.in_process import Command, run_command
from helpers.strategies.corpus_strategies import format_text, make_table, write_trees

from sentprobe.common.errors import import_module_of_extra
from sentprobe.probes.corpus.queries import open_corpus
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.encoders.vector_formats import read_parquet

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
def test_the_rows_are_the_folders_own(tables: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    monkeypatch.chdir(tables)
    names = (*NEIGHBOURS, *PATTERNS, *OTHERS)
    assert len(PATTERNS) + len(OTHERS) > 30
    with import_module_of_extra("duckdb").connect(config={"threads": 1}) as connection:
        for number, name in enumerate(names):
            folder = Path(name) if at == "relative" else tables / name
            open_table(folder).create_view(connection, view=f"t{number}")
            rows = connection.sql(f"SELECT text FROM t{number}").fetchall()
            assert rows == [(format_text(f"noun{number}", "ran"),)], name


def test_a_second_table_has_its_own_rows_too(tables: Path) -> None:
    with open_corpus(open_table(tables / "t[1]"), threads=1) as corpus:
        corpus.add_table(open_table(tables / "t*"), view="other")
        (first,), (second,) = corpus.query("SELECT text FROM sentences UNION ALL SELECT text FROM other")
    places = [(*NEIGHBOURS, *PATTERNS).index(name) for name in ("t[1]", "t*")]
    assert [first, second] == [format_text(f"noun{place}", "ran") for place in places]


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("file:x", "http:x", "~", "t[1]")]


@pytest.mark.parametrize("name", ["s3:x", *SLOW])
def test_all_commands_take_such_a_name_for_a_folder(
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
