"""The command ``probe gate``: all pairs, budgets, comparisons, decisions, and a stored result."""

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.shared import ROOT

import sentprobe
from sentprobe.probes.similarity.gate_checks import MAX_LISTED

SMALL = ("gate", "bow?dim=8", "-c", "role", "-c", "noun", "-n", "60", "--no-cache")
PAIRS = """a,b,same,kind
how do I pay,how can I pay,1,
what is the price,how much is it,1,
does it work on Monday,does it work on Friday,0,date
do you ship =it,sell three melons,0,entity
"""


def test_every_pair_is_written_once(command: Command) -> None:
    """In both halves, with the score and the verdict, from which all figures follow."""
    document = json.loads(check_success(command(*SMALL, "-f", "json")))
    pairs, rates = document["pairs"], document["rates"]
    assert len(pairs) == 2 * 3 * 60
    for row in rates:
        kind = [p for p in pairs if p["contrast"] == row["contrast"] and p["half"] == "measured"]
        negatives = [p for p in kind if p["form"] == row["form"] and not p["same"]]
        paraphrases = [p for p in kind if p["same"]]
        assert row["false_hits"] == sum(p["verdict"] == "false hit" for p in negatives) / len(negatives)
        assert row["misses"] == sum(p["verdict"] == "miss" for p in paraphrases) / len(paraphrases)
        assert all((p["score"] >= row["threshold"]) == (p["verdict"] in ("hit", "false hit")) for p in kind)
    table = list(csv.DictReader(io.StringIO(check_success(command(*SMALL, "-f", "csv")))))
    assert [row["record"] for row in table] == ["rate"] * len(rates) + ["pair"] * len(pairs)
    shown = [{name: row[name] for name in ("a", "b", "verdict")} for row in table[len(rates) :]]
    assert shown == [{name: pair[name] for name in ("a", "b", "verdict")} for pair in pairs]


@pytest.mark.usefixtures("working_folder")
def test_own_pairs_are_written(command: Command) -> None:
    Path("pairs.csv").write_text(PAIRS, encoding="utf-8")
    options = ("gate", "bow?dim=20", "--pairs", "pairs.csv", "--threshold", "0.5", "-c", "role", "-n", "20")
    pairs = json.loads(check_success(command(*options, "-f", "json")))["pairs"]
    own = {pair["b"]: (pair["kind"], pair["verdict"]) for pair in pairs if pair["source"] == "pairs"}
    assert own == {
        "how can I pay": ("", "hit"), "how much is it": ("", "miss"), "does it work on Friday": ("date", "false hit"),
        "sell three melons": ("entity", "rejection"),
    }  # fmt: skip
    cases = {case.get("name"): case for case in ET.fromstring(command(*options, "-f", "junit")[1]).iter("testcase")}
    listed = {name: (case.findtext("system-out") or "").splitlines() for name, case in cases.items()}
    assert [line.partition(" ")[0] for line in listed["own pairs"][1:]] == ["false", "miss", "rejection", "hit"]
    assert re.fullmatch(r"miss -?0\.\d{4}: what is the price / how much is it", listed["own pairs"][2])
    assert [line.partition(":")[2] for line in listed["own pairs, date"][1:]] == [
        " does it work on Monday / does it work on Friday"
    ]


def test_junit_lists_the_worst_pairs(command: Command) -> None:
    out = check_success(command("gate", "bow?dim=8", "-c", "role", "-n", "200", "--threshold", "0.5", "-f", "junit"))
    for case in ET.fromstring(out).iter("testcase"):
        lines = (case.findtext("system-out") or "").splitlines()
        assert re.fullmatch(r"false hits [\d.]+%, misses [\d.]+% of generated paraphrases", lines[0])
        assert len(lines) == MAX_LISTED + 2
        assert lines[-1] == "and 200 more, which --format csv and json list"
        verdicts = [re.split(r" -?\d\.", line)[0] for line in lines[1:-1]]
        order = ["false hit", "miss", "rejection", "hit"]
        assert verdicts == sorted(verdicts, key=order.index)


