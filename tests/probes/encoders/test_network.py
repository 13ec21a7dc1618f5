"""The networks: padding changes no vector, every weight learns, a seed decides the first ones."""

from typing import Any

import numpy as np
import pytest
import torch
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.probes.encoders import network as networks
from sentprobe.probes.encoders.architecture import Architecture

KINDS = tuple(networks.NETWORKS)


def make_seeded_network(kind: str, *, layers: int = 2, seed: int = 1) -> networks.Network:
    architecture = Architecture(kind=kind, hidden=4, layers=layers, inputs=3)
    return networks.make_network(architecture, generator=torch.Generator().manual_seed(seed))


def sample_sentences(lengths: list[int], *, seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(length, 3, generator=generator) for length in lengths]


def pad_batch(sentences: list[torch.Tensor], *, beyond: float, more: int) -> torch.Tensor:
    """The sentences as one batch, with some number where no words are."""
    time = max(map(len, sentences)) + more
    batch = torch.full((len(sentences), time, 3), beyond)
    for row, sentence in enumerate(sentences):
        batch[row, : len(sentence)] = sentence
    return batch


@examples(32)
@given(
    kind=st.sampled_from(KINDS),
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=5),
    more=st.integers(0, 3),
    beyond=st.sampled_from([0.0, 9.0, -1e3]),
    seed=st.integers(0, 99),
)
def test_padding_changes_no_vector(kind: str, lengths: list[int], more: int, beyond: float, seed: int) -> None:
    network, sentences = make_seeded_network(kind, layers=3), sample_sentences(lengths, seed=seed)
    actual = network(pad_batch(sentences, beyond=beyond, more=more), torch.tensor(lengths))
    alone = [network(sentence[None], torch.tensor([len(sentence)]))[0] for sentence in sentences]
    torch.testing.assert_close(actual, torch.stack(alone), rtol=1e-5, atol=1e-6)


def has_gradient(weight: torch.nn.Parameter) -> bool:
    return weight.grad is not None and bool(weight.grad.any())


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_weights_not_padding(kind: str) -> None:
    network, sentences = make_seeded_network(kind), sample_sentences([5, 2], seed=0)
    batch = pad_batch(sentences, beyond=0.5, more=1).requires_grad_()
    network(batch, torch.tensor([5, 2])).square().sum().backward()
    assert [name for name, parameter in network.named_parameters() if not has_gradient(parameter)] == []
    assert batch.grad is not None
    assert not batch.grad[0, 5:].any() and not batch.grad[1, 2:].any()
    assert batch.grad[0, :5].any()


@pytest.mark.parametrize("kind", KINDS)
def test_seed_alone_decides_weights(kind: str) -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state().clone()
    first, again, second = (make_seeded_network(kind, seed=seed).state_dict() for seed in (1, 1, 2))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(parameter, again[name]) for name, parameter in first.items())
    assert kind == "cbow" or any(not torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers", [1, 3])
def test_weight_count_is_exact(kind: str, layers: int) -> None:
    network = make_seeded_network(kind, layers=layers)
    count = networks.NETWORKS[kind].count_weights(network.architecture)
    assert count == sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_have_stated_width(kind: str) -> None:
    network = make_seeded_network(kind)
    vectors = network(torch.zeros(2, 4, 3), torch.tensor([4, 1]))
    assert vectors.shape == (2, network.dim)


def compute_gated_convolutions(network: networks.Network, sentence: torch.Tensor) -> NDArray[np.float64]:
    """Gated convolutions with learned positions and biases, in NumPy (Gehring et al. 2017)."""
    w = {name: named_weight.double().numpy() for name, named_weight in network.state_dict().items()}
    inputs = sentence.double().numpy() + w["positions.weight"][: len(sentence)]
    state = inputs @ w["projection.weight"].T + w["projection.bias"]
    for layer in range(network.architecture.layers):
        kernel, bias = (w[f"convolutions.{layer}.{name}"] for name in ("weight", "bias"))
        around = np.pad(state, ((1, 1), (0, 0)))
        parts = [around[at : at + len(state)] @ kernel[:, :, at].T for at in range(3)]
        values, gates = np.split(np.sum(parts, axis=0) + bias, 2, axis=1)
        state = (state + values / (1 + np.exp(-gates))) / np.sqrt(2)
    return np.asarray(state.max(axis=0))


def test_gated_convolutions_equal_numpy() -> None:
    network, lengths = make_seeded_network("gated-conv"), [4, 1, 6]
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in network.parameters():
            weight.normal_(generator=generator)
    sentences = sample_sentences(lengths, seed=3)
    actual = network(pad_batch(sentences, beyond=7.0, more=0), torch.tensor(lengths))
    expected = np.stack([compute_gated_convolutions(network, sentence) for sentence in sentences])
    np.testing.assert_allclose(actual.detach().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_self_attention_equals_numpy() -> None:
    network, lengths = make_seeded_network("bilstm-att", layers=1), [4, 1, 6]
    assert isinstance(network, networks.SelfAttentive)
    w = {name: named_weight.double().numpy() for name, named_weight in network.state_dict().items()}
    sentences = sample_sentences(lengths, seed=3)
    actual = network(pad_batch(sentences, beyond=7.0, more=1), torch.tensor(lengths)).detach().numpy()
    for vector, sentence in zip(actual, sentences, strict=True):
        states = network.compute_states(sentence[None], torch.tensor([len(sentence)]))[0].detach().double().numpy()
        keys = np.tanh(states @ w["keys.weight"].T + w["keys.bias"])
        scores = np.exp(keys @ w["queries"].T)
        averages = (scores / scores.sum(axis=0)).T @ states
        np.testing.assert_allclose(vector, averages.ravel(), rtol=1e-4, atol=1e-6)
        assert (averages.max(axis=0) <= states.max(axis=0) + 1e-6).all()


def test_cbow_is_mean_of_words() -> None:
    sentences = sample_sentences([4, 1, 6], seed=3)
    batch = pad_batch(sentences, beyond=7.0, more=2)
    actual = make_seeded_network("cbow")(batch, torch.tensor([4, 1, 6])).numpy()
    np.testing.assert_allclose(actual, [sentence.numpy().mean(axis=0) for sentence in sentences], rtol=1e-5)


def test_positions_beyond_last_repeat_it() -> None:
    positions = make_seeded_network("gated-conv").positions
    assert isinstance(positions, torch.nn.Module)
    actual = positions(1030)
    assert torch.equal(actual[1023:], actual[1023].expand(7, 3))
    assert not torch.equal(actual[1022], actual[1023])


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"kind": "bilstm-mx"}, r"no architecture 'bilstm-mx' \(did you mean 'bilstm-max'"),
        *(({"kind": "lstm", size: -1}, f"lstm: {size}=-1: at least 1") for size in ("hidden", "inputs", "layers")),
    ],
)
def test_bad_architecture_is_refused(sizes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Architecture(**sizes)
