"""Tests of sentence models and their folders."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers.encoders.sentence_models import WORDS, pad_rows, save_sentence_model, tiny_sentence_model
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from sentprobe.common.errors import FormatError, SentprobeError, UsageError
from sentprobe.probes.encoders.architecture import Architecture, is_model_folder, read_config
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.models import trained
from sentprobe.probes.encoders.models import trained as models
from sentprobe.probes.encoders.network import NETWORKS
from sentprobe.probes.encoders.word_vectors import read_word_vectors, sample_word_vectors

KINDS = tuple(NETWORKS)
TEXTS = ("the man slept", "duck", "man slept the man the")


def encode(model: models.SentenceModel, *texts: str) -> torch.Tensor:
    vectors: torch.Tensor = model(*pad_rows([model.vocabulary.find_ids(text) for text in texts]))
    return vectors


@examples(20)
@given(st.sampled_from(KINDS), st.lists(st.lists(st.sampled_from((*WORDS, "x")), min_size=1, max_size=6), min_size=1))
def test_a_vector_depends_on_its_sentence_alone(kind: str, sentences: list[list[str]]) -> None:
    model = tiny_sentence_model(kind)
    texts = [" ".join(sentence) for sentence in sentences]
    alone = torch.cat([encode(model, text) for text in texts])
    torch.testing.assert_close(encode(model, *texts), alone, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frozen", [False, True])
def test_gradients_reach_all_but_what_is_frozen(kind: str, frozen: bool) -> None:
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
def test_a_seed_decides_all_weights(kind: str) -> None:
    first, again, second = (tiny_sentence_model(kind, seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(parameter, again[name]) for name, parameter in first.items())
    assert not torch.equal(first["words.weight"], second["words.weight"])
    assert not first["words.weight"][models.PADDING].any()


def test_words_are_read_in_lower_case_where_that_is_wanted() -> None:
    assert models.ModelVocabulary(("the",), lower=True).find_ids("The THE duck") == [2, 2, 1]
    assert models.ModelVocabulary(("the",)).find_ids("The the") == [1, 2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a", "b", "a"), "the word 'a' is in the vocabulary twice"),
        (("a", "b c"), "'b c' is not a word"),
        (("",), "'' is not a word"),
    ],
)
def test_no_vocabulary(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        models.ModelVocabulary(words)


def test_word_vectors_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("the 1 2 3\nslept 4 5 6\nduck 7 8 9\n", encoding="utf-8")
    model = tiny_sentence_model("lstm", vectors=read_word_vectors(path), frozen=True)
    assert model.word_vectors(["slept", "the"]).tolist() == [[4, 5, 6], [1, 2, 3]]
    assert not model.word_vectors(["duck"]).any()  # it was in the file, but is no word here
    drawn = model.words.weight[[1, 3, 5]]  # unknown, man, Danced
    assert drawn.all() and drawn.abs().max() < 40


def test_word_vectors_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="word vectors of width 5; those of the model have 3"):
        tiny_sentence_model("lstm", vectors=sample_word_vectors(seed=1, dim=5))
    path = tmp_path / "words.txt"
    path.write_text("a 1 2 3\n", encoding="utf-8")
    with pytest.raises(EncoderError, match="none of the 4 words has a vector"):
        tiny_sentence_model("lstm", vectors=read_word_vectors(path))


def test_too_many_weights_are_refused_before_they_are_made() -> None:
    architecture = Architecture(kind="gru-bi", hidden=10**6, layers=10**6)
    with pytest.raises(UsageError, match="weights; at most 1,000,000,000 are allowed"):
        models.make_sentence_model(architecture, models.ModelVocabulary(WORDS), seed=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frozen", [False, True])
def test_what_is_read_back_is_equal(tmp_path: Path, kind: str, frozen: bool) -> None:
    model, folder = tiny_sentence_model(kind, frozen=frozen), tmp_path / "enc"
    save_sentence_model(model, folder, {"step": 3, "objective": "nli"})
    read = trained.load_sentence_model(folder)
    assert torch.equal(encode(read, *TEXTS), encode(model, *TEXTS))
    assert (read.vocabulary, read.architecture) == (model.vocabulary, model.architecture)
    assert [parameter.requires_grad for parameter in read.parameters()] == [
        parameter.requires_grad for parameter in model.parameters()
    ]
    assert read_config(folder).record == {"step": 3, "objective": "nli"}
    assert is_model_folder(folder) and not is_model_folder(tmp_path)


def test_a_model_that_was_read_learns_on(tmp_path: Path) -> None:
    save_sentence_model(tiny_sentence_model("bilstm-max"), tmp_path / "enc", {})
    read = trained.load_sentence_model(tmp_path / "enc")
    torch.autograd.backward(encode(read, *TEXTS).sum())
    assert all(weight.grad is not None for weight in read.parameters())


def test_the_same_model_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_sentence_model(tiny_sentence_model("lstm"), tmp_path / name, {"step": 1})
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def read_changed_folder(folder: Path, **values: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **values}), "utf-8")


def sized(**values: Any) -> dict[str, Any]:
    return {"architecture": {"kind": "lstm", "hidden": 4, "layers": 2, "inputs": 3, **values}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"format": "sentprobe sentence model 2"}, "the format is not 'sentprobe sentence model 1'"),
        ({"lower": 1}, "lower must be true or false"),
        ({"record": []}, "record must be an object"),
        ({"words": 3}, "words.txt: 4 lines; config.json says 3 words"),
        ({"words": 10**6}, r"safetensors: has [\d,]+ bytes; by config.json, it must have 12,00[\d,]+ and"),
        ({"words": -1}, "words.txt: 4 lines; config.json says -1 words"),
        (sized(kind="lstn"), r"no architecture 'lstn' \(did you mean 'lstm'"),
        (sized(hidden=5), r"weight_ih_l0' are torch.float32 of shape \(16, 3\); expected: .*\(20, 3\)"),
        (sized(hidden=9000), r"safetensors: has [\d,]+ bytes; by config.json, it must have"),
        (sized(hidden=0), "hidden=0: at least 1 is expected"),
        (sized(hidden=10**9), "weights; at most 1,000,000,000 are allowed"),
        (sized(layers=3), r"the weights 'network.layers.2.*' are missing; expected: "),
        (sized(layers=10**6), r"safetensors: has [\d,]+ bytes; by config.json, it must have"),
        (sized(inputs="3"), "inputs must be a whole number"),
        (sized(size=3), "its fields are not those of a sentence model"),
        ({"architecture": None}, "its fields are not those of a sentence model"),
    ],
)
def test_a_configuration_that_is_wrong(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    save_sentence_model(tiny_sentence_model("lstm"), tmp_path / "enc", {})
    read_changed_folder(tmp_path / "enc", **values)
    with pytest.raises(SentprobeError, match=message):
        trained.load_sentence_model(tmp_path / "enc")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the\nman\nslept\n", "words.txt: 3 lines; config.json says 4 words"),
        ("the\nman\nslept\nthe\n", "words.txt: the word 'the' is in the vocabulary twice"),
        ("the\nman\nslept\nthe", "words.txt: 3 lines; config.json says 4 words"),
    ],
)
def test_words_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    save_sentence_model(tiny_sentence_model("lstm"), tmp_path / "enc", {})
    (tmp_path / "enc" / "words.txt").write_text(text, "utf-8")
    with pytest.raises(EncoderError, match=message):
        trained.load_sentence_model(tmp_path / "enc")


def test_weights_of_other_names_shapes_and_types(tmp_path: Path) -> None:
    folder = tmp_path / "enc"
    save_sentence_model(tiny_sentence_model("lstm"), folder, {})
    path, name = folder / "model.safetensors", "network.layers.0.forth.bias_hh_l0"
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
            trained.load_sentence_model(folder)


def test_weights_of_another_step_are_refused(tmp_path: Path) -> None:
    model = tiny_sentence_model("lstm")
    for step in (2, 4):
        save_sentence_model(model, tmp_path / str(step), {"step": step})
        trained.load_sentence_model(tmp_path / str(step))
    path = tmp_path / "2" / trained.WEIGHTS
    (tmp_path / "4" / trained.WEIGHTS).replace(path)
    with pytest.raises(EncoderError) as caught:
        trained.load_sentence_model(tmp_path / "2")
    message = "the weights are of step 4, config.json is of step 2: the training was stopped between"
    assert str(caught.value).startswith(f"{path}: {message}")
    save_file(load_file(path), path)  # says of no step
    trained.load_sentence_model(tmp_path / "2")


@pytest.mark.parametrize("name", ["config.json", "words.txt", "model.safetensors"])
def test_a_file_that_is_missing(tmp_path: Path, name: str) -> None:
    save_sentence_model(tiny_sentence_model("lstm"), tmp_path / "enc", {})
    (tmp_path / "enc" / name).unlink()
    with pytest.raises(EncoderError, match=f"{name}: cannot read it: No such file or directory"):
        trained.load_sentence_model(tmp_path / "enc")


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none: there is no folder of a trained encoder at this path"):
        trained.load_sentence_model(tmp_path / "none")
