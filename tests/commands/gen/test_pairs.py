"""The commands ``gen pairs``, ``gen minimal`` and ``gen retrieval``: the files of each format, and errors."""

import itertools
import json
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import ir_measures
import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from beir.datasets.data_loader import GenericDataLoader
from helpers.encoders.model_files import packaged_model
from helpers.gen_command import Gen, Outcome
from helpers.in_process import check_refusal
from helpers.oracles.pairs_at_once import choose_contrast_vocabulary

from sentprobe.commands import pairs
from sentprobe.generator.bulk.parquet import TableMaker
from sentprobe.generator.events.meaning import has_same_meaning
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.pairs import triplet_files
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.paradigms import load_paradigms
from sentprobe.generator.pairs.triplet_files import TripletFormat
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import from_json
from sentprobe.lexicon import english
from sentprobe.probes.encoders.kinds import make_encoder

SIDES = ("anchor", "positive", "negative", "hard_negative")
NLI = ("--for", "training", "--nli")


def test_lines_of_json_with_both_sentences_annotated(gen: Gen) -> None:
    done = gen("pairs", "--contrast", "role", "-n", "20")
    assert (done.code, done.err) == (0, "")
    records = [json.loads(line) for line in done.lines]
    assert [record["id"] for record in records] == [f"role-{i}" for i in range(1, 21)]
    for record in records:
        assert Counter(record["positive"].split()) == Counter(record["negative"].split())
        for side in SIDES:
            sentence = from_json(record["annotation"][side])
            assert sentence.text == record[side]
            again = realize(sentence.event, english(), id=sentence.id)
            assert (again.tokens, again.tree) == (sentence.tokens, sentence.tree)


@pytest.mark.parametrize(
    ("names", "n", "counts"),
    [
        (["role", "polarity"], 5, {"role": 3, "polarity": 2}),
        (["role=2", "polarity=1"], 9, {"role": 6, "polarity": 3}),
        (["tense=3", "number"], 8, {"tense": 6, "number": 2}),
    ],
)
def test_several_contrasts_have_shares(
    names: list[str], n: int, counts: dict[str, int], gen: Gen, tmp_path: Path
) -> None:
    line = ["pairs", *(word for name in names for word in ("-c", name)), "-n", str(n), "--seed", "2"]
    records = [json.loads(text) for text in gen(*line).lines]
    assert Counter(record["contrast"] for record in records) == counts
    assert len({record["id"] for record in records}) == n
    for name, size in counts.items():
        alone = gen("pairs", "-c", name, "-n", str(size), "--seed", "2")
        assert [json.loads(text) for text in alone.lines] == [row for row in records if row["contrast"] == name]
    for options in ((), ("--for", "training")):
        assert gen(*line, *options, "-o", str(tmp_path / "a.parquet")).code == 0
        rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
        assert Counter(row["positive"] for row in rows) == Counter(record["positive"] for record in records)
    assert {*rows[0]} == {"anchor", "positive", "negative"}  # trainers read every column
    count = int(gen(*line, "--count").out)
    assert count == sum(int(gen("pairs", "-c", name, "--count").out) for name in counts)


def test_several_contrasts_of_nli_and_translations(gen: Gen) -> None:
    done = gen("pairs", "-c", "role", "-c", "negation", "-n", "3", *NLI)
    assert (done.code, len(done.lines)) == (0, 24)
    done = gen("pairs", "-c", "role", "-c", "number", "-n", "4", "--translate", "de")
    assert [json.loads(line)["contrast"] for line in done.lines] == ["role", "role", "number", "number"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-c role -c role", "the contrast 'role' is given twice; give it once, with a larger --n or share"),
        ("-c role=0", "--contrast role=0: a whole number from 1 is expected after =, as in role=2"),
        ("-c role= -c tense", "--contrast role=: a whole number from 1 is expected"),
        ("-c role=1.5", "--contrast role=1.5: a whole number from 1 is expected"),
        ("-c rle=2", "there is no contrast 'rle' (did you mean 'role'?)"),
        ("-c role -c tense -n 1", "--n 1 is too few: each of the 2 contrasts needs at least one"),
        ("-c role=9 -c tense -n 5", "--n 5 is too few"),
        ("-c role -c tense -n 0", "the number of triplets must be positive, not 0"),
        ("-c role -c binding", "the contrast 'binding' needs adjectives"),
        ("-c role -c modality --translate de", "the contrast 'modality' is impossible with --translate"),
    ],
)
def test_bad_shares_are_refused(arguments: str, message: str, gen: Gen) -> None:
    done = gen("pairs", *arguments.split())
    check_refusal((done.code, done.out, done.err), message, program="gen")


