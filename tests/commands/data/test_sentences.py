"""The command ``probe sentences``, and runs with vectors of its sentences."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.in_process import Command
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.commands.embed import WRITERS, SentenceFormat
from sentprobe.common.errors import UsageError
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.kinds import make_encoder

SMALL = ("--task", "Order", "--train", 40, "--test", 20, "--seed", 5)
RUN = ("--no-controls", "--jobs", 1, "--no-cache", "--set", "max_epochs=3", "--preset", "ettinger")


def encode_elsewhere(sentences: list[str], out: Path) -> None:
    """What a person's own tool does, which knows the sentences alone."""
    np.save(out, make_encoder("bow?dim=6&seed=1").encode(sentences))


@pytest.mark.parametrize("suffix", ["txt", "jsonl"])
@pytest.mark.parametrize("named", [False, True])
def test_sentences_go_out_and_vectors_come_back(tmp_path: Path, command: Command, suffix: str, *, named: bool) -> None:
    listed, vectors = tmp_path / "made" / f"sentences.{suffix}", tmp_path / "vectors.npy"
    code, stderr, _ = command("sentences", "compeval", *SMALL, "--out", listed)
    lines = listed.read_text("utf-8").splitlines()
    assert (code, stderr) == (0, f"{listed}: {len(lines)} sentences\n")
    sentences = [json.loads(line)["sentence"] for line in lines] if suffix == "jsonl" else lines
    assert len(set(sentences)) == len(sentences) == 30
    encode_elsewhere(sentences, vectors)
    spec = f"file:{vectors}?sentences={listed}" if named else f"file:{vectors}"
    results = tmp_path / "results"
    code, _, err = command("run", "compeval", *SMALL, *RUN, "-e", spec, "-o", results)
    assert code == 0, err
    assert command("run", "compeval", *SMALL, *RUN, "-e", "bow?dim=6&seed=1", "-o", results)[0] == 0
    shown = json.loads(command("show", results, "-f", "json")[1])
    assert len({record["accuracy"] for record in shown if record["condition"] == "probe"}) == 1
    assert len({record["encoder"] for record in shown}) == 2


def test_the_order_of_several_targets_is_theirs(tmp_path: Path, command: Command) -> None:
    both = [make_learnable_dataset(name=name, seed=seed, size=40) for seed, name in enumerate(("two", "one"))]
    for data in both:
        write_dataset(data, tmp_path / data.name)
    code, out, _ = command("sentences", *(tmp_path / data.name for data in both))
    assert code == 0
    expected = dict.fromkeys(text for data in both for text in data.sentences)
    assert out.splitlines() == [*expected]
    assert command("sentences", *(tmp_path / data.name for data in both))[1] == out


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_every_line_of_json_has_its_sentence(texts: list[str]) -> None:
    lines = list(WRITERS[SentenceFormat.JSONL](texts))
    assert [json.loads(line) for line in lines] == [{"sentence": text} for text in texts]
    assert all(line.index("\n") == len(line) - 1 for line in lines)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_sentence_is_one_line_of_text_or_refused(texts: list[str]) -> None:
    if any(not text or "\n" in text or "\r" in text for text in texts):
        with pytest.raises(UsageError, match="does not fit a line; use --format jsonl"):
            list(WRITERS[SentenceFormat.TEXT](texts))
    else:
        assert "".join(WRITERS[SentenceFormat.TEXT](texts)).split("\n") == [*texts, ""]


def test_bad_requests(tmp_path: Path, command: Command) -> None:
    data = tmp_path / "toy.jsonl"
    write_dataset(make_learnable_dataset(size=40), data)
    cases: list[tuple[list[object], str]] = [
        (["compeval", "-f", "txt"], "there is no format 'txt' (did you mean 'text'?)"),
        (["compevl"], "there is no suite 'compevl' (did you mean 'compeval'?)"),
        (["compeval", "--task", "Ordr"], "there is no compeval task 'Ordr' (did you mean 'Order'"),
        (["natural"], "the suite natural needs the table of a corpus"),
        ([data, "--train", 8], "--train is for the suite compeval, structure or natural, not for"),
        ([data, "--out", data], "toy.jsonl: is an input"),
        ([data, "--out", tmp_path], "is a directory, not a file to write"),
    ]
    for arguments, message in cases:
        code, out, err = command("sentences", *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), (arguments, err)
        assert message in err


def test_a_sentence_of_two_lines_is_written_as_one(tmp_path: Path, command: Command) -> None:
    data = tmp_path / "mine.csv"
    rows = [f'"one\ntwo{n}",{n % 2},{split}' for split in ("train", "test") for n in range(4)]
    data.write_text("\n".join(["text,label,split", *rows]))
    code, out, _ = command("sentences", data)
    assert (code, out.splitlines()) == (0, [f"one two{n}" for n in range(4)])
