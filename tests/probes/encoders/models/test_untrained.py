"""The random encoders: what their vectors may depend on, and a slow reference in NumPy for each."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.encoders.published_models import Array, lstm_states, sigmoid
from helpers.encoders.sentence_models import write_trees
from helpers.strategies.encoder_strategies import batches, sentences
from helpers.thoroughness import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.encoders.encoder import Encoder, EncoderError, digest, get_capabilities
from sentprobe.probes.encoders.kinds import make_encoder


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """On a shared machine, two threads make a small step many times slower than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


SMALL = "dim=8&hidden=6&batch=3"
KINDS = ("lstm", "bilstm-last", "bilstm-max", "gated-conv", "gru-uni", "gru-bi")
UNTRAINED = tuple(f"{kind}?{SMALL}" for kind in KINDS)
SPECS = ("bow?dim=8", *UNTRAINED)


@examples(60)
@given(batches, st.integers(0, 3), st.sampled_from(SPECS))
def test_vector_depends_on_sentence_and_seed(batch: list[str], seed: int, spec: str) -> None:
    together = make_encoder(spec, seed=seed).encode(batch)
    alone = [make_encoder(spec, seed=seed).encode([text])[0] for text in batch]
    assert together.dtype == np.float32
    np.testing.assert_allclose(together, np.stack(alone), rtol=1e-5, atol=1e-5)


@settings(deadline=None)
@given(sentences, st.randoms(use_true_random=False))
def test_bow_is_blind_to_word_order(text: str, shuffler: random.Random) -> None:
    tokens = text.split()
    shuffler.shuffle(tokens)
    first, second = make_encoder("bow?dim=5", seed=0).encode([text, " ".join(tokens)])
    assert (first == second).all()


@pytest.mark.parametrize("spec", UNTRAINED)
def test_networks_know_word_order(spec: str) -> None:
    first, second = make_encoder(spec, seed=0).encode(["a b c d", "d c b a"])
    assert np.abs(first - second).max() > 0.01


@pytest.mark.parametrize("spec", SPECS)
def test_fingerprint_has_seed_and_size(spec: str) -> None:
    second = spec.replace("dim=8", "dim=9")
    fingerprints = [make_encoder(s, seed=n).fingerprint for s, n in [(spec, 0), (spec, 1), (second, 0)]]
    assert len(set(fingerprints)) == 3
    assert make_encoder(spec, seed=0).fingerprint == fingerprints[0]


def test_kinds_have_own_fingerprints() -> None:
    assert len({make_encoder(spec, seed=0).fingerprint for spec in SPECS}) == len(SPECS)


@pytest.mark.parametrize("spec", SPECS)
def test_seed_of_spec_wins(spec: str) -> None:
    text = ["the man slept"]
    seeded = make_encoder(f"{spec}&seed=3", seed=0)
    np.testing.assert_array_equal(seeded.encode(text), make_encoder(spec, seed=3).encode(text), strict=True)
    assert seeded.fingerprint == make_encoder(spec, seed=3).fingerprint
    assert not np.array_equal(seeded.encode(text), make_encoder(spec, seed=0).encode(text))


@pytest.mark.parametrize("spec", SPECS)
def test_global_randomness_is_unused(spec: str) -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state().clone()
    numpy_before = np.random.get_state()[1].copy()  # type: ignore[index]
    make_encoder(spec, seed=0).encode(["the man slept"])
    assert torch.equal(before, torch.get_rng_state())
    assert np.array_equal(numpy_before, np.random.get_state()[1])  # type: ignore[index]


@pytest.mark.parametrize(
    ("spec", "width"),
    [
        ("bow", 300),
        ("bilstm-last", 1024),
        ("bilstm-max", 1024),
        ("gated-conv", 512),
        ("lstm", 512),
        ("gru-uni?hidden=2400", 2400),
        ("gru-bi?hidden=1200", 2400),
    ],
)
def test_widths_are_those_of_papers(spec: str, width: int) -> None:
    encoder = make_encoder(spec, seed=0)
    assert encoder.encode(["the man slept"]).shape == (1, width)
    assert isinstance(encoder, Encoder)
    assert encoder.name == spec


def test_bow_is_not_cacheable() -> None:
    assert not get_capabilities(make_encoder("bow", seed=0)).cacheable


