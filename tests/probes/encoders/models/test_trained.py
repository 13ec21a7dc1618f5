"""Sentence models in folders, and trained encoders by spec or path."""

import json
import pickle
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch
from helpers.encoders.sentence_models import (
    WORDS,
    make_chain,
    pad_rows,
    save_sentence_model,
    tiny_sentence_model,
    write_trees,
)
from helpers.in_process import Command
from helpers.strategies.encoder_strategies import batches
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from sentprobe.common.errors import FormatError, SentprobeError, UsageError
from sentprobe.common.specs import Spec
from sentprobe.common.values import digest_value
from sentprobe.probes.encoders.architecture import Architecture, is_model_folder, read_config
from sentprobe.probes.encoders.encoder import Encoder, EncoderError, get_capabilities
from sentprobe.probes.encoders.kinds import make_encoder, read_spec
from sentprobe.probes.encoders.models import trained
from sentprobe.probes.encoders.models.trained import TrainedEncoder, TrainedOptions, TrainingPoint
from sentprobe.probes.encoders.network import NETWORKS
from sentprobe.probes.encoders.sentence_trees import SentenceTrees
from sentprobe.probes.encoders.word_vectors import read_word_vectors, sample_word_vectors

KINDS = tuple(NETWORKS)
TEXTS = ("the man slept", "duck", "man slept the man the")


def encode(model: trained.SentenceModel, *texts: str) -> torch.Tensor:
    vectors: torch.Tensor = model(*pad_rows([model.vocabulary.find_ids(text) for text in texts]))
    return vectors


@examples(20)
@given(st.sampled_from(KINDS), st.lists(st.lists(st.sampled_from((*WORDS, "x")), min_size=1, max_size=6), min_size=1))
def test_model_vector_depends_on_sentence_alone(kind: str, sentences: list[list[str]]) -> None:
    model = tiny_sentence_model(kind)
    texts = [" ".join(sentence) for sentence in sentences]
    alone = torch.cat([encode(model, text) for text in texts])
    torch.testing.assert_close(encode(model, *texts), alone, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frozen", [False, True])
def test_gradients_reach_all_but_frozen(kind: str, frozen: bool) -> None:
    model = tiny_sentence_model(kind, frozen=frozen)
    vectors = encode(model, *TEXTS)
    if vectors.requires_grad:
        torch.autograd.backward(vectors.square().sum())
    for name, weight in model.named_parameters():
        assert (weight.grad is None) == (frozen and name == "words.weight"), name
        assert weight.grad is None or weight.grad.any(), name
    if not frozen:
        learned = model.words.weight.grad
        assert learned is not None
        rows = [bool(row.any()) for row in learned]
        assert rows == [False, True, True, True, True, False]  # no padding; "Danced" is not read


@pytest.mark.parametrize("kind", KINDS)
def test_seed_decides_all_weights(kind: str) -> None:
    first, again, second = (tiny_sentence_model(kind, seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(parameter, again[name]) for name, parameter in first.items())
    assert not torch.equal(first["words.weight"], second["words.weight"])
    assert not first["words.weight"][trained.PADDING].any()


def test_vocabulary_may_lower_words() -> None:
    assert trained.ModelVocabulary(("the",), lower=True).find_ids("The THE duck") == [2, 2, 1]
    assert trained.ModelVocabulary(("the",)).find_ids("The the") == [1, 2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a", "b", "a"), "the word 'a' is in the vocabulary twice"),
        (("a", "b c"), "'b c' is not a word"),
        (("",), "'' is not a word"),
    ],
)
def test_bad_vocabulary_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        trained.ModelVocabulary(words)


def test_word_vectors_are_taken_from_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("the 1 2 3\nslept 4 5 6\nduck 7 8 9\n", encoding="utf-8")
    model = tiny_sentence_model("lstm", vectors=read_word_vectors(path), frozen=True)
    assert model.word_vectors(["slept", "the"]).tolist() == [[4, 5, 6], [1, 2, 3]]
    assert not model.word_vectors(["duck"]).any()  # it was in the file, but is no word here
    drawn = model.words.weight[[1, 3, 5]]  # unknown, man, Danced
    assert drawn.all() and drawn.abs().max() < 40


def test_unfit_word_vectors_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="word vectors of width 5; those of the model have 3"):
        tiny_sentence_model("lstm", vectors=sample_word_vectors(seed=1, dim=5))
    path = tmp_path / "words.txt"
    path.write_text("a 1 2 3\n", encoding="utf-8")
    with pytest.raises(EncoderError, match="none of the 4 words has a vector"):
        tiny_sentence_model("lstm", vectors=read_word_vectors(path))


