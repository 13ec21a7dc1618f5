"""The commands ``probe analyze`` and ``probe agree``: output, files, resumption and errors."""

import csv
import json
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.processes import ENVIRONMENT, PROBE, alive, descendants, wait_for
from helpers.strategies.corpus_strategies import make_table, read_contents, write_trees
from syrupy.assertion import SnapshotAssertion

from sentprobe.probes.corpus.table import HEAD_NAME, AnalysisRecipe, open_table


@pytest.fixture
def corpus(working_folder: Path) -> Path:
    return write_trees(working_folder / "a.mrg", [("men", "ran"), ("dogs", "ran"), ("men", "ran")])


def test_analyze_prints_counts(corpus: Path, command: Command) -> None:
    with corpus.open("a") as out:
        out.write("(S (NP\n")
    arguments = ("analyze", "*.mrg", "--out", "table", "--jobs", "1")
    code, printed, err = command(*arguments)
    assert code == 0
    assert printed.splitlines() == [
        "2 different sentences of 4 (1 repeated, 1 failed)",
        "failed sentences: table/failures.jsonl",
        "table: table",
    ]
    assert "4 sentences" in err
    assert err.splitlines()[-1].endswith("sentences a second")
    assert open_table("table").command == "probe analyze '*.mrg'"


def test_analyze_without_parser_names_missing_tasks(corpus: Path, command: Command) -> None:
    lines = corpus.with_name("a.txt")
    lines.write_text("He ran (twice).\n")
    arguments = ("analyze", "a.txt", "-o", "t", "-f", "lines", "-p", "none", "--jobs", "1")
    printed = check_success(command(*arguments))
    assert printed.splitlines()[0] == "1 different sentences of 1 (0 repeated, 0 failed)"
    assert printed.splitlines()[1].startswith("there are only tokens: tree, depth, top const")
    assert open_table("t").command == "probe analyze a.txt --parser none --format lines"


BAD: list[tuple[str, int, str]] = [
    ("b.mrg", 2, "b.mrg: there is no such file (did you mean 'a.mrg'?)"),
    ("a.mrg --format tree", 2, "there is no format 'tree' (did you mean 'trees'?)"),
    ("a.mrg --parser stanza", 2, "a.mrg is parsed already; leave out --parser"),
    ("a.txt", 2, "a.txt must be parsed; choose with --parser: stanza, bllip, corenlp, benepar"),
    ("a.txt -p stanzza", 2, "there is no parser 'stanzza' (did you mean 'stanza'?)"),
    ("a.txt -p none --punkt .", 2, "not a folder of Punkt parameters"),
    ("a.mrg --encoding utf9", 2, "there is no encoding 'utf9'"),
    ("latin.mrg", 1, "latin.mrg, line 2: not utf-8; save it as UTF-8, or name the encoding where"),
    ("a.mrg --engine dask", 2, "--engine dask and --scheduler tcp://HOST:PORT need each other"),
    ("a.mrg --engine spark", 2, "there is no engine 'spark'; known: local, dask"),
    ("a.mrg --holds txt", 2, "there is no content 'txt' (did you mean 'text'?)"),
    ("a.mrg --jobs 0", 2, "the number of jobs must be positive, not 0"),
    ("empty.mrg", 1, "there is no sentence in the file of the corpus (empty.mrg)"),
    ("a.mrg -o full", 2, "full: not empty, and not a table of an analysed corpus"),
]


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize(("line", "code", "message"), BAD, ids=[line for line, _, _ in BAD])
def test_analyze_refuses(line: str, code: int, message: str, command: Command) -> None:
    Path("a.txt").write_text("He ran.\n")
    Path("empty.mrg").touch()
    Path("latin.mrg").write_bytes("\n(S (NN caf\xe9))\n".encode("latin-1"))
    Path("full").mkdir()
    Path("full/mine.txt").touch()
    words = line.split()
    out = [] if "-o" in words else ["-o", "out"]
    jobs = [] if "--jobs" in words else ["--jobs", "1"]
    check_refusal(command("analyze", *words, *out, *jobs), message, code, progress=True)


def start(*arguments: str, limit: int | None = None) -> "subprocess.Popen[str]":
    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [*PROBE, *arguments],
        # With a limit, Python 3.11 would leave cut byte code in the package, which no later process could import.
        env={**ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited,  # noqa: PLW1509 - no threads here
    )


