"""Specs without a kind: what a folder, a file or a name is read as, and what is refused."""

import gzip
import json
import lzma
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from helpers.encoders.model_files import packaged_model, save_cross_encoder, tiny_model
from helpers.in_process import Command, check_refusal, check_success

from sentprobe.common.errors import UsageError
from sentprobe.probes.encoders.kinds import list_kind_names, read_spec
from sentprobe.probes.encoders.models import model_loading
from sentprobe.probes.encoders.vector_formats import read_vectors
from sentprobe.probes.results.store import read_results

HUB = "a model on the Hugging Face hub, which needs the network unless it is in the hub's local cache"
LOOKUP, WORDS = "0\tthe man slept\t1 2\n", "the 1 2\nman 3 4\n"


@pytest.fixture
def files(working_folder: Path) -> Path:
    for name, text in {"lookup.tsv": LOOKUP, "words.txt": WORDS, "odd.txt": "the man slept\n", "m.vec": WORDS,
                       "empty.txt": "", "odd.json": "{}", "m.arpa": "",
                       "broken.txt.gz": "no gzip"}.items():  # fmt: skip
        Path(name).write_text(text)
    Path("lookup.txt.xz").write_bytes(lzma.compress(LOOKUP.encode()))
    Path("words.txt.gz").write_bytes(gzip.compress(b"2 2\n" + WORDS.encode()))
    Path("broken.npz").write_bytes(b"PK")
    np.save("v.npy", np.ones((1, 2), np.float32))
    np.savez("v.npz", vectors=np.ones((1, 2), np.float32), sentences=["the man slept"])
    np.savez("other.npz", weights=np.ones(2))
    for name, config in {"bert": {"model_type": "bert"}, "gpt": {"architectures": ["GPT2LMHeadModel"]},
                         "ce": {"architectures": ["BertForSequenceClassification"]}, "other": {"dim": 3},
                         "list": [1], "both/st": {"model_type": "bert"},
                         "both/ce": {"architectures": 3}, "three": {"architectures": 3}}.items():  # fmt: skip
        folder = Path(name)
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(config))
    Path("both/st/modules.json").write_text("[]")
    Path("st").mkdir()
    Path("st/modules.json").write_text("[]")
    Path("skip").mkdir()
    Path("skip/utable.npy").touch()
    return working_folder


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("text", "spec", "reason"),
    [
        ("./bert", "hf:./bert", "a folder with the config.json of a transformers model"),
        ("gpt/?layer=1&name=g", "hf:gpt/?layer=1&name=g", "a folder with the config.json of a transformers model"),
        ("three", "hf:three", "a folder with the config.json of a transformers model"),
        ("ce", "hf:ce", "a folder with the config.json of a transformers model"),
        ("./st", "st:./st", "a folder with modules.json, of sentence-transformers"),
        ("both/st", "st:both/st", "a folder with modules.json, of sentence-transformers"),
        ("skip", "skipthought:skip", "a folder with Skip-Thought's tables"),
        ("v.npy?sentences=s.txt", "file:v.npy?sentences=s.txt", "a file of sentence vectors"),
        ("v.npz", "file:v.npz", "a file of sentence vectors"),
        ("lookup.tsv", "file:lookup.tsv", "a file of sentence vectors"),
        ("lookup.txt.xz", "file:lookup.txt.xz", "a file of sentence vectors"),
        ("words.txt", "bow:words.txt", "a file of word vectors"),
        ("words.txt.gz", "bow:words.txt.gz", "a file of word vectors"),
        ("m.vec", "bow:m.vec", "a file of word vectors"),
        ("all-MiniLM-L6-v2", "st:all-MiniLM-L6-v2", HUB),
        ("org/name?name=x", "st:org/name?name=x", HUB),
        ("gpt2", "st:gpt2", HUB),
    ],
)
def test_kind_is_recognised(text: str, spec: str, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    assert str(read_spec(text)) == spec
    assert [record.getMessage() for record in caplog.records] == [f"{text} is read as {spec}: {reason}"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "text", ["st:./bert", "bow:v.npy", "bow", "file:words.txt", "st", "trianed:enc/", "a b", "bilstm-mx"]
)
def test_other_specs_stay(text: str, caplog: pytest.LogCaptureFixture) -> None:
    """A spec with a kind stays, even if a folder has its name; so does a mistyped kind, which the caller reports."""
    assert str(read_spec(text)) == text
    assert not caplog.records


UNSURE = "its kind cannot be told from its ending or content; write"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("odd.txt", f"odd.txt: {UNSURE} file:odd.txt or bow:odd.txt"),
        ("empty.txt", f"empty.txt: {UNSURE} file:empty.txt or bow:empty.txt"),
        ("broken.txt.gz", f"broken.txt.gz: {UNSURE} file:broken.txt.gz or bow:broken.txt.gz"),
        ("odd.json", f"odd.json: {UNSURE} file:odd.json or bow:odd.json"),
        ("m.arpa", f"m.arpa: {UNSURE} file:m.arpa or bow:m.arpa"),
        ("other.npz", f"other.npz: {UNSURE} file:other.npz or sdae:other.npz"),
        ("broken.npz", f"broken.npz: {UNSURE} file:broken.npz or sdae:broken.npz"),
        ("other", "other: not the folder of a model: probe train did not write it, and it has neither modules.json"),
        ("list", "list: not the folder of a model"),
        ("both", "config.json with architectures or model_type; it contains ce, st: name one of them"),
        ("bert/none", "bert/none: there is no such file or folder in bert; write its right path, or st:bert/none"),
        ("./none", "none: there is no such file or folder"),
        ("~no-such-user/m", "~no-such-user/m: there is no such file or folder"),
        ("a/b/c", "a/b/c: there is no such file or folder"),
        ("none.npy", "none.npy: there is no such file or folder"),
        ("/" + "x" * 300, " cannot read it: File name too long"),
    ],
)  # fmt: skip
def test_unclear_path_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_spec(text)
    assert message in str(caught.value)


