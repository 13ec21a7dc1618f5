"""``probe analyze``, ``probe build`` and ``probe run`` on a German treebank in CoNLL-U."""

from itertools import product
from pathlib import Path
from random import Random

import pytest
from helpers.in_process import Command

from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.datasets.dataset import ProbeDataset
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.results.store import read_results

STEMS = tuple(a + b for a, b in product(("Lam", "Ter", "Nol", "Gris", "Pand", "Wok", "Zehl"), ("t", "k", "p", "st")))
SIZES = ("--train", "24", "--test", "8", "--validation", "8", "--frequency-band", "1-1000", "--no-audit")
FEATURES = {"sah": "Tense=Past|VerbForm=Fin|Mood=Ind", "sieht": "Tense=Pres|VerbForm=Fin|Mood=Ind"}


def make_line(number: int, form: str, tag: str, head: int, relation: str, *, space: bool = True) -> str:
    upos, _, features = tag.partition("|")
    misc = "_" if space else "SpaceAfter=No"
    return "\t".join((str(number), form, form, upos, "_", features or "_", str(head), relation, "_", misc))


def make_block(rng: Random, subject: str, verb: str, *, tense: bool = True) -> str:
    """Return a sentence such as *Der Lamt sahm im Terk den Nolp.*, without sent_id and text."""
    number, gender = rng.choice(("Sing", "Plur")), "Fem" if len(subject) % 2 else "Masc"
    gender = "Neut" if subject in STEMS[:2] else gender
    base, noun = rng.choice(("sah", "sieht")), f"{subject}en" if number == "Plur" else subject
    features = FEATURES[base] if tense else "VerbForm=Fin"
    article = "Viele" if number == "Plur" else {"Masc": "Der", "Fem": "Die", "Neut": "Das"}[gender]
    return "\n".join(
        (
            make_line(1, article, "DET", 2, "det"),
            make_line(2, noun, f"NOUN|Gender={gender}|Number={number}", 3, "nsubj"),
            make_line(3, f"{base}{verb}", f"VERB|{features}", 0, "root"),
            "4-5\tim" + "\t_" * 8,
            make_line(4, "in", "ADP", 6, "case"),
            make_line(5, "dem", "DET", 6, "det"),
            make_line(6, rng.choice(STEMS), "NOUN|Gender=Neut|Number=Sing", 3, "obl"),
            "6.1\tgone" + "\t_" * 8,
            make_line(7, rng.choice(STEMS), "NOUN|Gender=Masc,Fem|Number=Sing", 3, "obj", space=False),
            make_line(8, ".", "PUNCT", 3, "punct"),
        )
    )  # fmt: skip


