"""Trained encoders: a folder as an encoder, by its spec or its path, and what it says of itself."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers.encoders.sentence_models import save_sentence_model, tiny_sentence_model
from helpers.in_process import Command
from helpers.strategies.encoder_strategies import batches
from helpers.thoroughness import examples
from hypothesis import given

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Spec
from sentprobe.probes.encoders.encoder import Encoder, EncoderError, get_capabilities
from sentprobe.probes.encoders.kinds import make_encoder, read_spec
from sentprobe.probes.encoders.models.trained import TrainedEncoder, TrainedOptions, TrainingPoint
from sentprobe.probes.encoders.network import NETWORKS

TEXTS = ["the man slept", "Danced", "the duck man", "man"]


def save_trained_encoder(folder: Path, kind: str = "bilstm-max", seed: int = 1, **record: Any) -> Path:
    model = tiny_sentence_model(kind, seed=seed)
    save_sentence_model(model, folder, record)
    return folder


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_it_encodes_as_its_model_does(tmp_path: Path, kind: str) -> None:
    encoder = make_encoder(f"trained:{save_trained_encoder(tmp_path / 'enc', kind)}?batch=2")
    model = tiny_sentence_model(kind)
    for text, vector in zip(TEXTS, encoder.encode(TEXTS), strict=True):
        ids = torch.tensor([model.vocabulary.find_ids(text)])
        expected = model(ids, torch.tensor([ids.shape[1]]))[0].detach().numpy()
        np.testing.assert_allclose(vector, expected, rtol=1e-5, atol=1e-7)
    assert isinstance(encoder, Encoder)
    assert encoder.name == f"trained:{tmp_path / 'enc'}?batch=2"


@examples(20)
@given(batches)
def test_a_vector_depends_on_its_sentence_alone(batch: list[str]) -> None:
    model = tiny_sentence_model("gru-bi")
    encoder = TrainedEncoder(model, TrainedOptions(), name="enc", point=TrainingPoint())
    alone = np.stack([encoder.encode([text])[0] for text in batch])
    np.testing.assert_allclose(encoder.encode(batch), alone, rtol=1e-5, atol=1e-6)


def test_the_path_of_its_folder_is_its_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_trained_encoder(tmp_path / "enc")
    assert read_spec(f"{folder}/?name=mine") == Spec("trained", f"{folder}/", (("name", "mine"),))
    assert make_encoder(str(folder)).name == f"trained:{folder}"
    monkeypatch.chdir(tmp_path)
    assert make_encoder("enc/").name == "trained:enc/"
    assert make_encoder("enc").fingerprint == make_encoder(str(folder)).fingerprint


def test_a_kind_is_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_trained_encoder(tmp_path / "bow")
    monkeypatch.chdir(tmp_path)
    assert read_spec("bow").kind == "bow"


def test_what_it_depends_on_is_its_fingerprint(tmp_path: Path) -> None:
    encoders = {
        "a": save_trained_encoder(tmp_path / "a"),
        "same, later": save_trained_encoder(tmp_path / "b", step=100),
        "seed": save_trained_encoder(tmp_path / "c", seed=2),
        "kind": save_trained_encoder(tmp_path / "d", "bilstm-last"),
    }
    prints = {name: make_encoder(str(folder)).fingerprint for name, folder in encoders.items()}
    assert prints["a"] == prints["same, later"]
    assert len(set(prints.values())) == 3


def test_how_far_its_training_was_is_known(tmp_path: Path) -> None:
    folder = save_trained_encoder(tmp_path / "enc", family="nli", step=100, epoch=0.5, objective="nli")
    point = get_capabilities(make_encoder(str(folder)))
    assert (point.family, point.step, point.epoch) == ("nli", 100, 0.5)
    point = get_capabilities(make_encoder(str(save_trained_encoder(tmp_path / "other"))))
    assert (point.family, point.step, point.epoch) == ("", None, None)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"step": "many"}, "config.json: record.step must be a whole number"),
        ({"family": None}, "config.json: record.family must be a text"),
        ({"epoch": []}, "config.json: record.epoch must be a number"),
    ],
)
def test_a_record_that_is_wrong(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    with pytest.raises(EncoderError, match=message):
        make_encoder(str(save_trained_encoder(tmp_path / "enc", **record)))


def test_words_that_it_does_not_know_are_told(tmp_path: Path) -> None:
    encoder: Any = make_encoder(str(save_trained_encoder(tmp_path / "enc")))
    assert encoder.encode(["duck"]).any() and np.array_equal(*encoder.encode(["duck", "goose"]))
    encoder.encode(["the man"])
    assert encoder.notes == (
        f"2 of 4 different words are not in the vocabulary of trained:{tmp_path / 'enc'} and are "
        "read as an unknown word: duck, goose",
    )


def test_its_word_vectors(tmp_path: Path) -> None:
    encoder: Any = make_encoder(str(save_trained_encoder(tmp_path / "enc")))
    weights = tiny_sentence_model("bilstm-max").words.weight.detach().numpy()
    look_up = get_capabilities(encoder).word_vectors
    assert look_up is not None
    actual = look_up(["man", "duck", "slept man"])
    np.testing.assert_allclose(actual, [weights[3], [0, 0, 0], weights[3:5].mean(axis=0)])


def test_what_it_cannot_encode(tmp_path: Path) -> None:
    folder = save_trained_encoder(tmp_path / "enc")
    with pytest.raises(EncoderError, match="the sentence ' ' has no words"):
        make_encoder(str(folder)).encode([" "])
    with pytest.raises(UsageError, match="none: there is no folder of a trained encoder at this path"):
        make_encoder(f"trained:{tmp_path / 'none'}")
    with pytest.raises(UsageError, match="unknown device 'gpu'"):
        make_encoder(f"trained:{folder}?device=gpu")
    with pytest.raises(UsageError, match="encoder 'trained' wants an argument"):
        make_encoder("trained")


def test_checkpoints_are_a_curve(command: Command, tmp_path: Path) -> None:
    names = {step: save_trained_encoder(tmp_path / f"{step}", family="enc", step=step) for step in (1, 20)}
    small = ("--task", "Order", "--train", 56, "--test", 56, "--jobs", 1, "--no-controls")
    specs = [word for folder in names.values() for word in ("-e", folder)]
    options = ("--set", "max_epochs=1", "--no-cache", "--out", tmp_path / "run")
    code, out, _ = command("run", "compeval", *small, *specs, *options)
    assert code == 0
    assert "different words are not in the vocabulary of" in " ".join(out.split())
    code, out, _ = command("show", tmp_path / "run")
    assert code == 0
    assert "enc in training" in out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("│")] == ["1", "20"]


def test_a_path_that_is_no_trained_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in (0, 1):
        save_trained_encoder(tmp_path / "both" / f"seed{seed}", seed=seed)
    (tmp_path / "empty").mkdir()
    no_folder_message = "not the folder of an encoder that probe train wrote"
    for spec, message in (
        ("both/", f"both: {no_folder_message}; it contains seed0, seed1: name one of them"),
        ("empty", f"empty: {no_folder_message}"),
        ("nosuch/", "nosuch: there is no such folder"),
    ):
        with pytest.raises(UsageError) as caught:
            make_encoder(spec)
        assert str(caught.value) == message
