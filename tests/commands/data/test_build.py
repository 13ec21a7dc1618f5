"""The commands ``probe build``, ``probe audit`` and ``probe features``: output, files and errors."""

import csv
import json
import re
import sys
from functools import cache, partial
from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.shared import DATA
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.common.specs import Size
from sentprobe.lexicon import english
from sentprobe.probes.audits.audit_report import audit_from_json
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.datasets.formats import read_dataset, read_datasets, write_dataset
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import TASKS

TINY = ("--train", "56", "--test", "28")


def content(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def test_build_writes_all_tasks(working_folder: Path, command: Command) -> None:
    request = ("build", "compeval", "--out", "sets", *TINY, "--validation", "28")
    code, stdout, stderr = command(*request)
    assert code == 0, stderr
    assert "build the tasks" in stderr
    for name in TASKS:
        assert name in stdout
    assert "largest share" in stdout
    assert "Negation: validation has the adverbs of training" in stdout
    assert stdout.endswith("datasets: sets\n")
    actual = {data.name: data for data in read_datasets("sets")}
    assert set(actual) == set(TASKS)
    for data in actual.values():
        assert [len(part) for part in data.splits.values()] == [56, 28, 28]
        assert data.card.command == "probe " + " ".join(request)
        assert data.card.audit == {}
    before = content(working_folder / "sets")
    files = ("README.md", "card.json", "items.parquet", "sentences.parquet")
    splits = [f"parquet/{split}.parquet" for split in Split]
    expected = [f"{task}/{file}" for task in TASKS for file in (*files, *splits)]
    assert set(before) == {"README.md", *expected}
    assert command(*request)[0] == 0
    assert content(working_folder / "sets") == before


PARTS = [f"{split}.parquet" for split in Split]
FILES = {
    "jsonl": ["Content1Probe.card.json", "Content1Probe.jsonl", *(f"parquet/Content1Probe/{part}" for part in PARTS)],
    "published": [
        *(f"Content1Probe/{name}" for name in ("README.md", "card.json", "dev.txt", "test.txt", "train.txt")),
        *(f"Content1Probe/parquet/{part}" for part in PARTS),
    ],
}


@pytest.mark.parametrize(("name", "files"), FILES.items(), ids=FILES)
def test_formats_and_options(tmp_path: Path, name: str, files: list[str], command: Command) -> None:
    check_success(
        command(
            "build",
            "compeval",
            "--task",
            "Content1Probe",
            "--vocabulary",
            "english",
            "--seed",
            "3",
            "--train",
            "400",
            "--test",
            "40",
            "--validation",
            "20",
            "--sampling",
            "paper",
            "--format",
            name,
            "--out",
            str(tmp_path / "new" / "sets"),
        )
    )
    assert set(content(tmp_path / "new" / "sets")) == {"README.md", *files}
    (data,) = read_datasets(tmp_path / "new" / "sets")
    assert (data.card.sampling, data.card.seed, data.card.vocabulary) == ("paper", 3, "english")
    assert len(data.splits[Split.VALIDATION]) == 20


BAD = [
    ("compevl", "there is no suite 'compevl' (did you mean 'compeval'?)"),
    ("compeval --task Ordr", "no compeval task 'Ordr' (did you mean 'Order'?)"),
    ("compeval --task Order --task Order", "task 'Order' is given twice"),
    ("compeval --sampling papr", "no sampling 'papr' (did you mean 'paper'?)"),
    ("compeval --format jsnol", "no format 'jsnol' of datasets (did you mean 'jsonl'?)"),
    ("compeval --format senteval", "which the format senteval cannot hold"),
    ("compeval --train 401", "train items must be a positive multiple of 4"),
    ("compeval --validation 2", "Content1Probe: the number of validation items must be"),
    ("compeval --vocabulary engilsh", "did you mean 'english'?"),
    ("compeval --lexicon none.toml", "none.toml: cannot read the lexicon: No"),
    ("compeval --no-audit", "--audit/--no-audit is for the suite natural, not for compeval"),
    ("compeval --audit", "--audit/--no-audit is for the suite natural, not for compeval"),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=[line for line, _ in BAD])
def test_build_refuses(line: str, message: str, tmp_path: Path, command: Command) -> None:
    check_refusal(command("build", *line.split(), "--out", tmp_path / "sets"), message, progress=True)
    assert not [*tmp_path.iterdir()]


def test_build_leaves_what_is_in_its_way(tmp_path: Path, command: Command) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "sets" / "Order").mkdir(parents=True)
    (tmp_path / "sets" / "Order" / "notes.txt").write_text("mine")
    for name, message in (
        ("file", "cannot write datasets there: File exists"),
        ("sets", "Order: is not empty and not a dataset of sentprobe"),
    ):
        check_refusal(command("build", "compeval", *TINY, "--out", tmp_path / name), message)
    assert list(content(tmp_path)) == ["file", "sets/Order/notes.txt"]


