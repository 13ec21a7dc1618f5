"""The command ``gen pairs``: the files of each format, and errors."""

import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers.encoders.model_files import packaged_model
from helpers.gen_command import Gen

from sentprobe.generator.bulk.parquet import TableMaker
from sentprobe.generator.pairs import triplet_files
from sentprobe.generator.pairs.triplet_files import TripletFormat
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import from_json
from sentprobe.lexicon import english

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


def test_a_file_is_as_its_suffix_says(gen: Gen, tmp_path: Path) -> None:
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


def test_the_same_seed_gives_the_same_bytes(gen: Gen, tmp_path: Path) -> None:
    for suffix in (".jsonl", ".parquet"):
        files = [tmp_path / f"{name}{suffix}" for name in "ab"]
        for out in files:
            assert gen("pairs", "-c", "noun", "-n", "25", "--seed", "7", "-o", str(out)).code == 0
        assert files[0].read_bytes() == files[1].read_bytes()


def test_parquet_that_fails_half_way_is_closed_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert (done.code, done.out) == (0, "6720\n")
    assert gen("pairs", "-c", "role", "-t", "transitive", *NLI, "--count").out == "3360\n"


@pytest.mark.parametrize("contrast", ["modality", "mood"])
def test_modals_and_questions_need_no_option(gen: Gen, contrast: str) -> None:
    done = gen("pairs", "-c", contrast, "-n", "30")
    assert (done.code, done.err, len(done.lines)) == (0, "", 30)


@pytest.mark.parametrize("contrast", ["recipient", "binding"])
def test_recipients_and_adjectives_need_a_vocabulary_with_them(gen: Gen, contrast: str) -> None:
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
def test_training_data_as_the_package_datasets_reads_it(gen: Gen, tmp_path: Path) -> None:
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


def test_what_is_refused_makes_no_folder(gen: Gen, tmp_path: Path) -> None:
    out = tmp_path / "new" / "a.jsonl"
    for arguments in ((), *(arguments for arguments, _, _ in TRAINED)):
        assert gen("pairs", "-c", "role", "-n", "0", *arguments, "-o", str(out)).code == 2
    assert not out.parent.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-c", "rolle"), "there is no contrast 'rolle' (did you mean 'role'?)"),
        (("-c", "role", "-t", "intransitive"), "cannot have the contrast 'role': no clause of it"),
        (("-c", "modifier", "-t", "transitive"), "needs a relative clause on the agent or"),
        (("-c", "role", "-t", "transitive", "-n", "6721"), "there are only 6720 different ones"),
        (("-c", "noun", "-n", "250000001"), "too many at once, at most 250,000,000"),
        (("-c", "role", "-n", "0"), "must be positive, not 0"),
        (("-c", "role", "-o", "a.txt"), "no format goes with the suffix '.txt'"),
        (("-c", "role", "-f", "parquet"), "Parquet cannot be written to standard output"),
        (("-c", "role", "-f", "xml"), "there is no format 'xml'"),
        (("-c", "role", "-v", "compevall"), "unknown vocabulary 'compevall'"),
        ((), "--contrast"),
        (("-c", "role", "--for", "trainig"), "there is no use of pairs 'trainig' (did you mean"),
        (("-c", "role", "--nli"), "--nli is a kind of training data: add --for training"),
        ((*NLI, "-c", "tense"), "the contrast 'tense' has no pairs for --nli; use role or"),
        ((*NLI, "-c", "rolle"), "there is no contrast 'rolle' (did you mean 'role'?)"),
        ((*NLI, "-c", "role", "-t", "intransitive"), "cannot have the contrast 'role': no clause"),
        ((*NLI, "-c", "role", "-t", "transitive", "-n", "3361"), "only 3360 different ones"),
        ((*NLI, "-c", "role", "-n", "0"), "the number of groups of 8 pairs must be positive"),
        ((*NLI[:2], "-c", "role", "-f", "blimp"), "--format blimp is minimal pairs; --for train"),
        ((*NLI[:2], "-c", "role", "-f", "parquet"), "Parquet cannot be written to standard out"),
        ((*NLI[:2], "-c", "role", "-t", "transitive", "-n", "6721"), "only 6720 different ones"),
        (("-c", "role", "--hold-out", "1.5"), "--hold-out 1.5: the share of the words that is"),
        (("-c", "role", "--held-out", "0"), "--held-out 0: the share of the words that is held"),
        (("-c", "role", "--held-out", "0.3", "--hold-out", "0.3"), "give one of them"),
        (("-c", "role", "--hold-out", "0.3"), "leaves vocabulary 'compeval' no intransitive verb"),
        (("-c", "role", "--hold-out", "transitive-rc.agent"), "hold all of transitive-rc out"),
        (("-c", "role", "--hold-out", "some"), "there is no template 'some'"),
        (
            ("-c", "role", "-t", "transitive", "--hold-out", "transitive"),
            "'transitive' of --hold-out transitive cannot have the contrast 'role': all of its",
        ),
        (
            ("-c", "role", "-t", "transitive", "--held-out", "0.5", "-n", "1153"),
            "there are only 1152 different ones (contrast role; templates transitive; vocabulary "
            "compeval; --held-out 0.5)",
        ),
    ],
)
def test_what_is_refused(gen: Gen, arguments: tuple[str, ...], message: str) -> None:
    done = gen("pairs", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_the_lexicon_is_not_written_over(gen: Gen, tmp_path: Path) -> None:
    files = tmp_path / "my.toml"
    files.write_text("[noun]\njudge = {}\n", encoding="utf-8")
    done = gen("pairs", "-c", "role", "--lexicon", str(files), "-o", str(files), "-f", "jsonl")
    assert done.code == 2
    assert "is an input; the output needs another path" in done.err
    assert files.read_text("utf-8") == "[noun]\njudge = {}\n"


def test_a_lexicon_without_passive_verbs(gen: Gen, tmp_path: Path) -> None:
    files = tmp_path / "my.toml"
    files.write_text("[noun]\njudge = {}\n[intransitive]\nsleep = {}\n", encoding="utf-8")
    done = gen("pairs", "-c", "role", "--lexicon", str(files))
    assert done.code == 2
    assert "vocabulary 'all' has no transitive verb, so no sentence of it has a passive" in done.err
