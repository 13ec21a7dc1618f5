"""The networks: padding changes no vector, every weight learns, a seed decides the first ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from helpers.encoders.sentence_models import make_chain, pad_rows, sample_tree
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


def run_network(network: networks.Network, vectors: torch.Tensor, lengths: list[int]) -> torch.Tensor:
    """The vectors of a batch. A network of trees gets the same random one for each sentence of a length."""
    trees = [sample_tree(length, np.random.default_rng(length)) for length in lengths]
    heads = [pad_rows(trees, time=vectors.shape[1])[0]] if network.reads_trees else []
    result: torch.Tensor = network(vectors, torch.tensor(lengths), *heads)
    return result


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
    actual = run_network(network, pad_batch(sentences, beyond=beyond, more=more), lengths)
    alone = [run_network(network, sentence[None], [len(sentence)])[0] for sentence in sentences]
    torch.testing.assert_close(actual, torch.stack(alone), rtol=1e-5, atol=1e-6)


def has_gradient(weight: torch.nn.Parameter) -> bool:
    return weight.grad is not None and bool(weight.grad.any())


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_weights_not_padding(kind: str) -> None:
    network, sentences = make_seeded_network(kind), sample_sentences([5, 2], seed=0)
    batch = pad_batch(sentences, beyond=0.5, more=1).requires_grad_()
    torch.autograd.backward(run_network(network, batch, [5, 2]).square().sum())
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
    vectors = run_network(network, torch.zeros(2, 4, 3), [4, 1])
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


def compute_tree_states(layer: torch.nn.Module, words: torch.Tensor, heads: Sequence[int]) -> torch.Tensor:
    """The state of each word by a recursion over the equations 2 to 8 of Tai et al. 2015, without batches."""
    w = layer.state_dict()
    hidden = len(w["forget.weight"])
    states = [torch.empty(0)] * len(heads)

    def compute_cell(node: int) -> torch.Tensor:
        children = [child for child, head in enumerate(heads) if head == node + 1]
        cells = [compute_cell(child) for child in children]
        total = torch.stack([words.new_zeros(hidden), *(states[child] for child in children)]).sum(dim=0)
        inputs = w["words.weight"] @ words[node] + w["words.bias"]
        gate, output, update = (inputs[: 3 * hidden] + w["child_sum.weight"] @ total).chunk(3)
        cell = torch.sigmoid(gate) * torch.tanh(update)
        for child, child_cell in zip(children, cells, strict=True):
            cell = cell + torch.sigmoid(inputs[3 * hidden :] + w["forget.weight"] @ states[child]) * child_cell
        states[node] = torch.sigmoid(output) * torch.tanh(cell)
        return cell

    compute_cell(heads.index(0))
    return torch.stack(states)


@examples(24)
@given(lengths=st.lists(st.integers(1, 12), min_size=1, max_size=5), layers=st.integers(1, 3), seed=st.integers(0, 999))
def test_tree_levels_equal_recursion(lengths: list[int], layers: int, seed: int) -> None:
    network = make_seeded_network("tree-lstm", layers=layers, seed=seed).double()
    assert isinstance(network, networks.TreeLstm)
    random, sentences = np.random.default_rng(seed), [words.double() for words in sample_sentences(lengths, seed=seed)]
    trees = [sample_tree(length, random) for length in lengths]
    batch = pad_batch(sentences, beyond=7.0, more=1).double()
    actual = network(batch, torch.tensor(lengths), pad_rows(trees, time=batch.shape[1])[0])
    for vector, states, heads in zip(actual, sentences, trees, strict=True):
        for layer in network.layers:
            states = compute_tree_states(layer, states, heads)  # noqa: PLW2901
        torch.testing.assert_close(vector, states[heads.index(0)], rtol=1e-6, atol=1e-6)


@examples(16)
@given(length=st.integers(1, 9), seed=st.integers(0, 999))
def test_tree_lstm_is_blind_to_word_order(length: int, seed: int) -> None:
    """The words of a tree may stand in any order, as Tai et al. sum the states of children."""
    random, network = np.random.default_rng(seed), make_seeded_network("tree-lstm").double()
    words, heads = torch.from_numpy(random.standard_normal((length, 3))), sample_tree(length, random)
    order = random.permutation(length)
    numbers = [0, *(np.argsort(order) + 1).tolist()]
    moved = [numbers[heads[place]] for place in order]
    first, second = network(
        torch.stack([words, words[order]]), torch.tensor([length] * 2), torch.tensor([heads, moved])
    )
    torch.testing.assert_close(first, second, rtol=1e-9, atol=1e-9)


def test_tree_lstm_over_chain_is_lstm() -> None:
    tree, lstm = make_seeded_network("tree-lstm", layers=1), make_seeded_network("lstm", layers=1)
    cells = {name: weight.chunk(4) for name, weight in lstm.layers[0].forth.state_dict().items()}  # type: ignore[index, union-attr]
    biases = [first + second for first, second in zip(cells["bias_ih_l0"], cells["bias_hh_l0"], strict=True)]
    gates = (0, 3, 2, 1)  # PyTorch has the gates input, forget, update, output; ours has input, output, update, forget
    weights = {
        "words.weight": torch.cat([cells["weight_ih_l0"][gate] for gate in gates]),
        "words.bias": torch.cat([biases[gate] for gate in gates]),
        "child_sum.weight": torch.cat([cells["weight_hh_l0"][gate] for gate in gates[:3]]),
        "forget.weight": cells["weight_hh_l0"][1],
    }
    tree.load_state_dict({f"layers.0.{name}": weight for name, weight in weights.items()})
    sentence, lengths = sample_sentences([6], seed=4)[0][None], torch.tensor([6])
    torch.testing.assert_close(tree(sentence, lengths, torch.tensor([make_chain(6)])), lstm(sentence, lengths))


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