KINDS = {
    "run.json": "sets: is a folder of results, which probe run made; write the datasets to another",
    "table.json": "sets: is the table of a corpus, which probe analyze made; write the datasets",
    "config.json": "sets: is a trained encoder, which probe train made; write the datasets to another folder",
}


@pytest.mark.parametrize(("name", "message"), KINDS.items())
def test_build_refuses_folder_of_other_command(tmp_path: Path, name: str, message: str, command: Command) -> None:
    out = tmp_path / "sets"
    out.mkdir()
    (out / name).write_text('{"format": "sentprobe sentence model 2"}')
    check_refusal(command("build", "compeval", *TINY, "-o", out), message)
    assert list(content(out)) == [name]


@pytest.mark.parametrize("fmt", ["directory", "published"])
def test_foreign_file_in_dataset_is_kept(tmp_path: Path, fmt: str, command: Command) -> None:
    request = ("build", "compeval", "--task", "Order", *TINY, "-f", fmt, "-o", str(tmp_path))
    assert command(*request)[0] == 0
    (tmp_path / "Order" / ".card.json.x1.part").write_text("{")
    assert command(*request)[0] == 0
    assert not (tmp_path / "Order" / ".card.json.x1.part").exists()
    (tmp_path / "Order" / "notes.txt").write_text("mine")
    before = content(tmp_path)
    code, _, stderr = command(*request)
    assert code == 2
    assert "notes.txt: not a file of the dataset, so not overwritten" in stderr
    assert content(tmp_path) == before


OWN = DATA / "compeval" / "own.toml"


@pytest.mark.parametrize(("vocabulary", "code"), [("own", 0), ("own small", 2)])
def test_vocabulary_of_an_own_lexicon(tmp_path: Path, vocabulary: str, code: int, command: Command) -> None:
    """Without --vocabulary it is the only one there is; of several one must be named."""
    words, *named = OWN.read_text("utf-8").split("[vocabulary.")
    selected = [name for name in named if name.partition("]")[0] in vocabulary.split()]
    lexicon = tmp_path / "l.toml"
    lexicon.write_text("[vocabulary.".join([words, *selected]), "utf-8")
    size = ("--task", "Order", "--train", "112", "--test", "8")
    for request in (
        ("build", "compeval", "--lexicon", lexicon, *size, "-o", tmp_path / "sets"),
        ("run", "compeval", "--lexicon", lexicon, *size, "-e", "majority", "--jobs", "1"),
    ):
        cache = ("--no-cache",) if request[0] == "run" else ()
        exit_code, _, stderr = command(*request, *cache)
        assert exit_code == code, stderr
        assert code == 0 or "name one of the lexicon's vocabularies: own, small" in stderr


NO_ADVERB = "Negation: the vocabulary has 0 adverbs; holding some out takes at least 8"


@pytest.mark.parametrize("what", ["build", "run"])
def test_impossible_task_is_named_and_rest_built(tmp_path: Path, command: Command, what: str) -> None:
    lexicon = tmp_path / "l.toml"
    words, _, _ = OWN.read_text("utf-8").partition("[adverb]")
    lexicon.write_text(words, "utf-8")
    request = (what, "compeval", "--lexicon", lexicon, *TINY, "-o", tmp_path / "out")
    more = ("-e", "majority", "--jobs", "1", "--no-cache") if what == "run" else ()
    code, stdout, stderr = command(*request, *more)
    assert code == 1
    assert stderr.endswith(f"probe: 1 of {len(TASKS)} tasks could not be built:\n{NO_ADVERB}\n")
    assert all(name in stdout for name in TASKS if name != "Negation")
    if what == "build":
        assert {data.name for data in read_datasets(tmp_path / "out")} == {*TASKS} - {"Negation"}


