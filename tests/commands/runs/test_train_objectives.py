"""The command ``probe train`` with several objectives on one encoder."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.encoders.sentence_models import write_trees
from helpers.in_process import Command, check_refusal, check_success
from helpers.processes import ENVIRONMENT
from helpers.trainings.train_command import TINY, WEIGHTS, Train, contents

from sentprobe.probes.encoders.kinds import make_encoder

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    """Write 30 sentences to learn from, and return their file."""
    path = tmp_path / "sentences.txt"
    path.write_text("".join(f"the dog {'saw' if i % 3 else 'met'} cat {i} .\n" for i in range(30)))
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Write 30 labelled pairs, and return their file."""
    path = tmp_path / "pairs.jsonl"
    rows = ({"premise": f"dog {i}", "hypothesis": f"cat {i}", "label": i % 3} for i in range(30))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_encoder_of_several_objectives_is_recorded_and_used(
    command: Command, train: Train, sentences: Path, pairs: Path, tmp_path: Path
) -> None:
    enc = tmp_path / "enc"
    arguments = ("--objective", "nli", "--objective", "autoencoder", "--codes", 300, "--weight", "nli=2")
    outcome = train("lstm", *arguments, "--corpus", sentences, "--corpus", f"nli={pairs}", "-o", enc)
    out = check_success(outcome)
    assert out.startswith(f"{enc}: finished after 4 steps (4 steps); best: loss ")
    assert " (autoencoder: BLEU " in out
    assert "; nli: accuracy " in out
    assert f"{enc}: for autoencoder, read 30 sentences in 1 document; none was left out\n" in outcome[2]
    assert f"{enc}: for nli, read 30 pairs (10 entailment, 10 neutral, 10 contradiction)" in outcome[2]
    record = json.loads((enc / "config.json").read_text())["record"]
    assert (record["family"], record["objective"]) == ("lstm autoencoder+nli", "autoencoder+nli")
    assert record["weights"] == {"autoencoder": 1.0, "nli": 2.0}
    assert {*record["texts"]} == {*record["validation"]["parts"]} == {"autoencoder", "nli"}
    assert record["identity"]["weights"] == "autoencoder=1.0 nli=2.0"
    assert {*(enc / "words.txt").read_text().split()} >= {"the", "met", "cat", "dog", "29"}
    run = ("run", "compeval", "--task", "Order", "--train", 40, "--test", 20, "--no-controls", "-e", enc)
    check_success(command(*run, "-o", tmp_path / "results"))
    rows = json.loads(check_success(command("show", tmp_path / "results", "-f", "json")))
    assert {row["encoder"] for row in rows} == {f"trained:{enc}"}


def test_order_of_options_decides_nothing(train: Train, sentences: Path, pairs: Path, tmp_path: Path) -> None:
    names, own = ("nli", "denoising", "skipthought"), f"nli={pairs}"
    for folder, order in (("one", names), ("other", names[::-1])):
        objectives = [word for name in order for word in ("--objective", name)]
        corpora = [word for file in (sentences, own)[:: 1 if folder == "one" else -1] for word in ("--corpus", file)]
        check_success(train("lstm", *objectives, *corpora, "--codes", 300, "-o", tmp_path / folder))
    assert contents(tmp_path / "one", *WEIGHTS) == contents(tmp_path / "other", *WEIGHTS)


def test_training_is_resumed_with_more_steps(train: Train, sentences: Path, pairs: Path, tmp_path: Path) -> None:
    corpora = ("--corpus", f"autoencoder={sentences}", "--corpus", f"nli={pairs}")
    arguments = ("lstm", "--objective", "nli", "--objective", "autoencoder", "--codes", 300, *corpora)
    check_success(train(*arguments, "--steps", 9, "-o", tmp_path / "whole"))
    for steps in (1, 2, 5, 9):
        check_success(train(*arguments, "--steps", steps, "-o", tmp_path / "part"))
    last = ("checkpoint/weights.safetensors", "checkpoint/optimizer.safetensors")
    assert contents(tmp_path / "part", *last) == contents(tmp_path / "whole", *last)
    for options, message in (
        (("--weight", "nli=2"), "weights 'autoencoder=1.0 nli=1.0', not 'autoencoder=1.0 nli=2.0'"),
        (("--objective", "skipthought", "--corpus", sentences), "objective 'autoencoder+nli', not 'autoencoder+skip"),
    ):
        check_refusal(train(*arguments, *options, "-o", tmp_path / "part"), message, progress=True)


def test_corpus_of_one_objective_may_be_named(train: Train, pairs: Path, tmp_path: Path) -> None:
    for folder, corpus in (("plain", pairs), ("named", f"nli={pairs}")):
        check_success(train("lstm", "--objective", "nli", "--corpus", corpus, "-o", tmp_path / folder))
    assert contents(tmp_path / "plain", *WEIGHTS) == contents(tmp_path / "named", *WEIGHTS)


