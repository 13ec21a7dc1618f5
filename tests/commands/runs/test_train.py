"""The command ``probe train``: the folder of an encoder, and errors."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import torch
from helpers import faults
from helpers.in_process import Command, check_refusal, check_success
from helpers.processes import ENVIRONMENT, end
from helpers.trainings.train_command import TINY, WEIGHTS, Train, contents
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.cli import load_command
from sentprobe.common.errors import UsageError
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.models import trained
from sentprobe.probes.encoders.network import NETWORKS
from sentprobe.probes.encoders.word_vectors import WordVectors, read_word_vectors
from sentprobe.probes.training import checkpoint, devices_and_precision, objectives
from sentprobe.probes.training.schedule import parse_step_interval

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")


HEARING = """
import signal
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from sentprobe.cli import probe
    probe()
"""
"""A command that hears Ctrl-C, which a shell's background job ignores."""


def test_trained_encoder_records_its_training(train: Train, triplets: Path, tmp_path: Path) -> None:
    enc = tmp_path / "enc"
    code, out, err = train("lstm", "--objective", "contrastive", "--corpus", triplets, "-o", enc)
    assert code == 0, err
    assert out.startswith(f"{enc}: finished after 4 steps (4 steps); best: accuracy ")
    assert "train: 100%, step 4, loss " in err
    assert " tokens/s" in err
    config = json.loads((enc / "config.json").read_text())
    record = config["record"]
    assert config["architecture"] == {"kind": "lstm", "hidden": 4, "layers": 1, "inputs": 3}
    assert (record["family"], record["objective"]) == ("lstm contrastive", "contrastive")
    assert record["step"] == record["validation"]["step"]
    assert record["command"].startswith("probe train lstm --objective contrastive")
    assert set(record["versions"]) == {"sentprobe", "python", "torch"}
    assert {path.name for path in enc.iterdir()} == {"checkpoint", "config.json", "model.safetensors", "words.txt"}


def test_training_is_resumed_with_more_steps(train: Train, triplets: Path, tmp_path: Path) -> None:
    arguments = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o")
    assert train(*arguments, tmp_path / "whole")[0] == 0
    assert train(*arguments, tmp_path / "part", "--steps", 1)[0] == 0
    assert train(*arguments, tmp_path / "part", "--steps", 3)[0] == 0
    code, _, err = train(*arguments, tmp_path / "part")
    assert (code, f"{tmp_path / 'part'}: goes on after 3 steps\n" in err) == (0, True)
    last = "checkpoint/weights.safetensors"
    assert contents(tmp_path / "part", last) == contents(tmp_path / "whole", last)
    before = contents(tmp_path / "part", *WEIGHTS)
    code, out, _ = train(*arguments, tmp_path / "part")
    assert (code, "finished before, after 4 steps" in out) == (0, True)
    assert contents(tmp_path / "part", *WEIGHTS) == before


@pytest.mark.parametrize("kind", NETWORKS)
def test_checkpoint_has_state_of_each_weight(train: Train, triplets: Path, tmp_path: Path, kind: str) -> None:
    for steps in (1, 2):
        arguments = (kind, "--objective", "contrastive", "--corpus", triplets, "-o", tmp_path / "enc")
        check_success(train(*arguments, "--steps", steps))


@pytest.mark.slow
def test_encoders_are_trained_in_parallel(train: Train, triplets: Path, tmp_path: Path) -> None:
    arguments = ("lstm", "cbow", "--objective", "contrastive", "--corpus", triplets, "--seeds", 2)
    out = check_success(train(*arguments, "-o", tmp_path / "beside", "--jobs", 2))
    names = ["lstm-seed0", "lstm-seed1", "cbow-seed0", "cbow-seed1"]
    assert [line.partition(":")[0] for line in out.splitlines()] == [str(tmp_path / "beside" / name) for name in names]
    assert train(*arguments, "-o", tmp_path / "one")[0] == 0
    for name in names:
        beside, alone = (contents(tmp_path / text / name, *WEIGHTS) for text in ("beside", "one"))
        assert beside == alone


