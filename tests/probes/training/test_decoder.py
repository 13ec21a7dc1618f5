"""The decoder, against a NumPy loop; its subwords, and its batches of text."""

import numpy as np
import pytest
import torch
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sentprobe.probes.encoders.network import make_word_mask
from sentprobe.probes.training import decoder as bt
from sentprobe.probes.training import decoder as dc
from sentprobe.probes.training.decoder import END, PADDING, START
from sentprobe.probes.training.objective import Batch, collect_rows
from sentprobe.probes.training.objective_options import ObjectiveOptions

CODES, WIDTH = 11, 3
OPTIONS = ObjectiveOptions(decoder_hidden=5, decoder_layers=2, decoder_inputs=4)
DECODER = dc.make_decoder(CODES, WIDTH, OPTIONS, seed=1)
VECTORS = torch.randn(3, 3, generator=torch.Generator().manual_seed(1))
SOURCES = dc.Sources(VECTORS)
TARGETS: "tuple[list[int], ...]" = ([5, 3, 10], [4], [])


def select_sources(start: int, stop: int) -> dc.Sources:
    return dc.Sources(VECTORS[start:stop])


def pad_codes(rows: "list[list[int]]") -> torch.Tensor:
    code_tensors = [torch.tensor([START, *row, END]) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(code_tensors, batch_first=True)


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-x))


class ByHand:
    """The decoder in NumPy, one code at a time (Hochreiter & Schmidhuber's cells)."""

    def __init__(self, decoder: dc.VectorDecoder) -> None:
        state = decoder.state_dict()
        self.weights = {name: weight.double().numpy() for name, weight in state.items()}

    def losses(
        self, vector: NDArray[np.float64], codes: "list[int]", words: NDArray[np.float64] | None = None
    ) -> "list[float]":
        states = [
            (np.zeros(OPTIONS.decoder_hidden), np.zeros(OPTIONS.decoder_hidden)) for _ in range(OPTIONS.decoder_layers)
        ]
        losses = []
        for previous_code, next_code in zip([START, *codes], [*codes, END], strict=True):
            at = np.concatenate([self.weights["codes.weight"][previous_code], vector])
            for layer in range(OPTIONS.decoder_layers):
                states[layer] = self.step(layer, at, *states[layer])
                at = states[layer][0]
            if words is not None:
                scores = np.exp(words @ self.weights["attention.keys.weight"].T @ at)
                context = scores / scores.sum() @ words
                at = np.tanh(self.weights["attention.out.weight"] @ np.concatenate([context, at]))
            logits = self.weights["out.weight"] @ at + self.weights["out.bias"]
            losses.append(np.log(np.exp(logits).sum()) - logits[next_code])
        return losses

    def step(
        self, layer: int, at: NDArray[np.float64], h: NDArray[np.float64], c: NDArray[np.float64]
    ) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
        w = {name: self.weights[f"lstm.{name}_l{layer}"] for name in ("weight_ih", "weight_hh")}
        bias = self.weights[f"lstm.bias_ih_l{layer}"] + self.weights[f"lstm.bias_hh_l{layer}"]
        enter, forget, new, out = np.split(w["weight_ih"] @ at + w["weight_hh"] @ h + bias, 4)
        c = sigmoid(forget) * c + sigmoid(enter) * np.tanh(new)
        return sigmoid(out) * np.tanh(c), c


def test_loss_equals_loop_over_codes() -> None:
    by_hand = ByHand(DECODER)
    vectors = VECTORS.double().numpy()
    losses_by_row = [by_hand.losses(vectors[row], codes) for row, codes in enumerate(TARGETS)]
    loss = DECODER(SOURCES, pad_codes(list(TARGETS)))
    assert loss.item() == pytest.approx(sum(map(sum, losses_by_row)), rel=1e-5)


ATTENTIVE = dc.make_decoder(CODES, WIDTH, OPTIONS, source_width=4, seed=1)
LENGTHS = torch.tensor([3, 1, 5])
WORDS = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(2))


def test_attention_equals_loop_over_codes() -> None:
    """The words behind the end of a source sentence have no weight."""
    by_hand = ByHand(ATTENTIVE)
    expected = 0.0
    for row, codes in enumerate(TARGETS):
        words = WORDS[row, : LENGTHS[row]].double().numpy()
        expected += sum(by_hand.losses(VECTORS[row].double().numpy(), codes, words))
    sources = dc.Sources(VECTORS, WORDS, make_word_mask(WORDS, LENGTHS))
    assert ATTENTIVE(sources, pad_codes(list(TARGETS))).item() == pytest.approx(expected, rel=1e-5)
    for row, generated in enumerate(ATTENTIVE.generate(sources, max_length=4).tolist()):
        codes, words = [code for code in generated if code != PADDING], WORDS[row, : LENGTHS[row]].double().numpy()
        rivals = [by_hand.losses(VECTORS[row].double().numpy(), [*codes[:-1], rival], words) for rival in range(CODES)]
        assert int(np.argmin([losses[len(codes) - 1] for losses in rivals])) == codes[-1]


def test_attention_leaves_weights_of_decoder_as_they_were() -> None:
    assert all(torch.equal(weight, ATTENTIVE.state_dict()[name]) for name, weight in DECODER.state_dict().items())
    ATTENTIVE(dc.Sources(VECTORS, WORDS), pad_codes(list(TARGETS))).backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in ATTENTIVE.parameters())


@examples(30)
@given(st.lists(st.lists(st.integers(3, 10), max_size=6), min_size=1, max_size=3), st.integers(0, 3))
def test_padding_changes_no_loss(rows: "list[list[int]]", more: int) -> None:
    alone = sum(DECODER(select_sources(row, row + 1), pad_codes([codes])).item() for row, codes in enumerate(rows))
    padded_targets = torch.nn.functional.pad(pad_codes(rows), (0, more), value=PADDING)
    assert DECODER(select_sources(0, len(rows)), padded_targets).item() == pytest.approx(alone, rel=1e-5)


