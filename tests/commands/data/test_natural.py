"""``probe build natural`` and ``probe run natural``, also of several languages and of a German treebank in CoNLL-U."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.natural_tables import sample_rows, write_table

from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import german
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.datasets.formats import read_dataset, read_datasets
from sentprobe.probes.results.item_table import ItemTable, read_item_tables
from sentprobe.probes.results.store import read_results
from sentprobe.probes.runs.run import run

SMALL = ("--train", "60", "--test", "12", "--validation", "12")
GIVEN = (*SMALL, "--frequency-band", "1-500", "--odd-band", "2-200", "--sequences", "4")
WORDS = ("--first-rank", "40", "--words", "8")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_table(sample_rows(), tmp_path_factory.mktemp("made") / "table", shards=2).path)


def test_build_writes_ten_datasets(table: str, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "tasks"
    printed = check_success(command("build", "natural", table, "-o", out, *GIVEN, *WORDS))
    assert f"datasets: {out}" in printed
    assert "nb-bi-tfidf" in printed
    assert "WC: 8 words, the first from frequency rank 40 on" in printed
    datasets = read_datasets(out)
    assert len(datasets) == 10
    for data in datasets:
        assert set(data.card.audit["baselines"]) >= {"majority", "length"}
        assert data.card.command.startswith("probe build natural ")


def test_senteval_format_has_its_splits(table: str, tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "BShift", "--format", "senteval", "--no-audit")
    check_success(command("build", "natural", table, "-o", tmp_path, *SMALL, *chosen))
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


def test_loaders_of_senteval_read_datasets(table: str, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "probing"
    senteval = ("--format", "senteval", "--no-audit", *GIVEN, *WORDS)
    check_success(command("build", "natural", table, "-o", out, *senteval))
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


def test_scaling_down_is_said_once(table: str, tmp_path: Path, command: Command) -> None:
    tasks = ("--task", "SentLen", "--task", "CoordInv", "--task", "AdiOrder")
    out = check_success(command("build", "natural", table, "-o", tmp_path / "all", *tasks))
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
def test_too_many_words_are_refused(
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
    check_success(command("build", "natural", table, "-o", tmp_path / "data", *SMALL, *chosen, "--no-audit"))
    (data,) = read_datasets(tmp_path / "data")
    assert data.labels == tuple(map(str, range(5, 12)))
    run = ("-e", "majority", "--jobs", "1", "--no-cache", *SMALL, *chosen)
    code, printed, err = command("run", "natural", table, "-o", tmp_path / "run", *run)
    assert (code, "TreeDepth" in printed) == (0, True), err
    assert read_results(tmp_path / "run").records[0].labels == 7


def test_impossible_task_does_not_stop_rest(table: str, tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "Tense", "--task", "SentLen", "--frequency-band", "4000-4001")
    code, printed, err = command("build", "natural", table, "-o", tmp_path, *SMALL, *chosen)
    assert code == 1
    assert "SentLen" in printed
    assert "1 of 2 tasks could not be built:" in err
    assert "Tense: the corpus has too few sentences" in err
    assert [data.name for data in read_datasets(tmp_path)] == ["SentLen"]


def test_run_on_table(table: str, tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "SentLen", "--task", "BShift", "-e", "majority", "--jobs", "1")
    printed = check_success(command("run", "natural", table, "-o", tmp_path / "run", *SMALL, *chosen, "--no-cache"))
    assert "SentLen" in printed
    assert "classifier" not in printed
    results = read_results(tmp_path / "run")
    assert {result.task for result in results.records} == {"SentLen", "BShift"}


REFUSED = [
    ("build natural", "the suite natural needs the table of a corpus"),
    ("build natura TABLE", "no suite 'natura' (did you mean 'natural'?)"),
    ("build natural nowhere", "there is no table nowhere; make one"),
    (
        "build natural book.txt",
        "book.txt: a file, not the table of an analysed corpus; first run probe analyze book.txt --out TABLE, "
        "with --parser if the file is not parsed",
    ),
    ("run natural book.txt", "first run probe analyze book.txt"),
    ("build natural .", "not a table of an analysed corpus"),
    ("build natural TABLE --task Tens", "did you mean 'Tense'?"),
    ("build natural TABLE --frequency-band 9", "LOW-HIGH, such as 100-5000"),
    ("build natural TABLE --depths 12-5", "depths are LOW-HIGH, such as 5-11"),
    ("build natural TABLE --depths 0-5", "depths are LOW-HIGH, such as 5-11"),
    ("build compeval --depths 5-11", "--depths is for the suite natural, not for"),
    ("build natural TABLE --words 1", "must be at least 2, not 1"),
    ("build natural TABLE --train 0", "number of train items must be pos"),
    ("build natural TABLE --format jsn", "jsn"),
    ("build natural TABLE --task adi -f senteval", "AdiContent has probe"),
    ("build compeval TABLE", "is for the suite natural, not for compeval"),
    ("build compeval --words 9", "--words is for the suite natural, not for"),
    ("build natural TABLE --sampling paper", "sampling paper is for the tasks"),
    ("build natural TABLE -v english", "--vocabulary is for the suite comp"),
    ("build natural TABLE --lexicon x", "compeval or structure, not for natural"),
    ("run TABLE --sampling paper", "sampling paper is for the tasks of Adi"),
    ("run natural TABLE --lexicon x", "--lexicon is for the suite compeval or structure"),
    ("run natural", "the suite natural needs the table of a corpus"),
    ("run natural TABLE --task Tens", "did you mean 'Tense'?"),
    ("run natural nowhere", "there is no table nowhere; make one"),
    ("run natural results", "results: not a table of an analysed corpus, but a folder"),
    ("build natural results", "but a folder of results, which probe run made"),
    ("run natural .", "not a table of an analysed corpus; it has no table.json"),
    ("run natural compeval", "natural needs the table"),
    ("audit TABLE", "which probe analyze made, not a dataset; build datasets from it"),
    ("audit results", "is a folder of results, which probe run made, not a dataset"),
]


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line for line, _ in REFUSED])
def test_bad_request_is_refused(line: str, message: str, table: str, command: Command) -> None:
    Path("results").mkdir()
    Path("results/run.json").write_text("{}")
    Path("book.txt").write_text("It rained.\n")
    words = [table if word == "TABLE" else word for word in line.split()]
    where = ["-o", "out"] if words[0] == "build" else []
    check_refusal(command(*words, *where), message)


BRIEF = ("--train", 60, "--test", 20, "--validation", 10, "--jobs", 1, "--no-cache", "--set", "max_epochs=2")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("languages")
    paths = []
    for number, language in enumerate(("de", "fr")):
        rows = [replace(row, sentence_id=f"n{place}") for place, row in enumerate(sample_rows(400, seed=200 + number))]
        paths.append(write_table(rows, folder / f"{language}.table", language=language).path)
    return paths


def test_languages_make_matrix(tables: list[Path], tmp_path: Path, command: Command) -> None:
    request = ("run", "natural", *tables, "--task", "SentLen", "-e", "bow?dim=4", "-o", tmp_path / "run", *BRIEF)
    out = check_success(command(*request))
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
    check_refusal(
        command("show", tmp_path / "run", "--format", "mteb", "--out", tmp_path / "mteb"),
        "MTEB's form is for English, and these results are across languages",
        progress=True,
    )
    for name in ("check", "methods", "report"):
        code, out, err = command(name, tmp_path / "run", *(("--out", tmp_path / "r.html") if name == "report" else ()))
        assert code in (0, 1), err


def test_stored_datasets_are_those_of_run(tables: list[Path], tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "SentLen", "--train-on", "de", "--test-on", "fr,de")
    check_success(command("build", "natural", *tables, *chosen, *BRIEF[:6], "--out", tmp_path / "sets"))
    names = ["SentLen.de-de", "SentLen.de-fr"]
    assert sorted(path.name for path in (tmp_path / "sets").iterdir() if path.is_dir()) == names
    card = read_dataset(tmp_path / "sets" / names[1]).card
    assert (card.task, card.train_language, card.test_language) == ("SentLen", "de", "fr")
    options = ("-e", "bow?dim=4", "--no-controls", *BRIEF[6:])
    check_success(command("run", "natural", *tables, *chosen, *BRIEF[:6], "-o", tmp_path / "a", *options))
    check_success(command("run", tmp_path / "sets", "--task", "SentLen", "-o", tmp_path / "b", *options))
    digests = [
        sorted(result.dataset_fingerprint for result in read_results(tmp_path / name).records) for name in ("a", "b")
    ]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 2


def test_languages_in_python(tables: list[Path]) -> None:
    results = run(tables, "majority", tasks="BShift", train_on="de", test_on="fr", train=40, test=20, validation=0)
    assert results.tasks == ("BShift.de-fr",)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("--train-on es", 2, "--train-on: there is no table of the language 'es'; the tables are of: de, fr"),
        ("--test-on de,de", 2, "language 'de' is given twice"),
        ("--task WC", 1, "WC: cannot be tested in another language: it asks about words of one language"),
    ],
)
@pytest.mark.parametrize("verb", ["run", "build"])
def test_bad_languages_are_refused(
    verb: str, options: str, code: int, message: str, *, tables: list[Path], tmp_path: Path, command: Command
) -> None:
    exit_code, _, err = command(verb, "natural", *tables, *options.split(), "--out", tmp_path / "out")
    assert (exit_code, message in err) == (code, True), err


def test_languages_are_for_tables(command: Command) -> None:
    check_refusal(
        command("run", "compeval", "--train-on", "de"), "--train-on is for the suite natural, not for compeval"
    )


def test_table_has_language_of_file(tmp_path: Path, command: Command) -> None:
    row = "\t".join(("1", "Hunde", "Hund", "NOUN", "_", "_", "0", "root", "_", "_"))
    file = tmp_path / "de_gsd-ud-test.conllu"
    file.write_text(f"# sent_id = a1\n{row}\n\n#sent_id=b2\n{row}\n\n", "utf-8")
    code, out, err = command("analyze", file, "--out", tmp_path / "t")
    assert (code, "language de" in out) == (0, True), err
    code, out, err = command("analyze", file, "--out", tmp_path / "t", "--language", "de_old", "--force")
    assert (code, "language de_old" in out) == (0, True), err
    check_refusal(
        command("analyze", file, "--out", tmp_path / "t", "--language", "pt-BR", "--force"),
        "the language 'pt-BR' has characters besides letters, digits and _",
        progress=True,
    )


def test_items_of_german_suite_are_annotated(tmp_path: Path, command: Command) -> None:
    """The items of a stored dataset have the same columns: its card names the language."""
    options = ("--language", "de", "--task", "SemRole", "--train", 40, "--test", 20)
    check_success(command("build", "compeval", *options, "-o", tmp_path / "sets"))
    assert "- de" in (tmp_path / "sets" / "SemRole" / "README.md").read_text("utf-8").splitlines()
    tables: list[ItemTable] = []
    for name, target in (("built", ("compeval", *options)), ("stored", (tmp_path / "sets",))):
        check_success(command("run", *target, "-e", "majority", "--no-controls", "-o", tmp_path / name))
        tables += read_item_tables(read_results(tmp_path / name).records, tmp_path / name)
    built, stored = tables
    assert built.columns == stored.columns
    assert {*built.columns["voice"]} <= {"active", "passive"}
    assert all(parse(*row) for row in zip(built.sentences, [german()] * len(built), strict=True))


STEMS = tuple(a + b for a, b in product(("Lam", "Ter", "Nol", "Gris", "Pand", "Wok", "Zehl"), ("t", "k", "p", "st")))
SIZES = ("--train", "24", "--test", "8", "--validation", "8", "--frequency-band", "1-1000", "--no-audit")
FEATURES = {"sah": "Tense=Past|VerbForm=Fin|Mood=Ind", "sieht": "Tense=Pres|VerbForm=Fin|Mood=Ind"}


def make_line(number: int, form: str, tag: str, head: int, relation: str, *, space: bool = True) -> str:
    upos, _, features = tag.partition("|")
    misc = "_" if space else "SpaceAfter=No"
    return "\t".join((str(number), form, form, upos, "_", features or "_", str(head), relation, "_", misc))


def make_block(rng: Random, subject: str, verb: str) -> str:
    """Return a sentence such as *Der Lamt sahm im Terk den Nolp.*, without sent_id and text."""
    number, gender = rng.choice(("Sing", "Plur")), "Fem" if len(subject) % 2 else "Masc"
    gender = "Neut" if subject in STEMS[:2] else gender
    base, noun = rng.choice(("sah", "sieht")), f"{subject}en" if number == "Plur" else subject
    article = "Viele" if number == "Plur" else {"Masc": "Der", "Fem": "Die", "Neut": "Das"}[gender]
    return "\n".join(
        (
            make_line(1, article, "DET", 2, "det"),
            make_line(2, noun, f"NOUN|Gender={gender}|Number={number}", 3, "nsubj"),
            make_line(3, f"{base}{verb}", f"VERB|{FEATURES[base]}", 0, "root"),
            "4-5\tim" + "\t_" * 8,
            make_line(4, "in", "ADP", 6, "case"),
            make_line(5, "dem", "DET", 6, "det"),
            make_line(6, rng.choice(STEMS), "NOUN|Gender=Neut|Number=Sing", 3, "obl"),
            "6.1\tgone" + "\t_" * 8,
            make_line(7, rng.choice(STEMS), "NOUN|Gender=Masc,Fem|Number=Sing", 3, "obj", space=False),
            make_line(8, ".", "PUNCT", 3, "punct"),
        )
    )  # fmt: skip


def write_treebank(path: Path) -> Path:
    rng = Random(1)
    blocks = (make_block(rng, *pair) for pair in product(STEMS, map(str.lower, STEMS[::2])))
    path.write_text("\n\n".join(blocks) + "\n\n", "utf-8")
    return path


@pytest.fixture
def treebank(tmp_path: Path, command: Command) -> Path:
    code, out, err = command("analyze", write_treebank(tmp_path / "de.conllu"), "--out", tmp_path / "de.table")
    assert (code, "0 failed" in out) == (0, True), err
    return tmp_path / "de.table"


def list_labels(data: ProbeDataset) -> dict[str, str]:
    return {
        data.sentences[row]: data.labels[target]
        for items in data.splits.values()
        for row, target in zip(items.rows, items.targets, strict=True)
    }


def test_treebank_gives_tasks(treebank: Path, tmp_path: Path, command: Command) -> None:
    tasks = ("--task", "Tense", "--task", "SubjNum", "--task", "SubjGender", "--task", "BShift")
    check_success(command("build", "natural", treebank, *tasks, *SIZES, "--out", tmp_path / "sets"))
    tenses, numbers, genders = (
        list_labels(read_dataset(tmp_path / "sets" / name)) for name in ("Tense", "SubjNum", "SubjGender")
    )
    assert set(tenses.values()) == {"PRES", "PAST"}
    assert all(label == ("PAST" if text.split(" ")[2].startswith("sah") else "PRES") for text, label in tenses.items())
    assert all(label == ("NNS" if text.startswith("Viele ") else "NN") for text, label in numbers.items())
    assert all(label == "Fem" for text, label in genders.items() if text.startswith("Die "))
    assert set(genders.values()) == {"Fem", "Masc"}
    assert not any(text.startswith("Das ") for text in genders), "a rare class is left out"
    assert all(" im " in text and text.split(" ")[-1] == "." for text in tenses)
    assert "language:" not in (tmp_path / "sets" / "Tense" / "README.md").read_text("utf-8")


def test_bag_of_words_runs_on_treebank(treebank: Path, tmp_path: Path, command: Command) -> None:
    run = ("run", "natural", treebank, "--task", "SubjNum", "--task", "Voice", "-e", "bow?dim=8", *SIZES[:-1])
    code, out, err = command(*run, "--no-controls", "--jobs", "1", "--no-cache", "--out", tmp_path / "run")
    assert code == 1, (out, err)
    assert "Voice: the corpus has too few sentences: at least 3 are needed of each class; it has Pass: 0, Act: " in err
    assert {record.task for record in read_results(tmp_path / "run").records} == {"SubjNum"}


def test_treebank_has_no_constituent_tasks(treebank: Path, tmp_path: Path, command: Command) -> None:
    _, _, err = command("build", "natural", treebank, *SIZES, "--out", tmp_path / "sets")
    assert {folder.name for folder in (tmp_path / "sets").iterdir()} >= {"BShift", "Tense", "SubjNum"}
    assert not any(name in err for name in ("TreeDepth", "TopConst")), err


@pytest.mark.parametrize(
    ("changed", "task", "reason"),
    [
        ("Tense=", "Tense", "Tense: 0 of 392 main verbs have Tense"),
        ("Mood=", "VerbMood", "VerbMood: 0 of 392 main verbs have Mood"),
        ("", "TopConst", "TopConst: needs con"),
        ("", "VerbMood", "VerbMood: needs two values of Mood of main verbs; the corpus has Ind: 392"),
        ("\tobj\t", "ObjNum", "ObjNum: 0 of 392 sentences have objects"),
    ],
)
def test_task_that_treebank_lacks_is_refused(
    changed: str, task: str, reason: str, tmp_path: Path, command: Command
) -> None:
    path = write_treebank(tmp_path / "de.conllu")
    text = path.read_text("utf-8")
    path.write_text(text.replace(changed, "\tobl\t" if "obj" in changed else "Other=") if changed else text, "utf-8")
    assert command("analyze", path, "--out", tmp_path / "table")[0] == 0
    code, _, err = command("build", "natural", tmp_path / "table", "--task", task, *SIZES, "--out", tmp_path / "sets")
    assert (code, f"1 of 1 tasks could not be built:\n{reason}" in err) == (1, True), err


BE = "AUX|Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"
PARTICIPLE = "VERB|Gender=Masc|Number=Sing|Tense=Past|VerbForm=Part|Voice=Act"
CROATIAN = "\n".join(
    (
        make_line(1, "Ivan", "PROPN|Number=Sing", 3, "nsubj"),
        make_line(2, "je", BE, 3, "aux").replace("\tje\tAUX", "\tbiti\tAUX"),
        make_line(3, "kupio", PARTICIPLE, 0, "root"),
        make_line(4, "knjigu", "NOUN|Number=Sing", 3, "obj"),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("files", "tense", "note"),
    [
        ("hr_min-ud-test.conllu", "Past", None),
        ("all.conllu --language hr", "Past", None),
        ("hr_min-ud-test.conllu --language de", "Pres", None),
        ("all.conllu", "Pres", "the language is unknown; a perfect has the tense of its auxiliary"),
        ("fi_min-ud-test.conllu", "Pres", "no compound tenses are known of: fi; a perfect has the tense"),
    ],
)
def test_language_of_file_decides_tense(
    files: str, tense: str, note: str | None, tmp_path: Path, command: Command
) -> None:
    name, *options = files.split()
    (tmp_path / name).write_text(f"{CROATIAN}\n\n", "utf-8")
    out = check_success(command("analyze", tmp_path / name, *options, "--out", tmp_path / "table"))
    assert " ".join(out.split()).count("a perfect has the tense of its auxiliary") == int(note is not None)
    assert note is None or note in " ".join(out.split())
    with open_table(tmp_path / "table").connect() as connection:
        ((tag,),) = connection.sql("SELECT verb_tag FROM sentences").fetchall()
    assert f"|Tense={tense}|" in tag


def test_languages_have_their_own_tenses(tmp_path: Path, command: Command) -> None:
    for name in ("hr_min-ud-test.conllu", "bg_min-ud-test.conllu"):
        text = CROATIAN.replace("Ivan", "Иван") if name.startswith("bg") else CROATIAN
        (tmp_path / name).write_text(f"{text}\n\n", "utf-8")
    assert command("analyze", tmp_path / "*.conllu", "--out", tmp_path / "table")[0] == 0
    with open_table(tmp_path / "table").connect() as connection:
        rows = connection.sql("SELECT source, verb_tag FROM sentences").fetchall()
    assert {Path(source).name[:2]: "|Tense=Past|" in tag for source, tag in rows} == {"hr": True, "bg": False}
