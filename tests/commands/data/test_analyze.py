"""The command ``probe analyze``: output, interruption, resumption and errors."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.processes import ENVIRONMENT, PROBE, alive, descendants, wait_for
from helpers.strategies.corpus_strategies import make_table, read_contents, write_trees

from sentprobe.probes.corpus.table import open_table


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_trees(tmp_path / "a.mrg", [("men", "ran"), ("dogs", "ran"), ("men", "ran")])


def test_what_it_prints(corpus: Path, command: Command) -> None:
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


def test_without_constituents_it_says_so(corpus: Path, command: Command) -> None:
    lines = corpus.with_name("a.txt")
    lines.write_text("He ran (twice).\n")
    arguments = ("analyze", "a.txt", "-o", "t", "-f", "lines", "-p", "none", "--jobs", "1")
    code, printed, _ = command(*arguments)
    assert code == 0
    assert printed.splitlines()[0] == "1 different sentences of 1 (0 repeated, 0 failed)"
    assert printed.splitlines()[1].startswith("there are only tokens: tree, depth, top const")
    assert open_table("t").command == "probe analyze a.txt --parser none --format lines"


BAD: list[tuple[list[str], int, str]] = [
    (["b.mrg"], 2, "b.mrg: there is no such file (did you mean 'a.mrg'?)"),
    (["a.mrg", "--format", "tree"], 2, "there is no format 'tree' (did you mean 'trees'?)"),
    (["a.mrg", "--parser", "stanza"], 2, "a.mrg is parsed already; leave out --parser"),
    (["a.txt"], 2, "a.txt must be parsed; choose with --parser: stanza, bllip, corenlp, benepar"),
    (["a.txt", "-p", "stanzza"], 2, "there is no parser 'stanzza' (did you mean 'stanza'?)"),
    (["a.txt", "-p", "none", "--punkt", "."], 2, "not a folder of Punkt parameters"),
    (["a.mrg", "--encoding", "utf9"], 2, "there is no encoding 'utf9'"),
    (["latin.mrg"], 1, "latin.mrg, line 2: not utf-8; name the encoding with --encoding"),
    (["a.mrg", "--engine", "dask"], 2, "--engine dask and --scheduler tcp://HOST:PORT need each other"),
    (["a.mrg", "--engine", "spark"], 2, "there is no engine 'spark'; known: local, dask"),
    (["a.mrg", "--holds", "txt"], 2, "there is no content 'txt' (did you mean 'text'?)"),
    (["a.mrg", "--jobs", "0"], 2, "the number of jobs must be positive, not 0"),
    (["empty.mrg"], 1, "there is no sentence in the file of the corpus (empty.mrg)"),
    (["a.mrg", "-o", "full"], 2, "full: not empty, and not a table of an analysed corpus"),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: " ".join(bad[0]))
def test_bad_requests(bad: tuple[list[str], int, str], corpus: Path, command: Command) -> None:
    arguments, code, message = bad
    corpus.with_name("a.txt").write_text("He ran.\n")
    corpus.with_name("empty.mrg").touch()
    corpus.with_name("latin.mrg").write_bytes("\n(S (NN caf\xe9))\n".encode("latin-1"))
    (corpus.parent / "full").mkdir()
    (corpus.parent / "full" / "mine.txt").touch()
    out = [] if "-o" in arguments else ["-o", "out"]
    jobs = [] if "--jobs" in arguments else ["--jobs", "1"]
    command_line = ("analyze", *arguments, *out, *jobs)
    outcome = command(*command_line)
    assert outcome[0] == code
    lines = outcome[2].splitlines()
    assert lines[-1].startswith("probe: ")
    assert message in lines[-1]
    assert "Traceback" not in outcome[2]


def start(*arguments: str, limit: int | None = None) -> "subprocess.Popen[str]":
    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [*PROBE, "analyze", *arguments],
        env=ENVIRONMENT,
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
def test_a_run_that_was_stopped_goes_on(
    large: Path, whole: dict[str, bytes], tmp_path: Path, how: signal.Signals
) -> None:
    out = tmp_path / "out"
    process = start(str(large), "-o", str(out), "--jobs", "2")
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
    code, printed, _ = finish(str(large), "-o", str(out), "--jobs", "1")
    assert code == 0
    assert f"{2000 * len(done):,} of them had been analysed before" in printed
    assert read_contents(out) == whole


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_full_disk(large: Path, tmp_path: Path, jobs: str) -> None:
    out = tmp_path / "out"
    code, _, err = finish(str(large), "-o", str(out), "--jobs", jobs, limit=20_000)
    assert code == 1
    assert err.splitlines()[-1].startswith(f"probe: {out}/work/")
    assert err.splitlines()[-1].endswith(": File too large")
    assert "Traceback" not in err
    assert not list(out.glob("work/*.part"))


def test_help_is_quick() -> None:
    code, out, _ = finish("--help")
    assert code == 0
    assert "--scheduler" in out
    modules = "import sys; from sentprobe import cli; print(*sys.modules)"
    command = [sys.executable, "-c", modules]
    loaded = subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True, text=True)
    assert not {"pyarrow", "nltk", "numpy", "duckdb", "torch"} & set(loaded.stdout.split())
