"""Probe words as word vectors in a run: use, notes, sharing, storage and errors."""

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.in_process import Command
from helpers.strategies.probe_strategies import CountingEncoder, make_learnable_dataset

from sentprobe.common.errors import UsageError
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import Items
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.reports.control_verdicts import find_controls
from sentprobe.probes.reports.tables.main_table import CellStyle, build_grid, split_settings
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Results
from sentprobe.probes.results.store import make_file_name, read_results
from sentprobe.probes.runs.controls import encode_words, make_word_source, parse_word_source
from sentprobe.probes.runs.run import run

FAST = replace(find_preset("ettinger"), max_epochs=3)
DATA = make_learnable_dataset(name="one", size=40)
BARE = replace(
    make_learnable_dataset(name="bare", size=40),
    probe_words=(),
    splits={
        split: Items(items.rows, [], items.targets)  # type: ignore[arg-type]
        for split, items in make_learnable_dataset(name="bare", size=40).splits.items()
    },
)

ALL_ROWS = CellStyle(all_rows=True)


def make_bow(dim: int = 8) -> Any:
    return make_encoder(f"bow?dim={dim}", seed=0)


def drop_seconds(results: Results) -> list[Any]:
    return [replace(record, seconds={}, source="") for record in results.records]


def list_word_vectors(fits: list[dict[str, Any]]) -> list[Any]:
    return [call["word_vectors"] for call in fits]


def test_encoder_itself_encodes_the_words(fits: list[dict[str, Any]]) -> None:
    encoder = CountingEncoder(make_bow())
    (record,) = run([DATA], [encoder], preset=FAST, probe_vectors="encoder").records
    assert set(DATA.probe_words) <= set(encoder.encoded_texts)
    expected = make_bow().encode(DATA.probe_words)
    assert len(fits) == len(USUAL_CONDITIONS)
    for vectors in list_word_vectors(fits):
        np.testing.assert_array_equal(vectors, expected)
    assert record.probe_vectors == "encoder"
    assert record.probe_fingerprint


def test_other_encoder_encodes_words_for_all(fits: list[dict[str, Any]]) -> None:
    results = run([DATA], [make_bow(8), make_bow(9)], preset=FAST, probe_vectors="bow?dim=5&seed=3")
    for vectors in list_word_vectors(fits):
        np.testing.assert_array_equal(vectors, make_encoder("bow?dim=5&seed=3").encode(DATA.probe_words))
    assert {record.probe_vectors for record in results.records} == {"bow?dim=5&seed=3"}
    assert len({record.probe_fingerprint for record in results.records}) == 1
    assert "Probe words are represented by word vectors of bow?dim=5&seed=3." in describe_all(results)


def test_encoder_at_hand() -> None:
    (record,) = run([DATA], [make_bow()], preset=FAST, probe_vectors=make_bow(4)).records
    assert record.probe_vectors == "bow?dim=4"


@pytest.mark.parametrize("kind", ["lstm", "bilstm-max", "gated-conv", "gru-bi"])
def test_words_are_input_embeddings_of_encoder(fits: list[dict[str, Any]], kind: str) -> None:
    encoder = make_encoder(f"{kind}?dim=5&hidden=4", seed=2)
    results = run([DATA], [encoder], preset=FAST, probe_vectors="encoder", controls=False)
    expected = make_encoder("bow?dim=5", seed=2).encode(DATA.probe_words)
    for vectors in list_word_vectors(fits):
        np.testing.assert_array_equal(vectors, expected)
    assert [record.input_words for record in results.records] == [True]
    assert f"Word vectors of {encoder.name}: its input embeddings." in describe_all(results)


def test_words_of_other_encoders_are_encodings() -> None:
    results = run(
        [DATA], [CountingEncoder(make_bow()), make_bow(9)], preset=FAST, probe_vectors="encoder", controls=False
    )
    assert [record.input_words for record in results.records] == [False, True]
    notes = describe_all(results)
    assert f"Word vectors of {results.records[0].encoder}: its encodings of single words." in notes
    assert "Word vectors of bow?dim=9: its input embeddings." in notes
    assert len(split_settings(results)) == 1


def test_words_of_older_results_stand_apart() -> None:
    encoder = make_encoder("lstm?dim=5&hidden=4")
    (new,) = run([DATA], [encoder], preset=FAST, probe_vectors="encoder", controls=False).records
    old = replace(new, probe_fingerprint="0" * 64, input_words=False)
    assert len(split_settings(Results((old, new)))) == 2
    assert len(split_settings(Results((new, new)))) == 1


def test_word_vectors_are_cut_to_width() -> None:
    words = ["w0", "w1"]
    full_vectors = make_encoder("bow?dim=5").encode(words)
    for spec, width in (("dim=5&dims=3", 3), ("dim=5&hidden=4&dims=7", 5)):
        kind = "bow" if width == 3 else "bilstm-max"
        vectors = encode_words(make_encoder(f"{kind}?{spec}"), words)
        np.testing.assert_array_equal(vectors, full_vectors[:, :width])


def test_one_hot_is_the_default(fits: list[dict[str, Any]]) -> None:
    (record,) = run([DATA], [make_bow()], preset=FAST).records
    assert len(fits) == len(USUAL_CONDITIONS) - 1  # bow is what the bag of words is, and stands for both
    assert all(vectors is None for vectors in list_word_vectors(fits))
    assert (record.probe_vectors, record.probe_fingerprint) == ("one-hot", "")
    assert Results((record,)).to_records()[0]["probe_vectors"] == "one-hot"