@pytest.mark.usefixtures("files")
def test_pipe_is_not_read() -> None:
    """Reading a pipe to recognise its content would leave nothing for the encoder; opening it would wait."""
    os.mkfifo("pipe.txt")
    with pytest.raises(UsageError, match=r"write file:pipe\.txt or bow:pipe\.txt"):
        read_spec("pipe.txt")


@pytest.mark.usefixtures("files")
def test_gate_also_knows_cross_encoders() -> None:
    kinds = [*list_kind_names(), "ce"]
    with pytest.raises(UsageError, match=r"can score pairs \(ce\) or give vectors \(hf\); write ce:\./ce or hf:\./ce"):
        read_spec("./ce", kinds)
    Path("ce/modules.json").write_text("[]")
    assert str(read_spec("./ce", kinds)) == "ce:./ce"
    assert str(read_spec("./ce")) == "hf:./ce"
    assert str(read_spec("cross-encoder/stsb", kinds)) == "ce:cross-encoder/stsb"


SMALL = ("compeval", "--task", "Order", "--train", 56, "--test", 28, "--set", "max_epochs=1", "--no-cache", "--jobs", 1)


def test_run_stores_whole_spec(working_folder: Path, command: Command) -> None:
    tiny_model(working_folder / "bert", kind="Bert")
    Path("words.txt").write_text(WORDS)
    bare = ("-e", "./bert", "--probe-vectors", "words.txt")
    check_success(command("run", *SMALL, *bare, "--no-controls", "--out", "bare"))
    whole = ("-e", "hf:./bert", "--probe-vectors", "bow:words.txt")
    assert "1 result found" in command("run", *SMALL, *whole, "--no-controls", "--out", "bare")[2]
    assert read_results(Path("bare")).encoders == ("hf:./bert",)
    settings = tomllib.loads(Path("bare/run.toml").read_text())
    assert (settings["encoder"], settings["probe-vectors"]) == (["hf:./bert"], "bow:words.txt")


@pytest.mark.slow
def test_other_commands_read_paths(working_folder: Path, command: Command) -> None:
    model = shutil.copytree(packaged_model(), working_folder / "minilm")
    Path("s.txt").write_text("the man slept\n")
    for encoder in ("./minilm", f"st:{model}"):
        check_success(command("embed", "s.txt", "-e", encoder, "-o", f"{len(encoder)}.npy", "--no-cache"))
    first, second = (read_vectors(path).vectors for path in sorted(Path().glob("*.npy")))
    np.testing.assert_array_equal(first, second)
    triplets = ("-c", "role", "-n", 20, "--no-cache", "-f", "json")
    for name, words in {"geometry": ("-e", "minilm"), "gate": ("minilm", "--then", "./minilm")}.items():
        whole = [f"st:{word}" if "minilm" in word else word for word in words]
        shown, expected = (check_success(command(name, *line, *triplets)) for line in (words, whole))
        assert _remove_speeds(shown) == _remove_speeds(expected)
        assert "st:" in expected


def _remove_speeds(text: str) -> list[str]:
    """Remove the digest with them, which is of all values, speeds too."""
    return [line for line in text.splitlines() if "_per_second" not in line and '"digest"' not in line]


def test_line_on_stderr_says_so(working_folder: Path) -> None:
    save_cross_encoder(working_folder / "ce", ("score",))
    code = "import sys; from sentprobe.cli import probe; sys.argv[0] = 'probe'; probe()"
    line = [sys.executable, "-c", code, "gate", "./ce", "-c", "role", "-n", "20", "--no-cache"]
    spellings = "ce:./ce or hf:./ce"
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"probe: ./ce: its model can score pairs (ce) or give vectors (hf); write {spellings}\n"
    line[4] = "./words.txt"
    Path("words.txt").write_text(WORDS)
    done = subprocess.run([*line, "--draws", "2"], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[0] == "./words.txt is read as bow:./words.txt: a file of word vectors"
    assert done.stderr.count("is read as") == 1


@pytest.mark.parametrize("arguments", [("run", *SMALL, "-e"), ("geometry", "-e"), ("gate",), ("lm", "-p", "all")])
def test_hub_name_is_said_to_need_network(
    arguments: tuple[object, ...], command: Command, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fetch(names: list[str], *, revision: str) -> Path:
        raise model_loading.UnknownModelError(f"asked for {names[-1]}{revision}")

    monkeypatch.setattr(model_loading, "_fetch_model", fetch)
    outcome = command(*arguments, "some/model-v2")
    check_refusal(outcome, "probe: asked for some/model-v2", progress=True)
    kind = "hf" if arguments[0] == "lm" else "st"
    reading = f"some/model-v2 is read as {kind}:some/model-v2: {HUB}"
    assert [record.getMessage() for record in caplog.records] == [reading]


def test_mistyped_kind_is_no_hub_name(command: Command) -> None:
    outcome = command("run", *SMALL, "-e", "bilstm-mx")
    check_refusal(outcome, "unknown encoder 'bilstm-mx' (did you mean 'bilstm-max'?); known: bow, ")
    check_refusal(outcome, "; a model on the Hugging Face hub is written st:bilstm-mx")
    check_refusal(command("lm", "ngrm", "-p", "all"), "unknown language model 'ngrm' (did you mean 'ngram'?)")