@pytest.mark.parametrize("kind", KINDS)
def test_network_reads_word_vector_file(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 2\nman 3 4\n", encoding="utf-8")
    encoder = make_encoder(f"{kind}:{path}?hidden=5", seed=0)
    vectors = encoder.encode(["the man", "man the", "the old man"])
    assert len(vectors) == 3
    np.testing.assert_allclose(vectors[2], vectors[0], atol=1e-6)  # an unknown word is left out
    assert "1 of 3 different words" in caplog.text
    assert get_capabilities(encoder).notes == ()


def matrix_of(encoder: object, text: str) -> Array:
    """The word vectors of one sentence, (time, dim)."""
    rows = next(encoder._words.look_up([text]))  # type: ignore[attr-defined]
    return np.asarray(rows, dtype=np.float64)


def get_cell_weights(encoder: object, layer: int, side: str) -> dict[str, Array]:
    """The weights and biases of one direction: of what it reads, then of its state."""
    state = encoder.network.layers[layer].state_dict()  # type: ignore[attr-defined]
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    return {name: state[f"{side}.{name}"].double().numpy() for name in names}


def gru_states(weights: dict[str, Array], inputs: Array) -> Array:
    """The states of a GRU (Cho et al. 2014), in the order in which it reads; gates reset, update, candidate."""
    w_in, w_rec, b_in, b_rec = weights.values()
    size = w_rec.shape[1]
    hidden = np.zeros(size)
    states = []
    for vector in inputs:
        new, old = w_in @ vector + b_in, w_rec @ hidden + b_rec
        r, z = (sigmoid((new + old)[k * size : (k + 1) * size]) for k in range(2))
        n = np.tanh(new[2 * size :] + r * old[2 * size :])
        hidden = (1 - z) * n + z * hidden
        states.append(hidden)
    return np.stack(states)


def both_directions(encoder: object, inputs: Array) -> tuple[Array, Array]:
    """The states of the last layer, each direction in the order in which it reads."""
    network = encoder.network  # type: ignore[attr-defined]

    def compute_states(layer: int, side: str, inputs: Array) -> Array:
        weights = get_cell_weights(encoder, layer, side)
        return gru_states(weights, inputs) if network.kind.gates == 3 else lstm_states(weights, "", inputs)

    for layer in range(len(network.layers)):
        forwards, backwards = compute_states(layer, "forth", inputs), np.zeros((len(inputs), 0))
        if network.kind.directions == 2:
            backwards = compute_states(layer, "back", inputs[::-1])
        inputs = np.concatenate([forwards, backwards[::-1]], axis=1)
    return forwards, backwards


def last_states(encoder: object, inputs: Array) -> Array:
    forwards, backwards = both_directions(encoder, inputs)
    return np.concatenate([forwards[-1], backwards[-1]])


def greatest_states(encoder: object, inputs: Array) -> Array:
    forwards, backwards = both_directions(encoder, inputs)
    return np.concatenate([forwards.max(axis=0), backwards.max(axis=0)])


def gated_convolutions(encoder: object, inputs: Array) -> Array:
    network = encoder.network  # type: ignore[attr-defined]
    seeds = (int(digest("position", 5, place), 16) for place in range(len(inputs)))
    places = [np.random.default_rng(n).standard_normal(8, dtype=np.float32) for n in seeds]
    weights = {name: named_weight.double().numpy() for name, named_weight in network.state_dict().items()}
    state = (inputs + np.array(places)) @ weights["projection.weight"].T
    for layer in range(len(network.convolutions)):
        kernel = weights[f"convolutions.{layer}.weight"]  # (2 * hidden, hidden, 3)
        padded = np.pad(state, ((1, 1), (0, 0)))
        gated = []
        for time in range(len(inputs)):
            out = sum(kernel[:, :, k] @ padded[time + k] for k in range(3))
            half = len(out) // 2
            gated.append(out[:half] * sigmoid(out[half:]))
        state = (state + np.array(gated)) / np.sqrt(2)
    return np.asarray(state.max(axis=0))


REFERENCES: list[tuple[str, Callable[[object, Array], Array]]] = [
    ("bilstm-last", last_states),
    ("bilstm-max", greatest_states),
    ("gated-conv", gated_convolutions),
    ("bilstm-last?layers=2", last_states),
    ("bilstm-max?layers=3", greatest_states),
    ("gated-conv?layers=2", gated_convolutions),
    ("lstm", last_states),
    ("lstm?layers=2", last_states),
    ("gru-uni", last_states),
    ("gru-bi", last_states),
    ("gru-bi?layers=2", last_states),
]


@pytest.mark.parametrize(("kind", "reference"), REFERENCES)
@pytest.mark.parametrize("text", ["a", "a b", "the man that slept danced"])
def test_vectors_equal_slow_reference(kind: str, reference: Callable[[object, Array], Array], text: str) -> None:
    encoder = make_encoder(f"{kind}{'&' if '?' in kind else '?'}{SMALL}", seed=5)
    expected = reference(encoder, matrix_of(encoder, text))
    np.testing.assert_allclose(encoder.encode([text])[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("spec", "millions"), [("bilstm-max", 3.3), ("bilstm-last?layers=1", 3.3), ("bilstm-last?layers=2", 9.6)]
)
def test_bilstm_has_documented_size(spec: str, millions: float) -> None:
    encoder = make_encoder(spec, seed=0)
    weights = encoder.network.parameters()  # type: ignore[attr-defined]
    count = sum(weight.numel() for weight in weights)
    assert count / 1e6 == pytest.approx(millions, abs=0.05)


@pytest.mark.parametrize(("kind", "layers"), [("bilstm-max", 1), ("gated-conv", 8)])
def test_fingerprint_has_number_of_layers(kind: str, layers: int) -> None:
    plain, same, second_encoder = (
        make_encoder(f"{kind}?hidden=4{tail}", seed=0).fingerprint
        for tail in ("", f"&layers={layers}", f"&layers={layers + 1}")
    )
    assert plain == same != second_encoder


@pytest.mark.parametrize(
    "spec", ["bilstm-max?hidden=100000000", "bilstm-last?layers=1000000000", "gated-conv?layers=10000"]
)
def test_too_many_weights_are_refused(spec: str) -> None:
    with pytest.raises(UsageError, match=r"weights; at most 1,000,000,000 are allowed"):
        make_encoder(spec, seed=0)


def test_signal_survives_eight_convolutions() -> None:
    """Neither dies nor explodes: that is what Gehring et al. 2017, section 3.5, is for."""
    vectors = make_encoder("gated-conv", seed=0).encode([f"w{i} w{i + 1} x y" for i in range(20)])
    assert 0.1 < vectors.std(axis=0).mean() < 10


def test_positions_have_scale_of_words(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    generator = np.random.default_rng(0)
    rows = generator.standard_normal((50, 8)) / 100
    lines = (f"w{i} {' '.join(map(str, row))}\n" for i, row in enumerate(rows))
    path.write_text("".join(lines), encoding="utf-8")
    encoder = make_encoder(f"gated-conv:{path}?hidden=6", seed=0)
    positions = encoder.network.positions(200)  # type: ignore[attr-defined]
    assert positions.std() == pytest.approx(rows.std(), rel=0.1)


ACTIVE, EXCHANGED = "the man is helping the old woman", "the old woman is helping the man"
"""In both trees, man and woman hang from the verb."""


def test_tree_lstm_sees_trees_alone() -> None:
    sentences = [ACTIVE, EXCHANGED, "the man is being helped by the old woman", "the woman is helping the old man"]
    first, exchanged, passive, moved = make_encoder(f"tree-lstm?{SMALL}", seed=0).encode(sentences)
    np.testing.assert_allclose(first, exchanged, atol=1e-6)
    assert min(np.abs(first - vector).max() for vector in (passive, moved)) > 1e-3


def test_tree_lstm_reads_file_of_trees(tmp_path: Path) -> None:
    path = tmp_path / "trees.conllu"
    write_trees(path, [("a b c", (2, 0, 2)), ("c b a", (2, 3, 0)), ("the man slept", (2, 3, 0))])
    encoder, exact = make_encoder(f"tree-lstm?{SMALL}&trees={path}"), make_encoder(f"tree-lstm?{SMALL}")
    vectors = encoder.encode(["a b c", "c b a", "the man slept", "man"])
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-3
    np.testing.assert_allclose(vectors[2:], exact.encode(["the man slept", "man"]), atol=1e-6)
    assert encoder.fingerprint not in (exact.fingerprint, make_encoder(f"tree-lstm?{SMALL}&seed=1").fingerprint)
    with pytest.raises(EncoderError, match=r"conllu has no tree for the sentence 'a c b' \(1 of 2 requested"):
        encoder.encode(["a b c", "a c b"])
    write_trees(path, [("a b c", (2, 0, 2)), ("a b c", (2, 3, 0))])
    (note,) = get_capabilities(make_encoder(f"tree-lstm?{SMALL}&trees={path}")).notes
    assert note.endswith("1 sentence has several trees; the first of each is read")
    with pytest.raises(UsageError, match="lstm has no option 'trees'"):
        make_encoder(f"lstm?trees={path}")


def test_unknown_word_keeps_its_place_in_tree(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 2\nman 3 4\nold 0 0\n", encoding="utf-8")
    encoder = make_encoder(f"tree-lstm:{path}?hidden=5", seed=0)
    first, second = encoder.encode(["the old man slept", "the young man slept"])
    np.testing.assert_allclose(first, second, atol=1e-6)
