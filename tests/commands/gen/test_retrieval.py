"""The command ``gen retrieval``: files that BEIR's loader reads, and meanings that do not overlap."""

import json
import warnings
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from beir.datasets.data_loader import GenericDataLoader
from helpers.in_process import run_command
from helpers.oracles.pairs_at_once import choose_contrast_vocabulary

from sentprobe.generator.events.meaning import has_same_meaning
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import english
from sentprobe.probes.encoders.kinds import make_encoder


@pytest.fixture
def gen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda *words: run_command("gen", *words, monkeypatch=monkeypatch, capture=capsys)


def load_beir(folder: Path) -> tuple[dict[str, dict[str, str]], dict[str, str], dict[str, dict[str, int]]]:
    """Return corpus, queries and judgements as BEIR loads them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the loader does not close its files
        corpus, queries, qrels = GenericDataLoader(str(folder)).load(split="test")
    return corpus, queries, qrels


def test_each_query_has_its_paraphrase_and_its_negatives(gen: Any, tmp_path: Path) -> None:
    out = tmp_path / "set"
    assert gen("retrieval", "-c", "negation", "-c", "role", "-n", "40", "--out", out) == (0, "", "")
    corpus, queries, qrels = load_beir(out)
    assert (len(queries), len(corpus), len({*queries})) == (80, 240, 80)
    for name in queries:
        assert qrels[name] == {f"{name}-positive": 1}
        assert {f"{name}-negative", f"{name}-hard_negative"} <= {*corpus}
    assert {document["title"] for document in corpus.values()} == {""}


def test_no_other_document_means_the_same_as_a_query(gen: Any, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("contrast", CONTRASTS)
def test_a_set_of_each_contrast(contrast: str, gen: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    words = ("retrieval", "-c", contrast, "-v", choose_contrast_vocabulary(contrast))
    for folder in (first, second):
        assert gen(*words, "-n", "12", "--seed", "3", "-o", folder)[0] == 0
    files = [path.relative_to(first) for path in sorted(first.rglob("*")) if path.is_file()]
    assert [path.as_posix() for path in files] == [
        "README.md",
        *("corpus.jsonl", "qrels/test.jsonl", "qrels/test.tsv", "queries.jsonl"),
    ]
    assert all((first / path).read_bytes() == (second / path).read_bytes() for path in files)


def test_exclusion_queries(gen: Any, tmp_path: Path) -> None:
    out = tmp_path / "set"
    assert gen("retrieval", "--kind", "exclusion", "-n", "30", "--out", out) == (0, "", "")
    corpus, queries, qrels = load_beir(out)
    assert (len(queries), len(corpus)) == (30, 90)
    for name, text in queries.items():
        assert text.startswith("who ")
        assert " but " in text
        assert qrels[name] == {f"{name}-positive": 1}
        assert {f"{name}-both", f"{name}-exchanged"} <= {*corpus}


@pytest.mark.parametrize("kind", [("-c", "role"), ("--kind", "exclusion")])
def test_the_judgements_of_both_files_are_the_same(kind: tuple[str, str], gen: Any, tmp_path: Path) -> None:
    """BEIR reads the one, MTEB the other."""
    out = tmp_path / "set"
    gen("retrieval", *kind, "-n", "7", "--out", out)
    rows = map(json.loads, (out / "qrels" / "test.jsonl").read_text("utf-8").splitlines())
    assert {row["query-id"]: {row["corpus-id"]: row["score"]} for row in rows} == load_beir(out)[2]


def test_each_text_has_its_events(gen: Any, tmp_path: Path) -> None:
    out = tmp_path / "set"
    gen("retrieval", "-c", "tense", "-c", "role", "-n", "9", "--out", out)
    for name in ("queries", "corpus"):
        for line in (out / f"{name}.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            (notation,) = record["metadata"]["events"]
            assert read_event(notation) == parse(record["text"], english())[0]


def test_a_bag_of_words_ranks_the_hard_negative_before_the_paraphrase(gen: Any, tmp_path: Path) -> None:
    out = tmp_path / "set"
    gen("retrieval", "-c", "role", "-n", "30", "--out", out)
    corpus, queries, _ = load_beir(out)
    encoder = make_encoder("bow")
    vectors = encoder.encode([document["text"] for document in corpus.values()])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for name, query in zip(queries, encoder.encode([*queries.values()]), strict=True):
        best = [*corpus][int((vectors @ query).argmax())]
        assert best == f"{name}-hard_negative"


def test_ir_measures_computes_the_figures_of_the_ranks(gen: Any, tmp_path: Path) -> None:
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
def test_held_out_words_are_in_no_other_set(kind: tuple[str, str], gen: Any, tmp_path: Path) -> None:
    words = []
    for option in ("--hold-out", "--held-out"):
        out = tmp_path / option.strip("-")
        gen("retrieval", *kind, "-v", "english", option, "0.3", "-n", "30", "--out", out)
        annotated = [parse(text.partition(" but ")[0], english())[0] for text in load_beir(out)[1].values()]
        words.append({event.predicate for event in annotated})
    assert not words[0] & words[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-c rol", "did you mean 'role'"),
        ("-c modifier -t transitive", "cannot have the contrast 'modifier'"),
        ("-c role -n 0", "the number of triplets must be positive"),
        ("-c role -t transitive -n 100000", "different"),
        ("-c role --hold-out .3 --held-out .3", "give one of them"),
        ("-n 5", "a contrast is missing: give --contrast, or --kind exclusion"),
        ("--kind exclusion --language de", "--kind exclusion asks questions, which German lacks here"),
        ("--kind exclusions", "did you mean 'exclusion'"),
        ("--kind exclusion -c role", "leave out -c, -t and --mood"),
        ("--kind exclusion -t transitive", "leave out -c, -t and --mood"),
        ("--kind exclusion -v compeval", "1000 queries of the contrast exclusion"),
        ("--kind exclusion -v compeval --held-out .05 -n 1", "--held-out 0.05"),
    ],
)
def test_bad_input_gets_a_sentence(arguments: str, message: str, gen: Any, tmp_path: Path) -> None:
    code, out, err = gen("retrieval", *arguments.split(), "--out", tmp_path / "set")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "set").exists()


def test_a_folder_with_files_is_not_replaced(gen: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x", encoding="utf-8")
    code, _, err = gen("retrieval", "-c", "role", "-n", "5", "--out", tmp_path)
    assert code == 2
    assert "not a new or empty folder" in err