def test_quiet_shows_no_progress(gen: Gen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "PROGRESS_THRESHOLD", 4)
    line = ("pairs", "-c", "role", "-n", "5")
    assert "write the triplets: 5 of 5" in gen(*line).err
    assert (gen(*line, "-q").err, gen(*line, "--quiet").lines) == ("", gen(*line).lines)
    assert "write the triplets: 32 of 32" in gen("pairs", "-c", "role", "-n", "4", *NLI).err
    assert gen("pairs", "-c", "role", "-n", "3").err == ""


def test_file_is_as_its_suffix_says(gen: Gen, tmp_path: Path) -> None:
    lines, table = tmp_path / "deep" / "a.jsonl", tmp_path / "a.parquet"
    for out in (lines, table):
        assert gen("pairs", "-c", "tense", "-n", "30", "--seed", "4", "-o", str(out)).code == 0
    rows = pq.read_table(table).to_pylist()
    records = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert len(rows) == len(records) == 30
    for row, record in zip(rows, records, strict=True):
        for name in ("id", "contrast", "structure", "place", "voices", *SIDES):
            assert row[name] == record[name]
        for side in SIDES:
            one, second = row["annotation"][side], record["annotation"][side]
            assert json.loads(one["event"]) == second["event"]
            assert (one["tree"], one["template"]) == (second["tree"], second["template"])
            assert one["predicates"] == second["predicates"]
            assert {name: one[name] for name in second["tokens"]} == second["tokens"]


def test_same_seed_gives_the_same_bytes(gen: Gen, tmp_path: Path) -> None:
    for suffix in (".jsonl", ".parquet"):
        files = [tmp_path / f"{name}{suffix}" for name in "ab"]
        for out in files:
            assert gen("pairs", "-c", "noun", "-n", "25", "--seed", "7", "-o", str(out)).code == 0
        assert files[0].read_bytes() == files[1].read_bytes()


def test_failed_parquet_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writers, built, tables, calls = [], pq.ParquetWriter, TableMaker.build_tables, itertools.count()

    def write(*arguments: Any, **options: Any) -> pq.ParquetWriter:
        writers.append(built(*arguments, **options))
        return writers[-1]

    def fail_later(self: TableMaker, rows: Any) -> Any:
        if next(calls) == 9:  # after two row groups
            raise MemoryError
        return tables(self, rows)

    monkeypatch.setattr(triplet_files, "PART_SIZE", 2)
    monkeypatch.setattr(TableMaker, "build_tables", fail_later)
    monkeypatch.setattr(pq, "ParquetWriter", write)
    triplets = TripletSpace(english(), "role", templates=["transitive"]).sample(10, seed=0)
    with pytest.raises(MemoryError):
        triplet_files.write_triplets(triplets, tmp_path / "a.parquet", TripletFormat.PARQUET)
    assert [writer.is_open for writer in writers] == [False]
    assert not any(tmp_path.iterdir())


def test_minimal_pairs_in_the_fields_of_blimp(gen: Gen) -> None:
    done = gen("pairs", "-c", "negation", "-n", "3", "--format", "blimp")
    for number, line in enumerate(done.lines, 1):
        record = json.loads(line)
        assert record["lexically_identical"] is True
        assert (record["pairID"], record["linguistics_term"]) == (str(number), "negation")
        assert record["UID"].startswith("negation_")
        assert {record["field"], record["simple_LM_method"]} == {"semantics", False}
        for which in ("good", "bad"):
            sentence = from_json(record["annotation"][which])
            assert sentence.text == record[f"sentence_{which}"]


