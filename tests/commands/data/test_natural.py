"""``probe build natural`` and ``probe run natural``: output, files and errors."""

from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.natural_tables import sample_rows, write_table

from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.datasets.formats import read_dataset, read_datasets
from sentprobe.probes.results.store import read_results

SMALL = ("--train", "60", "--test", "12", "--validation", "12")
GIVEN = (*SMALL, "--frequency-band", "1-500", "--odd-band", "2-200", "--sequences", "4")
WORDS = ("--first-rank", "40", "--words", "8")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_table(sample_rows(), tmp_path_factory.mktemp("made") / "table", shards=2).path)


def test_ten_datasets_and_their_cards(table: str, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "tasks"
    code, printed, _ = command(*("build", "natural", table, "-o", str(out), *GIVEN, *WORDS))
    assert code == 0, printed
    assert f"datasets: {out}" in printed
    assert "nb-bi-tfidf" in printed
    assert "WC: 8 words, the first from frequency rank 40 on" in printed
    datasets = read_datasets(out)
    assert len(datasets) == 10
    for data in datasets:
        assert set(data.card.audit["baselines"]) >= {"majority", "length"}
        assert data.card.command.startswith("probe build natural ")


def test_the_format_of_senteval(table: str, tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "BShift", "--format", "senteval", "--no-audit")
    code, _, err = command(*("build", "natural", table, "-o", str(tmp_path), *SMALL, *chosen))
    assert code == 0, err
    data = read_dataset(tmp_path / "bigram_shift.txt")
    assert {split: len(items) for split, items in data.splits.items()} == {
        Split.TRAIN: 60,
        Split.VALIDATION: 12,
        Split.TEST: 12,
    }


LOADED = {
    "sentence_length": {"0", "1", "2", "3", "4", "5"},
    "word_content": None,
    "tree_depth": {str(depth) for depth in range(5, 13)},
    "top_constituents": None,
    "bigram_shift": {"O", "I"},
    "past_present": {"PAST", "PRES"},
    "subj_number": {"NN", "NNS"},
    "obj_number": {"NN", "NNS"},
    "odd_man_out": {"O", "C"},
    "coordination_inversion": {"O", "I"},
}
"""The names of the files that SentEval's ten loaders open, and the labels of the published ones."""


def load(path: Path) -> dict[str, list[tuple[list[str], str]]]:
    """Read a file as SentEval does: the first field, the second and the last of each line."""
    data: dict[str, list[tuple[list[str], str]]] = {"tr": [], "va": [], "te": []}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip().split("\t")
            data[fields[0]].append((fields[-1].split(), fields[1]))
    return data


def test_the_ten_loaders_of_senteval_read_what_is_written(table: str, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "probing"
    senteval = ("--format", "senteval", "--no-audit", *GIVEN, *WORDS)
    code, _, err = command("build", "natural", table, "-o", out, *senteval)
    assert code == 0, err
    assert {path.stem for path in out.glob("*.txt")} == set(LOADED)
    for name, labels in LOADED.items():
        data = load(out / f"{name}.txt")
        seen = {label for items in data.values() for _, label in items}
        assert seen == (labels or seen)
        for items in data.values():
            assert items
            assert {label for _, label in items} <= {label for _, label in data["tr"]}
            assert all(tokens for tokens, _ in items)
    bins = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))
    for tokens, label in load(out / "sentence_length.txt")["tr"]:
        low, high = bins[int(label)]
        assert low <= len(tokens) <= high
    for tokens, word in load(out / "word_content.txt")["te"]:
        assert [token.lower() for token in tokens].count(word) == 1
    assert all(label == "OTHER" or label.endswith("_.") for _, label in load(out / "top_constituents.txt")["tr"])


def test_what_all_tasks_lack_is_said_once(table: str, tmp_path: Path, command: Command) -> None:
    tasks = ("--task", "SentLen", "--task", "CoordInv", "--task", "AdiOrder")
    code, out, err = command("build", "natural", table, "-o", tmp_path / "all", *tasks)
    assert code == 0, err
    text = " ".join(out.split())
    assert text.count("scaled down") == text.count("100,000 train") == 1
    assert "the corpus gives SentLen 966, 90, 90 (the rarest class, 26-28, has 191 s" in text
    for name in tasks[1::2]:
        (note,) = (
            note
            for note in read_dataset(tmp_path / "all" / name).card.notes
            if note.startswith("scaled down: 100,000 train, 10,000 validation, 10,000 test items")
        )
        assert note.split("; ")[-1] in text
    run = ("-e", "majority", *tasks[:4], "-o", tmp_path / "run")
    code, out, err = command("run", "natural", table, *run)
    assert (code, out.count("scaled down")) == (0, 1), err


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (("5000", "12"), "758 words of at least 4 letters from rank 12 on, not 5,000; ask for fewer"),
        (
            ("150", "500"),
            "WC: 3 of 150 words of at least 4 letters from frequency rank 500 on are in fewer than 3 sentences without "
            "another of the words, one for each split; the first is 'sageled'; --words 131 asks "
            "for those before it, and --first-rank for commoner or rarer ones",
        ),
    ],
)
def test_too_many_words_are_refused_with_advice(
    chosen: tuple[str, str], message: str, table: str, tmp_path: Path, command: Command
) -> None:
    expected = ("build", "natural", table, "-o", tmp_path, "--task", "WC", "--no-audit")
    words, rank = chosen
    code, _, err = command(*expected, "--words", words, "--first-rank", rank)
    assert code in {1, 2}
    assert message in " ".join(err.split())
    if "--words 131" in message:
        code, out, err = command(*expected, "--words", "131", "--first-rank", rank)
        assert (code, "131 words" in out) == (0, True), err