@pytest.mark.slow
def test_two_devices_share_batches(triplets: Path, tmp_path: Path) -> None:
    """In processes of their own, as Fabric starts the command once more for each device."""
    sizes = [str(word) for option in (TINY | {"--steps": 6}).items() for word in option]
    arguments = ["--objective", "contrastive", "--corpus", str(triplets), "--devices", "2"]
    script = tmp_path / "probe.py"
    script.write_text("from sentprobe.cli import probe; probe()\n")
    for name, steps in (("whole", ()), ("part", ("--epochs", "1")), ("part", ())):
        words = ("train", "bilstm-max", *arguments, *sizes, *steps, "-o", str(tmp_path / name))
        done = subprocess.run(
            [sys.executable, script, *words], env=ENVIRONMENT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("finished after") == 1  # once for both devices
    last = "checkpoint/weights.safetensors"
    assert contents(tmp_path / "part", last) == contents(tmp_path / "whole", last)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no signals there")
@pytest.mark.parametrize("wanted", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_stopped_parallel_trainings_are_kept(triplets: Path, tmp_path: Path, wanted: str) -> None:
    """By a signal that reaches all processes, as from a terminal."""
    number = getattr(signal, wanted)
    sizes = [str(item) for name in ("--hidden", "--inputs", "--batch") for item in (name, TINY[name])]
    script = tmp_path / "probe.py"
    script.write_text(HEARING)
    arguments = ["--objective", "contrastive", "--corpus", str(triplets), "--validate-every", "999999"]
    line = [sys.executable, str(script), "train", "lstm", *arguments, *sizes, "--seeds", "2"]
    line += ["--jobs", "2", "--minutes", "2", "-o", str(tmp_path / "enc")]
    work = subprocess.Popen(line, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    with work:
        try:
            assert work.stderr is not None
            learning: set[str] = set()
            while len(learning) < 2:
                message = work.stderr.readline()
                assert message
                if ", loss " in message:
                    learning.add(message.partition(":")[0])
            os.killpg(work.pid, number)
            expected_message = work.stderr.read()
            work.wait()
        finally:
            end(work)
    assert "stopped; finished work is kept in" in expected_message
    assert work.returncode == 128 + number
    for seed in range(2):
        stored = checkpoint.read_state(tmp_path / "enc" / f"seed{seed}")
        assert stored is not None
        assert stored.state.step > 0


def test_objective_none_learns_nothing(train: Train, text: Path, tmp_path: Path) -> None:
    arguments = ("lstm", "--objective", "none", "--corpus", text, "-o", tmp_path / "enc")
    code, out, _ = train(*arguments)
    assert (code, out) == (0, f"{tmp_path / 'enc'}: saved as it was drawn; --objective none trains nothing\n")
    before = contents(tmp_path / "enc", *WEIGHTS[:2])
    assert train(*arguments)[0] == 0
    assert contents(tmp_path / "enc", *WEIGHTS[:2]) == before
    assert not (tmp_path / "enc" / "checkpoint").exists()


def test_cbow_averages_skip_gram_vectors(train: Train, text: Path, tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    arguments = ("cbow", "--objective", "none", "--corpus", text, "-o")
    for name in ("one", "other"):
        assert train(*arguments, tmp_path / name)[0] == 0
    one, second = (contents(tmp_path / name, *WEIGHTS[:2]) for name in ("one", "other"))
    assert one == second
    record = json.loads((tmp_path / "one" / "config.json").read_text())["record"]
    assert record["identity"]["vectors"] == "skip-gram"


def test_preset_of_adi_sets_options(train: Train, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    rows = ({"premise": f"dog {i}", "hypothesis": f"cat {i}", "label": i % 3} for i in range(12))
    pairs.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    arguments = ("lstm", "--objective", "nli", "--corpus", pairs, "-o", tmp_path / "enc")
    assert train(*arguments, "--preset", "adi")[0] == 0
    config = json.loads((tmp_path / "enc" / "config.json").read_text())
    identity = config["record"]["identity"]
    assert config["reverse"]
    assert (identity["optimizer"], identity["rate"], identity["dropout"]) == ("adagrad", 0.01, 0.1)
    assert (identity["decoder_layers"], identity["decoder_hidden"]) == (1, 4)
    check_refusal(train(*arguments, "--preset", "adi", "--dropout", 0), "dropout 0.1, not 0.0", progress=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("optimizer", ["adam", "sgd", "adagrad"])
def test_optimizers_resume_on_gpu(train: Train, triplets: Path, tmp_path: Path, optimizer: str) -> None:
    arguments = ("bilstm-max", "--objective", "contrastive", "--corpus", triplets, "-o", tmp_path)
    for steps in (2, 4):
        expected = ("--device", "cuda", "--optimizer", optimizer, "--steps", steps)
        check_success(train(*arguments, *expected))


def test_full_disk_keeps_earlier_model(train: Train, triplets: Path, tmp_path: Path) -> None:
    enc = tmp_path / "enc"
    arguments = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o", enc)
    assert train(*arguments, "--steps", 2)[0] == 0
    for number in range(1, 40, 3):
        with faults.watched(enc, faults.full(number)):
            code, _, err = train(*arguments, "--patience", 9)
        if code == 0:
            break
        assert (code, "No space left on device" in err) == (1, True)
        assert all(contents(enc, *WEIGHTS))
        assert is_one_model(enc)
    assert code == 0
    assert number > 1


def is_one_model(folder: Path) -> bool:
    """Say whether a folder is loaded, or refused because its files are of different steps."""
    try:
        trained.load_sentence_model(folder)
    except EncoderError as error:
        return "or the training was stopped between writing the two" in str(error)
    return True


BAD = [
    ("lstmm --objective none --corpus TEXT", "there is no architecture 'lstmm' (did you mean 'lst"),
    ("ngrm --corpus TEXT", "there is no architecture 'ngrm' (did you mean 'ngram'?); known: lstm"),
    ("lstm --corpus TEXT", "--objective is missing: none, autoencoder"),
    ("lstm-lm cbow --corpus TEXT", "lstm-lm already means lstm with next-word: leave out --obj"),
    ("lstm-lm --order 3 --corpus TEXT", "--order is for ngram, not for lstm"),
    ("bilstm-max --objective next-word --inputs 4 --corpus none.txt", "by lstm or gru-uni: no bilstm-max"),
    ("lstm-lm --corpus TEXT", "compares states with word vectors: --inputs 3 must equal --hidden 4"),
    ("lstm-lm --corpus TEXT --preset adi", "by lstm or gru-uni: no reversed sentences"),
    ("lstm --objective nmtt --corpus TEXT", "there is no objective 'nmtt' (did you mean 'nmt'?)"),
    ("lstm --objective none", "--objective none learns from sentences: --corpus is missing"),
    ("lstm --objective none --corpus EMPTY", "EMPTY: has no sentence to learn from"),
    ("lstm --objective none --corpus ONE", "ONE: has only one sentence to learn from"),
    ("lstm --objective none --corpus none.txt", "none.txt: "),
    ("lstm --objective nmt --corpus TEXT", "--parallel is missing, the file with the translation"),
    ("lstm --objective none --corpus TEXT --parallel TEXT", "--parallel is for --objective nmt"),
    ("lstm --objective nli --corpus TEXT", "TEXT: "),
    ("lstm --objective nli --corpus TEXT --corpus ONE", "learns from one file, but --corpus is given 2"),
    ("lstm --objective meaning --corpus TEXT", "learns from generated sentences, not from"),
    (
        "lstm --objective none --corpus TEXT --vectors VECTORS --inputs 3",
        "--inputs 3: the word vectors of VECTORS have width 2; omit --inputs",
    ),
    ("lstm --objective none --corpus TEXT --preset ady", "there is no training preset 'ady'"),
    ("lstm --objective none --corpus TEXT --task SemRole", "needs --probe-every"),
    ("lstm --objective none --corpus TEXT --probe-every 0", "--probe-every 0: a number of steps"),
    (f"lstm --objective nli --corpus TEXT --validate-every {'9' * 19}", ": a number of steps from 1, or epoch, is"),
    ("lstm --objective autoencoder --corpus TEXT --optimizer adma", "(did you mean 'adam'?)"),
    ("lstm --objective autoencoder --corpus TEXT --rate 0", "rate=0.0: a number above 0 is expected"),
    ("lstm --objective autoencoder --corpus TEXT --minutes 0", "minutes=0.0: a number above 0 is expected"),
    ("lstm lstm --objective none --corpus TEXT", "architecture 'lstm' is given twice"),
    ("lstm --objective none --corpus TEXT --jobs 0", "the number of jobs must be positive"),
    ("lstm --objective autoencoder --corpus TEXT --precision half", "there is no precision 'half'"),
    ("lstm --objective none --corpus TEXT --words 0", "words=0: at least 1 is expected"),
    ("lstm --objective none --corpus TEXT --format texd", "there is no format 'texd' (did you"),
    ("lstm --objective none --corpus TEXT --encoding utf-9", "there is no encoding 'utf-9'"),
    ("lstm --objective nli --corpus TEXT --format tsv", "--format is for files of sentences, but --obj"),
    ("lstm --objective nli --corpus TEXT --document d", "--document is for files of sentences"),
    ("lstm --objective nli --corpus TEXT --column a", "needs no column, but --column is given 1"),
    ("lstm --objective none --corpus TEXT --column a --column b", "needs 1 column, but"),
    ("lstm --objective nmt --corpus TEXT --parallel TEXT --column a", "needs 2 columns, but"),
    (
        "lstm --objective nmt --corpus TEXT --parallel TEXT --column a --column b",
        "--column is for one file that holds both",
    ),
    ("lstm --objective autoencoder --corpus TEXT --batch 0", "batch=0: at least 1 is expected"),
    ("lstm --objective none --corpus TEXT --inputs 0", "lstm: inputs=0: at least 1 is expected"),
    ("lstm --objective autoencoder --corpus TEXT --dropout 2", "dropout=2.0: a share from 0 to"),
    ("lstm --objective autoencoder --corpus TEXT --dropout -1", "dropout=-1.0: a share from 0 to"),
    ("lstm --objective autoencoder --corpus TEXT --dropout 1", "dropout=1.0: a share from 0 to"),
    ("lstm --objective nli --corpus TEXT --classes-hidden 0", "classes_hidden=0: at least 1 is"),
    ("lstm --objective nli --corpus TEXT --classes-hidden -1", "classes_hidden=-1: at least 1 is"),
    ("lstm --objective contrastive --corpus TEXT --temperature 0", "temperature=0.0: a number"),
    ("lstm --objective contrastive --corpus TEXT --temperature -1", "temperature=-1.0: a number"),
    ("lstm --objective contrastive --corpus TEXT --temperature nan", "temperature=nan: a number"),
    ("cbow --objective contrastive --corpus TRIPLETS --frozen", "no weights except word vectors, which"),
    ("cbow --objective autoencoder --corpus TEXT --frozen", "use --learned, or --objective none"),
]


IDLE = [
    ("autoencoder --drop 0.3", "--drop is for --objective denoising, not for autoencoder"),
    ("skipthought --swap 0", "--swap is for --objective denoising, not for skipthought"),
    ("nmt --neighbours", "--neighbours is for --objective skipthought, not for nmt"),
    ("nli --temperature 1", "--temperature is for --objective contrastive, not for nli"),
    ("nli --codes 9", "--codes is for --objective autoencoder, denoising, skipthought, nmt, seq2"),
    ("contrastive --codes 9", "seq2tree, meaning, not for contrastive"),
    ("none --codes 9", "seq2tree, meaning, not for none"),
    ("contrastive --dropout 0", "seq2tree, nli, meaning, next-word, not for contrastive"),
    ("autoencoder --classes-hidden 9", "--classes-hidden is for --objective nli, not for autoenc"),
    ("denoising --events 9", "--events is for --objective meaning, not for denoising"),
    ("meaning --longest 9", "--longest is for --objective none, autoencoder, denoising, skipt"),
    ("meaning --encoding utf-8", "nli, contrastive, next-word, not for meaning"),
    ("seq2tree --tokenised", "nmt, nli, contrastive, next-word, not for seq2tree"),
    ("nmt --punkt DIR", "--punkt is for --objective none, autoencoder, denoising, skipthought, next-word, not"),
    *(
        (f"none {option} 2", f"{option} is for training, but --objective none trains nothing")
        for option in (
            *("--steps", "--epochs", "--minutes", "--patience", "--validate-every", "--batch"),
            *("--validation", "--optimizer", "--rate", "--clip", "--device", "--devices"),
            "--precision",
        )
    ),
    ("autoencoder --items 9", "--items needs --probe-every"),
    ("autoencoder --task SemRole", "--task needs --probe-every"),
    ("autoencoder -c role", "--contrast needs --probe-every"),
]


MACHINES = [
    ("--device cuda:1", "--device cuda:1: leave out the number; --devices sets the number of devices"),
    ("--device gpu", "unknown device 'gpu' (did you mean 'cuda'?); known: auto, cpu, cuda, mps"),
    ("--device cuda", "device 'cuda' cannot be used: "),
    ("--device mps", "device 'mps' cannot be used: "),
    ("--devices 0", "the number of devices must be positive, not 0"),
    ("--precision bfloat16", "precision bfloat16: there are no fast instructions for it here; use auto"),
]
BEFORE_TEXTS = [
    *((f"lstm --corpus none.txt --objective {line}", message) for line, message in IDLE),
    *((f"lstm --corpus none.txt --objective autoencoder {line}", message) for line, message in MACHINES),
    ("ngram lstm --corpus TEXT", "ngram is trained alone, not with ngram, lstm"),
    ("ngram --objective none --corpus TEXT", "--objective is not for ngram"),
    ("ngram --corpus TEXT --steps 3", "--steps is not for ngram"),
    ("ngram --corpus TEXT --order 0", "--order must be positive, not 0"),
    ("ngram", "ngram learns from sentences: --corpus is missing"),
    ("ngram --corpus none.txt", "none.txt: "),
    ("ngram --corpus TEXT --out none/lm.arpa", "there is no directory none"),
]


@pytest.mark.parametrize(("line", "message"), BEFORE_TEXTS, ids=[line for line, _ in BEFORE_TEXTS])
def test_options_are_refused_before_texts_are_read(
    line: str, message: str, *, command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if devices_and_precision.has_accelerator() and line.endswith(("cuda", "mps")):
        pytest.skip("there is one")
    monkeypatch.setattr(devices_and_precision, "has_fast_bfloat16", lambda: False)
    words = [str(text) if word == "TEXT" else word for word in line.split()]
    out = [] if "--out" in words else ["--out", tmp_path / "enc"]
    check_refusal(command("train", *words, *out), message, progress=True)
    assert not (tmp_path / "enc").exists()


def test_objectives_name_existing_options() -> None:
    names = {parameter.name for parameter in load_command("probe", "train").params}
    named = {option for value in objectives.OBJECTIVES.values() for option in value.option_names}
    assert named | {*objectives.TRAINING} <= names


def test_too_many_devices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices_and_precision, "find_device", lambda _: "cuda")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    devices_and_precision.check_machine(devices_and_precision.TrainingMachine(device="cuda"))
    with pytest.raises(UsageError, match="--devices 2: only 1 cuda device available"):
        devices_and_precision.check_machine(devices_and_precision.TrainingMachine(device="cuda", devices=2))


@pytest.fixture
def places(text: Path, triplets: Path, tmp_path: Path) -> dict[str, Path]:
    """Return the files that BAD names."""
    actual = {name: tmp_path / f"{name}.txt" for name in ("EMPTY", "ONE", "VECTORS")}
    actual["EMPTY"].write_text("")
    actual["ONE"].write_text("The dog saw a cat .\n")
    actual["VECTORS"].write_text("The 1.0 2.0\ndog 3.0 4.0\n")
    return actual | {"TEXT": text, "TRIPLETS": triplets}


@pytest.mark.parametrize(("line", "message"), BAD, ids=[line for line, _ in BAD])
def test_bad_request_is_refused(train: Train, places: dict[str, Path], tmp_path: Path, line: str, message: str) -> None:
    words = [str(places.get(word, word)) for word in line.split()]
    for name, path in places.items():
        message = message.replace(name, str(path))
    outcome = train(*words, "-o", tmp_path / "encs" / "enc")
    check_refusal(outcome, message, 1 if "to learn from" in message else 2, progress=True)
    assert not (tmp_path / "encs").exists()


def test_folder_of_other_training_is_refused(train: Train, triplets: Path, text: Path, tmp_path: Path) -> None:
    enc = tmp_path / "enc"
    arguments = ("--corpus", triplets, "-o", enc, "--objective", "contrastive")
    assert train("lstm", *arguments)[0] == 0
    for words, message in (
        (("gru-uni", *arguments), "architecture 'lstm', not 'gru-uni'"),
        (("lstm", *arguments, "--rate", 0.5), "rate 0.001, not 0.5"),
        (("lstm", *arguments, "--devices", 2), "devices 1, not 2"),
        (("lstm", "--objective", "none", "--corpus", text, "-o", enc), "objective 'contrastive'"),
    ):
        check_refusal(train(*words), message, progress=True)
    other_path = tmp_path / "other"
    other_path.mkdir()
    (other_path / "letter.txt").write_text("Dear Sir")
    check_refusal(
        train("lstm", *arguments[:2], "-o", other_path, *arguments[4:]),
        "holds something else (letter.txt)",
        progress=True,
    )


def test_other_texts_are_refused(train: Train, triplets: Path, tmp_path: Path) -> None:
    arguments = ("lstm", "--objective", "contrastive", "-o", tmp_path / "enc", "--corpus")
    assert train(*arguments, triplets)[0] == 0
    other_path = tmp_path / "other.jsonl"
    other_path.write_text("".join(triplets.read_text().splitlines(keepends=True)[:20]))
    code, _, err = train(*arguments, other_path)
    assert code == 2
    assert "its training has other texts in --corpus or --parallel; choose another" in err


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)])
def test_stop_names_kept_work(
    train: Train, triplets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    code = 130 if isinstance(stop, KeyboardInterrupt) else 143

    def be_stopped(*_: object, **__: object) -> None:
        raise stop

    arguments = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o", tmp_path / "enc")
    with monkeypatch.context() as patch:
        patch.setattr("sentprobe.probes.runs.encoder_training.read_texts", be_stopped)
        exit_code, _, err = train(*arguments)
    assert (exit_code, err.splitlines()[-1]) == (code, "probe: stopped; no step was finished, so nothing is kept")
    assert train(*arguments)[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr("sentprobe.probes.runs.encoder_training.read_texts", be_stopped)
        exit_code, _, err = train(*arguments, "--steps", 9)
    assert (exit_code, err.splitlines()[-1]) == (
        code,
        f"probe: stopped; finished work is kept in {tmp_path / 'enc'}; the same command resumes from there",
    )


def test_training_keeps_its_precision(
    train: Train, triplets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    what = ("--objective", "contrastive", "--corpus", triplets, "-o", tmp_path / "enc")
    arguments = ("lstm", *what, "--device", "cpu")
    assert train(*arguments, "--steps", 2)[0] == 0
    record = json.loads((tmp_path / "enc" / "config.json").read_text())["record"]
    assert record["identity"]["precision"] == "float32"
    monkeypatch.setattr("sentprobe.probes.training.devices_and_precision.has_fast_bfloat16", lambda: False)
    assert train(*arguments, "--steps", 3, "--precision", "auto")[0] == 0
    check_refusal(
        train(*arguments, "--precision", "bfloat16"), "no fast instructions for it here; use auto", progress=True
    )
    monkeypatch.setattr("sentprobe.probes.training.devices_and_precision.has_fast_bfloat16", lambda: True)
    for precision in ("auto", "bfloat16"):
        check_refusal(train(*arguments, "--precision", precision), "precision 'float32', not 'bfloat16'", progress=True)


def test_omitted_sentences_are_recorded(train: Train, text: Path, tmp_path: Path) -> None:
    enc = tmp_path / "enc"
    arguments = ("lstm", "--objective", "none", "--corpus", text, "--longest", 5, "-o", enc)
    code, _, err = train(*arguments)
    read = "2 sentences in 1 document; 1 was left out: 1 too long"
    assert (code, f"{enc}: read {read}\n" in err) == (0, True), err
    assert json.loads((enc / "config.json").read_text())["record"]["texts"] == read


def test_file_is_read_in_named_format(train: Train, tmp_path: Path) -> None:
    path, enc = tmp_path / "texts.dat", tmp_path / "enc"
    rows = ["said\tbook", "Olé .\tone", "It ran .\tone", "Nobody saw it .\ttwo"]
    path.write_text("".join(f"{row}\n" for row in rows), "latin-1")
    arguments = ("lstm", "--objective", "none", "--corpus", path, "-o", enc)
    message = ("--format", "tsv", "--column", "said", "--document", "book", "--encoding", "latin-1")
    code, _, err = train(*arguments, *message)
    assert (code, "read 3 sentences in 2 documents; none was left out" in err) == (0, True), err
    assert "Olé" in (enc / "words.txt").read_text("utf-8").split()
    check_refusal(train(*arguments, *message[:-1], "cp1252"), "encoding 'latin-1', not 'cp1252'", progress=True)


def test_translations_are_of_named_columns(train: Train, tmp_path: Path) -> None:
    path, enc = tmp_path / "texts.tsv", tmp_path / "enc"
    path.write_text("id\tspanish\tenglish\n1\tuno\tone\n2\tdos\ttwo\n3\ttres\tthree\n")
    arguments = ("lstm", "--objective", "nmt", "--corpus", path, "--codes", 300, "--steps", 1)
    code, _, err = train(*arguments, "--column", "english", "--column", "spanish", "-o", enc)
    assert (code, "read 3 pairs; none was left out" in err) == (0, True), err
    assert sorted((enc / "words.txt").read_text().split()) == ["one", "three", "two"]


def test_pattern_names_corpus_files(train: Train, text: Path, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("A dog came .\nNobody saw it .\n")
    pattern = text.parent / "*.txt"
    check_success(train("lstm", "--objective", "none", "--corpus", pattern, "-o", tmp_path / "enc"))
    assert "Nobody" in (tmp_path / "enc" / "words.txt").read_text().split()


def test_words_without_vector_are_counted(
    train: Train, text: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    vectors = tmp_path / "v.vec"
    vectors.write_text("The 1 2 3\ncat 4 5 6\n")
    arguments = ("--objective", "none", "--corpus", text, "--vectors", vectors, "-o", tmp_path / "enc")
    check_success(train("lstm", *arguments))
    assert f"8 of 10 words have no vector in {vectors} and get random vectors: " in caplog.text


def test_vector_file_is_read_once(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, read = tmp_path / "v.vec", []
    vectors.write_text("The 1 2 3\ncat 4 5 6\n")

    def counted(path: Path) -> WordVectors:
        read.append(path)
        return read_word_vectors(path)

    monkeypatch.setattr("sentprobe.probes.runs.encoder_training.read_word_vectors", counted)
    arguments = ("--objective", "none", "--corpus", text, "--vectors", vectors, "--hidden", 4)
    code, _, err = command("train", "lstm", *arguments, "--seeds", 2, "-o", tmp_path / "enc")
    assert (code, read) == (0, [vectors]), err
    monkeypatch.setattr("sentprobe.probes.runs.encoder_training._read_once", None)
    assert command("train", "lstm", *arguments, "--seeds", 2, "-o", tmp_path / "enc")[0] == 0
    assert read == [vectors]  # all was over


def test_stopped_training_resumes_from_last_step(train: Train, triplets: Path, tmp_path: Path) -> None:
    arguments = ("lstm", "--objective", "contrastive", "--corpus", triplets, "--validate-every", 4)
    assert train(*arguments, "-o", tmp_path / "whole")[0] == 0
    enc, usual = tmp_path / "enc", torch.optim.Adam.step

    def stopped(optimizer: torch.optim.Adam) -> None:
        usual(optimizer)
        if len(optimizer.state) and next(iter(optimizer.state.values()))["step"] == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with mock.patch.object(torch.optim.Adam, "step", stopped):
        code, out, err = train(*arguments, "-o", enc)
    message = f"finished work is kept in {enc}; the same command resumes from there"
    assert (code, out, err.splitlines()[-1]) == (130, "", f"probe: stopped; {message}")
    state = json.loads((enc / "checkpoint" / "state.json").read_text())["state"]
    assert (state["step"], state["best"]) == (3, None)
    assert train(*arguments, "-o", enc)[0] == 0
    assert contents(enc, *WEIGHTS) == contents(tmp_path / "whole", *WEIGHTS)


def test_trained_language_models_are_scored(command: Command, train: Train, text: Path, tmp_path: Path) -> None:
    pair = {"sentence_good": "The dog ran .", "sentence_bad": "The ran dog .", "UID": "order"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    lstm, arpa = tmp_path / "lm", tmp_path / "lm.arpa"
    check_success(train("lstm-lm", "--inputs", 4, "--corpus", text, "-o", lstm))
    assert json.loads((lstm / "config.json").read_text())["record"]["objective"] == "next-word"
    code, out, err = command("train", "ngram", "--corpus", text, "--order", 2, "--lower", "-o", arpa)
    assert (code, out) == (
        0,
        f"{arpa}: n-grams of up to 2 words, from 3 sentences in 1 document; none was left out\n",
    ), err
    models = (lstm, f"ngram:{arpa}?lower=yes&name=bigrams")
    out = check_success(command("lm", *models, "--pairs", tmp_path / "pairs.jsonl", "-f", "json"))
    assert {r["model"]: r["accuracy"] for r in json.loads(out) if r["model"]}["bigrams"] == 1.0


@given(st.integers(0, 10**18 - 1), st.integers(0, 5000))
def test_step_interval_has_at_most_18_digits(number: int, zeros: int) -> None:
    text = str(number) + "0" * zeros
    if len(text) <= 18 and number:
        assert parse_step_interval(text, "--probe-every").steps == number * 10**zeros
    else:
        with pytest.raises(UsageError, match="a number of steps from 1, or epoch, is expected"):
            parse_step_interval(text, "--probe-every")
