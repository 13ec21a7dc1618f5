"""``probe run natural`` and ``probe build natural`` with tables of several languages."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.natural_tables import sample_rows, write_table

from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import german
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.results.item_table import ItemTable, read_item_tables
from sentprobe.probes.results.store import read_results
from sentprobe.probes.runs.run import run

SMALL = ("--train", 60, "--test", 20, "--validation", 10, "--jobs", 1, "--no-cache", "--set", "max_epochs=2")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("languages")
    paths = []
    for number, language in enumerate(("de", "fr")):
        rows = [replace(row, sentence_id=f"n{place}") for place, row in enumerate(sample_rows(400, seed=200 + number))]
        paths.append(write_table(rows, folder / f"{language}.table", language=language).path)
    return paths


def test_a_run_makes_the_matrix_and_resumes(tables: list[Path], tmp_path: Path, command: Command) -> None:
    request = ("run", "natural", *tables, "--task", "SentLen", "-e", "bow?dim=4", "-o", tmp_path / "run", *SMALL)
    code, out, err = command(*request)
    assert code == 0, err
    assert "tested on fr" in out
    results = read_results(tmp_path / "run").records
    facts = {(result.data.train_language, result.data.test_language) for result in results if result.data}
    assert facts == {("de", "de"), ("de", "fr"), ("fr", "de"), ("fr", "fr")}
    assert {result.task for result in results} == {f"SentLen.{a}-{b}" for a, b in facts}
    code, out, err = command(*request)
    assert (code, "4 results found" in out + err) == (0, True)
    code, out, _ = command(*request, "--dry-run")
    assert (code, "0 missing" in out) == (0, True)
    code, out, _ = command("show", tmp_path / "run", "--format", "csv")
    assert (code, "data_train_language" in out) == (0, True)
    for task, count in (("SentLen", 4), ("SentLen.de-fr", 1)):
        code, out, _ = command("show", tmp_path / "run", "--by", "label", "--task", task)
        assert (code, out.count(", label")) == (0, count)
    code, _, err = command("show", tmp_path / "run", "--format", "mteb", "--out", tmp_path / "mteb")
    assert (code, "MTEB's form is for English, and these results are across languages" in err) == (2, True)
    for name in ("check", "methods", "report"):
        code, out, err = command(name, tmp_path / "run", *(("--out", tmp_path / "r.html") if name == "report" else ()))
        assert code in (0, 1), err


def test_stored_datasets_are_those_of_the_run(tables: list[Path], tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "SentLen", "--train-on", "de", "--test-on", "fr,de")
    code, _, err = command("build", "natural", *tables, *chosen, *SMALL[:6], "--out", tmp_path / "sets")
    assert code == 0, err
    names = ["SentLen.de-de", "SentLen.de-fr"]
    assert sorted(path.name for path in (tmp_path / "sets").iterdir() if path.is_dir()) == names
    card = read_dataset(tmp_path / "sets" / names[1]).card
    assert (card.task, card.train_language, card.test_language) == ("SentLen", "de", "fr")
    options = ("-e", "bow?dim=4", "--no-controls", *SMALL[6:])
    code, _, err = command("run", "natural", *tables, *chosen, *SMALL[:6], "-o", tmp_path / "a", *options)
    assert code == 0, err
    code, _, err = command("run", tmp_path / "sets", "--task", "SentLen", "-o", tmp_path / "b", *options)
    assert code == 0, err
    digests = [
        sorted(result.dataset_fingerprint for result in read_results(tmp_path / name).records) for name in ("a", "b")
    ]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 2


def test_in_python(tables: list[Path]) -> None:
    results = run(tables, "majority", tasks="BShift", train_on="de", test_on="fr", train=40, test=20, validation=0)
    assert results.tasks == ("BShift.de-fr",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--train-on", "es"), "--train-on: there is no table of the language 'es'; the tables are of: de, fr"),
        (("--test-on", "de,de"), "language 'de' is given twice"),
        (("--task", "WC"), "WC: cannot be tested in another language: it asks about words of one language"),
    ],
)
@pytest.mark.parametrize("verb", ["run", "build"])
def test_wrong_requests_have_one_reason(
    verb: str, options: tuple[str, str], message: str, *, tables: list[Path], tmp_path: Path, command: Command
) -> None:
    code, _, err = command(verb, "natural", *tables, *options, "--out", tmp_path / "out")
    assert code == (1 if "WC" in options else 2)
    assert message in err


def test_languages_are_for_tables(command: Command) -> None:
    code, _, err = command("run", "compeval", "--train-on", "de")
    assert (code, "--train-on is for the suite natural, not for compeval" in err) == (2, True)


def test_the_language_of_a_table(tmp_path: Path, command: Command) -> None:
    row = "\t".join(("1", "Hunde", "Hund", "NOUN", "_", "_", "0", "root", "_", "_"))
    file = tmp_path / "de_gsd-ud-test.conllu"
    file.write_text(f"# sent_id = a1\n{row}\n\n#sent_id=b2\n{row}\n\n", "utf-8")
    code, out, err = command("analyze", file, "--out", tmp_path / "t")
    assert (code, "language de" in out) == (0, True), err
    code, out, err = command("analyze", file, "--out", tmp_path / "t", "--language", "de_old", "--force")
    assert (code, "language de_old" in out) == (0, True), err
    code, _, err = command("analyze", file, "--out", tmp_path / "t", "--language", "pt-BR", "--force")
    assert (code, "the language 'pt-BR' has characters besides letters, digits and _" in err) == (2, True)


def test_items_of_a_german_suite_are_annotated(tmp_path: Path, command: Command) -> None:
    """The items of a stored dataset have the same columns: its card names the language."""
    options = ("--language", "de", "--task", "SemRole", "--train", 40, "--test", 20)
    code, _, err = command("build", "compeval", *options, "-o", tmp_path / "sets")
    assert code == 0, err
    assert "- de" in (tmp_path / "sets" / "SemRole" / "README.md").read_text("utf-8").splitlines()
    tables: list[ItemTable] = []
    for name, target in (("built", ("compeval", *options)), ("stored", (tmp_path / "sets",))):
        code, _, err = command("run", *target, "-e", "majority", "--no-controls", "-o", tmp_path / name)
        assert code == 0, err
        tables += read_item_tables(read_results(tmp_path / name).records, tmp_path / name)
    built, stored = tables
    assert built.columns == stored.columns
    assert {*built.columns["voice"]} <= {"active", "passive"}
    assert all(parse(*row) for row in zip(built.sentences, [german()] * len(built), strict=True))
