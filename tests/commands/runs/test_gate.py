"""The command ``probe gate``: output, exit codes and errors."""

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.shared import ROOT

from sentprobe.generator.pairs.drafts import hash_words

MODALS = ("can", "could", "may", "might", "must", "should", "will", "would", "shall")
ROLE = ("gate", "bow?dim=8", "-c", "role", "-n", "60", "--no-cache")


def read_csv(text: str, record: str) -> list[dict[str, str]]:
    """Return the rates, differences or pairs of CSV."""
    return [row for row in csv.DictReader(io.StringIO(text)) if row["record"] == record]


def test_sentence_and_the_table(command: Command) -> None:
    shown = check_success(command(*ROLE, "-f", "markdown"))
    assert re.search(
        r"Of generated sentences of the vocabulary compeval: at a cosine of 0\.\d{4}, where \d+\.\d% of paraphrases "
        r"pass, 100\.0% of pairs in which agent and patient of one clause are exchanged pass in the anchor's form, "
        r"\d+\.\d% in the positive's form \(areas under the ROC curve: 0\.0 and 50\.0\)\. Generated sentences tell "
        r"which meanings a model confuses, not how often texts of people would be confused; --pairs measures yours\.",
        shown,
    )
    rows = [line.strip("| ").split(" | ") for line in shown.splitlines() if line.startswith("| role: ")]
    pairs = json.loads(command(*ROLE, "-f", "json")[1])["pairs"]
    measured = [pair for pair in pairs if pair["form"] == "form" and pair["half"] == "measured"]
    assert [(row[1], row[2], row[5]) for row in rows] == [
        ("anchor's form", str(len(measured)), "0.0"),
        ("positive's form", str(len(measured)), "50.0"),
    ]
    assert rows[0][3] == "100.0"
    assert float(rows[1][3]) + float(rows[1][4]) == pytest.approx(100)
    assert "role (form): 60 negatives have exactly the positive's score." in shown
    assert "[" in command(*ROLE, "--intervals", "-f", "markdown")[1]


def test_records_and_draws(command: Command) -> None:
    records = json.loads(command(*ROLE, "--draws", "2", "-f", "json")[1])["rates"]
    rows = read_csv(command(*ROLE, "--draws", "2", "-f", "csv")[1], "rate")
    assert [record["seed"] for record in records] == [0, 0, 10, 10] == [int(row["seed"]) for row in rows]
    assert {record["auc"] for record in records if record["form"] == "form"} == {0.5}
    text = command(*ROLE, "--draws", "2")[1]
    assert "Mean ± standard deviation of 2 draws." in text


def test_too_many_false_hits_are_a_failure(command: Command) -> None:
    code, shown, err = command(*ROLE, "--max-false-hits", "5%")
    assert code == 1
    assert "paraphrases pass" in shown
    interval = r"\[\d+\.\d, \d+\.\d\], of at most 5%"
    expected = rf"role \(anchor\) 100\.0% {interval}; role \(form\) \d+\.\d% {interval}$"
    assert "(the upper end of the 95% interval counts)" in err
    assert re.search(rf"^probe: more false hits than accepted .*: {expected}", err, re.M)
    assert command(*ROLE, "--threshold", "1", "--max-false-hits", "1.0")[0] == 0


KINDS = """a,b,same,kind
turn on dark mode,enable dark mode,1,
how do I pay,how can I pay,1,
does it work on Monday,does it work on Friday,0,date
does it work on Sunday,does it work on Friday,0,date
do you ship it,sell three melons,0,entity
"""
TWO_KINDS = ("gate", "bow?dim=20", "--pairs", "pairs.csv", "--threshold", "0.5", "-c", "role", "-n", "20")


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize("column", ["kind", "contrast"])
def test_kinds_of_own_pairs_have_rows(column: str, command: Command) -> None:
    Path("pairs.csv").write_text(KINDS.replace("kind", column, 1), encoding="utf-8")
    records = json.loads(command(*TWO_KINDS, "-f", "json")[1])["rates"]
    rates = {record["kind"]: (record["pairs"], record["false_hits"], record["same_pairs"]) for record in records[:3]}
    assert rates == {"": (3, pytest.approx(2 / 3), 2), "date": (2, 1.0, 2), "entity": (1, 0.0, 2)}
    shown = command(*TWO_KINDS)[1]
    assert "100.0% of 2 pairs of the kind date pass (area" in shown.replace("\n", " ")
    assert "own pairs, entity: do you ship it / sell three melons" in shown


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(
    ("limits", "code", "named"),
    [
        (["100%"], 0, []),
        (["100%", "date=99%"], 1, ["own pairs, date"]),
        (["date=100%", "80%"], 1, ["own pairs"]),
        (["entity=79%"], 1, ["own pairs, entity"]),
        (["entity=80%"], 0, []),
    ],
)
def test_each_kind_has_its_limit(limits: list[str], code: int, named: list[str], command: Command) -> None:
    """One entity of one: from 0.0 to 79.3%."""
    Path("pairs.csv").write_text(KINDS, encoding="utf-8")
    options = [word for limit in limits for word in ("--max-false-hits", limit)]
    outcome = command(*TWO_KINDS, *options)
    assert outcome[0] == code
    assert re.findall(r"(own pairs(?:, \w+)?) \d", outcome[2]) == named
    cases = ET.fromstring(command(*TWO_KINDS, *options, "-f", "junit")[1]).iter("testcase")
    assert [case.get("name") for case in cases if case.find("failure") is not None] == named