def test_only_how_many_there_are(gen: Gen) -> None:
    done = gen("pairs", "-c", "role", "-t", "transitive", "--count")
    assert (done.code, done.out) == (0, "5376\n")
    assert gen("pairs", "-c", "role", "-t", "transitive", *NLI, "--count").out == "2688\n"


@pytest.mark.parametrize("contrast", ["modality", "mood"])
def test_modals_and_questions_need_no_option(gen: Gen, contrast: str) -> None:
    done = gen("pairs", "-c", contrast, "-n", "30")
    assert (done.code, done.err, len(done.lines)) == (0, "", 30)


@pytest.mark.parametrize("contrast", ["recipient", "binding"])
def test_contrast_needs_vocabulary_with_its_words(gen: Gen, contrast: str) -> None:
    refused = gen("pairs", "-c", contrast)
    assert (refused.code, refused.out) == (2, "")
    assert re.search("vocabulary .*'everyday'.* has$", refused.err.strip())
    done = gen("pairs", "-c", contrast, "-v", "everyday", "-n", "30")
    assert (done.code, done.err, len(done.lines)) == (0, "", 30)
    for record in map(json.loads, done.lines):
        assert Counter(record["positive"].split()) == Counter(record["negative"].split())
        assert Counter(record["anchor"].split()) == Counter(record["hard_negative"].split())


TRAINED = (
    (("--for", "training"), {"anchor", "positive", "negative"}, 20),
    (NLI, {"premise", "hypothesis", "label"}, 160),
)


@pytest.mark.parametrize(("arguments", "names", "count"), TRAINED)
def test_training_data(gen: Gen, tmp_path: Path, arguments: tuple[str, ...], names: set[str], count: int) -> None:
    command_line = ("pairs", "-c", "role", "-n", "20", *arguments, "-v", "english", "--hold-out", "0.3")
    records = [json.loads(line) for line in gen(*command_line).lines]
    out = tmp_path / "deep" / "a.parquet"
    assert gen(*command_line, "-o", str(out)).code == 0
    assert pq.read_table(out).to_pylist() == records
    assert len(records) == count
    assert all({*record} == names for record in records)
    first = out.read_bytes()
    assert gen(*command_line, "-o", str(out)).code == 0
    assert out.read_bytes() == first