def finish(*arguments: str, limit: int | None = None) -> tuple[int, str, str]:
    process = start(*arguments, limit=limit)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten chunks."""
    folder = tmp_path_factory.mktemp("large")
    return write_trees(folder / "large.mrg", [(f"noun{n}", "ran") for n in range(20_000)])


@pytest.fixture(scope="module")
def whole(large: Path) -> dict[str, bytes]:
    """The table of the large corpus, made without a stop."""
    out = large.parent / "whole"
    make_table([large], out)
    text = (out / "table.json").read_text()
    (out / "table.json").write_text(text.replace('"command": ""', f'"command": "probe analyze {large}"'))
    return read_contents(out)


@pytest.mark.parametrize(
    "how",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_stopped_analysis_is_resumed(large: Path, whole: dict[str, bytes], tmp_path: Path, how: signal.Signals) -> None:
    out = tmp_path / "out"
    process = start("analyze", str(large), "-o", str(out), "--jobs", "2")
    wait_for(lambda: len(list(out.glob("work/chunk-*.arrow"))) > 0)
    workers = descendants(process.pid)
    os.kill(process.pid, how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == {2: 130, 15: 143, 9: -9}[how]
    assert "Traceback" not in err
    if how == signal.SIGINT:
        message = f"finished work is kept in {out}; the same command resumes from there"
        assert err.splitlines()[-1] == f"probe: stopped; {message}"
    wait_for(lambda: not any(map(alive, workers)))
    done = {path: path.stat().st_mtime_ns for path in out.glob("work/chunk-*.arrow")}
    assert 0 < len(done) <= 10
    code, printed, _ = finish("analyze", str(large), "-o", str(out), "--jobs", "1")
    assert code == 0
    assert f"{2000 * len(done):,} of them had been analysed before" in printed
    assert read_contents(out) == whole


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_analyze_on_full_disk(large: Path, tmp_path: Path, jobs: str) -> None:
    out = tmp_path / "out"
    code, _, err = finish("analyze", str(large), "-o", str(out), "--jobs", jobs, limit=20_000)
    assert code == 1
    assert err.splitlines()[-1].startswith(f"probe: {out}/work/")
    assert err.splitlines()[-1].endswith(": File too large")
    assert "Traceback" not in err
    assert not list(out.glob("work/*.part"))


GOLD = """\
(S (NP (DT The) (NNS men)) (VP (VBD saw) (NP (NNS dogs))) (. .))
(S (NP (DT A) (NN man)) (VP (VBZ sees) (NP (DT the) (NN dog))) (. .))
(S (NP (NNS men)) (VP (VBP eat) (NP (NN fish))) (. .))
"""
PARSED = """\
(S (NP (DT The) (NNS men)) (VP (VBD saw) (NP (NNS dogs))) (. .))
(S (NP (DT A) (NN man)) (VP (VBD sees) (PP (NP (DT the) (NN dog)))) (. .))
(S (NP (NNS dogs)) (VP (VBP eat)))
"""


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    for name, trees in (("gold", GOLD), ("parsed", PARSED)):
        Path(f"{name}.mrg").write_text(trees)
        make_table([Path(f"{name}.mrg")], Path(name))
    return "gold", "parsed"


@pytest.mark.parametrize("style", ["text", "markdown", "latex"])
def test_agreement_is_shown(
    style: str, tables: tuple[str, str], command: Command, stored_text: SnapshotAssertion
) -> None:
    code, out, err = command("agree", *tables, "--format", style)
    assert (code, err) == (0, "")
    assert out == stored_text


def test_agreement_records(tables: tuple[str, str], command: Command) -> None:
    records = json.loads(command("agree", *tables, "-f", "json")[1])
    (tense,) = (record for record in records if record["name"] == "tense")
    assert tense["kind"] == "label"
    assert [tense[name] for name in ("total", "same", "different", "neither")] == [2, 1, 1, 0]
    assert (tense["rate"], tense["kappa"], tense["sentences_only_a"]) == (0.5, 0, 1)
    assert tense["rate_low"] == pytest.approx(0.0945, abs=1e-4)
    assert records[-1]["kind"] == "tokens"
    rows = list(csv.DictReader(command("agree", *tables, "-f", "csv")[1].splitlines()))
    assert [row["name"] for row in rows] == [record["name"] for record in records]
    (clauses,) = (row for row in rows if row["name"] == "CoordInv")
    assert clauses["rate_of_b"] == ""


def test_disagreements_are_written(tables: tuple[str, str], command: Command) -> None:
    out = check_success(command("agree", *tables, "--disagreements", "differ.jsonl"))
    assert out.splitlines()[-1] == "disagreements: differ.jsonl"
    records = [json.loads(line) for line in Path("differ.jsonl").read_text().splitlines()]
    assert {record["text"] for record in records} == {"A man sees the dog ."}
    assert records[0] == {
        "kind": "label",
        "name": "depth",
        "a": 5,
        "b": 6,
        "digest": records[0]["digest"],
        "source": "gold.mrg",
        "place": 1,
        "text": "A man sees the dog .",
    }
    assert {record["name"]: (record["a"], record["b"]) for record in records[1:]} == {
        "tense": ("PRES", "PAST"),
        "object": (4, None),
        "object number": ("sg", None),
        "TreeDepth": (5, 6),
        "Tense": ("PRES", "PAST"),
        "ObjNum": ("NN", None),
    }
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_agreement_without_constituents(tables: tuple[str, str], command: Command) -> None:
    head = Path("parsed") / HEAD_NAME
    content = json.loads(head.read_text())
    content["recipe"]["constituents"] = False
    head.write_text(json.dumps(content))
    code, out, _ = command("agree", *tables, "-f", "markdown")
    assert (code, "| TreeDepth" in out) == (0, False)
    assert out.endswith("- There are no constituents in B; omitted: TreeDepth, TopConst, CoordInv.\n")


def spoil_tables() -> None:
    """Write copies of the second table that are damaged or of another version, and tables of other sentences."""
    for name in ("damaged", "old"):
        shutil.copytree("parsed", name)
    (shard,) = open_table("damaged").files
    content = bytearray(Path(shard).read_bytes())
    content[len(content) // 2] ^= 1
    Path(shard).write_bytes(content)
    head = Path("old") / HEAD_NAME
    head.write_text(head.read_text().replace("sentprobe-table 3", "sentprobe-table 0"))
    Path("a.tok").write_text("The men saw dogs .\n")
    make_table([Path("a.tok")], Path("tokens"), recipe=AnalysisRecipe(parser="none"))
    Path("b.mrg").write_text("(S (NP (NNS fish)) (VP (VBP swim)))\n")
    make_table([Path("b.mrg")], Path("other"))


AGREE_BAD = [
    ("gold parsedd", 2, "parsedd: not a table of an analysed corpus; it has no"),
    ("gold.mrg parsed", 2, "gold.mrg: a file, not the table of an analysed"),
    ("gold old", 1, "old: written by another version: its format is"),
    ("gold damaged", 1, "damaged/shards/part-00000.parquet: damaged: its checksum"),
    ("gold other", 1, "gold and other have no sentence in common; sen"),
    ("gold tokens", 1, "gold, tokens: no shared sentence (of 1) has a label in both; a table of tokens"),
    ("gold parsed -f markdwn", 2, "there is no format 'markdwn' (did you mean 'markdown'?)"),
    ("gold parsed -f html", 2, "an agreement has no format 'html'; known: text,"),
    (
        "gold parsed --disagreements gold/x.jsonl",
        2,
        "gold/x.jsonl: lies in the table of a corpus, which probe analyze made; write it elsewhere",
    ),
    (
        "gold parsed --disagreements nowhere/x.jsonl",
        2,
        "nowhere/x.jsonl: cannot write there: there is no directory nowhere",
    ),
    ("gold parsed --disagreements .", 2, ".: is a directory, not a file"),
]


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(("line", "code", "message"), AGREE_BAD, ids=[line for line, _, _ in AGREE_BAD])
def test_agree_refuses(line: str, code: int, message: str, command: Command) -> None:
    spoil_tables()
    check_refusal(command("agree", *line.split()), f"probe: {message}", code)


def test_agree_on_full_disk_writes_nothing(tables: tuple[str, str]) -> None:
    actual = finish("agree", *tables, "--disagreements", "differ.jsonl", limit=100)
    assert actual == (1, "", "probe: differ.jsonl: cannot write it: File too large\n")
    assert not Path("differ.jsonl").exists()
    assert not list(Path().glob(".differ*"))