def test_too_many_weights_are_refused() -> None:
    architecture = Architecture(kind="gru-bi", hidden=10**6, layers=10**6)
    with pytest.raises(UsageError, match="weights; at most 1,000,000,000 are allowed"):
        trained.make_sentence_model(architecture, trained.ModelVocabulary(WORDS), seed=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frozen", [False, True])
def test_saved_model_is_read_back(tmp_path: Path, kind: str, frozen: bool) -> None:
    model, folder = tiny_sentence_model(kind, frozen=frozen), tmp_path / "enc"
    save_sentence_model(model, folder, {"step": 3, "objective": "nli"})
    read = trained.load_sentence_model(folder, trees=model.vocabulary.trees)
    assert torch.equal(encode(read, *TEXTS), encode(model, *TEXTS))
    assert (read.vocabulary, read.architecture) == (model.vocabulary, model.architecture)
    assert [parameter.requires_grad for parameter in read.parameters()] == [
        parameter.requires_grad for parameter in model.parameters()
    ]
    assert read_config(folder).record == {"step": 3, "objective": "nli"}
    assert is_model_folder(folder) and not is_model_folder(tmp_path)


def test_read_model_learns_on(tmp_path: Path) -> None:
    save_sentence_model(tiny_sentence_model("bilstm-max"), tmp_path / "enc", {})
    read = trained.load_sentence_model(tmp_path / "enc")
    torch.autograd.backward(encode(read, *TEXTS).sum())
    assert all(weight.grad is not None for weight in read.parameters())


def test_same_model_has_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_sentence_model(tiny_sentence_model("lstm"), tmp_path / name, {"step": 1})
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def set_sizes(**values: Any) -> dict[str, Any]:
    return {"architecture": {"kind": "lstm", "hidden": 4, "layers": 2, "inputs": 3, **values}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"format": "sentprobe sentence model 1"}, "the format is not 'sentprobe sentence model 2'"),
        ({"lower": 1}, "lower must be true or false"),
        ({"record": []}, "record must be an object"),
        ({"words": 3}, "words.txt: 4 lines; config.json says 3 words"),
        ({"words": 10**6}, r"safetensors: has [\d,]+ bytes; by config.json, it must have 12,00[\d,]+ and"),
        ({"words": -1}, "words.txt: 4 lines; config.json says -1 words"),
        (set_sizes(kind="lstn"), r"no architecture 'lstn' \(did you mean 'lstm'"),
        (set_sizes(hidden=5), r"weight_ih_l0' are torch.float32 of shape \(16, 3\); expected: .*\(20, 3\)"),
        (set_sizes(hidden=9000), r"safetensors: has [\d,]+ bytes; by config.json, it must have"),
        (set_sizes(hidden=0), "hidden=0: at least 1 is expected"),
        (set_sizes(hidden=10**9), "weights; at most 1,000,000,000 are allowed"),
        (set_sizes(layers=3), r"the weights 'network.layers.2.*' are missing; expected: "),
        (set_sizes(layers=10**6), r"safetensors: has [\d,]+ bytes; by config.json, it must have"),
        (set_sizes(inputs="3"), "inputs must be a whole number"),
        (set_sizes(size=3), "its fields are not those of a sentence model"),
        ({"architecture": None}, "its fields are not those of a sentence model"),
    ],
)
def test_bad_configuration_is_refused(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    save_sentence_model(tiny_sentence_model("lstm"), tmp_path, {})
    path = tmp_path / "config.json"
    config = {**json.loads(path.read_text("utf-8")), **values}
    del config["digest"]
    path.write_text(json.dumps({**config, "digest": digest_value(config)}), "utf-8")
    with pytest.raises(SentprobeError, match=message):
        trained.load_sentence_model(tmp_path)


@pytest.mark.parametrize(
    "values",
    [{"reverse": True}, {"lower": True}, {"frozen": True}, {"record": {"step": 9}}, {"digests": {}}, {"digest": ""}],
)
def test_edited_configuration_is_refused(tmp_path: Path, values: dict[str, Any]) -> None:
    save_sentence_model(tiny_sentence_model("lstm"), tmp_path, {"step": 1})
    path = tmp_path / "config.json"
    config = json.loads(path.read_text("utf-8"))
    assert {**config, **values} != config
    path.write_text(json.dumps({**config, **values}), "utf-8")
    with pytest.raises(EncoderError, match=r"config\.json: its digest is missing or wrong: it was edited"):
        trained.load_sentence_model(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("words.txt", "the\nman\nslept\n", ": 3 lines; config.json says 4 words"),
        ("words.txt", "the\nman\nslept\nthe\n", ": the word 'the' is in the vocabulary twice"),
        ("words.txt", "the\nman\nslept\nthe", ": 3 lines; config.json says 4 words"),
        ("config.json", None, ": cannot read it: No such file or directory"),
        ("words.txt", None, ": cannot read it: No such file or directory"),
        ("model.safetensors", None, ": cannot read it: No such file or directory"),
    ],
)
def test_damaged_folder_is_refused(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    save_sentence_model(tiny_sentence_model("lstm"), tmp_path, {})
    (tmp_path / name).unlink()
    if text is not None:
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(EncoderError, match=name + message):
        trained.load_sentence_model(tmp_path)


def test_bad_weights_are_refused(tmp_path: Path) -> None:
    save_sentence_model(tiny_sentence_model("lstm"), tmp_path, {})
    path, name = tmp_path / trained.WEIGHTS, "network.layers.0.forth.bias_hh_l0"
    weights = load_file(path)
    remaining = {key: parameter for key, parameter in weights.items() if key != name}
    for damaged_weights, message in [
        (remaining | {"more": weights[name]}, f"the weights '{name}' are missing"),
        (weights | {name: weights[name].reshape(2, 8)}, r"float32 of shape \(2, 8\); expected: "),
        (weights | {name: weights[name].to(torch.int32)}, r"torch.int32 of shape \(16,\)"),
        (weights | {"more": torch.zeros(0)}, "weights 'more', which a model with this config.json lacks"),
    ]:
        save_file(damaged_weights, path)
        with pytest.raises(EncoderError, match=message):
            trained.load_sentence_model(tmp_path)


@given(st.sampled_from([trained.WORDS, trained.WEIGHTS]), st.data())
@examples(30)
def test_one_changed_byte_is_refused(name: str, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        save_sentence_model(tiny_sentence_model("lstm"), path.parent, {})
        trained.load_sentence_model(path.parent)
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1), label="place")
        content[place] ^= 1 << data.draw(st.integers(0, 7), label="bit")
        path.write_bytes(content)
        with pytest.raises(EncoderError, match=f"^{re.escape(str(path))}: "):
            trained.load_sentence_model(path.parent)