@pytest.mark.slow
def test_package_datasets_reads_training_data(gen: Gen, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    for arguments, names, count in TRAINED:
        out = tmp_path / f"{count}.parquet"
        assert gen("pairs", "-c", "role", "-n", "20", *arguments, "-o", str(out)).code == 0
        actual = datasets.load_dataset("parquet", data_files=str(out), split="train", cache_dir=str(tmp_path / "cache"))
        assert ({*actual.column_names}, len(actual)) == (names, count)
    assert actual.features["label"].names == ["entailment", "neutral", "contradiction"]


@pytest.mark.slow
def test_losses_of_sentence_transformers_take_all_columns(gen: Gen, tmp_path: Path) -> None:
    """In their order, as the trainer gives them: the label apart."""
    torch = pytest.importorskip("torch")
    models = pytest.importorskip("sentence_transformers")
    losses = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    model = models.SentenceTransformer(str(packaged_model()), device="cpu")
    built = (
        losses.MultipleNegativesRankingLoss(model),
        losses.SoftmaxLoss(model, model.get_embedding_dimension(), num_labels=3),
    )
    for loss, (arguments, _, _) in zip(built, TRAINED, strict=True):
        out = tmp_path / "a.parquet"
        assert gen("pairs", "-c", "role", "-n", "2", *arguments, "-o", str(out)).code == 0
        columns = pq.read_table(out).to_pydict()
        labels = torch.tensor(columns.pop("label", [0]))
        value = loss([model.preprocess(texts) for texts in columns.values()], labels)
        value.backward()
        assert 0 < value.item() < 5


OF_NLI = "pairs --for training --nli"
EXCLUSION = "retrieval -o set --kind exclusion"

REFUSED = [
    ("pairs -c rolle", "there is no contrast 'rolle' (did you mean 'role'?)"),
    ("pairs -c role -t intransitive", "cannot have the contrast 'role': no clause of it"),
    ("pairs -c modifier -t transitive", "needs a relative clause on the agent or"),
    ("pairs -c role -t transitive -n 5377", "there are only 5376 different ones"),
    ("pairs -c noun -n 250000001", "too many at once, at most 250,000,000"),
    ("pairs -c role -n 0", "must be positive, not 0"),
    ("pairs -c role -o a.txt", "no format goes with the suffix '.txt'"),
    ("pairs -c role -f parquet", "Parquet cannot be written to standard output"),
    ("pairs -c role -f xml", "there is no format 'xml'"),
    ("pairs -c role -v compevall", "unknown vocabulary 'compevall'"),
    ("pairs", "--contrast"),
    ("pairs -c role --for trainig", "there is no use of pairs 'trainig' (did you mean"),
    ("pairs -c role --nli", "--nli is a kind of training data: add --for training"),
    (f"{OF_NLI} -c tense", "the contrast 'tense' has no pairs for --nli; use role,"),
    (f"{OF_NLI} -c rolle", "there is no contrast 'rolle' (did you mean 'role'?)"),
    (f"{OF_NLI} -c role -t intransitive", "cannot have the contrast 'role': no clause"),
    (f"{OF_NLI} -c role -t transitive -n 2689", "only 2688 different ones"),
    (f"{OF_NLI} -c role -n 0", "the number of groups of 8 pairs must be positive"),
    ("pairs --for training -c role -f blimp", "--format blimp is minimal pairs; --for train"),
    ("pairs --for training -c role -f parquet", "Parquet cannot be written to standard out"),
    ("pairs --for training -c role -t transitive -n 5377", "only 5376 different ones"),
    ("pairs -c role --hold-out 1.5", "--hold-out 1.5: the share of the words that is"),
    ("pairs -c role --held-out 0", "--held-out 0: the share of the words that is held"),
    ("pairs -c role --held-out 0.3 --hold-out 0.3", "give one of them"),
    ("pairs -c role --hold-out 0.3", "leaves vocabulary 'compeval' no intransitive verb"),
    ("pairs -c role --hold-out transitive-rc.agent", "hold all of transitive-rc out"),
    ("pairs -c role --hold-out some", "there is no template 'some'"),
    (
        "pairs -c role -t transitive --hold-out transitive",
        "'transitive' of --hold-out transitive cannot have the contrast 'role': all of its",
    ),
    (
        "pairs -c role -t transitive --held-out 0.5 -n 1153",
        "only 1152 different ones (contrast role; templates transitive; vocabulary compeval; --held-out 0.5)",
    ),
    ("minimal", "--list"),
    ("minimal -p transitiv", "did you mean 'transitive'?"),
    ("minimal -p ditransitive -v compeval", "no words for the paradigm 'ditransitive'"),
    ("minimal -p transitive -n 0", "from 1 to"),
    ("minimal -p transitive -v none", "unknown vocabulary 'none'"),
    ("minimal -p all -v none", "unknown vocabulary 'none'"),
    ("minimal -p transitive -f parquet", "standard output"),
    ("minimal -p transitive -o pairs.txt", ".jsonl, .parquet or --format"),
    ("minimal --list -o pairs.jsonl", "--list prints a table, and --out is for pairs"),
    ("retrieval -o set -c rol", "did you mean 'role'"),
    ("retrieval -o set -c modifier -t transitive", "cannot have the contrast 'modifier'"),
    ("retrieval -o set -c role -c numeral -v everyday -n 9", "the contrast 'numeral' is impossible in retrieval"),
    ("retrieval -o set -c role -n 0", "the number of triplets must be positive"),
    ("retrieval -o set -c role -t transitive -n 100000", "different"),
    ("retrieval -o set -c role --hold-out .3 --held-out .3", "give one of them"),
    ("retrieval -o set -n 5", "a contrast is missing: give --contrast, or --kind exclusion"),
    (f"{EXCLUSION} --language de", "--kind exclusion asks questions, which German lacks here"),
    ("retrieval -o set --kind exclusions", "did you mean 'exclusion'"),
    (f"{EXCLUSION} -c role", "leave out -c, -t and --mood"),
    (f"{EXCLUSION} -t transitive", "leave out -c, -t and --mood"),
    (f"{EXCLUSION} -v compeval", "1000 queries of the contrast exclusion"),
    (f"{EXCLUSION} -v compeval --held-out .05 -n 1", "--held-out 0.05"),
]


@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line for line, _ in REFUSED])
def test_bad_request_is_one_sentence(line: str, message: str, gen: Gen, working_folder: Path) -> None:
    done = gen(*line.split())
    check_refusal((done.code, done.out, done.err), message, program="gen")
    assert not any(working_folder.iterdir())


