"""The command ``probe agree``: output, files and errors."""

import csv
import json
import resource
import subprocess
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.processes import ENVIRONMENT, PROBE
from helpers.strategies.corpus_strategies import make_table

from sentprobe.probes.corpus.table import HEAD_NAME, AnalysisRecipe, open_table

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


def test_the_two_tables_and_what_they_say(tables: tuple[str, str], command: Command) -> None:
    code, out, err = command("agree", *tables, "--format", "markdown")
    assert (code, err) == (0, "")
    lines = out.replace("\\[", "[").splitlines()
    assert "| tense | Tense | 50.0 [9.5, 90.5] | 2 | 50.0 [9.5, 90.5] | 0.000 | 0 | 0 |" in lines
    assert "| object | ObjNum | 50.0 [9.5, 90.5] | 1 | 100.0 [20.7, 100.0] | - | 1 | 0 |" in lines
    assert "| Tense | 2 | 2 | 50.0 [9.5, 90.5] | 1 | 0 |" in lines
    assert "| CoordInv | 0 | 0 | - | 0 | 0 |" in lines
    assert (
        "- A: gold, 3 sentences. B: parsed, 3 sentences. In both: 2; only in A: 1; only in B: 1. "
        "Sentences match if their tokens are the same."
    ) in lines
    assert lines[-1] == (
        "- Tags are the same for 90.9 [62.3, 98.4]% of 11 tokens; SOMO needs them. "
        "SentLen, WC, BShift and the tasks of Adi et al. need no parse."
    )


def test_every_format(tables: tuple[str, str], command: Command) -> None:
    code, out, _ = command("agree", *tables)
    assert code == 0
    assert "A says the same [95%]" in out
    assert out.splitlines()[-1].startswith("Tags are the same for 90.9")
    _, out, _ = command("agree", *tables, "-f", "latex")
    assert out.count(r"\begin{tabular}") == 2
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


def test_disagreements_go_to_a_file(tables: tuple[str, str], command: Command) -> None:
    code, out, _ = command("agree", *tables, "--disagreements", "differ.jsonl")
    assert code == 0
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


def test_a_parser_without_constituents(tables: tuple[str, str], command: Command) -> None:
    head = json.loads((Path("parsed") / HEAD_NAME).read_text())
    head["recipe"]["constituents"] = False
    (Path("parsed") / HEAD_NAME).write_text(json.dumps(head))
    code, out, _ = command("agree", *tables, "-f", "markdown")
    assert code == 0
    assert out.splitlines()[-1] == ("- There are no constituents in B; omitted: TreeDepth, TopConst, CoordInv.")
    assert "| TreeDepth" not in out


def damage() -> None:
    (shard,) = open_table("parsed").files
    content = bytearray(Path(shard).read_bytes())
    content[len(content) // 2] ^= 1
    Path(shard).write_bytes(content)


def other_version() -> None:
    head = Path("parsed") / HEAD_NAME
    head.write_text(head.read_text().replace("sentprobe-table 3", "sentprobe-table 0"))


def tokens_alone() -> None:
    Path("a.tok").write_text("The men saw dogs .\n")
    make_table([Path("a.tok")], Path("tokens"), recipe=AnalysisRecipe(parser="none"))


def other_sentences() -> None:
    Path("b.mrg").write_text("(S (NP (NNS fish)) (VP (VBP swim)))\n")
    make_table([Path("b.mrg")], Path("other"))


def nothing() -> None:
    pass


@pytest.mark.parametrize(
    ("prepare", "arguments", "code", "message"),
    [
        (nothing, ("gold", "parsedd"), 2, "parsedd: not a table of an analysed corpus; it has no"),
        (nothing, ("gold.mrg", "parsed"), 2, "gold.mrg: a file, not the table of an analysed"),
        (other_version, ("gold", "parsed"), 1, "parsed: written by another version: its format is"),
        (damage, ("gold", "parsed"), 1, "parsed/shards/part-00000.parquet: damaged: its checksum"),
        (other_sentences, ("gold", "other"), 1, "gold and other have no sentence in common; sen"),
        (
            tokens_alone,
            ("gold", "tokens"),
            1,
            "gold, tokens: no shared sentence (of 1) has a label in both; a table of tokens",
        ),
        (nothing, ("gold", "parsed", "-f", "markdwn"), 2, "there is no format 'markdwn' (did you mean 'markdown'?)"),
        (nothing, ("gold", "parsed", "-f", "html"), 2, "an agreement has no format 'html'; known: text,"),
        (
            nothing,
            ("gold", "parsed", "--disagreements", "gold/x.jsonl"),
            2,
            "gold/x.jsonl: lies in the table of a corpus, which probe analyze made; write it elsewhere",
        ),
        (
            nothing,
            ("gold", "parsed", "--disagreements", "nowhere/x.jsonl"),
            2,
            "nowhere/x.jsonl: cannot write there: there is no directory nowhere",
        ),
        (nothing, ("gold", "parsed", "--disagreements", "."), 2, ".: is a directory, not a file"),
    ],
)
@pytest.mark.usefixtures("tables")
def test_refused(prepare: object, arguments: tuple[str, ...], code: int, message: str, command: Command) -> None:
    assert callable(prepare)
    prepare()
    exit_code, out, err = command("agree", *arguments)
    assert (exit_code, out) == (code, "")
    assert err.startswith(f"probe: {message}"), err
    assert err.count("\n") == 1


def test_a_full_disk(tables: tuple[str, str]) -> None:
    arguments = ("agree", *tables, "--disagreements", "differ.jsonl")
    actual = subprocess.run(
        [*PROBE, *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert actual.returncode == 1
    assert actual.stderr == "probe: differ.jsonl: cannot write it: File too large\n"
    assert actual.stdout == ""
    assert not Path("differ.jsonl").exists()
    assert not list(Path().glob(".differ*"))