def test_budget(command: Command) -> None:
    budget = ("gate", "bow?dim=8", "-c", "role", "-c", "noun", "-n", "400", "--budget", "noun=10%")
    shown = " ".join(check_success(command(*budget)).split())
    assert "With a confidence of 95%, at most 10% of the pairs of each kind with a budget pass" in shown
    rates = json.loads(command(*budget, "-f", "json")[1])["rates"]
    assert {row["budget"] for row in rates if row["contrast"] == "noun"} == {0.1}
    assert all(row["false_hits"] < row["bound"] <= 0.1 for row in rates if row["contrast"] == "noun")


def test_failed_budget_shows_the_strictest_threshold(command: Command, tmp_path: Path) -> None:
    """All exchanged roles pass at any threshold: the table and the sentence are shown, and the exit code is 1."""
    line = ("gate", "bow?dim=8", "-c", "role", "-c", "noun", "-n", "100", "--budget", "role=10%", "--no-cache")
    code, shown, err = command(*line, "-f", "markdown")
    assert code == 1
    assert shown.startswith("**No threshold is within the budget; these are figures at the strictest that lets a hit ")
    assert re.search(r"\n\| role: .* \| anchor's form \| \d+ \| 100\.0 \|", shown)
    assert "confidence of 95%" not in shown
    assert "the least that can be promised (95% upper bound) is 100.0% of role (anchor)" in err
    assert command(*line, "--out", tmp_path / "gate.xml")[0] == 1
    junit = ET.parse(tmp_path / "gate.xml").getroot()
    assert [case.get("name") for case in junit.iter("testcase") if case.find("failure") is not None] == ["budget"]
    assert junit.get("failures") == "1"
    with pytest.raises(sentprobe.SentprobeError, match="no threshold at which a paraphrase passes") as caught:
        sentprobe.gate("bow?dim=8", contrasts=["role"], n=100, budget=0.1)
    results = caught.value.results  # type: ignore[attr-defined]
    assert results.draws[0].threshold == caught.value.strictest  # type: ignore[attr-defined]
    assert results.draws[0].rates[0].false_hits == 1


@pytest.mark.usefixtures("working_folder")
def test_baseline_fails_for_what_got_worse(command: Command) -> None:
    options = ("-c", "role", "-c", "noun", "-n", "150", "--no-cache")
    check_success(command("gate", "bow?dim=64", *options, "-o", "gate.json"))
    baseline = ("--baseline", "gate.json")
    assert command("gate", "bow?dim=64", *options, *baseline)[0] == 0
    code, shown, err = command("gate", "bow?dim=64&dims=2", *options, *baseline)
    assert code == 1
    assert "these meanings got lost: noun" in " ".join(shown.split())
    assert re.search(r"probe: worse than bow\?dim=64 in gate\.json: noun \(form\) AUC 65\.5 to 55\.1% \(-10\.4 \[", err)
    assert "role" not in err.splitlines()[-1]
    suites = ET.fromstring(command("gate", "bow?dim=64&dims=2", *options, *baseline, "-f", "junit")[1])
    failing = [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None]
    assert failing == ["noun (form)"]
    assert suites.get("tests") == "5"
    check_refusal(
        command("gate", "bow", *baseline, "-c", "role", "--seed", "3"), "no pairs with the seed 3; its seeds: 0"
    )


def test_two_encoders_are_compared(command: Command, tmp_path: Path) -> None:
    options = ("gate", "bow?dim=64", "--against", "bow?dim=64&dims=2", "-c", "noun", "-n", "150", "--no-cache")
    shown = check_success(command(*options, "-f", "markdown"))
    assert shown.startswith("**From bow?dim=64 to bow?dim=64\\&dims=2, these meanings got lost: noun (form) (AUC ")
    assert "| kind | figure | pairs | first | second | difference | p |" in shown
    assert shown.count("| contrast and example |") == 2
    document = json.loads(check_success(command(*options, "-f", "json")))
    assert {row["scorer"] for row in document["pairs"]} == {"bow?dim=64", "bow?dim=64&dims=2"}
    assert [row["figure"] for row in document["differences"]] == ["false hits", "AUC"] * 2 + ["misses"]
    rows = [
        row for row in csv.DictReader(io.StringIO(command(*options, "-f", "csv")[1])) if row["record"] == "difference"
    ]
    assert [float(row["difference"]) for row in rows] == [row["difference"] for row in document["differences"]]
    page = tmp_path / "gate.html"
    check_success(command(*options, "--out", page))
    assert page.read_text("utf-8").count("<table") >= 3