def test_bad_size_makes_no_folder(gen: Gen, tmp_path: Path) -> None:
    out = tmp_path / "new" / "a.jsonl"
    for arguments in ((), *(arguments for arguments, _, _ in TRAINED)):
        assert gen("pairs", "-c", "role", "-n", "0", *arguments, "-o", out).code == 2
    assert not out.parent.exists()


def test_lexicon_without_passive_verbs(gen: Gen, tmp_path: Path) -> None:
    files = tmp_path / "my.toml"
    files.write_text("[noun]\njudge = {}\n[intransitive]\nsleep = {}\n", encoding="utf-8")
    done = gen("pairs", "-c", "role", "--lexicon", str(files))
    assert done.code == 2
    assert "vocabulary 'all' has no transitive verb, so no sentence of it has a passive" in done.err


BLIMP = {
    "sentence_good": str,
    "sentence_bad": str,
    "field": str,
    "linguistics_term": str,
    "UID": str,
    "simple_LM_method": bool,
    "one_prefix_method": bool,
    "two_prefix_method": bool,
    "lexically_identical": bool,
    "pairID": str,
}
"""The fields of BLiMP's files, but for the words of its prefix methods."""


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_minimal_jsonl_has_fields_of_blimp(gen: Gen) -> None:
    done = gen("minimal", "-p", "all", "-n", "3")
    rows = [json.loads(line) for line in done.lines]
    usual = [row for row in load_paradigms().values() if not row.on_request]
    assert (done.code, done.err, len(rows)) == (0, "", 3 * len(usual))
    for number, row in enumerate(rows):
        assert {name: type(row[name]) for name in BLIMP} == BLIMP
        assert [*row] == [*BLIMP, "critical", "annotation"]
        assert row["pairID"] == str(number % 3)
        assert row["annotation"]["text"] == row["sentence_good"]
        good, bad = row["sentence_good"].split(), row["sentence_bad"].split()
        assert row["lexically_identical"] == (sorted(good) == sorted(bad))
        assert not (row["one_prefix_method"] and row["two_prefix_method"])
        if row["one_prefix_method"]:
            at = row["critical"] - 1
            assert at > 0
            assert good[:at] + good[at + 1 :] == bad[:at] + bad[at + 1 :]


def test_parquet_has_the_same_pairs(gen: Gen, tmp_path: Path) -> None:
    options = ("minimal", "-p", "passive_1", "-p", "transitive", "-n", "40", "--seed", "7")
    for name in ("a.jsonl", "a.parquet"):
        assert gen(*options, "-o", tmp_path / name).code == 0
    rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert [row | {"annotation": json.loads(row["annotation"])} for row in rows] == read_lines(tmp_path / "a.jsonl")