def test_depths_can_be_chosen(table: str, tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "TreeDepth", "--depths", "5-11")
    code, _, err = command("build", "natural", table, "-o", tmp_path / "data", *SMALL, *chosen, "--no-audit")
    assert code == 0, err
    (data,) = read_datasets(tmp_path / "data")
    assert data.labels == tuple(map(str, range(5, 12)))
    run = ("-e", "majority", "--jobs", "1", "--no-cache", *SMALL, *chosen)
    code, printed, err = command("run", "natural", table, "-o", tmp_path / "run", *run)
    assert (code, "TreeDepth" in printed) == (0, True), err
    assert read_results(tmp_path / "run").records[0].labels == 7


def test_what_cannot_be_built_does_not_stop_the_rest(table: str, tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "Tense", "--task", "SentLen", "--frequency-band", "4000-4001")
    code, printed, err = command(*("build", "natural", table, "-o", str(tmp_path), *SMALL, *chosen))
    assert code == 1
    assert "SentLen" in printed
    assert "1 of 2 tasks could not be built:" in err
    assert "Tense: the corpus has too few sentences" in err
    assert [data.name for data in read_datasets(tmp_path)] == ["SentLen"]


def test_a_run_on_a_table(table: str, tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "SentLen", "--task", "BShift", "-e", "majority", "--jobs", "1")
    code, printed, err = command(*("run", "natural", table, "-o", str(tmp_path / "run"), *SMALL, *chosen, "--no-cache"))
    assert code == 0, err
    assert "SentLen" in printed
    assert "classifier" not in printed
    results = read_results(tmp_path / "run")
    assert {result.task for result in results.records} == {"SentLen", "BShift"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("build", "natural"), 2, "the suite natural needs the table of a corpus"),
        (("build", "natura", "TABLE"), 2, "no suite 'natura' (did you mean 'natural'?)"),
        (("build", "natural", "nowhere"), 2, "there is no table nowhere; make one"),
        (
            ("build", "natural", "book.txt"),
            2,
            "book.txt: a file, not the table of an analysed corpus; first run probe analyze "
            "book.txt --out TABLE, with --parser if the file is not parsed",
        ),
        (("run", "natural", "book.txt"), 2, "first run probe analyze book.txt"),
        (("build", "natural", "."), 2, "not a table of an analysed corpus"),
        (("build", "natural", "TABLE", "--task", "Tens"), 2, "did you mean 'Tense'?"),
        (("build", "natural", "TABLE", "--frequency-band", "9"), 2, "LOW-HIGH, such as 100-5000"),
        (("build", "natural", "TABLE", "--depths", "12-5"), 2, "depths are LOW-HIGH, such as 5-11"),
        (("build", "natural", "TABLE", "--depths", "0-5"), 2, "depths are LOW-HIGH, such as 5-11"),
        (("build", "compeval", "--depths", "5-11"), 2, "--depths is for the suite natural, not for"),
        (("build", "natural", "TABLE", "--words", "1"), 2, "must be at least 2, not 1"),
        (("build", "natural", "TABLE", "--train", "0"), 2, "number of train items must be pos"),
        (("build", "natural", "TABLE", "--format", "jsn"), 2, "jsn"),
        (("build", "natural", "TABLE", "--task", "adi", "-f", "senteval"), 2, "AdiContent has probe"),
        (("build", "compeval", "TABLE"), 2, "is for the suite natural, not for compeval"),
        (("build", "compeval", "--words", "9"), 2, "--words is for the suite natural, not for"),
        (("build", "natural", "TABLE", "--sampling", "paper"), 2, "sampling paper is for the tasks"),
        (("build", "natural", "TABLE", "-v", "english"), 2, "--vocabulary is for the suite comp"),
        (("build", "natural", "TABLE", "--lexicon", "x"), 2, "compeval or structure, not for natural"),
        (("run", "TABLE", "--sampling", "paper"), 2, "sampling paper is for the tasks of Adi"),
        (("run", "natural", "TABLE", "--lexicon", "x"), 2, "--lexicon is for the suite compeval or structure"),
        (("run", "natural"), 2, "the suite natural needs the table of a corpus"),
        (("run", "natural", "TABLE", "--task", "Tens"), 2, "did you mean 'Tense'?"),
        (("run", "natural", "nowhere"), 2, "there is no table nowhere; make one"),
        (("run", "natural", "results"), 2, "results: not a table of an analysed corpus, but a folder"),
        (("build", "natural", "results"), 2, "but a folder of results, which probe run made"),
        (("run", "natural", "."), 2, "not a table of an analysed corpus; it has no table.json"),
        (("run", "natural", "compeval"), 2, "natural needs the table"),
        (("audit", "TABLE"), 2, "which probe analyze made, not a dataset; build datasets from it"),
        (("audit", "results"), 2, "is a folder of results, which probe run made, not a dataset"),
    ],
)
def test_refusals(  # noqa: PLR0917
    arguments: tuple[str, ...],
    code: int,
    message: str,
    table: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Command,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "run.json").write_text("{}")
    (tmp_path / "book.txt").write_text("It rained.\n")
    command_line = [table if argument == "TABLE" else argument for argument in arguments]
    where = ["-o", str(tmp_path / "out")] if arguments[0] == "build" else []
    exit_code, _, err = command(*command_line, *where)
    assert exit_code == code, err
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert "build the tasks" not in err