def test_seed_alone_decides_decoder() -> None:
    before = torch.get_rng_state()
    again, other_seed = dc.make_decoder(CODES, WIDTH, OPTIONS, seed=1), dc.make_decoder(CODES, WIDTH, OPTIONS, seed=2)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(again.out.weight, DECODER.out.weight)
    assert not torch.equal(other_seed.out.weight, DECODER.out.weight)


def test_gradients_reach_weights_and_vectors() -> None:
    decoder = dc.make_decoder(CODES, WIDTH, OPTIONS, seed=1)
    vectors = VECTORS.clone().requires_grad_()
    decoder(dc.Sources(vectors), pad_codes(list(TARGETS))).backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in decoder.parameters())
    assert vectors.grad is not None
    assert vectors.grad.any(dim=1).all()


def test_generated_codes_are_likeliest() -> None:
    by_hand = ByHand(DECODER)
    for row, generated in enumerate(DECODER.generate(SOURCES, max_length=6).tolist()):
        codes = [code for code in generated if code not in (END, PADDING)]
        for place, code in enumerate(codes):
            rivals = [
                by_hand.losses(VECTORS[row].double().numpy(), [*codes[:place], rival])[place] for rival in range(CODES)
            ]
            assert int(np.argmin(rivals)) == code


def test_nothing_follows_the_end() -> None:
    decoder = dc.make_decoder(CODES, WIDTH, OPTIONS, seed=1)
    with torch.no_grad():
        decoder.out.bias[END] = 100
    assert decoder.generate(SOURCES, max_length=6).tolist() == [[END]] * 3
    with torch.no_grad():
        decoder.out.bias[END] = -100
    assert decoder.generate(SOURCES, max_length=6).shape == (3, 6)


RANDOM = np.random.default_rng(1)
ROWS = [[2 + row, *RANDOM.integers(2, 9, RANDOM.integers(0, 12)).tolist()] for row in range(50)]
TARGET_ROWS = [[3 + row, *RANDOM.integers(3, 9, RANDOM.integers(0, 12)).tolist()] for row in range(50)]


def shuffle(source: NDArray[np.int32], random: np.random.Generator) -> NDArray[np.int32]:
    return random.permutation(source)


def make_pairs(*, noise: bt.Noise | None = None, size: int = 8, items: int = 50) -> bt.SequencePairs:
    return bt.SequencePairs(
        sources=collect_rows(ROWS),
        targets=(collect_rows(TARGET_ROWS), collect_rows(ROWS)),
        items=np.arange(items),
        size=size,
        seed=7,
        noise=noise,
    )


def list_batches(batches: list[Batch]) -> list[object]:
    return [(batch.items, batch.targets, {name: t.tolist() for name, t in batch.tensors.items()}) for batch in batches]


@examples(30)
@given(st.integers(1, 60), st.integers(1, 50), st.integers(0, 3))
def test_epoch_has_each_item_once(size: int, items: int, epoch: int) -> None:
    sequence_pairs = make_pairs(size=size, items=items)
    batches = list(sequence_pairs.batches(epoch))
    assert len(batches) == sequence_pairs.steps
    firsts = [first for batch in batches for first in batch.tensors[bt.SOURCES][:, 0].tolist()]
    assert sorted(firsts) == [2 + row for row in range(items)]


@examples(30)
@given(st.integers(0, 3), st.integers(0, 7), st.booleans())
def test_batches_resume_where_they_stopped(epoch: int, start: int, noisy: bool) -> None:
    sequence_pairs = make_pairs(noise=shuffle if noisy else None)
    all_batches = list_batches(list(sequence_pairs.batches(epoch)))
    resumed_batches = make_pairs(noise=shuffle if noisy else None).batches(epoch, start=start)
    assert list_batches(list(resumed_batches)) == all_batches[start:]
    assert list_batches(list(sequence_pairs.batches(epoch + 1))) != all_batches


def test_batch_marks_start_and_end() -> None:
    (batch,) = [make_pairs().make_batch(np.array([3, 0]), epoch=0)]
    width = max(len(ROWS[3]), len(ROWS[0]))
    assert batch.tensors[bt.SOURCES].shape == (2, width)
    assert batch.tensors[bt.LENGTHS].tolist() == [len(ROWS[3]), len(ROWS[0])]
    target_codes = batch.tensors[bt.format_target_name(0)]
    for row, expected in zip(target_codes, (TARGET_ROWS[3], TARGET_ROWS[0]), strict=True):
        assert row[: len(expected) + 2].tolist() == [START, *expected, END]
        assert not row[len(expected) + 2 :].any()
    target_counts = [len(token_rows[row]) + 1 for row in (3, 0) for token_rows in (TARGET_ROWS, ROWS)]
    assert (batch.items, batch.targets) == (2, sum(target_counts))


def test_batches_have_little_padding() -> None:
    random = np.random.default_rng(2)
    lengths = random.integers(5, 29, 2000)
    rows = collect_rows([9] * length for length in lengths)
    sequence_pairs = bt.SequencePairs(sources=rows, targets=(rows,), items=np.arange(2000), size=50, seed=1)
    batches = list(sequence_pairs.batches(0))
    shape = sum(batch.tensors[bt.SOURCES].numel() for batch in batches)
    assert 1 - lengths.sum() / shape < 0.03
    widths = torch.tensor([batch.tensors[bt.SOURCES].shape[1] for batch in batches])
    assert (widths.diff() < 0).any()  # and yet the long ones do not come last