SMALL_LEXICONS = {
    "one noun": "[noun]\nwolf = {}\n[transitive]\nchase = {}\n[intransitive]\nhowl = {}\n",
    "no transitive verb": "[noun]\nwolf = {}\nfox = {}\n[intransitive]\nhowl = {}\nrun = {}\n",
    "a verb left out": '[noun]\nwolf = {}\nfox = {}\n[transitive]\nhit = {flags = ["syncretic"]}\n',
}


@pytest.mark.parametrize("sampling", ["mirror", "paper"])
@pytest.mark.parametrize("text", SMALL_LEXICONS.values(), ids=SMALL_LEXICONS)
def test_lexicon_too_small_for_any_task(tmp_path: Path, command: Command, text: str, sampling: str) -> None:
    (tmp_path / "l.toml").write_text(text, "utf-8")
    where = ("--lexicon", tmp_path / "l.toml", "-o", tmp_path / "out")
    code, stdout, stderr = command("build", "compeval", "--sampling", sampling, *where)
    assert (code, stdout) == (1, "")
    assert f"probe: {len(TASKS)} of {len(TASKS)} tasks could not be built:\n" in stderr
    assert [line.partition(":")[0] for line in stderr.splitlines()[-len(TASKS) :]] == [*TASKS]


@pytest.mark.parametrize("fmt", ["directory", "hub", "csv"])
def test_interrupted_build_leaves_no_old_readme(
    fmt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    line = ("build", "compeval", "--format", fmt, "--out", tmp_path, "--test", 4, "--task", "Order")
    assert command(*line, "--train", 56)[0] == 0
    first = content(tmp_path)

    def interrupt(*_: object, **__: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sentprobe.commands.build._write_readme", interrupt)
        assert command(*line, "--train", 112, "--task", "SemRole")[0] == 130
    assert "README.md" not in content(tmp_path)
    assert command(*line, "--train", 112, "--task", "SemRole")[0] == 0
    assert content(tmp_path)["README.md"] != first["README.md"]
    assert command("build", "compeval", "--format", fmt, "--out", tmp_path, "--task", "none")[0] == 2
    assert "README.md" in content(tmp_path)


LEAKY = make_learnable_dataset(name="leaky", size=60)
"""Whether the probe word is in the sentence: the bag of words gives it away."""


@cache
def order() -> ProbeDataset:
    return build(TASKS["Order"], english(), size=Size(336, 112), seed=1)


@pytest.fixture
def probe(command: Command) -> Command:
    """Run ``probe audit`` in this process."""
    return partial(command, "audit")


def saved(data: ProbeDataset, path: Path) -> Path:
    write_dataset(data, path)
    return path


def test_audit_prints_verdict(tmp_path: Path, probe: Command) -> None:
    out = check_success(probe(saved(order(), tmp_path / "Order"), "--jobs", 1))
    assert "bound, bag of words and probe: train exactly 50.0%" in out
    assert "Order: no leak found" in out


def test_audits_are_written_into_cards(tmp_path: Path, probe: Command) -> None:
    for data in (order(), LEAKY):
        saved(data, tmp_path / data.name)
    (tmp_path / "notes.md").write_text("not a dataset")
    code, out, err = probe(tmp_path, "--format", "json", "--write", "--strict", "--jobs", 1)
    assert code == 1
    assert err.splitlines()[-1] == "probe: leaks in 1 of 2 datasets: leaky"
    audits = {record["task"]: record for record in json.loads(out)}
    for data in (order(), LEAKY):
        again = read_dataset(tmp_path / data.name)
        assert again.fingerprint() == data.fingerprint()
        assert again.card.audit == audits[data.name]
        assert audit_from_json(again.card.audit).fingerprint == data.fingerprint()
    assert "bag-of-words" in audits["leaky"]["leaks"]


def test_audit_is_written_to_file(tmp_path: Path, probe: Command) -> None:
    out_file = tmp_path / "audit.md"
    source = saved(LEAKY, tmp_path / "leaky.jsonl")
    out = check_success(probe(source, "-f", "markdown", "-o", out_file, "--jobs", 1))
    assert out.startswith("leaky: LEAK: bag of words and probe gives ")
    assert out.endswith(f"audit: {out_file}\n")
    assert "| bag of words and probe | " in out_file.read_text("utf-8")


@pytest.mark.parametrize("suffix", ["txt", "md", "tex", "csv", "json"])
def test_suffix_chooses_format_of_audit(suffix: str, tmp_path: Path, probe: Command) -> None:
    sources = [saved(data, tmp_path / data.name) for data in (order(), LEAKY)]
    check_success(probe(*sources, "-o", tmp_path / f"audit.{suffix}", "--jobs", 1))
    written = (tmp_path / f"audit.{suffix}").read_text("utf-8")
    if suffix == "json":
        assert [audit_from_json(record).task for record in json.loads(written)] == ["Order", "leaky"]
    elif suffix == "csv":
        records = {(row["task"], row["cue"]): row for row in csv.DictReader(written.splitlines())}
        assert records["Order", "bag-of-words"]["bound_test"] == "0.5"
        assert records["leaky", "bag-of-words"]["verdict"] == "leak"
    else:
        titles, row = [f"{task} (" for task in ("Order", "leaky")], "bag of words and probe"
        assert [sum(title in line for line in written.splitlines()) for title in titles] == [1, 1]
        assert len(re.findall(rf"^[ |]*{row} *[|&]? +[\d.]+", written, re.MULTILINE)) == 2
        assert written.count("leak: the cue is above chance") == 1


@pytest.mark.parametrize("suffix", ["txt", "md", "tex", "csv", "json"])
def test_features_of_each_label_are_listed(suffix: str, tmp_path: Path, command: Command) -> None:
    sources = [saved(data, tmp_path / data.name) for data in (order(), LEAKY)]
    check_success(command("features", *sources, "-n", 2, "--ngrams", 2, "-o", tmp_path / f"features.{suffix}"))
    written = (tmp_path / f"features.{suffix}").read_text("utf-8")
    if suffix in {"csv", "json"}:
        rows = json.loads(written) if suffix == "json" else [*csv.DictReader(written.splitlines())]
        assert {row["task"] for row in rows} == {"Order", "leaky"}
        assert all(0 < int(row["with_label"]) <= int(row["items"]) and float(row["log_odds"]) > 0 for row in rows)
    else:
        assert [title in written for title in ("Order (336 training items)", "leaky (")] == [True, True]
        assert "with label" in written


def test_requests_for_features_are_checked(tmp_path: Path, command: Command) -> None:
    source = saved(LEAKY, tmp_path / "leaky.jsonl")
    check_refusal(command("features", source, "--ngrams", 3), "Invalid value for '--ngrams'")
    check_refusal(command("features", source, "-n", 0), "Invalid value for '--n'")
    check_refusal(command("features", tmp_path / "none"), "none")


def test_audit_has_latex_caption(tmp_path: Path, probe: Command) -> None:
    source = saved(order(), tmp_path / "Order")
    latex = ("--format", "latex", "--caption", "Cues of Order", "--label", "tab:cues")
    out = check_success(probe(source, *latex, "--jobs", 1))
    assert "  \\caption{Cues of Order}\n  \\label{tab:cues}\n\\begin{tabular}{lrrrrl}\n" in out


def test_unexpected_leak_is_a_failure(tmp_path: Path, probe: Command) -> None:
    source = saved(LEAKY, tmp_path / "leaky.jsonl")
    _, stderr, _ = probe(source, "--format", "json", "--jobs", 1)
    leaks = json.loads(stderr)[0]["leaks"]
    assert len(leaks) > 1
    options = [part for cue in leaks for part in ("--expect", cue)]
    code, out, err = probe(source, *options, "--strict", "--jobs", 1)
    assert (code, err.count("leaks in")) == (0, 0)
    assert "leaky: no leak found" in out
    assert out.count("(you expect it)") == len(leaks)
    code, out, err = probe(source, *options[:2], "--jobs", 1)
    assert (code, err.splitlines()[-1]) == (1, "probe: leaks in 1 of 1 datasets: leaky")
    assert "leaky: LEAK: " in out


def test_expected_cue_not_found_is_named(tmp_path: Path, probe: Command) -> None:
    source = saved(order(), tmp_path / "Order")
    expect = ("--expect", "probe", "--expect", "position")
    out = check_success(probe(source, *expect, "--format", "json", "--jobs", 1))
    (record,) = json.loads(out)
    assert (record["expect"], record["not_found"]) == (["probe", "position"], ["probe"])
    assert audit_from_json(record).not_found == (Cue.PROBE,)
    out = probe(source, *expect, "--jobs", 1)[1]
    assert "  expected, but not found: probe only gives 50.0%\n" in out
    assert "the task is about the order of words" in out


SPLITS = ("train", "test")


def test_expected_cue_not_tried_is_named(tmp_path: Path, probe: Command) -> None:
    source = tmp_path / "unprobed.csv"
    words = ("no", "yes")
    rows = (f"{split}{n} {words[n % 2]},{n % 2},{split}" for split in SPLITS for n in range(60))
    source.write_text("\n".join(["text,label,split", *rows]))
    code, out, _ = probe(source, "--expect", "position", "--expect", "length", "--jobs", 1)
    assert code == 1
    assert "unprobed: LEAK: bag of words gives 100.0%" in out
    assert "  expected, but not found: length gives 50.0%\n" in out
    assert "  expected, but not tried here: position of the probe words\n" in out


LACKING = "libgomp.so.1: cannot open shared object file: No such file or directory"


def test_missing_openmp_is_named(tmp_path: Path, probe: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lightgbm.py").write_text(f"raise OSError({LACKING!r})")
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    code, out, err = probe(saved(LEAKY, tmp_path / "leaky.jsonl"), "--jobs", 1)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1] == (
        "probe: LightGBM is installed, but cannot be loaded; it needs the OpenMP library of the "
        f"system, libgomp (of macOS: libomp): {LACKING}"
    )


AUDIT_BAD = [
    ("none", "there is no such file or directory"),
    ("empty", "there is no dataset in it"),
    ("leaky.jsonl --format jsn", "there is no format 'jsn' (did you mean 'json'?)"),
    ("leaky.jsonl --format html", "an audit has no format 'html'"),
    ("leaky.jsonl --out leaky.jsonl", "leaky.jsonl: no format has the suffix '.jsonl'"),
    ("leaky.jsonl --caption Cues", "--caption is for --format latex, not for text"),
    ("leaky.jsonl --read-as json", "there is no format 'json' of datasets"),
    ("leaky.jsonl --jobs 0", "the number of jobs must be positive, not 0"),
    ("leaky.jsonl --expect bag", "there is no cue 'bag'; known: probe, length, bag-of-"),
    ("leaky.jsonl --expect n-gram", "there is no cue 'n-gram' (did you mean 'n-grams'?)"),
    ("leaky.jsonl --write", "only a dataset in the format 'directory' has a card"),
    ("leaky.jsonl --lexicon no.toml", "no.toml"),
    ("leaky.jsonl --out no/audit.txt", "audit.txt: cannot write there"),
    ("leaky.jsonl --format json --out leaky.jsonl", "leaky.jsonl: is an input"),
    (". --out empty/audit.txt", "lies inside ., which is read"),
]


@pytest.mark.parametrize(("line", "message"), AUDIT_BAD, ids=[line for line, _ in AUDIT_BAD])
def test_audit_refuses(line: str, message: str, working_folder: Path, probe: Command) -> None:
    before = saved(LEAKY, working_folder / "leaky.jsonl").read_bytes()
    Path("empty").mkdir()
    check_refusal(probe(*line.split()), message)
    assert Path("leaky.jsonl").read_bytes() == before
