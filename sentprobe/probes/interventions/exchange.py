"""Read a transformers model's states at words of sentences, and run the model with other states there.

Directions of states, and their exchange between the sentences of a mirror pair: the part of the base's state along the
direction is replaced by the source's (interchange intervention: Geiger et al. 2021; Arora et al. 2024).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sentprobe.common.errors import import_module_of_extra
from sentprobe.common.screen import Reporter
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.encoder import EncoderError, Vectors
from sentprobe.probes.encoders.models.hf import HfModel
from sentprobe.probes.encoders.models.model_parts import find_blocks
from sentprobe.probes.interventions.mirror_units import MirrorUnits

BatchReader: TypeAlias = Callable[[Any, Tensor, Any, Sequence[int]], Tensor]
"""A function that reads values, (batch, ...), from a batch. Its arguments: the model's output, the last hidden states,
(batch, time, dim), the tokenizer's output, and the numbers of the sentences."""


@dataclass(frozen=True, slots=True)
class StateModel:
    """A transformers model whose states can be replaced. Layer i is the input of block i, from 0.

    The last layer is the model's own last hidden state, after the final normalization, if it has one.
    """

    model: HfModel
    blocks: nn.ModuleList = field(repr=False)

    @property
    def layers(self) -> int:
        """The number of layers."""
        return len(self.blocks) + 1

    def read_states(self, units: MirrorUnits, reporter: Reporter) -> Vectors:
        """Return the states at the last tokens of k words of n sentences in each layer, (layers, n, k, dim) float32."""
        states = np.concatenate([*self._read_batches(units, reporter)], axis=1)
        order = np.argsort(self._order_by_length(units), kind="stable")
        return np.ascontiguousarray(states[:, order])

    def _read_batches(self, units: MirrorUnits, reporter: Reporter) -> Iterator[Vectors]:
        for rows in self._split_batches(units):
            tokens, places = self._tokenize(units, rows)
            inputs: dict[int, Tensor] = {}
            hooks = [
                block.register_forward_pre_hook(partial(_record_input, inputs, number), with_kwargs=True)
                for number, block in enumerate(self.blocks)
            ]
            try:
                hidden = self.model.run(tokens).hidden_states
            finally:
                for hook in hooks:
                    hook.remove()
            # States are exchanged in the inputs of blocks, so they must be the states that were read.
            is_known = len(hidden) == self.layers and len(inputs) == len(self.blocks)
            if not is_known or not all(torch.equal(states, hidden[number]) for number, states in inputs.items()):
                raise EncoderError(f"{self.model.name}: the inputs of its blocks are not its hidden states")
            batch = torch.arange(len(rows), device=places.device)[:, None]
            yield torch.stack([states[batch, places].float() for states in hidden]).cpu().numpy()
            reporter.advance(len(rows))

    def run_batches(
        self,
        units: MirrorUnits,
        read: BatchReader,
        reporter: Reporter,
        *,
        layer: int = 0,
        states: Vectors | None = None,
    ) -> NDArray[np.float32]:
        """Run the model on n sentences, and return the values that *read* reads, (n, ...) float32.

        - states: the states that replace those of *layer* at the words, (n, k, dim); None: nothing is replaced
        """
        parts: list[NDArray[np.float32]] = []
        for rows in self._split_batches(units):
            tokens, places = self._tokenize(units, rows)
            values = None if states is None else torch.from_numpy(states[rows]).to(places.device)
            with self._replacing_states(layer, places, values):
                output = self.model.run(tokens)
            last = output.hidden_states[-1]
            if values is not None and layer == len(self.blocks):
                last = _put_states(last, places, values)
            with torch.inference_mode():
                parts.append(read(output, last, tokens, rows).float().cpu().numpy())
            reporter.advance(len(rows))
        order = np.argsort(self._order_by_length(units), kind="stable")
        return np.ascontiguousarray(np.concatenate(parts)[order])

    def _order_by_length(self, units: MirrorUnits) -> list[int]:
        # Sentences of similar length share a batch, so that little of it is padding.
        return sorted(range(len(units.sentences)), key=lambda row: len(units.sentences[row]))

    def _split_batches(self, units: MirrorUnits) -> Iterator[list[int]]:
        order = self._order_by_length(units)
        yield from (order[start : start + self.model.batch] for start in range(0, len(order), self.model.batch))

    def _tokenize(self, units: MirrorUnits, rows: Sequence[int]) -> tuple[Any, Tensor]:
        """Return the tokenizer's output of a batch, and the positions of its words' last tokens, (batch, k) int64."""
        framed = [self.model.frame.add_to(units.sentences[row]) for row in rows]
        tokens = self.model.tokenize(framed)
        names = [f"probe word {number + 1}" for number in range(units.words.shape[1])]
        words = [dict(zip(names, units.words[row].tolist(), strict=True)) for row in rows]
        places = torch.stack([self.model.find_tokens(name, framed, words, tokens) for name in names], dim=1)
        if lacking := (places < 0).any(1).nonzero().flatten().tolist():
            text = units.sentences[rows[lacking[0]]]
            raise EncoderError(
                f"{self.model.name}: a word asked about has no token in {text!r}: it is cut off or absent"
            )
        return tokens, places

    @contextmanager
    def _replacing_states(self, layer: int, places: Tensor, values: Tensor | None) -> Iterator[None]:
        """Replace the states at *places* of the input of block *layer*; nothing if there is no such block or value."""
        if values is None or layer == len(self.blocks):
            yield
            return

        def replace(
            _: nn.Module, call: tuple[Any, ...], named: dict[str, Any]
        ) -> tuple[tuple[Any, ...], dict[str, Any]]:
            if call:
                return (_put_states(call[0], places, values), *call[1:]), named
            return call, {**named, "hidden_states": _put_states(named["hidden_states"], places, values)}

        hook = self.blocks[layer].register_forward_pre_hook(replace, with_kwargs=True)
        try:
            yield
        finally:
            hook.remove()


