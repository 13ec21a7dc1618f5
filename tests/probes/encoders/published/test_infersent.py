"""InferSent: its vectors by NumPy, and what its two versions do otherwise."""

import pickle
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.encoders import published_models as pm
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.probes.encoders.encoder import Encoder, count_truncated_sentences, get_capabilities
from sentprobe.probes.encoders.kinds import make_encoder

MARKS = {1: ("<s>", "</s>"), 2: ("<p>", "</p>")}
Files = tuple[Path, Path]


@pytest.fixture(scope="module", params=[1, 2])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def files(version: int, tmp_path_factory: pytest.TempPathFactory) -> Files:
    return pm.write_infersent(tmp_path_factory.mktemp("infersent"), version=version, marks=MARKS[version])


def encoder(files: Files, options: str = "") -> Encoder:
    return make_encoder(f"infersent:{files[0]}?vectors={files[1]}&device=cpu{options}")


def compute_vector(words: Sequence[str], version: int) -> pm.Array:
    rows = pm.word_rows((*pm.WORDS, *MARKS[version]))
    begin, end = MARKS[version]
    inputs = np.stack([rows[word] for word in (begin, *words, end) if word in rows])
    weights = pm.lstm_weights()
    forward_states = pm.lstm_states(weights, "", inputs)
    back = pm.lstm_states(weights, "_reverse", inputs[::-1])
    return np.concatenate((forward_states.max(axis=0), back.max(axis=0)))


texts = st.lists(st.sampled_from(pm.WORDS), max_size=6)


@examples(20)
@given(st.lists(texts, min_size=1, max_size=6), st.integers(1, 3))
def test_vectors_are_those_by_hand_whatever_the_batch(
    files: Files, version: int, batch: list[list[str]], size: int
) -> None:
    vectors = encoder(files, f"&words=spaces&batch={size}").encode([" ".join(batch_item) for batch_item in batch])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [compute_vector(batch_item, version) for batch_item in batch], atol=1e-5)


