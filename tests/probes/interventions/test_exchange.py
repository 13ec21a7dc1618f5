"""The exchange of states: its algebra, the models that run on, and the directions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers.encoders.word_models import make_role_data, save_word_model
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import parse_spec
from sentprobe.lexicon import english
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.encoders.encoder import EncoderError, Vectors
from sentprobe.probes.encoders.models.hf import HfEncoder, load_hf
from sentprobe.probes.encoders.models.model_parts import Pooling, pool_states
from sentprobe.probes.interventions import exchange as ex
from sentprobe.probes.interventions.mirror_units import MirrorUnits, find_mirror_units

REPORTER = SilentReporter()
STATES = arrays(np.float32, (3, 2, 2, 4), elements=st.floats(-8, 8, width=32))
AXES = arrays(np.float32, (3, 4), elements=st.floats(-1, 1, width=32)).filter(
    lambda axes: bool((np.linalg.norm(axes, axis=1) > 0.1).all())
)


@given(states=STATES, axes=AXES)
def test_exchange_moves_only_the_part_along_the_direction(states: Vectors, axes: Vectors) -> None:
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    changed = ex.exchange(states, axes)
    parts, sources = ((x * axes[:, None, None]).sum(axis=-1) for x in (changed, states[:, ::-1]))
    assert np.allclose(parts, sources, atol=1e-4)
    assert np.allclose(changed - parts[..., None] * axes[:, None, None],
                       states - (states * axes[:, None, None]).sum(-1, keepdims=True) * axes[:, None, None],
                       atol=1e-4)  # fmt: skip
    assert np.allclose(ex.exchange(changed, axes), states, atol=1e-4)
    assert np.array_equal(ex.exchange(states, None), states[:, ::-1])


@given(first=AXES, seed=st.integers(0, 99))
def test_random_directions_are_orthogonal_to_the_others(first: Vectors, seed: int) -> None:
    sampled = ex.sample_directions(5, [first[0], first[1]], generator=np.random.default_rng(seed))
    assert np.allclose(np.linalg.norm(sampled, axis=1), 1, atol=1e-5)
    assert np.allclose(sampled @ first[:2].T, 0, atol=1e-4)
    assert len(np.unique(sampled, axis=0)) == 5


@pytest.mark.parametrize("kind", [ex.DirectionKind.PROBE, ex.DirectionKind.MEAN_DIFFERENCE])
def test_planted_direction_is_found_among_noise(kind: ex.DirectionKind) -> None:
    generator = np.random.default_rng(0)
    planted = generator.standard_normal(8)
    planted /= np.linalg.norm(planted)
    labels = np.arange(2000) % 2
    noise = generator.standard_normal((2000, 8))
    states = (noise + np.outer(labels, 2 * planted)).astype(np.float32)
    direction = ex.find_direction(kind, states, labels)
    assert float(direction @ planted) > 0.99
    assert np.linalg.norm(direction) == pytest.approx(1)


@pytest.fixture(scope="module", params=["Bert", "GPT2LMHead"])
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HfEncoder:
    folder = save_word_model(tmp_path_factory.mktemp("m") / "m", make_role_data().sentences, kind=request.param)
    spec = parse_spec(f"hf:{folder}?device=cpu&batch=3")
    return load_hf(spec, predicts_words=request.param != "Bert")[0]


def find_units() -> MirrorUnits:
    return find_mirror_units(make_role_data(), Split.TEST, english(), n=3)


def read_pooled(_output: Any, states: torch.Tensor, tokens: Any, _rows: object) -> torch.Tensor:
    return pool_states(states, tokens["attention_mask"], pooling=Pooling.MEAN)


def test_states_stand_at_the_words(encoder: HfEncoder) -> None:
    """The input of the first block has no context: a word at a place has one state, in whatever sentence."""
    units = find_units()
    states = ex.open_states(encoder.store.model).read_states(units, REPORTER)
    assert states.shape == (3, 6, 2, 16)
    keys = [(text.split()[at], at) for text, row in zip(units.sentences, units.words, strict=True) for at in row]
    by_key: dict[object, Vectors] = {}
    for key, state in zip(keys, states[0].reshape(-1, 16), strict=True):
        assert np.allclose(by_key.setdefault(key, state), state, atol=1e-6)
    assert len(by_key) > 6


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_own_states_change_nothing_and_others_do(encoder: HfEncoder, layer: int) -> None:
    units, model = find_units(), ex.open_states(encoder.store.model)
    states = model.read_states(units, REPORTER)[layer]
    plain = model.run_batches(units, read_pooled, REPORTER)
    same = model.run_batches(units, read_pooled, REPORTER, layer=layer, states=states)
    assert np.allclose(plain, same, atol=1e-6)
    shift = np.arange(16, dtype=np.float32)  # a constant would vanish in the normalization of GPT-2's blocks
    other = model.run_batches(units, read_pooled, REPORTER, layer=layer, states=states + shift)
    assert np.abs(other - plain).max() > 0.01
    if layer == 2:  # nothing follows but the mean over all tokens, of which two are higher
        words = [len(text.split()) + (2 if "Bert" in type(encoder.store.model.model).__name__ else 0)
                 for text in units.sentences]  # fmt: skip
        assert np.allclose(other - plain, np.array([2 * shift / n for n in words]), atol=1e-5)


def test_model_runs_on_from_replaced_states(encoder: HfEncoder) -> None:
    """As computed by hand: the second block, applied to the changed states of one sentence without padding."""
    units, model = find_units(), ex.open_states(encoder.store.model)
    new = np.random.default_rng(0).standard_normal((6, 2, 16)).astype(np.float32)
    shown = model.run_batches(units, read_pooled, REPORTER, layer=1, states=new)
    inner = encoder.store.model.model
    for row, text in enumerate(units.sentences):
        tokens = encoder.store.model.tokenize([encoder.store.model.frame.add_to(text)])
        hidden = encoder.store.model.run(tokens).hidden_states[1].clone()
        shift = 1 if "Bert" in type(inner).__name__ else 0
        hidden[0, units.words[row] + shift] = torch.from_numpy(new[row])
        with torch.inference_mode():
            last = model.blocks[1](hidden)
            last = last[0] if isinstance(last, tuple) else last
            last = last if shift else inner.transformer.ln_f(last)
        assert np.allclose(shown[row], last.reshape(-1, 16).mean(dim=0).numpy(), atol=1e-5)


def test_model_of_other_blocks_is_refused(tmp_path: Path) -> None:
    folder = save_word_model(tmp_path / "m", make_role_data().sentences, kind="Bert")
    (encoder,) = load_hf(parse_spec(f"hf:{folder}?device=cpu"))
    model = ex.open_states(encoder.store.model)
    wrong = ex.StateModel(model.model, torch.nn.ModuleList(reversed(model.blocks)))
    with pytest.raises(EncoderError, match="the inputs of its blocks are not its hidden states"):
        wrong.read_states(find_units(), REPORTER)
    encoder.store.model.model.encoder.layer = torch.nn.ModuleList()
    with pytest.raises(EncoderError, match="the blocks of a BertModel are not known"):
        ex.open_states(encoder.store.model)


@pytest.mark.slow
def test_exchange_is_that_of_pyvene(tmp_path: Path) -> None:
    """Two rotated subspaces of one dimension, one at each word; pyvene is not a dependency, and is seldom there."""
    pv: Any = pytest.importorskip("pyvene")
    folder = save_word_model(tmp_path / "m", make_role_data().sentences, kind="GPT2LMHead")
    (encoder,) = load_hf(parse_spec(f"hf:{folder}?device=cpu"), predicts_words=True)
    units, model = find_units(), ex.open_states(encoder.store.model)
    mirrors = units.words.reshape(-1, 2, 2)[:, ::-1].reshape(-1, 2)
    places, sources = ([[[int(place)] for place in column] for column in words.T] for words in (units.words, mirrors))
    ids = torch.tensor([encoder.store.model.tokenizer(text)["input_ids"] for text in units.sentences])
    others = ids.reshape(-1, 2, ids.shape[1]).flip(1).reshape(ids.shape)
    states = model.read_states(units, REPORTER)
    for layer in (0, 1):
        direction = np.random.default_rng(layer).standard_normal(16).astype(np.float32)
        direction /= np.linalg.norm(direction)
        part = {"layer": layer, "component": "block_input", "unit": "pos", "max_number_of_units": 1,
                "low_rank_dimension": 1, "intervention_type": pv.LowRankRotatedSpaceIntervention}  # fmt: skip
        (other,) = load_hf(parse_spec(f"hf:{folder}?device=cpu"), predicts_words=True)  # it changes the model
        theirs = pv.IntervenableModel(pv.IntervenableConfig([part, part]), other.store.model.model)
        for intervention in theirs.interventions.values():
            intervention.rotate_layer.weight = torch.from_numpy(direction)[:, None]
        with torch.no_grad():
            _, output = theirs(
                {"input_ids": ids}, [{"input_ids": others}] * 2, {"sources->base": (sources, places)}
            )  # fmt: skip
        changed = ex.exchange(states[layer].reshape(-1, 2, 2, 16), np.tile(direction, (3, 1))).reshape(-1, 2, 16)
        ours = model.run_batches(
            units, lambda out, *_: out.logits[:, -1], REPORTER, layer=layer, states=changed
        )  # fmt: skip
        plain = model.run_batches(units, lambda out, *_: out.logits[:, -1], REPORTER)
        assert np.abs(ours - output.logits[:, -1].numpy()).max() < 1e-5
        assert np.abs(ours - plain).max() > 1e-3