def open_states(model: HfModel) -> StateModel:
    """Prepare a model to read and replace its states. Raises EncoderError."""
    if not model.tokenizer.is_fast:
        raise EncoderError(f"the tokenizer of {model.name} does not report the place of each token in the text")
    return StateModel(model, find_blocks(model.model, name=model.name))


def _record_input(
    inputs: dict[int, Tensor], number: int, _: nn.Module, call: tuple[Any, ...], named: dict[str, Any]
) -> None:
    inputs[number] = call[0] if call else named["hidden_states"]


def _put_states(states: Tensor, places: Tensor, values: Tensor) -> Tensor:
    """Return a copy of *states*, (batch, time, dim), with *values*, (batch, k, dim), at *places*, (batch, k)."""
    changed = states.clone()
    changed[torch.arange(len(states), device=states.device)[:, None], places] = values.to(states)
    return changed


class DirectionKind(StrEnum):
    """How the exchanged direction is found from the states of training sentences and the answers about their words."""

    PROBE = "probe"
    """The weights of a logistic regression, as in CausalGym."""
    MEAN_DIFFERENCE = "mean difference"
    """The mean state of words with the answer TRUE, less that of words with the answer FALSE."""
    RANDOM = "random"
    """A random direction for each pair, orthogonal to the two above."""
    WHOLE = "whole state"
    """No direction: the whole state is exchanged."""


def find_direction(kind: DirectionKind, states: Vectors, labels: Indices) -> Vectors:
    """Return a direction of length 1, (dim,) float32, from states, (n, dim), and their labels 0 and 1, (n,).

    >>> states = np.array([[0, 0], [0, 2], [1, 0], [1, 2]], np.float32)
    >>> find_direction(DirectionKind.MEAN_DIFFERENCE, states, np.array([0, 0, 1, 1])).tolist()
    [1.0, 0.0]
    """
    states = states.astype(np.float64)
    if kind is DirectionKind.MEAN_DIFFERENCE:
        weights = states[labels == 1].mean(axis=0) - states[labels == 0].mean(axis=0)
    else:
        scale = states.std(axis=0).mean() or 1.0  # so that the penalty is as strong in every model
        regression = import_module_of_extra("sklearn.linear_model").LogisticRegression
        probe = regression(max_iter=2000, tol=1e-4).fit((states - states.mean(axis=0)) / scale, labels)
        weights = np.asarray(probe.coef_[0], np.float64)
    return np.asarray(weights / max(float(np.linalg.norm(weights)), 1e-12), np.float32)


def sample_directions(n: int, avoided: Sequence[Vectors], *, generator: np.random.Generator) -> Vectors:
    """Return *n* random directions of length 1, (n, dim) float32, orthogonal to each of *avoided*, (dim,) each."""
    basis, _ = np.linalg.qr(np.stack(avoided, axis=1).astype(np.float64))
    vectors = generator.standard_normal((n, len(basis)))
    vectors -= vectors @ basis @ basis.T
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def exchange(states: Vectors, directions: Vectors | None) -> Vectors:
    """Return the states of mirror pairs after the exchange, (n, 2, k, dim): each sentence in turn is the base.

    - states: the states of n pairs of sentences at k words, (n, 2, k, dim)
    - directions: a direction of length 1 for each pair, (n, dim); None: the whole states are exchanged
    """
    sources = states[:, ::-1]
    if directions is None:
        return sources.copy()
    axes = directions[:, None, None]
    return np.asarray(states + ((sources - states) * axes).sum(axis=-1, keepdims=True) * axes, np.float32)