def test_controls_with_other_words_are_separate() -> None:
    """Of equal width, but each with word vectors of its own; one encoder's would do for both."""
    other_encoder = make_encoder("bow?dim=8&seed=5")
    own_results = run([DATA], [make_bow(), other_encoder], preset=FAST, probe_vectors="encoder")
    shared_results = run([DATA], [make_bow(), other_encoder], preset=FAST, probe_vectors="bow?dim=3")
    for results, count in ((own_results, 2), (shared_results, 1)):
        runs = find_controls(results)
        for condition in (c for c in Condition if c in (Condition.NO_SENTENCE, "random-sentences")):
            assert sum(control.condition is condition for control in runs) == count
    labels = [row.label for row in build_grid(own_results, style=ALL_ROWS).rows]
    assert "random sentences, dim 8, words of bow?dim=8" in labels
    assert "no sentence, words of bow?dim=8&seed=5" in labels
    assert "no sentence" in [row.label for row in build_grid(shared_results, style=ALL_ROWS).rows]


def test_representations_are_kept_apart(tmp_path: Path) -> None:
    for source in ("one-hot", "encoder", "bow?dim=3"):
        run([DATA], [make_bow()], preset=FAST, out=tmp_path, probe_vectors=source)
    read = read_results(tmp_path)
    assert sorted(result.probe_vectors for result in read.records) == ["bow?dim=3", "encoder", "one-hot"]
    assert len(split_settings(read)) == 3
    one_hot = next(result for result in read.records if result.probe_vectors == "one-hot")
    assert make_file_name(replace(one_hot, probe_vectors="")) == make_file_name(one_hot)  # as it ever was


def test_run_goes_on(tmp_path: Path, fits: list[dict[str, Any]]) -> None:
    run([DATA], [make_bow()], preset=FAST, out=tmp_path, probe_vectors="encoder")
    before = len(fits)
    run([DATA], [make_bow()], preset=FAST, out=tmp_path, probe_vectors="encoder")
    assert len(fits) == before
    both = run([DATA], [make_bow()], preset=FAST, out=tmp_path, probe_vectors="encoder", seeds=2)
    assert drop_seconds(both) == drop_seconds(run([DATA], [make_bow()], preset=FAST, probe_vectors="encoder", seeds=2))


def test_missing_word_vectors_suggest_one_hot(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, sentences=np.array(DATA.sentences), vectors=np.eye(len(DATA.sentences)))
    encoder = make_encoder(f"file:{path}")
    message = r"^probe words: .*no vector for .*; --probe-vectors one-hot needs none$"
    with pytest.raises(EncoderError, match=message):
        run([DATA], [encoder], preset=FAST, probe_vectors="encoder")


def test_files_for_processes_hold_same_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    one = run([DATA, BARE], [make_bow()], preset=FAST, probe_vectors="encoder")
    with ThreadPoolExecutor(1) as pool:  # quicker than processes, and has the vectors from files
        monkeypatch.setattr("sentprobe.common.engines.make_workers", lambda _: nullcontext(pool))
        two = run([DATA, BARE], [make_bow()], preset=FAST, probe_vectors="encoder")
    assert drop_seconds(one) == drop_seconds(two)


def test_task_without_probe_words_shares_table() -> None:
    results = run([DATA, BARE], [make_bow()], preset=FAST, probe_vectors="encoder")
    assert [record.probe_vectors for record in results.records] == ["encoder", ""]
    assert len(split_settings(results)) == 1


def test_tasks_without_probe_words_are_refused() -> None:
    with pytest.raises(UsageError, match="bow: none of the tasks has probe words"):
        run([BARE], [make_bow()], preset=FAST, probe_vectors="bow")


def write_word_file(tmp_path: Path) -> str:
    (tmp_path / "words.txt").write_text("w1 1 2\nw3 3 4\n", encoding="utf-8")
    return f"bow:{tmp_path / 'words.txt'}"


def test_words_without_a_vector_are_zero(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    encoder = make_encoder(write_word_file(tmp_path))
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
        ("onehot", "unknown probe vectors 'onehot' (did you mean 'one-hot'?); expected: one-hot, "),
        ("encodr", "did you mean 'encoder'?"),
        ("", "unknown probe vectors ''; expected: one-hot, encoder, or the spec of an encoder"),
        ("st", "encoder 'st' wants an argument"),
    ],
)
def test_unknown_sources_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_word_source(text)
    assert message in str(caught.value)


def test_baseline_gives_no_word_vectors() -> None:
    with pytest.raises(UsageError, match="'majority' is a baseline, which has no vectors"):
        make_word_source("majority", seed=0)


def test_probe_vectors_on_the_command_line(command: Command, tmp_path: Path) -> None:
    small = ("compeval", "--task", "Order", "--train", 400, "--test", 56, "-e", "bow?dim=8")
    options = ("--set", "max_epochs=2", "--jobs", 1, "--probe-vectors", "encoder")
    code, out, _ = command("run", *small, *options, "--all-rows", "--notes", "--out", tmp_path / "run")
    assert code == 0
    assert "no sentence, words of bow?dim=8" in out
    assert "Probe words are represented by word vectors of the encoder itself." in out
    code, _, err = command("run", *small, "--probe-vectors", "one_hot")
    assert (code, err.count("\n")) == (2, 1)
    assert "unknown probe vectors 'one_hot' (did you mean 'one-hot'?)" in err
