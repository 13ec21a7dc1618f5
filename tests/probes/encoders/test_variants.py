"""Variants of vectors: cut, rounded, and with a label erased."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers.encoders.sentence_models import tiny_sentence_model
from helpers.runs.planted import (
    PlantedEncoder,
    make_linear_vectors,
    make_numbered_dataset,
    make_parity_vectors,
    sample_answers,
    sample_noise,
)
from helpers.strategies.probe_strategies import CountingEncoder, make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import parse_spec
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Encoder, Half, Vectors
from sentprobe.probes.encoders.kinds import make_encoder, make_encoders
from sentprobe.probes.encoders.models.trained import TrainedEncoder, TrainedOptions, TrainingPoint
from sentprobe.probes.encoders.variants import (
    Rounding,
    Storage,
    erase_labels,
    make_erased_encoder,
    make_storage_options,
    make_stored_encoders,
    parse_storage,
    round_vectors,
)
from sentprobe.probes.encoders.word_vectors import sample_word_vectors
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition
from sentprobe.probes.runs.run import run

FEW = replace(find_preset("logreg"), max_epochs=1)
tables = arrays(np.float32, (5, 3), elements=st.floats(-100, 100, width=32))


def test_int8_by_hand() -> None:
    scale = np.array([[0, -255, 7], [255, 255, 7]], np.float32)
    vectors = np.array([[0, 255, 7], [1.9, -252.5, 8], [300, -999, 0]], np.float32)
    test_vectors = round_vectors(vectors, Rounding.INT8, scale=scale)
    assert test_vectors.tolist() == [[-128, 127, -128], [-127, -127, -127], [127, -128, -128]]


def test_binary_by_hand() -> None:
    vectors = np.array([[0.5, -0.5, 0.0]], np.float32)
    assert round_vectors(vectors, Rounding.BINARY, scale=vectors).tolist() == [[1, 0, 0]]


@given(tables)
@examples(40)
def test_int8_is_within_a_step(vectors: Vectors) -> None:
    test_vectors = round_vectors(vectors, Rounding.INT8, scale=vectors)
    least, greatest = vectors.min(axis=0), vectors.max(axis=0)
    step = (greatest - least) / np.float32(255)
    back = least + (test_vectors + 128) * step
    assert (abs(back - vectors) <= step * 1.01 + 1e-4).all()
    assert ((test_vectors >= -128) & (test_vectors <= 127) & (test_vectors == test_vectors.round())).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("rounding", [Rounding.INT8, Rounding.BINARY])
def test_rounding_is_that_of_sentence_transformers(rounding: Rounding) -> None:
    quantization = pytest.importorskip("sentence_transformers.quantization")
    draw = np.random.default_rng(0)
    vectors, scale = (draw.standard_normal((200, 24)).astype(np.float32) for _ in range(2))
    packed = quantization.quantize_embeddings(vectors, precision=rounding.value, calibration_embeddings=scale)
    mine = round_vectors(vectors, rounding, scale=scale)
    if rounding is Rounding.BINARY:
        packed = np.unpackbits((packed.astype(np.int16) + 128).astype(np.uint8), axis=1)
    assert np.array_equal(mine, packed)


def test_spec_makes_all_variants() -> None:
    encoders = make_encoders("bow?dim=8&dims=0,4&quantize=float32,binary")
    names = ["bow?dim=8", "bow?dim=8&quantize=binary", "bow?dim=8&dims=4"]
    assert [variant.name for variant in encoders] == [*names, "bow?dim=8&dims=4&quantize=binary"]
    assert len({variant.fingerprint for variant in encoders}) == 4
    full_vectors = make_encoder("bow?dim=8").encode(["a b c"])
    again = [make_encoder(variant.name) for variant in encoders]
    assert np.array_equal(again[2].encode(["a b c"]), full_vectors[:, :4])
    assert np.array_equal(again[3].encode(["a b c"]), full_vectors[:, :4] > 0)
    assert [variant.fingerprint for variant in again] == [variant.fingerprint for variant in encoders]


def test_label_precedes_storage() -> None:
    encoders = make_encoders("bow?name=mine&dims=0,3&quantize=int8")
    assert [variant.name for variant in encoders] == ["mine, int8", "mine, 3 dims, int8"]
    assert str(Storage()) == ""


HALVES = (Half.FORWARD, Half.BACKWARD)


@pytest.mark.parametrize("kind", ["bilstm-last", "gru-bi"])
def test_halves_are_last_states_of_the_directions(kind: str) -> None:
    spec, text = f"{kind}?hidden=5&dim=4", "the man slept"
    forward, backward = make_encoders(f"{spec}&half=forward,backward")
    assert [forward.name, backward.name] == [f"{spec}&half=forward", f"{spec}&half=backward"]
    layer = make_encoder(spec).network.layers[0]  # type: ignore[attr-defined]
    inputs = torch.from_numpy(np.stack([*sample_word_vectors(seed=0, dim=4).look_up([text])]))
    assert isinstance(forward, Encoder)
    assert isinstance(backward, Encoder)
    with torch.inference_mode():
        np.testing.assert_allclose(forward.encode([text]), layer.forth(inputs)[0][:, -1], atol=1e-6)
        np.testing.assert_allclose(backward.encode([text]), layer.back(inputs.flip(1))[0][:, -1], atol=1e-6)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=4))
@examples(10)
def test_halves_make_up_the_vector(texts: list[str]) -> None:
    spec = "bilstm-max?hidden=3&dim=4"
    full, *halves, cut = make_encoders(f"{spec}&half=both,forward,backward") + make_encoders(
        f"{spec}&half=backward&dims=2"
    )
    vectors = [encoder.encode(texts) for encoder in (full, *halves, cut) if isinstance(encoder, Encoder)]
    np.testing.assert_array_equal(np.concatenate(vectors[1:3], axis=1), vectors[0])
    np.testing.assert_array_equal(vectors[3], vectors[0][:, 3:5])
    assert len({encoder.fingerprint for encoder in (full, *halves, cut)}) == 4


def test_forward_is_the_order_of_the_sentence() -> None:
    options, model = TrainedOptions(device="cpu"), tiny_sentence_model("gru-bi", layers=1)
    read = TrainedEncoder(model, options, name="read", point=TrainingPoint())
    assert read.capabilities.halves == HALVES
    model.vocabulary = replace(model.vocabulary, reverse=True)
    assert TrainedEncoder(model, options, name="reversed", point=TrainingPoint()).capabilities.halves == HALVES[::-1]


@pytest.mark.parametrize("spec", ["bow?", "lstm?", "bilstm-last?layers=2&", "gated-conv?layers=1&"])
def test_half_of_a_whole_is_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="half= needs an encoder that joins a reading forward and one backward"):
        make_encoders(f"{spec}half=forward")
    with pytest.raises(UsageError, match="one of both, forward, backward is expected"):
        make_encoders(f"{spec}half=left")


def test_cache_holds_full_vectors(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    texts = ["a b", "b c", "c d"]
    encoder = CountingEncoder(make_encoder("bow?dim=6"))
    full_vectors, cut = make_stored_encoders(encoder, make_storage_options([2], []), label="counting")
    first = embed(cut, texts, cache=cache)
    assert np.array_equal(first, embed(full_vectors, texts, cache=cache)[:, :2])
    assert sorted(encoder.encoded_texts) == texts


def test_storage_run_encodes_once() -> None:
    encoder = CountingEncoder(make_encoder("bow?dim=6"))
    data = make_learnable_dataset(size=30)
    result = run(data, encoder, preset=FEW, controls=False, dims=[3], quantize=["int8", "binary"])
    assert len(encoder.encoded_texts) == len(set(encoder.encoded_texts)) == len(data.sentences)
    assert result.encoders == (
        *("counting", "counting, int8", "counting, binary"),
        *("counting, 3 dims", "counting, 3 dims, int8", "counting, 3 dims, binary"),
    )
    assert [record.dim for record in result.records] == [6, 6, 6, 3, 3, 3]


def test_only_full_vectors_have_controls() -> None:
    result = run(make_learnable_dataset(size=30), "bow?dim=6", preset=FEW, dims=[3])
    full_vectors, cut = result.records
    assert set(full_vectors.scores) == set(USUAL_CONDITIONS)
    assert set(cut.scores) == {Condition.PROBE, Condition.BAG_OF_WORDS, Condition.WORDS_AND_POSITIONS}
    alone = run(make_learnable_dataset(size=30), "bow?dim=6&dims=3", preset=FEW).records[0]
    assert set(alone.scores) == set(USUAL_CONDITIONS)


def test_planted_sign_survives_rounding_not_cutting() -> None:
    targets = sample_answers(600)
    vectors = sample_noise(600)
    vectors[:, 4] = np.abs(vectors[:, 4]) * (2 * targets - 1)
    result = run(
        make_numbered_dataset(targets, train=400), PlantedEncoder(vectors),
        preset="logreg", controls=False, dims=[4], quantize=["binary", "int8"],
    )  # fmt: skip
    actual = {record.encoder: record.accuracy for record in result.records}
    assert actual["planted, binary"] == 1.0
    assert actual["planted, int8"] > 0.95
    assert all(abs(actual[name] - 0.5) < 0.1 for name in actual if "4 dims" in name)


def test_int8_scale_is_of_training_vectors() -> None:
    vectors = np.zeros((6, 1), np.float32)
    vectors[:4, 0], vectors[4:, 0] = (0, 255, 0, 255), (1000, -1000)
    scale = vectors[:4]
    assert round_vectors(vectors, Rounding.INT8, scale=scale)[4:, 0].tolist() == [127, -128]
    targets = np.array([0, 1, 0, 1, 1, 0])
    actual = run(
        make_numbered_dataset(targets, train=4), PlantedEncoder(vectors),
        preset="logreg", controls=False, quantize=["int8"],
    ).records  # fmt: skip
    assert [result.accuracy for result in actual] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("dims", "quantize", "message"),
    [
        ("64,x", None, "probe run: option dims=64,x: whole numbers from 0 are expected, with comm"),
        ("8,8", None, "dims=8,8 has a value twice"),
        ("0", None, "^dims=0: a width must be at least 1; full vectors are always probed, too$"),
        ("8,0", None, "^dims=0: a width must be at least 1;"),
        (None, "int7", r"quantize=int7: one of float32, int8, binary is expected \(did you mea"),
        ([-1], [], r"^dims=-1: a width must be at least 1;"),
        ([], ["int7"], r"^there is no rounding 'int7' \(did you mean 'int8'\?\)"),
    ],
)
def test_bad_storage_is_refused(dims: Any, quantize: Any, message: str) -> None:
    parse = make_storage_options if isinstance(dims, list) else parse_storage
    with pytest.raises(UsageError, match=message):
        parse(dims, quantize)


def test_storage_options_round_trip() -> None:
    storage_options = parse_storage("4,2", "int8")
    assert storage_options.to_options() == (("dims", "0,4,2"), ("quantize", "float32,int8"))
    assert parse_spec(str(parse_spec("bow?dims=0,4,2"))) == parse_spec("bow?dims=0,4,2")


def test_erasure_by_hand() -> None:
    # The first number is the label and the second has nothing to do with it.
    vectors = np.array([[0, 5], [0, 7], [1, 5], [1, 7]], np.float32)
    more = np.array([*vectors, [9, 1]], np.float32)
    erased = erase_labels(more, vectors, np.array([0, 0, 1, 1]))
    assert np.allclose(erased, [[0.5, 5], [0.5, 7], [0.5, 5], [0.5, 7], [0.5, 1]])


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 8))
@examples(40)
def test_erased_vectors_have_no_covariance(seed: int, labels: int, dim: int) -> None:
    draw = np.random.default_rng(seed)
    targets = draw.integers(labels, size=40)
    vectors = draw.standard_normal((40, dim)) @ draw.standard_normal((dim, dim))
    vectors[:, 0] += targets
    left = erase_labels(vectors.astype(np.float32), vectors.astype(np.float32), targets)
    hots = np.eye(labels)[targets]
    covariance = (left - left.mean(axis=0)).T @ (hots - hots.mean(axis=0)) / 40
    assert abs(covariance).max() < 1e-4 * (1 + abs(vectors).max())


def test_erasure_changes_least() -> None:
    targets = sample_answers(300)
    vectors = sample_noise(300) @ np.diag([3, 1, 1, 1, 1, 1]).astype(np.float32)
    vectors[:, :2] += targets[:, None]
    vectors[:, 2] += vectors[:, 0]
    change = ((erase_labels(vectors, vectors, targets) - vectors) ** 2).sum()
    apart = vectors[targets == 1].mean(axis=0) - vectors[targets == 0].mean(axis=0)
    along = (vectors - vectors.mean(axis=0)) @ np.outer(apart, apart) / (apart @ apart)
    draw = np.random.default_rng(0)
    for _ in range(20):  # oblique projections that take the same direction away
        second = draw.standard_normal(6)
        oblique = (vectors - vectors.mean(axis=0)) @ np.outer(second, apart) / (second @ apart)
        assert change <= (oblique**2).sum() * 1.0001
    assert change <= (along**2).sum() * 1.0001


@pytest.mark.parametrize(
    ("plant", "before", "after"), [(make_linear_vectors, 1.0, 0.5), (make_parity_vectors, 0.5, 0.5), (None, 0.5, 0.5)]
)
def test_planted_label_is_erased(
    plant: Callable[[Indices], Vectors] | None, before: float, after: float, tmp_path: Path
) -> None:
    targets, other_targets = sample_answers(600), sample_answers(600, seed=9)
    vectors = sample_noise(600) if plant is None else plant(targets)
    vectors[:, 5] = (1 + np.abs(vectors[:, 5])) * (2 * other_targets - 1)
    mine = make_numbered_dataset(targets, train=400, name="mine")
    write_dataset(mine, tmp_path / "mine")
    result = run(
        [mine, make_numbered_dataset(other_targets, train=400, name="other")],
        PlantedEncoder(vectors),
        preset="logreg",
        controls=False,
        erase=[tmp_path / "mine"],
    )
    actual = {(record.encoder, record.task): record.accuracy for record in result.records}
    assert abs(actual["planted", "mine"] - before) < 0.1
    assert abs(actual["planted, without mine", "mine"] - after) < 0.1
    assert actual["planted", "other"] == 1.0
    assert actual["planted, without mine", "other"] > 0.95


def test_eraser_learns_from_training_alone() -> None:
    targets = sample_answers(60)
    vectors = make_linear_vectors(targets)
    known_vector = make_erased_encoder(PlantedEncoder(vectors), make_numbered_dataset(targets, train=40), name="less")
    first = known_vector.encode(["50 ."])
    vectors[40:50] = 99
    assert np.array_equal(known_vector.encode(["50 ."]), first)


def test_erasure_run_encodes_once(tmp_path: Path) -> None:
    targets = sample_answers(60)
    data = make_numbered_dataset(targets, train=40)
    write_dataset(data, tmp_path / "planted")
    encoder = CountingEncoder(PlantedEncoder(sample_noise(60)))
    run(data, encoder, preset="logreg", controls=False, erase=[tmp_path / "planted"])
    assert len(encoder.encoded_texts) == 60


def test_erased_encoders_are_named(tmp_path: Path) -> None:
    path = tmp_path / "planted"
    write_dataset(make_numbered_dataset(sample_answers(60), train=40), path)
    erase_spec = f"bow?dim=4&erase=none&erase={path}"
    assert [encoder.name for encoder in make_encoders(erase_spec)] == ["bow?dim=4", f"bow?dim=4&erase={path}"]
    (labelled,) = make_encoders(f"bow?name=mine&erase={path}")
    assert labelled.name == "mine, without planted"
    assert make_encoder(f"bow?dim=4&erase={path}").encode(["a b"]).shape == (1, 4)


def test_bad_variant_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "planted"
    write_dataset(make_numbered_dataset(sample_answers(60), train=40), path)
    write_dataset(make_learnable_dataset(size=20), tmp_path / "toy")
    for spec, message in {
        "majority?dims=3": "^majority is a baseline, which has no vectors to cut",
        "bow?dim=4&dims=9": r"bow\?dim=4&dims=9: the vectors have only 4 dims, fewer than 9",
        f"bow?erase={tmp_path / 'toy'}": "^toy cannot be erased: its labels depend on probe word",
        f"bow?erase={tmp_path / 'none'}": "none: there is no such file or directory",
        f"bow?dims=2&erase={path}": "erase= needs unchanged vectors; leave out half=, dims= and quantize=$",
        f"majority?erase={path}": "^majority is a baseline, which has no vectors to erase from",
    }.items():
        with pytest.raises(UsageError, match=message):
            make_encoder(spec).encode(["a"])