def test_options_are_for_objectives_that_use_them(train: Train, tmp_path: Path) -> None:
    texts, translations = tmp_path / "texts.tsv", tmp_path / "translations.tsv"
    texts.write_text("said\tbook\n" + "".join(f"It {word} .\tone\n" for word in ("ran", "came", "went")))
    translations.write_text("uno\tone\ndos\ttwo\ntres\tthree\n")
    objectives = ("--objective", "nmt", "--objective", "denoising", "--codes", 300, "--drop", 0.2)
    corpora = ("--corpus", f"denoising={texts}", "--corpus", f"nmt={translations}")
    enc = tmp_path / "enc"
    columns = ("--format", "tsv", "--column", "said", "--document", "book")
    check_success(train("lstm", *objectives, *corpora, *columns, "-o", enc))
    assert {*(enc / "words.txt").read_text().split()} == {*["It", "ran", "came", "went", ".", "uno", "dos", "tres"]}
    identity = json.loads((enc / "config.json").read_text())["record"]["identity"]
    assert [identity[name] for name in ("format", "columns", "document")] == ["tsv", "said", "book"]


def test_language_model_may_learn_more(command: Command, train: Train, sentences: Path, tmp_path: Path) -> None:
    pair = {"sentence_good": "the dog saw cat .", "sentence_bad": "the saw dog cat .", "UID": "order"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    objectives = ("--objective", "next-word", "--objective", "autoencoder", "--codes", 300)
    check_success(train("lstm", *objectives, "--inputs", 4, "--corpus", sentences, "-o", tmp_path / "lm"))
    check_success(command("lm", tmp_path / "lm", "--pairs", tmp_path / "pairs.jsonl"))


def test_trees_pass_through_objectives(train: Train, tmp_path: Path) -> None:
    texts = [f"the {word} dog saw a cat" for word in "abcdefghijklmnopqrst"]
    corpus, pairs = tmp_path / "corpus.conllu", tmp_path / "pairs.jsonl"
    write_trees(corpus, [(text, (3, 3, 4, 0, 6, 4)) for text in texts])
    rows = ({"premise": text, "hypothesis": texts[i - 1], "label": i % 3} for i, text in enumerate(texts))
    pairs.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    objectives = ("--objective", "nli", "--objective", "autoencoder", "--codes", 300)
    corpora = ("--corpus", f"nli={pairs}", "--corpus", f"autoencoder={corpus}")
    arguments = ("tree-lstm", *objectives, *corpora, "--lower", "--preset", "adi")
    check_success(train(*arguments, "--trees", corpus, "--steps", 2, "-o", tmp_path / "whole"))
    for steps in (1, 2):
        check_success(train(*arguments, "--trees", corpus, "--steps", steps, "-o", tmp_path / "part"))
    assert contents(tmp_path / "part", *WEIGHTS) == contents(tmp_path / "whole", *WEIGHTS)
    message = "the grammar (en) has no tree for the sentence 'the a dog saw a cat' (60 of 60 requested"
    check_refusal(train(*arguments, "-o", tmp_path / "none"), message, 1, progress=True)
    write_trees(tmp_path / "other.conllu", [(text, (3, 3, 4, 0, 4, 4)) for text in texts])
    outcome = train(*arguments, "--trees", tmp_path / "other.conllu", "-o", tmp_path / "part")
    check_refusal(outcome, "its training has other trees (--trees)")
    assert make_encoder(str(tmp_path / "whole")).encode(["the man slept"]).shape == (1, 4)
    encoder = make_encoder(f"trained:{tmp_path / 'whole'}?trees={corpus}")
    assert np.isfinite(encoder.encode(texts)).all()


def test_trees_are_for_networks_and_objectives_that_use_them(train: Train, sentences: Path, tmp_path: Path) -> None:
    arguments = ("--objective", "denoising", "--codes", 300, "-o", tmp_path / "enc", "--corpus")
    outcome = train("lstm", *arguments, sentences, "--trees", sentences)
    check_refusal(outcome, "--trees is for tree-lstm, not for lstm")
    message = "denoising changes sentences, which then have no tree for tree-lstm"
    check_refusal(train("tree-lstm", *arguments, sentences), message)


def test_decoders_may_attend_to_words(train: Train, sentences: Path, tmp_path: Path) -> None:
    options = ("--objective", "autoencoder", "--corpus", sentences, "--codes", 300)
    for kind in ("gated-conv", "tree-lstm"):
        outcome = train(kind, *options, "--attention", "-o", tmp_path / "conv")
        check_refusal(outcome, f"by lstm, bilstm-last, bilstm-max, bilstm-att, gru-uni or gru-bi: no {kind}")
    arguments = ("bilstm-att", *options)
    for folder, attention in (("plain", ()), ("attentive", ("--attention",))):
        check_success(train(*arguments, *attention, "--steps", 2, "-o", tmp_path / folder))
        identity = json.loads((tmp_path / folder / "config.json").read_text())["record"]["identity"]
        assert identity.get("attention", False) is (folder == "attentive")
    check_success(train(*arguments, "--attention", "--steps", 3, "-o", tmp_path / "attentive"))
    assert contents(tmp_path / "plain", "words.txt") == contents(tmp_path / "attentive", "words.txt")
    assert contents(tmp_path / "plain", *WEIGHTS) != contents(tmp_path / "attentive", *WEIGHTS)
    check_refusal(train(*arguments, "--attention", "-o", tmp_path / "plain"), "its training has attention none, not ")


BOTH = "lstm --objective nli --objective autoencoder"
BAD = [
    ("lstm --objective nli --corpus TEXT --attention", "--attention is for --objective autoencoder, denoising"),
    (f"{BOTH} --objective nli --corpus TEXT", "--objective nli is given twice"),
    (f"{BOTH} --objective nlii --corpus TEXT", "there is no objective 'nlii' (did you mean 'nli'?); known: none"),
    (
        f"{BOTH} --objective none --corpus TEXT",
        "--objective none trains nothing, so it shares no encoder with nli, aut",
    ),
    ("bilstm-max --objective next-word --objective nli --corpus TEXT", "by lstm or gru-uni: no bilstm-max"),
    ("lstm --objective next-word --objective nli --corpus TEXT", "--inputs 3 must equal --hidden 4"),
    ("lstm-lm --objective next-word --objective nli --corpus TEXT", "lstm-lm already means lstm with next-word"),
    (f"{BOTH} --corpus autoencoder=TEXT", "nli learns from pairs with a label: --corpus nli=FILE is missing"),
    (BOTH, "--objective autoencoder learns from sentences: --corpus autoencoder=FILE is missing"),
    (f"{BOTH} --corpus TEXT --corpus nmt=TEXT", "'nmt' is none of the objectives trained: autoencoder, nli"),
    (f"{BOTH} --corpus TEXT --corpus nli=", "--corpus nli=: a file is expected after ="),
    (f"{BOTH} --corpus TEXT --corpus nli=none.jsonl", "none.jsonl: "),
    (f"{BOTH} --corpus TEXT --corpus TEXT", "--objective nli learns from one file, but --corpus is given 2 times"),
    (f"{BOTH} --corpus nli=TEXT --corpus autoencoder=TEXT --corpus TEXT", ": no objective is left to learn from it"),
    ("lstm --objective meaning --objective nli --corpus meaning=TEXT --corpus TEXT", "generated sentences, not from"),
    (f"{BOTH} --corpus TEXT --parallel TEXT", "--parallel is for --objective nmt, not for autoencoder"),
    (f"{BOTH} --corpus TEXT --column a --column b", "--objective autoencoder needs 1 column, but --column is given 2"),
    (f"{BOTH} --corpus TEXT --drop 0.3", "--drop is for --objective denoising, not for autoencoder, nli"),
    (f"{BOTH} --corpus TEXT --weight nmt=2", "--weight nmt=2: 'nmt' is none of the objectives trained: autoencoder, "),
    (f"{BOTH} --corpus TEXT --weight nlii=2", "'nlii' is none of the objectives trained (did you mean 'nli'?): autoe"),
    (f"{BOTH} --corpus TEXT --weight nli=1 --weight nli=2", "--weight nli=2: the weight of nli is given twice"),
    *(
        (
            f"{BOTH} --corpus TEXT --weight nli{text}",
            f"--weight nli{text}: NAME=N is expected, with a number above 0, at",
        )
        for text in ("", "=", "=0", "=-1", "=nan", "=inf", "=1e400", "=1000001", "=1_0", "=two")
    ),
    ("lstm --objective nli --corpus TEXT --weight nli=2", "for several objectives, but nli is trained alone"),
    ("cbow --objective autoencoder --objective skipthought --corpus TEXT --frozen", "no weights except word vectors"),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=[line for line, _ in BAD])
def test_bad_request_is_refused(train: Train, sentences: Path, tmp_path: Path, line: str, message: str) -> None:
    words = [word.replace("TEXT", str(sentences)) for word in line.split()]
    check_refusal(train(*words, "-o", tmp_path / "encs" / "enc"), message, progress=True)
    assert not (tmp_path / "encs").exists()


@pytest.mark.slow
def test_two_devices_share_batches_of_several_objectives(sentences: Path, pairs: Path, tmp_path: Path) -> None:
    """In processes of their own, as Fabric starts the command once more for each device."""
    objectives = ["--objective", "nli", "--objective", "autoencoder", "--corpus", str(sentences)]
    arguments = [*objectives, "--corpus", f"nli={pairs}", "--devices", "2"]
    script = tmp_path / "probe.py"
    script.write_text("from sentprobe.cli import probe; probe()\n")
    for name, steps in (("whole", 6), ("part", 1), ("part", 6)):
        sizes = [str(word) for option in (TINY | {"--steps": steps, "--codes": 300}).items() for word in option]
        words = ("train", "lstm", *arguments, *sizes, "-o", str(tmp_path / name))
        done = subprocess.run(
            [sys.executable, script, *words], env=ENVIRONMENT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    last = "checkpoint/weights.safetensors"
    assert contents(tmp_path / "part", last) == contents(tmp_path / "whole", last)