CACHE = """
class Cache:
    def __init__(self):
        self.words = {}
    def __call__(self, cached, new):
        return sorted(cached.split()) == sorted(new.split())

def overlap(cached, new):
    return len({*cached.split()} & {*new.split()})

def mixed(cached, new):
    return len(new) if len(new) % 2 else True

def nothing(cached, new):
    return None

def fails(cached, new):
    raise ValueError("no server")

def encode(sentences):
    return [[1.0]] * len(sentences)
"""


@pytest.mark.usefixtures("working_folder")
def test_decision_is_measured_whole(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("owncache.py").write_text(CACHE, encoding="utf-8")
    monkeypatch.syspath_prepend(Path.cwd())
    small = ("-c", "role", "-n", "30", "-f", "markdown")
    shown = check_success(command("gate", "python:owncache:Cache", *small))
    assert re.search(r"where python:owncache:Cache passes \d+\.\d% of paraphrases, 100\.0% of pairs in which", shown)
    assert "exactly at the threshold" not in shown
    assert "at a score of " in check_success(command("gate", "python:owncache:overlap", *small))
    named = check_success(command("gate", "python:owncache:overlap?style=decision&name=x", *small, "--keep", "50%"))
    assert "chosen to keep 50%" in named
    cascade = command("gate", "bow?dim=8", "--then", "python:owncache:Cache", *small)
    assert re.search(r"at a cosine of -?0\.\d{4}, then python:owncache:Cache, where", check_success(cascade))
    for spec, message in {
        "python:owncache:mixed": "mixed returned True or False for one pair and a number for another",
        "python:owncache:nothing": " is None; True, False or a number is expected",
        "python:owncache:fails": "python:owncache:fails raised ValueError: no server",
        "python:owncache:encode?style=decision": "raised TypeError",
    }.items():
        check_refusal(command("gate", spec, *small), message, code=1, progress=True)
    for spec, message in {
        "python:owncache:Cache --keep 90%": "returns True or False: leave out --threshold, --keep and --budget",
        "python:owncache:Cache?dims=2": "the option dims= changes vectors, and a decision has none",
    }.items():
        check_refusal(command("gate", *spec.split(), *small), message, progress=True)
    takes_two = "Cache takes two texts, so it is a decision without vectors"
    check_refusal(command("geometry", "-e", "python:owncache:Cache", "-n", "9"), takes_two, code=1, progress=True)


def test_example_of_the_page(command: Command, working_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = next(text for text in re.findall(r"```python\n(.*?)```", read_page(), re.DOTALL) if "def is_hit" in text)
    (working_folder / "mycache.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(working_folder)
    shown = check_success(command("gate", "python:mycache:is_hit", "-c", "role", "-c", "noun", "-n", "30"))
    assert "where python:mycache:is_hit passes " in " ".join(shown.split())


def read_page() -> str:
    return (ROOT / "docs" / "gate.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--budget 1% --keep 90%", "--keep and --budget: give one of them"),
        ("--budget rol=5%", "--budget rol=5%: no contrast 'rol' is measured (did you mean 'role'?)"),
        ("--budget 0", "the budget of false hits must be above 0 and below 1, not 0"),
        ("--against bow --max-false-hits 5%", "--against compares two encoders, without a limit"),
        ("--against bow -f junit", "--against compares two encoders, without a limit"),
        ("--against bow --then bow", "--against compares single models; leave out --then"),
        ("--against boww", "unknown encoder 'boww' (did you mean 'bow'?)"),
        ("--baseline none.json", "none.json: cannot read it"),
        ("--paraphrases none.csv", "none.csv"),
    ],
)
def test_bad_request_is_refused(arguments: str, message: str, command: Command) -> None:
    check_refusal(command(*SMALL, *arguments.split()), message, progress=True)