def test_weights_of_other_step_are_refused(tmp_path: Path) -> None:
    for seed in (2, 4):
        save_sentence_model(tiny_sentence_model("lstm", seed=seed), tmp_path / str(seed), {})
    path = tmp_path / "2" / trained.WEIGHTS
    (tmp_path / "4" / trained.WEIGHTS).replace(path)
    with pytest.raises(EncoderError, match=r"is not the file that config\.json was written with: it is damaged, or"):
        trained.load_sentence_model(tmp_path / "2")


ENCODED = ["the man slept", "Danced", "the duck man", "man"]


def save_trained_encoder(folder: Path, kind: str = "bilstm-max", seed: int = 1, **record: Any) -> Path:
    model = tiny_sentence_model(kind, seed=seed)
    save_sentence_model(model, folder, record)
    return folder


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_encoder_equals_its_model(tmp_path: Path, kind: str) -> None:
    model, options = tiny_sentence_model(kind), "batch=2"
    if model.network.reads_trees:
        write_trees(tmp_path / "trees.conllu", [(text, make_chain(len(text.split()))) for text in ENCODED])
        options += f"&trees={tmp_path / 'trees.conllu'}"
    encoder = make_encoder(f"trained:{save_trained_encoder(tmp_path / 'enc', kind)}?{options}")
    for text, vector in zip(ENCODED, encoder.encode(ENCODED), strict=True):
        ids = torch.tensor([model.vocabulary.find_ids(text)])
        expected = model(ids, torch.tensor([ids.shape[1]]))[0].detach().numpy()
        np.testing.assert_allclose(vector, expected, rtol=1e-5, atol=1e-7)
    assert isinstance(encoder, Encoder)
    assert encoder.name == f"trained:{tmp_path / 'enc'}?{options}"


def test_model_reads_heads_with_words() -> None:
    trees = SentenceTrees("a table", "", {"the man slept": (2, 3, 0)}.get, hint="")
    vocabulary = trained.ModelVocabulary(("the", "man"), trees=trees)
    assert vocabulary.row_count == 4
    assert vocabulary.find_ids("the man slept") == [2 + 2 * 4, 3 + 3 * 4, trained.UNKNOWN]
    assert replace(vocabulary, reverse=True).find_ids("the man slept") == [trained.UNKNOWN, 3 + 4, 2 + 2 * 4]
    assert vocabulary.find_ids("") == []
    with pytest.raises(EncoderError, match="a table has no tree for the sentence 'man the'"):
        vocabulary.find_ids("man the")


def test_model_in_lower_case_reads_trees_in_lower_case(tmp_path: Path) -> None:
    write_trees(tmp_path / "trees.conllu", [("the man slept", (2, 3, 0))])
    model = tiny_sentence_model("tree-lstm")
    model.vocabulary = replace(model.vocabulary, lower=True)
    save_sentence_model(model, tmp_path / "enc", {})
    encoder = make_encoder(f"trained:{tmp_path / 'enc'}?trees={tmp_path / 'trees.conllu'}")
    upper, lower = encoder.encode(["The man SLEPT", "the man slept"])
    np.testing.assert_array_equal(upper, lower)


