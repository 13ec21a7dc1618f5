"""Probe words as word vectors, in a run: what is used, said, shared, kept and refused."""

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import Command
from probe_strategies import Counting, learnable

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import Items
from sentprobe.probes.encoders import EncoderError, make_encoder
from sentprobe.probes.report.sanity import sanity_runs
from sentprobe.probes.report.tables import CellStyle, explain, grid, settings
from sentprobe.probes.runs.results import Condition, Results
from sentprobe.probes.runs.run import run
from sentprobe.probes.runs.store import file_name, read_results
from sentprobe.probes.runs.word_source import encode_words, make_source, parse_source
from sentprobe.probes.trainer import fit as trainer
from sentprobe.probes.trainer.presets import find_preset

FAST = replace(find_preset("ettinger"), max_epochs=3)
DATA = learnable(name="one", size=40)
BARE = replace(
    learnable(name="bare", size=40),
    probe_words=(),
    splits={
        split: Items(items.rows, [], items.targets)  # type: ignore[arg-type]
        for split, items in learnable(name="bare", size=40).splits.items()
    },
)

ALL_ROWS = CellStyle(all_rows=True)


def bow(dim: int = 8) -> Any:
    return make_encoder(f"bow?dim={dim}", seed=0)


def timeless(results: Results) -> list[Any]:
    return [replace(record, seconds={}, source="") for record in results.records]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The word vectors of each fit."""
    seen = []
    fit = trainer.fit

    def spying(*args: Any, **kwargs: Any) -> Any:
        seen.append(kwargs["word_vectors"])
        return fit(*args, **kwargs)

    monkeypatch.setattr(trainer, "fit", spying)
    return seen


def test_the_encoder_itself_encodes_the_words(given: list[Any]) -> None:
    encoder = Counting(bow())
    (record,) = run([DATA], [encoder], preset=FAST, probe_vectors="encoder").records
    assert set(DATA.probe_words) <= set(encoder.seen)
    expected = bow().encode(DATA.probe_words)
    assert len(given) == 5
    for each in given:
        np.testing.assert_array_equal(each, expected)
    assert record.probe_vectors == "encoder"
    assert record.probe_fingerprint


def test_another_encoder_encodes_the_words_for_all(given: list[Any]) -> None:
    made = run([DATA], [bow(8), bow(9)], preset=FAST, probe_vectors="bow?dim=5&seed=3")
    for each in given:
        np.testing.assert_array_equal(
            each, make_encoder("bow?dim=5&seed=3").encode(DATA.probe_words)
        )
    assert {record.probe_vectors for record in made.records} == {"bow?dim=5&seed=3"}
    assert len({record.probe_fingerprint for record in made.records}) == 1
    assert "Probe words are word vectors: those of bow?dim=5&seed=3." in explain(made)


def test_an_encoder_at_hand() -> None:
    (record,) = run([DATA], [bow()], preset=FAST, probe_vectors=bow(4)).records
    assert record.probe_vectors == "bow?dim=4"


@pytest.mark.parametrize("kind", ["lstm", "bilstm-max", "gated-conv", "gru-bi"])
def test_words_are_the_vectors_by_which_an_encoder_reads_them(given: list[Any], kind: str) -> None:
    encoder = make_encoder(f"{kind}?dim=5&hidden=4", seed=2)
    made = run([DATA], [encoder], preset=FAST, probe_vectors="encoder", controls=False)
    expected = make_encoder("bow?dim=5", seed=2).encode(DATA.probe_words)
    for each in given:
        np.testing.assert_array_equal(each, expected)
    assert [record.input_words for record in made.records] == [True]
    assert f"Of {encoder.name} they are the vectors by which it reads words" in explain(made)


def test_those_of_an_encoder_that_does_not_say_are_of_the_word_alone() -> None:
    made = run(
        [DATA], [Counting(bow()), bow(9)], preset=FAST, probe_vectors="encoder", controls=False
    )
    assert [record.input_words for record in made.records] == [False, True]
    told = explain(made)
    assert f"Of {made.records[0].encoder} they are what it makes of the word alone." in told
    assert "Of bow?dim=9 they are the vectors by which it reads words (input vectors)." in told
    assert len(settings(made)) == 1


def test_results_of_an_older_version_with_words_encoded_alone_are_another_table() -> None:
    encoder = make_encoder("lstm?dim=5&hidden=4")
    (new,) = run([DATA], [encoder], preset=FAST, probe_vectors="encoder", controls=False).records
    old = replace(new, probe_fingerprint="0" * 64, input_words=False)
    assert len(settings(Results((old, new)))) == 2
    assert len(settings(Results((new, new)))) == 1


def test_words_of_stored_vectors_are_cut_where_they_are_wider() -> None:
    words = ["w0", "w1"]
    whole = make_encoder("bow?dim=5").encode(words)
    for spec, width in (("dim=5&dims=3", 3), ("dim=5&hidden=4&dims=7", 5)):
        kind = "bow" if width == 3 else "bilstm-max"
        found = encode_words(make_encoder(f"{kind}?{spec}"), words)
        np.testing.assert_array_equal(found, whole[:, :width])


def test_one_hot_is_what_is_used_and_said_otherwise(given: list[Any]) -> None:
    (record,) = run([DATA], [bow()], preset=FAST).records
    assert len(given) == 4  # bow is what the bag of words is, and stands for both
    assert all(each is None for each in given)
    assert (record.probe_vectors, record.probe_fingerprint) == ("one-hot", "")
    assert Results((record,)).to_records()[0]["probe_vectors"] == "one-hot"


def test_controls_with_words_of_different_encoders_are_not_shared() -> None:
    """Of equal width, but each with word vectors of its own; one encoder's would do for both."""
    other = make_encoder("bow?dim=8&seed=5")
    own = run([DATA], [bow(), other], preset=FAST, probe_vectors="encoder")
    shared = run([DATA], [bow(), other], preset=FAST, probe_vectors="bow?dim=3")
    for made, count in ((own, 2), (shared, 1)):
        runs = sanity_runs(made)
        for condition in (c for c in Condition if c in (Condition.NO_SENTENCE, "random-sentences")):
            assert sum(each.condition is condition for each in runs) == count
    labels = [row.label for row in grid(own, style=ALL_ROWS).rows]
    assert "random sentences, dim 8, words of bow?dim=8" in labels
    assert "no sentence, words of bow?dim=8&seed=5" in labels
    assert "no sentence" in [row.label for row in grid(shared, style=ALL_ROWS).rows]


