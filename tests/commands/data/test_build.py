"""The command ``probe build``: files, output and errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.shared import DATA

from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.datasets.formats import read_datasets
from sentprobe.probes.generated.tasks import TASKS

TINY = ("--train", "56", "--test", "28")


def content(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def test_build_writes_all_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.chdir(tmp_path)
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
    before = content(tmp_path / "sets")
    files = ("README.md", "card.json", "items.parquet", "sentences.parquet")
    splits = [f"parquet/{split}.parquet" for split in Split]
    expected = [f"{task}/{file}" for task in TASKS for file in (*files, *splits)]
    assert set(before) == {"README.md", *expected}
    assert command(*request)[0] == 0
    assert content(tmp_path / "sets") == before


@pytest.mark.parametrize(
    ("name", "files"),
    [
        (
            "jsonl",
            [
                "Content1Probe.card.json",
                "Content1Probe.jsonl",
                *(f"parquet/Content1Probe/{each}.parquet" for each in Split),
            ],
        ),
        (
            "published",
            [
                "Content1Probe/README.md",
                "Content1Probe/card.json",
                "Content1Probe/dev.txt",
                *(f"Content1Probe/parquet/{each}.parquet" for each in Split),
                "Content1Probe/test.txt",
                "Content1Probe/train.txt",
            ],
        ),
    ],
)
def test_formats_and_options(tmp_path: Path, name: str, files: list[str], command: Command) -> None:
    code, _, stderr = command(
        "build", "compeval", "--task", "Content1Probe", "--vocabulary", "english", "--seed", "3",
        "--train", "400", "--test", "40", "--validation", "20", "--sampling", "paper",
        "--format", name, "--out", str(tmp_path / "new" / "sets"))  # fmt: skip
    assert code == 0, stderr
    assert set(content(tmp_path / "new" / "sets")) == {"README.md", *files}
    (data,) = read_datasets(tmp_path / "new" / "sets")
    assert (data.card.sampling, data.card.seed, data.card.vocabulary) == ("paper", 3, "english")
    assert len(data.splits[Split.VALIDATION]) == 20


BAD: list[tuple[list[str], str]] = [
    (["compevl"], "there is no suite 'compevl' (did you mean 'compeval'?)"),
    (["compeval", "--task", "Ordr"], "no compeval task 'Ordr' (did you mean 'Order'?)"),
    (["compeval", "--task", "Order", "--task", "Order"], "task 'Order' is given twice"),
    (["compeval", "--sampling", "papr"], "no sampling 'papr' (did you mean 'paper'?)"),
    (["compeval", "--format", "jsnol"], "no format 'jsnol' of datasets (did you mean 'jsonl'?)"),
    (["compeval", "--format", "senteval"], "which the format senteval cannot hold"),
    (["compeval", "--train", "401"], "train items must be a positive multiple of 4"),
    (["compeval", "--validation", "2"], "Content1Probe: the number of validation items must be"),
    (["compeval", "--vocabulary", "engilsh"], "did you mean 'english'?"),
    (["compeval", "--lexicon", "none.toml"], "none.toml: cannot read the lexicon: No"),
    (["compeval", "--no-audit"], "--audit/--no-audit is for the suite natural, not for compeval"),
    (["compeval", "--audit"], "--audit/--no-audit is for the suite natural, not for compeval"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[text for _, text in BAD])
def test_refused_request(arguments: list[str], message: str, tmp_path: Path, command: Command) -> None:
    got, stdout, stderr = command(
        "build", *arguments, "--out", str(tmp_path / "sets"))  # fmt: skip
    last = stderr.splitlines()[-1]
    assert (got, stdout) == (2, "")
    assert last.startswith("probe: ")
    assert message in last
    assert "Traceback" not in stderr
    assert not [*tmp_path.iterdir()]


def test_what_is_in_the_way(tmp_path: Path, command: Command) -> None:
    """It is seen before anything is built, and left alone."""
    file = tmp_path / "file"
    file.write_text("mine")
    (tmp_path / "sets" / "Order").mkdir(parents=True)
    (tmp_path / "sets" / "Order" / "notes.txt").write_text("mine")
    for out, code, message in (
        (file, 2, "cannot write datasets there: File exists"),
        (tmp_path / "sets", 2, "Order: is not empty and not a dataset of sentprobe"),
    ):
        got, _, stderr = command("build", "compeval", *TINY, "--out", str(out))
        assert got == code
        assert message in stderr
        assert "Traceback" not in stderr
    assert list(content(tmp_path)) == ["file", "sets/Order/notes.txt"]


def test_help_is_light() -> None:
    code = (
        "import sys\nfrom sentprobe.cli import probe\n"
        "try:\n    probe()\nexcept SystemExit:\n"
        "    print({'torch', 'pyarrow', 'scipy', 'sklearn'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "build", "--help"],
        capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    assert "--sampling" in done.stdout
    assert done.stdout.endswith("set()\n")


KINDS = {
    "run.json": "sets: is a folder of results, which probe run made; write the datasets to another",
    "table.json": "sets: is the table of a corpus, which probe analyze made; write the datasets",
    "config.json": "sets: is a trained encoder, which probe train made; write the datasets to another folder",
}


@pytest.mark.parametrize(("name", "message"), KINDS.items())
def test_the_folder_of_another_command_is_refused(tmp_path: Path, name: str, message: str, command: Command) -> None:
    out = tmp_path / "sets"
    out.mkdir()
    (out / name).write_text('{"format": "sentprobe sentence model 1"}')
    code, _, stderr = command("build", "compeval", *TINY, "-o", str(out))
    assert code == 2
    assert message in stderr
    assert list(content(out)) == [name]


@pytest.mark.parametrize("fmt", ["directory", "published"])
def test_a_foreign_file_in_a_dataset_is_not_lost(tmp_path: Path, fmt: str, command: Command) -> None:
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
def test_the_vocabulary_of_an_own_lexicon(tmp_path: Path, vocabulary: str, code: int, command: Command) -> None:
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
def test_what_can_be_built_is_and_the_rest_is_named(tmp_path: Path, command: Command, what: str) -> None:
    lexicon = tmp_path / "l.toml"
    words, _, _ = OWN.read_text("utf-8").partition("[adverb]")
    lexicon.write_text(words, "utf-8")
    request = (what, "compeval", "--lexicon", lexicon, *TINY, "-o", tmp_path / "out")
    more = ("-e", "majority", "--jobs", "1", "--no-cache") if what == "run" else ()
    code, stdout, stderr = command(*request, *more)
    assert code == 1
    assert stderr.endswith(f"probe: 1 of 5 tasks could not be built:\n{NO_ADVERB}\n")
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
def test_a_lexicon_too_small_for_any_task(tmp_path: Path, command: Command, text: str, sampling: str) -> None:
    (tmp_path / "l.toml").write_text(text, "utf-8")
    where = ("--lexicon", tmp_path / "l.toml", "-o", tmp_path / "out")
    code, stdout, stderr = command("build", "compeval", "--sampling", sampling, *where)
    assert (code, stdout) == (1, "")
    assert "probe: 5 of 5 tasks could not be built:\n" in stderr
    assert [line.partition(":")[0] for line in stderr.splitlines()[-5:]] == [*TASKS]


@pytest.mark.parametrize("fmt", ["directory", "hub", "csv"])
def test_an_interrupted_build_leaves_no_old_readme(
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