@pytest.mark.usefixtures("working_folder")
def test_draws_that_agree_prove_nothing(command: Command) -> None:
    """One pair without a false hit in each draw: from 0.0 to 79.3%, however many draws."""
    Path("pairs.csv").write_text(KINDS, encoding="utf-8")
    for draws in ("1", "3"):
        code, _, err = command(*TWO_KINDS, "--draws", draws, "--max-false-hits", "entity=50%")
        assert (code, "own pairs, entity 0.0% [0.0, 79.3], of at most 50%" in err) == (1, True)


@pytest.mark.usefixtures("working_folder")
def test_kind_takes_paraphrases_of_its_half(command: Command) -> None:
    """The only paraphrase of a kind is in the half that sets the threshold."""
    rows = [f"text {n} {'x' if same else 'y'},text {n} z,{same},many" for n in range(80) for same in (0, 1)]
    text = next(t for t in ("one", "two", "three", "four") if hash_words([t]) % 2 == 0)
    rare = [f"{text},{text} again,1,rare", *(f"rare {n},rare {n} not,0,rare" for n in range(12))]
    Path("pairs.csv").write_text("\n".join(["a,b,same,kind", *rows, *rare]), encoding="utf-8")
    assert "own pairs, rare: " in check_success(command("gate", "bow?dim=8", "--pairs", "pairs.csv", "-c", "role"))


@pytest.mark.usefixtures("working_folder")
def test_kind_without_measured_pair_is_named(command: Command) -> None:
    """The threshold is chosen on the units with an even number and measured on those with an odd one."""
    rows = [f"text {n} {'x' if same else 'y'},text {n} z,{same},many" for n in range(80) for same in (0, 1)]
    by_half = {
        hash_words([text]) % 2: text for text in ("rare one", "rare two", "rare three", "rare four", "rare five")
    }
    for half, text in by_half.items():
        Path("pairs.csv").write_text("\n".join(["a,b,same,kind", *rows, f"{text},q r t,0,rare"]), encoding="utf-8")
        shown = check_success(command("gate", "bow?dim=8", "--pairs", "pairs.csv", "-c", "role", "-n", "20"))
        is_left_out = "Left out: the kind rare has no pair in the measured half." in shown
        assert is_left_out == (half == 0)
        assert ("own pairs, rare: " in shown) == (half == 1)
        limited = command("gate", "bow?dim=8", "--pairs", "pairs.csv", "-c", "role", "--max-false-hits", "rare=50%")
        assert (
            "--max-false-hits rare: this kind has no pair in the measured half; give --threshold" in limited[2]
        ) == (half == 0)
    assert {*by_half} == {0, 1}