def test_representations_are_kept_apart(tmp_path: Path) -> None:
    for source in ("one-hot", "encoder", "bow?dim=3"):
        run([DATA], [bow()], preset=FAST, out=tmp_path, probe_vectors=source)
    read = read_results(tmp_path)
    assert sorted(each.probe_vectors for each in read.records) == [
        "bow?dim=3",
        "encoder",
        "one-hot",
    ]
    assert len(settings(read)) == 3
    one_hot = next(each for each in read.records if each.probe_vectors == "one-hot")
    assert file_name(replace(one_hot, probe_vectors="")) == file_name(one_hot)  # as it ever was


def test_a_run_goes_on(tmp_path: Path, given: list[Any]) -> None:
    run([DATA], [bow()], preset=FAST, out=tmp_path, probe_vectors="encoder")
    before = len(given)
    run([DATA], [bow()], preset=FAST, out=tmp_path, probe_vectors="encoder")
    assert len(given) == before
    both = run([DATA], [bow()], preset=FAST, out=tmp_path, probe_vectors="encoder", seeds=2)
    assert timeless(both) == timeless(
        run([DATA], [bow()], preset=FAST, probe_vectors="encoder", seeds=2)
    )


def test_vectors_of_sentences_alone_say_what_else_there_is(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, sentences=np.array(DATA.sentences), vectors=np.eye(len(DATA.sentences)))
    encoder = make_encoder(f"file:{path}")
    message = r"^probe words: .*no vector for .*; --probe-vectors one-hot needs none$"
    with pytest.raises(EncoderError, match=message):
        run([DATA], [encoder], preset=FAST, probe_vectors="encoder")


def test_files_for_other_processes_hold_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    one = run([DATA, BARE], [bow()], preset=FAST, probe_vectors="encoder")
    with ThreadPoolExecutor(1) as pool:  # quicker than processes, and has the vectors from files
        monkeypatch.setattr("sentprobe.engines.workers", lambda _: nullcontext(pool))
        two = run([DATA, BARE], [bow()], preset=FAST, probe_vectors="encoder")
    assert timeless(one) == timeless(two)


def test_a_task_without_probe_words_is_in_the_same_table() -> None:
    made = run([DATA, BARE], [bow()], preset=FAST, probe_vectors="encoder")
    assert [record.probe_vectors for record in made.records] == ["encoder", ""]
    assert len(settings(made)) == 1


def test_word_vectors_without_probe_words_are_refused() -> None:
    with pytest.raises(UsageError, match="bow: none of the tasks has probe words"):
        run([BARE], [bow()], preset=FAST, probe_vectors="bow")


def word_file(tmp_path: Path) -> str:
    (tmp_path / "words.txt").write_text("w1 1 2\nw3 3 4\n", encoding="utf-8")
    return f"bow:{tmp_path / 'words.txt'}"


def test_words_without_a_vector_are_zero(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    encoder = make_encoder(word_file(tmp_path))
    with caplog.at_level(logging.WARNING):
        vectors = encode_words(encoder, ["w0", "w1", "w2", "w3"])
    assert vectors.tolist() == [[0, 0], [1, 2], [0, 0], [3, 4]]
    assert "2 of 4 probe words have no vector in bow:" in caplog.text
    assert "and are all 0: w0, w2" in caplog.text
    with pytest.raises(EncoderError, match="none of the 2 probe words has a vector"):
        encode_words(encoder, ["w0", "w2"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("onehot", "unknown probe vectors 'onehot' (did you mean 'one-hot'?); wanted: one-hot, "),
        ("encodr", "did you mean 'encoder'?"),
        ("", "unknown probe vectors ''; wanted: one-hot, encoder, or the spec of an encoder"),
        ("st", "encoder 'st' wants an argument"),
    ],
)
def test_unknown_sources_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_source(text)
    assert message in str(caught.value)


def test_a_baseline_gives_no_word_vectors() -> None:
    with pytest.raises(UsageError, match="'majority' is a baseline, which has no vectors"):
        make_source("majority", seed=0)


def test_probe_vectors_on_the_command_line(command: Command, tmp_path: Path) -> None:
    small = ("compeval", "--task", "Order", "--train", 400, "--test", 56, "-e", "bow?dim=8")
    options = ("--set", "max_epochs=2", "--jobs", 1, "--probe-vectors", "encoder")
    code, out, _ = command("run", *small, *options, "--all-rows", "--out", tmp_path / "run")
    assert code == 0
    assert "no sentence, words of bow?dim=8" in out
    assert "Probe words are word vectors: the encoder's own of each word." in out
    code, _, err = command("run", *small, "--probe-vectors", "one_hot")
    assert (code, err.count("\n")) == (2, 1)
    assert "unknown probe vectors 'one_hot' (did you mean 'one-hot'?)" in err