@examples(10)
@given(st.lists(texts, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_the_batch_does_not_count(files: Files, batch: list[list[str]], shuffler: random.Random) -> None:
    test_encoder = encoder(files)
    sentences = [" ".join(batch_item) for batch_item in batch]
    before = dict(zip(sentences, test_encoder.encode(sentences), strict=True))
    shuffler.shuffle(sentences)
    for sentence, vector in zip(sentences, test_encoder.encode(sentences), strict=True):
        np.testing.assert_allclose(vector, before[sentence], atol=1e-6)


def test_words_are_divided_as_their_code_does(files: Files, version: int) -> None:
    sentence = "the man didn't sleep."
    words = ["the", "man", *(["did", "n't"], ["didn", "'t"])[version - 1], "sleep", "."]
    np.testing.assert_allclose(encoder(files).encode([sentence])[0], compute_vector(words, version), atol=1e-5)
    spaces = encoder(files, "&words=spaces").encode([sentence])[0]
    np.testing.assert_allclose(spaces, compute_vector(["the", "man"], version), atol=1e-5)


def test_padding_with_zeros_is_a_zero_in_the_maximum(files: Files) -> None:
    """As theirs, computed the way they do it: the sentence beside a longer one, padded by zeros."""
    sentence, longer = "dogs ran", "the man did sleep . the man did sleep ."
    test_encoder = encoder(files, "&padding=zeros")
    lstm = test_encoder.lstm  # type: ignore[attr-defined]
    marked = [test_encoder.preprocessing.add_marks(item) for item in (sentence, longer)]  # type: ignore[attr-defined]
    rows = test_encoder.words.look_up(marked)  # type: ignore[attr-defined]
    with torch.inference_mode():
        packed = torch.nn.utils.rnn.pack_sequence([torch.from_numpy(item) for item in rows], enforce_sorted=False)
        padded, _ = torch.nn.utils.rnn.pad_packed_sequence(lstm(packed)[0])
    np.testing.assert_allclose(test_encoder.encode([sentence])[0], padded.amax(dim=0)[0], atol=1e-6)
    assert test_encoder.encode([sentence]).min() == 0 > encoder(files).encode([sentence]).min()


def test_unknown_words_are_left_out_and_told(files: Files, version: int) -> None:
    test_encoder = encoder(files)
    test_encoder.encode(["the man"])
    assert get_capabilities(test_encoder).notes == ()
    some = test_encoder.encode(["the grue man"])[0]
    np.testing.assert_allclose(some, compute_vector(["the", "man"], version), atol=1e-5)
    look_up = get_capabilities(test_encoder).word_vectors
    assert look_up is not None
    known_vector, unknown = look_up(["man", "grue"])
    np.testing.assert_allclose(known_vector, pm.word_rows((*pm.WORDS, *MARKS[version]))["man"], atol=1e-6)
    assert not unknown.any()
    assert count_truncated_sentences(test_encoder, ["the grue man"]) == 0


def test_a_mark_without_a_vector_is_left_out(tmp_path: Path) -> None:
    test_encoder = encoder(pm.write_infersent(tmp_path, marks=()))
    states = pm.lstm_states(pm.lstm_weights(), "", np.stack([pm.word_rows(pm.WORDS)["dogs"]]))
    np.testing.assert_allclose(test_encoder.encode(["dogs"])[0, : pm.UNITS], states[0], atol=1e-5)


@pytest.mark.parametrize("written", [{"prefix": "encoder."}, {"_use_new_zipfile_serialization": True}])
def test_other_files_of_the_same_weights(files: Files, version: int, tmp_path: Path, written: dict[str, str]) -> None:
    """That of the network with its classifier, as their training saves it; a newer PyTorch's."""
    second = pm.write_infersent(tmp_path, version=version, marks=MARKS[version], **written)  # type: ignore[arg-type]
    ours, theirs = encoder(files), encoder(second)
    assert (ours.encode(["dogs ran"]) == theirs.encode(["dogs ran"])).all()
    assert ours.fingerprint != theirs.fingerprint


def test_the_fingerprint_is_of_weights_vectors_and_options(files: Files, tmp_path: Path) -> None:
    model, vectors = files
    prints = [encoder(files, parameter).fingerprint for parameter in ("", "&padding=zeros", "&words=spaces")]
    changed = tmp_path / "words.txt"
    changed.write_text(vectors.read_text("utf-8").replace("dogs ", "cats "), "utf-8")
    prints.append(encoder((model, changed)).fingerprint)
    assert len(set(prints)) == 4
    assert encoder(files, "&batch=2").fingerprint == prints[0]


def test_the_version_may_be_said(files: Files, version: int, tmp_path: Path) -> None:
    model = tmp_path / "mine.pt"
    model.write_bytes(files[0].read_bytes())
    with pytest.raises(SentprobeError, match=r"version=1 or version=2 is expected; the name mine.pt"):
        encoder((model, files[1]))
    test_encoder = encoder((model, files[1]), f"&version={version}")
    assert test_encoder.fingerprint == encoder(files).fingerprint


def _save(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path, Path], None]:
    def damage(model: Path, _: Path) -> None:
        weights = torch.load(model, weights_only=True)
        torch.save(change(weights), model)

    return damage


def _flip_bit(model: Path, vectors: Path) -> None:
    _save(dict)(model, vectors)
    pm.flip_bit_of_weights(model)


def _set(name: str, tensor: object) -> Callable[[Path, Path], None]:
    return _save(lambda weights: {**weights, f"enc_lstm.{name}": tensor})


def _pickled(make: Callable[[Path], object], dump: Callable[..., None]) -> Callable[[Path, Path], None]:
    def damage(model: Path, _: Path) -> None:
        with model.open("wb") as file:
            dump(make(model.parent / "ran"), file)

    return damage


UNPICKLING = (
    r"infersent1.pkl: a pickle, which may contain code that runs when it is read; "
    r"if you trust it, convert it: beside their models.py, python -c .*weights_only=False.*state_dict"
)
NO_DICTIONARY = "not a PyTorch state dictionary, or damaged"
BAD: list[tuple[str, Callable[[Path, Path], object], str]] = [
    ("code", _pickled(pm.Hostile, torch.save), UNPICKLING),
    ("code in a pickle", _pickled(pm.Hostile, pickle.dump), NO_DICTIONARY),
    ("a model", _pickled(lambda _: torch.nn.Linear(1, 1), torch.save), UNPICKLING),
    ("cut off", lambda model, _: pm.truncate_file(model), NO_DICTIONARY),
    ("empty", lambda model, _: model.write_bytes(b""), NO_DICTIONARY),
    ("text", lambda model, _: model.write_text("the 0.1 0.2\n"), NO_DICTIONARY),
    ("a flipped bit", _flip_bit, "damaged: '.*/data/0' in it differs from its checksum"),
    ("a list", _save(lambda _: [1]), "a list; a state dictionary is expected"),
    ("none", _save(lambda _: {}), "this file lacks enc_lstm.weight_ih_l0, enc_lstm.weight_hh_l0,"),
    ("another", _set("weight_ih_l1", torch.ones(2)), "this file has enc_lstm.weight_ih_l1"),
    ("a number", _set("bias_hh_l0", 3), "enc_lstm.bias_hh_l0 is not a dense tensor"),
    ("integers", _set("bias_hh_l0", torch.ones(12).int()), r"is torch.int32 of shape \(12,\)"),
    ("no numbers", _set("bias_hh_l0", torch.ones(0)), r"is torch.float32 of shape \(0,\)"),
    ("short", _set("bias_hh_l0", torch.ones(8)), r"has the shape \(8,\); the other arrays require \(12,\)"),
    ("flat", _set("weight_hh_l0", torch.ones(36)), r"weight_hh_l0 has the shape \(36,\)"),
    ("a scalar", _set("weight_hh_l0", torch.tensor(1.0)), r"weight_hh_l0 has the shape \(\)"),
    ("vast", _set("bias_hh_l0", torch.ones(1).expand(10**12)), "declare more numbers than the file"),
    ("infinite", _set("bias_hh_l0", torch.full((12,), torch.inf)), "has numbers that are not"),
    ("wide", _set("weight_ih_l0", torch.ones(12, 7)), r"_l0_reverse has the shape \(12, 5\)"),
    ("no vectors", lambda _, vectors: vectors.unlink(), "words.txt: cannot read the word vectors"),
    ("no model", lambda model, _: model.unlink(), "infersent1.pkl: cannot read the weights"),
    (
        "narrow",
        lambda _, vectors: vectors.write_text("the 1 2\n<s> 1 2\n"),
        "words.txt: vectors of width 2; .*infersent1.pkl needs 5",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_files_end_in_a_sentence(damage: Callable[[Path, Path], object], message: str, tmp_path: Path) -> None:
    model, vectors = pm.write_infersent(tmp_path, marks=MARKS[1])
    damage(model, vectors)
    with pytest.raises(SentprobeError, match=message) as caught:
        encoder((model, vectors))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "ran").exists()


def test_vectors_are_wanted(files: Files) -> None:
    with pytest.raises(SentprobeError, match=r"infersent: vectors=FILE is expected: version [12] learned"):
        make_encoder(f"infersent:{files[0]}")


def test_no_device_of_that_name(files: Files) -> None:
    with pytest.raises(SentprobeError, match="unknown device 'gpu'"):
        make_encoder(f"infersent:{files[0]}?vectors={files[1]}&device=gpu")
