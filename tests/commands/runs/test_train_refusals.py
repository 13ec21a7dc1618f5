"""The command ``probe train``: what it refuses before a text is read, in one sentence."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from in_process import Command
from train_command import Train

from sentprobe.cli import load_command
from sentprobe.errors import UsageError
from sentprobe.probes.pretraining import devices_and_precision, objectives
from sentprobe.probes.pretraining.schedule import parse_step_interval

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")

BAD = [
    ("lstmm --objective none --corpus TEXT", "there is no architecture 'lstmm' (did you mean 'lst"),
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


@pytest.mark.parametrize(("line", "said"), IDLE, ids=[line for line, _ in IDLE])
def test_what_would_do_nothing_is_refused(command: Command, tmp_path: Path, line: str, said: str) -> None:
    arguments = ("lstm", "--corpus", "none.txt", "-o", tmp_path / "enc", "--objective")
    code, out, err = command("train", *arguments, *line.split())
    assert (code, out) == (2, "")
    assert said in err
    assert not (tmp_path / "enc").exists()


def test_the_table_of_objectives_names_options_that_there_are() -> None:
    names = {parameter.name for parameter in load_command("probe", "train").params}
    named = {option for value in objectives.OBJECTIVES.values() for option in value.option_names}
    assert named | {*objectives.TRAINING} <= names


MACHINES = [
    ("--device cuda:1", "--device cuda:1: leave out the number; --devices sets the number of devices"),
    ("--device gpu", "unknown device 'gpu' (did you mean 'cuda'?); known: auto, cpu, cuda, mps"),
    ("--device cuda", "device 'cuda' cannot be used: "),
    ("--device mps", "device 'mps' cannot be used: "),
    ("--devices 0", "the number of devices must be positive, not 0"),
    ("--precision bfloat16", "precision bfloat16: there are no fast instructions for it here; use auto"),
]


@pytest.mark.parametrize(("line", "said"), MACHINES, ids=[line for line, _ in MACHINES])
def test_a_machine_that_is_not_here_is_refused_before_a_text_is_read(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    if devices_and_precision.has_accelerator() and line.endswith(("cuda", "mps")):
        pytest.skip("there is one")
    monkeypatch.setattr(devices_and_precision, "has_fast_bfloat16", lambda: False)
    arguments = ("lstm", "--corpus", "none.txt", "-o", tmp_path / "enc", "--objective", "autoencoder")
    code, out, err = command("train", *arguments, *line.split())
    assert (code, out) == (2, "")
    assert said in err
    assert not (tmp_path / "enc").exists()


def test_more_devices_than_there_are_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_what_cannot_be_is_refused_in_a_sentence(
    train: Train, places: dict[str, Path], tmp_path: Path, line: str, message: str
) -> None:
    words = [str(places.get(word, word)) for word in line.split()]
    code, out, err = train(*words, "-o", tmp_path / "encs" / "enc")
    assert (code, out) == (1 if "to learn from" in message else 2, "")
    assert not (tmp_path / "encs").exists()
    for name, path in places.items():
        message = message.replace(name, str(path))
    last = err.splitlines()[-1]
    assert last.startswith("probe: ")
    assert message in last


@given(st.integers(0, 10**18 - 1), st.integers(0, 5000))
def test_a_number_of_steps_has_at_most_18_digits(number: int, zeros: int) -> None:
    text = str(number) + "0" * zeros
    if len(text) <= 18 and number:
        assert parse_step_interval(text, "--probe-every").steps == number * 10**zeros
    else:
        with pytest.raises(UsageError, match="a number of steps from 1, or epoch, is expected"):
            parse_step_interval(text, "--probe-every")