def test_folder_for_the_harness_and_the_hub(gen: Gen, tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    options = ("minimal", "-p", "passive_1", "-p", "transitive", "-n", "5", "-f", "lm-eval", "-o", str(folder))
    assert gen(*options).code == 0
    group = yaml.safe_load((folder / "sentprobe_minimal.yaml").read_text("utf-8"))
    template = yaml.safe_load((folder / "_template_yaml").read_text("utf-8"))
    assert group["task"] == ["sentprobe_passive_1", "sentprobe_transitive"]
    assert template["target_delimiter"] == ""  # else the harness scores a space in front of each sentence
    assert template["doc_to_choice"] == "{{[sentence_good, sentence_bad]}}"
    for uid in ("passive_1", "transitive"):
        task = yaml.safe_load((folder / f"{uid}.yaml").read_text("utf-8"))
        assert task["task"] == f"sentprobe_{uid}"
        rows = read_lines(folder / task["dataset_kwargs"]["data_files"])
        loaded = datasets.load_dataset(str(folder), uid, cache_dir=str(tmp_path / "cache"))["train"]
        assert loaded.to_list() == rows
        assert [*rows[0]] == [*BLIMP, "critical"]
    assert gen(*options).code == 0  # the same files are already there
    (folder / "passive_1.yaml").write_text("task: mine", "utf-8")
    done = gen(*options)
    assert (done.code, "not a new or empty folder" in done.err) == (2, True)


def test_minimal_list_shows_examples_and_baselines(gen: Gen) -> None:
    done = gen("minimal", "--list", "-v", "compeval")
    assert done.code == 0
    assert "animate_subject_exchange" not in done.out
    for text in ("transitive", "same words", "frequency", "length", "50.0", "100.0"):
        assert text in done.out
    shown = gen("minimal", "--list", "-p", "passive_1").out
    assert ("passive_1" in shown, "transitive" in shown) == (True, False)


def load_beir(folder: Path) -> tuple[dict[str, dict[str, str]], dict[str, str], dict[str, dict[str, int]]]:
    """Return corpus, queries and judgements as BEIR loads them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the loader does not close its files
        corpus, queries, qrels = GenericDataLoader(str(folder)).load(split="test")
    return corpus, queries, qrels


def test_query_has_paraphrase_and_negatives(gen: Gen, tmp_path: Path) -> None:
    out = tmp_path / "set"
    assert gen("retrieval", "-c", "negation", "-c", "role", "-n", "40", "--out", out) == Outcome(0, "", "")
    corpus, queries, qrels = load_beir(out)
    assert (len(queries), len(corpus), len({*queries})) == (80, 240, 80)
    for name in queries:
        assert qrels[name] == {f"{name}-positive": 1}
        assert {f"{name}-negative", f"{name}-hard_negative"} <= {*corpus}
    assert {document["title"] for document in corpus.values()} == {""}


def test_only_paraphrase_has_meaning_of_query(gen: Gen, tmp_path: Path) -> None:
    """In a tiny space, where triplets often share meanings."""
    out = tmp_path / "set"
    gen("retrieval", "-c", "role", "-c", "tense", "-t", "transitive", "-n", "40", "--out", out)
    corpus, queries, qrels = load_beir(out)
    lexicon = english()
    documents = {name: parse(document["text"], lexicon)[0] for name, document in corpus.items()}
    for name, text in queries.items():
        event = parse(text, lexicon)[0]
        same = {number for number, document in documents.items() if has_same_meaning(event, document)}
        assert same == {*qrels[name]}


@pytest.mark.parametrize("contrast", [name for name in CONTRASTS if name != "numeral"])
def test_set_of_each_contrast(contrast: str, gen: Gen, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    words = ("retrieval", "-c", contrast, "-v", choose_contrast_vocabulary(contrast))
    for folder in (first, second):
        assert gen(*words, "-n", "12", "--seed", "3", "-o", folder).code == 0
    files = [path.relative_to(first) for path in sorted(first.rglob("*")) if path.is_file()]
    assert [path.as_posix() for path in files] == [
        "README.md",
        *("corpus.jsonl", "qrels/test.jsonl", "qrels/test.tsv", "queries.jsonl"),
    ]
    assert all((first / path).read_bytes() == (second / path).read_bytes() for path in files)


def test_exclusion_queries(gen: Gen, tmp_path: Path) -> None:
    out = tmp_path / "set"
    assert gen("retrieval", "--kind", "exclusion", "-n", "30", "--out", out) == Outcome(0, "", "")
    corpus, queries, qrels = load_beir(out)
    assert (len(queries), len(corpus)) == (30, 90)
    for name, text in queries.items():
        assert text.startswith("who ")
        assert " but " in text
        assert qrels[name] == {f"{name}-positive": 1}
        assert {f"{name}-both", f"{name}-exchanged"} <= {*corpus}


@pytest.mark.parametrize("kind", [("-c", "role"), ("--kind", "exclusion")])
def test_judgements_of_both_files_agree(kind: tuple[str, str], gen: Gen, tmp_path: Path) -> None:
    """BEIR reads the one, MTEB the other."""
    out = tmp_path / "set"
    gen("retrieval", *kind, "-n", "7", "--out", out)
    rows = map(json.loads, (out / "qrels" / "test.jsonl").read_text("utf-8").splitlines())
    assert {row["query-id"]: {row["corpus-id"]: row["score"]} for row in rows} == load_beir(out)[2]


def test_each_text_has_its_events(gen: Gen, tmp_path: Path) -> None:
    out = tmp_path / "set"
    gen("retrieval", "-c", "tense", "-c", "role", "-n", "9", "--out", out)
    for name in ("queries", "corpus"):
        for line in (out / f"{name}.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            (notation,) = record["metadata"]["events"]
            assert read_event(notation) == parse(record["text"], english())[0]


def test_bag_of_words_prefers_hard_negative(gen: Gen, tmp_path: Path) -> None:
    out = tmp_path / "set"
    gen("retrieval", "-c", "role", "-n", "30", "--out", out)
    corpus, queries, _ = load_beir(out)
    encoder = make_encoder("bow")
    vectors = encoder.encode([document["text"] for document in corpus.values()])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for name, query in zip(queries, encoder.encode([*queries.values()]), strict=True):
        best = [*corpus][int((vectors @ query).argmax())]
        assert best == f"{name}-hard_negative"


def test_ir_measures_equal_those_of_ranks(gen: Gen, tmp_path: Path) -> None:
    out = tmp_path / "set"
    gen("retrieval", "-c", "role", "-c", "noun", "-n", "30", "--out", out)
    corpus, queries, qrels = load_beir(out)
    scores = np.random.default_rng(0).random((len(queries), len(corpus)))
    rankings = {query: dict(zip(corpus, row, strict=True)) for query, row in zip(queries, scores.tolist(), strict=True)}
    relevant = [[*corpus].index(f"{query}-positive") for query in queries]
    ranks = 1 + (scores > np.take_along_axis(scores, np.array(relevant)[:, None], axis=1)).sum(axis=1)
    figures = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.R @ 10], qrels, rankings)
    assert figures[ir_measures.nDCG @ 10] == pytest.approx(np.where(ranks <= 10, 1 / np.log2(1 + ranks), 0).mean())
    assert figures[ir_measures.R @ 10] == (ranks <= 10).mean() > 0


@pytest.mark.parametrize("kind", [("-c", "noun"), ("--kind", "exclusion")])
def test_held_out_words_are_disjoint(kind: tuple[str, str], gen: Gen, tmp_path: Path) -> None:
    words = []
    for option in ("--hold-out", "--held-out"):
        out = tmp_path / option.strip("-")
        gen("retrieval", *kind, "-v", "english", option, "0.3", "-n", "30", "--out", out)
        annotated = [parse(text.partition(" but ")[0], english())[0] for text in load_beir(out)[1].values()]
        words.append({event.predicate for event in annotated})
    assert not words[0] & words[1]


def test_retrieval_keeps_folder_with_files(gen: Gen, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x", encoding="utf-8")
    done = gen("retrieval", "-c", "role", "-n", "5", "--out", tmp_path)
    assert (done.code, "not a new or empty folder" in done.err) == (2, True)