def test_model_without_trees_reads_no_sentence(tmp_path: Path) -> None:
    """It once read every word as a root, and returned vectors of another shape."""
    model = trained.load_sentence_model(save_trained_encoder(tmp_path / "enc", "tree-lstm"))
    assert pickle.loads(pickle.dumps(model.vocabulary)).find_ids("man") == [3]
    with pytest.raises(EncoderError, match="a model without trees has no tree for the sentence 'the man slept' "):
        model.vocabulary.find_ids("the man slept")


def test_trees_are_for_networks_that_read_them(tmp_path: Path) -> None:
    folder = save_trained_encoder(tmp_path / "enc", "lstm")
    with pytest.raises(UsageError, match="the option trees is for tree-lstm, not for lstm"):
        make_encoder(f"trained:{folder}?trees=trees.conllu")


@examples(20)
@given(batches)
def test_encoder_vector_depends_on_sentence_alone(batch: list[str]) -> None:
    model = tiny_sentence_model("gru-bi")
    encoder = TrainedEncoder(model, TrainedOptions(), name="enc", point=TrainingPoint())
    alone = np.stack([encoder.encode([text])[0] for text in batch])
    np.testing.assert_allclose(encoder.encode(batch), alone, rtol=1e-5, atol=1e-6)


def test_folder_path_is_a_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_trained_encoder(tmp_path / "enc")
    assert read_spec(f"{folder}/?name=mine") == Spec("trained", f"{folder}/", (("name", "mine"),))
    assert make_encoder(str(folder)).name == f"trained:{folder}"
    monkeypatch.chdir(tmp_path)
    assert make_encoder("enc/").name == "trained:enc/"
    assert make_encoder("enc").fingerprint == make_encoder(str(folder)).fingerprint


def test_kind_precedes_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_trained_encoder(tmp_path / "bow")
    monkeypatch.chdir(tmp_path)
    assert read_spec("bow").kind == "bow"


def test_fingerprint_is_of_model_alone(tmp_path: Path) -> None:
    encoders = {
        "a": save_trained_encoder(tmp_path / "a"),
        "same, later": save_trained_encoder(tmp_path / "b", step=100),
        "seed": save_trained_encoder(tmp_path / "c", seed=2),
        "kind": save_trained_encoder(tmp_path / "d", "bilstm-last"),
    }
    prints = {name: make_encoder(str(folder)).fingerprint for name, folder in encoders.items()}
    assert prints["a"] == prints["same, later"]
    assert len(set(prints.values())) == 3


def test_training_point_is_read(tmp_path: Path) -> None:
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
def test_bad_record_is_refused(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    with pytest.raises(EncoderError, match=message):
        make_encoder(str(save_trained_encoder(tmp_path / "enc", **record)))


def test_unknown_words_are_reported(tmp_path: Path) -> None:
    encoder: Any = make_encoder(str(save_trained_encoder(tmp_path / "enc")))
    assert encoder.encode(["duck"]).any() and np.array_equal(*encoder.encode(["duck", "goose"]))
    encoder.encode(["the man"])
    assert encoder.notes == (
        f"2 of 4 different words are not in the vocabulary of trained:{tmp_path / 'enc'} and are "
        "read as an unknown word: duck, goose",
    )


def test_encoder_has_word_vectors(tmp_path: Path) -> None:
    encoder: Any = make_encoder(str(save_trained_encoder(tmp_path / "enc")))
    weights = tiny_sentence_model("bilstm-max").words.weight.detach().numpy()
    look_up = get_capabilities(encoder).word_vectors
    assert look_up is not None
    actual = look_up(["man", "duck", "slept man"])
    np.testing.assert_allclose(actual, [weights[3], [0, 0, 0], weights[3:5].mean(axis=0)])


def test_bad_encoder_is_refused(tmp_path: Path) -> None:
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


def test_other_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in (0, 1):
        save_trained_encoder(tmp_path / "both" / f"seed{seed}", seed=seed)
    (tmp_path / "empty").mkdir()
    reason = (
        "not the folder of a model: probe train did not write it, and it has neither modules.json nor a config.json "
        "with architectures or model_type"
    )
    for spec, message in {
        "both/": f"both: {reason}; it contains seed0, seed1: name one of them",
        "empty": f"empty: {reason}",
        "nosuch/": "nosuch: there is no such file or folder",
    }.items():
        with pytest.raises(UsageError) as caught:
            make_encoder(spec)
        assert str(caught.value) == message
