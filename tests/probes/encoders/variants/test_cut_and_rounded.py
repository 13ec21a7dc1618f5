"""Tests of cut and rounded vectors."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.runs.planted import PlantedEncoder, make_numbered_dataset, sample_answers, sample_noise
from helpers.strategies.probe_strategies import CountingEncoder, make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import parse_spec
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder, make_encoders
from sentprobe.probes.encoders.variants import (
    Rounding,
    Storage,
    make_storage_options,
    make_stored_encoders,
    parse_storage,
    round_vectors,
)
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
def test_int8_is_never_a_step_away(vectors: Vectors) -> None:
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


def test_encoders_of_a_spec() -> None:
    encoders = make_encoders("bow?dim=8&dims=0,4&quantize=float32,binary")
    names = ["bow?dim=8", "bow?dim=8&quantize=binary", "bow?dim=8&dims=4"]
    assert [variant.name for variant in encoders] == [*names, "bow?dim=8&dims=4&quantize=binary"]
    assert len({variant.fingerprint for variant in encoders}) == 4
    full_vectors = make_encoder("bow?dim=8").encode(["a b c"])
    again = [make_encoder(variant.name) for variant in encoders]
    assert np.array_equal(again[2].encode(["a b c"]), full_vectors[:, :4])
    assert np.array_equal(again[3].encode(["a b c"]), full_vectors[:, :4] > 0)
    assert [variant.fingerprint for variant in again] == [variant.fingerprint for variant in encoders]


def test_a_label_stands_before_the_way() -> None:
    encoders = make_encoders("bow?name=mine&dims=0,3&quantize=int8")
    assert [variant.name for variant in encoders] == ["mine, int8", "mine, 3 dims, int8"]
    assert str(Storage()) == ""


def test_the_whole_vectors_are_kept_in_the_cache(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    texts = ["a b", "b c", "c d"]
    encoder = CountingEncoder(make_encoder("bow?dim=6"))
    full_vectors, cut = make_stored_encoders(encoder, make_storage_options([2], []), label="counting")
    first = embed(cut, texts, cache=cache)
    assert np.array_equal(first, embed(full_vectors, texts, cache=cache)[:, :2])
    assert sorted(encoder.encoded_texts) == texts


def test_a_run_encodes_once() -> None:
    encoder = CountingEncoder(make_encoder("bow?dim=6"))
    data = make_learnable_dataset(size=30)
    result = run(data, encoder, preset=FEW, controls=False, dims=[3], quantize=["int8", "binary"])
    assert len(encoder.encoded_texts) == len(set(encoder.encoded_texts)) == len(data.sentences)
    assert result.encoders == (
        *("counting", "counting, int8", "counting, binary"),
        *("counting, 3 dims", "counting, 3 dims, int8", "counting, 3 dims, binary"),
    )
    assert [record.dim for record in result.records] == [6, 6, 6, 3, 3, 3]


def test_beside_whole_vectors_there_is_one_sanity_run() -> None:
    result = run(make_learnable_dataset(size=30), "bow?dim=6", preset=FEW, dims=[3])
    full_vectors, cut = result.records
    assert set(full_vectors.scores) == set(USUAL_CONDITIONS)
    assert set(cut.scores) == {Condition.PROBE, Condition.BAG_OF_WORDS, Condition.WORDS_AND_POSITIONS}
    alone = run(make_learnable_dataset(size=30), "bow?dim=6&dims=3", preset=FEW).records[0]
    assert set(alone.scores) == set(USUAL_CONDITIONS)


def test_what_is_planted_in_a_sign_outlives_rounding_and_what_is_cut_off_is_gone() -> None:
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


def test_the_scale_is_that_of_training() -> None:
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


REFUSED = [
    ({"dims": "64,x"}, "probe run: option dims=64,x: whole numbers from 0 are expected, with comm"),
    ({"dims": "8,8"}, "dims=8,8 has a value twice"),
    ({"dims": "0"}, "^dims=0: a width must be at least 1; full vectors are always probed, too$"),
    ({"dims": "8,0"}, "^dims=0: a width must be at least 1;"),
    ({"quantize": "int7"}, r"quantize=int7: one of float32, int8, binary is expected \(did you mea"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_refused_text(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_storage(given.get("dims"), given.get("quantize"))


def test_refused_values() -> None:
    with pytest.raises(UsageError, match=r"^dims=-1: a width must be at least 1;"):
        make_storage_options([-1], [])
    with pytest.raises(UsageError, match=r"^there is no rounding 'int7' \(did you mean 'int8'\?\)"):
        make_storage_options([], ["int7"])
    with pytest.raises(UsageError, match=r"^majority is a baseline, which has no vectors to cut"):
        make_encoders("majority?dims=3")
    with pytest.raises(UsageError, match=r"bow\?dim=4&dims=9: the vectors have only 4 dims, fewer than 9"):
        make_encoder("bow?dim=4&dims=9").encode(["a"])


def test_what_is_asked_for_is_written_as_it_is_read() -> None:
    storage_options = parse_storage("4,2", "int8")
    assert storage_options.to_options() == (("dims", "0,4,2"), ("quantize", "float32,int8"))
    assert parse_spec(str(parse_spec("bow?dims=0,4,2"))) == parse_spec("bow?dims=0,4,2")