def write_treebank(path: Path, *, tense: bool = True) -> Path:
    rng = Random(1)
    blocks = (make_block(rng, *pair, tense=tense) for pair in product(STEMS, map(str.lower, STEMS[::2])))
    path.write_text("\n\n".join(blocks) + "\n\n", "utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path, command: Command) -> Path:
    code, out, err = command("analyze", write_treebank(tmp_path / "de.conllu"), "--out", tmp_path / "de.table")
    assert (code, "0 failed" in out) == (0, True), err
    return tmp_path / "de.table"


def list_labels(data: ProbeDataset) -> dict[str, str]:
    return {
        data.sentences[row]: data.labels[target]
        for items in data.splits.values()
        for row, target in zip(items.rows, items.targets, strict=True)
    }


def test_a_german_treebank_gives_tasks(table: Path, tmp_path: Path, command: Command) -> None:
    tasks = ("--task", "Tense", "--task", "SubjNum", "--task", "SubjGender", "--task", "BShift")
    code, out, err = command("build", "natural", table, *tasks, *SIZES, "--out", tmp_path / "sets")
    assert code == 0, (out, err)
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


def test_a_bag_of_words_runs_on_a_german_treebank(table: Path, tmp_path: Path, command: Command) -> None:
    run = ("run", "natural", table, "--task", "SubjNum", "--task", "Voice", "-e", "bow?dim=8", *SIZES[:-1])
    code, out, err = command(*run, "--no-controls", "--jobs", "1", "--no-cache", "--out", tmp_path / "run")
    assert code == 1, (out, err)
    assert "Voice: the corpus has too few sentences: at least 3 are needed of each class; it has Pass: 0, Act: " in err
    assert {record.task for record in read_results(tmp_path / "run").records} == {"SubjNum"}


def test_tasks_of_constituents_are_no_default_of_a_treebank(table: Path, tmp_path: Path, command: Command) -> None:
    _, _, err = command("build", "natural", table, *SIZES, "--out", tmp_path / "sets")
    assert {folder.name for folder in (tmp_path / "sets").iterdir()} >= {"BShift", "Tense", "SubjNum"}
    assert not any(name in err for name in ("TreeDepth", "TopConst")), err


def test_a_task_that_the_language_lacks_is_refused_by_counts(tmp_path: Path, command: Command) -> None:
    assert command("analyze", write_treebank(tmp_path / "x.conllu", tense=False), "--out", tmp_path / "table")[0] == 0
    tasks = ("--task", "Tense", "--task", "VerbMood", "--task", "TopConst")
    code, _, err = command("build", "natural", tmp_path / "table", *tasks, *SIZES, "--out", tmp_path / "sets")
    assert code == 1
    for reason in (
        "Tense: 0 of 392 main verbs have Tense",
        "VerbMood: 0 of 392 main verbs have Mood",
        "TopConst: needs con",
    ):
        assert reason in err


def test_a_feature_with_one_value_is_no_task(table: Path, tmp_path: Path, command: Command) -> None:
    code, _, err = command("build", "natural", table, "--task", "VerbMood", *SIZES, "--out", tmp_path / "sets")
    assert (code, "VerbMood: needs two values of Mood of main verbs; the corpus has Ind: 392" in err) == (1, True), err


def test_a_language_without_objects_is_refused_by_counts(tmp_path: Path, command: Command) -> None:
    text = write_treebank(tmp_path / "de.conllu").read_text("utf-8").replace("\tobj\t", "\tobl\t")
    (tmp_path / "de.conllu").write_text(text, "utf-8")
    assert command("analyze", tmp_path / "de.conllu", "--out", tmp_path / "table")[0] == 0
    options = ("--task", "ObjNum", *SIZES, "--out", tmp_path / "sets")
    code, _, err = command("build", "natural", tmp_path / "table", *options)
    assert (code, "ObjNum: 0 of 392 sentences have objects" in err) == (1, True), err


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
def test_the_language_of_a_file_decides_what_is_past(
    files: str, tense: str, note: str | None, tmp_path: Path, command: Command
) -> None:
    name, *options = files.split()
    (tmp_path / name).write_text(f"{CROATIAN}\n\n", "utf-8")
    code, out, err = command("analyze", tmp_path / name, *options, "--out", tmp_path / "table")
    assert code == 0, err
    assert " ".join(out.split()).count("a perfect has the tense of its auxiliary") == int(note is not None)
    assert note is None or note in " ".join(out.split())
    with open_table(tmp_path / "table").connect() as connection:
        ((tag,),) = connection.sql("SELECT verb_tag FROM sentences").fetchall()
    assert f"|Tense={tense}|" in tag


def test_files_of_several_languages_have_their_own_tenses(tmp_path: Path, command: Command) -> None:
    for name in ("hr_min-ud-test.conllu", "bg_min-ud-test.conllu"):
        text = CROATIAN.replace("Ivan", "Иван") if name.startswith("bg") else CROATIAN
        (tmp_path / name).write_text(f"{text}\n\n", "utf-8")
    assert command("analyze", tmp_path / "*.conllu", "--out", tmp_path / "table")[0] == 0
    with open_table(tmp_path / "table").connect() as connection:
        rows = connection.sql("SELECT source, verb_tag FROM sentences").fetchall()
    assert {Path(source).name[:2]: "|Tense=Past|" in tag for source, tag in rows} == {"hr": True, "bg": False}