def test_junit(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    code, shown, _ = command(*ROLE, "--max-false-hits", "0.99", "--out", path)
    assert (code, shown) == (1, "")
    suites = ET.parse(path).getroot()
    assert (suites.tag, suites.get("tests"), suites.get("failures")) == ("testsuites", "2", "1")
    cases = suites.findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == ["role (anchor)", "role (form)"]
    assert [case.find("failure") is not None for case in cases] == [True, False]
    path.with_suffix(".csv").write_text("a,b,same\nx,x,1\nx,x \x1b[31m,0\n", encoding="utf-8")
    pairs = ("--pairs", path.with_suffix(".csv"), "--threshold", "0.5", "-c", "role", "--max-false-hits", "0")
    assert command("gate", "bow", *pairs, "--out", path)[0] == 1
    (failure,) = ET.parse(path).getroot().iter("failure")
    assert (failure.text, failure.get("type")) == (r"x / x \x1b[31m", "FalseHitsError")
    ET.fromstring(command(*ROLE, "--format", "junit")[1])


def test_junit_escapes_forbidden_characters(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("a,b,same\nx,x,1\nx,x \ufffe\u2028\x07\x9b,0\n", encoding="utf-8")
    options = ("--pairs", path, "--threshold", "0.5", "--max-false-hits", "0", "--format", "junit")
    code, shown, _ = command("gate", "bow?name=a\ufffe\x07\u202e", *options)
    assert code == 1
    suites = ET.fromstring(shown)
    (suite,), (failure,) = suites.iter("testsuite"), suites.iter("failure")
    assert suite.get("name") == r"probe gate a\ufffe\x07\u202e"
    assert failure.text == r"x / x \ufffe\u2028\x07\x9b"


def test_json_has_no_control_characters(command: Command) -> None:
    shown = check_success(command("gate", "bow?dim=8&name=a\x9b\u202e", *ROLE[2:], "-f", "json"))
    assert {record["scorer"] for record in json.loads(shown)["pairs"]} == {"a\x9b\u202e"}
    assert not {"\x9b", "\u202e"} & {*shown}


def test_cascade_prints_its_cost(command: Command) -> None:
    shown = check_success(command(*ROLE, "--then", "bow?dim=4", "-c", "noun", "-f", "markdown"))
    assert re.search(r": at a cosine of \d\.\d{4}, then a cosine of -?\d\.\d{4}, where", shown)
    assert re.search(r"bow\?dim=8 scored 360 pairs, [\d,]+ per second\.\n.*bow\?dim=4 scored \d+ pairs, ", shown)
    (record, *_) = json.loads(
        command(*ROLE, "--then", "bow?dim=4", "--threshold", "0.2", "--keep", "90%", "-f", "json")[1]
    )["rates"]
    assert (record["stage1_threshold"], record["keep"]) == (0.2, 0.9)
    assert record["stage1_pairs"] == 180 >= record["stage2_pairs"]
    assert record["stage2_pairs_per_second"] > 0


def test_questions_of_ones_own_words(command: Command) -> None:
    words = ("--lexicon", ROOT / "examples" / "operations.toml", "--mood", "question")
    shown = check_success(command("gate", "bow?dim=8", "-n", "40", "--no-cache", *words, "-f", "csv"))
    rows = read_csv(shown, "rate")
    assert {row["first"].split()[0] for row in rows} <= {"is", "are", "was", "were", "do", "does", "did", *MODALS}
    assert "Left out: the contrast 'mood' is impossible" in command("gate", "bow?dim=8", "-n", "40", *words)[1]
    assert command("gate", "bow?dim=8", "-n", "40", "-v", "everyday", "--mood", "order")[0] == 0


def test_page_has_worst_false_hits(command: Command, tmp_path: Path) -> None:
    path, page = tmp_path / "mine.csv", tmp_path / "gate.html"
    path.write_text("a,b,same\nx <b>,x <b>,1\nx <i>,x <i> <script>,0\n", encoding="utf-8")
    assert command("gate", "bow", "--pairs", path, "--threshold", "0.5", "-c", "role", "--out", page)[:2] == (0, "")
    text = page.read_text("utf-8")
    assert "own pairs: x &lt;i&gt; / x &lt;i&gt; &lt;script&gt;" in text
    assert not re.search("<script|<i>|://", text)
    assert command(*ROLE, "-c", "noun", "--out", page)[:2] == (0, "")
    text = page.read_text("utf-8")
    assert text.count('<g class="c0" data-encoder="role">') == text.count('<g class="c1" data-encoder="noun">') == 2
    worst = text.partition("The worst false hits")[2]
    assert worst.count("<tr") == 21
    scores = [float(number) for number in re.findall(r"<td>(-?[\d.]+)</td>", worst)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1


def test_own_pairs(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,b,same\nthe man slept,the man slept,1\nthe man slept,the woman slept,0\n", encoding="utf-8")
    code, shown, _ = command("gate", "bow", "--pairs", path, "--threshold", "0.99", "-f", "csv")
    (row,) = read_csv(shown, "rate")
    assert (code, row["misses"], row["false_hits"], row["contrast"]) == (0, "0.0", "0.0", "")
    code, _, err = command("gate", "bow", "--pairs", path)
    assert (code, err.count("\n")) == (2, 1)
    assert "too few pairs to choose a threshold" in err


@pytest.mark.parametrize("name", ["gate.csv", "gate.json", "gate.html", "gate.xml", "gate.md", "gate.txt"])
def test_written_file_is_announced(name: str, command: Command, tmp_path: Path) -> None:
    """The sentence and the path stand on stderr, so that stdout stays free for data."""
    code, shown, err = command(*ROLE, "--out", tmp_path / name)
    assert (code, shown) == (0, "")
    assert "\nOf generated sentences of the vocabulary compeval: at a cosine of " in err
    assert err.endswith(f"\ngate: {tmp_path / name}\n")
    assert "gate: " not in command(*ROLE, "--out", "-")[2]


@pytest.mark.usefixtures("working_folder")
def test_pairs_without_paraphrases_have_false_hits_only(command: Command) -> None:
    """Of three pairs with other meanings, one has the same words, and passes."""
    Path("pairs.csv").write_text("a,b,same\nx y,y x,0\nx,z,0\nx,w,0\n", encoding="utf-8")
    line = ("gate", "bow?dim=50", "--pairs", "pairs.csv", "-c", "role", "-n", "20", "--no-cache")
    stated = (*line, "--threshold", "0.9")
    (rate, *_) = json.loads(check_success(command(*stated, "-f", "json")))["rates"]
    assert (rate["false_hits"], rate["pairs"], rate["same_pairs"]) == (pytest.approx(1 / 3), 3, 0)
    assert {rate[name] for name in ("kept", "misses", "auc", "eer")} == {None}
    shown = check_success(command(*stated, "-f", "markdown"))
    assert shown.startswith(
        "**Of the pairs in pairs.csv: at a cosine of 0.9000, 33.3% of 3 pairs with different meanings"
    )
    assert re.search(r"own pairs: x / z \| - \| 3 \| 33\.3 \| - \| - \| - \|", shown)
    assert "3 pairs with different meanings and no paraphrases are measured, so that misses, AUC and EER are" in shown
    junit = ET.fromstring(check_success(command(*stated, "-f", "junit")))
    outputs = [case.findtext("system-out") or "" for case in junit.iter("testcase")]
    assert outputs[0].startswith("false hits 33.3%\n")
    check_success(command(*stated, "-o", "page.html"))
    assert "misses (%)" not in Path("page.html").read_text("utf-8")
    assert "AUC" not in check_success(command(*stated, "--against", "bow?dim=9", "-f", "csv")).partition("pair,")[0]
    check_refusal(
        command(*line), "pairs.csv: only pairs with same=0, by which no threshold can be chosen; give --threshold, ",
        code=1, progress=True,
    )  # fmt: skip
    Path("pairs.csv").write_text("a,b,same\nx,x,1\n", encoding="utf-8")
    check_refusal(command(*stated), "pairs.csv: only pairs with same=1", code=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--keep 105%", "--keep 105%: a share from 0% to 100% is expected, such as 5% or 0.05"),
        ("--keep 0_5%", "--keep 0_5%: a share from 0% to 100% is expected"),
        ("--max-false-hits few", "--max-false-hits few: a share from 0% to 100% is expected"),
        ("--max-false-hits xyz=5%", "no contrast 'xyz' is measured; measured: "),
        ("--max-false-hits rol=5%", "--max-false-hits rol=5%: no contrast 'rol' is measured (did you mean 'role'?)"),
        ("--max-false-hits 5% --max-false-hits 6%", "--max-false-hits 6%: a limit for all is given twice"),
        ("--threshold 0.8 --keep 90%", "--threshold and --keep: give one of them"),
        ("--threshold -2", "the threshold -2 is outside the range of the cosine, -1 to 1\n"),
        ("--threshold 85", "the threshold 85 is outside the range of the cosine, -1 to 1 (did you mean 0.85?)"),
        ("--threshold 85%", "--threshold 85%: a similarity as a number is expected, such as 0.85"),
        ("--threshold 0,85", "--threshold 0,85: a similarity as a number is expected, such as 0.85"),
        ("--threshold high", "--threshold high: a similarity as a number is expected, such as 0.9"),
        ("--column question", "--column is for --texts"),
        ("-p stanza", "--parser is for --texts"),
        ("--format xml", "there is no format 'xml'"),
        ("--format junit --intervals", "--intervals is for tables and records; the format junit has no intervals"),
        ("--pairs x.csv", "x.csv"),
        ("--threshold -1 --nearness euclid", "the threshold -1 is outside the range of the distance, 0 to inf\n"),
        ("--out x.foo", "x.foo: no format has the suffix '.foo'; choose by --format: text, markdown, latex, csv,"),
        ("--out none/x.csv", "none/x.csv: cannot write there: there is no directory none"),
        ("--out none/x.xml", "none/x.xml: cannot write there: there is no directory none"),
        ("--nearness cosin", "(did you mean 'cosine'?); known: cosine, dot, euclid\n"),
        ("--then boww", "(did you mean 'bow'?); known: bow, lstm"),
        ("--then boww", "tfidf, ce;"),
        ("--mood quest", "there is no mood 'quest' (did you mean 'question'?)"),
        ("-c mood --mood question", "the contrast 'mood' is impossible where all sentences are questions"),
        ("-c modifier --mood order", "no order of it has another form and the contrast"),
        ("--nearness whitened", "there is no measure 'whitened'; known: cosine, dot, euclid"),
    ],
)
def test_bad_request_is_refused(arguments: str, message: str, command: Command) -> None:
    check_refusal(command(*ROLE, *arguments.split()), message, progress=True)
